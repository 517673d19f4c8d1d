"""Writes docs/reference/zoo.md: each machine of the zoo with its picture, its bandwidths and its all-reduce.

``python -m tools.zoo_page docs/reference/zoo.md``; pictures go to ``docs/pictures/zoo``.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import kernbench as kb
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.support.data_files import data_dir
from kernbench.support.pgraph import PropertyGraph

PATTERNS = ("neighbour", "uniform-random", "transpose")
BYTES = 4 << 10
SIZES = (1 << 10, 8 << 10, 64 << 10)
"""Bytes that each rank reduces."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
ABOUT = """# The zoo

Machines that come with the package, each a [file of parts, blocks and wires](../how-to/describe-a-machine.md)
under `configs/topologies/zoo`. Each figure there has its source in a comment, or "chosen" where none is
public. The tables are made by `python -m tools.zoo_page docs/reference/zoo.md`: bytes a ns (GB/s) of all PEs
or sources together in patterns of `kernbench traffic`, 4 KiB each, and ns of `kernbench run ccl-allreduce` by
the bytes that each package reduces, from the first kernel's start to the last one's end.
"""


def main(page: Path) -> None:
    """Write the page and its pictures."""
    pictures = page.parent.parent / "pictures" / "zoo"
    pictures.mkdir(parents=True, exist_ok=True)
    files = sorted(data_dir("configs").glob("topologies/zoo/*.yaml"))
    parts, curves = [], {}
    for file in files:
        name = file.stem
        graph = kb.load_topology(name)
        (pictures / f"{name}.svg").write_text(kb.diagram(graph, "system"), encoding="utf-8")
        kinds = Counter(str(node.properties["kind"]) for node in graph.nodes() if node.properties["impl"])
        links = sum(1 for _ in graph.edges("LINK"))
        about = " ".join(
            line[2:] for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("# ")
        )
        first = about.split(". ")[0].rstrip(".")
        parts += [f"## {name}\n", f"{first}.\n", f"![{name}](../pictures/zoo/{name}.svg)\n"]
        most = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(4))
        parts.append(f"{sum(kinds.values())} parts ({most} ...), {links} links.\n")
        rates = []
        for pattern in PATTERNS:
            try:
                run = kb.traffic(f"pattern:{pattern}", graph, store="memory:", bytes=BYTES)
            except kb.KernBenchError as error:
                rates.append(f"no: {str(error).split(';')[0].split(':')[-1].strip()}")
                continue
            rates.append(f"{run.totals['total_bytes'] / run.totals['makespan_ns']:,.0f}")
        parts.append(table(PATTERNS, rates, "GB/s"))
        shape = MachineShape.of(graph)
        if any(node.properties["kind"] == "pe" for node in graph.nodes()) and shape.sips > 1:
            curves[name] = [reduced(graph, nbytes) for nbytes in SIZES]
            parts.append(
                table(
                    [f"{n >> 10} KiB" for n in SIZES], [f"{ns:,.0f}" for ns in curves[name]], "all-reduce, ns"
                )
            )
    (pictures / "all-reduce.svg").write_text(drawn(curves), encoding="utf-8")
    curve = "## All-reduce\n\n![ns of an all-reduce by bytes](../pictures/zoo/all-reduce.svg)\n"
    page.write_text("\n".join([ABOUT, curve, *parts]), encoding="utf-8")


def reduced(graph: PropertyGraph, nbytes: int) -> float:
    """ns of an all-reduce of so many bytes of each package."""
    run = kb.run("ccl-allreduce", graph, params={"elements": nbytes // 2}, store="memory:", trace=False)
    return max(float(launch["t_done"]) for launch in run.launches) - min(
        float(launch["t_start"]) for launch in run.launches
    )


def table(heads: object, cells: object, what: str) -> str:
    """A table of one row."""
    head, row = list(heads), list(cells)  # type: ignore[call-overload]
    return "\n".join(
        [f"| | {' | '.join(head)} |", "|---|" + "---|" * len(head), f"| {what} | {' | '.join(row)} |", ""]
    )


def drawn(curves: dict[str, list[float]]) -> str:
    """Lines over bytes, both axes logarithmic."""
    from math import log2

    wide, high, left, top = 620, 300, 60, 20
    least, most = (f(log2(ns) for one in curves.values() for ns in one) for f in (min, max))
    x = [left + i * (wide - left - 170) / (len(SIZES) - 1) for i in range(len(SIZES))]
    found = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
        'font-family="sans-serif" font-size="12">'
    ]
    for i, nbytes in enumerate(SIZES):
        found.append(f'<text x="{x[i]:.0f}" y="{high - 8}" text-anchor="middle">{nbytes >> 10} KiB</text>')

    def y(ns: float) -> float:
        return top + (most - log2(ns)) / (most - least) * (high - top - 40)

    found += [
        f'<path d="M{left} {y(ns):.1f}H{wide - 170}" stroke="#ddd"/>'
        f'<text x="{left - 6}" y="{y(ns) + 4:.1f}" text-anchor="end">{ns:,}</text>'
        for ns in (2**n for n in range(int(least) + 1, int(most) + 1))
    ]
    ends = sorted(curves, key=lambda name: curves[name][-1], reverse=True)
    for (name, values), colour in zip(curves.items(), COLOURS, strict=False):
        line = " ".join(f"{a:.1f},{y(ns):.1f}" for a, ns in zip(x, values, strict=True))
        at = max(y(values[-1]), top + 16 * ends.index(name))
        found.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{wide - 162}" y="{at + 4:.1f}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*found, f'<text x="{left}" y="12">ns</text></svg>\n'])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
