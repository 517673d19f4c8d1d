"""Draws the pictures of the terminal UI and of the timeline that docs show, as SVG files.

Runs two benches, and presses keys.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.tui.start import draw

SIZE = (100, 30)
SCREENS = {
    "runs": (None, ""),
    "run": ("last", "2"),
    "critical-path": ("last", "3"),
    "resources": ("last", "4 z"),
    "waits": ("last", "5 z"),
    "transaction": ("last", "5 enter"),
    "resource": ("last", "4 enter 4"),
    "topology": ("last", "w w t"),
    "cube": ("last", "t tab enter right"),
    "tui-timeline": ("last", "i"),
    "questions": ("last", "a"),
    "question": ("last", "a slash b u s i e s t enter enter"),
    "cypher": ("last", "c f5"),
    "comparison": (None, "d 3"),
    "help": ("last", "question_mark"),
}
"""By name: the run that is opened, and the keys that lead to the screen."""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as kept, borrowed(Path(kept) / "store") as store:
        for outstanding in (1, 2):  # requests in flight: comparisons compare equal work
            topo = {"pe.pe_dma.outstanding": outstanding}
            kb.run("qkv-gemm-multi-pe", verify=True, topo=topo, store=store)
        for name, (run, keys) in SCREENS.items():
            file = folder / f"{name}.svg"
            draw(store, run, keys.split(), SIZE, str(file))
            # The store's folder is another one each time.
            text = file.read_text(encoding="utf-8").replace(kept, "").replace("/store", ".kernbench")
            file.write_text(text, encoding="utf-8")
            print(file)
        print(*kb.open_run("last", store).export("timeline", folder / "timeline.svg", rows=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
