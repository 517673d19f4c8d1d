"""Which nodes of the model a launch comes from: Inductor writes it above each call, in comments."""

from __future__ import annotations

import linecache
import re
import sys
from types import FrameType

from greenlet import getcurrent

from kernbench.errors import UsageError
from kernbench.language.thread import KernelGreenlet
from kernbench.support.user_code import is_ours, line_of

_NODES = re.compile(
    r"\s*# (?:Topologically Sorted |Unsorted )?Source Nodes: \[(.*?)\](?:, Original ATen: \[(.*?)\])?"
)
_LINE = re.compile(r"\s*# (?:\s*)File: (.+?):(\d+) in ")
MODEL_LINES: dict[str, tuple[list[tuple[int, str]], dict[str, tuple[str, str]]]] = {}
"""Of files that were written just now: from which line on they carry out which line of the model.

That is empty for some; then the line of the last of its nodes is. These are there by name, each with its line
and what the model calls it: ``"layers.3.up"``.
"""
_ABOVE = 12
"""Lines above a call that are searched for what Inductor says of it, at the most."""
_CALL = re.compile(r"\.run\(|\bextern_kernels\.|\btorch\.ops\.|^\s*def ")


def refused(message: str) -> UsageError:
    """An error of the call that is going on, with its line in the file; kernels say theirs themselves."""
    line = "" if isinstance(getcurrent(), KernelGreenlet) else calling()[1] or line_of(sys._getframe(1))
    return UsageError(f"{message} ({line})" if line else message)


def calling() -> tuple[str, str]:
    """Of the call of a file of Inductor's that is going on: its nodes, and the line of the model.

    ``"layers.3.up, gelu"``, and ``"model.py:12"``; each empty where the file does not say it. Nodes that the
    model does not have are named where no other is.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return "", ""
    file = frame.f_code.co_filename
    nodes, where = above(linecache.getlines(file, frame.f_globals), frame.f_lineno)
    lines, named = MODEL_LINES.get(file, ([], {}))
    where = where or next((line for at, line in reversed(lines) if at <= frame.f_lineno), "")
    of_model = [named[one] for one in nodes.split(", ") if one in named]
    if of_model:
        nodes = ", ".join(dict.fromkeys(part for _, part in of_model))
        where = where or of_model[-1][0]
    return nodes, where


def above(lines: list[str], number: int) -> tuple[str, str]:
    """What the comments above line ``number`` say, the first line being 1."""
    where = ""
    for line in reversed(lines[max(0, number - 1 - _ABOVE) : number - 1]):
        if found := _NODES.match(line):
            return found[1] or found[2] or "", where
        if found := _LINE.match(line):
            where = where or f"{found[1].rpartition('/')[2]}:{found[2]}"
        elif _CALL.search(line):
            break
    return "", where
