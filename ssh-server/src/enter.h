/* Becoming one of the workload's own: its root, its user, its rights and nothing more. */
#ifndef ENTER_H
#define ENTER_H

#include "workload.h"

#include <stdbool.h>

/* False, with errno, where any step failed: nothing may be started then. */
bool enter(const struct workload *workload);

#endif
