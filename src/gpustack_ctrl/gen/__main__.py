"""`python -m gpustack_ctrl.gen [--check] [--root DIR]`: write the generated files."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from gpustack_ctrl.gen.outputs import outputs
from gpustack_ctrl.gen.text import BANNER


def main(
    arguments: Sequence[str] | None = None, *, wanted: Mapping[PurePosixPath, str] | None = None
) -> int:
    """Write what differs, or with `--check` name it and return 1.

    *wanted* is what another generator has made; absent, it is what is made here.
    """
    options = _parser().parse_args(arguments)
    wanted = outputs() if wanted is None else wanted
    changed = [path for path, text in wanted.items() if _read(options.root / path) != text]
    left = sorted(_left_over(options.root, wanted))
    if options.check:
        return _report(changed, left)
    for path in changed:
        _write(options.root / path, wanted[path])
        print(f"wrote {path}")
    for path in left:
        (options.root / path).unlink()
        print(f"removed {path}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpustack_ctrl.gen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, name stale files")
    parser.add_argument("--root", type=Path, default=Path(), help="root of the repository")
    return parser


def _report(changed: Sequence[PurePosixPath], left: Sequence[PurePosixPath]) -> int:
    for path in changed:
        print(f"{path} is stale: run make gen", file=sys.stderr)
    for path in left:
        print(f"{path} is not generated any more: run make gen", file=sys.stderr)
    return 1 if changed or left else 0


def _left_over(root: Path, wanted: Mapping[PurePosixPath, str]) -> Iterator[PurePosixPath]:
    for directory in {path.parent for path in wanted}:
        for file in (root / directory).glob("*"):
            path = directory / file.name
            if path not in wanted and BANNER in (_read(file) or ""):
                yield path


def _read(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
