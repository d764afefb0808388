#ifndef SWEEP_H
#define SWEEP_H

#include "workload.h"

/* Finds the workload, and kills what sessions left behind in the root of any other: only
 * processes of our own mount namespace, so never one of a container's own. */
enum answer sweep_sessions(struct workload *found);

#endif
