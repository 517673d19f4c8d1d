"""The jobs of a sweep on a Dask cluster: one of this machine that lives as long as the sweep, or any other.

Nothing is shared with the workers but the network: topologies travel as text, the text of a bench's file goes
along, compiled machines stay on the cluster, and runs come back as archives.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernbench.api.sweeps.jobs import CompiledMachine, Job, MachineJob, Measured, PointJob
from kernbench.api.sweeps.remote import SourceFile, compile_text, facts, measure_and_pack, unpack, version
from kernbench.api.topologies import MachineText
from kernbench.errors import KernBenchError, MissingExtraError, UsageError
from kernbench.support.pgraph import install
from kernbench.version import __version__

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_CONNECT_S = 15.0
_STARTS = 3
_FIRST_ANSWER_S = 120.0
"""How long the first worker may take to appear: clusters that grow start some when there is work."""
_WORKERLESS_S = 30.0
"""How long a cluster may have no worker while points are under way."""
_COUNT_EVERY = 16
"""Jobs after which the workers are counted anew."""


def require() -> None:
    """:class:`~kernbench.errors.MissingExtraError` when Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            f"--executor dask needs dask.distributed, which is not installed; run: {install('dask')}"
        ) from None


class DaskExecutor:
    """Does jobs on the workers of a Dask scheduler.

    A job whose worker dies goes to another one; the scheduler gives up on one that was on several that died.

    Args:
        scheduler: Its address, such as ``tcp://host:8786``; None starts a cluster of this machine.
        jobs: Workers of that own cluster, each a process that runs one point at a time.

    Raises:
        UsageError: The address is none.
        KernBenchError: No scheduler or no worker answers, or they have another KernBench.
    """

    shared_memory = False
    shared_files = False

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        require()
        self._stopped = False
        self._where = "the local Dask cluster" if scheduler is None else f"the Dask scheduler at {scheduler}"
        self._cluster: LocalCluster | None = None
        self._settling = ThreadPoolExecutor(1)
        self._silence = _Silence()
        try:
            self._cluster = _local_cluster(jobs) if scheduler is None else None
            self._client = _connect(self._cluster.scheduler_address if self._cluster else str(scheduler))
        except BaseException:
            self._end_cluster()
            raise
        try:
            if self._cluster is not None:
                self._client.register_plugin(_like_here())
            self._check_version()
            self._futures = self._client.get_executor(pure=False)
            self._submitted, self._workers = 0, self._count()
            self._worked = self._looked = time.monotonic()
        except BaseException:
            self.stop()
            raise

    @property
    def at_once(self) -> int:
        """Two jobs for each thread of a worker, so that none waits for the next."""
        if self._submitted % _COUNT_EVERY == 0:
            self._workers = self._count()
        return 2 * max(1, self._workers)

    def submit(self, job: Job) -> Future[Any]:
        """Have a job done by some worker."""
        self._submitted += 1
        return self._compile(job) if isinstance(job, MachineJob) else self._measure(job)

    def _compile(self, job: MachineJob) -> Future[Any]:
        try:
            text = MachineText.of(job.topology, job.topo, job.components)
        except KernBenchError as error:
            done: Future[Any] = Future()
            done.set_result(CompiledMachine(error=str(error)))
            return done
        remote = self._client.submit(compile_text, text, pure=False)
        return self._then(
            self._futures.submit(facts, remote),
            lambda machine: replace(machine, remote=remote),
            lambda error: CompiledMachine(error=error),
        )

    def _measure(self, job: PointJob) -> Future[Any]:
        remote, target = job.machine.remote, str(job.store)
        bare = replace(job, machine=replace(job.machine, remote=None), store=None)
        future = self._futures.submit(measure_and_pack, bare, remote, SourceFile.of(job.bench), __version__)

        def came_back(answer: tuple[Measured, bytes]) -> Measured:
            measured, archive = answer
            if not measured.run_id:
                return measured
            folder = Path(target) / measured.run_id
            unpack(archive, folder)
            return replace(measured, folder=str(folder))

        return self._then(future, came_back, lambda error: Measured(error=error, suspect=True))

    def _then(
        self,
        answer: Future[Any],
        use: Callable[[Any], Any],
        failed: Callable[[str], CompiledMachine | Measured],
    ) -> Future[Any]:
        """A future of ``use`` of an answer; ``failed`` says what it is when workers die of it."""
        from distributed import KilledWorker

        found: Future[Any] = Future()

        def settle() -> None:
            try:
                found.set_result(use(answer.result()))
            except KilledWorker:
                found.set_result(
                    failed("its Dask workers died of it, several times; is there memory enough?")
                )
            except (CancelledError, OSError) as error:
                found.set_exception(self._lost(error))
            except BaseException as error:
                found.set_exception(error)

        def ended(_: Future[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the sweep was stopped, and no answer counts any more
                self._settling.submit(settle)

        # Called by Dask's event loop, which must go on while a run is unpacked. Nothing waits for the loop
        # but the sweep itself: a thread that did would outlive a loop that is stopped, and never end.
        answer.add_done_callback(ended)
        return found

    def _lost(self, error: BaseException) -> KernBenchError:
        if self._stopped:
            return KernBenchError("the sweep was stopped")
        reason = f" ({error})" if isinstance(error, OSError) else ""
        return KernBenchError(f"{self._where} was lost{reason}; the same command completes the sweep")

    def _check_version(self) -> None:
        from distributed import TimeoutError as NoAnswerError

        try:
            theirs = self._client.submit(version, pure=False).result(timeout=_FIRST_ANSWER_S)
        except NoAnswerError:
            raise KernBenchError(
                f"{self._where} has no worker that answers; start some with 'dask worker ADDRESS'"
            ) from None
        except ImportError as error:
            raise KernBenchError(
                f"workers of {self._where} cannot import kernbench ({error}); install version "
                f"{__version__} there, with its extra dask"
            ) from None
        if theirs != __version__:
            raise KernBenchError(
                f"workers of {self._where} have kernbench {theirs}, this is {__version__}; "
                "install the same version"
            )

    def _count(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except OSError as error:
            raise self._lost(error) from None

    def check(self) -> None:
        """``KernBenchError`` where the cluster has long had no worker: Dask itself waits for ever."""
        now = time.monotonic()
        if now - self._looked < _WORKERLESS_S / 10:
            return
        self._looked = now
        if self._count():
            self._worked = now
        elif now - self._worked >= _WORKERLESS_S:
            raise KernBenchError(
                f"all workers of {self._where} have gone; start some with 'dask worker ADDRESS', then the "
                "same command completes the sweep"
            )

    def stop(self) -> None:
        """End what is under way; an own cluster ends with it."""
        self._stopped = True
        self._settling.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
        self._end_cluster()

    def _end_cluster(self) -> None:
        if self._cluster is not None:
            with contextlib.suppress(Exception):
                self._cluster.close(timeout=10)
        self._silence.end()


def _local_cluster(jobs: int) -> LocalCluster:
    """A cluster of this machine; begun anew where a worker was killed before it could answer."""
    import dask
    from distributed import LocalCluster

    for attempt in range(1, _STARTS + 1):
        with _without_interrupts(), dask.config.set({"distributed.scheduler.allowed-failures": 1}):
            try:
                return LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=0,  # as for processes without Dask: the machine's memory is the limit
                    dashboard_address=None,
                    worker_dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                    host="127.0.0.1",
                )
            except (RuntimeError, OSError) as error:
                if attempt == _STARTS:
                    raise KernBenchError(
                        f"the local Dask cluster does not start: {error}; take fewer --jobs"
                    ) from error
    raise AssertionError


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Threads and processes that are begun within the block never see Ctrl-C, which is for the sweep."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would let interrupts through again where it is begun
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connect(address: str) -> Client:
    from distributed import Client

    try:
        return Client(address, timeout=_CONNECT_S, set_as_default=False)
    except ValueError as error:
        raise UsageError(
            f"'{address}' is not the address of a Dask scheduler ({error}); write tcp://host:8786"
        ) from None
    except OSError as error:
        raise KernBenchError(
            f"no Dask scheduler answers at {address} ({error}); start one with 'dask scheduler'"
        ) from None


def _like_here() -> Any:
    """A plugin for workers of this machine: they work in this folder; what benches print goes to stderr."""
    from distributed import WorkerPlugin

    class LikeHere(WorkerPlugin):  # type: ignore[misc]
        name = "kernbench"

        def __init__(self, folder: str) -> None:
            self.folder = folder

        def setup(self, worker: Any) -> None:
            os.chdir(self.folder)
            os.dup2(2, 1)

    return LikeHere(os.getcwd())


class _Silence:
    """Keeps Dask from writing to stderr that connections end: the sweep says what that means for it."""

    def __init__(self) -> None:
        loggers = (logging.getLogger(name) for name in ("distributed", "distributed.client"))
        self._before = {logger: logger.level for logger in loggers}
        for logger in self._before:
            logger.setLevel(logging.CRITICAL + 1)

    def end(self) -> None:
        """Log again as before."""
        for logger, level in self._before.items():
            logger.setLevel(level)
