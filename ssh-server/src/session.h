/* One session: a program of the workload, between the SSH server and its end. */
#ifndef SESSION_H
#define SESSION_H

/* Becomes the program; returns only where that failed, with the exit status to give. */
typedef int become(void *with);

/* Runs `program` to its end and returns how it ended, as the SSH server should see it: an
 * exit status, or not at all where a signal ended it. `workload_end` is a descriptor that
 * becomes readable when the workload ends, and the session with it; -1 for none.
 *
 * With a terminal on our side, the program gets one of the workload's own devpts, named in
 * *terminal (room for 32 characters) before `program` is called. */
int run_session(become *program, void *with, int workload_end, char *terminal);

#endif
