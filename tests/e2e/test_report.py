"""``kernbench report``: one HTML file with everything inside, of what was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb

Cli = Callable[..., Any]
RUN = ("run", "--bench", "gemm-single-pe", "--topology", "minimal")
VOID = {"meta", "br", "img"}
TITLES = [
    "Launches", "Where the time went", "By source line", "Time line", "Machine", "Busiest links",
    "Busiest engines", "Longest waits", "Speed of light",
]  # fmt: skip


class Page(HTMLParser):
    """A page whose tags must match; texts, headings, attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.given: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.given += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.given += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open:
            self.texts.setdefault(self.open[-1], []).append(data.strip())


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def test_a_report_has_all_inside_and_loads_nothing(cli: Cli, workdir: Path) -> None:
    cli(*RUN)
    done = cli("report")
    assert (done.status, done.out) == (0, "file\nreport.html\n")
    page = page_of(workdir / "report.html")
    assert page.texts["h2"] == TITLES
    assert page.texts["title"][0] == "gemm-single-pe on minimal"
    assert page.tags.count("svg") == 5  # the time line and four views
    assert not {"script", "link", "iframe", "object", "img"} & set(page.tags)
    assert not [value for name, value in page.given if name in ("src", "href") and not value.startswith("#")]
    assert not [name for name, _ in page.given if name.startswith("on")]
    assert "default-src 'none'" in dict(page.given)["content"] or any(
        "default-src 'none'" in value for name, value in page.given if name == "content"
    )
    run = kb.open_run("last")
    shown = " ".join(page.texts["b"])
    for cause, ns in run.summary()["by_cause"].items():
        assert cause in page.texts["span"]
        assert f"{ns / run.latency_ns:.1%}" in shown
    assert (workdir / "report.html").stat().st_size < 5_000_000


def test_the_same_run_gives_the_same_file(cli: Cli, workdir: Path) -> None:
    cli(*RUN)
    files = [
        Path(json.loads(cli("report", "--out", f"{n}.html", "--format", "json").out)["files"][0])
        for n in "ab"
    ]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_window_and_an_earlier_run(cli: Cli, workdir: Path) -> None:
    cli(*RUN)
    cli(*RUN, "--set", "k=64")
    cli("report", "--launch", "0", "--against", "last~1", "--out", "sub/x.html")
    page = page_of(workdir / "sub" / "x.html")
    assert page.texts["h2"] == ["Compared with an earlier run", *TITLES]
    assert "launch 0, " in " ".join(page.texts["dd"])
    cells = page.texts["td"]
    at = cells.index("k")
    assert cells[at : at + 3] == ["k", "128", "64"]
    cli("report", "--launch", "setup", "--to", "100", "--out", "setup.html")
    assert page_of(workdir / "setup.html").texts["h2"] == TITLES[:-1]


def test_what_users_call_things_is_text(workdir: Path) -> None:
    def kernel(x: Any, tl: Any) -> None:
        tl.load(x)

    def bench(torch: Any) -> None:
        torch.launch("<script>alert(1)</script>", kernel, torch.zeros(4, 4, name="</template>'\"&"))

    run = kb.run(bench, "minimal", store="runs", tags=["<b>tag</b>"])
    path = Path(kb.write_report(run, "x.html", "runs"))
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<b>tag" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    page_of(path)
    assert re.search(r"&lt;b&gt;tag&lt;/b&gt;", text)


def test_wrong_use(cli: Cli, workdir: Path) -> None:
    assert cli("report").status != 0
    cli(*RUN)
    for argv, said in (
        (("nothing",), "nothing"),
        (("--launch", "7"), "7"),
        (("--against", "none"), "none"),
        (("--out", "."), "folder"),
    ):
        done = cli("report", *argv)
        assert done.status == 2, done.err
        assert said in done.err
    assert [path.name for path in workdir.iterdir() if path.suffix == ".html"] == []


@pytest.mark.slow
def test_a_large_run_stays_small(workdir: Path) -> None:
    run = kb.run("gpt3-qkv", "default", store="runs")
    assert Path(kb.write_report(run, "x.html", "runs")).stat().st_size < 5_000_000
