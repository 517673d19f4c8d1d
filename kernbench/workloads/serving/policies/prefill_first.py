"""Prompts before decodes."""

from __future__ import annotations

from kernbench.workloads.serving.policies.first_come import FirstCome


class PrefillFirst(FirstCome):
    """Serves requests in order of arrival; while prompts are read, decodes pause.

    The shortest time to the first token, and the longest gaps between the others (Orca).
    """

    decodes_pause = True
