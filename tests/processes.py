"""Processes that tests start: each with all that it started is ended, whatever becomes of the test."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

_started: list[Process] = []


class Process(subprocess.Popen[Any]):
    """As ``Popen``, in a group of its own.

    An interrupt reaches it however the tests were started (``tests/conftest.py`` lets SIGINT interrupt).
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        super().__init__(command, start_new_session=True, **options)
        _started.append(self)

    def end(self) -> None:
        """Kill it and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is not None:  # else one that goes on would hold up the end of the test
            self.end()
        super().__exit__(kind, error, at)


def end_all() -> None:
    """End what the last test has left."""
    while _started:
        process = _started.pop()
        process.end()
        process.__exit__(None, None, None)
