"""Archives of the shipped benches, patterns and topologies hold what they held, to the last bit.

See ``tests/golden/archives.py`` for the figures, what is digested, and how to write ``archives.json`` anew.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.workloads.benches import list_all
from tests.golden.archives import (
    BENCHES,
    FIGURES,
    GOLDEN,
    PATTERNS,
    cases,
    column_digest,
    commit_of,
    differences,
    with_statements,
)

ROOT = Path(__file__).resolve().parents[2]
FILE = json.loads(GOLDEN.read_text(encoding="utf-8"))
KEPT = FILE["cases"]
CASES = cases()


@pytest.mark.daily(
    "* on minimal",
    "pattern tornado*",
    "pattern hot-spot*",
    "pattern uniform-random*",
    "topology minimal",
    "gemm-single-pe on default",
    "softmax on small-one-to-one",
    "ipcq-allreduce on small-one-to-one",
    "qkv-gemm-multi-pe on small-pa",
    "matmul-composite load_load*",
)
@pytest.mark.parametrize("name", CASES)
def test_archive_is_what_it_was(name: str) -> None:
    found = list(differences(KEPT[name], CASES[name]()))
    assert not found, f"{name}: {'; '.join(found)}"


def test_all_benches_and_patterns_are_kept() -> None:
    assert set(BENCHES) == {bench.name for bench in list_all()}
    assert set(PATTERNS) == {pattern["name"] for pattern in kb.traffic_patterns()}
    assert set(KEPT) == set(CASES)


def test_every_case_has_figures_that_a_person_can_read() -> None:
    for name, tables in KEPT.items():
        is_run = not name.startswith("topology ")
        assert list(tables)[: 1 + is_run] == list(FIGURES[: 1 + is_run]), name
        for table in FIGURES[: 1 + is_run]:
            assert tables[table], (name, table)
            assert all(type(value) in (int, float) for value in tables[table].values()), (name, table)
        if is_run:
            figures = tables["figures"]
            assert figures["sim_ns"] > 0
            assert figures["sim_ns"] >= figures["latency_ns"] >= 0
            assert figures["hops"] == tables["Hop"]["rows"]
            assert figures["transactions"] == tables["Transaction"]["rows"]
            assert figures["ops"] == tables["Op"]["rows"]
            assert (figures["latency_ns"] > 0) == (figures["launches"] > 0)


def test_the_figures_of_a_run_are_those_that_it_says() -> None:
    with kb.open_store("memory:") as store:
        run = kb.run("gemm-single-pe", "minimal", verify=True, device="all", store=store)
        kept = KEPT["gemm-single-pe on minimal"]
        assert kept["figures"]["latency_ns"] == pytest.approx(run.latency_ns, abs=1e-3)
        assert kept["figures"]["bytes"] == run.transactions["bytes"].sum()
        busy = run.cypher("MATCH (u:Use {kind: 'hbm_ctrl'}) RETURN sum(u.busy_ns) AS ns").rows
        assert kept["busy_ns"]["hbm_ctrl"] == pytest.approx(busy[0][0], abs=1e-3)


def _git(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *argv], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.skipif(_git("rev-parse", "HEAD").returncode != 0, reason="this is no checkout")
def test_the_commit_that_the_file_names_is_in_the_history() -> None:
    commit = FILE["origin"]["commit"]
    assert re.fullmatch("[0-9a-f]{40}", commit)
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() == "false":
        assert _git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(_git("rev-parse", "HEAD").returncode != 0, reason="this is no checkout")
def test_the_file_is_not_written_from_sources_that_no_commit_has(tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{ROOT}", str(copy)], check=True)
    head = _git("rev-parse", "HEAD").stdout.strip()
    assert commit_of(copy) == head
    (copy / "kernbench" / "new.py").write_text("", encoding="utf-8")
    assert commit_of(copy) == f"{head} with changes"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "golden" / "archives.py"), "--only", "topology minimal"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "holds all cases of a commit" in done.stderr


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
    was = {
        "figures": {"sim_ns": 2.5, "ops": 1},
        "Hop": {"rows": 2, "txn": "a", "seq": "b"},
        "Op": {"rows": 0},
        "Used": {"rows": 1, "ns": "c"},
    }
    now = {
        "figures": {"sim_ns": 3.5, "ops": 1},
        "Hop": {"rows": 3, "txn": "a", "seq": "x"},
        "New": {"rows": 0},
        "Used": {"rows": 1, "ns": "c"},
    }
    assert list(differences(was, now)) == [
        "figures sim_ns: 2.5 became 3.5",
        "table Hop (2 rows became 3): seq",
        "table New: new",
        "table Op: gone",
    ]


def test_a_line_of_the_source_is_digested_as_its_statement() -> None:
    lines = (ROOT / "kernbench/workloads/benches/softmax.py").read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, 1) if "tl.load(" in line)
    text = with_statements(f'["softmax.py:{number}", "softmax.py:{len(lines) + 1}", "another.py:1"]')
    assert (
        text == f'["softmax.py: {lines[number - 1].strip()}", "softmax.py:{len(lines) + 1}", "another.py:1"]'
    )
