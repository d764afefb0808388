#!/bin/sh
# install-packages.sh PACKAGE...: installs those Debian packages that are missing, where that can
# be done: as root, with apt-get. Elsewhere the tests that need them say so, and are skipped.
set -eu

missing=
for package; do
	state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) || state=none
	[ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
	exit 0
fi

echo "Installing Debian packages:$missing"
export DEBIAN_FRONTEND=noninteractive
# An earlier run may have been killed here, or its apt-get may still be at work.
patience="-o DPkg::Lock::Timeout=300"
dpkg --configure -a
# shellcheck disable=SC2086 # One word a package, and two of patience.
apt-get update -qq && apt-get install -y -qq --no-install-recommends $patience $missing >/dev/null
