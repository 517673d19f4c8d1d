"""What-if from kept run to confirmed figure: through the command line and Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import UsageError

Cli = Callable[..., Any]
GEMM = "sip0.cube0.pe0.pe_gemm"
CASES = {
    "one-pe": (("run", "--bench", "gemm-single-pe", "--topology", "minimal"), "minimal", GEMM),
    "many-pes": (("run", "--bench", "qkv-gemm-multi-pe", "--device", "sip:1"), "default", "kind:router"),
    "pattern": (("traffic", "pattern:neighbour", "--topology", "minimal"), "minimal", "kind:hbm_ctrl"),
    "flows": (("traffic", "flows.yaml", "--topology", "minimal"), "minimal", "kind:router_mesh"),
}
FLOWS = """\
- {src: sip0.cube0.pe0, dst: sip0.cube0.sram, bytes: 20000}
- {src: host, dst: sip0.cube0.sram, bytes: 3000, op: read, start_ns: 4.5, count: 3}
"""
BENCH = """\
import numpy as np
from kernbench.workloads.benches.registry import bench

def kernel(a, out, tl):
    tl.store(out, tl.load(a) + {number})

@bench(name="mine", description="A bench of a user.")
def run(torch):
    a = torch.from_numpy(np.ones((8, 64), np.float16), name="a")
    torch.launch("k", kernel, a, torch.empty(8, 64, name="out"))
