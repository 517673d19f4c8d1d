"""The result of a run: what is known of it, its trace, and what is made of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.api.advice import LEAST, Advice, advice_on
from kernbench.api.energy_use import EnergyUse, energy_by
from kernbench.api.run_trace import RunTrace
from kernbench.api.shown import drawn
from kernbench.api.stores import as_store, folder_of
from kernbench.api.summary import busiest, busiest_by_class, most_waited_for
from kernbench.support.pgraph import GraphStore, RunRecord, TopologyRecord

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.draw.content import Content


class Run(RunTrace):
    """One run, kept in a store or only in memory. Times in ns of simulated time, sizes in bytes.

    Comes from :func:`kernbench.run`, :func:`kernbench.open_run` or :func:`kernbench.runs`.
    """

    @classmethod
    def kept(cls, store: GraphStore, properties: Mapping[str, Any]) -> Self:
        """The run with these properties in ``store``."""
        return cls(properties, store=store)

    def __repr__(self) -> str:
        name = self.id or "not kept"
        verdict = f", verified: {self.verdict}" if self.verdict not in ("yes", "not asked") else ""
        problem = f", {self.problem}" if self.problem else ""
        return f"<Run {name}: {self.bench} on {self.topology}, {self.time_ns:.1f} ns{verdict}{problem}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # By the store's URL where another process can open it; else with all that was kept.
        if self._store is None:
            return _unpickled, (type(self), dict(self.properties), dict(self.tables), self._given_topology)
        if folder := folder_of(self._store.url):
            return _unpickled, (type(self), dict(self.properties), str(folder.absolute()))
        record = self._store.load(self.id)
        kept = self._store.load_topology(str(self.properties["topology"]))
        return _unpickled, (type(self), dict(self.properties), dict(record.tables), kept, True)

    def _repr_html_(self) -> str:
        return drawn("overview:of_run", self, ChosenWindow()).html(summary=True)

    def summary(
        self,
        top: int = 5,
        launch: Chosen = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> dict[str, Any]:
        """:attr:`info` with ``launches``, and where a window's time went, by default the launches'.

        Args:
            top: How many parts are listed.
            launch: Number of a launch, ``"all"``, ``"setup"`` or ``"run"``.
            from_ns: Start of a time range, ns.
            to_ns: Its end, ns.

        Returns:
            A dict of the above and

            - ``window``: ``name ns setup_ns`` of it; ``setup_ns`` is the run's time outside of launches;
            - ``by_cause``, ``by_line``: the window's critical path by cause and by source line, ns;
            - ``busiest`` and ``most_waited_for``: the ``top`` parts by utilisation, and by the time that
                others waited for them; ``busiest_links`` and ``busiest_engines``: links, and all else,
                ranked apart.

            A run without a trace knows neither windows, causes nor waits: then the first two are empty,
            ``most_waited_for`` is None, and the busiest resources are those of the whole run.
        """
        chosen = ChosenWindow.of(launch, from_ns, to_ns)
        window = self.window(chosen if self.traced else replace(chosen, launch="run"))
        used = self.known_use(chosen)
        path = self.critical_path(chosen) if self.traced else None
        launched = self.window("all").ns if self.launches else 0.0
        return {
            **self.info,
            "launches": self.launches,
            "window": {"name": window.name, "ns": window.ns, "setup_ns": self.sim_ns - launched},
            "by_cause": path.by_cause() if path else {},
            "by_line": path.by_line() if path else {},
            "busiest": busiest(used, top),
            **busiest_by_class(used, top),
            "most_waited_for": most_waited_for(used, top),
        }

    def to_json(self) -> str:
        """:meth:`summary` as JSON text: what ``kernbench run --format json`` prints."""
        from kernbench.draw.cells import plain

        return json.dumps(plain(self.summary()), ensure_ascii=False, allow_nan=False)

    def advice(self, launch: int | str = "all", least: float = LEAST) -> Advice:
        """What to do next, the largest saving first, as a list: see :func:`kernbench.advise`."""
        return advice_on(self, launch, least)

    def screen(
        self,
        key: str,
        launch: Chosen = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> Content:
        """A tab as the page, the terminal UI and ``kernbench show --tab`` have it. A notebook shows it.

        Args:
            key: Its name, such as ``waits``; the error for another lists them.
            launch: See :meth:`window`; ``from_ns`` and ``to_ns`` too.
            from_ns: Start of the window, ns.
            to_ns: Its end, ns.

        Returns:
            Its ``grids``, each with ``key``, ``heading``, ``columns`` and ``rows``, and its lines.

        Raises:
            UsageError: There is no such tab or window, or the tab is not about such a window.
        """
        return drawn("tab", self, key, ChosenWindow.of(launch, from_ns, to_ns))

    def export(
        self,
        to: str,
        path: str | os.PathLike[str] | None = None,
        launch: Chosen = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
        **options: object,
    ) -> list[str]:
        """Write it for another tool; gives the names of the files.

        Args:
            to: The format, such as ``perfetto`` or ``csv``; ``kernbench export --help`` lists them.
            path: The file; for tables the folder; for chakra the start of its names. By default made from
                the run's id.
            launch: With ``from_ns`` and ``to_ns`` a window; see :meth:`window`. By default traces and
                pictures are of the launches, tables and graphs of the whole run.
            from_ns: Start of the window, ns.
            to_ns: Its end, ns.
            options: ``links``, ``waits`` and ``ticks`` of perfetto; those of :meth:`timeline`; ``names`` of a
                graph: see :meth:`subgraph`.

        Raises:
            UsageError: The run has no trace; there is no such format, window or option; or nothing to write.
            MissingExtraError: A PNG is wanted and matplotlib is not installed.
        """
        from kernbench.api.exporting import export

        return export(self, to, path, launch, from_ns, to_ns, **options)

    def to_perfetto(
        self,
        path: str | os.PathLike[str],
        launch: Chosen = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
        **options: object,
    ) -> list[str]:
        """``export("perfetto", path, ...)``."""
        return self.export("perfetto", path, launch, from_ns, to_ns, **options)

    def energy(
        self,
        by: str = "kind",
        figures: Mapping[str, object] | None = None,
        power_limit_w: float | None = None,
    ) -> EnergyUse:
        """Its energy by ``part``, ``kind``, ``line`` or ``launch``: see :func:`kernbench.energy`."""
        return energy_by(self, by, figures, power_limit_w)


def _unpickled(
    kind: type[Run],
    properties: dict[str, Any],
    place: str | dict[str, pa.Table],
    topology: TopologyRecord | None = None,
    kept: bool = False,
) -> Run:
    """A run that was pickled: in the store at ``place``, or with these tables, kept in memory or not."""
    if isinstance(place, str):
        return kind.kept(as_store(place), properties)
    if not kept:
        return kind(properties, store=None, tables=place, topology=topology)
    assert topology is not None
    store = as_store("memory:")
    store.keep(RunRecord(properties, place), topology)
    return kind.kept(store, properties)
