"""What a kept run names is run again only where the user names it, and it is what was run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.archive.manifest import content_hash, encode

import kernbench as kb
from kernbench.errors import KernBenchError, UsageError
from kernbench.host.collectives.algorithm import find
from kernbench.support import user_modules

SMALL = "schema_version: 1\nname: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"
BENCH = """\
import numpy as np
from pathlib import Path
from kernbench.workloads.benches.registry import bench
{line}

def kernel(a, out, tl):
    tl.store(out, tl.load(a) + 1.0)

@bench(name="mine", description="A bench of a user.")
def run(torch):
    {begin}
    a = torch.from_numpy(np.ones((8, 64), np.float16), name="a")
    torch.launch("k", kernel, a, torch.empty(8, 64, name="out"))
"""
EVIL = "Path('ran').write_text('yes')"
PART = """\
from pathlib import Path
from kernbench.engine.components.transit import Transit
{line}
class Mine(Transit):
    pass
"""
RE_RUN: dict[str, Any] = {"changes": {"tray": 1.0}, "rerun": True, "launch": "run"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forged(run: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a kept run says of itself, checksums and all."""
    file = Path(".kernbench", "runs", run, "manifest.json")
    content = json.loads(file.read_bytes())
    change(content)
    parts = ("format", "schema_version", "run", "files")
    content["content"] = content_hash({name: content[name] for name in parts})
    file.write_bytes(encode(content, "it"))


def refused(match: str, **how: Any) -> None:
    with pytest.raises(KernBenchError, match=match):
        kb.what_if("last", **RE_RUN, **how)
    assert not Path("ran").exists()


def write(file: str, text: str, line: str = "", begin: str = "") -> None:
    Path(file).write_text(text.format(line=line, begin=begin), encoding="utf-8")


def test_the_file_of_a_run_is_run_again_only_while_it_is_the_same() -> None:
    write("mine.py", BENCH)
    run = kb.run("mine.py", "minimal", store=".kernbench")
    assert run.again["code"] == {"mine.py": user_modules.code_hash("mine.py")}
    named = {"code": ["mine.py"]}
    assert kb.what_if("last", **RE_RUN, **named)["measured"]["ns"] == pytest.approx(run.sim_ns)
    write("mine.py", BENCH, EVIL)
    refused(r"'mine.py' is not run: it has been changed since", **named)
    assert kb.run("mine.py", "minimal", store=".kernbench").sim_ns == run.sim_ns
    assert Path("ran").exists()


@pytest.mark.slow
def test_a_file_that_a_record_merely_names_is_not_run() -> None:
    kb.run("gemm-single-pe", "minimal", store=".kernbench")
    write("evil.py", BENCH, EVIL)
    for name in ("evil.py", "evil.py:mine", "evil:mine"):
        forged(
            kb.open_run("last").id, lambda content, name=name: content["extra"]["again"].update(bench=name)
        )
        refused(f"is not run: a kept run names it.*--code {name.partition(':')[0]}")
    for place in ("evil.py", "evil"):  # whoever wrote the record knew the file
        forged(
            kb.open_run("last").id,
            lambda content, place=place: content["extra"]["again"].update(
                bench=f"{place}:mine", code={place: user_modules.code_hash(place)}
            ),
        )
        refused("is not run: a kept run names it")
        listed = kb.what_if_candidates("last")
        assert listed["candidates"]
        with pytest.raises(UsageError, match="is not run: a kept run names it"):
            kb.what_if_candidates("last", measure=1)
    assert "evil" not in sys.modules
    assert not Path("ran").exists()


@pytest.mark.parametrize("file", ["kernbench.py", "kernbench.workloads.benches.py"])
def test_a_file_called_like_ours_is_not_ours(file: str) -> None:
    kb.run("gemm-single-pe", "minimal", store=".kernbench")
    write(file, BENCH, EVIL)
    forged(kb.open_run("last").id, lambda content: content["extra"]["again"].update(bench=file))
    refused("is not run: a kept run names it")


def test_a_module_of_ours_that_holds_no_benches_is_not_run() -> None:
    kb.run("gemm-single-pe", "minimal", store=".kernbench")
    for place in ("kernbench.__main__", "kernbench.cli.main"):
        forged(
            kb.open_run("last").id,
            lambda content, place=place: content["extra"]["again"].update(bench=f"{place}:x"),
        )
        refused("is not run: a kept run names it")


