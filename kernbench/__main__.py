"""``python -m kernbench``: the command line."""

from __future__ import annotations

import sys

from kernbench.cli.main import main

sys.exit(main())
