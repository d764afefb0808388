"""Entry point of `python -m e2e.node`."""

import sys

from e2e.node.cli import main

sys.exit(main())
