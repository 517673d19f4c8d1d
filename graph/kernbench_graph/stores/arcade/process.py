"""The process of ArcadeDB seen from this side: started when needed, asked one thing at a time.

A request that takes too long, or is interrupted, ends the process: that is the one way that stops the engine
in every phase. After a fork the child leaves the parent's process alone and starts its own.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from kernbench_graph import running
from kernbench_graph.errors import StoreError

_FIRST = ("create", "extend", "open")
"""Requests that a new process can be asked."""
_WORKER = Path(__file__).with_name("worker.py")


class ArcadeError(StoreError):
    """The engine refuses, or its process has ended. ``chain`` is its causes, outermost first."""

    def __init__(self, message: str, chain: list[list[str]] | None = None) -> None:
        super().__init__(message)
        self.chain = chain or []


class ArcadeEndedError(ArcadeError):
    """The process ended by itself in the middle of a request."""


class ArcadeTimeoutError(ArcadeError):
    """The request took longer than it was allowed to; the process was ended."""


@cache
def is_installed() -> bool:
    """Whether ArcadeDB is there: it has no wheels for musl, Intel Macs and Windows on Arm."""
    return importlib.util.find_spec("arcadedb") is not None and bool(sys.executable)


class ArcadeProcess:
    """One process of the engine. Safe to use from several threads and after a fork."""

    def __init__(self) -> None:
        self._reset()
        _all.add(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[Any, Any] | None = None

    @property
    def is_running(self) -> bool:
        """Whether there is a process that can be asked."""
        return self._process is not None and self._process.poll() is None

    def ask(self, *request: Any, timeout_s: float | None = None) -> Any:
        """The answer to one request; see :mod:`kernbench_graph.stores.arcade.worker`.

        ``ArcadeError`` when it fails, ``ArcadeTimeoutError`` when it is not there in time.
        """
        with running.held(self._lock):
            if request[0] in _FIRST and not self.is_running:
                self._stop()
                self._start()
            process = self._process
            if process is None:
                raise ArcadeError("the process of ArcadeDB has no database; ask again")
            expired = threading.Event()

            def stop() -> None:
                expired.set()
                process.kill()

            timer = threading.Timer(timeout_s, stop) if timeout_s is not None else None
            try:
                if timer is not None:
                    timer.start()
                assert process.stdin is not None
                assert process.stdout is not None
                with running.stopped_by(process.kill):
                    pickle.dump(request, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
                    process.stdin.flush()
                    answer = pickle.load(process.stdout)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                self._stop()
                if expired.is_set():
                    raise ArcadeTimeoutError("the request took too long") from error
                raise ArcadeEndedError(
                    f"the process of ArcadeDB has ended (status {process.returncode}); ask again, "
                    "or use the engine 'ladybug'"
                ) from error
            except BaseException:  # interrupted: what would be read next is the answer to this request
                self._stop()
                raise
            finally:
                if timer is not None:
                    timer.cancel()
                    timer.join()
            if expired.is_set():  # it answered while it was being stopped
                self._stop()
        if answer[0] == "ok":
            return answer[1]
        chain = answer[1]
        raise ArcadeError(chain[0][1] or chain[0][0], chain)

    def stop(self) -> None:
        """End the process. It is started again when asked."""
        with self._lock:
            self._stop()

    def _start(self) -> None:
        # A session of its own, so that Ctrl-C in the terminal reaches this process alone.
        apart: dict[str, Any] = (
            {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
            if sys.platform == "win32"
            else {"start_new_session": True}
        )
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_WORKER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                **apart,
            )
        except OSError as error:
            raise ArcadeError(f"the process of ArcadeDB cannot be started ({error})") from error
        self._end = weakref.finalize(self, _ended, self._process, os.getpid())

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._process = self._end = None

    def _leave(self) -> None:
        """In the child of a fork: the process is the parent's, and so may be a thread that held the lock."""
        process, end = self._process, self._end
        self._reset()
        if end is not None:
            end.detach()
        if process is not None:
            process.returncode = 0  # not ours to wait for
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (process.stdin, process.stdout):
                if stream is not None and not stream.closed:
                    os.dup2(silence, stream.fileno())  # closed with the stream, whatever is buffered in it
            os.close(silence)


def _ended(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()


_all: weakref.WeakSet[ArcadeProcess] = weakref.WeakSet()


_idle: list[ArcadeProcess] = []
"""At most one process without a database, kept for the next: starting one takes longer than a small query."""


def _after_fork() -> None:
    for process in list(_all):
        process._leave()
    _idle.clear()


def borrow() -> ArcadeProcess:
    """A process without a database."""
    try:
        return _idle.pop()
    except IndexError:
        return ArcadeProcess()


def give_back(process: ArcadeProcess) -> None:
    """Keep ``process``, whose database is closed, for the next, or end it."""
    if not _idle and process.is_running:
        _idle.append(process)
    else:
        process.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