def test_a_bench_that_is_named_is_run_with_nothing_else() -> None:
    write("mine.py", BENCH)
    run = kb.run("mine.py", "minimal", store=".kernbench")
    assert kb.what_if(run.id, **RE_RUN, bench="mine.py")["measured"]["ns"] == pytest.approx(run.sim_ns)
    write("other.py", BENCH, EVIL)
    with pytest.raises(UsageError, match="is not run: a kept run names it"):
        kb.what_if(run.id, **RE_RUN, code=["other.py"])
    assert not Path("ran").exists()


NAMED = [("mine", {"components": {"mine": "part.py:Mine"}}), ("part.py:Mine", {})]
"""``impl`` of the topology, and what is given beside it."""


@pytest.mark.daily("part.py:Mine-how1")
@pytest.mark.parametrize(("impl", "how"), NAMED)
def test_components_of_users_are_held_against_theirs(impl: str, how: dict[str, Any]) -> None:
    write("part.py", PART)
    Path("t.yaml").write_text(f"{SMALL}cube: {{router: {{impl: '{impl}'}}}}\n", encoding="utf-8")
    run = kb.run("gemm-single-pe", "t.yaml", store=".kernbench", **how)
    refused("component 'part.py' is not run: a kept run names it")
    named: dict[str, Any] = {**RE_RUN, "code": ["part.py"]}
    assert kb.what_if("last", **named)["measured"]["ns"] == pytest.approx(run.sim_ns)
    write("part.py", PART, EVIL)
    with pytest.raises(KernBenchError, match=r"out of date: .* re-run it first"):
        kb.what_if(run.id, **named)
    assert not Path("ran").exists()


def test_nothing_else_is_loaded_by_name() -> None:
    write("part.py", PART, EVIL)
    with user_modules.only({"other.py": "1"}):
        for place in ("part.py", "part", "json"):
            with pytest.raises(UsageError, match="is not run: a kept run names it"):
                user_modules.check(place, "component")
        with pytest.raises(UsageError, match="a kept run names it"):
            user_modules.load_file("part.py", "component")
        with pytest.raises(UsageError, match="a kept run names it"):
            user_modules.load_module("part", "component")
        with pytest.raises(UsageError, match="a kept run names it"):
            find("part.py")
        assert user_modules.load_module("kernbench.engine.components.transit", "component")
    assert not Path("ran").exists()


@pytest.mark.parametrize(("impl", "how"), NAMED)
def test_other_code_of_a_component_is_another_configuration(impl: str, how: dict[str, Any]) -> None:
    write("part.py", PART)
    Path("t.yaml").write_text(f"{SMALL}cube: {{router: {{impl: '{impl}'}}}}\n", encoding="utf-8")

    def configured() -> object:
        return kb.run("gemm-single-pe", "t.yaml", trace=False, **how).info["config_hash"]

    first = configured()
    assert configured() == first
    write("part.py", PART, "# changed")
    assert configured() != first


@pytest.mark.parametrize(
    "again", [{"bench": 7}, {"components": ["x"]}, {"components": {"x": 1}}, {"code": 3}]
)
def test_settings_of_wrong_types_are_said_to_be_so(again: object) -> None:
    run = kb.run("gemm-single-pe", "minimal", store=".kernbench")
    forged(run.id, lambda content: content["extra"].update(again=again))
    refused("does not record how to re-run it")


def test_the_hash_of_a_module_covers_the_packages_that_it_lies_in(folder: Path) -> None:
    (folder / "pack" / "inner").mkdir(parents=True)
    for file in ("pack/__init__.py", "pack/inner/__init__.py", "pack/inner/leaf.py"):
        (folder / file).write_text("raise SystemExit\n")
    seen = {user_modules.code_hash("pack.inner.leaf")}
    for file in ("pack/__init__.py", "pack/inner/__init__.py", "pack/inner/leaf.py"):
        (folder / file).write_text("import nothing\n")
        seen.add(user_modules.code_hash("pack.inner.leaf"))
    assert len(seen) == 4
    assert user_modules.code_hash("pack.none") == user_modules.code_hash("none.py") == ""
    assert user_modules.code_hash("a\0.py") == ""
