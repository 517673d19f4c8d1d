"""No imports make a circle outside of the simulator's rooms, with stubs and annotations."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[2] / "kernbench"
ROOMS = (
    *("analysis", "cli", "draw", "export", "hardware.kinds", "hardware.routing", "host.collectives"),
    *("api", "page", "tui", "validation", "workloads"),
)


def modules() -> dict[str, list[Path]]:
    """The files of each module: its source, its stub."""
    found: dict[str, list[Path]] = {}
    for file in sorted([*ROOT.rglob("*.py"), *ROOT.rglob("*.pyi")]):
        parts = file.relative_to(ROOT.parent).with_suffix("").parts
        found.setdefault(".".join(parts).removesuffix(".__init__"), []).append(file)
    return found


def imported(file: Path) -> Iterator[str]:
    """Every name that a file imports, wherever the import stands."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def test_no_circle_of_imports() -> None:
    known, graph = modules(), nx.DiGraph()
    for module, files in known.items():
        for name in (name for file in files for name in imported(file)):
            target = name if name in known else name.rpartition(".")[0]
            if target in known and target != module:
                graph.add_edge(module, target)
    circles = [sorted(one) for one in nx.strongly_connected_components(graph) if len(one) > 1]
    outer = tuple(f"kernbench.{room}" for room in ROOMS)
    assert graph.number_of_edges() > 2000
    found = [one for one in circles if any(name.startswith(outer) or name == "kernbench" for name in one)]
    assert found == []
