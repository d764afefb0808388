#!/bin/sh
# container.sh ROOT SKELETON SYSTEM BECOME ...: the root of a container, in a mount namespace made
# by the caller. SYSTEM is "host" for the machine's own /usr, "none" for what SKELETON holds.
set -eu
root=$1 skeleton=$2 system=$3
shift 3

mount -t tmpfs -o mode=0755 container "$root"
cp -a "$skeleton/." "$root"
cd "$root"
mkdir -p proc dev/pts dev/shm tmp .old usr
chmod 1777 tmp dev/shm
if [ "$system" = host ]; then
	mount --bind /usr usr
	mount -o remount,bind,ro usr
	ln -s usr/bin bin
	ln -s usr/sbin sbin
	ln -s usr/lib lib
	[ ! -d /usr/lib64 ] || ln -s usr/lib64 lib64
fi
mount -t proc proc proc
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for device in null zero full random urandom tty; do
	: > "dev/$device"
	mount --bind "/dev/$device" "dev/$device"
done
if [ -d etc/gpustack ] && [ -n "${KEYS:-}" ]; then
	mount --bind "$KEYS" etc/gpustack/authorized-keys
	mount -o remount,bind,ro etc/gpustack/authorized-keys
fi
if [ -d .gpustack ] && [ -n "${KEYS:-}" ]; then
	mount --bind "$KEYS" .gpustack/authorized-keys
	mount -o remount,bind,ro .gpustack/authorized-keys
fi
pivot_root . .old
cd /
become=$1
shift
exec "/.old$become" "$@"
