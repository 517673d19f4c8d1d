"""The host CPU may be called as one likes: all that looks for it finds it by its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import kernbench as kb
from kernbench.cli.app import app
from kernbench.errors import ConfigError

MACHINE = """
name: own-host
system: {flit_bytes: 64}
sip: {cube_mesh: {w: 1, h: 1}}
cube: {pes: {count: 1}, hbm: {slices: 1}}
wires: {pcie: {gbs: 64, mm: 10}}
parts: {HOST: {kind: host_cpu, launch_ns: 20}, package: {block: package}}
connect: [{pair: [HOST, package], wire: pcie}]
"""


def found(name: str, folder: Path) -> dict[str, Any]:
    """What a machine and a run on it say, with the host's name taken out."""
    file, store = folder / "own.yaml", str(folder / name)
    file.write_text(MACHINE.replace("HOST", name))
    graph, run = kb.load_topology(file), kb.run("gemm-single-pe", file, store=store)
    memory = next(node.id for node in graph.nodes("HbmCtrl"))

    def printed(*words: str) -> str:
        done = CliRunner().invoke(app, [*words, "--store", store])
        assert done.exit_code == 0, (words, done.output)
        return done.output.replace(name, "HOST").replace(run.id, "RUN")

    return {
        "ns": run.latency_ns,
        "path": [(s.location.replace(name, "HOST"), s.ns) for s in run.critical_path("run").steps],
        "route": [hop["node"].replace(name, "HOST") for hop in kb.route(graph, "host", memory)["hops"]],
        "traffic": kb.traffic([{"src": "host", "dst": memory, "bytes": 640}], graph).totals["makespan_ns"],
        "probe": repr(kb.probe(file, sizes=[256]).rows).replace(name, "HOST"),
        "query": printed(
            "query", "routing/distances", "last", "src=host", "traffic=HOST_MEMORY", "--format", "csv"
        ),
        "timeline": printed("timeline", "last", "--format", "json"),
    }


def test_a_host_of_any_name_is_the_host(tmp_path: Path) -> None:
    assert found("cpu0", tmp_path) == found("host.cpu", tmp_path)


def test_a_machine_of_a_file_keeps_its_host_and_cannot_lose_it(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(MACHINE.replace("HOST", "cpu0"))
    made = kb.Topology.from_yaml(file, {"parts.cpu0.launch_ns": 5.0})
    made.part("more", kind="memory")
    made.connect(pair=["cpu0", "more"], wire="pcie")
    assert [(n.id, n.properties["launch_ns"]) for n in made.compile().nodes("HostCpu")] == [("cpu0", 5.0)]
    with pytest.raises(ConfigError, match="faults: lose 'cpu0', expected it kept"):
        kb.load_topology(file, {"faults": [{"part": "cpu0"}]})
    file.write_text(
        MACHINE.replace("HOST: {kind: host_cpu, launch_ns: 20}", "host.cpu: switch").replace(
            "HOST", "host.cpu"
        )
    )
    with pytest.raises(ConfigError, match=r"'host\.cpu' is not a host CPU, expected one, under any name"):
        kb.load_topology(file)
