"""Whether a real node can run on this machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# The programs that are called, each with the Debian package that brings it; all of them are in
# e2e/packages.txt.
PROGRAMS = {
    "containerd": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "ipset": "ipset",
    "ip": "iproute2",
    "conntrack": "conntrack",
    "sysctl": "procps",
    "nsenter": "util-linux",
    "gcc": "gcc",
    "make": "make",
    "dpkg-source": "dpkg-dev",
    "busybox": "busybox-static",
    "mmdebstrap": "mmdebstrap",
    "ssh": "openssh-client",
}
CNI = Path("/usr/lib/cni")
# Files below /usr/lib that are no programs, the same.
FILES = {
    "cni/ptp": "containernetworking-plugins",
    "*/libc.a": "libc6-dev",
    "*/libcrypto.a": "libssl-dev",
}
_LIBRARIES = Path("/usr/lib")
_CGROUPS = Path("/sys/fs/cgroup")
_HIERARCHIES = ("cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "pids")


def missing() -> str | None:
    """Return the first thing that this machine lacks, in one line with its remedy, or None."""
    return next(_complaints(), None)


def lacking() -> list[str]:
    """Return the Debian packages that are missing."""
    programs = {package for name, package in PROGRAMS.items() if not shutil.which(name)}
    files = {package for name, package in FILES.items() if not any(_LIBRARIES.glob(name))}
    return sorted(programs | files)


def _complaints() -> Iterator[str]:
    if sys.platform != "linux" or os.geteuid() != 0:
        yield "a real node takes root on Linux"
    hierarchies = [name for name in _HIERARCHIES if not (_CGROUPS / name / "tasks").exists()]
    if hierarchies:
        yield f"the kubelet is set up for cgroup v1, and {', '.join(hierarchies)} is not mounted"
    packages = lacking()
    if packages:
        yield f"packages are missing: apt-get install --no-install-recommends {' '.join(packages)}"
    for what, command in _TRIALS.items():
        tried = subprocess.run(command, capture_output=True, text=True, check=False)
        if tried.returncode:
            said = " ".join(tried.stderr.split()) or f"exit {tried.returncode}"
            yield f"{what} cannot be made here: {said}"


_IN_A_NETWORK = ("unshare", "--net")
_TRIALS = {
    "namespaces": ("unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "true"),
    "a veth pair": (*_IN_A_NETWORK, "ip", "link", "add", "name", "v0", "type", "veth"),
    "a packet filter": (*_IN_A_NETWORK, "iptables", "-A", "FORWARD", "-j", "REJECT"),
    "an address set": (*_IN_A_NETWORK, "ipset", "create", "a", "hash:net"),
}
