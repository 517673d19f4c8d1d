"""The BAAW's errors and edges, and channel requests by example."""

from __future__ import annotations

import pytest

from kernbench.errors import AddressError, AllocationError
from kernbench.hardware.address import ADDRESS_SPACE as LA_BASE
from kernbench.hardware.address import AddressMap, AddressModel, Baaw, VirtualAllocator, address_model
from tests.compiled import compiled

LA = {"system.address_model": "la"}
ONE_TO_ONE = LA | {"cube.hbm.mapping": "one_to_one"}
N_TO_ONE_MAP = AddressMap(compiled("minimal", LA))
ONE_TO_ONE_MAP = AddressMap(compiled("minimal", ONE_TO_ONE))
SLICE = ONE_TO_ONE_MAP.hbm(0, 0, 0, 0)
CTRL = "sip0.cube0.hbm_ctrl.pe0"


def table(addresses: AddressMap = ONE_TO_ONE_MAP) -> Baaw:
    baaw = Baaw(addresses)
    baaw.install([(LA_BASE, SLICE + 4096, 4096), (LA_BASE + 4096, SLICE + 65536, 100)])
    return baaw


def test_the_records_example_4_kb_over_8_channels() -> None:
    requests = table().resolve(LA_BASE, 4096)
    assert [(r.via, r.nbytes, r.offset) for r in requests] == [
        (f"sip0.cube0.pe0.ch_r{n}", 512, 4096 + 256 * n) for n in range(8)
    ]
    assert list(requests[3].runs()) == [(SLICE + 4096 + 768, 256), (SLICE + 4096 + 768 + 2048, 256)]


def test_a_part_of_a_segment_is_that_part() -> None:
    """512 bytes from byte 300 on touch three bursts, so three channels; not a share of all eight."""
    requests = table().resolve(LA_BASE + 300, 512)
    assert [(r.channel, r.nbytes, r.offset) for r in requests] == [
        (1, 212, 4396),
        (2, 256, 4608),
        (3, 44, 4864),
    ]


def test_a_channel_that_is_touched_at_both_ends_is_one_request() -> None:
    (first, *others) = table().resolve(LA_BASE + 128, 2048)
    assert (first.channel, first.nbytes) == (0, 256)
    assert list(first.runs()) == [(SLICE + 4096 + 128, 128), (SLICE + 4096 + 2048, 128)]
    assert [r.nbytes for r in others] == [256] * 7


def test_aggregated_is_one_request() -> None:
    (request,) = table(N_TO_ONE_MAP).resolve(LA_BASE + 300, 2048)
    assert (request.component, request.pa, request.offset, request.nbytes) == (CTRL, SLICE + 4396, 4396, 2048)
    assert (request.channel, request.via, request.stride, request.opens) == (-1, "", 0, True)
    assert list(request.runs()) == [(SLICE + 4396, 2048)]


def test_other_memories_have_no_channels() -> None:
    for addresses in (N_TO_ONE_MAP, ONE_TO_ONE_MAP):
        (request,) = addresses.requests(addresses.sram(0, 0, 64), 5000)
        assert (request.component, request.via, request.offset) == ("sip0.cube0.sram", "", 64)
    assert ONE_TO_ONE_MAP.requests(SLICE, 0) == []


def test_an_access_may_cross_segments() -> None:
    assert table().extents(LA_BASE + 4000, 196) == [(SLICE + 4096 + 4000, 96), (SLICE + 65536, 100)]


def test_what_is_below_the_logical_space_is_physical() -> None:
    assert table().extents(SLICE + 5, 10) == [(SLICE + 5, 10)]
    assert table().extents(SLICE + 5, 0) == []


@pytest.mark.parametrize(
    ("la", "nbytes"), [(LA_BASE + 4196, 1), (LA_BASE + 4000, 197), (LA_BASE - 1, 2), (LA_BASE + (1 << 20), 4)]
)
def test_a_byte_of_no_segment_is_an_error_that_names_it(la: int, nbytes: int) -> None:
    with pytest.raises(AddressError, match=r"logical address 0x[0-9a-f]{13} is in no segment"):
        table().resolve(la, nbytes)


def test_no_range_is_an_error() -> None:
    for la, nbytes in ((-1, 2), (LA_BASE, -1)):
        with pytest.raises(AddressError, match="not a range of addresses"):
            table().extents(la, nbytes)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([(LA_BASE + 4095, SLICE, 1)], "overlaps the segment at 0x8000000000000;"),
        ([(LA_BASE + 8192, SLICE, 64), (LA_BASE + 8200, SLICE + 64, 64)], "overlaps the segment at"),
        ([(LA_BASE + 8192, SLICE, 0)], "not a range of logical addresses"),
        ([(4096, SLICE, 64)], "not a range of logical addresses"),
        ([(LA_BASE + 8192, SLICE + (6 << 30) - 1, 2)], "physical address"),
    ],
)
def test_a_bad_segment_installs_nothing(entries: list[tuple[int, int, int]], message: str) -> None:
    baaw = table()
    before = baaw.segments
    with pytest.raises(AddressError, match=message):
        baaw.install([(LA_BASE + (1 << 16), SLICE, 64), *entries])
    assert baaw.segments == before


def test_segments_go_whole_several_at_once_or_not_at_all() -> None:
    baaw = table()
    for la, nbytes in ((LA_BASE, 4095), (LA_BASE + 1, 4095), (LA_BASE, 4097), (LA_BASE + 4096, 101), (0, 0)):
        with pytest.raises(AddressError, match="not made of whole segments"):
            baaw.remove(la, nbytes)
    assert len(baaw.segments) == 2
    baaw.remove(LA_BASE, 4196)
    assert baaw.segments == ()
    with pytest.raises(AddressError, match="removed before"):
        baaw.remove(LA_BASE, 4196)
    baaw.install([(LA_BASE, SLICE, 64)])
    assert baaw.segments == ((LA_BASE, LA_BASE + 64, SLICE),)


def test_logical_allocator() -> None:
    assert address_model("la") is AddressModel.LA
    space = VirtualAllocator(256, name="logical address space")
    first, second = space.alloc(1), space.alloc(257)
    assert (first, second, space.alloc(256)) == (LA_BASE, LA_BASE + 256, LA_BASE + 768)
    space.free(second, 257)
    with pytest.raises(AddressError, match="freed before"):
        space.free(second, 257)
    with pytest.raises(AllocationError, match="logical address space is full"):
        space.alloc(64 << 30)
