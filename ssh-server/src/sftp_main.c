/* The entry of OpenSSH's sftp server, for users that /etc/passwd does not know as well:
 * OpenSSH's own gives up on them. */
#include "passwd.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int sftp_server_main(int argc, char **argv, struct passwd *user);
void sanitise_stdfd(void);
void cleanup_exit(int code) __attribute__((noreturn));
void sftp_server_cleanup_exit(int code) __attribute__((noreturn));

void cleanup_exit(int code)
{
	sftp_server_cleanup_exit(code);
}

int main(int argc, char **argv)
{
	char *home = getenv("HOME");
	struct passwd unknown = {
		.pw_name = "nobody",
		.pw_passwd = "*",
		.pw_gecos = "",
		.pw_uid = getuid(),
		.pw_gid = getgid(),
		.pw_dir = home ? home : "/",
		.pw_shell = "/bin/sh",
	};
	struct passwd *known = passwd_of(getuid());

	sanitise_stdfd();
	return sftp_server_main(argc, argv, known ? known : &unknown);
}
