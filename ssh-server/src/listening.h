#ifndef LISTENING_H
#define LISTENING_H

#include <stdbool.h>

/* Whether somebody listens on that TCP port of this network. */
bool is_listening(unsigned port);

#endif
