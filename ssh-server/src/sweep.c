/* What sessions leave running outlives them, as it should, but must not outlive the workload:
 * it would keep memory and devices of a container that is gone. */
#include "sweep.h"

#include "process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

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
