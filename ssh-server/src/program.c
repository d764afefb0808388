#include "program.h"

#include "passwd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* sshd_config names this file as its sftp subsystem. It is opened before our root changes and
 * run by descriptor after, so that it need not be in the workload's image. */
#ifndef SFTP_SERVER
#define SFTP_SERVER "/opt/ssh-server/sftp-server"
#endif

int refuse(const char *why, const char *detail)
{
	fprintf(stderr, "ssh-server: %s%s%s\n", why, detail ? ": " : "", detail ? detail : "");
	return REFUSED;
}

bool open_program(struct program *out, char *command)
{
	*out = (struct program){.command = command, .sftp = -1};
	if (!command || strcmp(command, SFTP_SERVER))
		return true;
	out->sftp = open(SFTP_SERVER, O_PATH | O_CLOEXEC);
	return out->sftp >= 0;
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

static void add_user(struct program *program, uid_t uid)
{
	struct passwd *entry = passwd_of(uid);

	if (entry) {
		environment_default(&program->env, "HOME", entry->pw_dir);
		environment_default(&program->env, "USER", entry->pw_name);
		environment_default(&program->env, "LOGNAME", entry->pw_name);
		program->entry_shell = strdup(entry->pw_shell);
	}
	environment_default(&program->env, "HOME", "/");
	environment_default(&program->env, "PATH", DEFAULT_PATH);
}

void furnish_program(struct program *program, char *block, size_t len, uid_t uid)
{
	environment_from(&program->env, block, len);
	add_client(&program->env);
	add_user(program, uid);
}

static int is_shell(const char *path)
{
	if (!path || *path != '/')
		return 0;
	const char *name = strrchr(path, '/') + 1;
	return strcmp(name, "nologin") && strcmp(name, "false") && !access(path, X_OK);
}

/* Not a login shell: /etc/profile of many images sets PATH anew, and so loses the workload's. */
static void become_shell(struct program *program, const char *path)
{
	char *name = strrchr(path, '/') + 1;
	char *with_command[] = {name, "-c", program->command, NULL}, *plain[] = {name, NULL};

	if (!is_shell(path))
		return;
	environment_set(&program->env, "SHELL", path);
	execve(path, program->command ? with_command : plain, program->env.entries);
}

int become_program(void *with)
{
	struct program *program = with;
	char *sftp[] = {"sftp-server", NULL};
	const char *own = environment_get(&program->env, "SHELL");

	if (program->sftp >= 0) {
		syscall(SYS_execveat, program->sftp, "", sftp, program->env.entries, AT_EMPTY_PATH);
		return refuse("the sftp server cannot run in the workload", strerror(errno));
	}
	if (*program->terminal) {
		environment_set(&program->env, "SSH_TTY", program->terminal);
		environment_set(&program->env, "TERM", getenv("TERM") ? getenv("TERM") : "dumb");
	}
	const char *shells[] = {own, program->entry_shell, "/bin/bash", "/bin/sh"};
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (shells[i])
			become_shell(program, shells[i]);
	return refuse("the image of the workload has no shell that runs ($SHELL, /etc/passwd, "
		      "/bin/bash, /bin/sh): copy files by sftp, or use an image with a shell", NULL);
}
