"""The page in a real browser: every view, with no error on its console."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.open_runs import OpenRun
from kernbench.page.machine import machine_use
from tests.processes import Process
from tests.web.views import VIEWS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"phone": (360, 740), "desk": (1400, 900), "wall": (1920, 1080)}


@contextmanager
def opened(browser: Browser, size: str, scheme: str) -> Iterator[Page]:
    """A page whose console must stay empty, but for what a test expects, and loading all from one place."""
    wide, high = SIZES[size]
    context = browser.new_context(viewport={"width": wide, "height": high}, color_scheme=scheme)
    page = context.new_page()
    page.expected = []
    said: list[str] = []
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    loaded: list[str] = []
    page.on("request", lambda asked: loaded.append(asked.url))
    yield page
    origin = re.sub(r"^(\w+://[^/]*/).*", r"\1", page.url)
    context.close()
    assert [text for text in said if not any(part in text for part in page.expected)] == []
    assert [url for url in loaded if not url.startswith(origin)] == []


@pytest.fixture(params=[("phone", "dark"), ("desk", "light"), ("wall", "dark")], ids="-".join)
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page of some size and colour scheme."""
    with opened(browser, *request.param) as found:
        yield found


@pytest.fixture
def desk(browser: Browser) -> Iterator[Page]:
    """A page of ordinary size."""
    with opened(browser, "desk", "light") as found:
        yield found


def show(page: Page, server: str, address: str) -> None:
    page.goto(f"{server}#{address}")
    page.wait_for_selector(f'#view[data-shown="#{address}"]', timeout=20_000)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_drawn_and_can_be_read(page: Page, server: str, view: str) -> None:
    show(page, server, view)
    assert VIEWS[view] in page.inner_text("#view")
    assert page.locator("nav a[aria-current=page]").count() == 1
    assert page.locator("[role=alert]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "wider than the window"
    if page.viewport_size["width"] < SIZES["wall"][0]:  # the phone is dark, the desk light
        check_with_axe(page)


def test_a_wrong_view_is_named_with_what_there_is(page: Page, server: str) -> None:
    show(page, server, "timelien")
    assert "There is no page '#timelien'." in page.inner_text("[role=alert]")
    assert page.locator("nav a[aria-current=page]").count() == 0
    page.click("#view a:text-is('Timeline')")
    page.wait_for_selector('#view[data-shown="#timeline"]', timeout=20_000)


def check_with_axe(page: Page) -> None:
    """Names, roles and contrast, as axe-core checks them for screen readers: no serious finding."""
    axe = pytest.importorskip("axe_playwright_python", reason="it comes with the packages of 'dev'")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 20
    serious = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == []


def share_of(page: Page) -> dict[str, str]:
    """The percentages on the picture, by place."""
    found: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.percents text')].map("
        "(one) => [`${one.getAttribute('x')} ${one.getAttribute('y')}`, one.textContent]))"
    )
    return found


def open_run(kept: tuple[Path, list[str]]) -> OpenRun:
    """The last run."""
    return OpenRun(kb.open_run(kept[1][2], kept[0]))


def test_the_views_of_the_machine_and_the_slider(
    desk: Page, server: str, kept: tuple[Path, list[str]]
) -> None:
    for view in ("system", "sip", "cube", "pe"):
        show(desk, server, f"topology?view={view}")
        assert desk.locator("svg.machine [data-id]").count() > 0
    show(desk, server, "topology?view=pe")
    run = open_run(kept)
    drawn = machine_use(run.run, run.graph, "pe", None, ChosenWindow())
    assert sorted(share_of(desk).values()) == sorted(
        f"{round(share * 100)}%"
        for key, share in drawn["whole"].items()
        if share >= 0.005 and key in drawn["places"]
    )
    slider = desk.get_by_label("time interval")
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    frame = 20
    assert (
        desk.get_by_role("button", name="utilisation of the whole window").get_attribute("aria-pressed")
        == "false"
    )
    assert sorted(share_of(desk).values()) == sorted(
        f"{round(shares[frame] * 100)}%"
        for key, shares in drawn["frames"].items()
        if shares[frame] >= 0.005 and key in drawn["places"]
    )
    begin, end = drawn["edges"][frame : frame + 2]
    said = slider.get_attribute("aria-valuetext") or ""
    shown = [float(text.replace(",", "")) for text in re.findall(r"[\d.,]+", said)]
    assert shown == pytest.approx([begin, end], abs=1e-3)
    desk.get_by_role("button", name="utilisation of the whole window").click()
    assert slider.get_attribute("aria-valuetext", timeout=1000)
    desk.get_by_role("button", name="play").click()
    desk.wait_for_timeout(900)
    assert slider.input_value() not in ("", "20")
    desk.get_by_role("button", name="play").click()


