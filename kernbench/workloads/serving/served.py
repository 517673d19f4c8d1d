"""What a service did: times of every request, and of every step what was in use."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan

from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.load import Load
from kernbench.workloads.serving.request import Request


def _numbers() -> array[float]:
    return array("d")


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a machine: end and length, ns; during each, requests in batch and queue, blocks used."""

    end_ns: array[float] = field(default_factory=_numbers)
    ns: array[float] = field(default_factory=_numbers)
    batch: array[float] = field(default_factory=_numbers)
    blocks: array[float] = field(default_factory=_numbers)
    queue: array[float] = field(default_factory=_numbers)

    def add(self, end_ns: float, ns: float, batch: int, blocks: int, queue: int) -> None:
        """Note a step."""
        self.end_ns.append(end_ns)
        self.ns.append(ns)
        self.batch.append(batch)
        self.blocks.append(blocks)
        self.queue.append(queue)


@dataclass(slots=True)
class Served:
    """When each request, by its number, was admitted, had its first token and was done, ns; NaN if refused.

    ``refused``: requests that the whole cache cannot hold. ``preemptions``: how often a request was
    preempted, if it was. ``waits``: ns that a request waited in the queue for each of ``CAUSES``, if
    it did. ``steps``: one entry a machine; ``limits`` are those of one machine.
    """

    load: Load
    limits: Limits
    admit_ns: array[float]
    first_ns: array[float]
    done_ns: array[float]
    refused: list[int] = field(default_factory=list)
    preemptions: dict[int, int] = field(default_factory=dict)
    waits: dict[int, tuple[float, float, float, float]] = field(default_factory=dict)
    prompt_tokens: int = 0
    """Tokens that were prefilled, those read again after a preemption too."""
    output_tokens: int = 0
    steps: list[Steps] = field(default_factory=list)

    def admit(self, request: Request, now: float, waited: Sequence[float]) -> None:
        """Note that a request leaves the queue; only the first time counts."""
        if not isnan(self.admit_ns[request.number]):
            return
        self.admit_ns[request.number] = now
        if wait := now - request.arrive_ns:
            cache, batch, tokens = (a - b for a, b in zip(waited, request.queued, strict=True))
            self.waits[request.number] = (cache, batch, tokens, max(0.0, wait - cache - batch - tokens))

    def first_token(self, request: Request, now: float) -> None:
        """Note a token that ends a prompt; only the first time counts."""
        if isnan(self.first_ns[request.number]):
            self.first_ns[request.number] = now


def empty(load: Load, limits: Limits) -> Served:
    """The record of a service before its first step."""
    admit, first, done = (array("d", [float("nan")]) * len(load.arrive_ns) for _ in range(3))
    return Served(load, limits, admit, first, done)
