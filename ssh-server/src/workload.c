/*
 * Finding `main` among the processes of the Pod.
 *
 * Containers of a Pod that share a process namespace still have a mount namespace each.
 * Whatever carries the operator's mark in another mount namespace than ours belongs to
 * `main`; what an earlier session left running carries the mark too, but kept ours.
 * The oldest process of that namespace is the one the container runtime started.
 *
 * Looking into another user's process takes the same user and group and no fewer
 * capabilities (ptrace(2), "access mode checking"). CAP_SYS_PTRACE would do instead, but
 * would also open the way out of the container: so every look is taken as that user.
 */
#include "workload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One process that lives in another mount namespace than ours. */
struct candidate {
	pid_t pid;
	unsigned long long started;
	struct stat space;
	bool marked;
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

/* The whole file, with a NUL after it that `len` does not count; NULL where it cannot be read. */
static char *contents(int dir, const char *path, size_t *len)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t room = 4096, have = 0;
	char *text = fd < 0 ? NULL : malloc(room);
	ssize_t n = 0;

	while (text && (n = read(fd, text + have, room - have - 1)) > 0) {
		have += n;
		if (have + 1 < room)
			continue;
		char *more = realloc(text, room *= 2);
		if (!more)
			free(text);
		text = more;
	}
	if (fd >= 0)
		close(fd);
	if (text && n < 0) {
		free(text);
		return NULL;
	}
	if (text)
		text[*len = have] = 0;
	return text;
}

static const char *field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? at + strlen(name) : "";
}

static void read_groups(const char *listed, struct rights *out)
{
	char *next;

	for (;;) {
		unsigned long gid = strtoul(listed, &next, 10);
		if (next == listed || strcspn(listed, "\n") < (size_t)(next - listed))
			return;
		gid_t *more = realloc(out->groups, (out->groups_len + 1) * sizeof *more);
		if (!more)
			return;
		out->groups = more;
		out->groups[out->groups_len++] = gid;
		listed = next;
	}
}

static bool read_rights(int proc, struct rights *out)
{
	size_t len;
	char *status = contents(proc, "status", &len);

	memset(out, 0, sizeof *out);
	if (!status)
		return false;
	/* Real, effective, saved, file system: the second is what the process acts as. */
	bool whole = sscanf(field(status, "\nUid:"), "%*u %u", &out->uid) == 1 &&
		     sscanf(field(status, "\nGid:"), "%*u %u", &out->gid) == 1 &&
		     sscanf(field(status, "\nCapInh:"), "%" SCNx64, &out->inheritable) == 1 &&
		     sscanf(field(status, "\nCapPrm:"), "%" SCNx64, &out->permitted) == 1 &&
		     sscanf(field(status, "\nCapEff:"), "%" SCNx64, &out->effective) == 1 &&
		     sscanf(field(status, "\nCapBnd:"), "%" SCNx64, &out->bounding) == 1 &&
		     sscanf(field(status, "\nCapAmb:"), "%" SCNx64, &out->ambient) == 1;
	if (sscanf(field(status, "\nUmask:"), "%o", &out->umask) != 1)
		out->umask = 022;
	out->no_new_privs = strtoul(field(status, "\nNoNewPrivs:"), NULL, 10) != 0;
	read_groups(field(status, "\nGroups:"), out);
	free(status);
	return whole;
}

/* Look at files as uid:gid from here on. Leaving uid 0 takes capabilities out of the
 * effective set, which the kernel compares: they are put back, as far as they are ours. */
static void look_as(uid_t uid, gid_t gid)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct sets[2];

	setfsgid(gid);
	setfsuid(uid);
	if (syscall(SYS_capget, &header, sets))
		return;
	for (int i = 0; i < 2; i++)
		sets[i].effective = sets[i].permitted;
	syscall(SYS_capset, &header, sets);
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Who started the process, 0 for somebody outside the Pod, and when. */
struct origin {
	pid_t parent;
	unsigned long long started;
};

static struct origin read_origin(int proc)
{
	size_t len;
	char *text = contents(proc, "stat", &len), *at;
	struct origin origin = {-1, 0};

