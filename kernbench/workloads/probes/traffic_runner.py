"""Runs a list of flows together on a machine and measures each: the core of ``kernbench traffic``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import fsum
from typing import Any

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.machine.blame import blamed
from kernbench.engine.machine.kept import machine_for
from kernbench.engine.machine.machine import Machine
from kernbench.engine.machine.transfers import Transfer, address_of, endpoint
from kernbench.engine.program.operations import Op
from kernbench.engine.run_options import Progress
from kernbench.errors import AddressError, ConfigError, RoutingError, UsageError
from kernbench.host.process import paced_collector
from kernbench.host.session import NoRequestsError
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.user_greenlets import run_user
from kernbench.values.oplog import OpLog
from kernbench.workloads.probes.traffic_flow import MAX_TRANSFERS, Flow
from kernbench.workloads.probes.traffic_peaks import Peaks, peaks

"""Called now and then with (simulated ns, events so far); both are 0 until the simulation begins."""


class _Ops(Instrument):
    """Logs the operations. Traffic moves no values, so nothing depends on anything."""

    def __init__(self) -> None:
        self.log = OpLog()

    def op_done(self, op: Op) -> None:
        self.log.append(op)


@dataclass(frozen=True)
class TrafficOutcome:
    """How flows went together; all figures are those of :meth:`rows` and :meth:`totals`.

    ``transfers`` are those of each flow, in order. ``machine`` and ``log`` are needed for keeping the
    trace.
    """

    flows: tuple[Flow, ...]
    transfers: tuple[tuple[Transfer, ...], ...]
    peaks: Peaks
    sim_ns: float
    machine: Machine = field(repr=False, compare=False)
    log: OpLog = field(repr=False, compare=False)

    def rows(self) -> list[dict[str, Any]]:
        """One row a flow, in order: ``name src dst op bytes offset count start_ns end_ns bandwidth_gbs ...``.

        ``bytes`` is the size of one transfer. ``start_ns``: the first transfer is submitted to the source;
        ``end_ns``: the last is answered (a write's acknowledgement, a read's last byte); ``bandwidth_gbs``:
        all bytes over the time between. ``wait_ns`` sums what the flow's transfers stood behind others, in
        the source's DMA queue as well. ``peak_path_gbs``, ``peak_fair_gbs``: the flow's own peaks.
        """
        rows = []
        for flow, transfers, path, fair in zip(
            self.flows, self.transfers, self.peaks.path_gbs, self.peaks.fair_gbs, strict=True
        ):
            start = min(t.t_submit for t in transfers)
            end = max(t.t_done for t in transfers)
            rows.append(
                {
                    "name": flow.name,
                    "src": flow.src,
                    "dst": flow.dst,
                    "op": flow.op,
                    "bytes": flow.bytes,
                    "offset": flow.offset,
                    "count": flow.count,
                    "start_ns": start,
                    "end_ns": end,
                    "bandwidth_gbs": _rate(flow.total_bytes, end - start, path),
                    "wait_ns": fsum(t.wait_ns for t in transfers),
                    "peak_path_gbs": path,
                    "peak_fair_gbs": fair,
                }
            )
        return rows

    @cached_property
    def makespan_ns(self) -> float:
        """Time from the first transfer's start to the last one's end."""
        every = [t for transfers in self.transfers for t in transfers]
        return max(t.t_done for t in every) - min(t.t_submit for t in every)

    def totals(self) -> dict[str, Any]:
        """``makespan_ns total_bytes bandwidth_gbs peak_path_gbs peak_fair_gbs``.

        ``bandwidth_gbs`` is all bytes over the makespan. ``peak_path_gbs`` is the sum, over the flows, of
        each flow's bottleneck bandwidth: their throughput if none shared anything with another.
        ``peak_fair_gbs`` is the sum of their max-min fair shares of links and memories (see
        :mod:`kernbench.workloads.probes.traffic_peaks`); never more than ``peak_path_gbs``. The bandwidth
        never exceeds ``peak_path_gbs``, and where all flows have the same number of bytes it does not exceed
        ``peak_fair_gbs`` either.
        """
        total, peak = sum(flow.total_bytes for flow in self.flows), fsum(self.peaks.path_gbs)
        return {
            "makespan_ns": self.makespan_ns,
            "total_bytes": total,
            "bandwidth_gbs": _rate(total, self.makespan_ns, peak),
            "peak_path_gbs": peak,
            "peak_fair_gbs": fsum(self.peaks.fair_gbs),
        }


def _rate(nbytes: int, ns: float, peak_gbs: float) -> float:
    """Bytes per ns; the peak where parts are free and the time is less than a float tells from its start."""
    return nbytes / ns if ns > 0.0 else peak_gbs


def run_traffic(
    graph: PropertyGraph,
    flows: Sequence[Flow],
    *,
    instruments: Sequence[Instrument] = (),
    progress: Progress | None = None,
    components: Mapping[str, str] | None = None,
    traced: bool = True,
    check: bool | None = None,
) -> TrafficOutcome:
    """Run ``flows`` on a machine made from ``graph`` until the last transfer is answered.

    ``check`` and ``traced`` are the machine's.

    Transfers that start at one instant are submitted in the order of the flows, first transfers before
    second ones. :class:`NoRequestsError` without a flow; :class:`ConfigError`, which says where the flow was
    read, for ends that do not exist, do not fit or cannot be joined; :class:`UsageError` for more than
    :data:`MAX_TRANSFERS` transfers.
    """
    if not flows:
        raise NoRequestsError("NO_REQUESTS: no flows are given; add at least one with src, dst and bytes")
    wanted = sum(flow.count for flow in flows)
    if wanted > MAX_TRANSFERS:
        raise UsageError(
            f"the flows ask for {wanted} transfers, at most {MAX_TRANSFERS} are run; lower count"
        )
    ops = _Ops()
    machine = machine_for(graph, [ops, *instruments], components, traced=traced, check=check)
    machine.clock.on_progress = progress

    def program() -> tuple[list[list[Transfer]], Peaks]:
        transfers = _submit(machine, flows, progress)
        reached = peaks(machine, flows)
        machine.wait(*(transfer for one in transfers for transfer in one))
        return transfers, reached

    with blamed(machine), paced_collector(machine.clock):
        transfers, reached = run_user(program)  # components may be users'
    return TrafficOutcome(
        tuple(flows), tuple(map(tuple, transfers)), reached, float(machine.clock.now), machine, ops.log
    )


def _submit(machine: Machine, flows: Sequence[Flow], progress: Progress | None) -> list[list[Transfer]]:
    """Every transfer, submitted in order of time, repetition and flow."""
    for flow in flows:
        _check(machine, flow)
        if progress is not None:
            progress(0.0, 0)  # routes of a large machine take their time
    transfers: list[list[Transfer]] = [[] for _ in flows]
    turns = sorted(
        (flow.start_ns + turn * flow.period_ns, turn, index)
        for index, flow in enumerate(flows)
        for turn in range(flow.count)
    )
    for time, _, index in turns:
        flow = flows[index]
        transfers[index].append(
            machine.flow(flow.src, flow.dst, flow.offset, flow.bytes, is_write=flow.is_write, start_ns=time)
        )
    return transfers


def _check(machine: Machine, flow: Flow) -> None:
    """Refuse a flow whose ends do not exist, do not fit or cannot be joined, naming the key at fault."""
    key = "src"
    try:
        source, traffic = endpoint(machine, flow.src)
        key = "dst"
        address_of(machine, flow.dst, 0, 1)
        machine.path(source.resource, flow.dst, traffic)
        key = "offset" if flow.offset else "bytes"
        address_of(machine, flow.dst, flow.offset, flow.bytes)
    except (UsageError, RoutingError, AddressError) as error:
        raise ConfigError(f"{flow.where(key)}: {error}") from None