def test_the_picture_zooms_pans_and_tells_about_its_parts(desk: Page, server: str) -> None:
    show(desk, server, "topology?view=pe")
    picture = desk.locator("svg.machine")
    zoom = lambda: float(picture.get_attribute("data-zoom") or 0)  # noqa: E731
    assert zoom() == 1.0
    picture.focus()
    picture.press("+")
    picture.press("+")
    assert zoom() == pytest.approx(1.25**2, abs=0.01)
    before = picture.get_attribute("viewBox")
    picture.press("ArrowRight")
    assert picture.get_attribute("viewBox") != before
    picture.press("0")
    assert zoom() == 1.0
    picture.hover()
    desk.mouse.wheel(0, -100)
    assert zoom() == pytest.approx(1.25, abs=0.01)
    desk.get_by_role("button", name="show all").click()
    assert zoom() == 1.0
    desk.locator('[data-id="pe_gemm"]').hover()
    assert "pe_gemm" in desk.inner_text(".tip")
    assert "utilisation" in desk.inner_text(".tip")
    desk.locator('[data-id="pe_gemm"]').click()
    assert desk.locator(".detail h3").inner_text() == "pe_gemm"
    assert "sip0.cube0.pe0.pe_gemm" in desk.inner_text(".detail")
    desk.get_by_placeholder("part or link").fill("sip0.cube0.pe0.pe_dma")
    desk.get_by_placeholder("part or link").press("Enter")
    assert desk.locator(".detail h3").inner_text() == "pe_dma"
    assert zoom() > 1.5


def seen(page: Page) -> tuple[float, float]:
    canvas = page.locator("canvas")
    return float(canvas.get_attribute("data-from") or -1), float(canvas.get_attribute("data-to") or -1)


def test_the_time_line_zooms_and_searches(desk: Page, server: str, kept: tuple[Path, list[str]]) -> None:
    show(desk, server, "timeline")
    line = open_run(kept).run.timeline(links=True)
    assert seen(desk) == pytest.approx((0.0, line.ns))
    canvas = desk.locator("canvas")
    canvas.focus()
    canvas.press("+")
    begin, end = seen(desk)
    assert end - begin == pytest.approx(line.ns / 1.5)
    canvas.press("ArrowLeft")
    assert seen(desk)[0] < begin
    canvas.press("0")
    assert seen(desk) == pytest.approx((0.0, line.ns))
    wanted = [
        (row.begin[n], row.names[n], row.end[n])
        for group in line.groups for row in group.rows for n in range(len(row.begin))
        if "gemm" in row.names[n].lower() or "gemm" in row.place.lower() or "gemm" in row.sources[n].lower()
    ]  # fmt: skip
    assert wanted
    search = desk.get_by_label("search")
    search.fill("gemm")
    assert desk.locator(".tools output").first.inner_text() == f"{len(wanted)} found"
    search.press("Enter")
    assert desk.locator(".tools output").first.inner_text() == f"1 of {len(wanted)}"
    assert desk.locator(".detail h3").inner_text() == min(wanted)[1]
    desk.get_by_role("button", name="zoom to this bar").click()
    shown = seen(desk)  # of bars that begin at once, one of that name
    ends = [last for first, name, last in wanted if (first, name) == min(wanted)[:2]]
    margins = [(last - min(wanted)[0]) / 2 for last in ends]
    assert any(
        shown == pytest.approx((max(min(wanted)[0] - more, 0.0), min(last + more, line.ns)))
        for last, more in zip(ends, margins, strict=True)
    )
    desk.get_by_text("show its causes").click()
    desk.wait_for_selector("#view .answer table")
    assert "causes/" in desk.url.replace("%2F", "/")


