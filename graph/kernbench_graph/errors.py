"""The errors that KernBench raises on purpose: their root, and those of stores, archives and queries.

All derive from :class:`KernBenchError` and, where one fits, from the builtin that a caller would expect to
catch. A message is one line: the fault, where it is, and how to mend it. ``kernbench.errors`` re-exports the
root and adds the errors of the simulator.
"""

from __future__ import annotations

import re
import traceback
from typing import Any

_LONG_WORD, _LONG_LINE, _MANY_LINES = 300, 3000, 200
_NOT_SHOWN = ("kernbench", "kernbench_graph", "simpy", "contextlib", "runpy", "importlib")
"""Packages whose frames say nothing to who called: ours, and what stands between users' code and ours."""


def shorten(text: str) -> str:
    """``text`` without the middle of words and lines that nobody would read: a value is not repeated whole.

    >>> shortened(f"'{'7' * 14_000}' is not a whole number")[55:]
    "777777...(14002 characters)...7777777777777777777' is not a whole number"
    """
    if len(text) <= _LONG_WORD:
        return text
    text = re.sub(rf"\S{{{_LONG_WORD},}}", lambda word: _cut(word[0], 61, 20), text)
    lines = [_cut(line, 1500, 500) if len(line) > _LONG_LINE else line for line in text.split("\n")]
    if len(lines) > _MANY_LINES:
        lines = [*lines[:40], f"... ({len(lines) - 50} lines left out) ...", *lines[-10:]]
    return "\n".join(lines)


def short_traceback(error: BaseException) -> list[str]:
    """The frames of the caller's own code that ``error`` passed through, and its message, as lines."""
    found = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _NOT_SHOWN
    ]
    frames = traceback.StackSummary.extract(iter(found)).format()
    text = "".join(["Traceback (most recent call last):\n", *frames]).rstrip() if frames else ""
    return [*text.splitlines(), f"{type(error).__name__}: {error}"]


def _cut(text: str, head: int, tail: int) -> str:
    return f"{text[:head]}...({len(text)} characters)...{text[-tail:]}"


class KernBenchError(Exception):
    """Root of all errors raised on purpose by KernBench. Its text is shortened."""

    during_run = False
    """True when a run had begun: its program or kernel is at fault, not how it was asked for."""
    kept_run: Any = None
    """The partial run, where keeping it was asked for."""

    def __str__(self) -> str:
        return shorten(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """What IPython, and so a notebook, shows of it."""
        return short_traceback(self)


class StoreError(KernBenchError, RuntimeError):
    """A store is closed, full, unreachable or refuses. Root of all errors of stores."""


class StoreUrlError(StoreError, ValueError):
    """The store URL is not of a kind that this installation can open."""


class RunNotFoundError(StoreError, LookupError):
    """No run, or more than one, goes by that reference; the message lists those that exist."""


class ArchiveError(StoreError, ValueError):
    """A record is damaged or does not fit the schema; the message names file or table, and the remedy."""


class SchemaVersionError(ArchiveError):
    """A record was written under another schema version; the message names both."""


class QueryError(StoreError, ValueError):
    """A query or question is wrong: syntax, unknown name, unknown or missing parameter, wrong columns."""


class QuerySyntaxError(QueryError):
    """A query is no Cypher. ``marked`` is its line at fault, and below it a caret at the place."""

    def __init__(self, message: str, marked: str = "") -> None:
        super().__init__(message)
        self.marked = marked

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n{self.marked}" if self.marked else message


class UnknownNameError(QueryError):
    """A query names a label, relationship type or property that nothing in the graph has."""


class ReadOnlyError(QueryError, PermissionError):
    """A query tries to do something else than read."""


class QueryTimeoutError(QueryError, TimeoutError):
    """A query took longer than it was allowed to."""

    @classmethod
    def after(cls, seconds: float, waited: str = "") -> QueryTimeoutError:
        """The error of a query that was stopped after so long; ``waited`` says for what it had waited."""
        return cls(f"the query {waited}was stopped after {seconds:g} s; make it narrower, or allow more time")


class QueryCancelledError(QueryError):
    """A query was cancelled while it ran, or its asker had gone away."""
