"""Statements in documentation, comments and docstrings that can be checked are true."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml
from kernbench_graph.archive import manifest

import kernbench as kb
from kernbench.api.running import benches
from kernbench.hardware.topology import load
from tests.commands import commands

ROOT = Path(__file__).resolve().parents[2]
CHANGELOG = ROOT / "docs" / "project" / "changelog.md"  # which names what is gone
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - {CHANGELOG})]
CONFIGS = sorted((ROOT / "configs").rglob("*.yaml"))
TOPOLOGIES = sorted((ROOT / "configs" / "topologies").glob("*.yaml"))
MEASURED = ROOT / "docs" / "reference"
OF_TOOLS = {
    "--bolt",
    "--http",
    "--home",
    "--against",
    "--archives",
    "--durations",
    "--only",
    "--parts",
    "--rounds",
    "--seeds",
    "--nthreads",
    "--to-path",
}
"""Options of ``make neo4j``, of the programs in ``tools``, of pytest, and of ``dask worker``."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def contexts() -> Iterator[click.Context]:
    return commands()


def comments(path: Path) -> str:
    """The comments of a YAML file, as one text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return " ".join(line.partition("#")[2].strip() for line in lines if "#" in line)


def said(path: Path) -> str:
    """The text of a page, or the comments of a configuration; generated pages are left out elsewhere."""
    return comments(path) if path.suffix == ".yaml" else path.read_text(encoding="utf-8")


def test_arguments_of_the_python_interface_exist() -> None:
    for path in [*PAGES, *CONFIGS]:
        for function, arguments in re.findall(r"\bkb\.(\w+)\(([^()]*)", said(path)):
            parameters = inspect.signature(getattr(kb, function)).parameters
            takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
            for argument in re.findall(r"(?:^|[,\s])(\w+)=(?!=)", arguments):
                assert takes_any or argument in parameters, f"{name(path)}: kb.{function} has no '{argument}'"
        for function in re.findall(r"`kb\.(\w+)", said(path)):
            assert hasattr(kb, function), f"{name(path)}: there is no kb.{function}"


def test_every_argument_that_a_comment_of_a_configuration_names_is_one_of_ours() -> None:
    """Calls that take any keyword are not checked above; none of the configurations names a stranger."""
    for path in CONFIGS:
        for function, argument in re.findall(r"`kb\.(\w+)\((\w+)=", comments(path)):
            assert argument in inspect.signature(getattr(kb, function)).parameters, f"{path}: {argument}"


def test_commands_and_their_options_exist() -> None:
    by_path = {context.command_path.removeprefix("kernbench").strip(): context for context in contexts()}
    options = {
        flag for c in by_path.values() for p in c.command.params for flag in (*p.opts, *p.secondary_opts)
    }
    for path in PAGES:
        text = said(path)
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+(?![\w-])", text))
        assert flags <= options | OF_TOOLS | {"--help", "--debug"}, f"{name(path)}: no command has these"
        named = set(re.findall(r"`kernbench ([a-z][a-z-]*)", text))
        assert named <= by_path.keys(), f"{name(path)}: there are no such commands"


def test_targets_of_make_exist() -> None:
    targets = re.findall(
        r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    for path in PAGES:
        named = set(re.findall(r"(?:`|^|\$ )make ([a-z][a-z0-9-]*)", said(path), re.MULTILINE))
        assert named <= set(targets), f"{name(path)}: there are no such targets"


def commented_out() -> Iterator[tuple[Path, int]]:
    """Lines such as ``# cubes: [0, 1]``, one setting that a user may want, below the head of a file."""
    for path in TOPOLOGIES:
        lines = path.read_text(encoding="utf-8").splitlines()
        head = next(i for i, line in enumerate(lines) if line and not line.startswith("#"))
        for number in range(head, len(lines)):
            if re.match(r"\s*# \w+: ", lines[number]):
                yield path, number


def test_there_are_settings_commented_out() -> None:
    assert list(commented_out())


