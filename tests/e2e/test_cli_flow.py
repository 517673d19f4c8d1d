"""Run, ask, list, show, remove: through the command line, in its three formats."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from kernbench_graph.schema import SCHEMA_VERSION

import kernbench as kb
from kernbench.validation import sampling
from tests.commands import commands
from tests.processes import Process

RUN = ("run", "--bench", "gemm-single-pe", "--topology", "minimal")
RUN_KEYS = (
    *("run_id", "bench", "topology", "sim_ns", "verified", "wall_s", "events", "hops", "flit_crossings"),
    *("launches", "busiest", "busiest_links", "busiest_engines", "most_waited_for"),
)

Cli = Callable[..., Any]


def one_json_value(text: str) -> Any:
    assert text.endswith("\n")
    assert text.count("\n") == 1
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_a_run_is_kept_asked_shown_and_removed(process: Cli, cli: Cli, workdir: Path) -> None:
    ran = process(*RUN, "--verify-data", "m=32", "--tag", "first", "--format", "json")
    assert (ran.status, ran.err) == (0, "")
    run = one_json_value(ran.out)
    assert [key for key in RUN_KEYS if key not in run] == []
    assert run["verified"] is True
    assert run["params"]["m"] == 32
    assert run["tags"] == ["first"]
    assert (workdir / ".kernbench").is_dir()

    listed = one_json_value(cli("runs", "list", "--format", "json").out)["runs"]
    assert [kept["run_id"] for kept in listed] == [run["run_id"]]
    assert listed[0].pop("changed") is None
    assert listed[0] == {key: run[key] for key in listed[0]}

    shown = one_json_value(cli("show", "last", "--format", "json").out)
    assert shown == run

    answer = one_json_value(cli("query", "busiest-links", "limit=2", "--format", "json").out)
    assert sorted(answer) == ["columns", "engine", "name", "rows"]
    assert len(answer["rows"]) == 2
    assert all(len(row) == len(answer["columns"]) for row in answer["rows"])

    removed = cli("runs", "rm", run["run_id"][:20])
    assert (removed.status, removed.out) == (0, run["run_id"] + "\n")
    assert one_json_value(cli("runs", "list", "--format", "json").out) == {"runs": []}


def test_what_is_busiest_comes_first_and_what_was_waited_for_longest(cli: Cli) -> None:
    run = one_json_value(cli(*RUN, "--format", "json").out)
    shares = [row["utilisation"] for row in run["busiest"]]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < row["utilisation"] <= row["occupancy"] + 1e-9 <= 1 + 2e-9 for row in run["busiest"])
    assert any("->" in row["resource"] for row in run["busiest"])
    assert any("->" not in row["resource"] for row in run["busiest"])
    waits = [row["wait_ns"] for row in run["most_waited_for"]]
    assert waits == sorted(waits, reverse=True)
    assert all(ns > 0 for ns in waits)


def test_a_run_of_which_nothing_is_kept(cli: Cli, workdir: Path) -> None:
    traced = one_json_value(cli(*RUN, "--format", "json").out)
    plain = one_json_value(cli(*RUN, "--no-trace", "--store", "elsewhere", "--format", "json").out)
    assert plain["run_id"] is None
    for key in (
        "sim_ns",
        "latency_ns",
        "launches",
        "flit_crossings",
        "events",
    ):
        assert plain[key] == traced[key]
    # Without a trace only the use of the whole run is known.
    whole = one_json_value(cli("show", "--launch", "run", "--format", "json").out)
    assert plain["window"]["name"] == whole["window"]["name"] == "the whole run"
    assert [{**row, "occupancy": None, "wait_ns": None} for row in whole["busiest"]] == plain["busiest"]
    assert whole["most_waited_for"]
    assert plain["most_waited_for"] is None
    assert "not known without a trace" in cli(*RUN, "--no-trace").out
    assert not (workdir / "elsewhere").exists()


def test_store_is_named_by_option_before_environment(
    cli: Cli, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNBENCH_STORE", str(workdir / "by-environment"))
    cli(*RUN)
    cli(*RUN, "--store", "by-option")
    assert len(one_json_value(cli("runs", "list", "--format", "json").out)["runs"]) == 1
    assert sorted(path.name for path in workdir.iterdir()) == ["by-environment", "by-option"]


def test_the_same_facts_in_every_format(cli: Cli) -> None:
    cli(*RUN)
    for argv in (
        ("list",),
        ("runs", "list"),
        ("query", "--list"),
        ("query", "transactions-by-kind", "--launch", "run"),
        ("topology", "show", "minimal"),
        ("topology", "show", "minimal", "--from", "host", "--to", "sip0.cube0.hbm_ctrl.pe0"),
    ):
        value = one_json_value(cli(*argv, "--format", "json").out)
        head, *rows = csv.reader(io.StringIO(cli(*argv, "--format", "csv").out))
        table = cli(*argv).out.splitlines()
        assert rows
        assert all(len(row) == len(head) for row in rows)
        assert [line for line in table if line.split() == head], f"no such head in the table of {argv}"
        assert table[-1].split()[0] == rows[-1][0] or not rows[-1][0]
        longest = max((v for v in value.values() if isinstance(v, list)), key=len, default=[]) or rows
        assert len(longest) == len(rows)


def test_route_is_the_way_that_a_message_goes(cli: Cli) -> None:
    route = one_json_value(
        cli("topology", "show", "default", "--from", "sip0.cube0.pe0", "--to", "sip0.cube0.hbm_ctrl.pe2",
            "--format", "json").out
    )  # fmt: skip
    routers = [hop["node"].rpartition(".")[2] for hop in route["hops"] if ".r" in hop["node"]]
    assert routers == ["r0c0", "r0c1", "r0c2", "r0c3", "r0c4", "r1c4"]
    assert route["weight"] == pytest.approx(sum(hop["weight"] or 0 for hop in route["hops"]))
    assert route["traffic"] == "PE_DMA"


def test_a_diff_of_topologies_has_keys_and_numbers_of_parts(cli: Cli) -> None:
    rows = one_json_value(cli("topology", "diff", "default", "six-sip-torus", "--format", "json").out)
    found = {(row["what"], row["key"]): (row["before"], row["after"]) for row in rows}
    assert found["topology", "system.sips"] == (2, 6)
    assert found["topology", "system.inter_sip.w"] == (None, 3)
    assert found["components", "m_cpu"] == (32, 96)
    assert ("topology", "system.flit_bytes") not in found
    assert one_json_value(cli("topology", "diff", "minimal", "minimal", "--format", "json").out) == []


def test_cypher_without_a_run_asks_the_history_where_it_can(cli: Cli) -> None:
    cli(*RUN)
    cli(*RUN)
    runs = cli("query", "--cypher", "MATCH (r:Run) RETURN count(*) AS n", "--format", "json")
    assert one_json_value(runs.out)["rows"] == [[2]]
    text = "MATCH (t:Transaction) WHERE t.bytes > $least RETURN count(*) AS n"
    of_last = cli("query", "--cypher", text, "least=1000", "--format", "json")
    named = cli("query", "last", "--cypher", text, "least=1000", "--format", "json")
    assert one_json_value(of_last.out)["rows"] == one_json_value(named.out)["rows"] != [[0]]


def test_a_plan_is_printed_instead_of_the_rows(cli: Cli) -> None:
    cli(*RUN)
    text = (
        "MATCH (t:Transaction) WHERE t.kind = $kind RETURN t.id AS id "
        "UNION ALL MATCH (t:Transaction) WHERE t.kind = $kind RETURN t.id AS id"
    )
    asked = ("query", "kind=dma_read", "--cypher")
    found = one_json_value(cli(*asked, f"EXPLAIN {text}", "--format", "json").out)
    assert found["columns"] == ["plan"]
    scans = [line for (line,) in found["rows"] if "(t:Transaction)" in line]
    assert len(scans) == 2
    table = cli(*asked, f"explain {text}")
    lines = table.out.splitlines()
    assert lines[0].split() == found["columns"]  # two branches that are alike stay two
    assert lines[1:] == [line for (line,) in found["rows"]]
    for text, message in {
        "PROFILE MATCH (t:Transaction) RETURN t": "EXPLAIN for its plan, or PROFILE with --engine ladybug",
        "EXPLAIN CREATE (:Run)": "queries only read: start with MATCH",
        "EXPLAIN MATCH (t:Transactio) RETURN t": "did you mean 'Transaction'?",
        "EXPLAIN": "the query is empty",
    }.items():
        ended = cli("query", "last", "--cypher", text)
        assert (ended.status, ended.out) == (2, "")
        assert message in ended.err
    counted = cli(
        "query", "--engine", "ladybug", "--cypher", "PROFILE MATCH (t:Transaction) RETURN t.id AS id"
    )
    assert counted.out.splitlines()[0].split() == ["plan"]
    assert "NumOutputTuples" in counted.out


def test_doctor_finds_this_installation_well(cli: Cli) -> None:
    ended = cli("doctor", "--format", "json")
    report = one_json_value(ended.out)
    assert ended.status == 0
    assert report["ok"] is True
    assert {"kernbench", "python", "pyarrow", "ladybug", "store"} <= {
        check["check"] for check in report["checks"]
    }


def test_doctor_says_what_is_wrong_with_a_store(cli: Cli, workdir: Path) -> None:
    (workdir / "file").write_text("")
    ended = cli("doctor", "--store", "file", "--format", "json")
    assert ended.status == 1
    assert one_json_value(ended.out)["ok"] is False
    assert ended.err.startswith("kernbench: error: store: ")


def test_doctor_says_what_a_server_holds(cli: Cli, neo4j_url: str) -> None:
    used = cli("doctor", "--store", neo4j_url)
    assert used.status == 0
    assert re.search(
        rf"store +ok +{neo4j_url}: reachable, (not used yet|0 runs, schema version {SCHEMA_VERSION}\n)",
        used.out,
    )
    assert cli(*RUN, "--store", neo4j_url).status == 0
    ended = cli("doctor", "--store", neo4j_url)
    assert f"{neo4j_url}: reachable, 1 run, schema version {SCHEMA_VERSION}\n" in ended.out


def test_doctor_says_where_no_store_can_be_made(cli: Cli, workdir: Path) -> None:
    (workdir / "file").touch()
    ended = cli("doctor", "--store", "file/store")
    assert ended.status == 1
    assert f"store 'file/store' cannot be made: '{workdir / 'file'}' is a file" in ended.err


@pytest.mark.parametrize(
    ("argv", "value"),
    [
        (("tag", "last", "one", "two"), {"tags": ["one", "two"]}),
        (("prune", "--keep", "0", "--dry-run"), {"runs": ["{run}"]}),
        (("rm", "last"), {"runs": ["{run}"]}),
    ],
)
def test_what_changes_the_history_says_so_in_any_format(
    argv: tuple[str, ...], value: dict[str, list[str]], cli: Cli
) -> None:
    run = one_json_value(cli(*RUN, "--format", "json").out)["run_id"]
    (key, texts), *_ = value.items()
    texts = [text.format(run=run) for text in texts]
    formats = ("table", "csv", "json") if argv[0] != "rm" else ("json",)
    for fmt in formats:
        out = cli("runs", *argv, "--format", fmt).out
        if fmt == "json":
            assert one_json_value(out) == {key: texts}
        else:
            assert out.splitlines()[fmt == "csv" :] == texts


def contexts() -> list[click.Context]:
    return list(commands())


TUNE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "tune-a-kernel.md"
LONG = ("advise", "diff", "evaluate", "export", "model", "probe", "report", "run", "serve-sim", "sweep",
        "traffic", "tui", "tune", "validate", "web", "what-if")  # fmt: skip
"""Their examples measure the default machine, start processes, or ask the whole library."""


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two runs, one of which has been asked something, so that its cache is there."""
    folder = tmp_path_factory.mktemp("two") / "store"
    for _ in range(2):
        run = kb.run("gemm-single-pe", "minimal", store=str(folder))
    run.query("bottleneck/busiest-links")
    return folder


