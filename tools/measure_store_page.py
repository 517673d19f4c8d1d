"""The page docs/reference/measured-stores.md from what tools/measure_store.py has found."""

from __future__ import annotations

import os
import platform
import re
import statistics
import subprocess
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from tools.run_neo4j import POM


def machine() -> str:
    """Cores, memory and versions."""
    total = next(
        line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal")
    )
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("pyarrow", "ladybug", "neo4j"))
    found = re.search(r"<neo4j\.version>([\d.]+)<", POM.read_text(encoding="utf-8"))
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    return (
        f"{os.cpu_count()} cores, {int(total.split()[1]) / 2**20:.0f} GB of memory, {platform.system()} "
        f"{platform.machine()}; Python {platform.python_version()}, {versions} (the driver); server Neo4j "
        f"{found[1] if found else '?'} Community, {java.splitlines()[0] if java else 'Java unknown'}"
    )


def mb(count: float) -> str:
    return f"{count / 1e6:,.0f}" if count else "-"


def push_rows(stores: Sequence[Any]) -> list[str]:
    lines = []
    for store in stores:
        for push in store.pushes:
            rows = push["nodes"] + push["relationships"]
            built, free = (f"{push[key]:.1f}" if push[key] else "-" for key in ("built_s", "free_s"))
            more = push["memory_most"] - push["memory_before"]
            lines.append(
                f"| {store.name} | {push['hops']:,} | {push['nodes']:,} | {push['relationships']:,} | "
                f"{push['kept_s']:.1f} | {built} | {free} | "
                f"{rows / (push['kept_s'] + push['built_s']):,.0f} | "
                f"{mb(push['memory_before'])} | {mb(more)} |"
            )
    return lines


def question_rows(stores: Sequence[Any], limit_s: float) -> list[str]:
    lines = []
    for name in stores[0].cold:
        cells = [name]
        for store in stores:
            cells += [_ms(store.cold.get(name), limit_s), _ms(store.warm.get(name), limit_s)]
        rows = next(
            (s.warm[name]["rows"] for s in stores if s.warm.get(name, {}).get("rows") is not None), "-"
        )
        lines.append(f"| {' | '.join(cells)} | {rows} |")
    return lines


def _ms(row: dict[str, Any] | None, limit_s: float) -> str:
    if row and row["s"]:
        return f"{statistics.median(row['s']) * 1e3:,.0f}"
    return f"over {limit_s:g} s" if row and "was stopped" in row["said"] else "-"


def remarks(stores: Sequence[Any]) -> list[str]:
    """The error where a question was not answered."""
    said = {
        f"- {store.name}, {name}: {row['said']}"
        for store in stores
        for row_of in (store.cold, store.warm)
        for name, row in row_of.items()
        if row["said"] and "was stopped" not in row["said"]
    }
    return ["", "Not answered:", "", *sorted(said)] if said else []


def many_rows(stores: Sequence[Any]) -> list[str]:
    """The section on many runs; empty where no store was measured with them."""
    found = [(store.name, store.many) for store in stores if store.many]
    if not found:
        return []
    one = found[0][1]
    return [
        "",
        f"## {one['runs']} runs of {one['hops']:,} hops",
        "",
        "All of one machine, made up with different seeds, kept one after another, on the server beside",
        "the small runs above. *first*, *second* and *last*: the first question",
        f"({one['question']}) of the first run, which also builds what belongs to the machine, of",
        "the second and of the last. *again*: of the first and of the last, asked once more. *two runs*:",
        "history/slower-where, of the first and the last.",
        "",
        "| store | all kept s | second kept s | last kept s | first ms | second ms | last ms | again ms "
        "| two runs ms |",
        "|---" * 9 + "|",
        *(
            f"| {name} | {m['kept_s']:.1f} | {m['kept_first_s']:.2f} | {m['kept_last_s']:.2f} | "
            + " | ".join(f"{s * 1e3:,.0f}" for s in m["first_s"])
            + f" | {', '.join(f'{s * 1e3:,.0f}' for s in m['again_s'])} | {m['over_all_s'] * 1e3:,.0f} |"
            for name, m in found
        ),
    ]


