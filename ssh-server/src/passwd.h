/* Look-ups in /etc/passwd and /etc/group alone. A static program may not load the plug-ins
 * that nsswitch.conf of some image names: they belong to another C library. */
#ifndef PASSWD_H
#define PASSWD_H

#include <pwd.h>
#include <sys/types.h>

/* NULL where no line has that uid; else valid until the next look-up. */
struct passwd *passwd_of(uid_t uid);

#endif
