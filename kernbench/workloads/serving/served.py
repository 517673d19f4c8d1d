"""What a service did: times of every request, and of every step what was in use."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.load import Load
from kernbench.workloads.serving.request import Request


def _times() -> array[float]:
    return array("d")


@dataclass(slots=True)
class Served:
    """By the number of a request: when it was admitted, had its first token and was done, ns; NaN if refused.

    ``refused``: numbers of those that the whole cache cannot hold. ``preemptions``: how often, of those that
    were. ``waits``: of those that waited in the queue before they were admitted, the ns for each of
    ``CAUSES``. Of each step: its end, its ns, requests in the batch and blocks of the cache in use while it
    went on, and requests in the queue.
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
    """That were prefilled, those read again among them."""
    output_tokens: int = 0
    step_end_ns: array[float] = field(default_factory=_times)
    step_ns: array[float] = field(default_factory=_times)
    step_batch: array[float] = field(default_factory=_times)
    step_blocks: array[float] = field(default_factory=_times)
    step_queue: array[float] = field(default_factory=_times)

    def add_step(self, end_ns: float, ns: float, batch: int, blocks: int, queue: int) -> None:
        """Note a step."""
        self.step_end_ns.append(end_ns)
        self.step_ns.append(ns)
        self.step_batch.append(batch)
        self.step_blocks.append(blocks)
        self.step_queue.append(queue)

    def admit(self, request: Request, now: float, waited: Sequence[float]) -> None:
        """Note that a request leaves the queue; only the first time counts."""
        if self.admit_ns[request.number] == self.admit_ns[request.number]:
            return
        self.admit_ns[request.number] = now
        if wait := now - request.arrive_ns:
            cache, batch, tokens = (a - b for a, b in zip(waited, request.queued, strict=True))
            self.waits[request.number] = (cache, batch, tokens, max(0.0, wait - cache - batch - tokens))

    def first_token(self, request: Request, now: float) -> None:
        """Note a token that ends a prompt; only the first time counts."""
        if self.first_ns[request.number] != self.first_ns[request.number]:
            self.first_ns[request.number] = now
