"""KernBench's own data files, damaged: an error names file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernbench.errors import ConfigError
from kernbench.hardware.topology import dram, energy


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tck_ps: 1\nburst: [1, 2\nother: }", r"hbm9\.yaml:3: bad YAML: "),
        ("tck_ps: 1\n", r"hbm9\.yaml: [a-zA-Z_.]+: Field required"),
        ("- 1\n", r"hbm9\.yaml: "),
    ],
)
def test_a_table_that_is_not_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    (tmp_path / "dram").mkdir()
    (tmp_path / "dram" / "hbm9.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(dram, "data_dir", lambda _: tmp_path)
    with pytest.raises(ConfigError, match=says):
        dram.table("hbm9")


def test_figures_of_energy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "energy.yaml").write_text("a: [1\nb: }", encoding="utf-8")
    monkeypatch.setattr(energy, "data_dir", lambda _: tmp_path)
    energy._shipped.cache_clear()
    with pytest.raises(ConfigError, match=r"energy\.yaml:2: bad YAML: "):
        energy.with_defaults()
