"""Layers of a Debian system, made of its packages."""

import re
import shutil
from pathlib import Path

from e2e.node.images.layers import Layer, Work

_SUITE = re.search(r"VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text())
SUITE = _SUITE[1] if _SUITE else "stable"
# Documentation, and what only another package manager run would read.
_DROPPED = ("/usr/share/doc", "/usr/share/man", "/usr/share/locale", "/var/lib/apt/lists")
CHROOT = """
cp -L /etc/resolv.conf $root/etc/resolv.conf
mount -t proc proc $root/proc
mount --rbind /dev $root/dev
"""
TIDY = f"""
umount $root/proc
umount -l $root/dev
rm -rf $root/var/cache/apt/* {" ".join(f"$root{path}/*" for path in _DROPPED)}
"""
USER = 1000


def base() -> Layer:
    """The packages that every Debian system has, bash among them."""
    return Layer(name="debian", recipe=f"{SUITE} {_DROPPED}", make=_make_base)


def packages(name: str, *wanted: str, below: tuple[Layer, ...], then: str = "") -> Layer:
    """The packages *wanted*, put in on top of *below*; *then* is a script that ends the work."""
    script = f"""{CHROOT}
chroot $root apt-get update -qq
chroot $root apt-get install -y -qq --no-install-recommends {" ".join(wanted)}
{then}
{TIDY}"""

    def make(work: Work) -> None:
        work.stacked(script)

    return Layer(name=name, recipe=script, make=make, below=below)


def extras(below: Layer) -> Layer:
    """What users of a workspace bring: a user of their own, and tmux."""
    user = f"""
chroot $root useradd --uid {USER} --create-home --shell /bin/bash dev
"""
    return packages("extras", "tmux", below=(below,), then=user)


def _make_base(work: Work) -> None:
    work.run(
        "mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", "--format=directory",
        *(f"--dpkgopt=path-exclude={path}/*" for path in _DROPPED),
        SUITE, str(work.folder / "system"),
    )  # fmt: skip
    for entry in work.folder.joinpath("system").iterdir():
        entry.rename(work.folder / entry.name)
    work.folder.joinpath("system").rmdir()
    shutil.rmtree(work.folder / "dev")  # The runtime brings its own.
    work.folder.joinpath("dev").mkdir()
