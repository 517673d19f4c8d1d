"""A run as Chakra execution traces (MLCommons): a file for each rank, which here is a SIP.

The file is as ``et_def.proto`` and the feeder of Chakra have it: ``GlobalMetadata``, then ``Node`` messages,
each behind its length. Nodes are the operations of kernels, those of a tile pipeline as one. That engines of
this machine made one wait for another is left out: it is for the tool that replays the trace to find.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from kernbench.export import wire

VERSION = "0.0.4"
LOAD, STORE, COMPUTE, SEND, RECEIVE = 2, 3, 4, 5, 6
"""``NodeType``."""
_DATA = ("handle", "raw", "token")
_CONTROL = ("issue", "war", "waw", "wait", "buffer", "credit")
"""Reasons of dependencies that belong to the program; the others are the machine's."""
_INT32, _INT64, _DOUBLE, _UINT64, _BOOL, _STRING = 7, 9, 3, 13, 27, 29
"""Fields of ``AttributeProto`` by type, as the feeder reads them."""


@dataclass
class _Node:
    op: Mapping[str, Any]
    type: int
    attributes: list[bytes]
    data: set[int] = field(default_factory=set)
    control: set[int] = field(default_factory=set)


def ranks(
    tables: Mapping[str, pa.Table], sip_of: Mapping[str, int], start_ns: float
) -> dict[int, Iterator[bytes]]:
    """The bytes of the trace of each rank: each SIP of ``sip_of``, by component.

    Times in the traces count from ``start_ns``.
    """
    ops = {op["number"]: op for op in tables["Op"].to_pylist()}
    root = {number: op["parent"] if op["parent"] in ops else number for number, op in ops.items()}
    rank_of = {number: sip_of.get(op["component"], -1) for number, op in ops.items()}
    edges = [
        (root[edge["op"]], root[edge["on"]], edge["hazard"])
        for edge in tables["DependsOn"].to_pylist()
        if edge["op"] in ops and edge["on"] in ops
    ]
    pairs = {}
    for to, of, hazard in edges:
        if hazard == "token":
            pairs[of] = pairs[to] = of, to
    found: dict[int, dict[int, _Node]] = {}
    for number, op in ops.items():
        rank = rank_of[number]
        if op["parent"] < 0 and rank >= 0 and op["kind"] != "view":
            kind, attributes = _kind(op, pairs.get(number), rank_of)
            found.setdefault(rank, {})[number] = _Node(op, kind, attributes)
    for to, of, hazard in edges:
        nodes = found.get(rank_of[to], {})
        if to != of and to in nodes and of in nodes:
            if hazard in _DATA:
                nodes[to].data.add(of)
            elif hazard in _CONTROL:
                nodes[to].control.add(of)
    return {rank: _encode(nodes, start_ns) for rank, nodes in sorted(found.items())}


def _kind(
    op: Mapping[str, Any], pair: tuple[int, int] | None, rank_of: Mapping[int, int]
) -> tuple[int, list[bytes]]:
    """The type of an operation's node, and its attributes; ``pair`` are a send and its receive."""
    size = [attribute("tensor_size", _UINT64, op["bytes"])]
    if op["kind"] == "queue":
        receives = op["name"] == "ipcq_recv"
        if pair is None or rank_of[pair[0]] == rank_of[pair[1]]:
            return (LOAD if receives else STORE), size
        return (RECEIVE if receives else SEND), [
            attribute("comm_size", _INT64, op["bytes"]),
            attribute("comm_src", _INT32, rank_of[pair[0]]),
            attribute("comm_dst", _INT32, rank_of[pair[1]]),
            attribute("comm_tag", _INT32, pair[0]),
        ]
    if op["kind"] == "memory":
        return (LOAD if "read" in op["name"] else STORE), size
    return COMPUTE, [attribute("num_ops", _INT64, op["flops"]), *size]


def _encode(nodes: Mapping[int, _Node], start_ns: float) -> Iterator[bytes]:
    yield _delimit(wire.field(1, VERSION))
    for number, node in nodes.items():
        op = node.op
        begin, ns = op["t_start"] - start_ns, op["t_end"] - op["t_start"]
        attributes = [
            attribute("is_cpu_op", _BOOL, False),
            *node.attributes,
            attribute("component", _STRING, op["component"]),
            attribute("source", _STRING, op["source"]),
            attribute("start_ns", _DOUBLE, begin),
            attribute("duration_ns", _DOUBLE, ns),
        ]
        yield _delimit(
            b"".join(
                [
                    wire.field(1, number),
                    wire.field(2, op["label"] or op["name"]),
                    wire.field(3, node.type),
                    *(wire.field(4, one) for one in sorted(node.control - node.data)),
                    *(wire.field(5, one) for one in sorted(node.data)),
                    wire.field(6, max(round(begin / 1000), 0)),
                    wire.field(7, round(ns / 1000)),
                    *(wire.field(10, one) for one in attributes),
                ]
            )
        )


def attribute(name: str, kind: int, value: bool | int | float | str) -> bytes:
    """An ``AttributeProto``; ``kind`` is the field of its value."""
    if isinstance(value, float):
        return wire.field(1, name) + wire.tag(kind, 1) + struct.pack("<d", value)
    return wire.field(1, name) + wire.field(kind, int(value) if isinstance(value, bool) else value)


def _delimit(message: bytes) -> bytes:
    return wire.varint(len(message)) + message
