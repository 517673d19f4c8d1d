"""Where the jobs of a sweep are done: in this process, in several of this machine, or on a cluster."""

from __future__ import annotations

import contextlib
import pickle
import queue
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Protocol

from kernbench.api.sweeps.jobs import CompiledMachine, Job, Measured, PointJob, do
from kernbench.engine.run_options import Progress
from kernbench.errors import KernBenchError, UsageError
from kernbench.support.pgraph import new_run_id

EXECUTORS = ("local", "dask")
_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from kernbench.api.sweeps.worker import main; main()"
)
_ATTEMPTS = 2
"""Processes that a job may take down with it before it counts as failed."""


class JobExecutor(Protocol):
    """Does jobs, some at a time."""

    shared_memory: bool
    """Whether jobs see the objects of this process: compiled graphs, open stores, functions."""
    shared_files: bool
    """Whether jobs see the files of this machine: compiled graphs, and stores that are folders."""

    @property
    def at_once(self) -> int:
        """Jobs that are worth handing over before any is done."""

    def submit(self, job: Job) -> Future[Any]:
        """Begin a job; the future gives its :class:`CompiledMachine` or :class:`Measured`."""

    def check(self) -> None:
        """``KernBenchError`` where no job can be done any more; asked now and then while none ends."""

    def stop(self) -> None:
        """End whatever is under way."""


def executor_of(
    name: str | None, scheduler: str | None, jobs: int, progress: Progress | None, apart: bool = False
) -> JobExecutor:
    """The executor called ``name``, ``local`` or ``dask``; with an address of a scheduler it is ``dask``.

    One job at a time is done here, or with ``apart`` in a process of its own, which it may end.
    ``UsageError`` for another name, and for a scheduler that is not to be used.
    """
    if name is None:
        name = "local" if scheduler is None else "dask"
    if name not in EXECUTORS:
        raise UsageError(f"executor '{name}' does not exist; use {' or '.join(EXECUTORS)}")
    if name == "dask":
        from kernbench.api.sweeps.dask_cluster import DaskExecutor

        return DaskExecutor(scheduler, jobs)
    if scheduler is not None:
        raise UsageError("a scheduler is for executor 'dask'; leave the executor out, or the scheduler")
    return InProcess(progress) if jobs == 1 and not apart else Processes(jobs)


class InProcess:
    """Does a job when it is submitted."""

    shared_memory = True
    shared_files = True
    at_once = 1

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress

    def submit(self, job: Job) -> Future[Any]:
        """Do a job now."""
        done: Future[Any] = Future()
        done.set_result(do(job, self._progress))
        return done

    def check(self) -> None:
        """Its jobs end, or their processes do."""

    def stop(self) -> None:
        """Nothing is under way."""


class Processes:
    """``count`` processes of this machine. One that is killed is replaced, and its job done once more."""

    # Not a ProcessPoolExecutor: its processes import the user's script again, which fails without a
    # __main__ guard, and one that dies takes the jobs of all others with it.

    shared_memory = False
    shared_files = True

    def __init__(self, count: int) -> None:
        self.at_once = 2 * count  # so that no process waits for the next job
        self._stopped = False
        self._threads = ThreadPoolExecutor(count)
        self._all = [_Worker() for _ in range(count)]
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for worker in self._all:
            self._idle.put(worker)

    def submit(self, job: Job) -> Future[Any]:
        """Have a job done by the next process that is free."""
        return self._threads.submit(self._do, job)

    def _do(self, job: Job) -> Any:
        worker = self._idle.get()
        if isinstance(job, PointJob):
            job = replace(job, run_id=new_run_id())
        try:
            status = 0
            for _ in range(_ATTEMPTS):
                if self._stopped:
                    raise KernBenchError("the sweep was stopped")
                try:
                    return worker.do(job)
                except (EOFError, OSError, pickle.UnpicklingError):
                    status = worker.end()
                    if isinstance(job, PointJob):
                        job.undo()
            error = f"its process ended with status {status}, {_ATTEMPTS} times; is there memory enough?"
            return Measured(error=error) if isinstance(job, PointJob) else CompiledMachine(error=error)
        finally:
            self._idle.put(worker)

    def check(self) -> None:
        """Its jobs end, or their processes do."""

    def stop(self) -> None:
        """End the processes at once, and wait until they are gone."""
        self._stopped = True
        for worker in self._all:
            worker.close()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.end()


class _Worker:
    """A process, started when it gets its first job and after it has died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._closed = False

    def do(self, job: Job) -> Any:
        """The answer to a job. ``EOFError`` or ``OSError`` where the process dies of it."""
        if self._process is None:
            with self._starting:
                if self._closed:
                    raise EOFError
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            self._send(sys.path)
        self._send(job)
        assert self._process.stdout is not None
        answer = pickle.load(self._process.stdout)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _send(self, value: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        pickle.dump(value, self._process.stdin, pickle.HIGHEST_PROTOCOL)
        self._process.stdin.flush()

    def close(self) -> None:
        """End the process, if there is one, without waiting for it; start no other."""
        with self._starting:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def end(self) -> int:
        """End the process and return its status; the next job starts another."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        status = process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):  # a job that was never read
                stream.close()
        return status
