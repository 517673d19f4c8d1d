"""Splitting a range over HBM slices, checked byte by byte."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.hardware.address import AddressMap
from kernbench.support.pgraph import Node, PropertyGraph, Value


def slices(count: int, nbytes: int) -> AddressMap:
    """One cube with nothing but HBM slices."""
    graph = PropertyGraph()
    for index in range(count):
        properties: dict[str, Value] = {
            "kind": "hbm_ctrl", "sip": 0, "cube": 0, "slice": index, "slice_bytes": nbytes, "burst_bytes": 4,
        }  # fmt: skip
        graph.add_node(Node(f"slice{index}", ("Component",), properties))
    return AddressMap(graph)


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 20), st.data())
def test_split_covers_the_range_in_order_and_never_crosses(
    count: int, size: int, data: st.DataObject
) -> None:
    addresses = slices(count, size)
    base = addresses.hbm(0, 0, 0, 0)
    start = data.draw(st.integers(0, count * size - 1))
    nbytes = data.draw(st.integers(0, count * size - start))
    pieces = addresses.split(base + start, nbytes)
    covered = [pa + i for pa, length in pieces for i in range(length)]
    assert covered == list(range(base + start, base + start + nbytes))
    for pa, length in pieces:
        first, last = addresses.resolve(pa), addresses.resolve(pa + length - 1)
        assert first.component == last.component
        assert last.offset - first.offset == length - 1
    assert len({addresses.resolve(pa).component for pa, _ in pieces}) == len(pieces)


@settings(deadline=None)
@given(st.integers(1, 6), st.integers(1, 20), st.data())
def test_hbm_and_resolve_are_inverse(count: int, size: int, data: st.DataObject) -> None:
    addresses = slices(count, size)
    index, offset = data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, size - 1))
    target = addresses.resolve(addresses.hbm(0, 0, index, offset))
    assert target == (f"slice{index}", offset, "hbm", "")
