"""How long the first question about a run of each shipped bench takes, for tools/measure_store.py.

``python -m tools.measure_first FOLDER`` prints a line of JSON for each bench: its hops, and by question the
seconds until its rows are there, asked of a store that was just opened. Another run of the same machine has
been asked before, and the process has asked questions before: what remains is what one run costs.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections import Counter
from typing import Any

import kernbench as kb
from kernbench.api.asking import library
from kernbench.api.names import bench_names
from kernbench.support.pgraph import Question

_PATHS = {
    "src": "sip0.cube0.pe0.pe_dma",
    "dst": "sip0.cube1.hbm_ctrl.pe3",
    "other_src": "sip0.cube1.pe0.pe_dma",
    "other_dst": "sip0.cube2.hbm_ctrl.pe3",
    "lost": "sip0.cube5",
    "within_ns": 100.0,
}
"""Values of parameters without a default that are places of the default machine."""


def given(question: Question, run: kb.Run, before: str) -> dict[str, Any]:
    """Values of the parameters that must be given: late operations, a long wait, the busiest link."""
    needed = [
        name for name, param in question.params.items() if param.default is None or param.refers == "run"
    ]
    sent, last = run.tables["Transaction"], run.tables["Op"].num_rows - 1
    waited = sent["wait_ns"].to_pylist()
    links = Counter(place for place in run.tables["Hop"]["resource"].to_pylist() if "->" in place)
    known = {
        **_PATHS,
        "op": max(last - 1, 0),
        "other": max(last - 2, 0),
        "transaction": sent["number"][waited.index(max(waited))].as_py(),
        "resource": links.most_common(1)[0][0],
        "bench": run.info["bench"],
        "before": before,
        "key": "cube.hbm.channel_gbs",
        "after": run.id,
    }
    return {name: known[name] for name in needed}


def measured(folder: str, bench: str) -> dict[str, Any]:
    """``bench hops s``: by question the seconds that it takes as the first about the later of two runs."""
    before = kb.run(bench, store=folder)
    kb.ask("bottleneck/busiest-links", before.id, folder)
    run = kb.run(bench, store=folder)
    found: dict[str, float] = {}
    for name, question in library().items():
        values = given(question, run, before.id)
        gc.collect()  # what the run itself left behind is not the question's
        begun = time.perf_counter()
        kb.ask(name, None if question.scope == "history" else run.id, folder, values)
        found[name] = time.perf_counter() - begun
    return {"bench": bench, "hops": run.tables["Hop"].num_rows, "s": found}


if __name__ == "__main__":
    shipped = list(bench_names())
    measured(f"{sys.argv[1]}/warm", shipped[0])  # what the process itself has to load is not the runs'
    for number, name in enumerate(shipped):
        print(json.dumps(measured(f"{sys.argv[1]}/{number}", name)), flush=True)
