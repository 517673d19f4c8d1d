"""Files of a run for the tools that people have: one :class:`Format` for each, which every surface reads.

A package adds a format with an entry point of the group ``kernbench.exports``. Its name is the format's, its
value a function ``write(run, path, window, **options)`` that gives the names of the files, or None for
``path``. It is imported when that format is asked for. The formats that come with KernBench are listed here,
so that they work in a checkout that was not installed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.errors import KernBenchError, UsageError
from kernbench.support.hints import did_you_mean, suggestion
from kernbench.support.user_code import raised, raised_at
from kernbench.support.written_files import writing

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.api.run_trace import RunTrace

PathLike = str | os.PathLike[str]
GROUP = "kernbench.exports"


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files. ``write`` takes the run, a path and a window, and gives the files' names."""

    name: str
    about: str
    """What it is and who reads it, for lists and help."""
    write: Callable[..., list[str]]
    ending: str = ""
    """How its file ends; a format of several files has a folder, or a prefix of their names."""
    whole: bool = False
    """Whether it has the whole run where no window is chosen, and not the launches."""
    options: Sequence[str] | None = ()
    """Names of further arguments of ``write``, which checks them itself where this is None."""


def export(
    run: RunTrace,
    to: str,
    path: PathLike | None = None,
    launch: Chosen = None,
    from_ns: float | None = None,
    to_ns: float | None = None,
    **options: object,
) -> list[str]:
    """See :meth:`kernbench.Run.export`."""
    known = formats()
    form = known.get(to)
    if form is None:
        raise UsageError(f"there is no format '{to}'; {did_you_mean(to, known)}")
    if form.options is not None and (unknown := sorted(options.keys() - set(form.options))):
        taken = ", ".join(form.options) or "none"
        raise UsageError(f"'{unknown[0]}' is not an option of '{to}'; it takes {taken}")
    run.check_traced()
    usual = "run" if form.whole else "all"
    chosen = ChosenWindow.of(usual if launch is None else launch, from_ns, to_ns)
    if not form.whole or chosen != ChosenWindow("run"):
        run.window(chosen).check_time()
    return form.write(run, path or f"{run.id}{form.ending}", chosen, **options)


def _perfetto(
    run: RunTrace,
    path: PathLike,
    chosen: ChosenWindow,
    links: bool = False,
    waits: bool = False,
    ticks: str = "ns",
) -> list[str]:
    from kernbench.export.perfetto import TICKS, Options, write

    if ticks not in TICKS:
        raise UsageError(f"unknown ticks '{ticks}'; {suggestion(ticks, TICKS)}use {' or '.join(TICKS)}")
    options = Options(links, waits, ticks)
    return write_file(path, lambda out: write(out, run.properties, run.tables, run.window(chosen), options))


def _chakra(run: RunTrace, prefix: PathLike, chosen: ChosenWindow) -> list[str]:
    """``prefix.0.et`` for SIP 0, and so on. Chakra's times are whole us, so attributes have the ns."""
    from kernbench.analysis.windows.window_tables import tables_within
    from kernbench.export.chakra import ranks

    window = run.window(chosen)
    parts = run.topology_record().tables["Component"]
    sip_of = dict(zip(parts["name"].to_pylist(), parts["sip"].to_pylist(), strict=True))
    found = ranks(tables_within(run.tables, window), sip_of, window.spans[0][0] if window.spans else 0.0)
    if not found:
        raise UsageError(f"no kernel did anything in {window.name}: there is nothing for Chakra to hold")
    files = []
    for rank, messages in found.items():
        data = b"".join(messages)
        files += write_file(f"{os.fspath(prefix)}.{rank}.et", partial(_put, data))
    return files


def _npe(run: RunTrace, path: PathLike, chosen: ChosenWindow) -> list[str]:
    """A device of the file is a cube, a core one of its routers, a cycle a picosecond."""
    from kernbench.export.npe import Cubes, write
    from kernbench.support.pgraph import topology_graph

    graph = topology_graph(run.topology_record())
    width, height = (int(graph.properties[f"cube_mesh_{key}"]) for key in "wh")
    cubes = Cubes(width, width * height)
    links = [edge.id for edge in graph.edges("LINK")]
    return write_file(path, lambda out: write(out, run.tables, links, run.window(chosen), cubes))


def _graph(
    run: RunTrace, path: PathLike, chosen: ChosenWindow, names: Sequence[str] = (), *, form: str
) -> list[str]:
    """Nodes have their ``id`` of the store and ``labels``, joined by colons; edges ``relationship``."""
    from kernbench.export.graph_files import write

    if Path(path).suffix.lower() != f".{form}":
        raise UsageError(f"'{os.fspath(path)}' does not end in .{form}; give it that ending")
    graph = run.subgraph(*names, launch=chosen)
    return write_file(path, lambda out: write(graph, form, out))


