/* A terminal of the workload in place of the SSH server's, and the bytes between the two. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* One direction; what was read and not yet written is held. */
struct flow {
	int from, to;
	char held[16384];
	size_t at, len;
};

/* Both are false where the other side is gone for good. */
bool fill(struct flow *flow);
bool drain(struct flow *flow);

/* Our end of a new terminal in /dev/pts, or -1; *theirs is the program's end, `name` (room for 32
 * characters) what the program knows it by. Modes and size are those of standard input, which
 * from then on only passes bytes. */
int open_terminal(int *theirs, char *name);

/* Gives `to` the window size of standard input. */
void copy_window(int to);

#endif
