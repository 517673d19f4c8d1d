"""Which rows of validation are measured, what a reason excuses, and that the page says what is measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernbench.api.names import table_names
from kernbench.draw.progress import Standing
from kernbench.errors import ConfigError
from kernbench.validation import compared, h100, running, sampling, table_file, tables, validate
from kernbench.validation.row_statistics import statistic
from kernbench.validation.sampling import sampled
from kernbench.validation.table_file import CaseGroup, Extent, FigureTable, parse, read
from tests.unit.test_validation import PAGE, Cli, page, worth


@pytest.mark.slow
@pytest.mark.usefixtures("measured_once")
def test_rows_are_measured_and_their_verdicts_are_those_of_the_page(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the saturation of a mesh with packets of one flit, which takes a minute."""

    def fast(table: str, group: CaseGroup, extent: Extent) -> Any:
        cases, sample = sampled(table, group, extent)
        slow = group.measure.startswith("saturation")
        return [case for case in cases if not (slow and case[2]["packet_flits"] == 1)], sample

    monkeypatch.setattr(sampling, "sampled", fast)
    others = [name for name in table_names() if name not in ("h100", "llmcompass", "models", "tenstorrent")]
    ended = cli("validate", *others, "--strict", "--format", "json")
    rows = json.loads(ended.out)["rows"]
    promised = dict(re.findall(r"^\| (.+?) \|.*\| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.M))
    for row in rows:
        title = f"{row['row']}, {row['cases']} cases" if row["cases"] else row["row"]
        assert row["verdict"] == promised[title].strip("*"), title
    assert not [row["row"] for row in rows if row["verdict"] in (running.OUTSIDE, compared.MISSING)]
    assert ended.status == 0


@pytest.mark.slow
@pytest.mark.usefixtures("measured_once")
@pytest.mark.parametrize(
    ("table", "least"), [("h100", 51), ("llmcompass", 37), ("models", 15), ("tenstorrent", 30)]
)
def test_the_short_form_is_what_the_page_says(table: str, least: int, workdir: Path) -> None:
    """Difference, limit, basis and verdict of each row, statistics among them."""
    promised = PAGE.read_text(encoding="utf-8").replace("**", "").splitlines()
    report = validate(table, short=True)
    assert len(report.rows) >= least
    for row in report.rows:
        line = next((line for line in promised if f"| {row.title} |" in line), "")
        assert f"| {row.apart} | {row.limit} | {row.basis} | {row.verdict} |" in line, row.row


def strict(cli: Cli, monkeypatch: pytest.MonkeyPatch, table: FigureTable, **measures: Any) -> Any:
    """The command on a table with these in place of its module's functions, and its rows by verdict."""
    for name, measure in measures.items():
        monkeypatch.setattr(h100, name, measure, raising=False)
    monkeypatch.setattr(table_file, "read", lambda _: table)
    ended = cli("validate", "h100", "--all", "--strict", "--format", "json")
    rows = json.loads(ended.out)["rows"]
    return ended.status, {verdict: [row["row"] for row in rows if row["verdict"] == verdict]
                          for verdict in compared.VERDICTS}  # fmt: skip


def part_of_h100(*measures: str, **settings: Any) -> FigureTable:
    """The shipped groups with one of these measures, and of their lines those with such columns."""
    table = read("h100")
    kept = []
    for group in table.groups:
        found = [
            case
            for _, _, case in table_file.cases(group)
            if all(case.get(k) in v for k, v in settings.items())
        ]
        if group.measure in measures and found:
            kept.append(group.model_copy(update={"file": "", "cases": found}))
    return table.model_copy(update={"groups": kept})


@pytest.mark.daily("3.0")
@pytest.mark.parametrize("times", [1.0, 3.0, 1 / 3])
def test_a_wrong_power_is_a_miss(times: float, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    table = part_of_h100("watts", "limited_mhz")
    status, rows = strict(cli, monkeypatch, table, _power=lambda: (140.6, 986.1 * times))
    assert (status, len(rows["outside"])) == {1.0: (0, 0), 3.0: (1, 3), 1 / 3: (1, 2)}[times]
    assert len(rows["outside with a reason"]) == (times == 1.0)


@pytest.mark.daily("1.2-*", "0.73-*")
@pytest.mark.parametrize(
    ("share", "verdicts"),
    [
        (1.1, (4, 0, 0)),
        (0.83, (0, 4, 0)),
        (0.77, (0, 3, 1)),
        (0.73, (0, 2, 2)),
        (0.65, (0, 0, 4)),
        (1.2, (0, 0, 4)),
    ],
)
def test_a_reason_excuses_no_more_than_its_mechanism_is_worth(
    share: float, verdicts: tuple[int, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decode layers of a library: 36 to 40 us that are not in the model, and it is never slower for them."""
    table = part_of_h100("decoder_us", table=["layer"], model=["llama-70b"], batch=[1, 64])
    status, rows = strict(cli, monkeypatch, table, decoder_us=lambda case: share * case["median_us"])
    assert tuple(len(rows[verdict]) for verdict in ("within", "outside with a reason", "outside")) == verdicts
    assert status == (verdicts[2] > 0)


def test_no_figure_of_the_model_excuses_a_row(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prefill of 512 tokens once took 514 us here, 414 on the GPU: an excuse of that figure went stale."""
    table = part_of_h100("decoder_us", table=["layer"], model=["llama-8b"], tokens=[512])
    status, rows = strict(cli, monkeypatch, table, decoder_us=lambda case: 514.2)
    assert (status, rows["outside"]) == (1, [row for row in rows["outside"] if "tokens=512" in row])
    for name, group in ((name, group) for name, table in tables().items() for group in table.groups):
        assert group.explained is None or (group.explained.size and group.explained.least >= -1), name
    costs = [
        (group.explained.least, us) for group in read("h100").groups if group.set == "layers by a library"
        for _, us, _ in table_file.cases(group) if group.explained is not None
    ]  # fmt: skip
    assert [36 <= -least * us <= 40 for least, us in costs] == [True] * 4


NINE = """
title: t
about: a
sources: {s: {name: S, url: "https://s", version: "1", licence: MIT}}
groups:
  - name: "row {n}"
    source: s
    unit: us
    reference: 1.0
    limit: {kind: nine_in_ten, by: 0.4}
    explained: {why: rounds, least: -0.5, most: 1.0, size: one round or two}
    measure: us
    set: some
    cases: [CASES]
  - &over
    name: "{of}, {what}"
    source: s
    unit: "%"
    reference: 0.0
    limit: {kind: absolute, by: 20}
    statistic: true
    cases: [{of: some, what: median}, {of: some, what: 90th}]
"""


@pytest.mark.parametrize(
    ("off", "verdicts", "status"),
    [
        ([1.9] * 2 + [1.0] * 18, (18, 2, 0), 0),
        ([1.9] * 3 + [1.0] * 17, (17, 0, 3), 1),
        ([100.0] + [1.0] * 19, (19, 0, 1), 1),
        ([0.4] + [1.9] + [1.0] * 18, (18, 1, 1), 1),
        ([1.9], (0, 0, 1), 1),
    ],
)
def test_nine_in_ten_rows_are_within_and_none_is_beyond_its_reason(
    off: list[float], verdicts: tuple[int, ...], status: int, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = ", ".join(f"{{n: {n}, ours: {ours}}}" for n, ours in enumerate(off))
    table = parse(NINE.partition("  - &over")[0].replace("CASES", cases), "h100")
    ended, rows = strict(cli, monkeypatch, table, us=worth)
    assert ended == status
    assert tuple(len(rows[verdict]) for verdict in ("within", "outside with a reason", "outside")) == verdicts


def test_one_row_of_nine_in_ten_is_judged_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = {"kind": "nine_in_ten", "by": 0.2}
    group = CaseGroup.model_validate(
        {"name": "x", "source": "s", "unit": "us", "limit": limit, "reference": 1.0, "measure": "wrong"}
    )
    for ours, verdict in ((1.1, "within"), (1.3, "outside"), (100.0, "outside")):
        monkeypatch.setattr(running, "_module", lambda _, ours=ours: SimpleNamespace(wrong=lambda _: ours))
        assert running.measured("t", group, "x", 1.0, {}).verdict == verdict


def test_a_statistic_says_how_many_rows_it_is_of_on_every_surface(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = ", ".join(f"{{n: {n}, ours: 1.1}}" for n in range(12))
    text = NINE.replace("    set: some", "    set: some\n    sample: 4\n    most_turns: {short: 5}")
    monkeypatch.setattr(h100, "us", worth)
    monkeypatch.setattr(h100, "turns", lambda case: case["n"])
    monkeypatch.setattr(table_file, "read", lambda _: parse(text.replace("CASES", cases), "h100"))
    report = validate("h100", short=True)
    assert [(row.title, row.verdict) for row in report.rows[-2:]] == [
        ("some, median, 4 of 12 cases", "within"),
        ("some, 90th, 4 of 12 cases", "too few rows measured"),
    ]
    said = "h100, some: 4 of 12 cases, by hash of 6; not sampled: 6 above 5 turns of loops"
    assert [str(sample) for sample in report.samples] == [said]
    counted = "6 of 14 rows: 5 within, 1 too few rows measured"
    printed = cli("validate", "h100", "--short", "--strict")
    monkeypatch.setattr(page, "tables", lambda: {"h100": table_file.read("h100")})
    for shown in (printed.out, page.page(report)):
        assert all(text in shown for text in ("some, median, 4 of 12 cases", said, counted))
    assert printed.status == 0
    told = json.loads(cli("validate", "h100", "--short", "--format", "json").out)
    assert [row["cases"] for row in told["rows"]] == [""] * 4 + ["4 of 12"] * 2
    assert (told["samples"][0]["measured"], told["left_out"]) == (4, 8)


def test_a_statistic_is_of_a_set_above_it_and_of_rows_enough() -> None:
    with pytest.raises(ConfigError, match="'none' is not a set of rows above"):
        parse(NINE.replace("CASES", "{n: 1}").replace("of: some", "of: none"), "t.yaml")
    rows = [({"m": 1, "n": 1, "k": 1}, 1.0, 1.0)] * 20
    figures = {what: statistic(what, rows, 30).figure for what in ("median", "90th", "tau", "loss")}
    assert figures == {"median": 0.0, "90th": 0.0, "tau": 0.0, "loss": None}
    with pytest.raises(KeyError):
        statistic("mode", rows, 30)


def test_a_sample_is_the_same_whatever_its_cases_cost() -> None:
    def drawn(names: list[int]) -> set[str]:
        group = CaseGroup.model_validate({
            "name": "row {n}", "source": "s", "unit": "us", "reference": 1.0, "limit": {"kind": "exact"},
            "measure": "us", "sample": 5, "cases": [{"n": n} for n in names],
        })  # fmt: skip
        return {title for title, _, _ in sampling.sampled("h100", group, "short")[0]}

    first = drawn(list(range(40)))
    assert drawn(list(range(39, -1, -1))) == first
    assert len(first & drawn(list(range(41)))) >= 4
    assert first != {f"row {n}" for n in range(5)}


def test_all_rows_are_kept_and_a_second_call_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KERNBENCH_STORE", str(tmp_path / "store"))
    cases = ", ".join(f"{{n: {n}, ours: 1.{n}}}" for n in range(3))
    monkeypatch.setattr(table_file, "read", lambda _: parse(NINE.replace("CASES", cases), "h100"))
    monkeypatch.setattr(h100, "turns", lambda case: 1.0)
    ran: list[int] = []
    stop = True

    def us(case: dict[str, Any]) -> float:
        if stop and case["n"] == 2:
            raise KeyboardInterrupt
        ran.append(case["n"])
        return worth(case)

    monkeypatch.setattr(h100, "us", us)
    with pytest.raises(KeyboardInterrupt):
        validate("h100", everything=True)
    stop = False
    file = tmp_path / "store" / "validation.jsonl"
    file.write_text(file.read_text(encoding="utf-8") + '\n{"key": "broken', encoding="utf-8")
    told: list[Standing] = []
    report = validate("h100", everything=True, progress=told.append)
    assert (ran, [row.measured for row in report.rows[:3]]) == ([0, 1, 2], [1.0, 1.1, 1.2])
    assert told[2].text == "2 of 5 rows, 2 of them kept before, measuring h100: row 2"
    validate("h100", everything=True)
    assert ran == [0, 1, 2]
    validate("h100", short=True)
    assert ran == [0, 1, 2, 0, 1, 2], "only --all goes by what was kept"
    monkeypatch.setattr("kernbench.api.kept_figures._digests", lambda: ("another model", "machines"))
    validate("h100", everything=True)
    assert ran == [0, 1, 2] * 3
