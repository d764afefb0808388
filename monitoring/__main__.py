"""`python -m monitoring [--runbooks URL] [--check] [--root DIR]`: write `deploy/monitoring/`."""

import argparse
import sys
from collections.abc import Sequence

from gpustack_ctrl.gen.__main__ import main as generate
from monitoring.outputs import RUNBOOKS, outputs


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what differs, or with `--check` name it and return 1."""
    options, rest = _parser().parse_known_args(arguments)
    return generate(rest, wanted=outputs(options.runbooks))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m monitoring", add_help=False)
    parser.add_argument("--runbooks", default=RUNBOOKS, help="where your runbooks are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
