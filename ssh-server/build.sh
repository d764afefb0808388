#!/bin/sh
# Builds the programs of the SSH server, static, so that they run in any image.
#
#   build.sh login FOLDER         a second; needs gcc and the static C library
#   build.sh sftp-server FOLDER   a minute; fetches OpenSSH's source from Debian with apt-get
#   build.sh sshd FOLDER          two minutes; the same source
#
# What runs in the workload's own container goes to FOLDER/inside.
# Packages: gcc libc6-dev, for OpenSSH also make dpkg-dev ca-certificates, for sshd also libssl-dev.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
inside=/.gpustack/ssh
session="program.c process.c environment.c passwd.c session.c terminal.c"
flags="-std=gnu17 -O2 -g0 -Wall -Wextra -Werror -fstack-protector-strong -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE"

build_login() {
	cd "$here/src"
	# shellcheck disable=SC2086 # The flags are many.
	gcc $flags -static -s -o "$1/login" login.c workload.c sweep.c enter.c $session
	mkdir -p "$1/inside"
	# shellcheck disable=SC2086
	gcc $flags -DSFTP_SERVER="\"$inside/sftp-server\"" -static -s -o "$1/inside/login" inside.c $session
	# shellcheck disable=SC2086
	gcc $flags -static -s -o "$1/inside/start" start.c listening.c process.c
}

fetch_openssh() {
	# Where this machine's packages come from, their sources do too. The lists of source packages
	# are kept apart: the machine's own stay as they are.
	mkdir -p lists/partial parts
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" > "parts/$(basename "$file" .list).list"
	done
	for file in /etc/apt/sources.list.d/*.sources; do
		[ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "parts/$(basename "$file")"
	done
	set -- -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$PWD/parts" \
		-o "Dir::State::Lists=$PWD/lists" -o APT::Sandbox::User=root
	apt-get "$@" update
	apt-get "$@" source openssh
}

enter_openssh() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cd "$work"
	fetch_openssh
	cd openssh-*/
	# Debian's patches of configure.ac add what is not wanted here: the configure at hand will do.
	touch configure
}

build_sftp_server() {
	enter_openssh
	# No cipher is needed to serve files over a connection that another program guards.
	./configure --quiet --without-openssl --without-zlib --without-pam --without-selinux \
		LDFLAGS=-static CFLAGS="-O2 -g0"
	make -s libssh.a openbsd-compat/libopenbsd-compat.a sftp-server.o sftp-common.o
	# sftp-server.o ends the process by a name that sshd's own part defines otherwise.
	# shellcheck disable=SC2086
	gcc $flags -DINSTEAD_OF_NSS -static -s -o "$1/sftp-server" \
		"$here/src/sftp_main.c" "$here/src/passwd.c" sftp-server.o sftp-common.o \
		-L. -Lopenbsd-compat -lssh -lopenbsd-compat
}

# The server for the workload's own container. It keeps no books there (utmp, lastlog, shadow), and
# knows nobody but the workload's user. Unlike sftp, it takes OpenSSL: users have RSA and ECDSA keys.
build_sshd() {
	enter_openssh
	./configure --quiet --without-zlib --without-pam --without-selinux --without-shadow \
		--disable-lastlog --disable-utmp --disable-utmpx --disable-wtmp --disable-wtmpx \
		--libexecdir="$inside" --sysconfdir="$inside" --with-privsep-path="$inside/empty" \
		LDFLAGS=-static CFLAGS="-O2 -g0"
	# shellcheck disable=SC2086
	gcc $flags -fPIE -c -o names.o "$here/src/sshd_names.c"
	# That it is root does not mean that it may do what root usually may: see may_separate().
	sed -i -e '1i int may_separate(void);' \
		-e '/privsep_chroot = .*getuid/s/= .*;/= may_separate();/' sshd*.c
	grep -q '= may_separate();' sshd*.c
	programs=sshd
	# From 9.8 on there is a program for each part of a connection.
	for part in sshd-session sshd-auth; do
		[ ! -e "$part.c" ] || programs="$programs $part"
	done
	# shellcheck disable=SC2086
	make -s $programs SSHDLIBS="names.o -lcrypt" \
		LDFLAGS="-L. -Lopenbsd-compat -static-pie -s -Wl,-z,relro,-z,now,-z,noexecstack"
	mkdir -p "$1/inside"
	# shellcheck disable=SC2086
	install -m 0755 $programs "$1/inside"
}

target=$1
mkdir -p "$2"
folder=$(CDPATH='' cd -- "$2" && pwd)
case $target in
login) build_login "$folder" ;;
sftp-server) build_sftp_server "$folder" ;;
sshd) build_sshd "$folder" ;;
*) echo "build.sh: no such program: $target" >&2; exit 2 ;;
esac
