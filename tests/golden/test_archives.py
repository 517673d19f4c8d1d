"""Archives of the shipped benches, patterns and topologies hold what they held, to the last bit.

See ``tests/golden/archives.py`` for what is digested and how to write ``archives.json`` anew.
"""

from __future__ import annotations

import json

import pytest

import kernbench as kb
from kernbench.benches import list_all
from tests.golden.archives import BENCHES, GOLDEN, PATTERNS, SLOW, cases, column_digest, differences

KEPT = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
CASES = cases()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in CASES]
)
def test_archive_is_what_it_was(name: str) -> None:
    found = list(differences(KEPT[name], CASES[name]()))
    assert not found, f"{name}: {'; '.join(found)}"


def test_all_benches_and_patterns_are_kept() -> None:
    assert set(BENCHES) == {bench.name for bench in list_all()}
    assert set(PATTERNS) == {pattern["name"] for pattern in kb.traffic_patterns()}
    assert set(KEPT) == set(CASES)


def test_a_digest_sees_the_last_bit_the_order_and_the_type() -> None:
    numbers = [1.0, 2.0]
    digests = {
        column_digest("double", numbers),
        column_digest("double", [1.0, 2.0000000000000004]),
        column_digest("double", [2.0, 1.0]),
        column_digest("int64", [1, 2]),
        column_digest("int32", [1, 2]),
        column_digest("string", ["1", "2"]),
    }
    assert len(digests) == 6


def test_a_difference_names_table_and_column() -> None:
    was = {"Hop": {"rows": 2, "txn": "a", "seq": "b"}, "Op": {"rows": 0}, "Used": {"rows": 1, "ns": "c"}}
    now = {"Hop": {"rows": 3, "txn": "a", "seq": "x"}, "New": {"rows": 0}, "Used": {"rows": 1, "ns": "c"}}
    assert sorted(differences(was, now)) == [
        "table Hop (2 rows became 3): seq",
        "table New: new",
        "table Op: gone",
    ]
