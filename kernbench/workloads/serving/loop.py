"""The serving loop: continuous batching with chunked prefill, a paged cache and preemption.

A step costs the same however many requests it decodes: all of them grow by one token in each, so it is known
at the start of decoding in which steps a request takes a new block of the cache, and which is its last.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from math import isnan
from typing import Protocol

from kernbench.errors import ConfigError
from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.load import Load
from kernbench.workloads.serving.policy import Policy
from kernbench.workloads.serving.request import BATCH, CACHE, TOKENS, Request
from kernbench.workloads.serving.served import Served, Steps, empty


class StepTimes(Protocol):
    """How long the parts of a step take, ns."""

    def prefill_ns(self, tokens: int) -> float:
        """Prefill of ``tokens`` tokens from the start of a prompt."""

    def past_ns(self, before: int, tokens: int) -> float:
        """Attention of the next ``tokens`` of a prompt to its ``before`` tokens in the cache."""

    def decode_ns(self, batch: int, keys: int) -> float:
        """Decode of one token for each of ``batch`` sequences, which then have ``keys`` keys in all."""


def serve(load: Load, times: StepTimes, limits: Limits, policy: Policy) -> Served:
    """Serve all requests of ``load``, each to its end; those that the whole cache cannot hold are refused.

    A step takes the time of its chunks of prompts and that of its decodes, one after the other. Chunks in one
    step take the time of one prompt of as many tokens, or of one after the other where that is less, and a
    later chunk of a prompt what attention to the earlier ones adds. A preempted request gives its blocks
    back, and later reads its prompt and the answer so far again.

    Raises:
        ConfigError: The policy serves nobody.
    """
    return _Service(load, times, limits, policy).run()


class _Service:
    def __init__(self, load: Load, times: StepTimes, limits: Limits, policy: Policy) -> None:
        self.times, self.limits, self.policy = times, limits, policy
        self.found = empty(load, limits)
        self.done = Steps()
        self.found.steps.append(self.done)
        self.now = 0.0
        self.coming = zip(load.arrive_ns.tolist(), load.prompt.tolist(), load.output.tolist(), strict=True)
        self.number = -1
        self.waiting: list[tuple[tuple[float, int], Request]] = []
        self.active: dict[int, Request] = {}
        """Requests in the batch, by number."""
        self.reading: list[Request] = []
        """Those in the batch whose prompts are not read to the end, in order of admission."""
        self.decoding = 0
        self.keys = 0
        """Tokens in the cache of those that decode."""
        self.used = 0
        """Blocks of the cache."""
        self.steps = 0
        """Decode steps so far."""
        self.growing = [0] * limits.block_tokens
        """Requests that take a block in decode step ``n``, by the remainder of ``n``."""
        self.ending: defaultdict[int, list[Request]] = defaultdict(list)
        """Requests by the decode step after which they are done."""
        self.waited = [0.0, 0.0, 0.0]
        """How long the first in the queue has waited for each of the causes."""

    def run(self) -> Served:
        following = self._following()
        while True:
            while following is not None and following.arrive_ns <= self.now:
                self._queue(following)
                following = self._following()
            if self.active or self.waiting:
                self._step()
            elif following is None:
                return self.found
            else:
                self.now = following.arrive_ns

    def _following(self) -> Request | None:
        """The next request that can be served at all; the others are refused."""
        for arrive_ns, prompt, output in self.coming:
            self.number += 1
            if self.limits.blocks_of(prompt + output - 1) <= self.limits.blocks:
                return Request(self.number, arrive_ns, prompt, output)
            self.found.refused.append(self.number)
        return None

    def _queue(self, request: Request) -> None:
        rank = float(self.policy.rank(request))
        if isnan(rank):
            raise ConfigError(f"policy {type(self.policy).__name__} ranks request {request.number} as nan")
        request.place = (rank, request.number)
        request.queued = tuple(self.waited)
        heappush(self.waiting, (request.place, request))

    def _step(self) -> None:
        policy, cause = self.policy, -1
        chunks: list[tuple[Request, int]] = []
        crowded = not policy.decodes_pause and self._grow()
        decodes = self.decoding
        if not crowded and (self.reading or self.waiting):
            room = self.limits.step_tokens - (0 if policy.decodes_pause else decodes)
            room = min(room, int(policy.prompt_tokens(room, decodes))) if room > 0 else 0
            cause = self._take_prompts(room, chunks)
        elif self.waiting:
            cause = CACHE
        if policy.decodes_pause:
            if chunks:
                decodes = 0
            else:
                self._grow()
                decodes = self.decoding
        ns = self._prompts_ns(chunks) if chunks else 0.0
        if decodes:
            self.keys += decodes
            self.steps += 1
            ns += self.times.decode_ns(decodes, self.keys)
        elif not chunks:
            raise ConfigError(f"policy {type(policy).__name__} starts no prompt though nothing decodes")
        self.now += ns
        if self.waiting:
            self.waited[cause] += ns
        self.done.add(self.now, ns, len(self.active), self.used, len(self.waiting))
        if decodes and self.steps in self.ending:
            for request in self.ending.pop(self.steps):
                self._stop_decoding(request)
                self._end(request)
        for request, tokens in chunks:
            request.done += tokens
            if request.done == request.to_read:
                self._first_token(request)

    def _grow(self) -> bool:
        """Take the blocks that the next decode step needs; whether some request had to give up its own."""
        crowded = False
        place = self.steps % self.limits.block_tokens
        while self.growing[place] > self.limits.blocks - self.used:
            self._preempt(max(self.active.values(), key=lambda request: request.place))
            crowded = True
        self.used += self.growing[place]
        return crowded

    def _take_prompts(self, room: int, chunks: list[tuple[Request, int]]) -> int:
        """Add chunks of at most ``room`` tokens, of requests in the batch and then of the queue.

        Returns what the first in the queue waits for, an index of ``CAUSES``; -1 where the queue is empty.
        """
        limits, waiting = self.limits, self.waiting
        for request in self.reading:
            if room <= 0:
                return TOKENS
            tokens = min(room, request.to_read - request.done)
            room -= tokens
            chunks.append((request, tokens))
        while waiting:
            if len(self.active) >= limits.batch:
                return BATCH
            request = waiting[0][1]
            blocks = limits.blocks_of(request.to_read)
            if self.used + blocks > limits.blocks:
                return CACHE
            if room <= 0:
                return TOKENS
            heappop(waiting)
            self.used += blocks
            self.active[request.number] = request
            self.reading.append(request)
            self.found.admit(request, self.now, self.waited)
            tokens = min(room, request.to_read)
            room -= tokens
            chunks.append((request, tokens))
        return -1

    def _prompts_ns(self, chunks: list[tuple[Request, int]]) -> float:
        prefill_ns = self.times.prefill_ns
        total = 0
        apart_ns = past_ns = 0.0
        for request, tokens in chunks:
            total += tokens
            apart_ns += prefill_ns(tokens)
            if before := request.done:
                past_ns += self.times.past_ns(before, tokens)
        self.found.prompt_tokens += total
        return min(apart_ns, prefill_ns(total)) + past_ns

    def _first_token(self, request: Request) -> None:
        """The first of the answer, or after a preemption the next."""
        self.reading.remove(request)
        request.made += 1
        self.found.first_token(request, self.now)
        request.context = request.to_read
        if request.made == request.output:
            self.used -= self.limits.blocks_of(request.context)
            self._end(request)
            return
        request.since = self.steps
        request.ends = self.steps + request.output - request.made
        self.ending[request.ends].append(request)
        self.growing[(self.steps - request.context) % self.limits.block_tokens] += 1
        self.decoding += 1
        self.keys += request.context

    def _stop_decoding(self, request: Request) -> None:
        """Give back its blocks; ``made`` and ``context`` are then what they came to."""
        steps = self.steps - request.since
        self.growing[(request.since - request.context) % self.limits.block_tokens] -= 1
        request.made += steps
        request.context += steps
        request.ends = -1
        self.decoding -= 1
        self.keys -= request.context
        self.used -= self.limits.blocks_of(request.context)

    def _preempt(self, request: Request) -> None:
        self.found.preemptions[request.number] = self.found.preemptions.get(request.number, 0) + 1
        del self.active[request.number]
        if request.ends >= 0:
            self.ending[request.ends].remove(request)
            self._stop_decoding(request)
            request.to_read = request.context + 1
        else:
            self.reading.remove(request)
            self.used -= self.limits.blocks_of(request.to_read)
        request.done = 0
        heappush(self.waiting, (request.place, request))

    def _end(self, request: Request) -> None:
        del self.active[request.number]
        self.found.done_ns[request.number] = self.now
        self.found.output_tokens += request.made
