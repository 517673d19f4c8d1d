"""The shortest prompt first."""

from __future__ import annotations

from kernbench.workloads.serving.policy import Policy
from kernbench.workloads.serving.request import Request


class Shortest(Policy):
    """Serves the request with the shortest prompt first; a step is shared as by ``first_come``.

    Long prompts can starve.
    """

    def rank(self, request: Request) -> float:
        """See :meth:`Policy.rank`."""
        return request.prompt
