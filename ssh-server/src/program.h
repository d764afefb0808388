/* What a session runs: a shell of the workload, a command in one, or the sftp server. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "environment.h"

#include <stdbool.h>
#include <sys/types.h>

#define REFUSED 255

struct program {
	char *command; /* NULL: an interactive shell */
	int sftp;      /* the sftp server, or -1 */
	char terminal[32];
	struct environment env;
	const char *entry_shell; /* as /etc/passwd of the workload says, or NULL */
};

/* Tells the user why there is no session, in one line; returns the exit status of that. */
int refuse(const char *why, const char *detail);

/* Takes `command` for what to run; false, with errno, where the sftp server is missing. To be called
 * before our root changes: the server need not be in the workload's image. */
bool open_program(struct program *out, char *command);

/* Gives it the workload's environment, `block` with a NUL behind each entry, and what a login adds.
 * To be called in the root of the workload, for its user. */
void furnish_program(struct program *program, char *block, size_t len, uid_t uid);

/* Becomes the `struct program`; returns only where that failed, with the exit status to give. */
int become_program(void *program);

#endif
