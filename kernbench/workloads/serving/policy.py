"""What a policy decides, for those in :mod:`kernbench.workloads.serving.policies` and users' own."""

from __future__ import annotations

from kernbench.workloads.serving.request import Request


class Policy:
    """Decides which request is served next, and how a step is shared between prompts and decodes."""

    decodes_pause = False
    """Whether requests that decode pause in a step that has tokens of prompts."""

    def rank(self, request: Request) -> float:
        """Where it stands in the queue: the least is first, of equal ones the first to arrive.

        The one that is last by rank is also the first to be preempted. The length of its answer is not known
        to a service, and should not be used. Asked once.
        """
        raise NotImplementedError

    def prompt_tokens(self, room: int, decoding: int) -> int:
        """Tokens of prompts that a step may take, at most ``room``, while ``decoding`` requests decode."""
        return room
