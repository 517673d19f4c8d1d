"""Where the shipped ``queries``, ``configs`` and ``evaluations`` lie: in a checkout or inside the wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def data_dir(name: str) -> Path:
    """Folder ``name`` (such as ``"queries"``): the wheel's copy, else the checkout's."""
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"KernBench's '{name}' folder is missing from this installation; reinstall it")


def shipped_topologies() -> dict[str, Path]:
    """Topologies that come with KernBench, by name."""
    folder = data_dir("configs") / "topologies"
    return {p.stem: p for p in (*sorted(folder.glob("*.yaml")), *sorted(folder.glob("zoo/*.yaml")))}
