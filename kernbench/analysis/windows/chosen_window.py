"""The window that somebody chooses: a launch or all launches, and a time range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernbench.errors import UsageError

ALL, SETUP, RUN = "all", "setup", "run"
"""Names of windows: all launches, the time outside of launches, the whole run."""


@dataclass(frozen=True, slots=True)
class ChosenWindow:
    """``launch`` is a launch's number, ``all``, ``setup`` or ``run``; times are ns of simulated time."""

    launch: str = ALL
    from_ns: float | None = None
    to_ns: float | None = None

    @classmethod
    def of(
        cls, launch: Chosen = ALL, from_ns: float | None = None, to_ns: float | None = None
    ) -> ChosenWindow:
        """As users give it to Python: numbers and texts, None for the whole run; or one chosen already."""
        if isinstance(launch, ChosenWindow):
            return launch
        return cls(RUN if launch is None else str(launch), from_ns, to_ns)

    @classmethod
    def parse(cls, text: str) -> ChosenWindow:
        """``all``, ``2``, ``setup``, ``run``, ``100..250`` or ``0 100..250``; ``UsageError`` for others."""
        window = cls()
        for word in text.split():
            begin, dots, end = word.partition("..")
            if dots:
                window = replace(window, from_ns=_ns(begin, word), to_ns=_ns(end, word))
            else:
                window = replace(window, launch=word)
        return window

    @property
    def timed(self) -> bool:
        """Whether a time range cuts it."""
        return self.from_ns is not None or self.to_ns is not None

    @property
    def given(self) -> dict[str, Any]:
        """``launch``, and those of ``from_ns`` and ``to_ns`` that were chosen."""
        times = {"from_ns": self.from_ns, "to_ns": self.to_ns}
        return {"launch": self.launch, **{name: ns for name, ns in times.items() if ns is not None}}

    def of_launches(self, about: str) -> str:
        """Its ``launch``, for what is only known of whole launches; ``UsageError`` says that of ``about``."""
        if self.timed or self.launch == SETUP:
            raise UsageError(f"{about} whole launches; leave the times out, and choose all of them, or one")
        return self.launch

    def __str__(self) -> str:
        if not self.timed:
            return self.launch
        begin, end = ("" if ns is None else f"{ns:g}" for ns in (self.from_ns, self.to_ns))
        return f"{self.launch} {begin}..{end}"


Chosen = int | str | ChosenWindow | None
"""What functions for users take as ``launch``."""


def _ns(text: str, word: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise UsageError(f"'{word}' is not a time range; write it as 100..250, in ns") from None
