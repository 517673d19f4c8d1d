"""Simulates a service: steps on the machine, requests beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kernbench.api.serving.cache_room import cache_room
from kernbench.api.serving.rates import read_rates
from kernbench.api.serving.result import Serving, ServingPoint
from kernbench.api.stores import Store
from kernbench.api.topologies import Topology, kept_machine
from kernbench.draw.progress import PieceProgress, Standing
from kernbench.errors import ConfigError, KernBenchError, UsageError
from kernbench.support.bounds import check_number
from kernbench.support.user_code import raised, raised_at
from kernbench.workloads.serving.lengths import Lengths
from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.load import Load, poisson
from kernbench.workloads.serving.measures import Target
from kernbench.workloads.serving.policies import policy_of
from kernbench.workloads.serving.replicas import serve_on
from kernbench.workloads.serving.served import Served
from kernbench.workloads.serving.step_table import Phase, StepTable
from kernbench.workloads.serving.trace_file import read_trace

KEPT_SHARE = 0.99
"""Share of the requests that keep the target up to the knee."""
_NARROW = 1.05
"""The knee is known to this factor."""
NOTES = (
    "A step with prompts and decodes takes the time of both; several prompts in a step that of one as "
    "long as all, or of one after the other if that is less. Sequences of a batch count as equally long. "
    "Embedding, vocabulary, sampling and the host take no time.",
)


def serve_sim(
    model: str,
    topology: Topology = None,
    *,
    rate: str | float | None = None,
    prompt: str | int = "lognormal(512,0.8)",
    output: str | int | None = None,
    requests: int = 1000,
    seed: int = 1,
    policy: str = "first_come",
    replicas: int = 1,
    batch: int = 64,
    step_tokens: int = 512,
    block_tokens: int = 16,
    cache_tokens: int | None = None,
    ttft_ns: float | None = None,
    tpot_ns: float | None = None,
    device: str = "all",
    weights: str = "",
    cache: str = "f16",
    topo: Mapping[str, object] | None = None,
    exact: bool = False,
    store: Store = None,
    progress: PieceProgress | None = None,
) -> Serving:
    """Simulate a service of a model: requests come, wait, are batched, prefilled, decoded, and leave.

    Times of steps come from a table: steps of some sizes are simulated as :func:`kernbench.run` does when
    they are first needed, and kept in the store; between them times are interpolated.

    Args:
        model: A name, a ``config.json``, or a folder with one.
        topology: A topology, as for :func:`kernbench.run`.
        rate: Requests a second, or as text ``4/s``, ``90/min``, a list, or ``1/s:32/s``: 1, 2, 4 ... 32. By
            default ``1/s``, or as a trace has it; of a trace, the times between its requests are scaled.
        prompt: Tokens of prompts, ``lognormal(mean,sigma)``, ``uniform(a,b)`` or ``fixed(n)``; or a trace, a
            CSV file, see :func:`kernbench.workloads.serving.trace_file.read_trace`.
        output: Tokens of answers, as prompts; by default ``lognormal(128,0.8)``.
        requests: How many; a trace has its own.
        seed: Of the arrivals, a Poisson process, and of the lengths.
        policy: ``first_come``, ``shortest``, ``prefill_first``, ``decode_first``, or ``file.py:Class``.
        replicas: Machines, which take turns with the requests. Limits and cache are those of one.
        batch: Requests that are worked on at a time, at most.
        step_tokens: Tokens of a step, at most: longer prompts are read in chunks.
        block_tokens: Tokens of a block of the cache.
        cache_tokens: Tokens of the cache; by default what weights and activations leave of the memory.
        ttft_ns: Target for the time to the first token, ns.
        tpot_ns: Target for the mean time a token after the first, ns. Goodput and the knee count requests
            that keep both targets.
        device: ``"all"`` packages, which share the model, or ``"sip:N"``.
        weights: ``f16``, ``fp8``, ``int8`` or ``int4``; ``""``: as the model's file says.
        cache: What keys and values are in memory, ``f16`` or ``fp8``.
        topo: Changes of the topology's keys.
        exact: Simulate every layer and package of a step.
        store: Where steps are kept, as for :func:`kernbench.run`.
        progress: Called with the step that is simulated, or the rate that is served.

    Raises:
        UsageError: An argument is wrong, the model does not fit, or no request fits the cache.
        ConfigError: A file is wrong; it names file, line and column.
    """
    chosen = policy_of(policy)
    check_number("replicas", replicas, 1, 100_000)
    target = Target(*(_limit(*one) for one in (("ttft_ns", ttft_ns), ("tpot_ns", tpot_ns))))
    load_at, rates, asked = _load(rate, prompt, output, requests, seed)
    Limits(1, block_tokens, batch, step_tokens)  # before anything is simulated
    how = {"topo": topo, "device": device, "weights": weights, "cache": cache, "exact": exact, "store": store}
    steps = _Steps(model, topology, how, progress, batch, step_tokens)
    tokens = cache_tokens if cache_tokens is not None else steps.room(batch, step_tokens)
    check_number("cache_tokens", tokens, 1, 1e12)
    if tokens < block_tokens:
        raise UsageError(f"the cache has room for {tokens} tokens, less than a block of {block_tokens}")
    limits = Limits(tokens // block_tokens, block_tokens, batch, step_tokens)

    def point(rate: float | None, before: int = len(rates)) -> ServingPoint:
        load = load_at(rate)
        _refuse_all(load, limits)
        if progress is not None:
            text = f"{before} of {len(rates)} rates served, the next {load.rate:.4g}/s"
            progress(Standing(before, len(rates), text))
        try:
            served = serve_on(replicas, load, steps.table, limits, chosen)
        except Exception as error:
            if isinstance(error, KernBenchError) or not (line := raised_at(error, only_users=True)):
                raise
            raise ConfigError(f"policy '{policy}' {raised(error)} ({line})") from error
        return ServingPoint.of(served, target, rate)

    points = [point(one, before) for before, one in enumerate(rates)]
    knee = _knee(points, point) if target.given and len(points) > 1 else None
    notes = [*NOTES, *_refused(points[0].served)]
    return Serving(
        steps.name, steps.machine, steps.packages, replicas, policy, asked, limits, target,
        sorted(points, key=lambda one: one.rate), knee, steps.table.bars(), steps.rows(), notes,
    )  # fmt: skip


class _Steps:
    """The table of a model's steps on a machine."""

    def __init__(
        self,
        model: str,
        topology: Topology,
        how: dict[str, Any],
        progress: PieceProgress | None,
        batch: int,
        step_tokens: int,
    ) -> None:
        from kernbench.workloads.benches.llama_decoder import named, sizes_of

        self.which = {**named(model), "weights": how["weights"], "cache": how["cache"]}
        self.sizes = sizes_of(**self.which)
        self.graph, _ = kept_machine(topology, how["topo"])
        self.model, self.topology, self.how, self.progress = model, topology, how, progress
        self.name, self.machine = self.sizes.name, str(self.graph.properties["name"])
        self.packages = 1 if how["device"] != "all" else int(self.graph.properties["sips"])
        self.table = StepTable(self.simulate, batch, step_tokens)

    def simulate(self, phase: Phase, batch: int, tokens: int) -> float:
        from kernbench.api.models.step_time import step

        if self.progress is not None:
            of = f"decode of {batch} x {tokens} keys" if phase == "decode" else f"prefill of {tokens} tokens"
            done = len(self.table.decode) + len(self.table.prefill)
            self.progress(Standing(done, 0, f"{done} of {done + 1} steps simulated so far, the next a {of}"))
        return step(self.model, self.topology, phase, batch, tokens, capacity="ignore", **self.how).ns

    def room(self, batch: int, step_tokens: int) -> int:
        from kernbench.workloads.benches import resolve

        params = resolve("llama-decoder").resolve_params({**self.which, "layers": 0, "resident": True})
        return cache_room(self.sizes, params, self.graph, self.how["device"], batch, step_tokens)

    def rows(self) -> list[dict[str, Any]]:
        decode = [("decode", *at, ns) for at, ns in sorted(self.table.decode.items())]
        prefill = [("prefill", 1, tokens, ns) for tokens, ns in sorted(self.table.prefill.items())]
        return [dict(zip(("phase", "batch", "tokens", "ns"), row, strict=True)) for row in decode + prefill]


