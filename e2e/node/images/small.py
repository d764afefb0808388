"""Layers of one or two static programs."""

import subprocess
from pathlib import Path

from e2e.node.images.layers import Layer, Work

HERE = Path(__file__).parent
_BUSYBOX = Path("/bin/busybox")
_USERS = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
_GROUPS = "root:x:0:\nnogroup:x:65534:\n"


def pause() -> Layer:
    """The program that holds a Pod's, and a node's, namespaces."""
    return _compiled("pause")


def probe() -> Layer:
    """The program that sends and answers packets."""
    return _compiled("probe")


def busybox() -> Layer:
    """A small system with nothing but busybox, as Alpine's."""
    version = subprocess.run((_BUSYBOX, "--help"), capture_output=True, text=True, check=False)
    return Layer(name="busybox", recipe=version.stdout + version.stderr, make=_make_busybox)


def _compiled(name: str) -> Layer:
    source = HERE / f"{name}.c"

    def make(work: Work) -> None:
        flags = ("-O2", "-g0", "-Wall", "-Wextra", "-static", "-s", "-D_GNU_SOURCE")
        work.run("gcc", *flags, "-o", str(work.folder / name), str(source))

    return Layer(name=name, recipe=source.read_text(), make=make)


def _make_busybox(work: Work) -> None:
    work.write("bin/busybox", _BUSYBOX.read_bytes(), mode=0o755)
    work.run("chroot", str(work.folder), "/bin/busybox", "--install", "-s", "/bin")
    work.write("etc/passwd", _USERS)
    work.write("etc/group", _GROUPS)
    for folder in ("proc", "sys", "dev", "run", "var", "home"):
        work.folder.joinpath(folder).mkdir()
    work.folder.joinpath("root").mkdir(mode=0o700)
    work.folder.joinpath("tmp").mkdir()
    work.folder.joinpath("tmp").chmod(0o1777)
