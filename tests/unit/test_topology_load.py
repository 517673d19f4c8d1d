from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from kernbench.errors import ConfigError
from kernbench.hardware.topology import TopologySpec, find, load, parse
from kernbench.hardware.topology.fields import Section
from kernbench.hardware.topology.marked_yaml import load_marked
from kernbench.support.data_files import shipped_topologies


def test_the_shipped_default_says_what_the_code_defaults_to() -> None:
    assert load() == TopologySpec(name="default")
    assert load() == parse("name: default\n")


def test_default_file_names_every_key() -> None:
    """default.yaml, which people copy, shows every figure.

    The keys that it leaves out are the optional ones and those that many parts share; its comments name them.
    """
    text = find(None).read_text(encoding="utf-8")
    missing = sorted(_missing(load(), yaml.safe_load(text)))
    optional = {
        "cubes",
        "ports",
        "slices",
        "dram",
        "w",
        "h",
        "row",
        "col",
        "components_file",
        "answers",
        "spread",
        "memory",
        "interleave",
        "granule_bytes",
        "cache",
    }
    optional |= {"wires", "defaults", "blocks", "parts", "connect"}
    shared = {"attributes", "impl", "worker", "issue_ns", "access_ns"}
    assert [m for m in missing if m.rpartition(".")[2] not in optional | shared] == []
    said = set(re.findall(r"\w+", " ".join(line.partition("#")[2] for line in text.splitlines())))
    assert optional | shared <= said


def _missing(section: Section, file: dict[str, object], path: str = "") -> list[str]:
    out = []
    for key in type(section).model_fields:
        value, here = getattr(section, key), f"{path}.{key}"
        if key not in file:
            out.append(here)
        elif isinstance(value, Section):
            out += _missing(value, file[key], here)  # type: ignore[arg-type]
        elif isinstance(value, tuple) and value and isinstance(value[0], Section):
            out += _missing(value[0], file[key][0], here)  # type: ignore[index]
    return out


def test_every_field_is_described() -> None:
    models, bare = [Section], []
    while models:
        model = models.pop()
        models += model.__subclasses__()
        bare += [
            f"{model.__name__}.{key}" for key, field in model.model_fields.items() if not field.description
        ]
    assert bare == []


@pytest.mark.parametrize(
    ("name", "sips", "cubes", "pes", "grid"),
    [
        ("as-recorded", 2, 16, 8, (2, 1)),
        ("default", 2, 16, 8, (2, 1)),
        ("minimal", 1, 1, 1, (1, 1)),
        ("six-sip-torus", 6, 16, 8, (3, 2)),
        ("tray-8", 8, 16, 8, (8, 1)),
        ("tray-16", 16, 16, 8, (4, 4)),
    ],
)
def test_shipped_files(name: str, sips: int, cubes: int, pes: int, grid: tuple[int, int]) -> None:
    spec = load(name)
    assert spec.name == name
    assert (spec.system.sips, spec.cubes_per_sip, spec.cube.pes.count, spec.sip_grid) == (
        sips,
        cubes,
        pes,
        grid,
    )
    assert spec.hbm_slices == pes
    assert load(shipped_topologies()[name]) == spec


def test_a_path_wins_over_a_shipped_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "minimal").write_text("name: mine\n")
    monkeypatch.chdir(tmp_path)
    assert load("minimal").name == "mine"
    assert load("default").name == "default"


def test_overrides() -> None:
    spec = load(
        "minimal",
        {
            "cube.hbm.switch_penalty_ns": 3,
            "cube.hbm.efficiency": "0.5",
            "cube.sram.size_bytes": "1 MiB",
            "system.inter_sip": {"pattern": "torus_2d"},
            "pe.pe_gemm.attributes.depth": 7,
        },
    )
    assert spec.cube.hbm.switch_penalty_ns == 3.0
    assert spec.cube.hbm.efficiency == 0.5
    assert spec.cube.sram.size_bytes == 1 << 20
    assert spec.sip_grid == (1, 1)
    assert spec.pe.pe_gemm.attributes == {"depth": 7}


def test_override_of_a_list_item_leaves_the_rest() -> None:
    spec = load(None, {"sip.io_chiplets.0.io_ucie.link_mm": 5})
    assert spec.sip.io_chiplets[0].io_ucie.link_mm == 5.0
    assert spec.sip.io_chiplets[0].name == "io0"


def test_overrides_do_not_change_what_the_caller_passed() -> None:
    given: dict[str, object] = {"cube.hbm": {"channel_gbs": 16.0}, "cube.hbm.efficiency": 0.5}
    assert load(None, given).cube.hbm.efficiency == 0.5
    assert given["cube.hbm"] == {"channel_gbs": 16.0}


def test_numbers_as_yaml_1_2_writes_them() -> None:
    spec = parse("name: t\npe: {pe_gemm: {macs_per_cycle: 4e3}}\ncube: {router: {link_gbs: 2.5E+2}}\n")
    assert (spec.pe.pe_gemm.macs_per_cycle, spec.cube.router.link_gbs) == (4000.0, 250.0)


def test_anchors_and_merge_keys() -> None:
    spec = parse(
        "name: t\n"
        "sip:\n"
        "  io_chiplets:\n"
        "  - &one {name: io0, side: N, io_cpu: {overhead_ns: 7}}\n"
        "  - {<<: *one, name: io1, side: S}\n"
    )
    assert [(io.name, io.side, io.io_cpu.overhead_ns) for io in spec.sip.io_chiplets] == [
        ("io0", "N", 7.0),
        ("io1", "S", 7.0),
    ]


def test_an_anchor_that_merges_and_overrides_can_be_used_again() -> None:
    spec = parse(
        "name: t\n"
        "sip:\n"
        "  io_chiplets:\n"
        "  - &one {name: io0, side: N, io_cpu: &cpu {overhead_ns: 7}}\n"
        "  - {name: io1, side: S, io_cpu: &other {<<: *cpu, overhead_ns: 9}}\n"
        "  - {name: io2, side: W, io_cpu: *other}\n"
    )
    assert [io.io_cpu.overhead_ns for io in spec.sip.io_chiplets] == [7.0, 9.0, 9.0]


def test_aliases_of_aliases_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine of nine of nine ...: 3e9 values in a page of text."""
    text = "name: t\na: &a [0, 0, 0, 0, 0, 0, 0, 0, 0]\n" + "".join(
        f"{after}: &{after} [{', '.join(['*' + before] * 9)}]\n" for before, after in pairwise("abcdefghij")
    )
    monkeypatch.setattr("kernbench.hardware.topology.marked_yaml.ALIASED_NODES", 10_000)
    with pytest.raises(ConfigError, match=r"f\.yaml:\d+: .*: aliases add more than 10000 values"):
        parse(text, "f.yaml")


def test_canonical_text_is_itself_a_topology() -> None:
    spec = load("six-sip-torus")
    assert parse(spec.canonical()) == spec


def test_a_file_of_more_than_a_megabyte_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.yaml"
    file.write_text("name: long\n#" + "x" * 1_000_000)
    with pytest.raises(ConfigError, match=r"long.yaml: cannot be read: it has more than 1,000,000 bytes"):
        load(file)


def test_a_text_that_is_read_again_is_a_document_of_its_own() -> None:
    one, another = (load_marked("a: {b: [1]}\n", "f.yaml") for _ in range(2))
    one.data["a"]["b"].append(2)
    one.lines.clear()
    assert (another.data, another.line(("a", "b", 0))) == ({"a": {"b": [1]}}, 1)
