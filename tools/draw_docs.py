"""Draws the two pictures of the documentation that are no output of a command: ``make pictures``.

The machine as the front page shows it, and the way from a YAML file to an answer. The ground is transparent; text stands on
boxes of its own, or is of a grey that is read on white and on black, so that both modes have one file.
"""

# ruff: noqa: E501 - an element of SVG is one line

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

INK, GREY = "#1f2933", "#8a8f98"
FILL = {"part": "#dbe7f5", "memory": "#fde3c8", "link": "#e4ddf3", "level": "none", "core": "#d5ecd8"}
Box = tuple[float, float, float, float, str, Sequence[str]]


def box(x: float, y: float, w: float, h: float, kind: str, lines: Sequence[str], size: int = 13) -> str:
    """A labelled box. That of a level has its name at the top left, in grey."""
    if kind == "level":
        frame = f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="8" fill="none" stroke="{GREY}" stroke-dasharray="5 4"/>'
        return frame + text(x + 10, y + 19, lines[0], size + 1, GREY, "start", bold=True)
    parts = [f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="5" fill="{FILL[kind]}" stroke="{INK}"/>']
    top = y + h / 2 - (len(lines) - 1) * (size + 3) / 2 + size * 0.35
    for number, line in enumerate(lines):
        bold = number == 0
        parts.append(
            text(x + w / 2, top + number * (size + 3), line, size if bold else size - 1, INK, bold=bold)
        )
    return "".join(parts)


def text(
    x: float,
    y: float,
    line: str,
    size: int = 13,
    ink: str = GREY,
    anchor: str = "middle",
    *,
    bold: bool = False,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{ink}" text-anchor="{anchor}"{weight}>{escape(line)}</text>'


def line(points: Sequence[tuple[float, float]], *, arrow: bool = False, label: str = "") -> str:
    way = " ".join(f"{x:g},{y:g}" for x, y in points)
    end = ' marker-end="url(#end)"' if arrow else ""
    drawn = f'<polyline points="{way}" fill="none" stroke="{GREY}" stroke-width="2"{end}/>'
    (x, y), (to_x, to_y) = points[0], points[-1]
    return drawn + (text((x + to_x) / 2, min(y, to_y) - 6, label, 12) if label else "")


def picture(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" role="img"><title>{escape(title)}</title>'
        '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L10 5L0 10z" fill="{GREY}"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def machine() -> str:
    """The tray on the left, one cube of it in the middle, one PE of that on the right."""
    parts = [box(10, 10, 250, 400, "level", ["Tray (board)"])]
    parts += [box(30, 45, 90, 44, "part", ["Host CPU"]), box(150, 45, 90, 44, "part", ["Switch"])]
    parts += [line([(120, 67), (150, 67)])]
    parts.append(box(30, 125, 210, 268, "level", ["SIP: package"]))
    parts += [line([(195, 89), (195, 155)]), text(204, 112, "PCIe", 12, anchor="start")]
    parts.append(box(150, 155, 76, 32, "part", ["IO chiplet"], 12))
    for row in range(4):
        for column in range(4):
            chosen = row == 0 and column == 3
            x, y = 46 + column * 46, 205 + row * 43
            parts.append(box(x, y, 36, 33, "core" if chosen else "part", ["cube"], 12))
            parts += [line([(x + 36, y + 16), (x + 46, y + 16)])] if column < 3 else []
            parts += [line([(x + 18, y + 33), (x + 18, y + 43)])] if row < 3 else []
    parts += [line([(202, 187), (202, 205)]), text(135, 386, "die-to-die links (UCIe)", 12)]

    parts.append(box(300, 10, 300, 400, "level", ["Cube: chiplet"]))
    parts += [line([(220, 214), (300, 110)])]
    for row in range(4):
        for column in range(4):
            x, y = 360 + column * 56, 92 + row * 62
            parts += [line([(x, y), (x + 56, y)])] if column < 3 else []
            parts += [line([(x, y), (x, y + 62)])] if row < 3 else []
    for row in range(4):
        for column in range(4):
            if (row, column) not in ((1, 1), (1, 2), (2, 1), (2, 2)):
                parts.append(
                    f'<circle cx="{360 + column * 56}" cy="{92 + row * 62}" r="7" fill="{FILL["link"]}" stroke="{INK}"/>'
                )
    parts.append(box(394, 130, 100, 108, "memory", ["HBM", "slices, one", "for each PE"]))
    for x, y, name in ((315, 48, "PE"), (500, 48, "PE"), (315, 300, "PE"), (500, 300, "PE")):
        chosen = x == 500 and y == 48
        parts.append(box(x, y, 72, 30, "core" if chosen else "part", [name if chosen else "PE"]))
    parts += [box(305, 137, 46, 34, "memory", ["SRAM"], 12), box(305, 199, 46, 34, "part", ["M_CPU"], 12)]
    parts += [box(414, 40, 60, 26, "link", ["UCIe"], 12), box(414, 302, 60, 26, "link", ["UCIe"], 12)]
    parts += [line([(444, 66), (444, 92)]), line([(444, 278), (444, 302)])]
    parts.append(f'<circle cx="322" cy="356" r="7" fill="{FILL["link"]}" stroke="{INK}"/>')
    parts.append(text(336, 360, "router of the mesh", 12, anchor="start"))
    parts.append(text(310, 386, "four UCIe ports, one on each side", 12, anchor="start"))

    parts.append(box(640, 10, 250, 400, "level", ["PE: processing element"]))
    parts += [line([(572, 63), (640, 63)])]
    parts += [
        box(660, 45, 100, 44, "part", ["CPU", "runs kernels"]),
        box(770, 45, 100, 44, "part", ["Scheduler", "cuts tiles"]),
    ]
    parts += [box(660, 125, 210, 44, "part", ["DMA", "to and from the mesh"])]
    parts += [box(660, 205, 210, 60, "memory", ["TCM", "tightly coupled memory"])]
    parts += [
        box(660, 300, 100, 60, "core", ["GEMM", "matrix engine"]),
        box(770, 300, 100, 60, "core", ["MATH", "vector unit"]),
    ]
    parts += [line([(760, 67), (770, 67)]), line([(820, 89), (820, 125)]), line([(765, 169), (765, 205)])]
    parts += [line([(710, 265), (710, 300)]), line([(820, 265), (820, 300)])]
    parts.append(text(765, 386, "fetch and store move the data", 12))
    return picture(
        900, 420, "A tray with a package of 4 x 4 cubes, one cube, and one of its processing elements", parts
    )


def architecture() -> str:
    """From a YAML file to an answer."""
    steps = (
        ("part", ["YAML", "topology file"]),
        ("part", ["Graph", "parts and links"]),
        ("core", ["Machine", "wired components"]),
        ("memory", ["Trace", "hops, waits, ops"]),
        ("memory", ["Store", "Parquet files"]),
        ("link", ["Answers", "why, questions"]),
    )
    labels = ("check", "wire", "simulate", "keep", "ask")
    parts = []
    for number, (kind, lines) in enumerate(steps):
        x = 10 + number * 150
        parts.append(box(x, 120, 120, 56, kind, lines))
        if number:
            parts.append(line([(x - 30, 148), (x - 1, 148)], arrow=True))
            parts.append(text(x - 15, 112, labels[number - 1], 12))
    parts += [
        box(310, 20, 120, 56, "part", ["Bench", "host and kernels"]),
        line([(370, 76), (370, 119)], arrow=True),
    ]
    parts.append(text(378, 96, "launch", 12, anchor="start"))
    parts += [
        box(460, 220, 120, 56, "core", ["Replay", "numbers, numpy"]),
        line([(520, 176), (520, 219)], arrow=True),
    ]
    parts.append(text(528, 204, "verify", 12, anchor="start"))
    parts += [
        box(610, 220, 120, 56, "link", ["Databases", "made on demand"]),
        line([(670, 176), (670, 219)], arrow=True),
    ]
    parts += [line([(730, 248), (820, 248), (820, 177)], arrow=True), text(775, 266, "Cypher", 12)]
    parts.append(text(220, 200, "routes and pictures", 12))
    parts.append(text(220, 216, "come from it, too", 12))
    return picture(
        890, 290, "From a YAML file over graph, machine and trace to the store and its answers", parts
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "machine.svg").write_text(machine(), encoding="utf-8")
    (folder / "architecture.svg").write_text(architecture(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
