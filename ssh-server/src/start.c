/*
 * Starts the SSH server in the workload's own container: the container's postStart hook.
 *
 *   start [PORT]
 *
 * A hook that fails or hangs takes its container down, so this one always succeeds, after a second
 * at the latest; it returns as soon as the server listens. The process that it leaves behind keeps
 * the server running, and takes in what sessions leave: the workload may not know how to.
 */
#include "inside.h"

#include "listening.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS 5
#define PATIENCE_MS 1000
#define RETRY_MS 1000
#define LONGEST_PAUSE_S 60

/* What the server says goes to the workload's log, if that may be written to: it says little. */
static void take_leave(void)
{
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = open("/proc/1/fd/2", O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);

	setsid();
	for (int fd = 0; fd < 3; fd++)
		if (fd == 2 && log >= 0)
			dup2(log, fd);
		else
			dup2(nowhere, fd);
}

/* The host key where only its reader can see it, whoever that is: the server refuses a file that
 * it owns and others may read, and a mounted one is readable for the group of an fsGroup. -1 where
 * there is none. */
static int private_key(void)
{
	size_t len;
	char *key = contents(AT_FDCWD, KEY_FILE, &len);
	int held = key ? memfd_create("host-key", 0) : -1;
	bool whole = held >= 0 && !fchmod(held, 0600) && write(held, key, len) == (ssize_t)len;

	if (key)
		explicit_bzero(key, len);
	free(key);
	if (whole)
		return held;
	fprintf(stderr, "ssh-server: " KEY_FILE " cannot be used: %s\n", strerror(errno));
	return -1;
}

static void become_server(const char *port, pid_t starter, int key)
{
	char host_key[64], set_env[64];
	/* Of the workload's environment nothing is meant for the server. */
	char *env[] = {"PATH=/usr/bin:/bin", "OPENSSL_CONF=/dev/null", NULL};

	snprintf(host_key, sizeof host_key, "HostKey=/proc/%d/fd/%d", starter, key);
	snprintf(set_env, sizeof set_env, "SetEnv=" STARTER "=%d", starter);
	char *words[] = {PROGRAMS "/sshd", "-D", "-e", "-f", PROGRAMS "/sshd_config",
			 "-p", (char *)port, "-o", host_key, "-o", set_env, NULL};
	execve(*words, words, env);
	fprintf(stderr, "ssh-server: %s: %s\n", *words, strerror(errno));
	_exit(127);
}

/* The server's end. Everything else that ends is an orphan of some session. */
static void await(pid_t server)
{
	for (;;) {
		pid_t ended = waitpid(-1, NULL, 0);
		if (ended == server || (ended < 0 && errno != EINTR))
			return;
	}
}

/* On an address that is free the server would listen all the same, and call that success. */
static void await_port(const char *port)
{
	if (!is_listening(atoi(port)))
		return;
	fprintf(stderr, "ssh-server: port %s is taken: nobody can log in while it is\n", port);
	while (is_listening(atoi(port)))
		poll(NULL, 0, RETRY_MS);
}

static void keep_running(const char *port)
{
	pid_t self = getpid();
	int key = private_key();

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (int pause_s = 1; key >= 0; pause_s = pause_s < LONGEST_PAUSE_S ? 2 * pause_s : pause_s) {
		await_port(port);
		time_t began = time(NULL);
		pid_t server = fork();
		if (!server)
			become_server(port, self, key);
		await(server);
		if (time(NULL) - began > LONGEST_PAUSE_S)
			pause_s = 1;
		poll(NULL, 0, 1000 * pause_s);
	}
}

int main(int argc, char **argv)
{
	const char *port = argc > 1 ? argv[1] : "22";
	pid_t child = fork();

	if (!child) {
		take_leave();
		keep_running(port);
		return 0;
	}
	for (int waited = 0; child > 0 && waited < PATIENCE_MS; waited += STEP_MS) {
		if (is_listening(atoi(port)) || waitpid(child, NULL, WNOHANG) == child)
			break;
		poll(NULL, 0, STEP_MS);
	}
	return 0;
}
