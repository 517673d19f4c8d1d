"""The documentation is true: its pages run, its links lead somewhere, its reference is up to date."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernbench as kb
from tests.commands import commands
from tests.e2e.doc_pages import run_page

ROOT = Path(__file__).resolve().parents[2]
RUN = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "learn").glob("*.md")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    ROOT / "docs" / "explanation" / "graph.md",
]
ALL = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def names(pages: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in pages]


LONG = (
    "README.md",
    "a-token-of-llama.md",
    "add-a-question.md",
    "annotate-a-run.md",
    "ask-questions.md",
    "ask-what-if.md",
    "bring-your-triton-kernel.md",
    "browse-in-the-browser.md",
    "browse-in-the-terminal.md",
    "choose-an-address-model.md",
    "contention.md",
    "describe-a-mesh-of-cores.md",
    "export-a-run.md",
    "faster-gemm.md",
    "find-the-bottleneck.md",
    "find-the-energy.md",
    "graph.md",
    "follow-advice.md",
    "how-many-users.md",
    "ranks.md",
    "regress-in-ci.md",
    "run-a-sweep.md",
    "keep-runs-in-order.md",
    "replay-traffic.md",
    "run-an-evaluation.md",
    "run-ranks.md",
    "run-your-model.md",
    "see-a-run-on-a-timeline.md",
    "send-a-report.md",
    "test-a-kernel.md",
    "tokens-a-second.md",
    "trust-a-topology.md",
    "vary-a-topology.md",
    "write-a-bench.md",
    "write-a-collective.md",
    "your-chip.md",
    "your-pytorch-model.md",
)
"""Run in CI alone: they take more than a second."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=id_, marks=[pytest.mark.slow] if path.name in LONG else [])
        for path, id_ in zip(RUN, names(RUN), strict=True)
    ],
)
def test_page_runs(path: Path, workdir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_page(path, workdir) > 0


def test_page_about_neo4j_runs_on_a_server(
    workdir: Path, neo4j_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KERNBENCH_STORE", neo4j_url)
    assert run_page(ROOT / "docs" / "how-to" / "share-runs-with-neo4j.md", workdir) == 4


def test_links_lead_somewhere() -> None:
    for path in ALL:
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        text = re.sub(r"`[^`\n]+`", "", text)  # a line of code has no links
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            assert "://" in target or (path.parent / target).exists(), f"{path.name} links to {target}"


def test_every_page_is_in_the_contents() -> None:
    """docs/SUMMARY.md is the order of pages, on a forge and on the site."""
    listed = re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "SUMMARY.md").read_text(encoding="utf-8"))
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(listed) == sorted(pages - {"SUMMARY.md"})


@pytest.mark.slow
def test_the_site_builds_and_all_of_its_links_and_anchors_lead_somewhere(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="the extra 'docs' is not installed")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "KernBench" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "search" / "search_index.json").exists()
    shown = (tmp_path / "reference" / "cli" / "index.html").read_text(encoding="utf-8")
    for context in commands():
        assert f">{context.command_path}<" in shown.replace("&nbsp;", " ")
    host = (tmp_path / "reference" / "torch" / "index.html").read_text(encoding="utf-8")
    for name in ("launch", "check", "from_numpy"):
        assert f'id="kernbench.host.context.Context.{name}"' in host


def test_decisions_are_complete_in_number() -> None:
    """Each number is a record, or is named as one that was never used."""
    folder = ROOT / "docs" / "explanation" / "decisions"
    numbers = {int(path.name[:4]) for path in folder.glob("[0-9]*.md")}
    (unused,) = re.findall(r"numbers \*\*([^*]+)\*\*", (folder / "README.md").read_text(encoding="utf-8"))
    assert numbers.isdisjoint(named := {int(number) for number in re.findall(r"\d+", unused)})
    assert numbers | named == set(range(1, max(numbers) + 1))
    for path in folder.glob("[0-9]*.md"):
        assert path.read_text(encoding="utf-8").startswith(f"# {int(path.name[:4])}. ")


def test_reference_of_the_python_interface_has_every_public_name() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    public = {name for name in dir(kb) if not name.startswith("_")}
    public -= {name for name in public if inspect.ismodule(getattr(kb, name))}
    assert sorted(re.findall(r"^::: kernbench\.(?:[\w.]+\.)?(\w+)$", page, re.MULTILINE)) == sorted(public)


def test_reference_of_the_keys_of_a_topology_is_up_to_date() -> None:
    from tools.reference import topology_keys as reference

    kept = (ROOT / "docs" / "reference" / "topology-keys.md").read_text(encoding="utf-8")
    assert kept == reference.page(), "run 'make docs'"


def test_the_page_on_the_environment_has_every_variable_that_is_read() -> None:
    page = (ROOT / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    sources = [
        path.read_text("utf-8")
        for top in ("kernbench", "graph", "evaluations")
        for path in (ROOT / top).rglob("*.py")
    ]
    read = {
        name for text in sources for name in re.findall(r'"((?:KERNBENCH|MILESTONE|GQA)_[A-Z0-9_]+)"', text)
    }
    assert read == set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))


def test_reference_of_the_kernel_language_is_up_to_date() -> None:
    from tools.reference import tl as reference

    kept = (ROOT / "docs" / "reference" / "tl.md").read_text(encoding="utf-8")
    assert kept == reference.page(), "run 'make docs'"
    assert (ROOT / "kernbench" / "tl.pyi").read_text(encoding="utf-8") == reference.stub(), "run 'make docs'"


def test_the_page_for_contributors_knows_every_room_and_nothing_else() -> None:
    text = (ROOT / "docs" / "explanation" / "contributing.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`((?:kernbench|graph|queries|configs|tests)/[\w/.]*)`", text))
    for path in listed:
        assert (ROOT / path).exists(), f"{path} does not exist"
    rooms = {f"kernbench/{room.parent.name}/" for room in (ROOT / "kernbench").glob("*/__init__.py")}
    assert rooms <= listed
