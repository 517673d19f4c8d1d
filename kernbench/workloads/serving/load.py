"""What a service is asked: when requests arrive, and the tokens of their prompts and answers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kernbench.errors import UsageError
from kernbench.support.bounds import check_number
from kernbench.workloads.serving.lengths import Lengths

MOST_REQUESTS = 10_000_000


@dataclass(frozen=True, slots=True)
class Load:
    """Requests in order of arrival: ns from the start, tokens of prompts, tokens of answers."""

    arrive_ns: NDArray[np.float64]
    prompt: NDArray[np.int64]
    output: NDArray[np.int64]

    def __post_init__(self) -> None:
        check_number("the number of requests", len(self.arrive_ns), 1, MOST_REQUESTS)
        if (np.diff(self.arrive_ns) < 0).any() or (np.minimum(self.prompt, self.output) < 1).any():
            raise UsageError(
                "requests must be in order of arrival, with 1 token or more of prompt and answer"
            )

    @property
    def rate(self) -> float:
        """Requests a second, on the average; 0 where all come at once."""
        span = float(self.arrive_ns[-1] - self.arrive_ns[0])
        return (len(self.arrive_ns) - 1) * 1e9 / span if span > 0 else 0.0

    def at_rate(self, rate: float) -> Load:
        """The same requests in the same pattern, ``rate`` of them a second on the average.

        Raises:
            UsageError: All requests arrive at one time: there is no pattern to scale.
        """
        check_number("rate", rate, 1e-9, 1e9)
        if not self.rate:
            raise UsageError("all requests of the trace arrive at one time: leave --rate out")
        return replace(self, arrive_ns=self.arrive_ns * (self.rate / rate))


def poisson(rate: float, count: int, prompt: Lengths, output: Lengths, seed: int) -> Load:
    """``count`` requests that arrive independently, ``rate`` a second on the average (a Poisson process).

    Gaps, prompts and answers come from streams of their own: at another rate, the same requests arrive in
    the same pattern, closer together.
    """
    check_number("rate", rate, 1e-9, 1e9)
    check_number("the number of requests", count, 1, MOST_REQUESTS)
    check_number("seed", seed)
    gaps, prompts, outputs = (np.random.default_rng([seed, stream]) for stream in range(3))
    arrive = np.cumsum(gaps.exponential(1.0, count)) * (1e9 / rate)
    return Load(arrive, prompt.draw(count, prompts), output.draw(count, outputs))