def first_rows(benches: Sequence[dict[str, Any]]) -> list[str]:
    """The section on the first question about a run; empty where none was measured."""
    if not benches:
        return []
    lines = [
        "",
        "## The first question about a run",
        "",
        "Of each shipped bench, on the default machine: a question of the library as the first one about a",
        "run in a folder, asked of a store that was just opened, with all that has to be copied for it.",
        "Another run on the machine has been asked before. *half*: half of the questions take no longer.",
        "",
        "| bench | hops | half ms | below 0.1 s | slowest ms |",
        "|---|---|---|---|---|",
    ]
    for bench in benches:
        times = sorted((seconds * 1e3, name) for name, seconds in bench["s"].items())
        slowest = ", ".join(f"{name} {ms:,.0f}" for ms, name in times[:-4:-1])
        lines.append(
            f"| {bench['bench']} | {bench['hops']:,} | {times[len(times) // 2][0]:,.0f} "
            f"| {sum(ms < 100.0 for ms, _ in times)} of {len(times)} | {slowest} |"
        )
    return lines


def page(
    stores: Sequence[Any],
    history: dict[str, Any],
    repeats: int,
    limit_s: float,
    foreign: bool,
    seconds: float,
) -> str:
    """The whole page."""
    disk = [
        f"| {store.name} | {', '.join(f'{what} {mb(count)}' for what, count in store.disk.items()) or '-'} | "
        f"{mb(store.server_memory)} | {store.removal_s:.1f} |"
        for store in stores
    ]
    cold = (
        "that was not restarted"
        if foreign
        else "that was restarted once, the files dropped from the operating system's memory,\nbefore the "
        "first of them (each is the first of its kind since, but reads pages that others have read)"
    )
    (small, large), beside = stores[0].pushes, stores[0].beside
    columns = " | ".join(f"{store.name} cold | {store.name} warm" for store in stores)
    return f"""# Measured: stores

Written by `make measure-store`, on made-up traffic over the routes of the default machine:
{large["hops"]:,} hops, {large["hops"] // 20:,} of them on one hot link, and {large["waits"]:,} `WAITED_FOR`;
beside it lie a simulated run of {small["hops"]:,} hops, whose critical path is asked for, and
{len(beside["ids"])} runs of about {beside["hops"]:,} hops, made up with other seeds, all of the same machine.
{machine()}.
It took {seconds:,.0f} s.

## Keeping a run

*keep* is until the run is safe; *graph* what the first question of the library waits for besides, where it
needs all of the run's graph; *free* the first free Cypher, whose engine has a graph of its own. Rows a second
are those of *keep* and *graph*. *Memory* is that of our process before, and at most on top of it meanwhile.

| store | hops | nodes | relationships | keep s | graph s | free s | rows/s | memory MB | more MB |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(push_rows(stores))}

Afterwards, and for the removal of the larger run:

| store | MB on disk | server's memory at most, MB | removal s |
|---|---|---|---|
{chr(10).join(disk)}

The archive is that of the larger run, everything else holds all of them.

## Questions

Milliseconds, with what the router or the critical path work out for a question. *Cold*, embedded: a fresh
process, its imports not counted, and nothing of the store in the operating system's memory; Neo4j: a fresh
process and a server {cold}. *Warm*: median of {repeats} in one process that has asked before; `-` is what was
not answered.

| question | {columns} | rows |
{"|---" * (2 + 2 * len(stores))}|
{chr(10).join([*question_rows(stores, limit_s), *remarks(stores)])}

## The graph over all runs

Embedded, {history["runs"]} runs of the default machine with {history["used"]:,} places used each: the first
question about what they used takes {history["whole_s"]:.1f} s, after one more run {history["grown_s"]:.1f} s,
and in another process {history["again_s"]:.2f} s.
{chr(10).join([*many_rows(stores), *first_rows(stores[0].first)])}
"""