def _serves(argv: list[str]) -> bool:
    """Whether a command serves a page, at any free port and without opening a window, until it is ended."""
    command = [sys.executable, "-m", "kernbench", *argv, "--no-open", "--port", "0"]
    with Process(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        server.terminate()
    return said.startswith("serving http://") and server.returncode == 0


@pytest.mark.parametrize(
    "context",
    [
        pytest.param(c, id=c.command_path, marks=[pytest.mark.slow] if c.info_name in LONG else [])
        for c in contexts()
    ],
)
def test_help_ends_with_examples_that_work(
    context: click.Context,
    cli: Cli,
    workdir: Path,
    two_runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    _, *path = context.command_path.split()
    helped = cli(*path, "--help")
    assert helped.status == 0
    _, mark, examples = helped.out.rpartition("Example")
    assert mark
    lines = [line.strip() for line in examples.splitlines()[1:]]
    assert lines
    shutil.copytree(two_runs, workdir / ".kernbench")  # two, for those that compare
    tuned = re.search(r'^```python title="scale.py"\n(.*?)^```$', TUNE.read_text("utf-8"), re.M | re.S)
    assert tuned
    (workdir / "scale.py").write_text(tuned[1])  # the file of one's own that an example names
    # What these print is what they changed, which may be nothing.
    quiet = path[-1:] in (["tag"], ["prune"], ["upgrade"])
    if path == ["validate"]:  # of each group the first case: tests/unit/test_h100.py measures all

        def first(*asked: Any) -> Any:
            cases, sample = sampled(*asked)
            return cases[:1], sample

        sampled = sampling.sampled
        monkeypatch.setattr(sampling, "sampled", first)
        request.getfixturevalue("measured_once")
    if path[-1:] == ["import"]:
        cli("runs", "export", "--to", "archive")
    for line in lines:
        # The line that a shell is to evaluate holds the command that prints it.
        name, *argv = shlex.split(re.sub(r'eval "\$\((.*)\)"|(.*) > \S+', r"\1\2", line))
        assert name == "kernbench"
        if path == ["web"]:
            assert _serves(argv), line
            continue
        ended = cli(*argv)
        if path == ["tui"] and "--svg" not in argv:
            assert (ended.status, ended.out) == (2, "")
            assert "needs a terminal" in ended.err
            continue
        lines_of_progress = re.compile(r"kernbench: note: |\d+ of \d+ ")
        notes = [said for said in ended.err.splitlines() if not lines_of_progress.match(said)]
        assert (ended.status, notes) == (0, []), line
        assert ended.out or quiet


def test_version(cli: Cli) -> None:
    import kernbench

    assert cli("--version").out == f"kernbench {kernbench.__version__}\n"
