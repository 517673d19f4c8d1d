"""Texts that events refer to by number: each is written once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kernbench.analysis.trace_tables import Ints
from kernbench.export.wire import field

SEQUENCE = 1
"""The only sequence of packets."""
NAMES, ARGUMENTS, VALUES = 2, 3, 29
"""Fields of ``InternedData``: names of events, names of their arguments, arguments that are texts."""


class Interned:
    """The numbers of texts, from 1, by the table that they are in."""

    def __init__(self) -> None:
        self._ids: dict[int, dict[str, int]] = {NAMES: {}, ARGUMENTS: {}, VALUES: {}}

    def of(self, table: int, text: str) -> int:
        """The number of one text."""
        known = self._ids[table]
        return known.setdefault(text, len(known) + 1)

    def all(self, table: int, texts: Sequence[str], codes: Ints) -> Ints:
        """The numbers of a column of texts given by code; texts that do not occur get none."""
        numbers = np.zeros(len(texts), np.int64)
        for code in np.unique(codes).tolist():
            numbers[code] = self.of(table, texts[code])
        return numbers[codes]

    def packet(self) -> bytes:
        """The packet that defines them; it comes before the events."""
        tables = b"".join(
            field(table, field(1, number) + field(2, text))
            for table, ids in self._ids.items()
            for text, number in ids.items()
        )
        # The flag says that nothing of what is defined before this packet counts any more.
        return field(1, field(10, SEQUENCE) + field(13, 1) + field(12, tables))
