"""The output of a program in a process of its own."""

from __future__ import annotations

import subprocess
import sys


def said(program: str, hash_seed: str) -> str:
    """The output of the Python ``program``; its environment is that ``PYTHONHASHSEED`` and nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
