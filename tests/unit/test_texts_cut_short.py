"""A Cypher text that ends anywhere, as one that is being typed: an error in words, or none."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from kernbench_graph.errors import StoreError
from kernbench_graph.query.columns import columns_of, has_path
from kernbench_graph.query.confined import confined
from kernbench_graph.query.guard import check_read_only, statement
from kernbench_graph.query.looked_at import looked_at
from kernbench_graph.query.windows import anchored
from kernbench_graph.stores.arcade import dialect as arcade
from kernbench_graph.stores.embedded import dialect as ladybug
from kernbench_graph.stores.view import check_history

CONFORMANCE = Path(__file__).parents[1] / "conformance"
TEXTS = [
    line
    for name in ("free_queries.cypher", "shapes.cypher")
    for line in (CONFORMANCE / name).read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("//")
]
READERS: tuple[Callable[[str], object], ...] = (
    arcade.dialect,
    ladybug.dialect,
    lambda text: ladybug.answered_alike(text, {}),
    lambda text: confined(text, closed=True),
    looked_at,
    lambda text: anchored(text, frozenset({"TOUCHED"}), {}),
    check_history,
    columns_of,
    has_path,
)
"""Each may be given any text that the fence of reading queries lets through."""


@pytest.mark.parametrize("every", [23, pytest.param(1, marks=pytest.mark.slow)])
def test_whatever_is_missing_at_the_end(every: int) -> None:
    passed = 0
    for text in TEXTS[::every]:
        for _, token, at in statement(text):
            cut = text[: at + len(token)]
            with suppress(StoreError):
                check_read_only(cut)
                for read in READERS:
                    with suppress(StoreError):
                        read(cut)
                        passed += 1
    assert passed > 500 / every
