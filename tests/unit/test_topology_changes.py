"""Topology keys changed from the command line and from Python: ``--topo`` and ``topo=``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.cli.main import main
from kernbench.errors import ConfigError

SLOWER = {"cube.router.overhead_ns": 4, "pe.pe_gemm.clock_ghz": "0.5"}


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--format", "json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def topo_options() -> list[str]:
    return [word for key, value in SLOWER.items() for word in ("--topo", f"{key}={value}")]


def test_a_run_names_its_base_and_its_changes(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = ("run", "--bench", "gemm-single-pe", "--topology", "minimal", "--store", store)
    plain = printed(capsys, *run)
    changed = printed(capsys, *run, *topo_options())
    assert (changed["topology"], plain["topology_changes"]) == ("minimal", {})
    assert changed["topology_changes"] == {"cube.router.overhead_ns": "4", "pe.pe_gemm.clock_ghz": "0.5"}
    assert changed["topology_id"] != plain["topology_id"]
    assert changed["latency_ns"] > plain["latency_ns"]  # type: ignore[operator]
    in_python = kb.run("gemm-single-pe", "minimal", topo=SLOWER, store="memory:")
    assert in_python.latency_ns == pytest.approx(changed["latency_ns"], abs=1e-9)
    assert main(["show", "last", "--store", store]) == 0
    assert "minimal with cube.router.overhead_ns=4 pe.pe_gemm.clock_ghz=0.5" in capsys.readouterr().out


def test_every_command_that_takes_a_topology_takes_changes(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--topo", "cube.router.overhead_ns=4")
    check = ("topology", "check", "minimal")
    assert printed(capsys, *check)["id"] != printed(capsys, *check, *more)["id"]
    show = ("topology", "show", "minimal", "--topo", "system.sips=2")
    assert printed(capsys, *show)["components"]["switch"] == 1  # type: ignore[index]
    assert main(["topology", "diagram", "minimal", *more, "--view", "cube", "--out", "-"]) == 0
    assert "overhead_ns 4" in capsys.readouterr().out
    probe = ("probe", "--topology", "minimal", "--case", "pe-local-hbm", "--sizes", "256")
    plain, slow = (printed(capsys, *probe, *extra)["cases"] for extra in ((), more))
    assert [row["actual_ns"] for row in slow] > [row["actual_ns"] for row in plain]  # type: ignore[attr-defined]
    traffic = ("traffic", "pattern:all-local", "--topology", "minimal", "--store", store)
    plain, slow = (printed(capsys, *traffic, *extra)["makespan_ns"] for extra in ((), more))
    assert slow > plain  # type: ignore[operator]


def test_what_if_re_runs_with_changed_keys(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    kb.run("gemm-single-pe", "minimal", topo={"cube.router.overhead_ns": 4}, store=store)
    found = printed(capsys, "what-if", "--topo", "pe.pe_gemm.clock_ghz=2", "--store", store)
    assert found["changes"] == [{"key": "pe.pe_gemm.clock_ghz", "value": "2"}]
    assert (found["estimate"], found["difference_ns"]) == (None, None)
    both = {"cube.router.overhead_ns": 4, "pe.pe_gemm.clock_ghz": 2}
    expected = kb.run("gemm-single-pe", "minimal", topo=both, store="memory:")
    assert found["measured"]["ns"] == pytest.approx(expected.kernels_ns, abs=1e-9)  # type: ignore[index]
    again = kb.open_run("last", store)
    assert again.info["topology_changes"] == {"cube.router.overhead_ns": "4", "pe.pe_gemm.clock_ghz": "2"}
    assert main(["what-if", "--topo", "pe.pe_gemm.clock_ghz=2", "--no-rerun", "--store", store]) == 2
    assert "cannot be estimated" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("topo", "message"),
    [
        ({"cube.router.overhed_ns": 4}, "cube.router.overhed_ns: unknown key, did you mean 'overhead_ns'?"),
        ({"cube.hbm.channel_gbs": -1}, "override cube.hbm.channel_gbs: is -1, expected more than 0"),
        ({"cube.hbm.slices": 3}, "override cube.hbm.slices: is 3, expected 1"),
    ],
)
def test_what_does_not_hold_is_refused(topo: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("?", r"\?").replace(".", r"\.")):
        kb.run("gemm-single-pe", "minimal", topo=topo, store="memory:")
