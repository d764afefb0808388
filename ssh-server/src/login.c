/*
 * The login shell of root beside a workload: whatever the SSH server runs for a session, it
 * runs through here, and here it runs inside the workload, as one of its own, or not at all.
 *
 *   login               an interactive shell of the workload
 *   login -c COMMAND    COMMAND in a shell of the workload, or the sftp server
 *   login --watch       ends what sessions left behind whenever a workload ends
 */
#include "enter.h"
#include "environment.h"
#include "passwd.h"
#include "session.h"
#include "sweep.h"
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSED 255
#define GRACE_MS 2000
#define RETRY_MS 1000
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* sshd_config names this file as its sftp subsystem. It is opened before our root changes and
 * run by descriptor after, so that it need not be in the workload's image. */
#ifndef SFTP_SERVER
#define SFTP_SERVER "/opt/ssh-server/sftp-server"
#endif

struct login {
	char *command; /* NULL: an interactive shell */
	int sftp;      /* the sftp server, or -1 */
	char terminal[32];
	struct environment env;
	const char *entry_shell; /* as /etc/passwd of the workload says, or NULL */
};

static int refuse(const char *why, const char *detail)
{
	fprintf(stderr, "ssh-server: %s%s%s\n", why, detail ? ": " : "", detail ? detail : "");
	return REFUSED;
}

static void add_client(struct environment *env)
{
	extern char **environ;
	static const char *always[] = {"SSH_CLIENT", "SSH_CONNECTION", NULL};

	for (const char **name = always; *name; name++)
		if (getenv(*name))
			environment_set(env, *name, getenv(*name));
	/* Words about the client's language hold where the workload says nothing itself. */
	for (char **entry = environ; *entry; entry++) {
		char name[64];
		size_t len = strcspn(*entry, "=");
		if (len >= sizeof name || !(*entry)[len])
			continue;
		memcpy(name, *entry, len);
		name[len] = 0;
		if (!strcmp(name, "LANG") || !strcmp(name, "COLORTERM") || !strncmp(name, "LC_", 3))
			environment_default(env, name, *entry + len + 1);
	}
}

static void add_user(struct login *login, uid_t uid)
{
	struct passwd *entry = passwd_of(uid);

	if (entry) {
		environment_default(&login->env, "HOME", entry->pw_dir);
		environment_default(&login->env, "USER", entry->pw_name);
		environment_default(&login->env, "LOGNAME", entry->pw_name);
		login->entry_shell = strdup(entry->pw_shell);
	}
	environment_default(&login->env, "HOME", "/");
	environment_default(&login->env, "PATH", DEFAULT_PATH);
}

static int is_shell(const char *path)
{
	if (!path || *path != '/')
		return 0;
	const char *name = strrchr(path, '/') + 1;
	return strcmp(name, "nologin") && strcmp(name, "false") && !access(path, X_OK);
}

/* Not a login shell: /etc/profile of many images sets PATH anew, and so loses the workload's. */
static void become_shell(struct login *login, const char *path)
{
	char *name = strrchr(path, '/') + 1;
	char *with_command[] = {name, "-c", login->command, NULL}, *plain[] = {name, NULL};

	if (!is_shell(path))
		return;
	environment_set(&login->env, "SHELL", path);
	execve(path, login->command ? with_command : plain, login->env.entries);
}

static int become_program(void *with)
{
	struct login *login = with;
	char *sftp[] = {"sftp-server", NULL};
	const char *own = environment_get(&login->env, "SHELL");

	if (login->sftp >= 0) {
		syscall(SYS_execveat, login->sftp, "", sftp, login->env.entries, AT_EMPTY_PATH);
		return refuse("the sftp server cannot run in the workload", strerror(errno));
	}
	if (*login->terminal) {
		environment_set(&login->env, "SSH_TTY", login->terminal);
		environment_set(&login->env, "TERM", getenv("TERM") ? getenv("TERM") : "dumb");
	}
	const char *shells[] = {own, login->entry_shell, "/bin/bash", "/bin/sh"};
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (shells[i])
			become_shell(login, shells[i]);
	return refuse("the image of the workload has no shell that runs ($SHELL, /etc/passwd, "
		      "/bin/bash, /bin/sh): copy files by sftp, or use an image with a shell", NULL);
}

static int open_session(char *command)
{
	struct login login = {.command = command, .sftp = -1};
	struct workload workload;

	switch (find_workload(&workload)) {
	case NOT_RUNNING:
		return refuse("the workload is not running", NULL);
	case OUT_OF_REACH:
		return refuse("the workload is not running, or has more privileges than this SSH server", NULL);
	case FOUND:
		break;
	}
	if (command && !strcmp(command, SFTP_SERVER) &&
	    (login.sftp = open(SFTP_SERVER, O_PATH | O_CLOEXEC)) < 0)
		return refuse("the sftp server is missing from the SSH server's image", strerror(errno));
	if (!enter(&workload))
		return refuse("the workload cannot be entered", strerror(errno));
	environment_from(&login.env, workload.env, workload.env_len);
	add_client(&login.env);
	add_user(&login, workload.rights.uid);
	return run_session(become_program, &login, workload.pidfd, login.terminal);
}

static int watch(void)
{
	struct workload workload;

	for (;;) {
		if (sweep_sessions(&workload) != FOUND) {
			poll(NULL, 0, RETRY_MS);
			continue;
		}
		if (workload.pidfd < 0)
			return refuse("sessions may outlive a workload: Linux is older than 5.3", NULL);
		struct pollfd end = {workload.pidfd, POLLIN, 0};
		while (poll(&end, 1, -1) < 1)
			continue;
		forget_workload(&workload);
		poll(NULL, 0, GRACE_MS); /* Sessions tell their clients, and programs tidy up. */
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--watch"))
		return watch();
	if (argc == 3 && !strcmp(argv[1], "-c"))
		return open_session(argv[2]);
	if (argc == 1)
		return open_session(NULL);
	return refuse("usage: login [-c COMMAND | --watch]", NULL);
}
