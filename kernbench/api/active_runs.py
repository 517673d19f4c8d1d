"""What is being run into a store, for those who look at the store from other processes.

Each run and sweep that takes longer than a moment writes how far it is into a folder of its own beside the
kept runs. The folder is locked while its process lives, so nothing is shown of one that was killed. Stores
that are not folders have no such place, and show nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from kernbench.api.stores import folder_of
from kernbench.draw.progress import line
from kernbench.engine.run_options import Progress, Work, WorkProgress, tell
from kernbench.support.input_files import read_text
from kernbench.support.pgraph import (
    UNDER_WAY,
    GraphStore,
    RunNotFoundError,
    lasting_folder,
    lasting_folders,
    replace_file,
)

FIRST_S = 1.0
"""Work shorter than this writes nothing."""
_EVERY_S = 0.5
_FILE = "progress.json"


@dataclass(frozen=True, slots=True)
class OngoingWork:
    """A run or a sweep: ``name`` such as ``run qkv-gemm``, how far it is, when it started in s since 1970."""

    name: str
    text: str
    started_at: float


@dataclass(frozen=True, slots=True)
class ActiveRuns:
    """What is under way, oldest first, and the id of the newest kept run; empty where there is none."""

    works: tuple[OngoingWork, ...] = ()
    newest: str = ""


def under_way(store: GraphStore) -> ActiveRuns:
    """The runs and sweeps that processes of this machine do into ``store`` now."""
    folder = folder_of(store.url)
    if folder is None:
        return ActiveRuns()
    found = []
    for one in lasting_folders(folder / UNDER_WAY):
        with suppress(OSError, ValueError, TypeError):  # it has just begun, or just ended
            found.append(OngoingWork(**json.loads(read_text(one / _FILE))))
    try:
        newest = store.resolve("last")
    except RunNotFoundError:
        newest = ""
    return ActiveRuns(tuple(sorted(found, key=lambda one: one.started_at)), newest)


class UnderWay:
    """A run or sweep called ``name``, for the length of a ``with``; None as ``folder`` tells nobody."""

    def __init__(self, folder: Path | None, name: str) -> None:
        self._folder, self._name = folder, name
        self._started_at, self._began = time.time(), time.monotonic()
        self._due = self._began + FIRST_S
        self._own: Path | None = None
        self._open = ExitStack()

    def tell(self, text: Callable[[float], str]) -> None:
        """Write how far it is, unless that was done a moment ago; ``text`` is given the seconds it took."""
        now = time.monotonic()
        if self._folder is None or now < self._due:
            return
        self._due = now + _EVERY_S
        said = OngoingWork(self._name, text(now - self._began), self._started_at)
        try:
            if self._own is None:
                self._own = self._open.enter_context(lasting_folder(self._folder / UNDER_WAY))
            replace_file(self._own / _FILE, json.dumps(asdict(said)).encode(), durable=False)
        except OSError:  # a full disk, which the run itself will say at its end
            self._folder = None

    def progress(self, shown: Progress | None) -> Progress:
        """What to call with simulated ns and events; it calls ``shown`` as well."""

        def progress(sim_ns: float, events: int, work: Work) -> None:
            self.tell(lambda wall_s: line(sim_ns, events, wall_s, work.share, work.text))
            if shown is not None:
                tell(shown, sim_ns, events, work)

        return WorkProgress(progress)

    def __enter__(self) -> UnderWay:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()
