"""Docstrings read as plain English: no sentence begins with "What", and the words to avoid are avoided."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = [path for room in ("kernbench", "graph", "tools") for path in sorted((ROOT / room).rglob("*.py"))]
AVOIDED = re.compile(r"^What\b(?!-)|[.;] What\b(?!-)|\b([Tt]old|[Nn]obody|[Ww]hoever)\b")


def texts(path: Path) -> Iterator[str]:
    """The docstrings of a file, those of attributes too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def test_docstrings_avoid_these_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text[:60]}"
        for path in FILES
        for text in texts(path)
        if AVOIDED.search(text)
    ]
    assert found == []
