"""How much a service holds and does at a time."""

from __future__ import annotations

from dataclasses import dataclass

from kernbench.support.bounds import check_number


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a service holds and does at a time, at most.

    The cache has ``blocks`` of ``block_tokens`` tokens each. ``batch`` is a number of requests,
    ``step_tokens`` of tokens in a step, decodes and chunks of prompts together.
    """

    blocks: int
    block_tokens: int = 16
    batch: int = 256
    step_tokens: int = 512

    def __post_init__(self) -> None:
        for name in ("blocks", "block_tokens", "batch", "step_tokens"):
            check_number(name, getattr(self, name), 1, 1e12)

    def blocks_of(self, tokens: int) -> int:
        """Blocks that ``tokens`` tokens take."""
        return -(-tokens // self.block_tokens)
