"""Compiles small models with PyTorch, runs them on three machines: docs/reference/pytorch-models.md.

    python -m tools.torch_models docs/reference/pytorch-models.md [NAME ...]

With names, only these rows are rebuilt; the others are kept. Needs PyTorch; the models are those of
``tools/torch_outputs.py``, without gradients.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch

import kernbench as kb
from kernbench.inductor.backend import kernbench
from tools.torch_outputs import MODELS

MACHINES = ("default", "h100", "minimal")
VERSION = torch.__version__.partition("+")[0]
ABOUT = f"""# PyTorch models, measured

Made by `python -m tools.torch_models docs/reference/pytorch-models.md` with PyTorch {VERSION}: small models
of `tools/torch_outputs.py`, each as one `torch.compile`, without gradients. The error is the largest
difference of a result from PyTorch's on the CPU, as a part of its largest number, on any of the machines.
Times are from the start of the first launch to the end of the last one. CPU is that of a run on `h100`,
without the start of PyTorch: what the backend takes to compile the model, and the rest.

| model | kernels, launches | on the host | error | {", ".join(f"`{one}`" for one in MACHINES)}, us | CPU, s |
|---|---|---|---|---|---|
"""


def carried_out(name: str, machine: str) -> dict[str, Any]:
    """The figures of a model on a machine; ``error``: how far off it is, 0 where every bit is the same."""
    torch.manual_seed(0)
    net, args = MODELS[name]()
    compile_s, off = 0.0, [0.0]

    def timed(*given: Any) -> Any:
        nonlocal compile_s
        before = process_time()
        found = kernbench(*given)
        compile_s += process_time() - before
        return found

    def bench(run: Any) -> None:
        with torch.no_grad():
            results = torch.compile(net, backend=timed)(*args)
        run.wait_all()
        for check in run.checks:
            wanted, memory = np.asarray(check.expected(), np.float64), check.tensor
            held = run.storage.peek_box(memory.copy_of(None), check.box, memory.dtype, check.name)
            there = np.asarray(held, np.float64)
            off.append(float(np.abs(there - wanted).max()) / max(float(np.abs(wanted).max()), 1e-30))
        del results

    before = process_time()
    done = kb.run(bench, machine, verify=True, store="memory:", trace=False)
    assert done.verdict == "yes", (name, machine, done.verdict)
    return {
        "kernels": len({one["kernel"] for one in done.launches}),
        "launches": len(done.launches),
        "host": sum(one["times"] for one in done.info.get("on_host", ())),
        "error": max(off),
        "us": (max(one["t_done"] for one in done.launches) - done.launches[0]["t_start"]) / 1000,
        "compile_s": compile_s,
        "run_s": process_time() - before - compile_s,
    }


def main(page: Path, *names: str) -> None:
    """Write the page."""
    text = page.read_text(encoding="utf-8") if names else ""
    kept = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    rows = []
    for name in MODELS:
        if name in kept and name not in names:
            rows.append(kept[name])
            continue
        found = [carried_out(name, machine) for machine in MACHINES]
        at = found[MACHINES.index("h100")]
        error = max(one["error"] for one in found)
        times = ", ".join(f"{one['us']:.1f}" for one in found)
        rows.append(
            f"| `{name}` | {at['kernels']}, {at['launches']} | {at['host'] or ''} | {error:.1g} | {times} "
            f"| {at['compile_s']:.1f}, {at['run_s']:.1f} |"
        )
        print(rows[-1], flush=True)
    page.write_text(ABOUT + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
