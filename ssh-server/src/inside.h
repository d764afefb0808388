/* What is agreed between the programs in the workload's container. */
#ifndef INSIDE_H
#define INSIDE_H

/* Where the operator mounts them; build.sh, install.sh and the operator know these paths, too. */
#define PROGRAMS "/.gpustack/ssh"
#define KEY_FILE "/.gpustack/host-key/ssh_host_ed25519_key"

/* The variable that tells a session which process started the server. */
#define STARTER "GPUSTACK_SSH_STARTER"

#endif
