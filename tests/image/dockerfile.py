"""The build stage of the Dockerfile, done without an engine.

Enough of the language for our own file: COPY from the context, and RUN, as they stand.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

CHECKOUT = Path(__file__).parents[2]
DOCKERFILE = CHECKOUT / "Dockerfile"
PREFIX = "/opt/gpustack-ctrl"
"""Where the image has the operator."""


@attrs.frozen
class Instruction:
    """One instruction: its word in upper case and the rest of it."""

    word: str
    rest: str


def stages() -> list[list[Instruction]]:
    """The instructions of each stage, which begins with its FROM."""
    found: list[list[Instruction]] = []
    for instruction in instructions(DOCKERFILE.read_text()):
        if instruction.word == "FROM":
            found.append([])
        if found:
            found[-1].append(instruction)
    return found


def instructions(text: str) -> Iterator[Instruction]:
    """Each instruction of a Dockerfile, put on one line."""
    without_comments = re.sub(r"(?m)^#.*\n", "", text)
    for line in re.sub(r"\\\n\s*", "", without_comments).splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield Instruction(word.upper(), rest.strip())


def context(target: Path) -> Path:
    """A copy in *target* of what .dockerignore lets through."""
    lines = (CHECKOUT / ".dockerignore").read_text().splitlines()
    assert "*" in lines, "only what is named goes into the context"
    for name in (line[1:] for line in lines if line.startswith("!")):
        _copy(CHECKOUT / name, target / name)
    return target


def build(stage: list[Instruction], context_path: Path, *, work: Path, prefix: Path) -> None:
    """Do the COPY and RUN of *stage* in *work*, with *prefix* in place of `PREFIX`."""
    work.mkdir()
    for instruction in stage:
        if instruction.word == "COPY":
            *sources, target = instruction.rest.split()
            for source in sources:
                _copy(context_path / source, _destination(work, source, target))
        elif instruction.word == "RUN":
            run(instruction.rest.replace(PREFIX, str(prefix)), work)


def run(command: str, work: Path) -> None:
    """Run the shell *command* in *work*. Raises CalledProcessError, with what it said."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHON": sys.executable,
        **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
    }
    subprocess.run(
        ["sh", "-c", command],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )


def _destination(work: Path, source: str, target: str) -> Path:
    """Where COPY puts *source*: below a *target* that ends in a slash, else in its place."""
    return work / target / Path(source).name if target.endswith("/") else work / target


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)
