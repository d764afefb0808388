"""What the command lines of clusters have in common."""

import argparse
import signal
import sys
from collections.abc import Sequence

from e2e.cluster.errors import ClusterError


def run(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> int:
    """Do what the command line says, by the function that *parser* names, and return its code."""
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminate)
    try:
        code: int = options.do(options)
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return code


def _terminate(number: int, _frame: object) -> None:
    sys.exit(128 + number)
