"""The same input gives the same record, byte for byte, in any process and under any hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Bench, settings, PEs at once: one PE, one cube, a whole SIP of 128.
CASES = [
    ("gemm-single-pe", ["--device", "sip:0"]),
    ("qkv-gemm", []),
    ("qkv-gemm-multi-pe", ["--verify-data"]),
    ("gpt3-qkv", ["--device", "sip:1"]),
]
LONG = ("gpt3-qkv",)


def run(store: Path, seed: str, bench: str, settings: list[str]) -> Path:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-m", "kernbench", "run", "--bench", bench, "--store", str(store), *settings]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (store / "runs").iterdir()
    return folder


@pytest.mark.parametrize(
    ("bench", "settings"),
    [pytest.param(*c, id=c[0], marks=[pytest.mark.slow] if c[0] in LONG else []) for c in CASES],
)
def test_two_processes_keep_identical_archives(tmp_path: Path, bench: str, settings: list[str]) -> None:
    first = run(tmp_path / "a", "1", bench, settings)
    second = run(tmp_path / "b", "4711", bench, settings)
    files = sorted(p.name for p in first.iterdir())
    assert files == sorted(p.name for p in second.iterdir())
    assert len([f for f in files if f.endswith(".parquet")]) >= 8
    for name in files:
        if name.endswith(".parquet"):
            assert (first / name).read_bytes() == (second / name).read_bytes(), f"{name} differs"
    manifests = [
        json.loads((folder / "manifest.json").read_text(encoding="utf-8")) for folder in (first, second)
    ]
    assert manifests[0]["run"] == manifests[1]["run"]
    assert manifests[0]["content"] == manifests[1]["content"]
