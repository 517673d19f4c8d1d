"""How the page looks: in the dark, on a phone, while it loads, and with bars of less than a pixel."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.web.test_page import opened, show

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.slow

CROSSING = (0xD5, 0x5E, 0x00)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    with opened(browser, "phone", "dark") as found:
        yield found


@pytest.fixture
def desk(browser: Browser) -> Iterator[Page]:
    with opened(browser, "desk", "light") as found:
        yield found


def pixels(page: Page, selector: str) -> np.ndarray:
    from PIL import Image

    picture = Image.open(io.BytesIO(page.locator(selector).first.screenshot()))
    return np.asarray(picture.convert("RGB"), dtype=np.float64)


def test_pictures_are_dark_in_the_dark(phone: Page, desk: Page, server: str) -> None:
    for view in ("cube", "system"):
        show(phone, server, f"topology?view={view}")
        assert pixels(phone, ".paper").mean() < 80
        show(desk, server, f"topology?view={view}")
        assert pixels(desk, ".paper").mean() > 220


def test_names_on_a_phone_are_whole(phone: Page, server: str) -> None:
    show(phone, server, "timeline")
    cut = phone.evaluate(
        "[...document.querySelectorAll('.labels .row span')].map((one) => one.scrollWidth - one.clientWidth)"
    )
    names = phone.locator(".labels .row span").all_inner_texts()
    assert any("→" in name for name in names)
    assert max(cut) <= 0
    # A name stands above its bar, and neither is beneath another row.
    boxes = [one.bounding_box() for one in phone.locator(".labels .row").all()]
    assert all(a["y"] + a["height"] <= b["y"] for a, b in pairwise(boxes) if a and b)


def test_no_column_of_the_path_is_cut(desk: Page, server: str) -> None:
    show(desk, server, "path")
    region = desk.get_by_role("region", name="critical path, steps")
    assert region.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert desk.locator("td.prose").count() > 0


def test_a_comparison_says_before_after_and_by_how_much(desk: Page, server: str) -> None:
    show(desk, server, "compare")
    text = desk.inner_text("#view")
    row = desk.locator(".compare .shares dd").first.inner_text().split()
    assert (row[0], row[3]) == ("before", "after")
    changes = [one for one in desk.locator("td.number").all_inner_texts() if one.endswith("%")]
    assert f"latency_ns {changes[1]}" in text
    assert "slower" in text


def test_dots_of_the_roofline_have_names(desk: Page, server: str) -> None:
    show(desk, server, "roofline")
    names = desk.locator(".chart .named").all_text_contents()
    dots = desk.locator(".chart .point").count()
    assert 0 < len(names) <= dots
    assert all("%" in name and ", op " in name for name in names)
    assert "HBM: 256 GB/s" in desk.locator(".chart-legend").inner_text()
    levels = desk.locator(".chart .level").all_text_contents()
    assert {"TCM", "HBM", "links"} <= set(", ".join(levels).split(", "))  # near roofs share a label


def test_a_tab_that_loads_says_so_under_its_own_heading(desk: Page, server: str) -> None:
    show(desk, server, "overview")
    held: list[Route] = []
    desk.route("**/api/waits*", lambda route: held.append(route))
    desk.get_by_role("link", name="Waits").click()
    desk.wait_for_function("document.querySelector('#view h2')?.textContent === 'Waits'")
    desk.wait_for_selector("text=loading waits ...")
    assert "Busiest parts" not in desk.inner_text("#view")
    while not held:
        desk.wait_for_timeout(20)
    held[0].continue_()
    desk.wait_for_selector("#view:not([aria-busy])")
    assert "loading" not in desk.inner_text("#view")


def test_a_row_is_as_full_as_its_occupancy_says(desk: Page, server: str) -> None:
    """Hundreds of crossings, each much shorter than a pixel, do not fill their row."""
    desk.expected = ["willReadFrequently"]
    show(desk, server, "timeline?launch=run")
    found = desk.evaluate(
        """([red, green, blue]) => {
          const canvas = document.querySelector('.lanes canvas'), pen = canvas.getContext('2d');
          const top = canvas.getBoundingClientRect().top, scale = window.devicePixelRatio || 1;
          return [...document.querySelectorAll('.labels .row')].map((row) => {
            const y = row.getBoundingClientRect().top - top;
            const seen = pen.getImageData(0, y * scale, canvas.width, 18 * scale).data;
            let full = 0;
            for (let n = 0; n < seen.length; n += 4)
              if (seen[n] === red && seen[n + 1] === green && seen[n + 2] === blue) full += 1;
            const said = parseFloat(row.querySelector('b').textContent) / 100;
            return [row.title, full / (seen.length / 4), said];
          });
        }""",
        list(CROSSING),
    )
    rows = [(name, drawn, said) for name, drawn, said in found if drawn > 0]
    assert len(rows) > 5
    for name, drawn, said in rows:
        # Where several are there at once, each has a part of the row's height.
        assert drawn <= said + 0.05, name


@pytest.mark.parametrize("view", ["system", "sip", "cube", "pe"])
def test_labels_of_the_machine_can_be_read(phone: Page, desk: Page, server: str, view: str) -> None:
    for page in (phone, desk):
        show(page, server, f"topology?view={view}")
        high = page.evaluate(
            """[...document.querySelectorAll('.machine text')].map((one) => {
                 const scale = one.getScreenCTM().d;
                 return parseFloat(getComputedStyle(one).fontSize) * scale;
               })"""
        )
        assert min(high) >= 8.5
        page.get_by_role("button", name="show all").click()
        assert float(page.locator(".machine").get_attribute("data-zoom") or 0) == 1


def test_texts_of_bars_stay_within_their_row(desk: Page, server: str) -> None:
    """A bar that stands for several is as high as they cover; a text that it has no room for is not drawn."""
    desk.add_init_script(
        """const plain = CanvasRenderingContext2D.prototype.fillText;
           window.drawn = [];
           CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
             window.drawn.push([text, x, y]); return plain.apply(this, arguments); };"""
    )
    show(desk, server, "timeline?launch=run")
    rows = desk.evaluate(
        "[...document.querySelectorAll('.labels .row')].map((one) => parseFloat(one.style.top))"
    )
    texts = [one for one in desk.evaluate("window.drawn") if one[2] > 24]
    assert texts
    for text, _, y in texts:
        assert any(top + 4 <= y <= top + 14 for top in rows), (text, y)


def test_runs_show_tags_and_latency_without_scrolling(phone: Page, desk: Page, server: str) -> None:
    for page in (phone, desk):
        show(page, server, "runs")
        wide = page.viewport_size["width"] if page.viewport_size else 0
        for name in ("tags", "latency_ns"):
            cell = page.locator(f"td[data-name='{name}']").first.bounding_box()
            assert cell
            assert cell["x"] + cell["width"] <= wide
        assert page.get_by_role("heading", name="Runs", exact=True).count() == 1


def test_lists_of_a_comparison_say_what_was_run(desk: Page, server: str) -> None:
    show(desk, server, "compare")
    options = desk.locator("select").last.locator("option").all_inner_texts()
    assert any("tokens=32" in option and " ns " in option for option in options)


def test_a_source_line_leads_to_the_text_that_was_run(desk: Page, server: str, ids: list[str]) -> None:
    show(desk, server, f"overview?run={ids[0]}")
    link = desk.locator("dl[aria-label*='source line'] a").first
    name = link.inner_text()
    link.click()
    desk.wait_for_selector(".source-text .marked")
    assert desk.locator(".source-text .marked .number").first.inner_text() == name.split(":")[1]
    assert "%" in desk.inner_text(".source-text .marked")
    show(desk, server, "advice")
    assert desk.get_by_role("heading", name="Advice", exact=True).count() == 1
