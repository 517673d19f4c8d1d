"""Figures and digests of kept archives: which runs are kept, how, and how the golden file is written.

A run is kept in a folder. ``figures`` are its plain numbers: times, counts, bytes, and how long each kind of
component and link was busy. Each column of each Parquet file is digested by what it holds: its type and its
values, not the bytes of the file, which another pyarrow may write differently. ``run`` stands for what the
manifest says of the run itself; wall-clock times, versions and hashes of the source are left out.

After a decision to change what is kept, commit the change; ``make golden`` then writes ``archives.json`` anew
and names that commit in it. The difference that git shows has every figure and names every column that is not
what it was. Where an archive names a line of the source, the digest has the statement there: a line that is
only moved by a docstring above it keeps the file as it is.

Run by another checkout's interpreter, the script writes what that checkout keeps: ``cd CHECKOUT
&& .venv/bin/python .../archives.py --out FILE``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import platform
import re
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).with_name("archives.json")
SHIPPED = ("default", "minimal", "six-sip-torus", "tray-8", "tray-16")
SMALL = {"system.sips": 2, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1, "cube.pes.count": 4}
TOPOLOGIES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in SHIPPED},
    "small": ("default", SMALL),
    "small-pa": ("default", SMALL | {"system.address_model": "pa"}),
    "small-one-to-one": ("default", SMALL | {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"}),
}

BENCHES = (
    "ccl-allreduce",
    "flash-attention",
    "gemm-list",
    "gemm-multi-pe",
    "gemm-single-pe",
    "gpt3-qkv",
    "ipcq-allreduce",
    "llama-decoder",
    "llama-layer",
    "matmul-2d",
    "matmul-composite",
    "pe2pe",
    "qkv-gemm",
    "qkv-gemm-multi-pe",
    "softmax",
    "tp-mlp",
    "va-offset-verify",
)
PATTERNS = (
    "all-local",
    "bit-complement",
    "gather",
    "hot-spot",
    "neighbour",
    "scatter",
    "tornado",
    "transpose",
    "uniform-random",
)
SLOW = (
    "ccl-allreduce on default",
    "gemm-list on default",
    "gemm-list on small-one-to-one",
    "gpt3-qkv on default",
    "gpt3-qkv on small-one-to-one",
    "llama-decoder on default",
    "llama-decoder on small-one-to-one",
    "llama-layer on default",
    "llama-layer on small-one-to-one",
    "pe2pe on default",
    "pe2pe on small-one-to-one",
    "qkv-gemm-multi-pe on small-one-to-one",
    "tp-mlp on default",
    "tp-mlp on small-one-to-one",
    "va-offset-verify on default",
    "topology six-sip-torus",
    "topology tray-8",
    "topology tray-16",
)
"""Cases that take longer than a developer waits."""

_WALL_CLOCK_AND_SOURCE = ("version", "config_hash", "source_text")
_FOLLOWS = ("latency_ns", "launch_ns")
"""From the launches, which are digested."""
FIGURES = ("figures", "busy_ns")
"""Of each case: plain numbers rather than digests."""
_SOURCES = ("kernbench", "configs", "graph", "queries")
_LINE = re.compile(r"\b(\w+\.py):([1-9]\d*)\b")

Columns = dict[str, Any]
"""``rows`` and a digest by column."""
Case = Callable[[], dict[str, Columns]]


def cases() -> dict[str, Case]:
    """Name of a case and how to get its tables' digests."""
    found: dict[str, Case] = {f"topology {name}": _kept_topology(name) for name in SHIPPED}
    for topology in ("minimal", "default"):
        found |= {f"{bench} on {topology}": _bench(bench, topology) for bench in BENCHES}
    del found["pe2pe on minimal"]  # which has one PE
    found["qkv-gemm-multi-pe on small-pa"] = _bench("qkv-gemm-multi-pe", "small-pa", device="sip:1")
    found["matmul-composite load_load bias_gelu bf16 on small"] = _bench(
        "matmul-composite", "small", variant="load_load", epilogue="bias_gelu", dtype="bf16"
    )
    found["llama-decoder prefill on minimal"] = _bench("llama-decoder", "minimal", phase="prefill")
    found |= {f"{bench} on small-one-to-one": _bench(bench, "small-one-to-one") for bench in BENCHES}
    for pattern in PATTERNS:
        found[f"pattern {pattern} on small"] = _pattern(pattern, "small")
    found["pattern tornado of reads on small"] = _pattern("tornado", "small", op="read", count=3)
    return found


