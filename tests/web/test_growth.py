"""Memory of the page's server: it does not grow with the questions that it has answered."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, re, sys
from werkzeug.test import Client
import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.page.server.app import App

def resident_mb():
    return int(re.search(r"VmRSS:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) / 1024

with borrowed(sys.argv[1]) as store:
    client, runs = Client(App(store)), [info["id"] for info in store.runs()]
    asked = [q["name"] for q in kb.questions() if all(p["default"] is not None for p in q["params"])]
    found = [resident_mb()]
    for name in asked[:24]:
        for run in runs:
            body = {"question": name, "run": run, "params": {}}
            client.post("/api/ask", base_url="http://127.0.0.1", json=body)
            for other in ("roofline", "machine", f"compare?before={runs[0]}&after={run}"):
                client.get(f"/api/{other}{'&' if '?' in other else '?'}run={run}", base_url="http://127.0.0.1")
        found.append(resident_mb())
    print(json.dumps(found))
"""
"""Prints the memory at the start, and after every question that was asked of each run."""

MOST_MB = 700
"""The open graphs take some of it; without what closed ones give back it was more than that."""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_it_does_not_grow_with_what_was_asked(kept: tuple[Path, list[str]], tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(kept[0], store, ignore=shutil.ignore_patterns("cache"))
    program = [sys.executable, "-c", PROGRAM, str(store)]
    found = json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    assert len(found) == 25
    assert max(found) < MOST_MB, found
