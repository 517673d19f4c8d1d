"""What a machine makes of a model: tokens a second by batch and context, the first token, memory, what if."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from kernbench.analysis.routes.routing import kept_topology
from kernbench.analysis.use.roofline import BETWEEN, WITHIN_PE
from kernbench.api.models import step_time
from kernbench.api.models.step_time import Phase, StepResult
from kernbench.api.shown import Shows, flat_rows
from kernbench.api.stores import Store, borrowed
from kernbench.api.topologies import Topology, kept_machine
from kernbench.api.what_if_runs import spec_with
from kernbench.draw.content import Flat
from kernbench.draw.progress import PieceProgress, Standing, duration
from kernbench.engine.run_options import Work, WorkProgress
from kernbench.errors import KernBenchError, LimitError, UsageError
from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.support.bounds import check_number

if TYPE_CHECKING:
    from kernbench.support.pgraph import PropertyGraph

TWICE = {
    "memory": "HBM and the links within chiplets",
    "links": "the links between chiplets and packages",
    "compute": "products and vector arithmetic",
}
"""What of a machine is twice as fast in each what-if: bandwidths and rates; delays stay."""


@dataclass(frozen=True, slots=True)
class ModelAnswer(Shows):
    """What :func:`model` found."""

    shown_by: ClassVar[str] = "model:content"
    model: str
    machines: Sequence[str]
    steps: list[dict[str, Any]] = field(default_factory=list)
    """A row a step: a result's fields, and ``change`` of its time from the first machine's."""
    twice: list[dict[str, Any]] = field(default_factory=list)
    """A row a step of the first context and prompt: ``machine phase batch context ns``, and by name of
    :data:`TWICE` the ns with that."""
    refused: list[dict[str, Any]] = field(default_factory=list)
    """Steps that cannot be: ``machine phase batch context problem``."""

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON shows it."""
        return asdict(self)

    def flat(self) -> Flat:
        """One row per step, for CSV, with a column for each use of memory and without shares of time."""
        left_out = ("parts", "causes", "memory", "notes")
        return flat_rows(
            [
                {key: value for key, value in row.items() if key not in left_out}
                | {f"{name}_bytes": nbytes for name, nbytes in row["memory"].items()}
                for row in self.steps
            ]
        )


