"""The time of one step of a model on a machine: simulated once, then known."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kernbench.analysis.windows.estimate_bounds import share_and_bar
from kernbench.api.kept_figures import KeptFigures
from kernbench.api.running import run
from kernbench.api.stores import Store, borrowed, folder_of
from kernbench.api.topologies import Topology, kept_machine
from kernbench.errors import UsageError
from kernbench.workloads.models.roof import Peaks, Roof

if TYPE_CHECKING:
    from kernbench.engine.run_options import Progress
    from kernbench.host import Context
    from kernbench.support.pgraph import PropertyGraph
    from kernbench.workloads.models.config import Model

Phase = Literal["decode", "prefill"]
FILE = "steps.jsonl"
"""The name in the store's folder of the file of steps that were simulated before."""
TAG = "model"
"""The tag of runs that are kept of a layer."""
_FEW = 0.02
"""Of a path: below it, deeper queues would not be seen."""
PART_OF = {"keys": "attention", "attend": "attention", "combine": "attention", "gate-up": "gate, up",
           "silu": "gate, up", "o-in": "o", "down-in": "down", "add": "norm, add"}  # fmt: skip
"""Kernels that are a part of a layer together with others."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step of a model on a machine: a token of each of ``batch`` sequences, or a prompt.

    Times are ns, energy is of all packages, ``memory`` has the bytes of the fullest package: ``weights``,
    ``cache``, ``activations`` and ``free``.
    """

    model: str
    machine: str
    packages: int
    phase: str
    batch: int
    context: int
    """Keys of each sequence in decode, the new one among them; tokens of the prompt in prefill."""
    ns: float
    """From the submission of the first launch to the end of the last, of all layers."""
    layers: int
    layers_simulated: int
    estimated: float
    """Share of ``ns`` that was accounted for by layers like those that were simulated."""
    bar: float
    """By what share of itself ``ns`` may differ from a run of every layer and package."""
    parts: Mapping[str, float]
    """Share of the simulated layers' time by part of a layer."""
    roof_ns: float
    """The least time by three numbers of a package: see :class:`kernbench.workloads.models.roof.Roof`."""
    bound_by: str
    """What most of ``roof_ns`` is spent on: ``compute``, ``memory`` or ``links``."""
    memory: Mapping[str, float]
    energy_pj: float | None = None
    """Energy of all layers' launches; None where it was not asked for."""
    causes: Mapping[str, float] | None = None
    """Share of the critical path of a layer by cause; None as with energy."""
    credits: float | None = None
    """Share of it that waits for credits of queues, as in all-reduces."""
    run_id: str = ""
    """The kept run of one layer that energy and causes are of."""
    notes: Sequence[str] = ()
    """What is left out or stands for something else."""

    @property
    def exact(self) -> bool:
        """Whether every layer and every package was simulated."""
        return self.bar == 0.0

    @property
    def tokens(self) -> int:
        """Tokens that pass the layers."""
        return self.batch if self.phase == "decode" else self.context

    @property
    def tokens_per_s(self) -> float:
        """Tokens a second, of all sequences together."""
        return self.tokens * 1e9 / self.ns

    @property
    def of_roof(self) -> float:
        """How near the step comes to its least time."""
        return self.roof_ns / self.ns

    def as_dict(self) -> dict[str, Any]:
        """All of it, with ``exact tokens_per_s of_roof``."""
        more = {name: getattr(self, name) for name in ("exact", "tokens_per_s", "of_roof")}
        return {**asdict(self), **more}


def step(
    model: str,
    machine: Topology = None,
    phase: Phase = "decode",
    batch: int = 1,
    context: int = 1024,
    *,
    topo: Mapping[str, object] | None = None,
    device: str = "all",
    kernels: str = "own",
    weights: str = "",
    cache: str = "f16",
    capacity: str = "model",
    energy: bool = False,
    exact: bool = False,
    store: Store = None,
    progress: Progress | None = None,
) -> StepResult:
    """The time of one step, as ``llama-decoder`` takes it with all layers resident.

    A step that the store's folder knows, of this version of the simulator and a machine of this content, is
    not simulated again. Embedding and the product with the vocabulary are left out.

    Args:
        model: A name, a ``config.json``, or a folder with one.
        machine: A topology, as for :func:`kernbench.run`.
        phase: ``decode``, a token of each of ``batch`` sequences, or ``prefill``, the prompt of one.
        batch: Sequences.
        context: Keys of each sequence, or tokens of the prompt.
        topo: Changes of the topology's keys.
        device: ``"all"`` packages, which share the model, or ``"sip:N"``.
        kernels: ``own`` or ``triton``, as the bench's parameter, and so the next two.
        weights: ``f16``, ``fp8``, ``int8`` or ``int4``; ``""``: as the model's file says.
        cache: ``f16`` or ``fp8``.
        capacity: ``model``: all layers have to fit the memory; ``ignore``: nothing has to.
        energy: Also energy and causes, of a traced layer, which is kept as a run.
        exact: Simulate every layer and every package.
        store: An open store, a URL, or None for the default one.
        progress: As for :func:`kernbench.run`.

    Raises:
        UsageError: The model does not fit, the packages cannot share it, or its work is not simulated.
        ConfigError: The topology or the file of the model is wrong.
    """
    from kernbench.workloads.benches import resolve
    from kernbench.workloads.benches.llama_decoder import named, sizes_of

    if phase == "prefill" and batch != 1:
        raise UsageError(f"a prefill is of one sequence; batch is {batch}")
    which = {**named(model), "weights": weights, "cache": cache}
    sizes = sizes_of(**which)
    of_phase = {"batch": batch, "kv": context} if phase == "decode" else {"tokens": context}
    asked = {
        "phase": phase,
        **of_phase,
        "layers": 0,
        "resident": True,
        "kernels": kernels,
        "capacity": capacity,
    }
    params = resolve("llama-decoder").resolve_params({**which, **asked})
    graph, classes = kept_machine(machine, topo)
    key = (str(graph.properties["id"]), sizes, asked, device, exact)
    kept = _kept(_file(store))
    told = None if classes else kept.find(*key)
    if told is None:
        told = _simulated(sizes, params, graph, device, exact, progress)
        if not classes:
            kept.keep(*key, figure=told, model=sizes.name, machine=str(graph.properties["name"]))
    result = StepResult(**told)
    if not energy:
        return result
    traced = _traced(kept, key, params, graph, device, sizes, store)
    if traced["credits"] > _FEW:
        shallow = (
            f"queues between PEs are shallow: {traced['credits']:.0%} of a layer's critical path waits for "
            "credits; give pe_ipcq slots and slot_bytes of a link's bandwidth x round trip"
        )
        result = replace(result, notes=[*result.notes, shallow])
    return replace(result, **traced)


