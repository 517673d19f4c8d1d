"""``kernbench probe`` on the shipped machines, on broken ones and on odd ones."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb

Cli = Callable[..., Any]
QUICK = ("--sizes", "256,4KiB")
CASE_KEYS = [
    *("name", "category", "op", "src", "dst", "links"),
    *("bytes", "actual_ns", "formula_ns", "difference_ns"),
    *("effective_gbs", "bottleneck_gbs", "utilisation"),
    *("breakdown", "bottleneck", "sweep", "hops"),
]
BROKEN = '''
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.transit import Transit
from kernbench.engine.core.transaction import Packet


class LateRouter(Transit):
    """A router that takes a nanosecond too long, once a message."""

    def service_ns(self, packet, flit):
        return super().service_ns(packet, flit) + (1.0 if flit == 0 else 0.0)


class LateSlice(HbmSlice):
    """A slice whose every burst takes a nanosecond too long."""

    def fetch(self, packet, flit, time):
        return super().fetch(packet, flit, time + 1.0)


class FreeReads(HbmSlice):
    """A slice whose answers to reads carry no bytes."""

    def read(self, packet, time, begun, inside):
        transaction = packet.transaction
        self.system.fabric.stream(
            Packet(transaction, transaction.path.reverse, 0, self.system.fabric.flit_bytes), [inside]
        )
'''


@pytest.fixture
def broken_parts(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workdir / "broken_parts.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.syspath_prepend(workdir)


def strict(cli: Cli, topology: str, *more: str) -> dict[str, Any]:
    ended = cli("probe", "--topology", topology, "--strict", "--format", "json", *more)
    assert (ended.status, ended.err) == (0, "")
    report: dict[str, Any] = json.loads(ended.out)
    assert report["ok"] is True
    assert report["largest_difference_ns"] <= 1e-9
    assert [finding for finding in report["invariants"] if finding["ok"] is False] == []
    return report


def test_strict_holds_on_the_smallest_machine(cli: Cli) -> None:
    report = strict(cli, "minimal")
    assert [m["bytes"] for m in report["cases"][0]["sweep"]] == [256 * 4**k for k in range(7)]
    assert {"name": "pe-cross-sip-hbm-best", "reason": "there is one SIP"} in report["left_out"]
    assert list(report["cases"][0]) == CASE_KEYS


@pytest.mark.slow
def test_strict_holds_on_the_default_machine(cli: Cli) -> None:
    report = strict(cli, "default", *QUICK)
    assert len(report["cases"]) == 22
    assert report["left_out"] == []
    assert all(finding["ok"] for finding in report["invariants"])


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["default", "six-sip-torus", "tray-16"])
def test_strict_holds_with_every_size_on_the_large_machines(cli: Cli, topology: str) -> None:
    report = strict(cli, topology)
    assert len(report["cases"]) == 22
    assert all(finding["ok"] for finding in report["invariants"])


def test_for_people_it_ends_with_the_verdicts(cli: Cli) -> None:
    out = cli("probe", "--topology", "minimal", *QUICK).out
    marks = [line[:4] for line in out.splitlines()[-13:]]
    assert marks == ["[v] "] * 7 + ["[-] "] * 3 + ["[v] "] * 2 + ["[i] "]
    assert "pe-same-cube-hbm-best: a cube has no other HBM slice" in out


def test_one_case_comes_with_its_hops_and_the_bottleneck_marked(cli: Cli) -> None:
    ended = cli("probe", "--topology", "minimal", "--case", "h2d-1hop", "--bytes", "1KiB", *QUICK, "--strict")
    assert ended.status == 0
    lines = ended.out.splitlines()
    begin = lines.index("h2d-1hop write, 1 KiB") + 2
    table = lines[begin : lines.index("", begin)]
    assert [line.split()[0] for line in table][:2] == ["host.cpu->fabric.switch0", "fabric.switch0"]
    assert [line.split()[0] for line in table if "<BN:128GB/s>" in line] == ["host.cpu->fabric.switch0"]
    # 4 flits of 2 ns and half a nanosecond of wire, by hand.
    assert table[0].split()[1:6] == ["128", "1024", "0", "8.5", "0"]
    assert "pe-local-hbm" not in ended.out


def test_csv_has_a_line_for_each_case_and_size(cli: Cli) -> None:
    head, *rows = csv.reader(
        io.StringIO(cli("probe", "--topology", "minimal", *QUICK, "--format", "csv").out)
    )
    assert len(rows) == 4 * 3
    sums = [
        sum(float(row[head.index(cause)]) for cause in ("host", "component", "link", "memory", "hbm"))
        for row in rows
    ]
    assert sums == pytest.approx([float(row[head.index("actual_ns")]) for row in rows], abs=1e-9, rel=0)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--case", "pe-cross-sip-hbm-best"), "no case 'pe-cross-sip-hbm-best' (there is one SIP); it has"),
        (("--case", "h2d"), "no case 'h2d'; it has h2d-1hop, d2h-1hop, pe-local-hbm"),
        (("--sizes", "256,many"), "'many' is not a size, expected bytes such as 4096 or 4KiB"),
        (("--bytes", "0"), "'0' is not a size, expected bytes such as 4096 or 4KiB"),
        (("--sizes", "9000000KiB"), "leave the 6442450944 bytes of HBM slice"),
    ],
)
def test_what_there_is_not_is_wrong_usage(cli: Cli, argv: tuple[str, ...], message: str) -> None:
    ended = cli("probe", "--topology", "minimal", *argv)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err
    assert ended.err.count("\n") == 1


def test_a_component_that_is_a_nanosecond_late_fails_strict(
    cli: Cli, workdir: Path, broken_parts: None
) -> None:
    (workdir / "late.yaml").write_text(
        "schema_version: 1\nname: late\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube:\n  pes: {count: 1, corners: [NW]}\n  hbm: {capacity_bytes: 6 GiB, pseudo_channels: 8}\n"
        '  router: {impl: "broken_parts:LateRouter"}\n',
        encoding="utf-8",
    )
    lenient = cli("probe", "--topology", "late.yaml", *QUICK)
    assert (lenient.status, lenient.err) == (0, "")
    assert "[x] formula equals simulation: 12 of 12 wrong; first: h2d-1hop write of 256 bytes" in lenient.out
    ended = cli("probe", "--topology", "late.yaml", *QUICK, "--strict", "--format", "json")
    assert ended.status == 1
    assert json.loads(ended.out)["ok"] is False
    assert ended.err.startswith("kernbench: error: 2 of 12 invariants violated on 'late'; formula equals")
    assert "; sip0.cube0.r0c0 passes on the last flit at" in ended.err


@pytest.mark.parametrize(
    ("impl", "name", "place"),
    [
        ("LateSlice", "formula equals simulation", "sip0.cube0.hbm_ctrl.pe0"),
        ("FreeReads", "reads and writes pay every link", "its bytes cross 0 links, its way has 9"),
    ],
)
def test_broken_memories_are_found(
    broken_parts: None, monkeypatch: pytest.MonkeyPatch, impl: str, name: str, place: str
) -> None:
    monkeypatch.setenv(
        "KERNBENCH_CHECK", "0"
    )  # the running checks would end the run before the probe can tell
    classes = {"builtin.hbm_ctrl": f"broken_parts:{impl}"}
    report = kb.probe("minimal", sizes=(256, 4096), components=classes)
    assert not report.ok
    assert place in {finding.name: finding.detail for finding in report.violations}[name]


def test_channels_of_their_own_are_probed_one_flit_at_a_time() -> None:
    overrides = {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"}
    report = kb.probe(kb.load_topology("minimal", overrides))
    assert report.ok
    assert report.nbytes == 256
    assert report.sizes == (256,)
    assert [out.name for out in report.left_out][-1] == "sizes above 256 B"
    assert {row.by_size[256].prediction.bottleneck_gbs for row in report.rows} == {32.0}


def test_probing_twice_says_the_same(cli: Cli) -> None:
    argv = ("probe", "--topology", "minimal", *QUICK, "--hops", "--format", "json")
    assert cli(*argv).out == cli(*argv).out
