/*
 * Who there is, for the SSH server in the workload's container: one user, called root in the line
 * that users paste, who is whoever the workload runs as. No image has to know her, and no plug-in
 * that an image's nsswitch.conf names is loaded: it would belong to another C library.
 *
 * Linked into the server under the names of the C library, which they stand in for.
 */
#include "inside.h"

#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <nss.h>
#include <pwd.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

static struct passwd *entry(char *name, uid_t uid, gid_t gid, char *shell)
{
	static struct passwd it;

	it = (struct passwd){
		.pw_name = name,
		.pw_passwd = "*", /* Matches nothing, yet does not lock the account. */
		.pw_uid = uid,
		.pw_gid = gid,
		.pw_gecos = "",
		.pw_dir = "/",
		.pw_shell = shell,
	};
	return &it;
}

struct passwd *getpwuid(uid_t uid)
{
	return uid == geteuid() ? entry("root", uid, getegid(), PROGRAMS "/login") : NULL;
}

struct passwd *getpwnam(const char *name)
{
	/* Whom the server is while it does not know who calls, if it may choose. */
	if (!strcmp(name, "sshd"))
		return entry("sshd", NOBODY, NOBODY, "/");
	return strcmp(name, "root") ? NULL : getpwuid(geteuid());
}

/* The server gives a terminal to group tty where there is one, which takes a right: it lies in the
 * workload's devpts, and is hers already. */
struct group *getgrnam(const char *name)
{
	(void)name;
	return NULL;
}

struct group *getgrgid(gid_t gid)
{
	(void)gid;
	return NULL;
}

/* Sessions keep the groups that the container runtime gave the workload. */
int initgroups(const char *name, gid_t gid)
{
	(void)name, (void)gid;
	return 0;
}

/* The server begins by giving up all its groups, and puts whoever is not known yet into others. To
 * take those it has takes no right. */
int setgroups(size_t len, const gid_t *groups)
{
	gid_t held[NGROUPS_MAX];
	int held_len = getgroups(NGROUPS_MAX, held);

	if (!len || (held_len == (int)len && !memcmp(held, groups, len * sizeof *held)))
		return 0;
	return syscall(SYS_setgroups, len, groups);
}

/* Whether the server may put whoever is not known yet where there is nothing, as nobody. A root
 * whose capabilities were taken cannot; then she stays, behind a filter of system calls, the user
 * that she is to become. build.sh has the server ask. */
int may_separate(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct held[2] = {0};
	uint32_t needed = 1u << CAP_SYS_CHROOT | 1u << CAP_SETUID | 1u << CAP_SETGID;

	return !geteuid() && !syscall(SYS_capget, &header, held) && (held[0].effective & needed) == needed;
}

int getgrouplist(const char *name, gid_t gid, gid_t *groups, int *len)
{
	(void)name;
	*groups = gid;
	return *len = 1;
}

/* Host names of forwarded connections: as the container says, by what is built in. */
__attribute__((constructor)) static void look_up_without_plugins(void)
{
	__nss_configure_lookup("hosts", "files dns");
	__nss_configure_lookup("services", "files");
	__nss_configure_lookup("networks", "files");
}
