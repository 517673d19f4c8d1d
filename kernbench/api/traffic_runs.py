"""Running plain traffic: from a list of flows or a pattern to a run that is kept like a bench's."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.api.recording import Recording, RunProperties, config_hash, settings_of, tags_text
from kernbench.api.result import Run
from kernbench.api.run_trace import Frame
from kernbench.api.running import failed
from kernbench.api.shown import Shows
from kernbench.api.stores import Store
from kernbench.api.summary import busiest, busiest_by_class
from kernbench.api.topologies import Components, Topology, kept_machine
from kernbench.engine.run_options import Progress, RunOptions
from kernbench.errors import DeadlockError, InvariantError, UsageError
from kernbench.support.pgraph import PropertyGraph
from kernbench.support.user_modules import noted

if TYPE_CHECKING:
    from kernbench.draw.content import Flat
    from kernbench.engine.core.instrument import Instrument
    from kernbench.workloads.probes.traffic_flow import Flow
    from kernbench.workloads.probes.traffic_runner import TrafficOutcome

BENCH = "traffic"
"""The bench that a kept run of traffic names."""
PATTERN = "pattern:"
_FLOW = ("name", "src", "dst", "op", "bytes", "offset", "count", "start_ns", "end_ns", "bandwidth_gbs",
         "wait_ns", "peak_path_gbs", "peak_fair_gbs")  # fmt: skip

Flows = str | os.PathLike[str] | Iterable[object]
"""A file of flows, ``pattern:NAME``, or flows: mappings with the keys of a file's entry, or ``Flow``."""


