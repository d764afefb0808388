#!/bin/sh
# inside.sh DIRECTORY NAME INIT: runs in fresh mount, pid, uts and ipc namespaces; makes them
# the node NAME, whose files lie below DIRECTORY, and becomes INIT, the node's first process.
set -eu
directory=$1

# The old /sys shows the devices of another network: take a new one, keep the cgroups.
mkdir -p "$directory/sys"
mount -t sysfs sysfs "$directory/sys"
mount --rbind /sys/fs/cgroup "$directory/sys/fs/cgroup"
mount --rbind "$directory/sys" /sys
umount -l "$directory/sys"

# Names that are fixed in the programs. The mounts end with this namespace.
for place in /var/lib/kubelet /var/lib/containerd /var/lib/cni /var/log/pods /var/log/containers; do
	mkdir -p "$directory/inside$place" "$place"
	mount --bind "$directory/inside$place" "$place"
done
mkdir -p /run/containerd
mount -t tmpfs -o mode=755 tmpfs /run/containerd
mount --make-rshared /
hostname "$2"
touch "$directory/pid/ready"
exec "$3"
