"""The common base of stores: they are open or closed, take notes, and name what is missing or taken."""

from __future__ import annotations

import logging
import threading
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self

from kernbench_graph.errors import RunNotFoundError, StoreError
from kernbench_graph.store import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa

_log = logging.getLogger(__name__)


class OpenedStore:
    """Base of all stores. See :class:`kernbench_graph.store.GraphStore`."""

    details: tuple[str, ...] = ("full",)

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.RLock()
        self._closed = False
        self.notes: list[str] = []
        self.computed: Callable[[RunRecord], Mapping[str, pa.Table]] | None = None
        self.progress: Callable[[int, int], None] | None = None

    @property
    def url(self) -> str:
        """The URL that the store was opened with."""
        return self._url

    def close(self) -> None:
        """Let go of everything. The store must not be used afterwards."""
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"store '{self._url}' is closed; open it again")

    def _with_computed(self, run: RunRecord) -> RunRecord:
        """The run with the tables that are worked out from its others, where anything works them out."""
        if self.computed is None:
            return run
        from kernbench_graph.archive.canonical import canonical_table

        what = f"run '{run.info['id']}'"
        tables = {name: canonical_table(name, data, what) for name, data in self.computed(run).items()}
        return RunRecord(run.info, ChainMap(tables, run.tables))  # type: ignore[arg-type]  # it is only read

    def _check_detail(self, detail: str) -> None:
        if detail not in self.details:
            known = " or ".join(self.details)
            raise StoreError(f"store '{self._url}' knows no detail '{detail}'; use {known}")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)
            _log.info("%s", text)

    def _unknown(self, run_id: str) -> RunNotFoundError:
        return RunNotFoundError(f"no run '{run_id}' in store '{self._url}'; list the runs to see their ids")


def taken(run_id: str) -> StoreError:
    """The error when a run's id is another run's already."""
    return StoreError(f"run '{run_id}' is in the store already; give another id, or remove that run first")
