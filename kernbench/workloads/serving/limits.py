"""What a service may hold at a time."""

from __future__ import annotations

from dataclasses import dataclass

from kernbench.support.bounds import check_number


@dataclass(frozen=True, slots=True)
class Limits:
    """What a service may hold at a time.

    ``blocks`` of ``block_tokens`` tokens in the cache, ``batch`` requests, and ``step_tokens`` tokens of a
    step, decodes and chunks of prompts together.
    """

    blocks: int
    block_tokens: int = 16
    batch: int = 256
    step_tokens: int = 512

    def __post_init__(self) -> None:
        for name in ("blocks", "block_tokens", "batch", "step_tokens"):
            check_number(name, getattr(self, name), 1, 1e12)

    def blocks_of(self, tokens: int) -> int:
        """Blocks that so many tokens take."""
        return -(-tokens // self.block_tokens)
