"""The window of a run that is looked at, as the command line's ``--launch``, ``--from`` and ``--to``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class ChosenWindow:
    """``launch`` is a launch's number as text, ``all``, ``setup`` or ``run``; times are ns."""

    launch: str = "all"
    from_ns: float | None = None
    to_ns: float | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """As :meth:`kernbench.Run.window` takes them."""
        return {"launch": self.launch, "from_ns": self.from_ns, "to_ns": self.to_ns}

    @classmethod
    def parse(cls, text: str) -> ChosenWindow:
        """``all``, ``2``, ``setup``, ``run``, ``100..250`` or ``0 100..250``; ``UsageError`` for others."""
        words = text.split()
        window = cls()
        for word in words:
            begin, dots, end = word.partition("..")
            if not dots:
                window = cls(word, window.from_ns, window.to_ns)
                continue
            try:
                window = cls(window.launch, float(begin) if begin else None, float(end) if end else None)
            except ValueError:
                raise UsageError(f"'{word}' is not a time range; write it as 100..250, in ns") from None
        return window

    def __str__(self) -> str:
        if self.from_ns is None and self.to_ns is None:
            return self.launch
        begin = "" if self.from_ns is None else f"{self.from_ns:g}"
        return f"{self.launch} {begin}..{'' if self.to_ns is None else f'{self.to_ns:g}'}"


def choices(launches: Sequence[Mapping[str, Any]], all_is_run: bool = True) -> list[ChosenWindow]:
    """The windows that a key steps through: all launches, each one of the first ten, setup, the run."""
    numbers = [str(number) for number in range(len(launches))] if len(launches) > 1 else []
    without = ["run"] if all_is_run else ["all", "run"]  # no launches: plain traffic
    names = ["all", *numbers[:10], "setup", "run"] if launches else without
    return [ChosenWindow(name) for name in names]
