"""Entry point of `python -m e2e.demo`."""

import sys

from e2e.demo.cli import main

sys.exit(main())
