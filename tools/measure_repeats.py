"""How far runs that account for layers and packages are off: ``python -m tools.measure_repeats``.

16 layers of a small Llama, on 1, 2 and 4 packages of two of the default machine's cubes, at batch 1 and 64,
each simulated whole and estimated. A row of Markdown for each; ``PACKAGES BATCH ...`` chooses some.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import kernbench as kb
from kernbench.analysis.windows.estimate_bounds import repeated

MODEL = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 512,
    "intermediate_size": 1024,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 64, "num_hidden_layers": 16,
    "rms_norm_eps": 1e-5, "vocab_size": 32000,
}  # fmt: skip
CASES = [(packages, batch) for packages in (1, 2, 4) for batch in (1, 64)]


def ran(packages: int, batch: int, config: str, exact: bool) -> tuple[kb.Run, float]:
    """A run without a trace, and its seconds of CPU."""
    begun = time.process_time()
    topo: dict[str, Any] = {
        "system.sips": packages,
        "sip.cube_mesh.w": 2,
        "sip.cube_mesh.h": 1,
        "system.flit_bytes": 1024 if batch > 1 else 256,
    }
    params = {"config": config, "batch": batch, "kv": 256, "layers": 16, "resident": True}
    run = kb.run("llama-decoder", topo=topo, params=params, device="all", trace=False, exact=exact)
    return run, time.process_time() - begun


def main(arguments: list[str]) -> None:
    """Measure and print."""
    numbers = [int(one) for one in arguments]
    cases = list(zip(numbers[::2], numbers[1::2], strict=True)) or CASES
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.json")
        config.write_text(json.dumps(MODEL), encoding="utf-8")
        for packages, batch in cases:
            (whole, slow), (part, fast) = (
                ran(packages, batch, str(config), exact) for exact in (True, False)
            )
            sums = [{key: run.used[key].sum() for key in ("bytes", "busy_ns")} for run in (whole, part)]
            times = part.sim_ns / whole.sim_ns, *(sums[1][key] / sums[0][key] for key in sums[0])
            error = " | ".join(f"{100 * (ratio - 1):+.2f} %" for ratio in times)
            print(
                f"| {packages} | {batch} | {whole.sim_ns / 16e3:.2f} | {part.sim_ns / 16e3:.2f} | {error} | "
                f"{100 * repeated(part.info)[0].bar:.1f} % | {slow:.1f} | {fast:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