@cache
def _topology(name: str) -> Any:
    import kernbench as kb

    return kb.load_topology(*TOPOLOGIES[name])


def _bench(bench: str, topology: str, device: str = "all", **settings: str) -> Case:
    def case() -> dict[str, Columns]:
        import kernbench as kb

        with tempfile.TemporaryDirectory() as store:
            kb.run(
                bench, _topology(topology), verify=True, device=device, store=store, check=False, **settings
            )
            return kept_digests(Path(store, "runs"))

    return case


def _pattern(pattern: str, topology: str, **settings: Any) -> Case:
    def case() -> dict[str, Columns]:
        import kernbench as kb

        with tempfile.TemporaryDirectory() as store:
            kb.traffic(f"pattern:{pattern}", _topology(topology), store=store, check=False, **settings)
            return kept_digests(Path(store, "runs"))

    return case


def _kept_topology(name: str) -> Case:
    def case() -> dict[str, Columns]:
        import kernbench as kb

        flow = {"src": "host", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 64}
        with tempfile.TemporaryDirectory() as store:
            kb.traffic([flow], _topology(name), store=store, check=False)
            return kept_digests(Path(store, "topologies"), "topology")

    return case


def kept_digests(folder: Path, record: str = "run") -> dict[str, Columns]:
    import pyarrow.parquet as pq

    (kept,) = folder.iterdir()
    manifest = json.loads((kept / "manifest.json").read_text(encoding="utf-8"))
    said = manifest[record] | manifest.get("extra", {})
    tables = {
        path.stem: pq.ParquetFile(path).read(use_threads=False) for path in sorted(kept.glob("*.parquet"))
    }
    found: dict[str, Columns] = run_figures(said, tables) if record == "run" else machine_figures(tables)
    found[record] = {
        key: hashlib.sha256(with_statements(json.dumps(value, sort_keys=True)).encode()).hexdigest()[:16]
        for key, value in sorted(said.items())
        if key not in (*_WALL_CLOCK_AND_SOURCE, *_FOLLOWS)
    }
    for name, table in tables.items():
        found[name] = {"rows": table.num_rows} | {
            column: column_digest(str(table.schema.field(column).type), table[column].to_pylist())
            for column in table.schema.names
        }
    return found


def run_figures(said: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Columns]:
    """The figures of a run; ns to three decimals. ``busy_ns`` are sums over all of a kind."""
    use, sent, ops = tables["Use"].to_pydict(), tables["Transaction"].to_pydict(), tables["Op"].to_pydict()
    busy: dict[str, list[float]] = {}
    for kind, ns in zip(use["kind"], use["busy_ns"], strict=True):
        busy.setdefault(kind, []).append(ns)
    return {
        "figures": {
            "latency_ns": round(said["latency_ns"], 3),
            "launch_ns": round(said["launch_ns"], 3),
            "sim_ns": round(said["sim_ns"], 3),
            "launches": len(said["launches"]),
            "events": said["events"],
            "flit_crossings": said["flit_crossings"],
            "hops": said["hops"],
            "transactions": len(sent["bytes"]),
            "bytes": sum(sent["bytes"]),
            "service_ns": round(math.fsum(sent["service_ns"]), 3),
            "wait_ns": round(math.fsum(sent["wait_ns"]), 3),
            "ops": len(ops["number"]),
            "flops": sum(ops["flops"]),
            "races": tables["Race"].num_rows,
        },
        "busy_ns": {kind: round(total, 3) for kind, ns in sorted(busy.items()) if (total := math.fsum(ns))},
    }


def machine_figures(tables: Mapping[str, Any]) -> dict[str, Columns]:
    """The figures of a topology: how many components and links there are of each kind."""
    kinds = [kind for name in ("Component", "Link") for kind in tables[name]["kind"].to_pylist()]
    lengths = tables["Link"]["distance_mm"].to_pylist()
    counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    return {"figures": {"wires_mm": round(math.fsum(lengths), 3)} | counts}


