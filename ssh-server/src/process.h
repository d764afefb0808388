/* One process, as /proc shows it. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What a process may do. */
struct rights {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t groups_len;
	uint64_t inheritable, permitted, effective, bounding, ambient;
	bool no_new_privs;
	mode_t umask;
};

/* Who started the process, 0 for somebody outside the Pod, and when. */
struct origin {
	pid_t parent;
	unsigned long long started;
};

/* The folder of a process in /proc, or -1; it never comes to mean another process. */
int open_process(pid_t pid);
void every_process(void (*each)(void *with, pid_t pid, int proc), void *with);

/* False where the process is gone; `groups` is to be freed either way. */
bool read_rights(int proc, struct rights *out);
struct origin read_origin(int proc);

/* The whole file, with a NUL after it that `len` does not count; NULL where it cannot be read. */
char *contents(int dir, const char *path, size_t *len);

/*
 * Look at files as that user and group from here on; 0 and 0 is back to ourselves.
 *
 * Looking into another user's process takes the same user and group and no fewer
 * capabilities (ptrace(2), "access mode checking"). CAP_SYS_PTRACE would do instead, but
 * would also open the way out of the container: so every look is taken as that user.
 */
void look_as(uid_t uid, gid_t gid);

bool same(const struct stat *a, const struct stat *b);

#endif
