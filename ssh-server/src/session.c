/*
 * Relays a session and watches over it.
 *
 * The terminal that the SSH server made lies in its own devpts, where no program of the
 * workload can find it: ttyname(3), tmux and gpg would fail. So a second one is opened in
 * the workload's devpts, and bytes, window sizes and the hang-up are passed on.
 */
#include "session.h"

#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOST 255           /* what ssh itself exits with when a connection breaks */
#define LAST_WORDS 131072  /* more than a terminal can hold back when its program ends */

struct session {
	pid_t program;
	int signals, workload_end, terminal; /* terminal: our end of the workload's, or -1 */
	struct flow in, out;
};

static int failed(const char *what)
{
	fprintf(stderr, "ssh-server: %s: %s\n", what, strerror(errno));
	return LOST;
}

static sigset_t watched(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (const int *it = (int[]){SIGCHLD, SIGWINCH, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
				     SIGUSR2, SIGALRM, SIGPIPE, 0};
	     *it; it++)
		sigaddset(&set, *it);
	return set;
}

static void start_program(become *program, void *with, int terminal, const sigset_t *unblock)
{
	if (terminal >= 0) {
		setsid();
		ioctl(terminal, TIOCSCTTY, 0);
		for (int fd = 0; fd < 3; fd++)
			dup2(terminal, fd);
	}
	sigprocmask(SIG_UNBLOCK, unblock, NULL);
	_exit(program(with));
}

static void end_by(int signal)
{
	sigset_t all;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigaction(signal, &plain, NULL);
	raise(signal);
}

static int told(int status)
{
	if (WIFSIGNALED(status)) {
		end_by(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* What the program wrote before it ended. A program that it left in the background may go on
 * writing, so there is a bound. */
static void last_words(struct session *it)
{
	size_t passed = 0;

	fcntl(it->out.to, F_SETFL, fcntl(it->out.to, F_GETFL) & ~O_NONBLOCK);
	for (;;) {
		while (it->out.len)
			if (!drain(&it->out))
				return;
		if (passed > LAST_WORDS || !fill(&it->out) || !it->out.len)
			return;
		passed += it->out.len;
	}
}

static void hang_up(struct session *it)
{
	if (it->terminal < 0) {
		kill(0, SIGHUP); /* The program shares our process group; we hold the signal back. */
		return;
	}
	/* The kernel sends SIGHUP to the session of a terminal that loses its other end. */
	close(it->terminal);
	it->terminal = -1;
}

static void pass_on(const struct session *it, int signal)
{
	/* Without a terminal the program is in our process group, and has it already. */
	pid_t front = it->terminal < 0 ? -1 : tcgetpgrp(it->terminal);

	if (front > 0)
		kill(-front, signal);
}

/* True while the session goes on; else *result is its end. */
static bool take_signal(struct session *it, int *result)
{
	struct signalfd_siginfo one;
	int status;

	if (read(it->signals, &one, sizeof one) != sizeof one)
		return true;
	if (one.ssi_signo == SIGWINCH && it->terminal >= 0) {
		copy_window(it->terminal);
	} else if (one.ssi_signo == SIGHUP && it->terminal >= 0) {
		hang_up(it);
		*result = LOST;
		return false;
	} else if (one.ssi_signo == SIGCHLD) {
		if (waitpid(it->program, &status, WNOHANG) != it->program)
			return true;
		if (it->terminal >= 0)
			last_words(it);
		*result = told(status);
		return false;
	} else {
		pass_on(it, one.ssi_signo);
	}
	return true;
}

static int workload_ended(struct session *it)
{
	const char *words = it->terminal < 0 ? "ssh-server: the workload has ended\n"
					     : "\r\nssh-server: the workload has ended\r\n";

	hang_up(it);
	(void)!write(STDERR_FILENO, words, strlen(words));
	return LOST;
}

static int watch_program(struct session *it)
{
	int result = LOST;
	/* Nobody is left to read: the client went away. */
	struct pollfd all[] = {{it->signals, POLLIN, 0}, {it->workload_end, POLLIN, 0}, {STDOUT_FILENO, 0, 0}};

	for (;;) {
		if (poll(all, 3, -1) < 0)
			continue;
		if (all[0].revents && !take_signal(it, &result))
			return result;
		if (all[1].revents)
			return workload_ended(it);
		if (all[2].revents) {
			hang_up(it);
			all[2].fd = -1;
		}
	}
}

static int relay(struct session *it)
{
	int result = LOST;
	enum { SIGNALS, END, CLIENT, PROGRAM };

	for (;;) {
		short client = (it->in.len ? 0 : POLLIN) | (it->out.len ? POLLOUT : 0);
		short program = (it->out.len ? 0 : POLLIN) | (it->in.len ? POLLOUT : 0);
		struct pollfd all[] = {
			{it->signals, POLLIN, 0},
			{it->workload_end, POLLIN, 0},
			{STDIN_FILENO, client, 0},
			/* A hang-up is told even to who did not ask, over and over. */
			{program ? it->terminal : -1, program, 0},
		};
		if (poll(all, 4, -1) < 0)
			continue;
		if (all[SIGNALS].revents && !take_signal(it, &result))
			return result;
		if (all[END].revents)
			return workload_ended(it);
		bool alive = !(all[CLIENT].revents & (POLLHUP | POLLERR));
		if (all[CLIENT].revents & POLLIN)
			alive = fill(&it->in);
		if (all[CLIENT].revents & POLLOUT)
			alive = drain(&it->out) && alive;
		if (!alive) {
			hang_up(it);
			return LOST;
		}
		if (all[PROGRAM].revents && it->in.len && !drain(&it->in))
			it->in.len = 0;
		/* A program that closed its terminal, but lives, is waited for all the same. */
		if (all[PROGRAM].revents && !it->out.len && !fill(&it->out))
			return watch_program(it);
	}
}

int run_session(become *program, void *with, int workload_end, char *terminal)
{
	struct session it = {.workload_end = workload_end, .terminal = -1};
	sigset_t set = watched();
	int theirs = -1;

	if (isatty(STDIN_FILENO) && (it.terminal = open_terminal(&theirs, terminal)) < 0)
		return failed("no terminal can be opened in the workload's /dev/pts");
	sigprocmask(SIG_BLOCK, &set, NULL);
	it.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	it.program = it.signals < 0 ? -1 : fork();
	if (it.program < 0)
		return failed("the session cannot start");
	if (!it.program)
		start_program(program, with, theirs, &set);

	if (it.terminal < 0) {
		close(STDIN_FILENO); /* So that the program's own end of it is the last one. */
		return watch_program(&it);
	}
	close(theirs);
	fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
	it.in = (struct flow){.from = STDIN_FILENO, .to = it.terminal};
	it.out = (struct flow){.from = it.terminal, .to = STDOUT_FILENO};
	return relay(&it);
}
