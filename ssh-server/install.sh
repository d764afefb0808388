#!/bin/sh
# install.sh PROGRAMS ROOT: puts the SSH server into ROOT, the root of a Debian system that has
# openssh-server or will have it. PROGRAMS holds what build.sh built.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
programs=$1
root=${2%/}

install -d -m 0755 "$root/opt/ssh-server" "$root/etc/ssh" \
	"$root/etc/gpustack/authorized-keys" "$root/etc/gpustack/host-key"
install -m 0755 "$programs/login" "$programs/sftp-server" "$here/entrypoint" "$root/opt/ssh-server/"
install -m 0644 "$here/sshd_config" "$root/etc/ssh/sshd_config"

# What an init container copies for the workload's own container (src/inside.h): static programs, and
# the same rules. The server's word there would stand between the workload's own.
inside="$root/opt/ssh-server/inside"
install -d -m 0755 "$inside" "$inside/empty"
install -m 0755 "$programs"/inside/* "$programs/sftp-server" "$inside/"
sed -e '/^HostKey /d' -e '/^UsePAM /d' \
	-e '/^PidFile /d' -e '/hook waits for it/d' -e '/^PrintLastLog /d' \
	-e 's#/etc/gpustack/authorized-keys/#/.gpustack/authorized-keys/#' \
	-e 's#/opt/ssh-server/#/.gpustack/ssh/#' \
	"$here/sshd_config" > "$inside/sshd_config"
printf '%s\n' 'LogLevel FATAL' 'PidFile none' >> "$inside/sshd_config"
# Since OpenSSH 9.8; see the entry point.
if grep -qa persourcepenalties "$programs"/inside/sshd*; then
	echo 'PerSourcePenalties no' >> "$inside/sshd_config"
fi
chmod 0644 "$inside/sshd_config"

# Host keys of the package would be the same in every copy of the image.
rm -f "$root"/etc/ssh/ssh_host_*

# Where sshd finds no lastlog, it says so on the user's terminal.
install -d -m 0755 "$root/var/log"
install -m 0644 /dev/null "$root/var/log/lastlog"

# Nobody gets a shell here. A password of "*" matches nothing, yet does not lock the account.
cat > "$root/etc/passwd.new" <<'END'
root:x:0:0:root:/:/opt/ssh-server/login
END
grep -v '^root:' "$root/etc/passwd" >> "$root/etc/passwd.new"
mv "$root/etc/passwd.new" "$root/etc/passwd"
sed -i 's/^root:[^:]*:/root:*:/' "$root/etc/shadow"
