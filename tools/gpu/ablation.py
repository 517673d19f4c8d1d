"""What each mechanism of the machine ``h100`` is worth: ``python tools/gpu/ablation.py``, 2 minutes of CPU.

The short cases of ``kernbench validate h100`` run on the machine without it; a table of the median errors is
printed. Nothing is fitted again.
"""

import copy
import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from kernbench.support.data_files import data_dir
from kernbench.validation import h100
from kernbench.validation.sampling import sampled
from kernbench.validation.table_file import Case, read

PE = "blocks.gpu.parts.pe."
PORT_GBS = 128 * 1.98
"""Of a TCM of 128 bytes a cycle."""
LATENCIES: dict[str, Any] = {
    PE + "pe_math.cycles": {"*": [0, 127.6], "exp": [0, 17.87], "exp2": [0, 17.28],
        "rsqrt": [0, 17.3], "div": [0, 13.87]},
    PE + "pe_math.reduce": {"across": [0, 37.85], "within": [0, 128]},
}  # fmt: skip
WITHOUT: dict[str, dict[str, Any]] = {
    "all of them": {},
    "operands in registers": {
        PE + "operands": "tcm", PE + "pe_tcm.read_gbs": PORT_GBS, PE + "pe_tcm.write_gbs": PORT_GBS,
    },
    "efficiency of the matrix engine, small tiles": {
        PE + "pe_gemm.smallest": None, PE + "pe_gemm.fixed_cycles": 0, PE + "pe_gemm.macs_per_cycle": 2048,
    },
    "latency of operations": LATENCIES,
    "reductions within a row told apart": {PE + "pe_math.reduce.within": None},
    "issue of loads": {PE + "pe_dma.issue": None},
    "results rearranged": {PE + "pe_dma.rearrange": None},
    "a way of stores": {"wires.stores.gbs": 239.9},
    "slower writes of the cache": {"memory.cache.write_gbs": None},
    "coalesced reads": {"memory.cache.coalesce": None},
    "the cache": {"memory.cache": None},
    "loads ahead (1 stage)": {"stages": 1},
}  # fmt: skip


def changed(spec: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The machine with other values at dotted keys; None takes a key out."""
    made = copy.deepcopy(spec)
    for key, value in changes.items():
        *path, last = key.split(".")
        holder = made
        for name in path:
            holder = holder[name]
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    return made


def short_cases() -> dict[str, list[tuple[float, Case]]]:
    """Measured time and settings of each short case, by kind."""
    found: dict[str, list[tuple[float, Case]]] = {}
    for group in read("h100").groups:
        for _, reference, case in sampled("h100", group, "short")[0] if group.measure == "us" else ():
            found.setdefault(group.set, []).append((reference, case))
    return found


def main() -> None:
    """Print the table as Markdown."""
    spec = yaml.safe_load((data_dir("configs") / "topologies/zoo/h100.yaml").read_text(encoding="utf-8"))
    kinds = short_cases()
    print("| without |", " | ".join(f"{kind}, {len(found)}" for kind, found in kinds.items()), "|")
    print("|---|" + "---|" * len(kinds))
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, changes) in enumerate(WITHOUT.items()):
            file = Path(folder) / f"h100-{number}.yaml"
            machine = {key: value for key, value in changes.items() if key != "stages"}
            file.write_text(yaml.safe_dump(changed(spec, machine)), encoding="utf-8")
            shown = []
            for found in kinds.values():
                errors = []
                for reference, case in found:
                    params = json.loads(case["params"])
                    if "stages" in params:
                        params["stages"] = changes.get("stages", params["stages"])
                    ours = h100.us({**case, "params": json.dumps(params)}, str(file))
                    errors.append(abs(ours / reference - 1))
                shown.append(f"{median(errors):.0%}".replace("%", " %"))
            print(f"| {name} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
