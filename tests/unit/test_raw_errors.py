"""Faults of the surroundings, and of users' files and names: an error in words, and nothing lost."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernbench_graph.errors import ArchiveError, StoreError
from kernbench_graph.opening import open_store

import kernbench as kb
from kernbench.api.exporting import write_file
from kernbench.api.kept_runs import copy_runs, tag
from kernbench.cli.main import main
from kernbench.errors import ConfigError, UsageError
from kernbench.support.user_modules import load_file
from kernbench.support.written_files import write_csv
from tests.conformance.graph_records import sample

BENCH = """\
import os
import numpy as np
from kernbench.workloads.benches.registry import bench
{outside}

def kernel(a, out, tl):
    tl.store(out, tl.load(a))

@bench(name="mine", description="A bench of a user.")
def run(torch):
    {inside}
    a = torch.from_numpy(np.ones((8, 64), np.float16), name={name!r})
    torch.launch({name!r}, kernel, a, torch.empty(8, 64, name="out"))
"""
NOT_UTF_8 = os.fsdecode(b"a\xffb")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def bench(outside: str = "", inside: str = "", name: str = "a") -> str:
    text = BENCH.format(outside=outside, inside=inside, name=name)
    Path("mine.py").write_text(text, encoding="utf-8", errors="surrogatepass")
    return "mine.py"


@pytest.mark.parametrize("where", ["outside", "inside"])
@pytest.mark.parametrize("how", ["os.chdir('../elsewhere')", "os.chdir('/'); 1 / 0"])
def test_a_bench_that_changes_the_folder_changes_it_for_itself(folder: Path, where: str, how: str) -> None:
    try:
        kb.run(bench(**{where: how}), "minimal", store="kept")
    except kb.KernBenchError:
        assert "1 / 0" in how
    else:
        assert len(kb.runs("kept")) == 1
        assert (folder / "here" / "kept" / "runs").is_dir()
    assert Path.cwd() == folder / "here"
    assert os.listdir(folder / "elsewhere") == []


def test_null_bytes_in_names_of_files() -> None:
    text = 'schema_version: 1\nname: t\ncomponents_file: "a\\0b"\n'
    Path("t.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"t\.yaml:3: components_file: .*it does not exist"):
        kb.load_topology("t.yaml")
    with pytest.raises(UsageError, match="does not exist"):
        load_file("a\0b.py", "bench")


def test_tags_that_are_not_utf_8_are_refused_before_anything_runs() -> None:
    def never(torch: Any) -> None:
        raise AssertionError("it was run")

    with pytest.raises(UsageError, match=r"a tag cannot be kept: .* is not text in UTF-8"):
        kb.run(never, "minimal", store="kept", tags=[NOT_UTF_8])
    flow = {"src": "host", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 64}
    with pytest.raises(UsageError, match="is not text in UTF-8"):
        kb.traffic([flow], "minimal", store="kept", tags=[NOT_UTF_8])
    run = kb.traffic([flow], "minimal", store="kept")
    with pytest.raises(UsageError, match="is not text in UTF-8"):
        tag(run.id, [NOT_UTF_8], store="kept")
    assert kb.open_run("last", "kept").tags == []


def test_names_that_are_not_utf_8_are_named() -> None:
    with pytest.raises(UsageError, match=r"a name in the run of 'mine' cannot be kept: 'a\\udcffb'"):
        kb.run(bench(name=NOT_UTF_8), "minimal", store="kept")
    run, topology = sample(id="a", more=NOT_UTF_8)
    with open_store("kept") as store, pytest.raises(ArchiveError, match="is not text in UTF-8"):
        store.keep(run, topology)
    assert not list(Path("kept").glob("runs/*"))


def test_a_link_that_leads_nowhere_is_no_run_that_is_there() -> None:
    Path("link").symlink_to("nowhere")
    for name in ("link", "link/inside"):
        with pytest.raises(StoreError, match=r"link' is a broken link; fix it"):
            kb.run("gemm-single-pe", "minimal", store=name)
    with open_store("link") as store, pytest.raises(StoreError, match=r"cannot be written to link/runs"):
        store.keep(*sample(id="a"))
    with open_store("kept") as store:
        store.keep(*sample(id="a"))
    with pytest.raises(StoreError, match=r"link' is a broken link; fix it"):
        copy_runs([], "kept", "link")


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_said_of_the_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match=r"No space left on device: 'r\.html'"):
        write_file("r.html", full)
    assert os.listdir() == []
    Path("f.csv").write_text("before", encoding="utf-8")

    def rows() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        full()

    with pytest.raises(OSError, match=r"No space left on device: 'f\.csv'"):
        write_csv(Path("f.csv"), ["a"], rows())
    assert (Path("f.csv").read_text(encoding="utf-8"), os.listdir()) == ("before", ["f.csv"])
    Path("drawn").mkdir()
    Path("drawn", "pe_view.svg").symlink_to("/dev/full")
    assert main(["topology", "diagram", "minimal", "--view", "pe", "--out", "drawn"]) == 1
    assert capsys.readouterr().err == "kernbench: error: 'drawn/pe_view.svg': No space left on device\n"
    with open_store("kept") as store:
        store.keep(*sample(id="a"))
        monkeypatch.setattr("kernbench_graph.archive.record.replace_file", full)
        with pytest.raises(StoreError, match=r"runs/a/manifest\.json cannot be written \(No space left"):
            store.change_tags("a", add=["x"])
        assert store.load("a").info["tags"] == "[]"
