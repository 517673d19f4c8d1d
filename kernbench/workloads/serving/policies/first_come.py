"""First come, first served."""

from __future__ import annotations

from kernbench.workloads.serving.policy import Policy
from kernbench.workloads.serving.request import Request


class FirstCome(Policy):
    """Serves requests in order of arrival; a step decodes all and fills up with prompts (the default).

    Long prompts are cut into chunks, so that decodes never pause (Sarathi-Serve, vLLM).
    """

    def rank(self, request: Request) -> float:
        """See :meth:`Policy.rank`."""
        return request.arrive_ns