"""


def files(store: Path, run: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (store / "runs" / run).glob("*.parquet")}


def manifest(store: Path, run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((store / "runs" / run / "manifest.json").read_bytes())
    return found


@pytest.mark.daily("one-pe-2.0", "flows-free")
@pytest.mark.parametrize(
    ("case", "speed"),
    [
        pytest.param(case, speed, marks=[pytest.mark.slow] if case == "many-pes" else [])
        for case in CASES
        for speed in ("2.0", "free")
    ],
)
def test_the_measured_run_is_that_of_a_file_with_the_override(
    cli: Cli, workdir: Path, case: str, speed: str
) -> None:
    command, topology, where = CASES[case]
    (workdir / "flows.yaml").write_text(FLOWS, encoding="utf-8")
    kept = json.loads(cli(*command, "--format", "json").out)
    shown = cli("what-if", "--speed", f"{where}={speed}", "--launch", "run", "--format", "json")
    assert (shown.status, shown.err) == (0, "")
    found = json.loads(shown.out)

    shipped = Path(__file__).parents[2] / "configs" / "topologies" / f"{topology}.yaml"
    text = shipped.read_text(encoding="utf-8").replace(f"name: {topology}\n", f"name: {topology}.what-if\n")
    text = text.partition("\noverrides:")[0]
    how = "free: true" if speed == "free" else f"speed: {speed}"
    (workdir / "changed.yaml").write_text(
        f"{text}\noverrides:\n  - {{where: {where}, {how}}}\n", encoding="utf-8"
    )
    changed = [word for word in command if word not in ("--topology", "minimal")]
    by_hand = json.loads(cli(*changed, "--topology", "changed.yaml", "--format", "json").out)

    store, measured = workdir / ".kernbench", found["measured"]
    assert files(store, measured["run_id"]) == files(store, by_hand["run_id"])
    ours, theirs = manifest(store, measured["run_id"]), manifest(store, by_hand["run_id"])
    assert ours["content"] == theirs["content"]
    assert ours["run"]["config_hash"] == by_hand["config_hash"]
    assert kb.open_run(measured["run_id"]).tags == ["what-if"]

    assert found["before"]["ns"] == pytest.approx(kept["sim_ns"])
    assert measured["ns"] == pytest.approx(by_hand["sim_ns"])
    assert found["saved_ns"] == pytest.approx(kept["sim_ns"] - by_hand["sim_ns"])
    assert found["difference_ns"] == pytest.approx(found["estimate"]["ns"] - by_hand["sim_ns"])
    for one in (found["before"], found["estimate"], measured):
        assert sum(one["by_cause"].values()) == pytest.approx(one["ns"])
    if speed == "free":
        assert measured["ns"] <= kept["sim_ns"]


def test_one_change_after_the_other_is_of_the_same_run(cli: Cli) -> None:
    asked = ("what-if", "--format", "json", "--speed")
    kept = json.loads(cli("run", "gemm-single-pe", "--topology", "minimal", "--format", "json").out)["run_id"]
    first, again = (json.loads(cli(*asked, "kind:pe_gemm=2").out) for _ in range(2))
    assert (first["run_id"], first["topology"]) == (again["run_id"], again["topology"]) == (kept, "minimal")
    assert first["measured"]["ns"] == again["measured"]["ns"]
    listed = cli("what-if", "--format", "json", "--locations", "0", "--no-rerun").out
    assert json.loads(listed)["run_id"] == kept
    assert kb.what_if_candidates()["run_id"] == kept

    more = json.loads(cli("what-if", "last", *asked[1:], "kind:pe_gemm=2").out)  # named: on top of its change
    assert (more["run_id"], more["topology"]) == (again["measured"]["run_id"], "minimal.what-if")
    assert more["measured"]["ns"] < again["measured"]["ns"]
    cli("runs", "rm", kept)
    alone = cli("what-if", "--speed", "kind:pe_gemm=2")
    assert alone.status
    assert "all runs here were made by what-if; name one, such as" in alone.err


def test_what_is_told(cli: Cli) -> None:
    kept = json.loads(
        cli("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--format", "json").out
    )
    listed = json.loads(cli("what-if", "--launch", "run", "--format", "json").out)
    assert list(listed) == ["run_id", "bench", "topology", "launch", "window", "problem", "ns", "candidates"]
    assert (listed["run_id"], listed["ns"]) == (kept["run_id"], pytest.approx(kept["sim_ns"]))
    best = listed["candidates"][0]
    told = [
        "where",
        "on_path_ns",
        "twice_ns",
        "twice_saved_ns",
        "measured_saved_ns",
        "slower_although_better",
        "free_ns",
        "free_saved_ns",
    ]
    assert list(best) == told
    measured = [one["measured_saved_ns"] is not None for one in listed["candidates"]]
    assert measured == [True] * 3 + [False] * (len(measured) - 3)
    assert len(json.loads(cli("runs", "list", "--format", "json").out)["runs"]) == 1  # none of them is kept
    assert best["free_saved_ns"] == max(one["free_saved_ns"] for one in listed["candidates"])
    shown = cli("what-if", "--locations", "0").out.splitlines()
    of = "estimates of it for 15 kinds and the 0 slowest locations"
    assert shown[0] == f"gemm-single-pe on minimal, the kernel of launch 0: 461.1 ns; {of}"
    columns = [name for name in best if name != "slower_although_better"]  # a line below the table
    assert shown[1].split() == columns
    assert all(line.startswith("kind:") for line in shown[2:])
    few = cli("what-if", "--locations", "3").out.splitlines()[2:]
    assert sum(not line.startswith("kind:") for line in few) == 3
    assert cli("what-if", "--format", "csv").out.splitlines()[0] == ",".join(columns)
    assert len(json.loads(cli("runs", "list", "--format", "json").out)["runs"]) == 1

    only = json.loads(cli("what-if", "--speed", "kind:pe_gemm=2", "--no-rerun", "--format", "json").out)
    assert list(only) == [
        *(
            "run_id",
            "bench",
            "topology",
            "launch",
            "window",
            "problem",
            "changes",
            "before",
            "estimate",
            "measured",
        ),
        *("saved_ns", "difference_ns", "slower_although_better"),
    ]
    assert (only["measured"], only["difference_ns"], only["saved_ns"]) == (None, None, pytest.approx(64.0))
    assert only["changes"] == [{"where": "kind:pe_gemm", "speed": 2.0, "of_links": ""}]
    shown = cli("what-if", "--speed", "kind:pe_gemm=2", "--launch", "0", "--no-rerun").out.splitlines()
    assert shown[0] == "gemm-single-pe on minimal, the kernel of launch 0: kind:pe_gemm 2 times as fast"
    assert shown[-1] == "estimated: 397.1 ns instead of 461.1, 64 ns less (13.9%); nothing was run"

    both = cli("what-if", "--speed", "kind:pe_gemm=2", "--speed", "kind:pcie_ep=free", "--launch", "0")
    lines = [line for line in both.out.splitlines() if line]
    assert lines[0].endswith("launch 0: kind:pe_gemm 2 times as fast, kind:pcie_ep free")
    assert lines[1].split() == ["cause", "before", "estimate", "measured"]
    assert lines[-3].split()[0] == "total"
    assert lines[-2] == "energy of the whole run: 5.64 uJ instead of 5.64 uJ, 0.0% less"
    assert "64 ns less" not in lines[-1]
    new = kb.open_run("last")
    assert lines[-1].startswith("measured: ")
    assert lines[-1].endswith(f", as estimated; run {new.id} after {only['run_id']}")
    assert (new.tags, new.topology) == (["what-if"], "minimal.what-if")
    again = json.loads(cli("what-if", "last", "--speed", "tray=1", "--format", "json").out)
    assert again["measured"]["topology"] == "minimal.what-if"
    assert again["measured"]["ns"] == again["before"]["ns"]
    assert again["difference_ns"] == pytest.approx(0.0, abs=1e-6)


def test_a_run_that_gets_slower_is_told(cli: Cli) -> None:
    """A faster engine writes back earlier, and its writes then meet the reads in HBM.

    With several reads in flight nothing waits for such a read, so the DMA engine here is a serial one.
    """
    topo = ("--topo", "pe.pe_dma.outstanding=1", "--topo", "pe.pe_scheduler.tile_transfers=packed")
    cli("run", "--bench", "matmul-composite", "--topology", "minimal", "tiles=native", *topo)
    shown = cli("what-if", "--speed", "kind:pe_gemm=2").out.splitlines()[-2]
    assert " ns more (" in shown
    assert " ns more than estimated; run " in shown


def test_settings_of_the_run_are_kept(workdir: Path) -> None:
    classes, changes = (
        {"my.router": "kernbench.engine.components.transit:Transit"},
        {"cube.router.impl": "my.router"},
    )
    machine = kb.load_topology("minimal", changes, classes)
    run = kb.run("qkv-gemm", machine, True, tokens=16, components=classes, device="sip:0", tags=["first"])
    found = kb.what_if(changes={"tray": 1.0})
    new = kb.open_run(found["measured"]["run_id"])
    assert (new.params, new.again, new.tags) == (run.params, run.again, ["what-if"])
    assert run.again == {"bench": "qkv-gemm", "device": "sip:0", "components": classes, "topo": changes}
    assert all(new.tables[name].equals(table) for name, table in run.tables.items())
    assert kb.what_if_candidates(run.id)["candidates"][0]["where"].startswith("kind:")


def test_a_bench_of_a_user_is_run_again_as_long_as_it_stays_the_same(cli: Cli, workdir: Path) -> None:
    (workdir / "mine.py").write_text(BENCH.format(number=1.0), encoding="utf-8")
    cli("run", "--bench", "mine.py:mine", "--topology", "minimal")
    assert kb.open_run().again["bench"] == "mine.py:mine"
    not_named = cli("what-if", "--speed", "kind:router=2")
    assert not_named.status == 2
    assert "name it too, --code mine.py" in not_named.err
    listed = cli("what-if").out
    assert "nothing was run: " in listed
    assert "bench 'mine.py' is not run: a kept run names it" in listed
    assert cli("what-if", "--speed", "kind:router=2", "--code", "mine.py").status == 0
    (workdir / "mine.py").write_text(BENCH.format(number=2.0), encoding="utf-8")
    refused = cli("what-if", "--speed", "kind:router=2", "--code", "mine.py")
    assert refused.status == 2
    assert "re-run it first" in refused.err
    assert len(kb.runs()) == 2
    (workdir / "mine.py").unlink()
    gone = cli("what-if", "last~1", "--speed", "tray=2", "--code", "mine.py")
    assert gone.status == 2
    assert "bench file 'mine.py' does not exist" in gone.err


def test_a_function_is_run_again_when_it_is_given(workdir: Path) -> None:
    def kernel(a: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.load(a) + 1.0)

    def mine(torch: Any) -> None:
        a = torch.from_numpy(np.ones((8, 64), np.float16), name="a")
        torch.launch("k", kernel, a, torch.empty(8, 64, name="out"))

    store = kb.open_store("memory:")
    kb.run(mine, "minimal", store=store)
    with pytest.raises(UsageError, match=r"function that has no name.*give it with bench="):
        kb.what_if(changes={"kind:router": 2}, store=store)
    found = kb.what_if(changes={"kind:router": 2}, store=store, bench=mine)
    assert found["saved_ns"] > 0
    assert kb.what_if(changes={"kind:router": 2}, store=store, bench=mine, rerun=False)["measured"] is None
    with pytest.raises(UsageError, match="re-run it first"):
        kb.what_if(changes={"kind:router": 2}, store=store, bench="gemm-single-pe")


@pytest.mark.slow
def test_shipped_benches_go_by_their_name(workdir: Path) -> None:
    from kernbench.workloads.benches.gemm_single_pe import run as function

    for bench in ("4", "gemm-single-pe", function):
        kept = kb.run(bench, "minimal", m=32, k=32, n=32)
        assert kb.what_if(kept.id, {"tray": 2.0})["measured"]["run_id"]
        assert kb.open_run(kept.id).again["bench"] == kept.bench


def test_what_cannot_be_asked(workdir: Path) -> None:
    kept = kb.traffic("pattern:neighbour", "minimal")
    with pytest.raises(UsageError, match="no changes"):
        kb.what_if(changes={})
    with pytest.raises(UsageError, match="is of traffic and has no bench"):
        kb.what_if(kept.id, {"tray": 2.0}, bench="qkv-gemm")
    with pytest.raises(UsageError, match=r"'tray=inf': expected a number from 1e-12"):
        kb.what_if(kept.id, {"tray": float("inf")})
    assert [run.id for run in kb.runs()] == [kept.id]


def test_a_long_name_is_cut(workdir: Path) -> None:
    text = f"schema_version: 1\nname: {'n' * 64}\nsystem: {{sips: 1}}\nsip: {{cube_mesh: {{w: 1, h: 1}}}}\n"
    Path("long.yaml").write_text(text, encoding="utf-8")
    kb.run("gemm-single-pe", "long.yaml")
    found = kb.what_if(changes={"kind:router": 2.0})
    assert found["measured"]["topology"] == "n" * 56 + ".what-if"


@pytest.mark.daily("a100")
@pytest.mark.parametrize("machine", ["h100", "a100"])
def test_the_issue_of_loads_may_be_faster(workdir: Path, machine: str) -> None:
    """A PE_DMA that takes the PE's time to issue a load is on the path, so it can be asked about."""
    kb.run("gemm-single-pe", machine, m=64, n=64, k=64)
    found = kb.what_if(changes={"kind:pe_dma": 2})
    assert found["saved_ns"] > 0
    assert found["measured"]["ns"] == pytest.approx(found["estimate"]["ns"], abs=1e-6)
