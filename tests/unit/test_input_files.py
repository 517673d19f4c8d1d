"""Files that users name: whatever is there, each reader takes it or says which file is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernbench.api import evaluations
from kernbench.api.sweeps.file import read_sweep
from kernbench.errors import KernBenchError
from kernbench.hardware.topology import marked_yaml
from kernbench.hardware.topology.component_file import read_components
from kernbench.hardware.topology.loader import load
from kernbench.host.collectives.config import read_config
from kernbench.support.input_files import LONGEST
from kernbench.support.pgraph import load_library
from kernbench.support.user_modules import load_file
from kernbench.workloads.benches import gemm_list, resolve
from kernbench.workloads.models.config import model_of
from kernbench.workloads.probes.traffic_file import read_flows

Make = Callable[[Path], None]
SECRET = "hunter2"


def _question(file: Path) -> Any:
    """The questions of a folder, the one of which is ``file``."""
    (file.parent / "group").mkdir()
    (file.parent / "group" / "name.yaml").symlink_to(file)
    return load_library(file.parent)


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "topology": (".yaml", load),
    "components": (".yaml", read_components),
    "traffic": (".yaml", read_flows),
    "traffic in JSON": (".json", read_flows),
    "traffic in CSV": (".csv", read_flows),
    "sweep": (".yaml", read_sweep),
    "model": (".json", lambda file: model_of(config=str(file))),
    "products": (".csv", lambda file: gemm_list.read(str(file))),
    "collectives": (".yaml", read_config),
    "question": ("", _question),
    "bench": (".py", lambda file: resolve(str(file))),
    "component": (".py", lambda file: load_file(str(file), "component")),
    "evaluation": (".py", lambda file: evaluations.resolve(str(file))),
}
"""Every sort of file that a user names: how its name ends, and what reads it."""


def _bytes(content: bytes) -> Make:
    return lambda file: (file.write_bytes(content), None)[1]


def _large(file: Path) -> None:
    with file.open("wb") as out:
        out.truncate(300_000_000)


BAD: dict[str, Make] = {
    "pipe": os.mkfifo,
    "device": lambda file: file.symlink_to("/dev/zero"),
    "loop": lambda file: file.symlink_to(file),
    "folder": lambda file: file.mkdir(),
    "large": _large,
    "nested": _bytes(b"- " * 50_000),
    "minus": _bytes(b"-" * 50_000 + b"1"),
    "brackets": _bytes(b"[" * 1_000),
    "bytes": _bytes(b"\xff\xfe\x00"),
    "another": _bytes(f"root:{SECRET}:0\n{SECRET}: *{SECRET}\n".encode()),
    "one line": _bytes(f"{SECRET} x\n".encode()),
    "alias": _bytes(f"x: *{SECRET}\n".encode()),
}


@pytest.mark.daily(but=("traffic in JSON-large", "traffic in CSV-large"))
@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_not_such_a_file_is_an_error_that_names_it(reader: str, what: str, tmp_path: Path) -> None:
    end, read = READERS[reader]
    file = tmp_path / f"it{end}"
    BAD[what](file)
    with pytest.raises(KernBenchError) as raised:
        read(file)
    message = str(raised.value)
    assert file.name in message or "name.yaml" in message
    assert SECRET not in message.replace(str(tmp_path), "")
    assert len(message) < 1000


@pytest.mark.parametrize("reader", READERS)
def test_aliases_of_aliases_are_refused_in_bounds(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of aliases, or of merges, could stand for more values than any memory holds."""
    monkeypatch.setattr(marked_yaml, "ALIASED_NODES", 10_000)
    end, read = READERS[reader]
    lists = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    merges = "b0: &b0 {k: 1, l: 2}\n"
    for number in range(1, 12):
        lists += f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n"
        merges += f"b{number}: &b{number} {{<<: [{', '.join([f'*b{number - 1}'] * 10)}]}}\n"
    for number, text in enumerate((lists, merges)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / f"it{end}").write_text(text)
        with pytest.raises(KernBenchError):
            read(folder / f"it{end}")


def test_a_components_file_that_a_topology_names_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"root:{SECRET}:0:0\n")
    (tmp_path / "t.yaml").write_text(f"name: t\ncomponents_file: {tmp_path}/secret\n")
    with pytest.raises(
        KernBenchError, match=r"t\.yaml:2: components_file: .*secret:1: \(file\): is a text"
    ) as e:
        load(tmp_path / "t.yaml")
    assert SECRET not in str(e.value)


def test_a_link_to_a_file_of_another_name_is_followed(tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("value = 3\n")
    (tmp_path / "it.py").symlink_to(tmp_path / "blob")
    assert load_file(str(tmp_path / "it.py"), "bench")
    assert LONGEST > 1_000_000
