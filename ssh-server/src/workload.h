/* The container `main`, as the SSH server beside it finds it. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "process.h"

/* The operator sets this on `main` alone. */
#define MARK "GPUSTACK_INSTANCE_CONTAINER=main"

enum answer { FOUND, NOT_RUNNING, OUT_OF_REACH };

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

#endif
