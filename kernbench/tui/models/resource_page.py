"""One component or link: what it is, how busy it was, who went through it, who waited, what is beside it."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.open_runs import OpenRun
from kernbench.draw.cells import number, plain, share, text
from kernbench.draw.content import columns_of
from kernbench.draw.targets import Target
from kernbench.errors import UsageError
from kernbench.support.hints import suggestion
from kernbench.tui.models.pages import Page, TabSection
from kernbench.tui.models.run_page import WAITS, operations
from kernbench.tui.models.table import ShownTable

_CROSSED = columns_of("transaction kind src dst t_in wait_ns service_ns t_out bytes seq")
_WIRES = columns_of("link kind bw_gbs delay_ns distance_mm utilisation occupancy")
_PARTS = columns_of("component kind utilisation occupancy")
_TITLED = ("kind", "impl", "parent", "src", "dst", "bw_gbs", "delay_ns", "distance_mm", "overhead_ns")


def resource_page(opened: OpenRun, name: str, window: ChosenWindow) -> Page:
    """The page of a component, a link, or a group of components such as a cube or a PE."""
    row = describe(opened, name)
    shares = shares_of(opened, window)
    facts = [("it is", ", ".join(f"{key} {text(value)}" for key, value in row.items()))]
    chosen = opened.run.window(window).name
    facts.append(("used", f"{shares[name]} of {chosen}" if name in shares else f"not used in {chosen}"))
    use = opened.run.used
    for at in np.flatnonzero(use["resource"] == name).tolist():
        total = (
            f"busy {number(float(use['busy_ns'][at]))} ns, others waited {number(float(use['wait_ns'][at]))} "
            f"ns; {use['transactions'][at]} transactions, {use['bytes'][at]} bytes, at most "
            f"{use['max_queue'][at]} queued"
        )
        facts.append(("whole run", total))
    sections = [TabSection("Crossed by", lambda: _crossings(opened, name))]
    if name in opened.components:
        sections += [
            TabSection("Operations", lambda: _operations(opened, name)),
            TabSection("Waits", lambda: _waits(opened, name)),
            TabSection("Links", lambda: _wires(opened, name, shares)),
            TabSection("Parts", lambda: _parts(opened, name, shares)),
        ]
    else:
        sections.append(TabSection("Waits", lambda: _waits(opened, name)))
        sections.append(TabSection("Ends", lambda: _ends(opened, name, shares)))
    return Page(name, facts, sections, Target("resource", name), opened.run.id)


def describe(opened: OpenRun, name: str) -> dict[str, Any]:
    """The properties of a component or link by name; ``UsageError`` where the machine has none like it."""
    for table, rows in (("Component", opened.components), ("Link", opened.links)):
        if name in rows:
            found = opened.topology.tables[table].slice(rows[name], 1).to_pylist()[0]
            more = json.loads(found.get("attributes") or "{}")
            shown = {key: found[key] for key in _TITLED if found.get(key) not in (None, "")}
            return {**shown, **{key: value for key, value in more.items() if value not in (-1, "")}}
    hint = suggestion(name, opened.components)
    raise UsageError(
        f"the machine of run '{opened.run.id}' has no '{name}'; {hint or 'see its topology: key t'}"
    )


@dataclass(frozen=True, slots=True)
class Shares:
    """How much a part was used, as shares of a window, 0 to 1; see :attr:`kernbench.Run.used`."""

    utilisation: float = 0.0
    occupancy: float | None = 0.0

    def __str__(self) -> str:
        return f"utilisation {share(self.utilisation)}, occupancy {share(self.occupancy)}"


def shares_of(opened: OpenRun, window: ChosenWindow) -> dict[str, Shares]:
    """Utilisation and occupancy of everything that was used in a window."""
    used = opened.run.known_use(window)
    columns = (plain(used[name]) for name in ("resource", "utilisation", "occupancy"))
    return {name: Shares(*shares) for name, *shares in zip(*columns, strict=True)}


_UNUSED = Shares()


def _crossings(opened: OpenRun, name: str) -> ShownTable:
    """The hops at a resource, each with its transaction."""
    import pyarrow.compute as pc

    table, sent = opened.run.table("Hop"), opened.run.table("Transaction")
    hops = table.filter(pc.equal(table["resource"], name)).rename_columns({"txn": "transaction"})
    rows = pc.index_in(hops["transaction"], sent["number"])
    for column in ("kind", "src", "dst"):
        hops = hops.append_column(column, sent[column].take(rows))
    return ShownTable.of_arrow(hops, _CROSSED, "" if hops.num_rows else _why_uncrossed(opened, name))


def _why_uncrossed(opened: OpenRun, name: str) -> str:
    """The reason why a resource has no crossings: parts and wires within a PE record none of theirs."""
    if name not in set(opened.run.used["resource"].tolist()):
        return "no transaction went through it"
    source, arrow, target = name.partition("->")
    beside = f"{source} and {target}" if arrow else name.rpartition(".")[0]
    return f"used, but its crossings are not recorded separately: see {beside}"


def _operations(opened: OpenRun, name: str) -> ShownTable:
    import pyarrow.compute as pc

    return operations(opened, lambda table: table.filter(pc.equal(table["component"], name)))


def _waits(opened: OpenRun, name: str) -> ShownTable:
    import pyarrow.compute as pc

    table = opened.run.table("WaitedFor")
    found = table.filter(pc.equal(table["resource"], name))
    found = found.rename_columns({"txn": "waiter", "ns": "wait_ns"}).sort_by([("wait_ns", "descending")])
    return ShownTable.of_arrow(found, WAITS, "nothing waited here")


def _wires(opened: OpenRun, name: str, shares: dict[str, Shares]) -> ShownTable:
    import pyarrow.compute as pc

    links = opened.topology.tables["Link"]
    found = links.filter(pc.or_(pc.equal(links["src"], name), pc.equal(links["dst"], name)))
    rows = [
        {**row, "link": row["name"], **asdict(shares.get(row["name"], _UNUSED))} for row in found.to_pylist()
    ]
    return ShownTable.of_dicts(rows, _WIRES, "no link leads here")


def _parts(opened: OpenRun, name: str, shares: dict[str, Shares]) -> ShownTable:
    import pyarrow.compute as pc

    parts = opened.topology.tables["Component"]
    found = parts.filter(pc.equal(parts["parent"], name)).to_pylist()
    return ShownTable.of_rows(
        ((row["name"], row["kind"], *astuple(shares.get(row["name"], _UNUSED))) for row in found),
        _PARTS,
        "it has no parts",
    )


def _ends(opened: OpenRun, name: str, shares: dict[str, Shares]) -> ShownTable:
    row = opened.topology.tables["Link"].slice(opened.links[name], 1).to_pylist()[0]
    kinds = opened.topology.tables["Component"]["kind"]
    ends = [
        (end, kinds[opened.components[end]].as_py(), *astuple(shares.get(end, _UNUSED)))
        for end in (row["src"], row["dst"])
    ]
    return ShownTable.of_rows(ends, _PARTS)