@pytest.mark.parametrize(
    ("path", "number"), [pytest.param(p, n, id=f"{p.stem}:{n + 1}") for p, n in commented_out()]
)
def test_settings_that_are_commented_out_are_accepted(path: Path, number: int, tmp_path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number] = lines[number].replace("# ", "", 1)
    (tmp_path / "with.yaml").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(
        "mine.sram: kernbench.engine.components.sram:Sram\n", encoding="utf-8"
    )
    load(tmp_path / "with.yaml")


def test_keys_in_the_comments_of_the_components_file_are_taken_by_a_topology(tmp_path: Path) -> None:
    (tmp_path / "parts.yaml").write_text(
        "mine.sram: kernbench.engine.components.sram:Sram\n", encoding="utf-8"
    )
    for key in re.findall(r"`(\w+):`", comments(ROOT / "configs" / "components.yaml")):
        (tmp_path / "t.yaml").write_text(f"schema_version: 1\nname: t\n{key}: parts.yaml\n", encoding="utf-8")
        load(tmp_path / "t.yaml")


def test_every_part_takes_the_keys_that_the_default_machine_says() -> None:
    head = (
        (ROOT / "configs" / "topologies" / "default.yaml").read_text(encoding="utf-8").partition("\nname:")[0]
    )
    _, mark, listed = head.partition("Every part also takes\n")
    assert mark
    listed = "\n".join(line for line in listed.splitlines() if line.startswith("#   "))
    lines = [re.split(r"\s{2,}", line.removeprefix("#   "))[0] for line in listed.splitlines()]
    keys = yaml.safe_load("\n".join(line for line in lines if re.match(r"\w+: ", line)))
    assert {"impl", "overhead_ns", "attributes"} <= set(keys)
    for part in ("cube.sram", "cube.router", "cube.hbm", "system.switch", "pe.pe_gemm", "pe.pe_tcm"):
        load(None, {f"{part}.{key}": value for key, value in keys.items()})


def outermost_keys(text: str) -> set[str]:
    """The keys of the outermost braces of a piece of JSON that leaves values out."""
    depth, found = 0, set()
    for match in re.finditer(r'[{}]|"(\w+)":', text):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[1] and depth == 1:
            found.add(match[1])
    return found


def test_a_manifest_has_the_keys_of_its_docstring(tmp_path: Path) -> None:
    kb.run("gemm-single-pe", "minimal", store=str(tmp_path))
    (path,) = tmp_path.glob("runs/*/manifest.json")
    assert outermost_keys(manifest.__doc__ or "") == set(json.loads(path.read_text(encoding="utf-8")))


def test_the_keys_of_json_are_listed_for_every_command_that_prints_it() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    table = [line for line in page.splitlines() if line.startswith("| `")]
    listed = {found for line in table for found in re.findall(r"`([^`]+)`", line.split("|")[1])}
    printing = {
        context.command_path.removeprefix("kernbench ")
        for context in contexts()
        if any("--format" in parameter.opts for parameter in context.command.params)
    }
    assert printing == listed


def rows(page: Path, heading: str) -> set[str]:
    """First cells of the table under a heading of a page, up to the first space."""
    _, mark, section = page.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    assert mark, f"{page.name} has no section '{heading}'"
    section = section.partition("\n## ")[0]
    return {line.split("|")[1].split()[0] for line in section.splitlines() if line.startswith("| ")}


def test_every_bench_is_in_the_page_of_measurements() -> None:
    shipped = {bench["name"] for bench in benches()}
    assert shipped - rows(MEASURED / "measured.md", "Runs") == set(), "run 'make measure'"


@pytest.mark.parametrize(
    ("page", "target"), [("measured.md", "measure"), ("measured-stores.md", "measure-store")]
)
def test_the_pages_of_measurements_have_no_question_that_is_gone(page: str, target: str) -> None:
    """New ones come with the next measurement."""
    shipped, measured = {question["name"] for question in kb.questions()}, rows(MEASURED / page, "Questions")
    assert measured - {"question"} - shipped == set(), f"questions that are gone; run 'make {target}'"