def _simulated(
    sizes: Model,
    params: Mapping[str, Any],
    graph: PropertyGraph,
    device: str,
    exact: bool,
    progress: Progress | None,
) -> dict[str, Any]:
    """The fields of a :class:`StepResult` that no trace is needed for."""
    from kernbench.workloads.benches import llama_decoder as bench

    seen: dict[str, Any] = {}

    def decoder(torch: Context) -> None:
        plan, sips = bench.Plan.of(torch, sizes), torch.ahbm.sips
        need, fit = plan.fit(sizes.layers)  # before tensors take room
        bench.run(torch)
        parts = {name: getattr(need, name).total() for name in ("weights", "cache", "activations")}
        roof = Roof.of(Peaks.of(torch.graph, sips), sizes, plan.phase, plan.tokens, plan.kv, len(sips))
        free = fit.package_free - need.total.total()
        too_large = ["it does not fit the memory, which was ignored"] if free < 0 else []
        seen.update(
            packages=len(sips),
            memory={**parts, "free": free},
            roof_ns=roof.ns,
            bound_by=roof.bound,
            notes=[*plan.notes, *too_large],
        )

    with redirect_stderr(io.StringIO()):  # what the bench says of it the result has
        done = run(decoder, graph, params=params, device=device, trace=False, exact=exact, progress=progress)
    estimated, bar = share_and_bar(done.properties)
    periods = [one["simulated"] for one in done.properties.get("repeats", ()) if one["kind"] == "repeat"]
    return {
        "model": sizes.name,
        "machine": done.topology,
        "phase": params["phase"],
        "batch": params["batch"] if params["phase"] == "decode" else 1,
        "context": params["kv" if params["phase"] == "decode" else "tokens"],
        "ns": done.latency_ns,
        "layers": sizes.layers,
        "layers_simulated": min([sizes.layers, *periods]),
        "estimated": estimated,
        "bar": bar,
        "parts": _shares(ns_by_part(done.launches)),
        **seen,
    }


def _traced(
    kept: KeptFigures,
    key: tuple[object, ...],
    params: Mapping[str, Any],
    graph: PropertyGraph,
    device: str,
    sizes: Model,
    store: Store,
) -> dict[str, Any]:
    """The fields of a :class:`StepResult` that a trace of one layer gives; that run is kept."""
    found: dict[str, Any] | None = kept.find("layer", *key)
    with borrowed(store) as opened:
        if found is not None and any(one["id"] == found["run_id"] for one in opened.runs()):
            return found
        layer = {**params, "layers": 1}
        with redirect_stderr(io.StringIO()):
            one = run("llama-decoder", graph, params=layer, device=device, store=opened, tags=[TAG])
        path, kinds = one.critical_path("all"), one.table("Transaction").column("kind")
        of_credits = (
            step.t_end - step.t_start
            for step in path.steps
            if step.transaction >= 0 and kinds[step.transaction].as_py() == "ipcq_credit"
        )
        found = {
            "credits": sum(of_credits) / path.ns,
            "energy_pj": one.energy()["launches_pj"] * sizes.layers,
            "causes": _shares(path.by_cause()),
            "run_id": one.id,
        }
        kept.keep("layer", *key, figure=found, model=sizes.name, machine=str(graph.properties["name"]))
        return found


def ns_by_part(launches: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """ns of the first package by part of a layer: until a launch is done, from when the one before it was."""
    spent: dict[str, float] = {}
    last = min(one["t_start"] for one in launches)
    for one in launches:
        if one["rank"] in (None, 0):
            name = "all-reduce" if "/" in one["kernel"] else str(one["kernel"])
            name = PART_OF.get(name, name)
            spent[name] = spent.get(name, 0.0) + max(0.0, one["t_done"] - last)
            last = max(last, one["t_done"])
    return spent


def _shares(spent: Mapping[str, float]) -> dict[str, float]:
    """Shares of the whole, the largest first."""
    whole = sum(spent.values())
    return {name: ns / whole for name, ns in sorted(spent.items(), key=lambda item: -item[1])}


def _file(store: Store) -> Path | None:
    """Where the steps of a store are kept; None where it is not a folder."""
    with borrowed(store) as opened:
        folder = folder_of(opened.url)
    return None if folder is None else folder / FILE


@cache
def _kept(file: Path | None) -> KeptFigures:
    return KeptFigures(file)