def _limit(name: str, value: float | None) -> float:
    if value is None:
        return float("inf")
    check_number(name, value)
    return float(value)


def _load(
    rate: str | float | None, prompt: str | int, output: str | int | None, requests: int, seed: int
) -> tuple[Callable[[float | None], Load], list[float | None], dict[str, str]]:
    """What gives the load at a rate, the rates, and the load in words."""
    rates: list[float | None] = [None] if rate is None else [*read_rates(str(rate))]
    if str(prompt).lower().endswith(".csv"):
        if output is not None:
            raise UsageError(f"the trace {prompt} has the lengths of answers; leave --output out")
        trace = read_trace(str(prompt))
        asked = {"trace": str(prompt), "requests": str(len(trace.prompt))}
        return lambda at: trace if at is None else trace.at_rate(at), rates, asked
    prompts = Lengths.read(str(prompt), "prompt")
    outputs = Lengths.read("lognormal(128,0.8)" if output is None else str(output), "output")
    asked = {
        "prompt": str(prompts),
        "output": str(outputs),
        "requests": str(requests),
        "seed": str(seed),
    }
    return (lambda at: poisson(at or 1.0, requests, prompts, outputs, seed)), rates if rate else [1.0], asked


def _refuse_all(load: Load, limits: Limits) -> None:
    """An error where not one request fits."""
    needed = load.prompt + load.output - 1
    room = limits.blocks * limits.block_tokens
    if int(needed.min()) > room:
        raise UsageError(
            f"no request fits the cache: the shortest needs {int(needed.min())} tokens, and there is "
            f"room for {room}"
        )


def _refused(served: Served) -> list[str]:
    if not served.refused:
        return []
    load, first = served.load, served.refused[0]
    room = served.limits.blocks * served.limits.block_tokens
    return [
        f"{len(served.refused)} of {len(load.prompt)} requests were refused: the cache cannot hold them. The "
        f"first, request {first}, needs {load.prompt[first] + load.output[first] - 1} tokens; there is room "
        f"for {room}."
    ]


def _knee(points: list[ServingPoint], point: Callable[[float], ServingPoint]) -> float | None:
    """The highest rate that keeps the target, between those of a curve; the points looked at are added.

    The curve is looked at from its lowest rate; the last that keeps it where all do.
    """

    def keeps(one: ServingPoint) -> bool:
        return bool(one.totals["within"] >= KEPT_SHARE)

    good = next((at for at, one in enumerate(points) if not keeps(one)), len(points)) - 1
    if good < 0:
        return None
    low = points[good].rate
    if good + 1 == len(points):
        return low
    high = points[good + 1].rate
    while high > low * _NARROW:
        points.append(point((low * high) ** 0.5))
        low, high = (points[-1].rate, high) if keeps(points[-1]) else (low, points[-1].rate)
    return low
