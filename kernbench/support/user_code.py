"""Which code is the user's own, for messages that lead to a line of it."""

from __future__ import annotations

import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable
from functools import cache
from os.path import basename
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_PACKAGE = Path(__file__).parents[1]
_PROGRAMS = (_PACKAGE / "workloads" / "benches", _PACKAGE / "workloads" / "models")
"""Kernels and benches that come with KernBench: to messages they are as a user's."""
_STDLIB = Path(sysconfig.get_path("stdlib"))


_basename = cache(basename)


def ends(error: BaseException) -> str:
    """What users' code does that ended with an exception that is not an ``Exception``, in words.

    Such a one would end the whole program: as if all had gone well, or with a traceback.
    """
    if isinstance(error, SystemExit):
        return f"exits with {error.code!r}"
    return f"raises {type(error).__name__}{f': {error}' if str(error) else ''}"


def raised(error: BaseException) -> str:
    """What users' code raised, in words."""
    if not isinstance(error, Exception):
        return ends(error)
    return f"raised {type(error).__name__}{f': {error}' if str(error) else ''}"


@cache
def is_ours(filename: str) -> bool:
    """Whether the file belongs to KernBench; shipped kernels and benches count as users' code."""
    file = _PACKAGE.parent / filename  # what is compiled names its source from there
    return file.is_relative_to(_PACKAGE) and not any(map(file.is_relative_to, _PROGRAMS))


@cache
def is_users(filename: str) -> bool:
    """Whether the file is neither KernBench's nor installed: a kernel, a bench, a script, a notebook cell."""
    if is_ours(filename) or filename.startswith("<frozen "):
        return False
    file = Path(filename)
    if any(map(file.is_relative_to, _PROGRAMS)):
        return True
    installed = "site-packages" in file.parts or "dist-packages" in file.parts
    return not installed and not file.is_relative_to(_STDLIB)


class _Owners(dict[str, bool | None]):
    """Whose a file is. True: the user's own; False: KernBench's; None: somebody else's."""

    def __missing__(self, filename: str) -> bool | None:
        owner = self[filename] = True if is_users(filename) else False if is_ours(filename) else None
        return owner


_OWNERS = _Owners()


def _is_users_file(filename: str) -> bool:
    return filename != "<string>" and is_users(filename)


def raised_at(error: BaseException, *, only_users: bool = False) -> str:
    """``file.py:12``, the innermost line of the user's own code that ``error`` passed through; else ``""``.

    Without ``only_users``, code of an installed package counts if there is no other; so does generated code,
    such as the ``__init__`` of a dataclass.
    """
    frames = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    for mine in (_is_users_file, is_users, lambda filename: not is_ours(filename))[: 1 if only_users else 3]:
        for filename, line in reversed(frames):
            if mine(filename):
                return f"{Path(filename).name}:{line}"
    return ""


def defined_at(of: type, name: str) -> str:
    """``file.py:12`` where a user's class defines the method ``name``, else its file; ``""`` for others."""
    file = str(getattr(sys.modules.get(of.__module__), "__file__", None) or "")
    if not file or not is_users(file):
        return ""
    code = getattr(getattr(of, name, None), "__code__", None)
    here = code is not None and code.co_filename == file
    return f"{_basename(file)}:{code.co_firstlineno}" if here and code is not None else _basename(file)


def defined_in(function: Callable[..., Any]) -> str:
    """``file.py:12`` where the code of a function starts; ``""`` for what has none."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{_basename(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""


LINES: dict[int, tuple[CodeType, dict[int, str] | None]] = {}
"""Lines of users' code by number of instruction, of code by its id; with the code, which keeps the id.

None for code of KernBench's own.
"""
_MOST_CODE = 1024
"""So much code is kept, at the most."""


def _lines(code: CodeType, users: bool) -> dict[int, str] | None:
    """What is known of the lines of ``code``; Python itself counts from the start of the code."""
    known = LINES.get(id(code))
    if known is None:
        if len(LINES) >= _MOST_CODE:
            LINES.clear()
        known = LINES[id(code)] = code, {} if users else None
    return known[1]


def line_of(frame: FrameType | None) -> str:
    """``file.py:12``, the innermost line of the user's own code at or above ``frame``; else ``""``."""
    outside: FrameType | None = None
    while frame is not None:
        code = frame.f_code
        users = _OWNERS[code.co_filename]
        if users is not None:
            lines, at = _lines(code, users), frame.f_lasti
            if lines is not None:
                if at not in lines:
                    lines[at] = f"{_basename(code.co_filename)}:{frame.f_lineno}"
                return lines[at]
        elif outside is None:
            outside = frame
        frame = frame.f_back
    return f"{_basename(outside.f_code.co_filename)}:{outside.f_lineno}" if outside is not None else ""


def line_within(function: Callable[..., Any], frame: FrameType | None) -> str:
    """``file.py:12``, the innermost line of ``function``'s own file at or above ``frame``; else ``""``.

    For kernels that belong to KernBench, such as those of its collectives.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    while frame is not None and code is not None:
        if frame.f_code.co_filename == code.co_filename:
            return f"{basename(code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
