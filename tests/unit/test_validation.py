"""``kernbench validate``: limits, verdicts, tables as data, the command and its page."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernbench.api.names import table_names
from kernbench.cli.main import main
from kernbench.draw.progress import Standing
from kernbench.errors import (
    AllocationError,
    ComponentError,
    ConfigError,
    InvariantError,
    KernBenchError,
    LaunchError,
    UsageError,
    VerificationError,
)
from kernbench.validation import mesh, running, sampling, table_file, tables, validate
from kernbench.validation.table_file import CaseGroup, Explained, Limit, Range, parse, read
from tools.reference import validation as page

Cli = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "validation.md"
LIMITS = ROOT / "docs" / "explanation" / "limits.md"

TABLE = """
title: t
about: a
sources: {s: {name: S, url: "https://s", version: "1", licence: MIT}}
groups:
  - name: "row {n}"
    source: s
    unit: ns
    reference: figure
    limit: {kind: relative, by: 0.1}
    measure: worth
    settings: {figure: 10.0}
    cases: [{n: 1, ours: 11.0}, {n: 2, ours: 11.5}, {n: 3, ours: 20.0}]
    explained: {why: for a reason, least: 0.9, most: 1.1, size: of a book}
    needs: a better model
    see: Network
  - {name: none, source: s, unit: ns, reference: 2.0, limit: {kind: exact}, needs: wings}
