"""``kernbench topology diagram``."""

from __future__ import annotations

from pathlib import Path

import click

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.pictures import DIAGRAM_VIEWS, diagram_frames, diagram_views
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import draw, emit, format_option
from kernbench.support.written_files import writing


@click.command(
    cls=Command,
    examples=[
        "kernbench topology diagram default --out diagrams",
        "kernbench topology diagram minimal --view cube --out cube.svg",
        "kernbench topology diagram minimal --view cube --run last --frames 4 --out frames",
    ],
)
@options.file()
@click.option(
    "--view",
    type=click.Choice([*DIAGRAM_VIEWS, "all"]),
    default="all",
    show_default=True,
    help="What to show: the system, a package (SIP), a cube or a PE.",
)
@click.option(
    "--out",
    metavar="PATH",
    default=".",
    show_default=True,
    help="A folder for one file per view; with a single --view, a file, or - for stdout.",
)
@click.option(
    "--of", "part", metavar="NAME", help="With one --view: the SIP, cube or PE to show, such as sip0.cube5."
)
@options.changes
@click.option(
    "--run", "run", metavar="RUN", help="Colour links and parts by their share of this run's launch time."
)
@click.option(
    "--frames", type=click.IntRange(min=1), metavar="N",
    help="With --run: N numbered pictures, each of an equal interval of the run's time.",
)  # fmt: skip
@options.window
@options.timeout
@options.store
@format_option
def command(
    file: str,
    view: str,
    out: str,
    part: str | None,
    topo: dict[str, str],
    components: str | None,
    run: str | None,
    frames: int | None,
    window: ChosenWindow,
    store: str | None,
    fmt: str,
) -> None:
    """Draw the topology FILE as SVG, to scale: one SIP, cube and PE stand for all of them.

    With --run, a shape that stands for several links or parts has the colour of the busiest.
    """
    path = Path(out)
    # A folder may have a dot in its name; with one view, an ending other than .svg is a mistake.
    ends_as_file = path.suffix.lower() == ".svg" or (view != "all" and bool(path.suffix))
    is_file = out == "-" or (ends_as_file and not path.is_dir())
    if view == "all" and (is_file or part is not None):
        option = "--of" if part is not None else f"--out {out}"
        raise click.UsageError(f"{option} needs one --view, such as --view cube")
    if not is_file and path.is_file():
        raise click.UsageError(f"--out {out} is a file; name a folder, or a file that ends in .svg")
    if is_file and out != "-" and path.suffix.lower() != ".svg":
        raise click.UsageError(f"--out {path}: unsupported file type; use .svg")
    graph = kb.load_topology(file, topo, components)
    views = diagram_views(graph) if view == "all" else (view,)
    if frames is not None and (run is None or out == "-"):
        why = "needs --run, whose time it divides" if run is None else "needs a folder or a file as --out"
        raise click.UsageError(f"--frames {why}")
    texts: dict[tuple[str, str], str] = {}
    if run is None:
        texts = {(name, ""): kb.diagram(graph, name, of=part) for name in views}
    else:
        with options.opened(store) as kept_in:
            found = kb.open_run(run, kept_in)
            windows = [window] if frames is None else diagram_frames(found, frames, window)
            for number, shown in enumerate(windows):
                mark = f"_{number:03}" if frames is not None else ""
                for name in views:
                    texts[name, mark] = kb.diagram(graph, name, run=found, of=part, launch=shown)
    if out == "-":
        draw(texts[view, ""].removesuffix("\n"))
        return
    files = []
    for (name, mark), text in texts.items():
        target = path.with_stem(path.stem + mark) if is_file else path / f"{name}_view{mark}.svg"
        target.parent.mkdir(parents=True, exist_ok=True)
        with writing(target) as partial:
            partial.write_text(text, encoding="utf-8", newline="\n")
        files.append((name, str(target)))
    payload = {"files": [{"view": name, "file": target} for name, target in files]}
    emit(fmt, payload, ("view", "file"), files)
