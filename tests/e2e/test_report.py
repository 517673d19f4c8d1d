"""``kernbench report``: one HTML file with everything inside, of what was asked for."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api import advice, asking
from kernbench.draw.cells import number
from kernbench.draw.progress import Standing
from kernbench.export.html import files

Cli = Callable[..., Any]
RUN = ("run", "--bench", "gemm-single-pe", "--topology", "minimal")
VOID = {"meta", "br", "img", "link"}
Made = tuple[kb.Run, Path, list[Standing]]
INSIDE = {"overview", "advice", "timeline", "path", "waits", "roofline", "questions"}


class Page(HTMLParser):
    """A page whose tags must match: its texts by tag, its attributes, and the data inside."""

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

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    @property
    def data(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.texts["script"][0])
        return found

    @property
    def answers(self) -> dict[str, Any]:
        found: dict[str, Any] = self.data["answers"]
        return found


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", params=["few", pytest.param("all", marks=pytest.mark.slow)])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """A run with one before it, the folder of its reports, and what the first of these told of itself.

    With few of the library's questions and rules, which are most of a report's time, or all.
    """
    folder = tmp_path_factory.mktemp("report")
    store = str(folder / "store")
    kb.run("gemm-single-pe", "minimal", store=store)
    run = kb.run("gemm-single-pe", "minimal", params={"k": 64}, store=store)
    told: list[Standing] = []
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "few":
            questions, rules = asking.questions, advice.rules
            patch.setattr(
                asking,
                "questions",
                lambda: [one for one in questions() if one["name"].startswith("bottleneck/b")],
            )
            patch.setattr(advice, "rules", lambda queries=(): rules(queries)[:2])
        kb.write_report(run, folder / "plain.html", progress=told.append)
        yield run, folder, told


@pytest.fixture(scope="module")
def windows(made: Made) -> Path:
    """The folder of ``made``, with a report of a launch that is compared and one of part of the setup."""
    run, folder, _ = made
    first = kb.open_run("last~1", run.store)
    kb.write_report(run, folder / "sub" / "compared.html", launch=0, against=first.id)
    kb.write_report(run, folder / "setup.html", launch="setup", to_ns=100.0)
    return folder


def test_the_command_writes_the_last_run_to_the_byte_as_python_does(
    cli: Cli, workdir: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, folder, _ = made
    monkeypatch.setenv("KERNBENCH_STORE", str(folder / "store"))
    done = cli("report", "--out", "sub/x.html", "--format", "json")
    assert json.loads(done.out) == {"run_id": run.id, "files": ["sub/x.html"]}
    assert (workdir / "sub" / "x.html").read_bytes() == (folder / "plain.html").read_bytes()


def test_a_report_has_all_inside_and_loads_nothing(made: Made) -> None:
    run, folder, _ = made
    page = page_of(folder / "plain.html")
    assert page.texts["title"] == ["gemm-single-pe on minimal"]
    assert INSIDE | {f"machine?view={view}" for view in ("system", "sip", "cube", "pe")} <= set(page.answers)
    assert "compare" not in page.answers
    assert "ask?question=routing/path" not in page.answers  # needs parameters
    assert not {"link", "iframe", "object", "img", "base", "form"} & set(page.tags)
    assert not [value for name, value in page.given if name in ("src", "href", "style")]
    assert not [name for name, _ in page.given if name.startswith("on")]
    assert page.data["run"] == run.id
    causes = next(one for one in page.answers["overview"]["grids"] if one["key"] == "cause")
    assert [[k, text] for k, _, text in causes["pairs"]] == [
        [k, f"{number(ns)} ns"] for k, ns in run.summary()["by_cause"].items()
    ]
    assert (folder / "plain.html").stat().st_size < 5_000_000
    assert str(folder) not in (folder / "plain.html").read_text(encoding="utf-8")


def test_only_its_own_script_and_style_are_allowed(made: Made) -> None:
    page = page_of(made[1] / "plain.html")
    policy = next(value for name, value in page.given if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    script, style = page.texts["script"][1], page.texts["style"][0]
    for text in (script, style):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert page.tags.count("script") == 2
    assert not re.search(r"\b(eval|innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b", script)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", script + style)


def test_every_module_of_the_page_is_in_the_one_file(made: Made) -> None:
    modules = sorted((Path(files.__file__).parent / "static").glob("*.js"))
    assert len(modules) > 10
    script = page_of(made[1] / "plain.html").texts["script"][1]
    for module in modules:
        first = module.read_text(encoding="utf-8").splitlines()[0]
        assert script.count(first) == 1, module.name


def test_parts_of_a_report_are_named_as_they_are_made(made: Made) -> None:
    _, folder, told = made
    named = [one.text.removeprefix("writing the page: ") for one in told]
    assert [one.done for one in told] == list(range(1, len(told) + 1))
    assert named[:2] == ["overview", "timeline"]
    assert "bottleneck/busiest-links" in named
    assert len(named) == len(page_of(folder / "plain.html").answers)


@pytest.mark.slow
def test_a_window_and_an_earlier_run(made: Made, windows: Path) -> None:
    answers = page_of(made[1] / "sub" / "compared.html").answers
    assert answers["compare"]["grids"][0]["table"]["rows"] == [["parameter", "k", 128, 64]]
    assert answers["overview"]["window"] == "the kernel of launch 0"
    setup = page_of(made[1] / "setup.html").answers
    assert setup["timeline"]["ns"] == 100.0
    assert setup["machine?view=cube"]["use"]["ns"] == 100.0
    assert "roofline is of whole launches" in setup["roofline"]["error"]


@pytest.mark.slow
def test_answers_are_of_the_window(made: Made, windows: Path) -> None:
    run, folder, _ = made
    launch, setup = (page_of(folder / name).answers for name in ("sub/compared.html", "setup.html"))
    question = "ask?question=bottleneck/busiest-links"
    assert launch[question]["table"]["rows"] != setup[question]["table"]["rows"]
    found = run.query("bottleneck/busiest-links", launch="0")
    assert launch[question]["table"]["rows"][0][0] == found.rows[0][0]
    asked = {question["name"] for question in launch["questions"]["questions"]}
    assert {key[13:] for key in launch if key.startswith("ask?")} == asked
    assert "routing/path" not in asked  # needs parameters


@pytest.mark.slow
def test_names_that_users_give_stay_text(workdir: Path) -> None:
    def kernel(x: Any, tl: Any) -> None:
        tl.load(x)

    def bench(torch: Any) -> None:
        torch.launch(
            "</script><script>alert(1)</script><!--", kernel, torch.zeros(4, 4, name="</template>'\"&")
        )

    run = kb.run(bench, "minimal", store="runs", tags=["<b>tag</b>"])
    path = Path(kb.write_report(run, "x.html", "runs"))
    page = page_of(path)
    assert page.tags.count("script") == 2
    assert "<b>" not in path.read_text(encoding="utf-8")
    launches = page.answers["overview"]["grids"][0]["table"]
    assert launches["rows"][0][1] == "</script><script>alert(1)</script><!--"
    assert ["tags", "<b>tag</b>"] in page.answers["overview"]["facts"]


@pytest.mark.slow
def test_a_run_in_memory_is_reported_from_its_own_store(workdir: Path) -> None:
    run = kb.run("gemm-single-pe", "minimal", store="memory:")
    assert page_of(Path(kb.write_report(run, "x.html"))).data["run"] == run.id


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
    cli("run", "--bench", "softmax", "--topology", "minimal", "rows=8")
    done = cli("report", "--against", "last~1")
    assert (done.status, "another bench" in done.err) == (2, True)
    assert [path.name for path in workdir.iterdir() if path.suffix == ".html"] == []


@pytest.mark.slow
def test_a_large_run_stays_small(workdir: Path) -> None:
    run = kb.run("gpt3-qkv", "default", store="runs")
    assert Path(kb.write_report(run, "x.html", "runs")).stat().st_size < 5_000_000
