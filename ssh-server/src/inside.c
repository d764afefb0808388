/*
 * The login shell where the SSH server runs in the workload's own container: the session is there
 * already, and wants only what the server keeps from it, the environment and the folder.
 *
 *   login               an interactive shell of the workload
 *   login -c COMMAND    COMMAND in a shell of the workload, or the sftp server
 */
#include "inside.h"

#include "process.h"
#include "program.h"
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program `start` waits beside its server, unchanged since the container runtime started it as
 * it would start `kubectl exec`: what it has, a session gets. */
static int open_starter(void)
{
	const char *pid = getenv(STARTER);

	return pid ? open_process(strtol(pid, NULL, 10)) : -1;
}

static bool move_to(int starter)
{
	struct rights rights;
	bool whole = read_rights(starter, &rights);
	int folder = openat(starter, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);

	free(rights.groups);
	if (whole)
		umask(rights.umask);
	/* A folder that was removed is no reason to keep somebody out. */
	if (folder >= 0)
		(void)!fchdir(folder);
	return whole;
}

static int open_session(char *command)
{
	struct program program;
	size_t len;
	int starter = open_starter();
	char *env = starter < 0 ? NULL : contents(starter, "environ", &len);

	if (!env || !move_to(starter))
		return refuse("the process that knows the workload's environment is gone: "
			      "restart the Instance", NULL);
	if (!open_program(&program, command))
		return refuse("the sftp server is missing", strerror(errno));
	furnish_program(&program, env, len, getuid());
	/* The terminal is one of the workload's already. Without one, the server would not end what
	 * its client left. */
	if (!getenv("SSH_TTY"))
		return run_session(become_program, &program, -1, program.terminal);
	snprintf(program.terminal, sizeof program.terminal, "%s", getenv("SSH_TTY"));
	return become_program(&program);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "-c"))
		return open_session(argv[2]);
	if (argc == 1)
		return open_session(NULL);
	return refuse("usage: login [-c COMMAND]", NULL);
}
