"""The view models, against the trace itself; no terminal, no Textual."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.asking import question
from kernbench.api.contents import runs
from kernbench.api.contents.windows import windows
from kernbench.api.open_runs import OpenRun
from kernbench.api.stores import borrowed
from kernbench.draw.targets import Target
from kernbench.errors import KernBenchError, UsageError
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.cypher import ask, complete
from kernbench.tui.models.entity_pages import launch_page, operation_page, transaction_page
from kernbench.tui.models.machine import MachineTree
from kernbench.tui.models.mesh import cube_map
from kernbench.tui.models.pages import Page, TabSection
from kernbench.tui.models.questions import answer, form, questions_table
from kernbench.tui.models.resource_page import resource_page, shares_of
from kernbench.tui.models.run_page import compare_page, run_page
from kernbench.tui.models.screen_table import grid_table
from kernbench.tui.models.table import ShownTable

WHOLE = ChosenWindow("run")


@pytest.fixture(scope="module")
def browser(kept: tuple[Path, list[str]]) -> Iterator[Browser]:
    with borrowed(kept[0]) as store:
        yield Browser(store)


@pytest.fixture(scope="module")
def opened(browser: Browser) -> OpenRun:
    return browser.run(browser.resolve("last"))


def section(page: Page, name: str) -> ShownTable:
    return next(one for one in page.sections if one.name == name).load()


def records(table: ShownTable) -> list[dict[str, object]]:
    return [table.record(row) for row in range(len(table))]


def test_runs_are_listed_newest_first_with_what_changed(browser: Browser, ids: list[str]) -> None:
    table = grid_table(runs.grid(browser.runs()))
    assert [row["run_id"] for row in records(table)] == ids[::-1]
    assert table.value(0, "changed") == "m=64"
    assert table.targets(0) == [Target("run", ids[-1])]


def test_the_time_of_a_run_adds_up_to_its_window(opened: OpenRun) -> None:
    for window in (ChosenWindow(), WHOLE, ChosenWindow("setup")):
        page = run_page(opened, window)
        length = opened.run.window(window).ns
        time = records(section(page, "Time"))
        assert np.isclose(sum(row["ns"] for row in time if row["by"] == "cause"), length)  # type: ignore[misc]
        steps = section(page, "Critical path")
        assert np.isclose(sum(row["ns"] for row in records(steps)), length)  # type: ignore[misc]


@pytest.mark.slow
def test_advice_is_in_lines_that_fit_and_leads_to_its_rule(browser: Browser, ids: list[str]) -> None:
    opened = browser.run(ids[0])
    said = opened.run.advice()
    table = section(run_page(opened, ChosenWindow()), "Advice")
    rows = records(table)
    assert " ".join(str(row["advice"]) for row in rows) == " ".join(one["advice"] for one in said)
    assert [row["rule"] for row in rows if row["rule"]] == [one["rule"] for one in said]
    assert table.targets(0) == [Target("question", said[0]["rule"])]
    with pytest.raises(UsageError, match="whole launches"):
        section(run_page(opened, ChosenWindow("setup")), "Advice")


def test_a_run_lists_exactly_the_transactions_and_operations_of_its_window(opened: OpenRun) -> None:
    every = run_page(opened, WHOLE)
    assert len(section(every, "Transactions")) == len(opened.run.transactions["number"])
    assert len(section(every, "Operations")) == len(opened.run.ops["number"])
    launch = opened.run.launches[0]
    sent = opened.run.transactions["t_submit"]
    within = (sent >= launch["t_start"]) & (
        (sent < launch["t_done"]) | (launch["t_done"] >= opened.run.sim_ns)
    )
    assert len(section(run_page(opened, ChosenWindow("0")), "Transactions")) == int(within.sum())


def test_resources_come_busiest_first_and_lead_to_their_pages(opened: OpenRun) -> None:
    table = section(run_page(opened, ChosenWindow()), "Parts")
    shares = [row["utilisation"] for row in records(table)]
    assert shares == sorted(shares, reverse=True)
    assert table.targets(0) == [Target("resource", table.value(0, "resource"))]


def test_a_transaction_shows_its_hops_waits_and_causes(opened: OpenRun) -> None:
    waited = opened.run.frame("WaitedFor")
    number = int(waited["txn"][np.argmax(waited["ns"])])
    page = transaction_page(opened, number)
    hops = records(section(page, "Hops"))
    assert [hop["seq"] for hop in hops] == list(range(len(hops)))
    assert len(hops) == int((opened.run.hops["txn"] == number).sum())
    held = section(page, "Waited for")
    assert len(held) == int((waited["txn"] == number).sum())
    holder = held.targets(0)[0]
    assert holder == Target("transaction", held.value(0, "holder"))
    back = section(transaction_page(opened, int(holder.key)), "Held up")
    assert number in [row["waiter"] for row in records(back)]
    assert section(page, "Causes and effects").targets(0)[0].sort in ("operation", "transaction")


def test_causes_and_effects_of_operations_mirror_each_other(opened: OpenRun, browser: Browser) -> None:
    needs = opened.run.frame("DependsOn")
    op, on = int(needs["op"][-1]), int(needs["on"][-1])
    causes = records(section(operation_page(opened, op, browser.store), "Causes"))
    assert on in [row["number"] for row in causes if str(row["relation"]).startswith("depends on")]
    effects = records(section(operation_page(opened, on, browser.store), "Effects"))
    assert op in [row["number"] for row in effects if row["relation"] == "needed by"]


def test_a_launch_lists_its_pes(opened: OpenRun) -> None:
    table = section(launch_page(opened, 0), "PEs")
    assert {row["component"] for row in records(table)} == set(opened.run.launches[0]["pe_times"])


def test_a_link_lists_who_crossed_it(opened: OpenRun) -> None:
    hops = opened.run.hops
    name = next(str(one) for one in hops["resource"] if "->" in one)
    page = resource_page(opened, name, WHOLE)
    crossed = section(page, "Crossed by")
    assert [row["transaction"] for row in records(crossed)] == hops["txn"][hops["resource"] == name].tolist()
    ends = [row["component"] for row in records(section(page, "Ends"))]
    assert "->".join(map(str, ends)) == name
    assert name in [
        row["link"] for row in records(section(resource_page(opened, str(ends[0]), WHOLE), "Links"))
    ]


def test_parts_that_record_no_crossings_say_so(opened: OpenRun) -> None:
    used = {str(one) for one in opened.run.used["resource"]}
    channel = next(name for name in sorted(used) if re.search(r"\.pc\d+$", name))
    crossed = section(resource_page(opened, channel, WHOLE), "Crossed by")
    assert len(crossed) == 0
    assert crossed.empty.endswith(f"see {channel.rpartition('.')[0]}")
    idle = next(name for name in opened.links if name not in used)
    assert section(resource_page(opened, idle, WHOLE), "Crossed by").empty == "no transaction went through it"


def test_what_is_not_there_is_an_error_with_a_remedy(opened: OpenRun, browser: Browser) -> None:
    with pytest.raises(UsageError, match=r"has no transaction 999999; choose"):
        transaction_page(opened, 999_999)
    with pytest.raises(UsageError, match=r"has no operation 999999"):
        operation_page(opened, 999_999, browser.store)
    with pytest.raises(UsageError, match=r"has no launch 7; it has 1"):
        launch_page(opened, 7)
    with pytest.raises(UsageError, match=r"has no 'sip0.cube0.pe_0'; did you mean 'sip0.cube0.pe0'"):
        resource_page(opened, "sip0.cube0.pe_0", WHOLE)


def test_maps_show_the_busiest_part_of_each_cell(opened: OpenRun) -> None:
    shares = {name: one.utilisation for name, one in shares_of(opened, WHOLE).items()}
    machine = MachineTree(opened, shares_of(opened, WHOLE), "the whole run")
    package = machine.map("sip0")
    assert package is not None
    inside = [share for name, share in shares.items() if name.startswith("sip0.cube0.") and "io" not in name]
    cell = package.cells[0, 0]
    assert cell.name == "sip0.cube0"
    assert cell.share == max(inside)
    cube = cube_map(opened, shares, 0, 0)
    assert max(one.share for one in cube.cells.values()) <= cell.share
    assert {one.label for one in cube.cells.values()} >= {"pe0+"}
    for at in cube.across:
        assert at in cube.cells
        assert (at[0], at[1] + 1) in cube.cells


def test_the_tree_of_a_machine_holds_every_component_once(opened: OpenRun) -> None:
    machine = MachineTree(opened, shares_of(opened, WHOLE), "the whole run")
    seen: list[str] = []
    todo = [machine.root]
    while todo:
        name = todo.pop()
        seen.append(name)
        todo += machine.parts(name)
    assert sorted(seen) == sorted(opened.components)


def test_questions_are_listed_filled_in_and_answered(browser: Browser, opened: OpenRun) -> None:
    assert len(questions_table()) == len(kb.questions())
    fields = {field.name: field for field in form(question("busiest-links"), ChosenWindow("0", 1.0))}
    assert (fields["launch"].text, fields["from_ns"].text, fields["to_ns"].text) == ("0", "1.0", "")
    table, _ = answer(
        browser.store, "bottleneck/busiest-links", opened.run.id, {"limit": " 3 ", "launch": ""}
    )
    assert len(table) == 3
    with pytest.raises(KernBenchError, match="limit"):
        answer(browser.store, "bottleneck/busiest-links", opened.run.id, {"limit": "many"})


def test_a_field_that_names_something_can_be_emptied_to_mean_all(browser: Browser, opened: OpenRun) -> None:
    texts = {field.name: field.text for field in form(question("distances"), WHOLE)}
    assert texts["kind"] == "hbm_ctrl"
    texts["src"] = "sip0.cube0.pe0"
    some, _ = answer(browser.store, "routing/distances", opened.run.id, texts)
    every, _ = answer(browser.store, "routing/distances", opened.run.id, {**texts, "kind": ""})
    assert len(some) < len(every)


def test_free_cypher_leads_on_from_nodes(browser: Browser, opened: OpenRun) -> None:
    table, _ = ask(
        browser.store,
        "MATCH (r:Run {id: $run})-[:SENT]->(t:Transaction) RETURN t ORDER BY t.number LIMIT 2",
        opened.run.id,
    )
    assert table.targets(1) == [Target("transaction", 1)]
    with pytest.raises(KernBenchError):
        ask(browser.store, "MATCH (t:Transaction) DELETE t", opened.run.id)


def test_a_plan_is_a_column_of_lines(browser: Browser, opened: OpenRun) -> None:
    table, notes = ask(browser.store, "EXPLAIN MATCH (t:Transaction) RETURN t LIMIT 2", opened.run.id)
    assert [column.name for column in table.columns] == ["plan"]
    assert len(table) > 2
    assert [table.targets(at) for at in range(len(table))] == [[]] * len(table)
    assert notes == []


@pytest.mark.parametrize(
    ("before", "begun", "among"),
    [
        ("MATCH (t:Trans", 5, "Transaction"),
        ("MATCH (a)-[:WAIT", 4, "WAITED_FOR"),
        ("MATCH (t) WHERE t.wait", 4, "wait_ns"),
        ("MATCH (r:Run {i", 1, "id"),
        ("MAT", 3, "MATCH"),
        ("MATCH (waiter:Transaction) RETURN wai", 3, "waiter"),
    ],
)
def test_completion_knows_the_schema_and_the_texts_own_names(before: str, begun: int, among: str) -> None:
    found, options = complete(before)
    assert found == begun
    assert among in options


def test_a_comparison_names_what_was_configured_and_what_got_slower(browser: Browser, ids: list[str]) -> None:
    page = compare_page(browser.store, ids[1], ids[2])
    configured = records(section(page, "Configured differently"))
    assert [(row["key"], row["before"], row["after"]) for row in configured] == [("m", 32, 64)]
    assert any(row["slower"] for row in records(section(page, "Times")))
    assert page.run == ids[2]
    for name in ("Where the time went", "Slower where"):
        assert len(section(page, name)) > 0


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("", ChosenWindow()),
        ("2", ChosenWindow("2")),
        ("10..20.5", ChosenWindow("all", 10.0, 20.5)),
        ("run ..5", ChosenWindow("run", None, 5.0)),
    ],
)
def test_windows_are_read_and_written_alike(text: str, window: ChosenWindow) -> None:
    assert ChosenWindow.parse(text) == window
    assert ChosenWindow.parse(str(window)) == window


def test_windows_step_through_launches(opened: OpenRun) -> None:
    assert [name for name, _ in windows(opened.run)] == ["0", "setup", "run"]
    with pytest.raises(UsageError, match=r"write it as 100\.\.250"):
        ChosenWindow.parse("1..x")


def test_all_tabs_of_a_run_are_named_within_eighty_columns(opened: OpenRun) -> None:
    page = run_page(opened, ChosenWindow())
    assert page.labels(200) == [one.name for one in page.sections]
    short = page.labels(80)
    assert sum(len(name) + 2 for name in short) <= 80
    assert len(set(short)) == len(page.sections) == 11
    assert short == [one.short or one.name for one in page.sections], "none is cut"


@pytest.mark.parametrize("tabs", [11, 14, 18])
def test_more_tabs_have_room_as_well(tabs: int) -> None:
    names = [f"{['Contention', 'Bandwidth', 'Residency'][n % 3]} {n}" for n in range(tabs)]
    page = Page("run", (), [TabSection(name, lambda: ShownTable.of_rows([], ())) for name in names])
    short = page.labels(80)
    assert sum(len(name) + 2 for name in short) <= 80
    assert all(name.startswith(cut) and len(cut) >= 2 for name, cut in zip(names, short, strict=True))