def test_a_question_is_asked_with_parameters_and_its_rows_lead_on(desk: Page, server: str) -> None:
    show(desk, server, "questions")
    desk.get_by_label("find a question").fill("route leads")
    desk.get_by_text("Which route leads from one component to another").click()
    desk.get_by_label("src").fill("sip0.cube0.pe0.pe_dma")
    desk.get_by_label("dst").fill("sip0.cube0.hbm_ctrl.pe0")
    desk.get_by_role("button", name="Ask").click()
    desk.wait_for_selector("svg.graph")
    # Every row is a link and the component that it leads to; the first component stands before them.
    assert desk.locator("svg.graph .node").count() == 2 * desk.locator(".answer tbody tr").count() + 1
    assert "p.src=sip0.cube0.pe0.pe_dma" in desk.url
    desk.locator(".answer tbody a").last.click()
    desk.wait_for_selector("svg.machine")
    assert desk.locator(".detail h3").count() == 1
    desk.go_back()
    desk.wait_for_selector("svg.graph")  # the address holds the question and its parameters
    desk.get_by_label("dst").fill("nowhere")
    desk.get_by_role("button", name="Ask").click()
    assert "nowhere" in desk.locator("[role=alert]").inner_text()
    # The browser itself notes that a request was answered with an error.
    desk.expected.append("400")


def test_a_field_that_names_something_can_be_emptied_to_mean_all(desk: Page, server: str) -> None:
    show(desk, server, "questions?question=routing/distances")
    desk.get_by_label("src").fill("sip0.cube0.pe0")
    assert desk.locator("input[name=kind]").input_value() == "hbm_ctrl"
    desk.get_by_role("button", name="Ask").click()
    desk.wait_for_selector(".answer table")
    assert set(desk.locator(".answer tbody td:nth-child(2)").all_inner_texts()) == {"hbm_ctrl"}
    desk.locator("input[name=kind]").fill("")
    desk.get_by_role("button", name="Ask").click()
    desk.wait_for_selector(".answer td:has-text('pe_tcm')")
    assert "p.kind=" in desk.url
    desk.reload()
    desk.wait_for_selector(".answer td:has-text('pe_tcm')")
    assert desk.locator("input[name=kind]").input_value() == ""


def test_cypher_draws_paths(desk: Page, server: str) -> None:
    show(desk, server, "cypher")
    desk.get_by_label("Cypher").fill(
        "MATCH p = (:Component)-[:CONNECTS]->(:Component {kind: 'pe_tcm'}) RETURN p LIMIT 4"
    )
    desk.get_by_label("Cypher").press("Control+Enter")
    desk.wait_for_selector("svg.graph", timeout=30_000)
    assert desk.locator("svg.graph .edge").count() == desk.locator(".answer tbody tr").count() > 0
    desk.locator("svg.graph .node rect").first.hover()
    assert "kind: " in desk.inner_text(".tip")
    assert "#topology" in desk.locator("svg.graph a.node").first.get_attribute("href")
    desk.get_by_text("Schema", exact=True).click()
    desk.get_by_text("Launch", exact=True).click()
    desk.get_by_label("Cypher").fill("")
    desk.get_by_role("button", name="(:Launch)-[:DID]->(:Op)").click()
    assert desk.get_by_label("Cypher").input_value() == "(:Launch)-[:DID]->(:Op)"
    desk.get_by_label("name of the question").fill("mine/none")
    desk.get_by_role("button", name="Save as a question").click()
    desk.wait_for_selector("[role=status] [role=alert]:has-text('$KERNBENCH_QUERIES')")
    desk.expected.append("400")
    desk.get_by_label("Cypher").fill("MATCH (n) DELETE n")
    desk.get_by_role("button", name="Ask").click()
    desk.wait_for_selector(".answer [role=alert]")
    desk.expected.append("400")


