"""One launch, transaction or operation: its facts, and everything in the trace that it leads to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import kernbench as kb
from kernbench.analysis.path.model_time import launch_name
from kernbench.api.open_runs import OpenRun
from kernbench.draw.cells import number, text
from kernbench.draw.content import Column, columns_of
from kernbench.draw.targets import Target
from kernbench.errors import UsageError
from kernbench.tui.models.pages import Page, TabSection
from kernbench.tui.models.table import ShownTable

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.support.pgraph import GraphStore

_HOPS = columns_of("seq resource wait_ns service_ns t_in t_start t_out bytes")
_WAITED = columns_of("holder resource ns t_from t_to seq holders")
_HELD = columns_of("waiter resource ns t_from t_to seq holders")
_RELATED = columns_of("relation what number kind location t_begin t_end")
_PES = columns_of("component exec_ns compute_ns dma_ns wait_ns")
_OPERANDS = columns_of("position shape dtype handle address")
_BEHIND_STEPS = 30


def transaction_page(opened: OpenRun, wanted: int) -> Page:
    """A transaction: its hops, whom it waited for and held up, its causes and effects."""
    row = _only(opened, "Transaction", wanted, "transaction")
    latency = row["t_done"] - row["t_submit"]
    rest = latency - row["wait_ns"] - row["service_ns"]
    facts = [
        ("from, to", f"{row['src']} to {row['dst']}, {row['bytes']} bytes"),
        ("time", f"{number(row['t_submit'])} to {number(row['t_done'])} ns: {number(latency)} ns"),
        (
            "of that",
            f"{number(row['service_ns'])} ns served, {number(row['wait_ns'])} ns behind others"
            + (f", {number(rest)} ns for its dependencies" if rest > 1e-9 else ""),
        ),
    ]
    waits = "WaitedFor"
    sections = [
        TabSection("Hops", lambda: _rows(opened, "Hop", "txn", wanted, _HOPS, "its hops were not recorded")),
        TabSection("Waited for", lambda: _waits_of(opened, wanted)),
        TabSection(
            "Held up",
            lambda: _rows(opened, waits, "holder", wanted, _HELD, "nothing waited for it", {"txn": "waiter"}),
        ),
        TabSection("Causes and effects", lambda: _relations(_about_transaction(opened, row))),
    ]
    name = Target("transaction", wanted)
    return Page(f"{row['kind']} {wanted}", facts, sections, name, opened.run.id)


def operation_page(opened: OpenRun, wanted: int, store: GraphStore) -> Page:
    """An operation: its causes, its effects, its operands, and its chain of causes."""
    row = _only(opened, "Op", wanted, "operation")
    size = f", {row['m']} x {row['k']} x {row['n']}" if row["flops"] and row["m"] else ""
    facts = [
        ("operation", f"{row['label']} ({row['kind']}{size}) on {row['component'] or 'no component'}"),
        (
            "time",
            f"{number(row['t_start'])} to {number(row['t_end'])} ns: {number(row['t_end'] - row['t_start'])} "
            f"ns, ready {number(row['t_start'] - row['t_ready'])} ns before it began",
        ),
        ("source", f"{row['source'] or 'unknown'}; {row['bytes']} bytes, {row['flops']} flops"),
    ]
    sections = [
        TabSection("Causes", lambda: _relations(_causes(opened, row))),
        TabSection("Effects", lambda: _relations(_effects(opened, row))),
        TabSection(
            "Operands", lambda: _rows(opened, "Operand", "op", wanted, _OPERANDS, "no operands recorded")
        ),
        TabSection("All causes", lambda: _behind(opened, wanted, store)),
    ]
    return Page(f"{row['name']} {wanted}", facts, sections, Target("operation", wanted), opened.run.id)


def launch_page(opened: OpenRun, wanted: int) -> Page:
    """A launch: how long each PE took, and with what."""
    launches = opened.run.launches
    if not 0 <= wanted < len(launches):
        raise UsageError(f"run '{opened.run.id}' has no launch {wanted}; it has {len(launches)}, from 0")
    launch = launches[wanted]
    facts = [
        ("kernel", f"{launch_name(launch)} on {launch['pes']} PEs"),
        ("latency", f"{number(launch['latency_ns'])} ns (launch {number(launch['launch_ns'])})"),
        ("slowest PE", f"{number(launch['pe_ns'])} ns"),
        ("started", f"{number(launch['t_start'])} ns, done at {number(launch['t_done'])} ns"),
    ]
    pes = [{"component": pe, **times} for pe, times in launch.get("pe_times", {}).items()]
    pes.sort(key=lambda pe: (-pe["exec_ns"], pe["component"]))
    sections = [TabSection("PEs", lambda: ShownTable.of_dicts(pes, _PES, "no PE took part"))]
    return Page(f"launch {wanted}", facts, sections, Target("launch", wanted), opened.run.id)


def _only(opened: OpenRun, table: str, wanted: int, what: str) -> dict[str, Any]:
    """The row of that number."""
    import pyarrow.compute as pc

    rows = opened.run.table(table)
    found = rows.filter(pc.equal(rows["number"], wanted)).to_pylist()
    if not found:
        raise UsageError(f"run '{opened.run.id}' has no {what} {wanted}; choose one from the run's page")
    row: dict[str, Any] = found[0]
    return row


def _rows(
    opened: OpenRun,
    table: str,
    column: str,
    wanted: int,
    columns: tuple[Column, ...],
    empty: str,
    names: dict[str, str] | None = None,
) -> ShownTable:
    """The rows of a table of the trace that have ``wanted`` in ``column``."""
    found = _where(opened, table, column, wanted)
    if names:
        found = found.rename_columns({name: names.get(name, name) for name in found.column_names})
    return ShownTable.of_arrow(found, columns, empty)


def _where(opened: OpenRun, table: str, column: str, wanted: int) -> pa.Table:
    import pyarrow.compute as pc

    rows = opened.run.table(table)
    return rows.filter(pc.equal(rows[column], wanted))


def _waits_of(opened: OpenRun, wanted: int) -> ShownTable:
    found = _where(opened, "WaitedFor", "txn", wanted).sort_by([("ns", "descending"), ("seq", "ascending")])
    return ShownTable.of_arrow(found, _WAITED, "it did not wait for another transaction")


def _about_transaction(opened: OpenRun, row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    wanted = row["number"]
    pairs = [
        ("sent for", "operation", [row["op"]]),
        ("caused by", "transaction", [row["caused_by"]]),
        ("awaited by", "operation", _where(opened, "Awaited", "txn", wanted)["op"].to_pylist()),
        ("caused", "transaction", _where(opened, "Transaction", "caused_by", wanted)["number"].to_pylist()),
    ]
    return _describe(opened, pairs)


def _causes(opened: OpenRun, row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    wanted = row["number"]
    needs = _where(opened, "DependsOn", "op", wanted)
    hazards: dict[str, list[int]] = {}
    for on, hazard in zip(needs["on"].to_pylist(), needs["hazard"].to_pylist(), strict=True):
        hazards.setdefault(f"depends on ({hazard})", []).append(on)
    pairs = [
        *((relation, "operation", numbers) for relation, numbers in hazards.items()),
        ("awaited", "transaction", _where(opened, "Awaited", "op", wanted)["txn"].to_pylist()),
        ("part of", "operation", [row["parent"]]),
    ]
    return _describe(opened, pairs)


def _effects(opened: OpenRun, row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    wanted = row["number"]
    later = _where(opened, "DependsOn", "on", wanted)
    pairs = [
        ("needed by", "operation", later["op"].to_pylist()),
        ("sent", "transaction", _where(opened, "Transaction", "op", wanted)["number"].to_pylist()),
        ("consists of", "operation", _where(opened, "Op", "parent", wanted)["number"].to_pylist()),
    ]
    return _describe(opened, pairs)


_TABLES = {
    "operation": ("Op", "component", "t_start", "t_end"),
    "transaction": ("Transaction", "src", "t_submit", "t_done"),
}


def _describe(opened: OpenRun, pairs: list[tuple[str, str, list[int]]]) -> Iterator[tuple[Any, ...]]:
    """Rows of ``relation what number kind location t_begin t_end``, looked up in the trace."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for relation, what, numbers in pairs:
        table, location, begin, end = _TABLES[what]
        rows = opened.run.table(table)
        wanted = pa.array([number for number in numbers if number >= 0], pa.int64())
        if len(wanted):
            for row in rows.filter(pc.is_in(rows["number"], wanted)).to_pylist():
                kind = row["name"] if what == "operation" else row["kind"]
                yield relation, what, row["number"], kind, row[location], row[begin], row[end]


def _relations(rows: Iterator[tuple[Any, ...]]) -> ShownTable:
    return ShownTable.of_rows(rows, _RELATED, "nothing recorded")


def _behind(opened: OpenRun, wanted: int, store: GraphStore) -> ShownTable:
    """The answer of the question ``causes/behind-operation``, asked of the store."""
    found = kb.ask(
        "causes/behind-operation", opened.run.id, store, {"op": wanted, "steps": _BEHIND_STEPS, "limit": 1000}
    )
    columns = [Column(name) for name in found.columns]
    return ShownTable.of_rows(found.rows, columns, f"operation {text(wanted)} has no causes")
