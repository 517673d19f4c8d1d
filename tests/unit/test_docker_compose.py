"""docker-compose.yml starts the Neo4j that the tests run, for this machine only, and knows no password."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tools.run_neo4j import POM

FILE = Path(__file__).parents[2] / "docker-compose.yml"


def test_the_service_is_what_the_docs_promise() -> None:
    content = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    service = content["services"]["neo4j"]
    version = re.search(r"<neo4j\.version>([\d.]+)<", POM.read_text(encoding="utf-8"))
    assert version is not None
    assert service["image"] == f"neo4j:{version[1]}-community"
    assert version[1].startswith("5.26.")  # the long-term version
    assert {port.rpartition(":")[0] for port in service["ports"]} == {"127.0.0.1:7474", "127.0.0.1:7687"}
    assert service["healthcheck"]["test"][0] == "CMD-SHELL"
    (volume,) = service["volumes"]
    name, _, place = volume.partition(":")
    assert place == "/data"
    assert name in content["volumes"]


def test_no_password_is_in_it() -> None:
    content = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    given = content["services"]["neo4j"]["environment"]["NEO4J_AUTH"]
    assert re.fullmatch(r"neo4j/\$\{KERNBENCH_NEO4J_PASSWORD:\?[^}]+\}", given)


def _has_compose() -> bool:
    if shutil.which("docker") is None:
        return False
    return subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _has_compose(), reason="no docker compose here")
def test_docker_compose_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["docker", "compose", "-f", str(FILE), "config"]
    monkeypatch.setenv("KERNBENCH_NEO4J_PASSWORD", "of this test")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (
        yaml.safe_load(done.stdout)["services"]["neo4j"]["environment"]["NEO4J_AUTH"] == "neo4j/of this test"
    )
    monkeypatch.delenv("KERNBENCH_NEO4J_PASSWORD")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "set KERNBENCH_NEO4J_PASSWORD" in refused.stderr
