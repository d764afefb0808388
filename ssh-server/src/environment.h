/* The environment of a session: the workload's, verbatim, and what a login adds to it. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stddef.h>

struct environment {
	char **entries; /* ends with NULL, as execve(2) wants it */
	size_t len, room;
};

/* Takes over `block`, entries each with a NUL behind. */
void environment_from(struct environment *out, char *block, size_t len);
const char *environment_get(const struct environment *in, const char *name);
void environment_set(struct environment *in, const char *name, const char *value);
void environment_default(struct environment *in, const char *name, const char *value);

#endif
