"""A run as a trace of Perfetto: protobuf packets of track events, which ui.perfetto.dev opens.

Protobuf rather than Chrome's JSON: tracks nest as the machine does, counters have units, and a crossing takes
half the bytes.
"""

from __future__ import annotations

from kernbench.export.perfetto.trace import TICKS, Options, write

__all__ = ["TICKS", "Options", "write"]