def column_digest(kind: str, values: list[Any]) -> str:
    """The first 16 hex digits of the sha256 of a column's Arrow type and values, floats to their last bit."""
    if kind == "double":
        content = struct.pack(f"<{len(values)}d", *values)
    elif kind == "string":  # a few values again and again
        shown = {value: with_statements(json.dumps(value)) for value in set(values)}
        content = f"[{','.join(map(shown.__getitem__, values))}]".encode()
    else:
        content = with_statements(json.dumps(values, ensure_ascii=True, separators=(",", ":"))).encode()
    return hashlib.sha256(f"{kind}\n".encode() + content).hexdigest()[:16]


def with_statements(text: str) -> str:
    """``text`` with ``FILE.py: STATEMENT`` for each ``FILE.py:LINE`` of kernbench."""
    return _LINE.sub(_with_statement, text) if ".py:" in text else text


def _with_statement(match: re.Match[str]) -> str:
    lines = _kernel_lines().get(match[1], ())
    line = int(match[2])
    return f"{match[1]}: {lines[line - 1].strip()}" if line <= len(lines) else match[0]


@cache
def _kernel_lines() -> dict[str, list[str]]:
    # An archive has a file's name without its folder; a name that two files have keeps its number.
    import kernbench

    package = Path(kernbench.__file__).parent
    shipped = package / "_data"  # with a package that is installed; in a checkout beside it
    files = [path for path in sorted(package.rglob("*.py")) if shipped not in path.parents]
    names = [path.name for path in files]
    return {
        path.name: path.read_text(encoding="utf-8").splitlines()
        for path in files
        if names.count(path.name) == 1
    }


def differences(
    golden: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """A line for each figure, and for each table with its columns, that is not as it was."""
    for table in sorted(golden.keys() | now.keys(), key=lambda name: (name not in FIGURES, name)):
        was, has = golden.get(table), now.get(table)
        if was is None or has is None:
            yield f"table {table}: {'new' if was is None else 'gone'}"
        elif table in FIGURES:
            for name in dict.fromkeys((*was, *has)):
                if was.get(name) != has.get(name):
                    yield f"{table} {name}: {was.get(name, 'nothing')} became {has.get(name, 'nothing')}"
        elif was != has:
            rows = "" if was.get("rows") == has.get("rows") else f" ({was['rows']} rows became {has['rows']})"
            gone = [f"{name} (gone)" for name in was if name not in has]
            new = [f"{name} (new)" for name in has if name not in was]
            other = [name for name in was if name in has and was[name] != has[name] and name != "rows"]
            yield f"table {table}{rows}: {', '.join(other + gone + new)}"


def commit_of(root: Path) -> str:
    """The commit that a checkout is at, with `` with changes`` where its sources have some."""

    def git(*argv: str) -> str:
        return subprocess.run(["git", *argv], cwd=root, capture_output=True, text=True, check=False).stdout

    changed = " with changes" if git("status", "--porcelain", "--", *_SOURCES) else ""
    return f"{git('rev-parse', 'HEAD').strip() or 'no commit'}{changed}"


def main() -> None:
    """Write the golden file from the kernbench that this interpreter imports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=GOLDEN, help="the file to write (default: %(default)s)")
    parser.add_argument("--only", nargs="+", metavar="CASE", help="cases to run (default: all)")
    given = parser.parse_args()
    out, only = given.out, given.only

    import numpy as np
    import pyarrow as pa

    import kernbench

    commit = commit_of(Path(kernbench.__file__).resolve().parents[1])
    if out == GOLDEN and (" " in commit or only is not None):
        parser.exit(
            2, f"{GOLDEN.name} holds all cases of a commit, and this is {commit}; commit, or use --out\n"
        )
    lines = [
        f"  {json.dumps(name)}: {_lines(case())}"
        for name, case in cases().items()
        if only is None or name in only
    ]
    origin = {
        "commit": commit,
        "command": "python tests/golden/archives.py",
        "figures": "plain numbers: times in ns to three decimals, sizes in bytes",
        "digest": "first 16 hex digits of sha256 over each column's type and values",
        "versions": {
            "kernbench": kernbench.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
        },
    }
    text = ",\n".join(lines)
    out.write_text(f'{{\n "origin": {json.dumps(origin)},\n "cases": {{\n{text}\n }}\n}}\n', encoding="utf-8")


def _lines(tables: dict[str, Columns]) -> str:
    # A line for a table, so that git shows which tables a change of the file is about.
    return "{\n" + ",\n".join(f"   {json.dumps(k)}: {json.dumps(v)}" for k, v in tables.items()) + "\n  }"


if __name__ == "__main__":
    main()
