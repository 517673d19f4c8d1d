"""Whose a run is: the user who ran it and the project that it is of, and the runs of a project alone."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kernbench.errors import UsageError

PROJECT, USER = "KERNBENCH_PROJECT", "KERNBENCH_USER"
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def project(given: str | None = None) -> str:
    """The project ``given``, or else that of ``KERNBENCH_PROJECT``; empty for none, which sees all runs."""
    return (os.environ.get(PROJECT, "") if given is None else given).strip()


def user(given: str | None = None) -> str:
    """The user ``given``, or else ``KERNBENCH_USER`` or the name of the login; empty if there is none."""
    named = (given or os.environ.get(USER, "")).strip()
    if named:
        return named
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's user without a name, or Windows without USERNAME
        return ""


def is_seen(info: Mapping[str, Any], of: str | None = None) -> bool:
    """Whether a run with these properties is of the project, as :func:`project` has it; any is of none."""
    return project(of) in ("", info.get("project", ""))


def age(text: str) -> timedelta:
    """A time such as ``30d``, ``12h`` or ``8w``; ``UsageError`` for another form.

    >>> age("30d").days
    30
    """
    found = re.fullmatch(r"(\d{1,6})([hdw])", text.strip())
    if found is None:
        raise UsageError(f"'{text}' is not a time; write a number and h, d or w, such as 30d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def is_older(started_at: str, than: timedelta, now: datetime | None = None) -> bool:
    """Whether a run that started then is older; not where its start is not known."""
    try:
        return datetime.fromisoformat(started_at) < (now or datetime.now(UTC)) - than
    except (ValueError, TypeError):
        return False