HIDDEN = """() => {
  const boxes = [...document.querySelectorAll("svg.graph .node rect")].map((rect) => rect.getBBox());
  const near = (box, point) => Math.abs(Math.max(box.x - point.x, point.x - box.x - box.width, 0)) < 2
    && Math.abs(Math.max(box.y - point.y, point.y - box.y - box.height, 0)) < 2;
  const within = (box, point) => point.x > box.x + 1 && point.x < box.x + box.width - 1
    && point.y > box.y + 1 && point.y < box.y + box.height - 1;
  let hidden = 0, far = 0;
  for (const path of document.querySelectorAll("svg.graph .edge .line")) {
    const length = path.getTotalLength();
    const points = [...Array(101).keys()].map((n) => path.getPointAtLength(length * n / 100));
    const others = boxes.filter((box) => !near(box, points[0]) && !near(box, points[100]));
    const [left, right] = [points[0].x, points[100].x].sort((a, b) => a - b);
    far += others.some((box) => box.x > left && box.x + box.width < right);
    hidden += others.some((box) => points.some((point) => within(box, point)));
  }
  return [hidden, far];
}"""
"""How many relationships run behind a box, and how many lead beyond a column of boxes."""


def test_no_relationship_runs_behind_a_box(desk: Page, server: str) -> None:
    show(desk, server, "cypher")
    for text in (
        "MATCH p = (:Transaction)-[:WAITED_FOR]->(:Transaction) RETURN p ORDER BY length(p) LIMIT 30",
        "MATCH p = (:Op)-[:DEPENDS_ON*1..3]->(:Op) RETURN p LIMIT 25",
    ):
        desk.get_by_label("Cypher").fill(text)
        desk.get_by_label("Cypher").press("Control+Enter")
        desk.wait_for_selector("svg.graph", timeout=30_000)
        desk.wait_for_function("document.querySelectorAll('svg.graph .edge').length > 0")
        hidden, far = desk.evaluate(HIDDEN)
        assert (hidden, far > 0) == (0, True), (text, far)


def test_two_runs_are_compared(desk: Page, server: str, ids: list[str]) -> None:
    show(desk, server, "compare")
    text = desk.inner_text("#view")
    assert f"{ids[1]}: qkv-gemm" in text
    assert f"{ids[2]}: qkv-gemm" in text
    assert "tokens" in text
    desk.locator(".tools select").first.select_option(ids[0])
    desk.wait_for_selector("text=Two different benches")


def test_the_window_and_the_run_are_chosen_for_all_pages(desk: Page, server: str, ids: list[str]) -> None:
    show(desk, server, "overview")
    desk.get_by_label("window").select_option("setup")
    desk.wait_for_selector("dd:has-text('setup, ')")
    desk.get_by_role("link", name="Roofline").click()
    assert "whole launches" in desk.locator("[role=alert]").inner_text()
    desk.expected.append("400")
    desk.get_by_role("link", name=f"run {ids[2]}").click()
    desk.get_by_role("link", name=ids[0]).click()
    desk.wait_for_selector("h1:has-text('softmax')")