class TrafficRun(Shows, Run):
    """A run of plain traffic. Times in ns, bandwidths in GB/s; see ``docs/explanation/model.md`` on peaks."""

    @property
    def flows(self) -> list[dict[str, Any]]:
        """One row a flow, in the order given.

        Keys ``name src dst op bytes offset count start_ns end_ns bandwidth_gbs wait_ns peak_path_gbs
        peak_fair_gbs``; ``bytes`` is the size of one of ``count`` transfers, ``wait_ns`` NaN without a trace.
        """
        return list(self.properties["flows"])

    @property
    def totals(self) -> dict[str, Any]:
        """``makespan_ns total_bytes bandwidth_gbs peak_path_gbs peak_fair_gbs``.

        The bandwidth is all bytes over the makespan; the peaks are sums over the flows: of the least
        bandwidth on each flow's way, and of the max-min fair shares of links and memories.
        """
        return dict(self.properties["totals"])

    @property
    def makespan_ns(self) -> float:
        """Time from the first transfer's start to the last one's end."""
        return float(self.totals["makespan_ns"])

    @property
    def link_kinds(self) -> list[dict[str, Any]]:
        """Use of the links by kind, the busiest first.

        Keys ``kind links used mean_utilisation max_utilisation bytes wait_ns``: how many such links the
        topology has and how many carried anything; the mean is over all of them. Utilisation is the time
        in which a link moved data as a share of the makespan; ``wait_ns`` is NaN without a trace.
        """
        return list(self.properties["link_kinds"])

    shown_by = "traffic:content"

    def flat(self) -> Flat:
        """Its flows, as CSV shows them."""
        return _FLOW, [[flow[name] for name in _FLOW] for flow in self.flows]

    def as_dict(self) -> dict[str, Any]:
        """The same as :meth:`summary`."""
        return self.summary()

    def busiest(self, top: int = 10) -> list[dict[str, Any]]:
        """The ``top`` parts by utilisation, links and all else; shares are of the makespan.

        Keys ``resource kind utilisation occupancy busy_ns wait_ns bytes transactions``.
        """
        return busiest(self.known_use(ChosenWindow()), top)

    def known_use(self, window: ChosenWindow) -> Frame:
        """:meth:`use`; that of the makespan without a trace too, since nothing is busy outside of it."""
        if self.traced or window != ChosenWindow():
            return self.use(window)
        busy, ns = self.used["busy_ns"], self.makespan_ns
        return {**self.used, "utilisation": busy / ns if ns > 0.0 else busy * 0.0}

    def summary(
        self,
        top: int = 10,
        launch: Chosen = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> dict[str, Any]:
        """:attr:`info`, :attr:`totals`, ``flows``, ``link_kinds`` and the ``top`` busiest parts.

        Shares of parts are of the window's length, by default of the makespan.
        """
        used = self.known_use(ChosenWindow.of(launch, from_ns, to_ns))
        return {
            **self.info,
            **self.totals,
            "flows": self.flows,
            "link_kinds": self.link_kinds,
            "busiest": busiest(used, top),
            **busiest_by_class(used, top),
        }


def traffic(
    flows: Flows,
    topology: Topology = None,
    *,
    params: Mapping[str, object] | None = None,
    store: Store = None,
    trace: bool = True,
    tags: Sequence[str] = (),
    progress: Progress | None = None,
    components: Components = None,
    topo: Mapping[str, object] | None = None,
    check: bool | None = None,
    detail: str = "full",
    instruments: Sequence[Instrument | str] = (),
    **more_params: object,
) -> TrafficRun:
    """Run flows together and keep the trace as a run of ``traffic``.

    All arguments but these are as for :func:`kernbench.run`.

    Args:
        flows: A file (YAML, JSON or CSV; JSON may be a trace for tt-npe), ``pattern:NAME`` (see
            :func:`traffic_patterns`), or a list of mappings with the keys ``src dst bytes`` and, where the
            default does not fit, ``op offset start_ns count period_ns name``.
        params: A pattern's parameters, which may also be passed as keyword arguments.

    Raises:
        ConfigError: A flow is wrong; it says where and what was expected. Where there is no flow at all it
            begins with ``NO_REQUESTS``.
    """
    from kernbench.engine.machine.kept import give_back
    from kernbench.workloads.probes.traffic_runner import run_traffic

    graph, classes = kept_machine(topology, topo, components)
    wanted, settings = _plan(flows, graph, {**(params or {}), **more_params})
    tagged = tags_text(tags)
    options = RunOptions(trace=trace, detail=detail, instruments=instruments)
    recording = Recording(store, options)
    try:
        with noted() as code:
            outcome = run_traffic(
                graph,
                wanted,
                instruments=recording.instruments,
                progress=progress,
                components=classes,
                traced=options.recorded,
                check=check,
            )
    except (DeadlockError, InvariantError) as error:
        raise failed(error, kept=recording.discarded) from error
    recording.stop_clock()
    properties = RunProperties(
        bench=BENCH,
        status="ok",
        sim_ns=outcome.sim_ns,
        verified="not asked",
        params=json.dumps(settings, sort_keys=True),
        config_hash=traffic_hash(graph, settings, classes),
        again=settings_of(graph, code, bench=BENCH, device="all", components=classes),
        seed=settings.get("seed", -1),
        tags=tagged,
        extra={
            "flows": outcome.rows(),
            "totals": outcome.totals(),
            "link_kinds": _link_kinds(outcome),
        },
    )
    run = recording.finish(TrafficRun, properties, graph, outcome.machine, outcome.log)
    if not instruments:
        give_back(outcome.machine)
    recording.check_instruments(run)
    return run


def traffic_hash_of(flows: Flows, graph: PropertyGraph, components: Mapping[str, str] | None = None) -> str:
    """The configuration's hash of a run of these flows that has yet to be made."""
    return traffic_hash(graph, _plan(flows, graph, {})[1], components)


def traffic_hash(
    graph: PropertyGraph, settings: Mapping[str, Any], components: Mapping[str, str] | None
) -> str:
    """The configuration's hash: over version, topology, flows and components."""
    return config_hash(str(graph.properties["id"]), components, BENCH, params=settings)


def traffic_patterns() -> list[dict[str, Any]]:
    """The built-in patterns: ``name formula params``.

    Each parameter has ``name type default help env choices minimum``.
    """
    from kernbench.workloads.benches.params import described
    from kernbench.workloads.probes.traffic_patterns import patterns

    return [described(pattern, "formula") for pattern in patterns()]


def _plan(
    flows: Flows, graph: PropertyGraph, given: Mapping[str, object]
) -> tuple[list[Flow], dict[str, Any]]:
    """The flows meant, and what a kept run calls its parameters."""
    from kernbench.workloads.probes.traffic_file import read_flows
    from kernbench.workloads.probes.traffic_flow import Flow, make_flows
    from kernbench.workloads.probes.traffic_patterns import find_pattern, pattern_flows, resolve_values

    if isinstance(flows, str) and flows.startswith(PATTERN):
        pattern = find_pattern(flows.removeprefix(PATTERN))
        values = resolve_values(pattern, given)
        return pattern_flows(graph, pattern, values), {"pattern": pattern.name, **values}
    if given:
        raise UsageError(f"'{next(iter(given))}' cannot be set: only patterns have parameters")
    if isinstance(flows, str | os.PathLike):
        wanted = read_flows(os.fspath(flows))
    else:
        entries = (flow.entry() if isinstance(flow, Flow) else flow for flow in flows)
        wanted = make_flows((entry, _nth(number)) for number, entry in enumerate(entries, 1))
    return wanted, {"flows": [flow.entry() for flow in wanted]}


def _nth(number: int) -> Any:
    return lambda key: f"flow {number}: {key}" if key else f"flow {number}"


def _link_kinds(outcome: TrafficOutcome) -> list[dict[str, Any]]:
    links = outcome.machine.links.values()
    total = Counter(link.kind for link in links)
    rows = []
    for kind, count in total.items():
        carried = [link for link in links if link.kind == kind and link.transactions]
        ns = outcome.makespan_ns  # 0 where all is free
        shares = [link.busy_ns / ns if ns > 0.0 else 0.0 for link in carried]
        rows.append(
            {
                "kind": kind,
                "links": count,
                "used": len(carried),
                "mean_utilisation": fsum(shares) / count,
                "max_utilisation": max(shares, default=0.0),
                "bytes": sum(link.bytes for link in carried),
                "wait_ns": fsum(link.wait_ns for link in carried),
            }
        )
    return sorted(rows, key=lambda row: (-row["max_utilisation"], row["kind"]))
