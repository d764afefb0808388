"""The images of the tests, and the archive that holds them all."""

import fcntl
import hashlib
import time
from pathlib import Path

from e2e.cluster.programs import cache_home
from e2e.node.configuration import PAUSE
from e2e.node.images import debian, small
from e2e.node.images.archive import Image, write_archive
from e2e.node.images.layers import AT_WORK_SECONDS
from e2e.node.images.operator import OPERATOR, operator_layers
from e2e.node.images.ssh_server import SSH_SERVER, ssh_server_layers

BUSYBOX = "localhost/busybox:1"
WITHOUT_SHELL = "localhost/without-shell:1"
PROBE = "localhost/probe:1"
DNS = "localhost/dns:1"
DEBIAN = "localhost/debian:1"
DEBIAN_USER = "localhost/debian-user:1"
_SERVE = (
    "serve",
    *(f"{protocol}:{port}" for protocol in ("tcp", "udp") for port in (22, 53, 80, 8080)),
)


def catalogue() -> tuple[Image, ...]:
    """Return every image, by what it is made of."""
    base = debian.base()
    ssh_server, operator = ssh_server_layers(base), operator_layers(base)
    return (
        Image(reference=PAUSE, layers=(small.pause(),), entrypoint=("/pause",)),
        Image(reference=BUSYBOX, layers=(small.busybox(),), command=("/bin/sh",)),
        Image(
            reference=WITHOUT_SHELL,
            layers=(small.probe(),),
            entrypoint=("/probe",),
            command=("serve", "tcp:8080"),
        ),
        Image(
            reference=PROBE,
            layers=(small.busybox(), small.probe()),
            entrypoint=("/probe",),
            command=_SERVE,
        ),
        Image(
            reference=DNS,
            layers=(base, debian.packages("dns", "dnsmasq-base", below=(base,))),
            entrypoint=("dnsmasq", "--keep-in-foreground", "--user=root", "--no-hosts"),
            command=("--no-resolv", "--address=/example.test/192.0.2.7"),
        ),
        Image(reference=DEBIAN, layers=(base, debian.extras(base)), command=("bash",)),
        Image(
            reference=DEBIAN_USER,
            layers=(base, debian.extras(base)),
            command=("sleep", "infinity"),
            user="1000:1000",
            folder="/home/dev",
            environment={"HOME": "/home/dev"},
        ),
        Image(reference=SSH_SERVER, layers=ssh_server, entrypoint=("/opt/ssh-server/entrypoint",)),
        Image(
            reference=OPERATOR,
            layers=operator,
            entrypoint=("gpustack-ctrl",),
            command=("run",),
            user="65532:65532",
            folder="/",
            environment={
                "PATH": "/opt/gpustack-ctrl/bin:/usr/local/bin:/usr/bin:/bin",
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONUNBUFFERED": "1",
            },
        ),
    )


def images() -> Path:
    """Return the archive of all images, made if it is missing."""
    wanted = catalogue()
    named = "".join(image.fingerprint for image in wanted)
    target = cache_home() / f"images-{hashlib.sha256(named.encode()).hexdigest()[:16]}.tar"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_name("images.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _remove_unused(target.parent)
            write_archive(wanted, target)
        target.touch()
    return target


def _remove_unused(folder: Path) -> None:
    """Remove archives of other images, unless somebody may be at work with them."""
    for archive in folder.glob("images-*.tar"):
        if time.time() - archive.stat().st_mtime > AT_WORK_SECONDS:  # noqa: TID251 -- of files.
            archive.unlink()
