"""Comparing, tagging, thinning out and copying runs, and asking why: through the command line and Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.comparing import compare
from kernbench.api.kept_runs import prune
from kernbench.api.stores import borrowed
from kernbench.draw.cells import plain
from kernbench.errors import UsageError
from kernbench.support.pgraph import RunRecord

Cli = Callable[..., Any]
RUN = ("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--format", "json")


@pytest.fixture
def two(cli: Cli) -> list[str]:
    """Ids of two runs, the second of which has twice the work."""
    return [json.loads(cli(*RUN, f"k={k}").out)["run_id"] for k in (128, 256)]


def test_two_runs_are_compared_without_naming_them(cli: Cli, two: list[str]) -> None:
    for question in ("slower-where", "configured-differently"):
        named = cli("query", question, f"before={two[0]}", f"after={two[1]}", "--no-fold")
        assert named.status == 0
        assert len(named.out.splitlines()) > 1
        assert cli("query", question, "--no-fold").out == named.out
        assert cli("query", question, f"after={two[0]}", "--no-fold").out != named.out


def test_what_got_slower_is_said_and_fails(cli: Cli, two: list[str]) -> None:
    slower = cli("compare", *two, "--launch", "run", "--format", "json")
    assert slower.status == 1
    assert slower.err == ""
    found = json.loads(slower.out)
    assert list(found) == [
        *("before", "after", "same_config", "configured", "window", "figures", "causes", "locations"),
        *("resources", "threshold", "slower"),
    ]
    assert (found["before"]["run_id"], found["after"]["run_id"]) == tuple(two)
    assert (found["slower"], found["same_config"], found["threshold"]) == (True, False, 0.05)
    old, new = (kb.open_run(run) for run in two)
    assert found["configured"] == [
        {"what": "parameter", "key": key, "before": old.params[key], "after": new.params[key]}
        for key in new.params
        if old.params[key] != new.params[key]
    ]
    assert found["configured"]
    sim = found["figures"][1]
    assert (sim["name"], sim["before"], sim["after"]) == ("sim_ns", plain(old.sim_ns), plain(new.sim_ns))
    assert sim["change"] == pytest.approx(new.sim_ns / old.sim_ns - 1)
    assert sum(row["change_ns"] for row in found["causes"]) == pytest.approx(new.sim_ns - old.sim_ns)
    places = compare(*two, launch="run", top=10_000)["locations"]
    assert [{**row, "change_ns": plain(row["change_ns"])} for row in places[:10]] == found["locations"]
    assert sum(row["change_ns"] for row in places) == pytest.approx(new.sim_ns - old.sim_ns)
    for row in found["resources"]:
        for when, run in (("before", old), ("after", new)):
            used = run.used
            (at,) = (n for n, name in enumerate(used["resource"]) if name == row["resource"])
            assert (row[f"busy_ns_{when}"], row[f"wait_ns_{when}"]) == (
                used["busy_ns"][at],
                used["wait_ns"][at],
            )

    assert cli("compare", two[1], two[0]).status == 0
    assert cli("compare", *two, "--threshold", "500%").status == 0
    assert cli("compare", two[0], two[0], "--threshold", "0").status == 0
    csv = cli("compare", *two, "--threshold", "0.1", "--format", "csv")
    assert (csv.status, csv.out.splitlines()[0]) == (1, "name,before,after,change_ns,change,slower")
    assert cli("compare", *two).out.splitlines()[-1] == "slower, with a threshold of 5%"


@pytest.mark.parametrize("share", ["five", "-1%", "nan", "inf"])
def test_a_threshold_is_a_share(cli: Cli, share: str) -> None:
    refused = cli("compare", "a", "b", f"--threshold={share}")
    assert refused.status == 2
    assert "write it as 5% or 0.05" in refused.err


def test_rounding_is_not_slower() -> None:
    with borrowed("memory:") as store:
        run = kb.run("gemm-single-pe", "minimal", store=store)
        record, topology = store.load(run.id), store.load_topology(run.info["topology_id"])
        for name, more in (("rounded", 1e-9), ("slower", 1e-3)):
            info = {**record.info, "id": name, "sim_ns": record.info["sim_ns"] + more}
            store.keep(RunRecord(info, record.tables), topology)
        slower = [compare(run.id, name, store, threshold=0.0)["slower"] for name in ("rounded", "slower")]
    assert slower == [False, True]


def test_tags_come_and_go(cli: Cli, two: list[str]) -> None:
    assert cli("runs", "tag", two[0], "baseline", 'it\'s "x"').out == 'baseline\nit\'s "x"\n'
    assert cli("runs", "tag", two[0], "baseline", "more", "--remove", 'it\'s "x"').out == "baseline\nmore\n"
    assert kb.open_run(two[0]).tags == ["baseline", "more"]
    assert cli("runs", "tag", two[1]).out == ""
    for wrong in (("--remove", "absent"), ("  ",)):
        assert cli("runs", "tag", two[0], *wrong).status == 2
    assert kb.open_run(two[0]).tags == ["baseline", "more"]


def test_the_newest_runs_and_those_with_tags_stay(cli: Cli, two: list[str]) -> None:
    third = json.loads(cli(*RUN, "k=64").out)["run_id"]
    cli("runs", "tag", two[0], "baseline")
    assert cli("runs", "prune", "--keep", "1", "--dry-run").out == f"{two[1]}\n"
    assert cli("runs", "prune", "--keep", "0", "--bench", "qkv-gemm").out == ""
    assert cli("runs", "prune", "--keep", "1").out == f"{two[1]}\n"
    assert [run.id for run in kb.runs()] == [two[0], third]
    assert cli("runs", "prune", "--keep", "0", "--tagged").out == f"{two[0]}\n{third}\n"
    assert kb.runs() == []
    assert cli("runs", "prune").status == 2


def test_runs_go_from_store_to_store_whole(cli: Cli, two: list[str]) -> None:
    cli("runs", "tag", two[0], "baseline")
    sent = json.loads(cli("runs", "export", "--to", "other", "--format", "json").out)
    assert sent == {"runs": [{"run_id": run, "copied": True} for run in two]}
    again = json.loads(cli("runs", "export", two[0], "--to", "other", "--format", "json").out)
    assert again == {"runs": [{"run_id": two[0], "copied": False}]}
    for run in two:
        here, there = kb.open_run(run), kb.open_run(run, "other")
        assert here.info == there.info
        assert all(here.tables[name].equals(there.tables[name]) for name in here.tables)
    cli("runs", "rm", *two)
    back = json.loads(cli("runs", "import", two[0], "--from", "other", "--format", "json").out)
    assert back == {"runs": [{"run_id": two[0], "copied": True}]}
    assert [run.tags for run in kb.runs()] == [["baseline"]]
    assert kb.open_run("last").query("busiest-links").rows
    assert cli("runs", "export", "nothing", "--to", "other").status == 2


def test_what_changed_is_since_the_run_before_whether_it_is_shown_or_not(cli: Cli, two: list[str]) -> None:
    third = json.loads(cli(*RUN, "k=256", "m=32").out)["run_id"]
    for run in (two[0], third):
        cli("runs", "tag", run, "shown")
    found = json.loads(cli("runs", "list", "--tag", "shown", "--format", "json").out)["runs"]
    assert [(one["run_id"], one["changed"]) for one in found] == [(two[0], None), (third, ["m=32"])]


def test_all_runs_of_a_tag(cli: Cli, two: list[str]) -> None:
    def ids(*argv: str) -> list[str]:
        return [row if isinstance(row, str) else row["run_id"] for row in json.loads(cli(*argv).out)["runs"]]

    third = json.loads(cli(*RUN, "k=64").out)["run_id"]
    for run in (two[0], third):
        cli("runs", "tag", run, "swept")
    as_json = ("--format", "json")
    assert ids("runs", "list", "--tag", "swept", *as_json) == [two[0], third]
    assert ids("runs", "export", "swept", "--to", "other", *as_json) == [third]  # one run: the newest
    assert ids("runs", "export", "--tag", "swept", "--to", "other", *as_json) == [two[0], third]
    # That store got the newer one first, and lists runs as they came.
    assert ids("runs", "import", "--tag", "swept", "--from", "other", *as_json) == [third, two[0]]
    for argv in (("list",), ("rm",), ("export", "--to", "other")):
        ended = cli("runs", *argv, "--tag", "swep")
        assert (ended.status, ended.out) == (2, "")
        assert "no run has the tag 'swep'; " in ended.err
        assert "swept" in ended.err
    assert cli("runs", "rm").status == 2
    assert ids("runs", "rm", "--tag", "swept", *as_json) == [two[0], third]
    assert [run.id for run in kb.runs()] == [two[1]]


def test_why_adds_up(cli: Cli, two: list[str]) -> None:
    found = json.loads(cli("why", two[1], "--launch", "run", "--format", "json").out)
    run = kb.open_run(two[1])
    assert list(found) == [
        *(
            "run_id",
            "launch",
            "window",
            "t_start",
            "t_end",
            "ns",
            "by_cause",
            "by_location",
            "by_line",
            "steps",
            "by_model",
        )
    ]
    assert (found["run_id"], found["launch"], found["ns"]) == (run.id, None, plain(run.sim_ns))
    for sums in (found["by_cause"], found["by_location"]):
        assert sum(sums.values()) == pytest.approx(run.sim_ns, abs=1e-6)
    launch = json.loads(cli("why", "--launch", "0", "--by", "location", "--format", "json").out)
    (first, *_) = run.launches
    assert launch["ns"] == pytest.approx(first["latency_ns"] - first["launch_ns"])
    lines = cli("why", "--launch", "run", "--by", "step", "--format", "csv").out.splitlines()
    assert (lines[0], len(lines)) == (
        "t_start,t_end,ns,cause,location,line,activity,transaction",
        1 + len(found["steps"]),
    )
    setup = json.loads(cli("why", "--launch", "setup", "--format", "json").out)
    assert setup["ns"] + json.loads(cli("why", "--format", "json").out)["ns"] == pytest.approx(run.sim_ns)
    middle = json.loads(cli("why", "--launch", "run", "--from", "100", "--to", "350", "--format", "json").out)
    assert middle["ns"] == pytest.approx(250.0)
    assert sum(middle["by_cause"].values()) == pytest.approx(250.0)
    assert cli("why", "--launch", "7").status == 2
    assert cli("why", "--launch", "first").status == 2
    assert cli("why", "--from", "5e9").status == 2
    assert cli("why", "nothing").status == 2


def test_a_run_without_a_trace_cannot_be_explained(workdir: Any) -> None:
    with pytest.raises(UsageError, match="run it with trace=True"):
        kb.run("gemm-single-pe", "minimal", trace=False).critical_path()
    with pytest.raises(UsageError, match="keep is -1"):
        prune(-1)
