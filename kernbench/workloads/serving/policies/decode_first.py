"""Decodes before prompts."""

from __future__ import annotations

from kernbench.workloads.serving.policies.first_come import FirstCome


class DecodeFirst(FirstCome):
    """Serves requests in order of arrival; prompts wait until no request decodes.

    A batch starts and ends together (FasterTransformer): the shortest time a token, and long queues.
    """

    def prompt_tokens(self, room: int, decoding: int) -> int:
        """See :meth:`Policy.prompt_tokens`."""
        return 0 if decoding else room
