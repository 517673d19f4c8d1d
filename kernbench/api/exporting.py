"""Files of a run for the tools that people have."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kernbench.errors import UsageError
from kernbench.hints import suggestion
from kernbench.written_files import writing

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa
    from matplotlib.figure import Figure

    from kernbench.analysis.time_window import Window
    from kernbench.api.timelines import TimeLine
    from kernbench.pgraph import TopologyRecord

PathLike = str | os.PathLike[str]


class Exports:
    """The files that a :class:`kernbench.Run` can be written to."""

    _properties: Mapping[str, Any]
    if TYPE_CHECKING:

        @property
        def tables(self) -> Mapping[str, pa.Table]:
            """The tables of its trace."""

        def window(
            self, launch: int | str | None = None, from_ns: float | None = None, to_ns: float | None = None
        ) -> Window:
            """A window of it."""

        def _check_traced(self) -> None: ...

        def topology_record(self) -> TopologyRecord:
            """Its machine."""

        def subgraph(
            self,
            *names: str,
            launch: int | str | None = None,
            from_ns: float | None = None,
            to_ns: float | None = None,
        ) -> nx.MultiDiGraph[Any]:
            """A part of its graph."""

    def to_perfetto(
        self,
        path: PathLike,
        launch: int | str | None = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
        *,
        links: bool = False,
        waits: bool = False,
        ticks: str = "ns",
    ) -> list[str]:
        """Write a window (:meth:`window`, by default the launches) as a trace that ui.perfetto.dev opens.

        Tracks are the machine's: host, packages, cubes, PEs and their engines, with launches, kernels,
        operations, messages, and counters of bandwidth, queues and TCM. Time 0 is the window's start;
        ``t_start`` and ``t_end`` among the arguments are the run's own times, exact.

        Args:
            path: The file.
            launch: See :meth:`window`; ``from_ns`` and ``to_ns`` too.
            from_ns: Leave out what ended before.
            to_ns: Leave out what began after.
            links: With every crossing of a component or link.
            waits: With every wait of a message for another, on pseudo-channels too.
            ticks: ``ns``, or ``ps``: Perfetto counts whole ns, so that times there are rounded to them; with
                ``ps`` they are exact to a picosecond, and a ns in the picture is a picosecond.

        Returns:
            The file's name, in a list.

        Raises:
            UsageError: The run has no trace, or there is no such window.
        """
        from kernbench.report.perfetto import TICKS, Options, write

        if ticks not in TICKS:
            raise UsageError(f"ticks '{ticks}' are none; {suggestion(ticks, TICKS)}use {' or '.join(TICKS)}")
        window = self._timed(launch, from_ns, to_ns)
        options = Options(links, waits, ticks)
        return write_file(path, lambda out: write(out, self._properties, self.tables, window, options))

    def timeline(
        self,
        launch: int | str | None = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
        *,
        links: bool = False,
        waits: bool = True,
        fold: bool = True,
        rows: int = 16,
    ) -> TimeLine:
        """The timeline of a window (:meth:`window`, by default the launches). A notebook shows it.

        Args:
            launch: See :meth:`window`; ``from_ns`` and ``to_ns`` too.
            from_ns: Leave out what ended before.
            to_ns: Leave out what began after.
            links: With the links, memories, routers and CPUs that transactions crossed, most occupied first.
            waits: With what was queued before them.
            fold: PEs that did the same at the same times, and such links, once.
            rows: PEs to show at most, and as many links and other parts; 0 for all.

        Raises:
            UsageError: The run has no trace, or there is no such window.
        """
        from kernbench.api.timelines import TimeLine
        from kernbench.report.timeline import Wanted, time_line

        if rows < 0:
            raise UsageError(f"rows={rows} cannot be shown; give a number from 1, or 0 for all")
        window = self._timed(launch, from_ns, to_ns)
        wanted = Wanted(links, waits, fold, rows)
        return TimeLine(time_line(self._properties, self.tables, window, wanted))

    def figure(
        self,
        name: str,
        launch: int | str | None = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> Figure:
        """A matplotlib figure of a window (:meth:`window`, by default the launches).

        ``roofline``: how near launches and operations came to what GEMM engines and memories allow; of whole
        launches only. ``links``: the occupancy of links, memories, routers and CPUs over time.
        ``timeline``: see :meth:`timeline`. ``energy``: by kind of part and by line, of the whole run.

        Raises:
            UsageError: There is no such figure or window, or nothing to draw; or the run is not kept.
            MissingExtraError: matplotlib is not installed.
        """
        from kernbench.api.pictures import run_figure

        return run_figure(self, name, launch, from_ns, to_ns)  # type: ignore[arg-type]

    def to_csv(
        self,
        folder: PathLike,
        launch: int | str | None = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> list[str]:
        """Write the tables of the trace into a folder, ``Op.csv``, ``Hop.csv`` and so on, and ``run.json``.

        By default all of the run; of a window (:meth:`window`) the rows that overlap it. Gives
        the names of the files. ``UsageError`` when the run has no trace, or there is no such window.
        """
        return self._tables_as("csv", folder, self.window(launch, from_ns, to_ns))

    def to_parquet(
        self,
        folder: PathLike,
        launch: int | str | None = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> list[str]:
        """As :meth:`to_csv`, but Parquet."""
        return self._tables_as("parquet", folder, self.window(launch, from_ns, to_ns))

    def to_chakra(
        self,
        prefix: PathLike,
        launch: int | str | None = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> list[str]:
        """Write the operations of a window as Chakra execution traces: ``prefix.0.et`` for SIP 0, and so on.

        Nodes are compute, memory loads and stores, and sends and receives between SIPs, with the data and
        control dependencies of the program. Chakra's times are whole us, so ``start_ns`` and ``duration_ns``
        are attributes. Gives the names of the files.

        Raises:
            UsageError: The run has no trace, no such window, or no operation of a kernel within it.
        """
        from kernbench.analysis.window_tables import tables_within
        from kernbench.report.chakra import ranks

        window = self._timed(launch, from_ns, to_ns)
        found = ranks(tables_within(self.tables, window), window.spans[0][0] if window.spans else 0.0)
        if not found:
            raise UsageError(f"no kernel did anything in {window.name}: there is nothing for Chakra to hold")
        files = []
        for rank, messages in found.items():
            data = b"".join(messages)
            files += write_file(f"{os.fspath(prefix)}.{rank}.et", partial(_put, data))
        return files

    def to_npe(
        self,
        path: PathLike,
        launch: int | str | None = "all",
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> list[str]:
        """Write the meshes of routers over time as an NPE timeline, which TT-NN Visualizer shows.

        A device of the file is a cube, a core one of its routers, a cycle a picosecond; 128 stretches of the
        window have the utilisation of each link, and transfers their routes. Gives the file's name in a list.

        Raises:
            UsageError: The run has no trace, or there is no such window; nothing crossed a mesh in it; or the
                mesh has more than 12 rows or 10 columns, which the format has not.
        """
        from kernbench.pgraph import topology_graph
        from kernbench.report.npe import Cubes, write

        window = self._timed(launch, from_ns, to_ns)
        graph = topology_graph(self.topology_record())
        width, height = (int(graph.properties[f"cube_mesh_{key}"]) for key in "wh")
        cubes = Cubes(width, width * height)
        links = [edge.id for edge in graph.edges("LINK")]
        return write_file(path, lambda out: write(out, self.tables, links, window, cubes))

    def to_graph(
        self,
        path: PathLike,
        *names: str,
        launch: int | str | None = None,
        from_ns: float | None = None,
        to_ns: float | None = None,
    ) -> list[str]:
        """Write :meth:`kernbench.Run.subgraph` as GraphML, GEXF or JSON, as ``path`` ends.

        Nodes have their ``id`` of the store and ``labels``, joined by colons; edges ``relationship``, their
        type. JSON is networkx's node-link format. Arguments are those of ``subgraph``; gives the file's name
        in a list.

        Raises:
            UsageError: ``path`` has another ending, or as for ``subgraph``.
        """
        from kernbench.report.graph_files import WRITERS, plain

        form = Path(path).suffix.removeprefix(".").lower()
        if form not in WRITERS:
            endings = ", ".join(f".{one}" for one in WRITERS)
            raise UsageError(f"'{os.fspath(path)}' does not say which format; let it end in one of {endings}")
        graph = plain(self.subgraph(*names, launch=launch, from_ns=from_ns, to_ns=to_ns))
        return write_file(path, lambda out: WRITERS[form](graph, out))

    def _timed(self, launch: int | str | None, from_ns: float | None, to_ns: float | None) -> Window:
        """The window, which has some time in it, of a run that has a trace."""
        self._check_traced()
        window = self.window(launch, from_ns, to_ns)
        if window.ns <= 0:
            raise UsageError(
                f"there is no time in {window.name}; choose another window, or launch run for all"
            )
        return window

    def _tables_as(self, to: str, folder: PathLike, window: Window) -> list[str]:
        from kernbench.analysis.window_tables import tables_within
        from kernbench.report.tables import WRITERS

        self._check_traced()
        whole = window.spans == ((0.0, float(self._properties["sim_ns"])),)
        tables = self.tables if whole else tables_within(self.tables, window)
        into = Path(folder)
        if into.exists() and not into.is_dir():
            raise UsageError(f"'{into}' is a file; name a folder for the {len(tables)} tables")
        files = []
        for name, table in tables.items():
            write = partial(WRITERS[to], table)
            files += write_file(into / f"{name}.{to}", write)
        about = {**self._properties, "window": {"name": window.name, "spans": window.spans}}
        text = json.dumps(about, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        return [*files, *write_file(into / "run.json", lambda out: out.write(text.encode()))]


def write_file(path: PathLike, write: Callable[[BinaryIO], object]) -> list[str]:
    """The name of the file that ``write`` filled. It appears whole or not at all."""
    target = Path(path)
    with _replacing(target) as temporary, writing(target), open(temporary, "wb") as out:
        write(out)
    return [os.fspath(target)]


def _put(data: bytes, out: BinaryIO) -> None:
    out.write(data)


def check_file(path: PathLike) -> None:
    """``UsageError`` where ``path`` is a folder, which no file can replace."""
    if Path(path).is_dir():
        raise UsageError(f"'{Path(path)}' is a folder; name a file")


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    check_file(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
