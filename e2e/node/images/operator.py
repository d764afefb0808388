"""The operator's own image, by the steps of its Dockerfile, on Debian's Python."""

import hashlib
import shutil
from pathlib import Path

from e2e.node.images.debian import CHROOT, packages
from e2e.node.images.layers import Layer, Work

OPERATOR = "localhost/gpustack-ctrl:1"
CHECKOUT = Path(__file__).parents[3]
_PREFIX = "opt/gpustack-ctrl"
_LOCKED = ("packaging/install.sh", "packaging/backend.lock", "requirements.lock")
_PROJECT = ("pyproject.toml", "README.md", "LICENSE", "src")
# What pip is told on this machine holds in the stage that builds, too.
_PIP = f"""{CHROOT}
for file in /etc/pip.conf "${{PIP_CERT:-}}"; do
	[ -e "$file" ] || continue
	mkdir -p "$root$(dirname "$file")"
	[ -e "$root$file" ] || touch "$root$file"
	mount --bind "$file" "$root$file"
done
mkdir -p $root/checkout
mount --bind $checkout $root/checkout
"""


def operator_layers(base: Layer) -> tuple[Layer, ...]:
    """Return the layers of the image on top of *base*."""
    python = packages("python", "python3-minimal", "python3", below=(base,))
    tools = packages("pip", "python3-venv", "python3-pip", below=(base, python))
    build = (base, python, tools)
    locked = _installed("dependencies", _LOCKED, below=build)
    project = _installed("project", (*_LOCKED, *_PROJECT), below=(*build, locked))
    return base, python, locked, project


def _installed(step: str, needed: tuple[str, ...], *, below: tuple[Layer, ...]) -> Layer:
    """What the *step* of install.sh adds to the prefix, given the files *needed*."""
    run = f"chroot $root /checkout/packaging/install.sh {step} /{_PREFIX}"

    def make(work: Work) -> None:
        context = work.folder.with_suffix(".context")
        shutil.rmtree(context, ignore_errors=True)
        for name in needed:
            _copy(CHECKOUT / name, context / name)
        work.stacked(f"{_PIP}\n{run}", checkout=str(context))
        shutil.rmtree(context)
        _keep_only(work.folder, _PREFIX)

    digest = hashlib.sha256()
    for file in (path for name in needed for path in _files(CHECKOUT / name)):
        digest.update(file.read_bytes())
    return Layer(
        name=f"operator-{step}", recipe=_PIP + run + digest.hexdigest(), make=make, below=below
    )


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*.py") if file.is_file())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


def _keep_only(folder: Path, kept: str) -> None:
    """Drop what building left elsewhere: only the prefix goes into the image."""
    aside = folder.with_suffix(".kept")
    shutil.rmtree(aside, ignore_errors=True)
    folder.joinpath(kept).rename(aside)
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    folder.joinpath(kept).parent.mkdir(parents=True)
    aside.rename(folder / kept)
