/*
 * Finding `main` among the processes of the Pod.
 *
 * Containers of a Pod that share a process namespace still have a mount namespace each.
 * Whatever carries the operator's mark in another mount namespace than ours belongs to
 * `main`; what an earlier session left running carries the mark too, but kept ours.
 * The oldest process of that namespace is the one the container runtime started.
 */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One process that lives in another mount namespace than ours. */
struct candidate {
	pid_t pid;
	unsigned long long started;
	struct stat space;
	bool marked;
	bool other; /* its environment is whole, and has no mark */
};

struct census {
	struct candidate *all;
	size_t len;
	bool closed; /* somebody may not be looked into */
};

struct counting {
	struct census census;
	struct stat ours;
	pid_t own_first;
};

static bool has(const char *env, size_t len, const char *start)
{
	for (const char *at = env; at < env + len; at += strlen(at) + 1)
		if (!strncmp(at, start, strlen(start)))
			return true;
	return false;
}

/* The first process of our own container. */
static pid_t own_first(void)
{
	for (pid_t pid = getpid(), parent;; pid = parent) {
		int proc = open_process(pid);
		parent = proc < 0 ? 0 : read_origin(proc).parent;
		if (proc >= 0)
			close(proc);
		if (parent <= 0)
			return pid;
	}
}

static void add(struct census *census, struct candidate one)
{
	struct candidate *more = realloc(census->all, (census->len + 1) * sizeof one);

	if (!more)
		return;
	census->all = more;
	census->all[census->len++] = one;
}

static void judge(struct counting *counting, pid_t pid, int proc)
{
	struct census *census = &counting->census;
	struct origin origin = read_origin(proc);
	struct candidate one = {.pid = pid, .started = origin.started};
	struct rights rights;
	size_t len;

	bool whole = read_rights(proc, &rights);
	free(rights.groups);
	if (!whole)
		return;
	look_as(rights.uid, rights.gid);
	if (fstatat(proc, "ns/mnt", &one.space, 0)) {
		/* Process 1 holds the namespace together, and the SSH server hides itself: neither is
		 * the workload, whose first process comes from outside like theirs. */
		census->closed |= errno == EACCES && !origin.parent && pid != 1 &&
				  pid != counting->own_first;
	} else if (!same(&one.space, &counting->ours)) {
		char *env = contents(proc, "environ", &len);
		one.marked = env && has(env, len, MARK);
		/* Every container starts with these. */
		one.other = env && !one.marked && (has(env, len, "PATH=") || has(env, len, "HOSTNAME="));
		free(env);
		add(census, one);
	}
	look_as(0, 0);
}

static void count(void *with, pid_t pid, int proc)
{
	judge(with, pid, proc);
}

static bool older(const struct candidate *a, const struct candidate *b)
{
	return a->started < b->started || (a->started == b->started && a->pid < b->pid);
}

static const struct candidate *oldest(const struct census *census, const struct stat *space, bool marked)
{
	const struct candidate *best = NULL;

	for (const struct candidate *it = census->all; it < census->all + census->len; it++) {
		bool fits = (!space || same(&it->space, space)) && (!marked || it->marked);
		if (fits && (!best || older(it, best)))
			best = it;
	}
	return best;
}

static bool known_as_other(const struct census *census, const struct stat *space)
{
	for (const struct candidate *it = census->all; it < census->all + census->len; it++)
		if (same(&it->space, space) && (it->pid == 1 || it->other))
			return true;
	return false;
}

/* A program may overwrite its own environment (setproctitle does) or start without one. Then the
 * mark is nowhere, and the workload is the only container that might have had it: not the pause
 * process, nor one that somebody's webhook added, whose environment is whole. */
static const struct candidate *only_suspect(const struct census *census)
{
	const struct candidate *best = NULL;

	for (const struct candidate *it = census->all; it < census->all + census->len; it++) {
		if (known_as_other(census, &it->space))
			continue;
		if (best && !same(&it->space, &best->space))
			return NULL;
		if (!best || older(it, best))
			best = it;
	}
	return best;
}

static char *environment(pid_t pid, size_t *len)
{
	int proc = open_process(pid);
	struct rights rights;
	char *env = NULL;

	if (proc >= 0 && read_rights(proc, &rights)) {
		free(rights.groups);
		look_as(rights.uid, rights.gid);
		env = contents(proc, "environ", len);
		look_as(0, 0);
	}
	if (proc >= 0)
		close(proc);
	return env;
}

static bool open_workload(struct workload *out, pid_t pid, pid_t env_of)
{
	int proc = open_process(pid);

	out->pid = pid;
	out->env = environment(env_of, &out->env_len);
	out->pidfd = syscall(SYS_pidfd_open, pid, 0);
	/* Read last: that `proc` still answers proves that `pidfd` is of the same process. */
	bool whole = proc >= 0 && read_rights(proc, &out->rights);
	if (whole) {
		look_as(out->rights.uid, out->rights.gid);
		out->root = openat(proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
		out->cwd = openat(proc, "cwd", O_PATH | O_DIRECTORY | O_CLOEXEC);
		look_as(0, 0);
	}
	if (proc >= 0)
		close(proc);
	return whole && out->root >= 0 && out->env;
}

enum answer find_workload(struct workload *found)
{
	struct counting counting = {.own_first = own_first()};
	enum answer answer;

	*found = (struct workload){.pidfd = -1, .root = -1, .cwd = -1};
	if (stat("/proc/self/ns/mnt", &counting.ours))
		return OUT_OF_REACH;
	every_process(count, &counting);

	struct census *census = &counting.census;
	const struct candidate *sign = oldest(census, NULL, true);
	if (!sign)
		sign = only_suspect(census);
	if (!sign) {
		answer = census->closed ? OUT_OF_REACH : NOT_RUNNING;
	} else {
		const struct candidate *first = oldest(census, &sign->space, false);
		answer = open_workload(found, first->pid, sign->pid) ? FOUND : NOT_RUNNING;
	}
	free(census->all);
	if (answer != FOUND)
		forget_workload(found);
	return answer;
}

void forget_workload(struct workload *held)
{
	int fds[] = {held->pidfd, held->root, held->cwd};

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(held->env);
	free(held->rights.groups);
	*held = (struct workload){.pidfd = -1, .root = -1, .cwd = -1};
}
