"""Takes down a node whose owner was killed.

Run as `python -m e2e.node.warden DIRECTORY OWNER`, with the process id of the owner. The
kernel ends the node's processes by itself; networks, cgroups and kernel values outlive them.
"""

import os
import select
import sys
from contextlib import suppress
from pathlib import Path

from e2e.node.lifecycle import down, holds_node


def main() -> int:
    """Wait for the end of the owner; what it left behind, remove."""
    directory, owner = Path(sys.argv[1]), int(sys.argv[2])
    with suppress(ProcessLookupError):
        select.select([os.pidfd_open(owner)], [], [])
    if holds_node(directory):
        down(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