def model(
    name: str,
    topology: Topology | Sequence[Topology] = None,
    batch: Sequence[int] = (1, 16, 64, 256),
    context: Sequence[int] = (1024,),
    prompt: Sequence[int] = (1024,),
    *,
    what_if: bool = False,
    energy: bool = True,
    topo: Mapping[str, object] | None = None,
    device: str = "all",
    kernels: str = "own",
    weights: str = "",
    cache: str = "f16",
    ignore_capacity: bool = False,
    exact: bool = False,
    store: Store = None,
    progress: PieceProgress | None = None,
) -> ModelAnswer:
    """Time the steps of a model on one machine or several: each batch with each context, and each prompt.

    Every time is simulated (see :func:`kernbench.api.models.step_time.step`), once for each content of model
    and machine.

    Args:
        name: A model's name, a ``config.json`` of Hugging Face, or a folder with one.
        topology: A machine as for :func:`kernbench.run`, or several that are compared with the first.
        batch: Sequences in decode.
        context: Keys of each.
        prompt: Tokens of one sequence's prefill.
        what_if: Simulate each step of the first context and prompt again with twice the memory's bandwidth,
            twice the links' and twice the arithmetic: :data:`TWICE`.
        energy: Also energy and the causes of time, of a traced layer of each step.
        topo: Changes of the topologies' keys.
        device: ``"all"`` packages, which share the model, or ``"sip:N"``.
        kernels: ``own`` or ``triton``, as the parameter of ``llama-decoder``, and so the next two.
        weights: ``f16``, ``fp8``, ``int8`` or ``int4``; ``""``: as the model's file says.
        cache: ``f16`` or ``fp8``.
        ignore_capacity: Answer also for what does not fit the memory.
        exact: Simulate every layer and every package.
        store: Where steps are kept: an open store, a URL, or None for the default one.
        progress: Called with how far it is.

    Raises:
        UsageError: No step can be, or a number is out of range.
        ConfigError: A topology or the file of the model is wrong.
    """
    for what, numbers in (("batch", batch), ("context", context), ("prompt", prompt)):
        for number in numbers:
            check_number(what, number, 1, 1 << 24)
    chosen: Sequence[Any] = topology if isinstance(topology, list | tuple) else [topology]
    machines = [kept_machine(one, topo)[0] for one in chosen]
    sizes: list[tuple[Phase, int, int]] = [("decode", b, c) for c in context for b in batch]
    sizes += [("prefill", 1, tokens) for tokens in prompt]
    if not sizes:
        raise UsageError("nothing is asked: give batch and context, or prompt")
    count = range(len(machines))
    asked = [(number, "", size) for number in count for size in sizes]
    if what_if:
        first = [size for size in sizes if size[2] == (context if size[0] == "decode" else prompt)[0]]
        asked += [(number, twice, size) for number in count for twice in TWICE for size in first]
    shown = _Progress(progress, len(asked))
    answer = ModelAnswer(name, [str(graph.properties["name"]) for graph in machines])
    with borrowed(store) as opened:
        found: dict[tuple[int, str, Phase, int, int], StepResult] = {}
        changed: dict[tuple[int, str], PropertyGraph] = {}
        for number, twice, step in asked:
            if (number, twice) not in changed:
                changed[number, twice] = faster(machines[number], twice) if twice else machines[number]
            try:
                found[number, twice, *step] = step_time.step(
                    name,
                    changed[number, twice],
                    *step,
                    device=device,
                    kernels=kernels,
                    weights=weights,
                    cache=cache,
                    capacity="ignore" if ignore_capacity else "model",
                    energy=energy and not twice,
                    exact=exact,
                    store=opened,
                    progress=shown.of_step(step),
                )
            except LimitError:
                raise
            except KernBenchError as problem:  # of this step; others may be possible
                if not twice:
                    named = _named(answer.machines[number], step)
                    answer.refused.append({**named, "problem": str(problem)})
            shown.done += 1
    if not found:
        raise UsageError(answer.refused[0]["problem"])
    for (number, twice, phase, sequences, length), result in found.items():
        size = phase, sequences, length
        if not twice:
            base = found.get((0, "", *size))
            change = result.ns / base.ns - 1 if number and base is not None else None
            answer.steps.append({**result.as_dict(), "change": change})
        again = {what: found.get((number, what, *size)) for what in TWICE if not twice}
        if all(again.values()) and again:
            times = {what: one.ns for what, one in again.items() if one is not None}
            named = _named(answer.machines[number], size)
            answer.twice.append({**named, "ns": result.ns, **times})
    return answer


def _named(machine: str, size: tuple[Phase, int, int]) -> dict[str, Any]:
    """The columns that say which step a row is of."""
    return {"machine": machine, **dict(zip(("phase", "batch", "context"), size, strict=True))}


def faster(graph: PropertyGraph, what: str) -> PropertyGraph:
    """A machine with one of :data:`TWICE` twice as fast, or the same one where it has no such part."""
    parts = {str(node.properties["kind"]) for node in graph.nodes()}
    wires = {str(link.properties["kind"]) for link in graph.edges("LINK")}
    kinds: set[str] = parts & {"pe_gemm", "pe_math"}
    if what == "links":
        kinds = {f"{kind}.width" for kind in wires & BETWEEN}
    elif what == "memory":
        kinds = {kind for kind in parts if kind in COMPONENT_KINDS and COMPONENT_KINDS[kind].roof == "hbm"}
        kinds |= {f"{kind}.width" for kind in wires - BETWEEN - WITHIN_PE}
    if not kinds:
        return graph
    where = " + ".join(f"kind:{kind}" for kind in sorted(kinds))
    changed = kept_topology(spec_with(str(graph.properties["spec"]), {where: 2.0}))
    changed.notes.update(graph.notes)
    return changed


@dataclass(slots=True)
class _Progress:
    """How many steps are done, and how far the one under way is."""

    tell: PieceProgress | None
    total: int
    done: int = 0
    began: float = field(default_factory=time.monotonic)

    def of_step(self, size: Sequence[object]) -> WorkProgress:
        """The progress of a step's run."""
        phase, batch, length = size
        of = f"prefill of {length}" if phase == "prefill" else f"decode of {batch} x {length}"
        return WorkProgress(partial(self._show, of))

    def _show(self, size: str, _ns: float, _events: int, work: Work) -> None:
        if self.tell is None:
            return
        share = (self.done + (work.share or 0.0)) / self.total
        spent = time.monotonic() - self.began
        left = f", about {duration(spent * (1 / share - 1))} left" if share else ""
        layer = f": {work.text}" if work.text else ""
        text = f"{self.done} of {self.total} steps, {size}{layer}{left}"
        self.tell(Standing(self.done, self.total, text))
