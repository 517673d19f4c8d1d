"""``python tools/install.py EXTRA``: the checkout, for editing, into the environment whose Python runs this.

What KernBench and the extra need is downloaded while the engine is compiled, each on a processor of its own:
one ``pip install --editable`` would do one after the other. ``--no-compile`` leaves out the engine.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")


def needed(project: dict[str, list[str]], extras: dict[str, list[str]], extra: str) -> Iterator[str]:
    """The requirements of the project and of an extra, which may name others of its own."""
    for one in (*project["dependencies"], *extras[extra]):
        if own := re.fullmatch(r"kernbench\[(.*)\]", one):
            for name in own[1].split(","):
                yield from extras[name]
        else:
            yield one


def main(extra: str, *options: str) -> int:
    """Install; the status of the first of the two that failed."""
    compiles = "--no-compile" not in options
    doing = "compiling the engine while packages are downloaded" if compiles else "downloading packages"
    print(f"Installing KernBench into {sys.prefix}: {doing}; about a minute or less ...", flush=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # Neither of two that install at once may look at what the other has half written.
    both = [[*PIP, "--no-warn-conflicts", *needed(project, project["optional-dependencies"], extra)]]
    if compiles:
        both.insert(0, [*PIP, "--no-deps", "--editable", str(ROOT)])
    running = [subprocess.Popen(command) for command in both]
    return next((one.returncode for one in running if one.wait()), 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
