"""SVG of any topology: well formed, complete, legible, and the same in every process."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import matplotlib
import pytest
from PIL import ImageFont

from kernbench.draw.colours import IDLE, STEPS, colour, step
from kernbench.draw.machine import VIEWS, Overlay, View, overlay
from kernbench.draw.machine.text import SIZE, width
from kernbench.draw.percents import HIGH, percents
from kernbench.draw.svg import svg
from tests.unit.drawn_topologies import ALL, graph, label

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
EVERY = [pytest.param(t, v, id=f"{label(t)}-{v}") for t in ALL for v in VIEWS]
Rectangle = tuple[float, float, float, float]


@cache
def view(topology: str, name: str) -> View:
    return VIEWS[name](graph(topology), None)


@cache
def font(size: float, bold: bool) -> ImageFont.FreeTypeFont:
    """The widest of the fonts that the pictures ask for."""
    file = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"DejaVuSans{'-Bold' if bold else ''}.ttf"
    return ImageFont.truetype(str(file), round(size * 20))


def texts(root: ET.Element) -> Iterator[tuple[str, Rectangle, ET.Element | None]]:
    """Every text, the rectangle that it takes as the font has it, and the rectangle that it is written on."""

    def walk(element: ET.Element, dx: float, dy: float) -> Iterator[tuple[str, Rectangle, ET.Element | None]]:
        if move := re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
            dx, dy = dx + float(move[1]), dy + float(move[2])
        for child in element:
            if child.tag == f"{SVG}text":
                bold = child.get("class") in ("title", "percent")
                size = {"title": 19.0, "percent": HIGH}.get(child.get("class", ""), SIZE)
                text = child.text or ""
                long = font(size, bold).getlength(text) / 20
                x, y = float(child.get("x", "")) + dx, float(child.get("y", "")) + dy
                x -= {"start": 0.0, "middle": long / 2, "end": long}[child.get("text-anchor", "start")]
                yield text, (x, y - 0.76 * size, x + long, y + 0.24 * size), element.find(f"{SVG}rect")
            else:
                yield from walk(child, dx, dy)

    yield from walk(root, 0.0, 0.0)


def check_legible(text: str) -> None:
    root = ET.fromstring(text)
    wide, high = float(root.get("width", "")), float(root.get("height", ""))
    found = list(texts(root))
    for written, (x1, y1, x2, y2), _ in found:
        assert x1 >= 0, written
        assert y1 >= 0, written
        assert x2 <= wide, written
        assert y2 <= high, written
    for (one, a, _), (two, b, _) in combinations(found, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, f"'{one}' lies on '{two}'"
    for written, (x1, _, x2, _), rect in found:
        if rect is not None and rect.get("width") != "100%":
            assert x2 - x1 <= float(rect.get("width", "")), f"'{written}' is wider than its box"


@pytest.mark.daily(but=("tray-16-system", "crowded-system", "six-sip-torus-system"))
@pytest.mark.parametrize(("topology", "name"), EVERY)
def test_svg_is_well_formed_complete_and_legible(topology: str, name: str) -> None:
    drawn = view(topology, name)
    text = svg(drawn)
    check_legible(text)
    ids = [g.get("id") for g in ET.fromstring(text).iter(f"{SVG}g") if g.get("id")]
    assert sorted(ids, key=str) == sorted([*(b.id for b in drawn.boxes), *(w.id for w in drawn.wires)])


def test_labels_are_as_wide_as_was_reckoned() -> None:
    for written in ("PE_FETCH_STORE", "r10c12", "512 / 512 GB/s", "tile 32 x 64 x 32", "conn15"):
        assert font(SIZE, False).getlength(written) / 20 == pytest.approx(width(written), rel=0.01)


def test_a_run_colours_links_and_parts() -> None:
    drawn = view("default", "cube")
    shares = overlay(drawn, {"sip0.cube0.r0c0->sip0.cube0.r0c1": 0.4, "sip0.cube2.sram": 0.04})
    text = svg(drawn, shares, "20260101-a (some-bench)")
    check_legible(text)
    groups = {g.get("id"): g for g in ET.fromstring(text).iter(f"{SVG}g")}

    def stroke(wire: str) -> str | None:
        line = groups[wire].find(f"{SVG}polyline")
        assert line is not None
        return line.get("stroke")

    assert stroke("r0c0--r0c1") == STEPS[1]
    assert stroke("r0c1--r0c2") == IDLE
    rect = groups["sram"].find(f"{SVG}rect")
    assert rect is not None
    assert STEPS[0] in (rect.get("style") or "")
    assert "utilisation 40 %" in (groups["r0c0--r0c1"].findtext(f"{SVG}title") or "")
    assert ">20 to 40 % utilisation<" in text
    assert ">40%<" in text
    assert ">4%<" in text


@pytest.mark.daily(
    but=(
        "tray-16-system",
        "crowded-system",
        "six-sip-torus-system",
        "narrow-cube",
        "crowded-cube",
    )
)
@pytest.mark.parametrize(("topology", "name"), EVERY)
def test_percentages_of_all_that_is_busy_leave_every_text_legible(topology: str, name: str) -> None:
    drawn = view(topology, name)
    wires = {wire.id: 0.2 + number % 70 / 100 for number, wire in enumerate(drawn.wires)}
    boxes = {box.id: 0.25 for box in drawn.boxes if box.components}
    shares = Overlay(wires, boxes)
    check_legible(svg(drawn, shares, "a run"))
    printed = [note.text for note in percents(drawn, shares).values()]
    assert len(printed) >= 0.5 * len(drawn.wires)
    for share in set(printed):
        assert share == "25%" or float(share[:-1]) / 100 in {round(one, 2) for one in wires.values()}


@pytest.mark.parametrize("name", VIEWS)
def test_an_idle_run_is_legible_too(name: str) -> None:
    drawn = view("minimal", name)
    text = svg(drawn, overlay(drawn, {}), "a run with a long name " * 5)
    check_legible(text)
    assert STEPS[-1] in text


def test_the_scale_goes_from_0_to_100_percent_and_every_share_has_a_step() -> None:
    assert [step(share) for share in (0.0, 0.001, 0.2, 0.2001, 1.0)] == [-1, 0, 0, 1, 4]
    thick = [colour(share)[1] for share in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)]
    assert thick == sorted(set(thick))


@pytest.mark.parametrize("topology", ["default", "minimal"])
def test_the_diagrams_in_the_documentation_are_current(topology: str) -> None:
    folder = ROOT / "docs" / "diagrams" / topology
    kept = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    drawn = {f"{name}_view.svg": svg(view(topology, name)) for name in VIEWS}
    assert kept == drawn, "run 'make diagrams'"
