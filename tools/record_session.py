"""Records a session of the terminal UI in tmux as text: keys, and the screen after each of them.

``python tools/record_session.py FILE`` needs tmux. Two benches are run first, into a store of their own.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kernbench as kb
from kernbench.api.stores import borrowed

KEYS = (
    *("Enter", "2", "Enter", "Enter", "4", "Enter", "f", "Escape", "Escape", "Escape", "Escape"),
    *("5", "Enter", "2", "Enter", "4"),
    *("r", "d", "4", "r", "t", "Tab", "Enter", "Escape", "i", "+", "Escape", "a", "Down", "Enter"),
    *("Escape", "Escape", "/", "qkv", "Enter", "?"),
)
NAME = "kernbench-session"
LIMIT_S = 60.0


def tmux(*arguments: str) -> str:
    return subprocess.run(["tmux", *arguments], check=True, capture_output=True, text=True).stdout


def settled() -> str:
    """The screen once it stands still and nothing is worked out."""
    until, last = time.monotonic() + LIMIT_S, ""
    while time.monotonic() < until:
        time.sleep(0.3)
        seen = tmux("capture-pane", "-p", "-t", NAME)
        if seen == last and seen.strip() and "working" not in seen and "building" not in seen:
            return seen
        last = seen
    raise SystemExit(f"the screen did not come to rest:\n{last}")


def main(file: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with borrowed(Path(folder) / ".kernbench") as store:
            for tokens in (8, 32):
                kb.run("qkv-gemm-multi-pe", verify=True, params={"tokens": tokens}, store=store)
        command = f"cd {shlex.quote(folder)} && {shlex.quote(sys.executable)} -m kernbench tui"
        tmux("new-session", "-d", "-s", NAME, "-x", "80", "-y", "24", command)
        try:
            screens = [f"$ kernbench tui\n\n{settled()}"]
            for key in KEYS:
                tmux("send-keys", "-t", NAME, key)
                screens.append(f"----- key {key}\n\n{settled()}")
        finally:
            tmux("kill-session", "-t", NAME)
    text = "\n".join(screens)
    file.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