def test_the_page_can_be_used_with_keys_alone(desk: Page, server: str) -> None:
    show(desk, server, "overview")
    desk.keyboard.press("Tab")
    assert desk.evaluate("document.activeElement.textContent") == "to the content"
    reached = []
    for _ in range(8):
        desk.keyboard.press("Tab")
        reached.append(desk.evaluate("document.activeElement.textContent"))
        assert desk.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert {"Overview", "Topology", "Timeline"} <= set(reached)
    desk.get_by_role("link", name="Critical path").focus()
    desk.keyboard.press("Enter")
    desk.wait_for_selector(".path-strip")
    sort = desk.get_by_role("button", name="ns", exact=True)
    sort.focus()
    desk.keyboard.press("Enter")
    values = [float(text) for text in desk.locator("tbody td:nth-child(3)").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    desk.get_by_role("link", name="Energy").focus()
    desk.keyboard.press("Enter")
    desk.get_by_label("By kind of part", exact=True).focus()
    desk.keyboard.press("ArrowRight")
    assert desk.get_by_role("heading", name="By part").count() == 1


def test_the_strip_of_a_path_is_as_wide_for_each_cause_as_the_table_says(desk: Page, server: str) -> None:
    show(desk, server, "path")
    drawn = desk.evaluate(
        """[...document.querySelectorAll('.path-strip rect')].reduce((sums, one) => {
             const fill = one.getAttribute('fill');
             return {...sums, [fill]: (sums[fill] || 0) + Number(one.getAttribute('width'))};
           }, {})"""
    )
    show(desk, server, "overview")
    causes = desk.locator("dl[aria-label*='by cause'] div")
    shown = {}
    for one in causes.all():
        colour = one.locator(".bar").evaluate("bar => bar.style.background")
        shown[colour] = one.locator("b").nth(1).inner_text()
    total = sum(drawn.values())
    assert {f"rgb{tuple(int(fill[n : n + 2], 16) for n in (1, 3, 5))}": f"{ns / total:.1%}"
            for fill, ns in drawn.items()} == shown  # fmt: skip


def test_a_report_is_the_same_page_without_a_server(
    desk: Page, kept: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, ids = kept
    file = Path(kb.write_report(ids[2], tmp_path / "x.html", folder, against=ids[1]))
    address = file.as_uri()
    for view in VIEWS:
        if view == "runs":
            continue
        show(desk, address, view)
        said = "Free Cypher needs a store" if view == "cypher" else VIEWS[view]
        assert said in desk.inner_text("#view")
        assert desk.locator("[role=alert]").count() == 0
    show(desk, address, "topology?view=sip")
    desk.get_by_label("time interval").press("ArrowRight")
    which = desk.get_by_label("which").locator("option").all_inner_texts()
    assert which == ["all as one", "sip0"]
    show(desk, address, "topology?view=sip&of=sip0")
    assert desk.get_by_label("which").input_value() == "sip0"
    show(desk, address, "questions?question=contention%2Fwho-waited-for-whom")
    desk.wait_for_selector(".answer table")
    assert desk.get_by_role("link", name="Runs").count() == 0
    show(desk, address, "overview")
    assert "Not in this file" in desk.inner_text("#view")
    assert "free Cypher" in desk.inner_text("#view")


def test_what_the_readme_says_leads_to_the_page(desk: Page, workdir: Path) -> None:
    """Its commands are typed as they stand there, but that no window opens and any port will do."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## In the browser\n.*?```sh\n(.*?)```", text, re.DOTALL)
    assert block
    lines = block[1].splitlines()
    assert lines[-1] == "kernbench web"
    for line in lines[:-1]:
        words = shlex.split(line)
        assert words[0] == "kernbench"
        subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True)
    command = [sys.executable, "-m", "kernbench", "web", "--no-open", "--port", "0"]
    with Process(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[1]
            desk.goto(address)
            desk.wait_for_selector("h1:has-text('qkv-gemm on default')")
            for name in (
                "Advice",
                "Topology",
                "Timeline",
                "Critical path",
                "Waits",
                "Energy",
                "Roofline",
                "Questions",
                "Cypher",
            ):
                desk.get_by_role("link", name=name, exact=True).click()
                desk.wait_for_selector(f"h2:has-text('{name}')")
                desk.wait_for_selector("#view:not([aria-busy])")
                assert desk.locator("[role=alert]").count() == 0
            desk.get_by_role("link", name="Questions", exact=True).click()
            desk.get_by_text("Which links were busy for the largest share").click()
            desk.wait_for_selector(".answer table")
            assert "utilisation" in desk.inner_text(".answer")
        finally:
            desk.expected.append("ERR_CONNECTION_REFUSED")  # the page asks on what is under way
            server.terminate()
    assert server.returncode == 0