	/* Fields 4 and 22. The second one, the name, may hold anything but ends at the last ')'. */
	at = text ? strrchr(text, ')') : NULL;
	if (at)
		sscanf(at, ") %*c %d", &origin.parent);
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (at)
		sscanf(at, "%llu", &origin.started);
	free(text);
	return origin;
}

static bool has_mark(const char *env, size_t len)
{
	for (const char *at = env; at < env + len; at += strlen(at) + 1)
		if (!strcmp(at, MARK))
			return true;
	return false;
}

static int open_process(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
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

	if (!read_rights(proc, &rights))
		return;
	free(rights.groups);
	look_as(rights.uid, rights.gid);
	if (fstatat(proc, "ns/mnt", &one.space, 0)) {
		/* Process 1 holds the namespace together, and the SSH server hides itself: neither is
		 * the workload, whose first process comes from outside like theirs. */
		census->closed |= errno == EACCES && !origin.parent && pid != 1 &&
				  pid != counting->own_first;
	} else if (!same(&one.space, &counting->ours)) {
		char *env = contents(proc, "environ", &len);
		one.marked = env && has_mark(env, len);
		free(env);
		add(census, one);
	}
	look_as(0, 0);
}

/* Calls `each` for every process there is, with its folder in /proc. */
static void every_process(void (*each)(void *, pid_t, int), void *with)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		pid_t pid = strtol(entry->d_name, NULL, 10);
		int proc = pid > 0 ? openat(dirfd(all), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC)
				   : -1;
		if (proc < 0)
			continue;
		each(with, pid, proc);
		close(proc);
	}
	if (all)
		closedir(all);
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

/* A program may overwrite its own environment (setproctitle) or start without one. Then the
 * mark is nowhere, and the workload is known as the only container that is left. */
static const struct candidate *only_other(const struct census *census)
{
	const struct candidate *best = NULL, *pause = NULL;

	for (const struct candidate *it = census->all; it < census->all + census->len; it++)
		if (it->pid == 1)
			pause = it;
	for (const struct candidate *it = census->all; it < census->all + census->len; it++) {
		if (pause && same(&it->space, &pause->space))
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
		sign = only_other(census);
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

/* A process of our mount namespace whose root is a workload's. */
struct guest {
	int pidfd;
	struct stat root;
};

struct guests {
	struct guest *all;
	size_t len;
	struct stat space, own_root, sshd_root;
};

static void note_guest(void *with, pid_t pid, int proc)
{
	struct guests *guests = with;
	struct stat space;
	struct guest one;
	struct rights rights;

	/* Before the looks below: that they succeed proves that it is of the same process. */
	if ((one.pidfd = syscall(SYS_pidfd_open, pid, 0)) < 0)
		return;
	bool is_guest = read_rights(proc, &rights);
	free(rights.groups);
	look_as(rights.uid, rights.gid);
	is_guest = is_guest && !fstatat(proc, "ns/mnt", &space, 0) && same(&space, &guests->space) &&
		   !fstatat(proc, "root", &one.root, 0) && !same(&one.root, &guests->own_root) &&
		   !same(&one.root, &guests->sshd_root);
	look_as(0, 0);
	struct guest *more = is_guest ? realloc(guests->all, (guests->len + 1) * sizeof one) : NULL;
	if (!more) {
		close(one.pidfd);
		return;
	}
	guests->all = more;
	guests->all[guests->len++] = one;
}

enum answer sweep_sessions(struct workload *found)
{
	struct guests guests = {0};
	struct stat root = {0};

	/* sshd keeps those who have not logged in yet in an empty folder. */
	stat("/run/sshd", &guests.sshd_root);
	if (stat("/proc/self/ns/mnt", &guests.space) || stat("/", &guests.own_root))
		return OUT_OF_REACH;
	/* In this order: whoever entered before the look, and not into what it shows, is left over. */
	every_process(note_guest, &guests);
	enum answer answer = find_workload(found);
	if (answer == FOUND && fstat(found->root, &root))
		answer = OUT_OF_REACH;
	for (struct guest *it = guests.all; it < guests.all + guests.len; it++) {
		if (answer == NOT_RUNNING || (answer == FOUND && !same(&it->root, &root)))
			syscall(SYS_pidfd_send_signal, it->pidfd, SIGKILL, NULL, 0);
		close(it->pidfd);
	}
	free(guests.all);
	return answer;
}
