"""What other systems document of their calls, and processes that are killed: nothing is lost or left."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.archive.atomic import ScratchFolder
from kernbench_graph.opening import open_store
from kernbench_graph.stores.neo4j import removal

from tests.conformance.graph_records import sample

FSYNC, OPEN = os.fsync, os.open


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """``os.fsync``, ``os.open`` and ``os.kill`` as on Windows; gives what was done with them."""
    done: list[str] = []

    def fsync(handle: int) -> None:
        if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        done.append("fsync")
        FSYNC(handle)

    def opened(path: Any, *how: Any, **more: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return OPEN(path, *how, **more)

    monkeypatch.setattr("kernbench_graph.archive.atomic._WINDOWS", True)
    monkeypatch.setattr("kernbench_graph.archive.atomic.fcntl", None)
    monkeypatch.setattr("kernbench_graph.stores.neo4j.removal._WINDOWS", True)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "kill", lambda pid, signal: done.append(f"ended {pid}"))
    return done


def test_a_run_is_kept_where_only_files_open_for_writing_are_flushed(
    windows: list[str], tmp_path: Path
) -> None:
    with open_store(tmp_path / "store") as store:
        store.keep(*sample(id="a"))
        store.change_tags("a", add=["x"])
        store.keep(*sample(id="b"))
        store.remove("b")
        assert [(info["id"], info["tags"]) for info in store.runs()] == [("a", '["x"]')]
    assert windows.count("fsync") > 10


def test_asking_whether_a_process_lives_does_not_end_it(windows: list[str]) -> None:
    """There ``os.kill`` ends a process, whatever the signal: only silence says that it is dead."""
    owner = removal.owner()
    assert not removal.is_dead(owner, 1.0)
    assert removal.is_dead(owner, removal.DEAD_AFTER_S + 1)
    assert windows == []


def test_scratch_folders_go_with_their_process_or_when_the_next_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os, signal; from kernbench_graph.archive.atomic import ScratchFolder; s = ScratchFolder(); "
        "(s.path / 'x').write_text('x'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    (left,) = tmp_path.iterdir()
    mine = ScratchFolder()
    with ScratchFolder() as other:
        assert set(tmp_path.iterdir()) == {mine.path, other}
        assert left != mine.path
    assert set(tmp_path.iterdir()) == {mine.path}
    mine.remove()
    mine.remove()
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_goes_when_the_next_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import os, signal; from kernbench_graph.archive.atomic import ScratchFolder; s = ScratchFolder(); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert len(os.listdir(tmp_path)) == 1
    ScratchFolder().remove()
    assert os.listdir(tmp_path) == []


def test_without_locks_no_scratch_folder_is_taken_for_a_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("kernbench_graph.archive.atomic.fcntl", None)
    with ScratchFolder() as one, ScratchFolder() as two:
        assert {one, two} == set(tmp_path.iterdir())


def test_a_cluster_whose_workers_have_all_gone_is_said_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask itself waits for another worker for ever."""
    pytest.importorskip("distributed")
    from kernbench.api.sweeps import dask_cluster
    from kernbench.errors import KernBenchError

    class Client:
        def __init__(self) -> None:
            self.threads = {"one": 2}

        def nthreads(self) -> dict[str, int]:
            return self.threads

    executor, client = object.__new__(dask_cluster.DaskExecutor), Client()
    executor._client, executor._where = client, "the Dask scheduler at tcp://a:1"
    executor._worked = executor._looked = 0.0
    clock = [0.0]
    monkeypatch.setattr(dask_cluster.time, "monotonic", lambda: clock[0])

    def checked(until: float) -> None:
        while clock[0] < until:
            clock[0] += 0.5
            executor.check()

    checked(100.0)
    client.threads = {}
    checked(100.0 + dask_cluster._WORKERLESS_S - 4)
    client.threads = {"two": 1}
    checked(200.0)
    client.threads = {}
    with pytest.raises(KernBenchError, match=r"all workers of the Dask scheduler at tcp://a:1 have gone"):
        checked(1000.0)
    assert 200.0 + dask_cluster._WORKERLESS_S - 4 < clock[0] < 200.0 + dask_cluster._WORKERLESS_S + 4
