"""A request on its way through a service."""

from __future__ import annotations

CAUSES = ("cache", "batch", "tokens", "step")
"""What keeps requests in the queue: a full cache; a full batch; a step whose tokens are used up; the step
that was under way when they came."""
CACHE, BATCH, TOKENS = range(3)
"""Indices of the first three."""


class Request:
    """One request: ``prompt`` tokens come in, ``output`` tokens go out.

    ``number`` counts requests in order of arrival, at ``arrive_ns``.
    """

    __slots__ = (
        "arrive_ns",
        "context",
        "done",
        "ends",
        "made",
        "number",
        "output",
        "place",
        "prompt",
        "queued",
        "since",
        "to_read",
    )

    def __init__(self, number: int, arrive_ns: float, prompt: int, output: int) -> None:
        self.number = number
        self.arrive_ns = arrive_ns
        self.prompt = prompt
        self.output = output
        self.place: tuple[float, int] = (0.0, number)
        """Its policy's rank, then its number: the least is first."""
        self.queued: tuple[float, ...] = ()
        """How long the service had waited for each of the causes when it came into the queue, ns."""
        self.to_read = prompt
        """Tokens to prefill: the prompt, after a preemption the answer so far as well."""
        self.done = 0
        """Tokens of ``to_read`` that are prefilled."""
        self.made = 0
        """Tokens of the answer when it started to decode."""
        self.since = 0
        """Decode steps of the service until then."""
        self.context = 0
        """Its tokens in the cache then."""
        self.ends = -1
        """The decode step that makes its last token; -1 while it does not decode."""
