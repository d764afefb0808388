/*
 * The login shell of root beside a workload: whatever the SSH server runs for a session, it
 * runs through here, and here it runs inside the workload, as one of its own, or not at all.
 *
 *   login               an interactive shell of the workload
 *   login -c COMMAND    COMMAND in a shell of the workload, or the sftp server
 *   login --watch       ends what sessions left behind whenever a workload ends
 *   login --await       waits until the SSH server listens; the container's postStart hook
 */
#include "enter.h"
#include "program.h"
#include "session.h"
#include "sweep.h"
#include "workload.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define GRACE_MS 2000
#define RETRY_MS 1000
#define STEP_MS 5
#define PATIENCE_MS 10000
/* sshd writes it once it listens; sshd_config knows the path, too. */
#define LISTENS "/run/sshd.pid"

static int open_session(char *command)
{
	struct program program;
	struct workload workload;

	switch (find_workload(&workload)) {
	case NOT_RUNNING:
		return refuse("the workload is not running", NULL);
	case OUT_OF_REACH:
		return refuse("the workload is not running, or has more privileges than this SSH server", NULL);
	case FOUND:
		break;
	}
	if (!open_program(&program, command))
		return refuse("the sftp server is missing from the SSH server's image", strerror(errno));
	if (!enter(&workload))
		return refuse("the workload cannot be entered", strerror(errno));
	furnish_program(&program, workload.env, workload.env_len, workload.rights.uid);
	return run_session(become_program, &program, workload.pidfd, program.terminal);
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

/* The kubelet calls the container ready when this returns. A hook that fails would end it, so a
 * server that does not come is left to tell of itself. */
static int await_server(void)
{
	for (int waited = 0; access(LISTENS, F_OK) && waited < PATIENCE_MS; waited += STEP_MS)
		poll(NULL, 0, STEP_MS);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--watch"))
		return watch();
	if (argc == 2 && !strcmp(argv[1], "--await"))
		return await_server();
	if (argc == 3 && !strcmp(argv[1], "-c"))
		return open_session(argv[2]);
	if (argc == 1)
		return open_session(NULL);
	return refuse("usage: login [-c COMMAND | --watch | --await]", NULL);
}
