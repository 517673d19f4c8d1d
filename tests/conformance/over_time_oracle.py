"""Answers about stretches of a window, and about PEs, from the rows of a trace and with nothing but loops."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Rows

Spans = tuple[tuple[float, float], ...]
Weighted = list[tuple[float, float, float]]
"""Begin, end and weight of what was served."""

BY_OPERATION = ("pe_gemm", "pe_math", "pe_dma", "pe_fetch_store", "pe_scheduler")
BY_BYTES = ("hbm_ctrl", "sram", "pe_tcm")
PARTS = ("pseudo_channel",)
ENGINES = ("pe_dma", "pe_fetch_store", "pe_gemm", "pe_math")


def stretches(spans: Spans, intervals: int) -> list[tuple[float, float]]:
    """The window's stretches of equal length."""
    begin, end = spans[0][0], spans[-1][1]
    step = (end - begin) / intervals
    return [
        (begin + n * step, begin + (n + 1) * step if n + 1 < intervals else end) for n in range(intervals)
    ]


def within(begin: float, end: float, spans: Spans, low: float, high: float) -> float:
    """Time from ``begin`` to ``end`` that lies in the window and between ``low`` and ``high``."""
    return sum((max(0.0, min(end, high, b) - max(begin, low, a)) for a, b in spans), 0.0)


