"""``Run.to_chakra``: read back with messages of Chakra's ``et_def.proto`` and compared with the archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal.decoder import _DecodeVarint32 as decode_varint

import kernbench as kb
from kernbench.errors import UsageError

_F = descriptor_pb2.FieldDescriptorProto


def _messages() -> tuple[Any, Any]:
    """``GlobalMetadata`` and ``Node``, with the numbers and types of Chakra 0.0.4."""
    file = descriptor_pb2.FileDescriptorProto(name="et_def.proto", package="ChakraProtoMsg", syntax="proto3")
    fields: dict[str, list[tuple[str, int, int, bool]]] = {
        "AttributeProto": [
            ("name", 1, _F.TYPE_STRING, False), ("double_val", 3, _F.TYPE_DOUBLE, False),
            ("int32_val", 7, _F.TYPE_INT32, False), ("int64_val", 9, _F.TYPE_INT64, False),
            ("uint64_val", 13, _F.TYPE_UINT64, False), ("bool_val", 27, _F.TYPE_BOOL, False),
            ("string_val", 29, _F.TYPE_STRING, False),
        ],
        "GlobalMetadata": [("version", 1, _F.TYPE_STRING, False)],
        "Node": [
            ("id", 1, _F.TYPE_UINT64, False), ("name", 2, _F.TYPE_STRING, False),
            ("type", 3, _F.TYPE_INT32, False), ("ctrl_deps", 4, _F.TYPE_UINT64, True),
            ("data_deps", 5, _F.TYPE_UINT64, True), ("start_time_micros", 6, _F.TYPE_UINT64, False),
            ("duration_micros", 7, _F.TYPE_UINT64, False), ("attr", 10, _F.TYPE_MESSAGE, True),
        ],
    }  # fmt: skip
    for name, columns in fields.items():
        message = file.message_type.add(name=name)
        if name == "AttributeProto":
            message.oneof_decl.add(name="value")
        for field, number, kind, many in columns:
            label = _F.LABEL_REPEATED if many else _F.LABEL_OPTIONAL
            made = message.field.add(name=field, number=number, type=kind, label=label)
            if name == "AttributeProto" and field != "name":
                made.oneof_index = 0
            if field == "attr":
                made.type_name = ".ChakraProtoMsg.AttributeProto"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = [
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ChakraProtoMsg.{name}"))
        for name in ("GlobalMetadata", "Node")
    ]
    return found[0], found[1]


def _read(file: str) -> dict[int, tuple[Any, dict[str, Any]]]:
    """Nodes by id, each with its attributes."""
    metadata, node = _messages()
    data, at, parts = Path(file).read_bytes(), 0, []
    while at < len(data):
        size, at = decode_varint(data, at)
        parts.append(data[at : at + size])
        at += size
    assert metadata.FromString(parts[0]).version == "0.0.4"
    nodes = [node.FromString(part) for part in parts[1:]]
    return {n.id: (n, {a.name: getattr(a, a.WhichOneof("value")) for a in n.attr}) for n in nodes}


@pytest.fixture(scope="module")
def reduce() -> kb.Run:
    return kb.run(
        "ccl-allreduce",
        topo={"sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1},
        store="memory:",
        params={"elements": 16},
    )


@pytest.fixture(scope="module")
def traces(reduce: kb.Run, tmp_path_factory: pytest.TempPathFactory) -> list[dict[int, Any]]:
    prefix = tmp_path_factory.mktemp("chakra") / "trace"
    files = reduce.export("chakra", prefix)
    assert files == [f"{prefix}.0.et", f"{prefix}.1.et"]
    return [_read(file) for file in files]


def test_nodes_are_the_operations_of_each_rank(reduce: kb.Run, traces: list[dict[int, Any]]) -> None:
    start = reduce.window("all").spans[0][0]
    for rank, nodes in enumerate(traces):
        ops = {
            op["number"]: op
            for op in reduce.tables["Op"].to_pylist()
            if op["component"].startswith(f"sip{rank}.") and op["parent"] < 0
        }
        assert nodes.keys() == ops.keys()
        for number, (node, attributes) in nodes.items():
            op = ops[number]
            assert attributes["start_ns"] == op["t_start"] - start
            assert attributes["duration_ns"] == op["t_end"] - op["t_start"]
            assert attributes["is_cpu_op"] is False
            if node.type == 4:
                assert attributes["num_ops"] == op["flops"]
            if node.type in (2, 3):
                assert attributes["tensor_size"] == op["bytes"]


def test_every_send_between_ranks_has_its_receive(traces: list[dict[int, Any]]) -> None:
    sends, receives = (
        {
            (a["comm_src"], a["comm_dst"], a["comm_tag"], a["comm_size"]): rank
            for rank, nodes in enumerate(traces)
            for node, a in nodes.values()
            if node.type == kind
        }
        for kind in (5, 6)
    )
    assert sends.keys() == receives.keys()
    assert sends
    for (source, target, _, size), rank in sends.items():
        assert source == rank != target
        assert size > 0
        assert receives[source, target, _, size] == target


def test_dependencies_are_the_programs_and_have_no_circle(
    reduce: kb.Run, traces: list[dict[int, Any]]
) -> None:
    parent = {op["number"]: op["parent"] for op in reduce.tables["Op"].to_pylist()}
    hazards: dict[tuple[int, int], set[str]] = {}
    for edge in reduce.tables["DependsOn"].to_pylist():
        op, on = (one if parent[one] < 0 else parent[one] for one in (edge["op"], edge["on"]))
        if op != on and any({op, on} <= nodes.keys() for nodes in traces):
            hazards.setdefault((op, on), set()).add(edge["hazard"])
    data = {pair for pair, found in hazards.items() if found & {"handle", "raw", "token"}}
    seen, ordered = set(), set()
    for nodes in traces:
        graph = nx.DiGraph()
        for number, (node, _) in nodes.items():
            for on in (*node.data_deps, *node.ctrl_deps):
                assert on in nodes
                graph.add_edge(on, number)
            seen |= {(number, on) for on in node.data_deps}
            ordered |= {(number, on) for on in node.ctrl_deps}
        assert nx.is_directed_acyclic_graph(graph)
    assert data
    assert seen == data
    assert hazards.keys() - data
    assert ordered == hazards.keys() - data


def test_a_window_without_kernels_is_an_error(reduce: kb.Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no kernel did anything in setup"):
        reduce.export("chakra", tmp_path / "x", "setup", to_ns=300)
    assert not list(tmp_path.iterdir())
