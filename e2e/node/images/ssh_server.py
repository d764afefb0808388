"""The image of the container `sshd`, by the steps of its Dockerfile."""

import hashlib
from pathlib import Path

from e2e.cluster.programs import cache_home
from e2e.node.images.debian import CHROOT, TIDY
from e2e.node.images.layers import Layer, Work

SSH_SERVER = "localhost/ssh-server:1"
SOURCE = Path(__file__).parents[3] / "ssh-server"
# Both scripts that its Dockerfile calls, too.
_BUILD, _INSTALL = SOURCE / "build.sh", SOURCE / "install.sh"
_OF_SSHD = (SOURCE / "src" / "sshd_names.c", SOURCE / "src" / "inside.h")


def ssh_server_layers(base: Layer) -> tuple[Layer, ...]:
    """Return the layers of the image on top of *base*."""
    script = f"""{CHROOT}
chroot $root apt-get update -qq
chroot $root apt-get install -y -qq --no-install-recommends openssh-server
{_INSTALL} $programs $root
{TIDY}"""

    def make(work: Work) -> None:
        work.stacked(script, programs=str(_programs(work)))

    sources = "".join(path.read_text() for path in _sources())
    return base, Layer(name="ssh-server", recipe=script + sources, make=make, below=(base,))


def _programs(work: Work) -> Path:
    """The folder with all programs; those of OpenSSH take minutes and are kept."""
    folder = cache_home() / "ssh-server"
    folder.mkdir(parents=True, exist_ok=True)
    work.run(str(_BUILD), "login", str(folder))
    if not folder.joinpath("sftp-server").exists():
        work.run(str(_BUILD), "sftp-server", str(folder))
    _build_sshd(work, folder)
    return folder


def _build_sshd(work: Work, folder: Path) -> None:
    """Have the static server in *folder*, made of what it is made of now."""
    made_of, stamp = _made_of(_BUILD, *_OF_SSHD), folder / "sshd.made-of"
    if not stamp.exists() or stamp.read_text() != made_of:
        work.run(str(_BUILD), "sshd", str(folder))
        stamp.write_text(made_of)


def _made_of(*sources: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


def _sources() -> list[Path]:
    kept = (SOURCE / "sshd_config", SOURCE / "entrypoint", _BUILD, _INSTALL)
    return [*sorted(SOURCE.joinpath("src").iterdir()), *kept]