def united(intervals: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The stretches during which at least one of them is under way."""
    found: list[tuple[float, float]] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def length_of(stays: list[tuple[float, float]], service: float) -> float:
    """For how long any of them is served, each for so long from its begin on."""
    return sum(end - begin for begin, end in united((begin, begin + service) for begin, _ in stays))


def passing(stays: list[tuple[float, float]], busy_ns: float) -> list[tuple[float, float]]:
    """When messages were served that may pass together, each for equally long, ``busy_ns`` in all."""
    least, most = 0.0, busy_ns
    for _ in range(200):
        service = (least + most) / 2
        least, most = (service, most) if length_of(stays, service) < busy_ns else (least, service)
    return united((begin, min(begin + most, end)) for begin, end in stays)


class Course:
    """What a place has served by a time, by definition: of what it records, scaled to its busy time."""

    def __init__(self, entries: Weighted, busy_ns: float) -> None:
        entries = [entry for entry in entries if entry[2] > 0]
        rate, full = self.rate(entries, busy_ns)
        self.stays = [
            (begin, end, end - begin if n in full else rate * weight)
            for n, (begin, end, weight) in enumerate(entries)
        ]
        self.times = sorted({time for begin, end, _ in self.stays for time in (begin, end)})
        self.left_over = {time: self.evenly(time) - time for time in self.times}
        self.owed = {
            time: sum(work for _, end, work in self.stays if end <= time) - time for time in self.times
        }

    @staticmethod
    def rate(entries: Weighted, busy_ns: float) -> tuple[float, set[int]]:
        """Work for each unit of weight, and which stays are served all the while: none for longer."""
        lengths = {n: end - begin for n, (begin, end, _) in enumerate(entries) if end > begin}
        full: set[int] = set()
        whole = sum(weight for *_, weight in entries)
        if len(lengths) == len(entries) and sum(lengths.values()) < busy_ns:
            return busy_ns / whole, full
        while True:
            left = sum(weight for n, (*_, weight) in enumerate(entries) if n not in full)
            rate = (busy_ns - sum(lengths[n] for n in full)) / left if left else 0.0
            more = {n for n in lengths.keys() - full if rate * entries[n][2] > lengths[n] * (1 + 1e-12)}
            if not more:
                return rate, full
            full |= more

    def evenly(self, time: float) -> float:
        """What were served before ``time``, were each stay's service spread evenly."""
        done = 0.0
        for begin, end, work in self.stays:
            if begin < time:
                done += work if end <= time else work * (time - begin) / (end - begin)
        return done

    def served(self, time: float) -> float:
        """As soon as there is room, but in time for all to leave when they do."""
        before = [rest for at, rest in self.left_over.items() if at <= time]
        later = [owed for at, owed in self.owed.items() if at >= time]
        gone = sum(work for _, end, work in self.stays if end <= time)
        soon = min([self.evenly(time), *(time + rest for rest in before)])
        late = max([gone, *(time + owed for owed in later)])
        return min(max(soon, late), time)


class Busy:
    """How busy the resources of a run were, stretch by stretch."""

    def __init__(self, run: RunRecord, spans: Spans) -> None:
        self.spans = spans
        self.used = {row["resource"]: row for row in run.tables["Use"].to_pylist()}
        served: dict[str, Weighted] = {}
        passed: dict[str, list[tuple[float, float]]] = {}
        for hop in run.tables["Hop"].to_pylist():
            use = self.used[hop["resource"]]
            if use["kind"] not in BY_OPERATION:
                stay = hop["t_start"], hop["t_out"]
                if use["is_link"] or use["kind"] in BY_BYTES:
                    served.setdefault(hop["resource"], []).append((*stay, float(hop["bytes"])))
                else:
                    passed.setdefault(hop["resource"], []).append(stay)
        hops = {(hop["txn"], hop["resource"]): hop for hop in run.tables["Hop"].to_pylist()}
        for row in run.tables["Dealt"].to_pylist() if "Dealt" in run.tables else ():
            hop = hops[row["txn"], row["resource"].rpartition(".")[0]]
            served.setdefault(row["resource"], []).append((hop["t_start"], hop["t_out"], float(row["bytes"])))
        by_engine: dict[str, list[tuple[float, float]]] = {}
        for op in run.tables["Op"].to_pylist():
            if self.used.get(op["component"], {}).get("kind") in BY_OPERATION:
                by_engine.setdefault(op["component"], []).append((op["t_start"], op["t_end"]))
        for name, stays in passed.items():
            served[name] = [(a, b, b - a) for a, b in passing(stays, self.used[name]["busy_ns"])]
        for name, intervals in by_engine.items():
            served[name] = [(begin, end, end - begin) for begin, end in united(intervals)]
        launches = united((row["t_start"], row["t_done"]) for row in run.tables["Launch"].to_pylist())
        for name, row in self.used.items():
            if row["kind"] == "pe_cpu" and row["busy_ns"]:  # the trace does not say when it worked
                served[name] = [(begin, end, end - begin) for begin, end in launches]
        self.served = {name: of for name, of in served.items() if sum(weight for *_, weight in of) > 0}
        self.courses: dict[str, Course] = {}

    def share(self, name: str, low: float, high: float) -> float:
        """Utilisation within a stretch."""
        length = within(low, high, self.spans, low, high)
        if length <= 0:
            return 0.0
        if name not in self.courses:
            entries = self.served.get(name) or self.served.get(self.stands_for(name), [])
            self.courses[name] = Course(entries, self.used[name]["busy_ns"])
        served = self.courses[name].served
        inside = ((max(low, a), min(high, b)) for a, b in self.spans)
        return min(sum(served(b) - served(a) for a, b in inside if b > a) / length, 1.0)

    def stands_for(self, name: str) -> str:
        """Whose proportions a part or a wire within a PE has, which nothing names."""
        source, arrow, target = name.partition("->")
        ends = (source, target) if arrow else (name.rpartition(".")[0],)
        found = [end for end in ends if end in self.used]
        carriers = ("pe_dma", "pe_fetch_store")
        return next((end for end in found if not arrow or self.used[end]["kind"] in carriers), "")


def bandwidth(
    busy: Busy, topology: TopologyRecord, intervals: int
) -> dict[tuple[float, str], tuple[int, float, float]]:
    """By begin of a stretch and kind of link: links in use, bytes, and their peak."""
    cuts = stretches(busy.spans, intervals)
    of: dict[str, list[tuple[dict[str, Any], list[float]]]] = {}
    for link in topology.tables["Link"].to_pylist():
        use = busy.used.get(link["name"])
        if use and use["bytes"] and use["busy_ns"]:
            rate = use["bytes"] / use["busy_ns"]
            moved = [
                busy.share(link["name"], low, high) * within(low, high, busy.spans, low, high) * rate
                for low, high in cuts
            ]
            if max(moved) > 0:
                of.setdefault(link["kind"], []).append((link, moved))
    return {
        (low, kind): (len(links), moved, sum(link["bw_gbs"] for link, _ in links))
        for kind, links in of.items()
        for number, (low, _) in enumerate(cuts)
        if (moved := sum(moved[number] for _, moved in links)) > 1e-6  # else what sums leave
    }


def seam_senders(run: RunRecord, topology: TopologyRecord, spans: Spans, link: str) -> Rows:
    """Senders over the seam of a link."""
    place = {row["name"]: (row["sip"], row["cube"]) for row in topology.tables["Component"].to_pylist()}
    sides = {
        row["name"]: (row["kind"], *place[row["src"]], *place[row["dst"]])
        for row in topology.tables["Link"].to_pylist()
    }
    sent = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
    of: dict[tuple[str, str], list[dict[str, Any]]] = {}
    whole = spans == ((0.0, float(run.info["sim_ns"])),)
    for hop in run.tables["Hop"].to_pylist():
        inside = whole or any(a <= hop["t_start"] < b for a, b in opened(spans, run))
        if inside and sides.get(hop["resource"]) == sides[link]:
            txn = sent[hop["txn"]]
            of.setdefault((txn["src"], txn["kind"]), []).append(hop)
    return [
        (*sides[link][1:], *key, len({hop["txn"] for hop in hops}), sum(hop["bytes"] for hop in hops),
         sum((hop["wait_ns"] for hop in hops), 0.0))
        for key, hops in of.items()
    ]  # fmt: skip


def opened(spans: Spans, run: RunRecord) -> Spans:
    """Spans of which those that reach the run's end hold what happens then."""
    return tuple((a, b if b < run.info["sim_ns"] else float("inf")) for a, b in spans)


def routes_taken(run: RunRecord, spans: Spans) -> Rows:
    """Each route with its ends."""
    ways = {row["number"]: row for row in run.tables["Route"].to_pylist()}
    of: dict[tuple[int, str, str], list[dict[str, Any]]] = {}
    for txn in run.tables["Transaction"].to_pylist():
        if txn["route"] >= 0 and any(a <= txn["t_submit"] < b for a, b in opened(spans, run)):
            of.setdefault((txn["route"], txn["src"], txn["dst"]), []).append(txn)
    rows: Rows = []
    for (route, src, dst), found in of.items():
        ns = [txn["t_done"] - txn["t_submit"] for txn in found]
        moved = sum(txn["bytes"] for txn in found)
        way = ways[route]
        rows.append(
            (
                f"route {route}",
                src,
                dst,
                way["hops"],
                way["mm"],
                len(found),
                moved,
                sum(ns) / len(ns),
                max(ns),
            )
        )
    return rows


def pe_time(run: RunRecord, topology: TopologyRecord, spans: Spans) -> Rows:
    """The time of each PE that was busy in the window."""
    parts = {row["name"]: row for row in topology.tables["Component"].to_pylist()}
    length = sum(b - a for a, b in spans)
    of: dict[str, list[tuple[str, float, float]]] = {}
    for op in run.tables["Op"].to_pylist():
        part = parts.get(op["component"])
        if part and part["kind"] in ENGINES:
            of.setdefault(part["parent"], []).append((part["kind"], op["t_start"], op["t_end"]))

    def busy(ops: list[tuple[str, float, float]], kinds: tuple[str, ...]) -> float:
        stretches_ = united((begin, end) for kind, begin, end in ops if kind in kinds)
        return sum((within(begin, end, spans, begin, end) for begin, end in stretches_), 0.0)

    rows: Rows = []
    for pe, ops in of.items():
        if (any_ns := busy(ops, ENGINES)) > 0:
            engines = (busy(ops, (kind,)) for kind in ENGINES)
            rows.append((pe, *engines, busy(ops, ("pe_gemm", "pe_math")), length - any_ns, length))
    return rows


def held(run: RunRecord) -> dict[str, list[tuple[float, float, int]]]:
    """By TCM when each value was there, and its bytes; a view is the memory of what it views."""
    ops = {row["number"]: row for row in run.tables["Op"].to_pylist()}
    operands: dict[int, list[dict[str, Any]]] = {}
    for row in run.tables["Operand"].to_pylist():
        operands.setdefault(row["op"], []).append(row)
    memory: dict[int, int] = {}
    since: dict[int, tuple[str, float, int]] = {}
    until: dict[int, float] = {}
    sizes = {
        "f16": 2,
        "bf16": 2,
        "f32": 4,
        "i32": 4,
        "i64": 8,
        "i8": 1,
        "i1": 1,
        "u16": 2,
        "u32": 4,
        "u64": 8,
        "f64": 8,
        "i16": 2,
        "u8": 1,
    }
    for number in sorted(operands):
        op = ops[number]
        inputs = [row for row in operands[number] if row["position"] >= 0 and row["handle"] >= 0]
        for row in inputs:
            value = memory.get(row["handle"], row["handle"])
            until[value] = max(until.get(value, 0.0), op["t_end"])
        for row in operands[number]:
            if row["position"] >= 0 or row["handle"] < 0:
                continue
            if op["kind"] == "view" and inputs:
                first = min(inputs, key=lambda entry: entry["position"])["handle"]
                memory[row["handle"]] = memory.get(first, first)
            elif op["component"].startswith("sip"):
                nbytes = sizes[row["dtype"]]
                for axis in row["shape"].split("x") if row["shape"] else []:
                    nbytes *= int(axis)
                tcm = f"{op['component'].rpartition('.')[0]}.pe_tcm"
                since[row["handle"]] = (tcm, op["t_start"], nbytes)
                until[row["handle"]] = max(until.get(row["handle"], 0.0), op["t_end"])
    found: dict[str, list[tuple[float, float, int]]] = {}
    for value, (tcm, begin, nbytes) in since.items():
        found.setdefault(tcm, []).append((begin, until[value], nbytes))
    return found


def tcm_held(run: RunRecord, topology: TopologyRecord, spans: Spans, intervals: int, component: str) -> Rows:
    """The stretches of one TCM."""
    values = held(run)[component]
    own = next(row for row in topology.tables["Component"].to_pylist() if row["name"] == component)
    rows: Rows = []
    for low, high in stretches(spans, intervals):
        here = [(max(a, low), min(b, high), n) for a, b, n in values if a < high and b > low and b > a]
        most = max((sum(n for a, b, n in here if a <= at < b) for at, *_ in here), default=0)
        mean = sum(((b - a) * n for a, b, n in here), 0.0) / (high - low)
        rows.append((component, low, high, most, mean, json.loads(own["attributes"])["size_bytes"]))
    return rows
