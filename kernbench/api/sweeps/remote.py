"""The part of a sweep's jobs that a worker of another machine does, and what travels there and back."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kernbench.api.sweeps.jobs import CompiledMachine, Measured, PointJob, measure
from kernbench.api.topologies import MachineText
from kernbench.errors import KernBenchError
from kernbench.support.input_files import LONGEST, read_file
from kernbench.support.user_modules import source
from kernbench.version import __version__

_ONE_AT_A_TIME = threading.Lock()
"""A process simulates one machine at a time, however many threads the worker has."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file of a user's bench, which a worker may not have."""

    place: str
    inside: str
    """``:name`` of the bench in the file, or empty."""
    text: str

    @classmethod
    def of(cls, bench: str | Callable[[Any], Any]) -> SourceFile | None:
        """That of ``file.py`` or ``file.py:name``; None for benches found by module or name."""
        from kernbench.workloads.benches.user import file_of

        found = file_of(bench) if isinstance(bench, str) else None
        if found is None:
            return None
        place, inside = found
        return cls(place, inside, source(place, "bench").decode())

    def at_hand(self, folder: Path) -> str:
        """The bench as it can be named here: by its own file where that is the same, else by a copy."""
        own = Path(self.place).expanduser()
        try:
            if read_file(own, LONGEST).decode() == self.text:
                return f"{self.place}{self.inside}"
        except (OSError, UnicodeDecodeError):
            pass
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:16]
        copy = folder / "kernbench-sources" / digest / own.name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            partial = copy.with_name(f".{copy.name}.{os.getpid()}")
            partial.write_text(self.text, encoding="utf-8")
            partial.replace(copy)
        return f"{copy}{self.inside}"


def version() -> str:
    """The version of KernBench here."""
    return __version__


def compile_text(text: MachineText) -> CompiledMachine:
    """The compiled machine, graph and all; it stays on the cluster."""
    with _ONE_AT_A_TIME:
        try:
            return CompiledMachine.of(text.compiled(), dict(text.classes))
        except KernBenchError as error:
            return CompiledMachine(error=str(error))


def facts(machine: CompiledMachine) -> CompiledMachine:
    """A machine without its graph."""
    return replace(machine, graph=None)


def measure_and_pack(
    job: PointJob, machine: CompiledMachine, source: SourceFile | None, wanted: str
) -> tuple[Measured, bytes]:
    """Run a point; its result, and the archive of its run, empty where there is none."""
    if __version__ != wanted:
        here = f"a worker has kernbench {__version__}"
        return Measured(error=f"{here}, the sweep has {wanted}; install the same version"), b""
    folder = Path(_local_folder())
    with _ONE_AT_A_TIME, tempfile.TemporaryDirectory(prefix="kernbench-", dir=folder) as own:
        bench = job.bench if source is None else source.at_hand(folder)
        named = job.bench if isinstance(job.bench, str) else ""
        store = Path(own) / "runs"
        answer = measure(replace(job, bench=bench, named=named, machine=machine, store=str(store)))
        return answer, pack(store) if answer.run_id else b""


def _local_folder() -> str:
    from distributed import get_worker

    return str(get_worker().local_directory)


def pack(store: Path) -> bytes:
    """The runs and topologies of a store as one archive. They are compressed already."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for part in ("runs", "topologies"):
            for path in sorted((store / part).rglob("*")):
                archive.write(path, path.relative_to(store))
    return stream.getvalue()


def unpack(archive: bytes, store: Path) -> None:
    """Put what :func:`pack` packed into the folder of a store of its own."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        packed.extractall(store)
