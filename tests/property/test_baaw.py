"""The BAAW: every logical byte is one physical byte, and an access is exactly the bytes asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.hardware.address import ADDRESS_SPACE as LA_BASE
from kernbench.hardware.address import AddressMap, Baaw, PhysicalRequest
from kernbench.support.pgraph import Node, PropertyGraph, Value

BURST = 4


def slices(count: int, nbytes: int, channels: int, *, one_to_one: bool) -> AddressMap:
    """One cube with nothing but HBM slices and, if asked for, their channel routers."""
    graph = PropertyGraph()
    for index in range(count):
        place: dict[str, Value] = {"sip": 0, "cube": 0, "pe": -1, "slice": index, "burst_bytes": BURST}
        hbm: dict[str, Value] = {"kind": "hbm_ctrl", "slice_bytes": nbytes, **place}
        graph.add_node(Node(f"sip0.cube0.hbm_ctrl.pe{index}", ("Component", "HbmCtrl"), hbm))
        for channel in range(channels if one_to_one else 0):
            router: dict[str, Value] = {"kind": "channel_router", **place, "channel": channel}
            name = f"sip0.cube0.pe{index}.ch_r{channel}"
            graph.add_node(Node(name, ("Component", "ChannelRouter"), router))
    return AddressMap(graph)


@dataclass
class Made:
    """A map, a table with segments, and the physical byte of every logical one."""

    addresses: AddressMap
    baaw: Baaw
    truth: dict[int, int]
    one_to_one: bool
    channels: int


@st.composite
def tables(draw: st.DrawFn) -> Made:
    channels = draw(st.sampled_from([1, 2, 4, 8]))
    count = draw(st.integers(1, 3))
    size = BURST * draw(st.integers(channels, 5 * channels))
    one_to_one = draw(st.booleans())
    addresses = slices(count, size, channels, one_to_one=one_to_one)
    baaw = Baaw(addresses)
    pa = addresses.hbm(0, 0, 0, 0)
    end = pa + count * size
    places: list[tuple[int, int]] = []
    while len(places) < 5 and pa < end:
        pa += draw(st.sampled_from([0, 0, 1, BURST, 7]))
        nbytes = draw(st.integers(1, 3 * size // 2))
        if pa + nbytes > end:
            break
        places.append((pa, nbytes))
        pa += nbytes
    la = LA_BASE + draw(st.integers(0, 9))
    entries: list[tuple[int, int, int]] = []
    for place, nbytes in draw(st.permutations(places)):  # their order in one space says nothing of the other
        entries.append((la, place, nbytes))
        la += nbytes + draw(st.sampled_from([0, 0, 3]))
    baaw.install(draw(st.permutations(entries)))
    truth = {start + i: place + i for start, place, nbytes in entries for i in range(nbytes)}
    return Made(addresses, baaw, truth, one_to_one, channels)


def bytes_of(requests: list[PhysicalRequest]) -> Iterator[tuple[int, PhysicalRequest]]:
    for request in requests:
        for pa, nbytes in request.runs():
            yield from ((pa + i, request) for i in range(nbytes))


@settings(max_examples=300)
@given(tables(), st.data())
def test_an_access_resolves_to_exactly_the_bytes_asked_for(made: Made, data: st.DataObject) -> None:
    addresses, baaw, truth, one_to_one, channels = (
        made.addresses, made.baaw, made.truth, made.one_to_one, made.channels,
    )  # fmt: skip
    if not truth:
        return
    start = data.draw(st.sampled_from(sorted(truth)))
    longest = next(n for n in range(1, len(truth) + 2) if start + n not in truth)
    nbytes = data.draw(st.integers(1, longest))
    wanted = [truth[la] for la in range(start, start + nbytes)]

    extents = baaw.extents(start, nbytes)
    assert [pa + i for pa, length in extents for i in range(length)] == wanted

    requests = baaw.resolve(start, nbytes)
    found = list(bytes_of(requests))
    assert sorted(pa for pa, _ in found) == sorted(wanted)
    assert sum(request.nbytes for request in requests) == nbytes
    for pa, request in found:
        target = addresses.resolve(pa)
        assert target.component == request.component
        if one_to_one:
            channel = target.offset // BURST % channels
            assert request.channel == channel
            assert request.via == f"{request.component.replace('hbm_ctrl.', '')}.ch_r{channel}"
        else:
            assert (request.channel, request.via) == (-1, "")
    for request in requests:
        assert addresses.resolve(request.pa)[:2] == (request.component, request.offset)
    if one_to_one:
        # One request a channel of each slice, for each run of adjoining physical bytes.
        for pa, length in extents:
            keys = [(r.component, r.channel) for r in addresses.requests(pa, length)]
            assert len(keys) == len(set(keys))
            for first, piece in addresses.split(pa, length):
                in_slice = addresses.resolve(first).offset
                touched = {(in_slice + i) // BURST % channels for i in range(piece)}
                own = addresses.resolve(first).component
                assert {c for name, c in keys if name == own} == touched


@settings(max_examples=100)
@given(tables())
def test_disjoint_tensors_are_disjoint_in_every_channel(made: Made) -> None:
    baaw, truth = made.baaw, made.truth
    taken: set[int] = set()
    for start, end, _ in baaw.segments:
        own = {pa for pa, _ in bytes_of(baaw.resolve(start, end - start))}
        assert len(own) == end - start
        assert not own & taken
        taken |= own
    assert taken == set(truth.values())


@settings(max_examples=100)
@given(tables())
def test_there_and_back(made: Made) -> None:
    """No two logical bytes are one physical byte, so the way back is a function too."""
    baaw, truth = made.baaw, made.truth
    back: dict[int, int] = {}
    for la in truth:
        ((pa, length),) = baaw.extents(la, 1)
        assert length == 1
        assert back.setdefault(pa, la) == la
    assert back == {pa: la for la, pa in truth.items()}


@given(tables(), st.data())
def test_what_is_removed_is_gone_and_the_rest_stays(made: Made, data: st.DataObject) -> None:
    baaw, truth = made.baaw, made.truth
    if not baaw.segments:
        return
    gone = data.draw(st.sampled_from(baaw.segments))
    kept = [segment for segment in baaw.segments if segment != gone]
    first, stop, at = gone
    baaw.remove(first, stop - first)
    assert baaw.segments == tuple(kept)
    for start, end, pa in kept:
        assert baaw.extents(start, end - start) == [(pa, end - start)]
    baaw.install([(first, at, stop - first)])
    assert {la: baaw.extents(la, 1)[0][0] for la in truth} == truth
