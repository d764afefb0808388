/* The container `main` as the SSH server beside it sees it: through /proc alone. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The operator sets this on `main` alone. */
#define MARK "GPUSTACK_INSTANCE_CONTAINER=main"

enum answer { FOUND, NOT_RUNNING, OUT_OF_REACH };

/* What /proc/PID/status says of a process's rights. */
struct rights {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t groups_len;
	uint64_t inheritable, permitted, effective, bounding, ambient;
	bool no_new_privs;
	mode_t umask;
};

struct workload {
	pid_t pid;
	int pidfd;      /* readable once the workload ended; -1 before Linux 5.3 */
	int root, cwd;  /* O_PATH; cwd is -1 where it is gone */
	struct rights rights;
	char *env;      /* NUL after each entry, as at the start of the workload */
	size_t env_len;
};

/* The workload that runs now. Every descriptor closes on exec. */
enum answer find_workload(struct workload *found);
void forget_workload(struct workload *held);

/* The same, and kills what sessions left behind in the root of any other workload: only
 * processes of our own mount namespace, so never one of a container's own. */
enum answer sweep_sessions(struct workload *found);

#endif