def _tables(run: RunTrace, folder: PathLike, chosen: ChosenWindow, *, form: str) -> list[str]:
    """A file for each table, ``Op.csv``, ``Hop.csv`` and so on, and ``run.json``."""
    from kernbench.analysis.windows.window_tables import tables_within

    window = run.window(chosen)
    whole = window.spans == ((0.0, run.sim_ns),)
    tables = run.tables if whole else tables_within(run.tables, window)
    into = Path(folder)
    if into.exists() and not into.is_dir():
        raise UsageError(f"'{into}' is a file; name a folder for the {len(tables)} tables")
    files = []
    for name, table in tables.items():
        files += write_file(into / f"{name}.{form}", partial(_table, table, form))
    about = {**run.properties, "window": {"name": window.name, "spans": window.spans}}
    text = json.dumps(about, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return [*files, *write_file(into / "run.json", lambda out: out.write(text.encode()))]


def _table(table: pa.Table, form: str, out: BinaryIO) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    if form == "csv":
        pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(quoting_style="needed"))
    else:
        pyarrow.parquet.write_table(table, out, compression="zstd")


def _timeline(run: RunTrace, path: PathLike, chosen: ChosenWindow, **options: Any) -> list[str]:
    return write_file(path, partial(_put, run.timeline(chosen, **options).svg().encode()))


def _roofline(run: RunTrace, path: PathLike, chosen: ChosenWindow) -> list[str]:
    from kernbench.draw.figures import drawing
    from kernbench.draw.figures.roofline import roofline_figure
    from kernbench.draw.roofs import drawn

    launch = chosen.of_launches("a roofline is of")
    panels = {"launches": "launch", "operations": "operation"}
    shown = [(name, drawn(run.roofline(by, launch))) for name, by in panels.items()]
    figure = roofline_figure(shown, f"{run.bench} on {run.topology}, {run.window(launch).name}: roofline")
    return write_file(path, partial(drawing.save, figure))


_SHIPPED = {
    form.name: form
    for form in (
        Format("perfetto", "a trace for ui.perfetto.dev", _perfetto, ".pftrace",
               options=("links", "waits", "ticks")),
        Format("timeline", "the timeline as a picture (SVG)", _timeline, ".svg",
               options=("links", "waits", "fold", "rows")),
        Format("roofline", "the roofline as a picture (PNG; needs kernbench[figures])", _roofline, ".png"),
        Format("chakra", "execution traces, OUT.0.et for SIP 0, ...", _chakra),
        Format("npe", "meshes of routers over time, for TT-NN Visualizer", _npe, ".npe.json"),
        Format("csv", "a folder with a file for each table", partial(_tables, form="csv"), "-csv", True),
        Format("parquet", "the same as Parquet", partial(_tables, form="parquet"), "-parquet", True),
        *(
            Format(form, f"the property graph, for {tool}", partial(_graph, form=form), f".{form}", True,
                   ("names",))
            for form, tool in (("graphml", "yEd"), ("gexf", "Gephi"), ("json", "networkx"))
        ),
    )
}  # fmt: skip


def formats() -> dict[str, Format]:
    """By name, in the order in which they are listed: the shipped ones, then those of installed packages."""
    own = {
        point.name: Format(point.name, _package(point), partial(_own, point), f".{point.name}", options=None)
        for point in entry_points(group=GROUP)
    }
    return _SHIPPED | own | _SHIPPED


def _package(point: EntryPoint) -> str:
    return f"of the package {point.dist.name if point.dist else point.module}"


def _own(
    point: EntryPoint, run: RunTrace, path: PathLike, chosen: ChosenWindow, **options: object
) -> list[str]:
    """What the function of a package writes; what it raises names the format, the package and the line."""
    try:
        files = point.load()(run, path, chosen, **options)
        return [os.fspath(file) for file in ([path] if files is None else files)]
    except (KernBenchError, OSError):
        raise
    except Exception as error:
        at = f" ({line})" if (line := raised_at(error)) else ""
        raise KernBenchError(f"format '{point.name}' {_package(point)} {raised(error)}{at}") from error


def write_file(path: PathLike, write: Callable[[BinaryIO], object]) -> list[str]:
    """The name of the file that ``write`` filled. It appears whole or not at all."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    check_file(target)
    with writing(target) as temporary, temporary.open("wb") as out:
        write(out)
    return [os.fspath(target)]


def _put(data: bytes, out: BinaryIO) -> None:
    out.write(data)


def check_file(path: PathLike) -> None:
    """``UsageError`` where ``path`` is a folder, which no file can replace."""
    if Path(path).is_dir():
        raise UsageError(f"'{Path(path)}' is a folder; name a file")
