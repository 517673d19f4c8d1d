"""Draws those pictures of the documentation that no command writes: ``make pictures``.

The machine as the front page shows it, the way from a YAML file to an answer, and a loop of a Triton kernel with one stage and with
three. The ground is transparent; text stands on
boxes of its own, or is of a grey that is read on white and on black, so that both modes have one file.
"""

# ruff: noqa: E501 - an element of SVG is one line

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl

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


def picture(
    width: int, height: int, title: str, parts: Sequence[str], left: int = 0, scale: float = 1.0
) -> str:
    """The part of a drawing from ``left`` on, as wide as ``width``."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} 0 {width} {height}" '
        f'width="{width * scale:.0f}" height="{height * scale:.0f}" '
        f'font-family="system-ui, sans-serif" role="img"><title>{escape(title)}</title>'
        '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L10 5L0 10z" fill="{GREY}"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def machine() -> list[str]:
    """The tray, one cube of it, one PE of that: side by side in a column of text, one below the other on a phone."""
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

    tray = picture(262, 420, "A tray with a package of 4 x 4 cubes", parts, 4, 0.86)

    parts = [box(300, 10, 284, 400, "level", ["Cube: chiplet"])]
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

    cube = picture(294, 420, "The cube that is green in the tray", parts, 295, 0.86)

    parts = [box(640, 10, 250, 400, "level", ["PE: processing element"])]
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
    return [
        tray,
        cube,
        picture(260, 420, "The processing element that is green in the cube", parts, 635, 0.86),
    ]


def architecture() -> str:
    """From a YAML file to an answer, downwards."""
    steps = (
        ("part", ["YAML", "topology file"], "check"),
        ("part", ["Graph", "parts and links"], "wire"),
        ("core", ["Machine", "wired components"], "simulate"),
        ("memory", ["Trace", "hops, waits, ops"], "record"),
        ("memory", ["Store", "Parquet files"], "query"),
        ("link", ["Answers", "why, questions"], ""),
    )
    parts = []
    for number, (kind, lines, label) in enumerate(steps):
        y = 6 + number * 84
        parts.append(box(6, y, 126, 52, kind, lines))
        if label:
            parts += [
                line([(69, y + 52), (69, y + 83)], arrow=True),
                text(78, y + 71, label, 12, anchor="start"),
            ]
    parts += [
        text(150, 112, "routes and pictures", 12, anchor="start"),
        text(150, 128, "come from it, too", 12, anchor="start"),
        box(208, 174, 126, 52, "part", ["Bench", "host and kernels"]),
        line([(208, 200), (133, 200)], arrow=True, label="launch"),
        box(208, 258, 126, 52, "core", ["Replay", "numbers, numpy"]),
        line([(132, 284), (207, 284)], arrow=True, label="verify"),
        box(208, 342, 126, 52, "link", ["Databases", "made on demand"]),
        line([(132, 368), (207, 368)], arrow=True),
        line([(271, 394), (271, 452), (133, 452)], arrow=True),
        text(202, 446, "Cypher", 12),
    ]
    return picture(
        340, 484, "From a YAML file over graph, machine and trace to the store and its answers", parts
    )


@triton.jit
def product(a, b, c, K, B: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    at = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        x = tl.load(a + at[:, None] * K + k + at[None, :])
        y = tl.load(b + (k + at[:, None]) * B + at[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + at[:, None] * B + at[None, :], acc)


def stages(count: int) -> str:
    """The time line of some iterations of a product whose loads run ``count`` - 1 iterations ahead."""
    a, b = np.ones((64, 512), np.float16), np.ones((512, 64), np.float16)
    done = kb.run_kernel(
        product[(1,)], a, b, out=np.zeros((64, 64), np.float32), K=512, B=64, num_stages=count
    )
    begin, _ = done.run.window(0).spans[0]
    return done.run.timeline(from_ns=begin + 600, to_ns=begin + 1400).svg()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, drawn in enumerate(machine(), 1):
        (folder / f"machine-{number}.svg").write_text(drawn, encoding="utf-8")
    (folder / "architecture.svg").write_text(architecture(), encoding="utf-8")
    for count in (1, 3):
        (folder / f"triton-stages-{count}.svg").write_text(stages(count), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
