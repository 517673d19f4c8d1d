"""What the rules of advice find in a run, in plain Python."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.advice_oracle import places, reads_and_writes, work
from tests.conformance.advice_oracle.evidence import Evidence, Rows

__all__ = ["ADVICE", "Evidence", "Rows"]

ADVICE: dict[str, Callable[[Evidence], Rows]] = {
    "advice/cache-misses": places.cache_misses,
    "advice/commands": work.commands,
    "advice/credits": places.credits,
    "advice/few-pes": work.few_pes,
    "advice/hot-wire": places.hot_wire,
    "advice/hot-link": places.hot_link,
    "advice/hot-slice": places.hot_slice,
    "advice/row-conflicts": places.row_conflicts,
    "advice/idle-pes": work.idle_pes,
    "advice/imbalance": work.imbalance,
    "advice/many-launches": work.many_launches,
    "advice/one-memory": places.one_memory,
    "advice/overlap": work.overlap,
    "advice/read-again": reads_and_writes.read_again,
    "advice/remote": places.remote,
    "advice/ring-slots": places.ring_slots,
    "advice/round-trip": reads_and_writes.round_trip,
    "advice/short-runs": reads_and_writes.short_runs,
    "advice/small-blocks": reads_and_writes.small_blocks,
    "advice/small-tiles": work.small_tiles,
    "advice/start-skew": work.start_skew,
    "advice/streamed-again": reads_and_writes.streamed_again,
    "advice/wide-dtype": reads_and_writes.wide_dtype,
}
