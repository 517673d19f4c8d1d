"""Several machines that serve the same model, each a share of the requests (data parallel)."""

from __future__ import annotations

import numpy as np

from kernbench.workloads.serving.limits import Limits
from kernbench.workloads.serving.load import Load
from kernbench.workloads.serving.loop import StepTimes, serve
from kernbench.workloads.serving.policy import Policy
from kernbench.workloads.serving.served import Served, empty


def serve_on(replicas: int, load: Load, times: StepTimes, limits: Limits, policy: Policy) -> Served:
    """As :func:`kernbench.workloads.serving.loop.serve` on ``replicas`` machines, which take turns.

    Each has ``limits`` of its own; the request that arrives after another goes to the next machine.
    """
    if replicas == 1:
        return serve(load, times, limits, policy)
    whole = empty(load, limits)
    for first in range(min(replicas, len(load.prompt))):
        turn = slice(first, None, replicas)
        one = serve(Load(load.arrive_ns[turn], load.prompt[turn], load.output[turn]), times, limits, policy)
        for name in ("admit_ns", "first_ns", "done_ns"):
            np.frombuffer(getattr(whole, name))[turn] = getattr(one, name)
        whole.refused += [first + number * replicas for number in one.refused]
        whole.preemptions |= {first + number * replicas: n for number, n in one.preemptions.items()}
        whole.waits |= {first + number * replicas: ns for number, ns in one.waits.items()}
        whole.prompt_tokens += one.prompt_tokens
        whole.output_tokens += one.output_tokens
        whole.steps += one.steps
    whole.refused.sort()
    return whole