"""


REASON = "for a reason; accounts for +90 % to +110 %: of a book"


def worth(case: dict[str, Any]) -> float:
    """The measure of the table above."""
    return float(case["ours"])


def test_verdicts_are_those_of_limits_and_explanations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh, "worth", worth, raising=False)
    monkeypatch.setattr(table_file, "read", lambda name: parse(TABLE, name))
    told: list[Standing] = []
    report = validate("mesh", progress=told.append)
    assert [(row.row, row.measured, row.apart, row.verdict) for row in report.rows] == [
        ("row 1", 11.0, "+10.0%", "within"),
        ("row 2", 11.5, "+15.0%", "outside"),
        ("row 3", 20.0, "+100.0%", "outside with a reason"),
        ("none", None, "-", "cannot be modelled yet"),
    ]
    assert [row.remarks for row in report.rows] == [
        [], ["outside: needs a better model", f"beyond what is known: {REASON}"],
        [REASON], ["cannot be modelled yet: needs wings"],
    ]  # fmt: skip
    assert [row.row for row in report.missed] == ["row 2", "none"]
    assert (
        report.summary() == "4 rows: 1 within, 1 outside with a reason, 1 outside, 1 cannot be modelled yet"
    )
    assert [(one.done, one.total) for one in told] == [(i, 4) for i in range(4)]
    for one, row in zip(told, report.rows, strict=True):
        text = rf"{one.done} of 4 rows(, about \d+ s left)?, measuring mesh: {row.row}"
        assert re.fullmatch(text, one.text)


def test_what_is_fitted_says_so_everywhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mesh, "worth", worth, raising=False)
    fitted = TABLE.replace("    see: Network", "    fitted: the worth")
    monkeypatch.setattr(table_file, "read", lambda name: parse(fitted, name))
    report = validate("mesh")
    assert [(row.basis, row.fitted) for row in report.rows] == [("fitted", "the worth")] * 3 + [
        ("predicted", "")
    ]
    assert all("fitted: the worth" in row.remarks for row in report.rows[:3])
    assert report.summary().startswith("4 rows: 1 within (1 of them fitted), ")
    assert "| 10 % | **fitted** | within |" in page.page(report)
    assert "| exact | predicted | **cannot be modelled yet** |" in page.page(report)
    assert main(["validate", "mesh", "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert dict(zip(lines[0].split(","), lines[1].split(","), strict=True))["basis"] == "fitted"


def test_shipped_rows_with_chosen_figures_are_fitted() -> None:
    """What was chosen or read off: queues of 8 slots, two reads, five of NCCL, DRAM, reductions."""
    fitted = {name: sum(bool(group.fitted) for group in read(name).groups) for name in table_names()}
    assert fitted == {
        "cnsim": 0,
        "collectives": 2,
        "dram": 0,
        "gemm": 0,
        "h100": 8,
        "llmcompass": 0,
        "mesh": 0,
        "models": 0,
        "records": 2,
        "silicon": 4,
        "tenstorrent": 8,
    }


@pytest.mark.parametrize(
    ("limit", "inside", "outside"),
    [
        (Limit(kind="exact"), 100.00000001, 100.001),
        (Limit(kind="relative", by=0.05), 95.0, 94.9),
        (Limit(kind="absolute", by=2.0), 98.0, 102.1),
    ],
)
def test_limits_hold_on_both_sides(limit: Limit, inside: float, outside: float) -> None:
    for ours in (inside, 200.0 - inside):
        assert limit.holds(ours, 100.0)
    for ours in (outside, 200.0 - outside):
        assert not limit.holds(ours, 100.0)


def test_a_relative_limit_and_an_explanation_are_of_the_size_of_the_figure() -> None:
    limit = Limit(kind="relative", by=0.05)
    assert [limit.holds(ours, -100.0) for ours in (-104.0, -96.0, -106.0)] == [True, True, False]
    explained = Explained(why="a reason", least=-0.3, most=-0.1, size="rows")
    for reference, figures in ((100.0, (69.9, 70.0, 90.0, 90.1)), (-100.0, (-130.1, -130.0, -110.0, -109.9))):
        assert [explained.holds(ours, reference) for ours in figures] == [False, True, True, False]
    assert not explained.holds(1.0, 0.0)


def test_what_a_limit_says_of_a_difference() -> None:
    exact, share, size = (
        Limit(kind="exact"), Limit(kind="relative", by=0.05), Limit(kind="absolute", by=2.0),
    )  # fmt: skip
    assert [limit.shown("ns") for limit in (exact, share, size)] == ["exact", "5 %", "2 ns"]
    assert share.used(102.5, 100.0) == pytest.approx(0.5)
    assert share.used(102.5, -100.0) == pytest.approx(202.5 / 5)
    most = Limit(kind="nine_in_ten", by=0.4)
    assert (most.shown("us"), most.used(1.2, 1.0)) == ("40 % for 9 in 10", pytest.approx(0.5))
    assert size.used(99.0, 100.0) == pytest.approx(-0.5)
    assert (exact.used(100.0, 100.0), exact.used(101.0, 100.0)) == (0.0, None)
    assert exact.holds(1e-10, 0.0)
    assert [value in Range(least=1.0, below=2.0) for value in (0.9, 1.0, 1.9, 2.0)] == [
        False,
        True,
        True,
        False,
    ]


def test_verdicts_differences_and_remarks_of_rows() -> None:
    how: dict[str, Any] = {
        "name": "r", "source": "s", "unit": "ns", "reference": 100.0,
        "limit": {"kind": "relative", "by": 0.1}, "measure": "row", "note": "as it is", "needs": "a wing",
    }  # fmt: skip

    def row(ours: float, reference: float = 100.0, **more: Any) -> Any:
        module = SimpleNamespace(row=lambda _: ours)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(running, "_module", lambda _: module)
            group = CaseGroup.model_validate({**how, **more})
            return running.measured("t", group, "r", reference, {}, "of the table")

    because = {"why": "because", "least": -0.25, "most": 0.0, "size": "rows"}
    inside, outside = row(95.0), row(80.0)
    assert (inside.verdict, inside.difference, inside.relative, inside.needs) == ("within", -5.0, -0.05, "")
    assert (outside.verdict, outside.needs, outside.misses, outside.see) == (
        "outside",
        "a wing",
        True,
        "of the table",
    )
    told = row(80.0, explained=because, see="its own", fitted="queues")
    assert (told.verdict, told.note, told.misses, told.see) == (
        "outside with a reason",
        "because; accounts for -25 % to 0 %: rows",
        False,
        "its own",
    )
    assert (told.basis, told.remarks) == ("fitted", ["fitted: queues", told.note])
    assert row(96.0, explained=because).note == "as it is"
    zero = row(1.0, 0.0, limit={"kind": "absolute", "by": 2.0})
    assert (inside.apart, row(100.0).apart, zero.apart, zero.relative) == ("-5.0%", "0.0%", "+1", None)
    missing = row(0.0, measure="")
    assert (missing.verdict, missing.measured, missing.apart) == ("cannot be modelled yet", None, "-")
    report = running.Report({}, [inside, outside, told, row(95.0, fitted="x")])
    assert report.summary() == "4 rows: 2 within (1 of them fitted), 1 outside with a reason, 1 outside"
    assert report.missed == [outside]


def test_a_case_that_ends_in_an_error_is_a_row_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(case: dict[str, Any]) -> float:
        if case["n"] == 2:
            raise AllocationError("scratch is full")
        return worth(case)

    monkeypatch.setattr(mesh, "worth", fails, raising=False)
    monkeypatch.setattr(table_file, "read", lambda name: parse(TABLE, name))
    rows = validate("mesh").rows
    assert (rows[1].verdict, rows[1].measured, rows[1].misses) == ("cannot be modelled yet", None, True)
    assert "the case ends in an error: scratch is full" in rows[1].remarks
    assert [row.measured for row in rows] == [11.0, None, 20.0, None]


@pytest.mark.parametrize(
    "fault",
    [
        InvariantError("bytes are lost", "bytes"),
        ComponentError("hbm raised"),
        VerificationError("differs"),
        LaunchError.of_kernel("k", "pe0", 1.0, 0, "", InvariantError("a stray credit")),
    ],
)
def test_a_fault_of_the_simulator_ends_the_command_and_names_the_case(
    fault: KernBenchError, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(case: dict[str, Any]) -> float:
        if case["n"] == 2:
            raise fault
        return worth(case)

    monkeypatch.setattr(mesh, "worth", fails, raising=False)
    monkeypatch.setattr(table_file, "read", lambda name: parse(TABLE, name))
    said = str(fault)
    ended = cli("validate", "mesh")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == f"kernbench: error: mesh: row 2: {said}\n"


def test_lines_of_files_are_chosen_and_numbers_are_numbers() -> None:
    assert [table_file._value(text) for text in ("3", "3.5", "x", "")] == [3, 3.5, "x", ""]
    with pytest.MonkeyPatch.context() as patch:
        lines = [{"a": n, "b": n * 2.0, "kind": "xy"[n % 2]} for n in range(6)]
        patch.setattr(table_file, "lines_of", lambda _: iter(lines))
        group = CaseGroup.model_validate({
            "name": "{a} of {kind}", "source": "s", "unit": "ns", "limit": {"kind": "exact"},
            "reference": "b", "measure": "m", "file": "f.csv", "where": {"kind": ["x"], "a": {"least": 2}},
            "settings": {"a": 9, "z": 1},
        })  # fmt: skip
        assert list(table_file.cases(group)) == [
            (f"{n} of x", n * 2.0, {"a": n, "b": n * 2.0, "kind": "x", "z": 1}) for n in (2, 4)
        ]


def test_headings_have_the_anchors_that_sites_give_them() -> None:
    assert page.anchor("HBM, half-full (DRAM)") == "hbm-half-full-dram"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("measure: worth", "mesure: worth"), "groups.0.mesure: Extra inputs are not permitted"),
        (("kind: exact", "kind: exact, by: 1.0"), "groups.1.limit: Value error, an exact limit has no 'by'"),
        (("needs: wings", 'note: ""'), "groups.1: Value error, give a measure, or in 'needs' what the model"),
        (("source: s, unit", "source: r, unit"), "Value error, 'r' is not one of the sources s"),
        (("title: t", "title: [t"), "t.yaml:3: bad YAML"),
    ],
)
def test_a_wrong_table_is_one_line(change: tuple[str, str], message: str) -> None:
    assert change[0] in TABLE
    with pytest.raises(ConfigError) as raised:
        parse(TABLE.replace(*change), "t.yaml")
    assert message in str(raised.value)
    assert str(raised.value).startswith("t.yaml:")
    assert "\n" not in str(raised.value)


def test_every_table_can_be_read_and_every_measure_is_there() -> None:
    assert list(tables()) == table_names()
    for name, table in tables().items():
        measured = any(group.measure for group in table.groups)
        module = importlib.import_module(f"kernbench.validation.{name}") if measured else None
        for group in table.groups:
            rows = list(table_file.cases(group))
            assert rows
            assert len({title for title, _, _ in rows}) == len(rows), "rows of one name"
            assert not group.measure or callable(getattr(module, group.measure))
            assert not group.most_turns or callable(module.turns)


def test_what_differences_mean_is_in_the_page_of_limits() -> None:
    headings = re.findall("^## (.+)$", LIMITS.read_text(encoding="utf-8"), re.M)
    for name, table in tables().items():
        for group in table.groups:
            see = group.see or table.see
            assert see in headings, (
                f"{name}: name a heading of limits.md in 'see' of the table or of its groups"
            )


def test_a_part_of_the_page_is_written_and_the_rest_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh, "worth", worth, raising=False)
    both = {name: parse(TABLE.replace("title: t", f"title: {name}"), name) for name in ("gemm", "mesh")}
    monkeypatch.setattr(page, "tables", lambda: both)
    monkeypatch.setattr(table_file, "read", both.get)
    report = validate("mesh")
    first = page.page(report, "# old\n\n## gemm\n\nas it was\n\n## gone\n\nnothing\n")
    assert re.findall("^## (.+)$", first, re.M) == ["gemm", "mesh"]
    assert "as it was" in first
    assert page.page(report, first) == first


def test_there_is_no_such_table() -> None:
    with pytest.raises(UsageError, match="there is no table 'gem'; did you mean 'gemm'"):
        validate("gem")


def test_a_mesh_without_load_takes_the_closed_form() -> None:
    assert mesh.zero_load({"k": 3, "packet_flits": 4}) == 0.0


@pytest.mark.slow
def test_a_mesh_saturates_between_no_load_and_all() -> None:
    case = {"k": 2, "packet_flits": 1, "traffic": "uniform", "saturation_flits_per_node_cycle": 0.3}
    rate = mesh.saturation(case)
    limit = mesh.SATURATED * (6 + 4 * 1.0)
    assert mesh.mean_latency(case, rate) < limit < mesh.mean_latency(case, rate * 1.5)


def test_the_command_prints_rows_and_exits_by_them(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mesh, "worth", worth, raising=False)
    monkeypatch.setattr(
        table_file, "read", lambda name: parse(TABLE.replace("title: t", f"title: {name}"), name)
    )
    ended = cli("validate", "mesh", "--plot", "rows.png")
    assert ended.status == 0
    assert re.search("^row 2 +10 +11.5 +ns +[+]15.0% +10 % +predicted +outside +s$", ended.out, re.M)
    assert ended.out.endswith(
        "4 rows: 1 within, 1 outside with a reason, 1 outside, 1 cannot be modelled yet\n"
    )
    assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")
    written = page.page(validate("mesh"), "# old\n\n## Another table\n\n## mesh\n\n| stale |\n")
    assert "| row 2 | 10 | 11.5 | ns | +15.0% | 10 % | predicted | **outside** |" in written
    assert "[Network](../explanation/limits.md#network)" in written
    assert "stale" not in written
    said = json.loads(cli("validate", "mesh", "--format", "json").out)
    assert [row["used"] for row in said["rows"]] == pytest.approx([1.0, 1.5, 10.0, None])
    assert said["counts"] == {
        "within": 1,
        "outside with a reason": 1,
        "outside": 1,
        "cannot be modelled yet": 1,
        "too few rows measured": 0,
    }
    assert said["rows"][1]["difference"] == 1.5
    assert said["sources"]["mesh"]["s"]["licence"] == "MIT"
    wrong = cli("validate", "mesh", "--plot", "rows.svg")  # it would hold a PNG
    assert wrong.status == 2
    assert "'--plot': 'rows.svg' must end in .png" in wrong.err
    strict = cli("validate", "mesh", "--strict", "--format", "csv")
    assert strict.status == 1
    assert strict.err == (
        "kernbench: error: 2 of 4 rows do not keep their limit; the first, mesh: row 2: outside\n"
    )
    assert cli("validate", "nothing").status == 2
    assert [
        one["name"] for one in json.loads(cli("validate", "--list", "--format", "json").out)["tables"]
    ] == table_names()


def test_the_page_has_every_row() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables().items():
        assert f"## {table.title}\n" in text
        for source in table.sources.values():
            assert source.version in text
        for group in table.groups:
            for title, _, _ in sampling.sampled(name, group, "short")[0] if not group.statistic else ():
                shown = rf"^\| {re.escape(title)}(, \d+ of \d+ cases)? \|"
                assert re.search(shown, text, re.M), "write the page anew: make validation"
