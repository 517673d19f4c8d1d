"""Mapping, splitting, the physical fallback and the address models."""

from __future__ import annotations

import gc

import pytest

from kernbench.errors import AddressError, ConfigError
from kernbench.hardware.address import ADDRESS_SPACE, AddressModel, PageTable, address_model
from kernbench.hardware.address.extent_map import Extent
from kernbench.hardware.address.page_table import Entries

PAGE = 4096


def test_translate_and_extents() -> None:
    table = PageTable(PAGE)
    table.map(0x10000, 0x900000, 2 * PAGE)
    assert table.mappings == ((0x10000, 0x10000 + 2 * PAGE, 0x900000),)
    assert table.extents(0x10000 - 1, 2) == [(0x10000 - 1, 1), (0x900000, 1)]
    assert table.extents(0x10000 + 2 * PAGE - 1, 2) == [(0x900000 + 2 * PAGE - 1, 1), (0x10000 + 2 * PAGE, 1)]
    assert table.extents(0x10010, 100) == [(0x900010, 100)]
    assert table.extents(0x10010, 0) == []


def test_adjoining_runs_merge_even_from_separate_mappings() -> None:
    table = PageTable(PAGE)
    table.map(0, 0x80000, PAGE)
    table.map(PAGE, 0x80000 + PAGE, PAGE)
    table.map(2 * PAGE, 0x20000, PAGE)
    assert table.extents(8, 3 * PAGE - 8) == [(0x80008, 2 * PAGE - 8), (0x20000, PAGE)]


def test_a_page_may_hold_several_extents() -> None:
    table = PageTable(PAGE)
    for shard in range(4):
        table.map(0x4000 + 128 * shard, 0x100000 * (4 - shard), 128)
    assert table.extents(0x4000 + 64, 256) == [(0x400040, 64), (0x300000, 128), (0x200000, 64)]


def test_tables_share_the_extents_of_a_request_however_many_are_under_way() -> None:
    """Each PE of eight packages with tensors of a model otherwise had its own: a million."""

    def made() -> int:
        return sum(isinstance(one, Extent) for one in gc.get_objects())

    before, tables = made(), [PageTable(PAGE) for _ in range(5)]
    requests = [Entries([(PAGE * n, 0x100000 + PAGE * n, PAGE)]) for n in range(50)]
    for table in tables:
        for entries in requests:
            table.map_all(entries)
    assert made() == before + 50
    assert len({table.mappings for table in tables}) == 1


def test_tables_that_got_the_same_entries_are_apart() -> None:
    entries = [(PAGE * n, 0x100000 + 3 * PAGE * n, PAGE) for n in range(4)]
    one, other = PageTable(PAGE), PageTable(PAGE)
    for table in (one, other):
        table.map_all(entries)
    one.unmap(PAGE // 2, PAGE)
    assert other.mappings == tuple((va, va + nbytes, pa) for va, pa, nbytes in entries)
    assert len(one.mappings) == 4
    with pytest.raises(AddressError, match="overlaps the mapping at 0x0"):
        other.map_all(entries)
    with pytest.raises(AddressError, match="same request"):
        PageTable(PAGE).map_all([*entries, entries[0]])


def test_what_is_not_mapped_is_physical() -> None:
    table = PageTable(PAGE)
    assert table.extents(0x7000, 100) == [(0x7000, 100)]
    table.map(0x1000, 0x9000, 0x1000)
    assert table.extents(0xF00, 0x1200) == [(0xF00, 0x100), (0x9000, 0x1000), (0x2000, 0x100)]
    with pytest.raises(AddressError, match="neither in a tensor nor physical"):
        table.extents(ADDRESS_SPACE - 1, 2)


def test_virtual_addresses_may_lie_beyond_the_physical_space() -> None:
    table = PageTable(PAGE)
    table.map(ADDRESS_SPACE, 0, PAGE)
    assert table.extents(ADDRESS_SPACE + 4, 8) == [(4, 8)]


def test_unmapping_a_part_splits() -> None:
    table = PageTable(PAGE)
    table.map(0x1000, 0x9000, 0x3000)
    table.unmap(0x2000, 0x1000)
    assert table.mappings == ((0x1000, 0x2000, 0x9000), (0x3000, 0x4000, 0xB000))
    table.map(0x2000, 0x50000, 0x1000)
    assert table.extents(0x1000, 0x3000) == [(0x9000, 0x1000), (0x50000, 0x1000), (0xB000, 0x1000)]
    table.unmap(0x1000, 0x3000)
    assert table.mappings == ()


@pytest.mark.parametrize(
    ("va", "nbytes"), [(0x1FFF, 2), (0x2000, 1), (0x2FFF, 1), (0x2FFF, 2), (0x1000, 0x4000)]
)
def test_overlapping_map_is_an_error(va: int, nbytes: int) -> None:
    table = PageTable(PAGE)
    table.map(0x2000, 0x9000, 0x1000)
    with pytest.raises(AddressError, match="overlaps the mapping at 0x2000"):
        table.map(va, 0x100000, nbytes)
    assert table.extents(0x2000, 0x1000) == [(0x9000, 0x1000)]
    assert table.mappings == ((0x2000, 0x3000, 0x9000),)


@pytest.mark.parametrize(("va", "nbytes"), [(0x1FFF, 2), (0x2FFF, 2), (0x5000, 1), (0x2000, 0x2001)])
def test_unmapping_what_is_not_mapped_is_an_error_and_changes_nothing(va: int, nbytes: int) -> None:
    table = PageTable(PAGE)
    table.map(0x2000, 0x9000, 0x1000)
    with pytest.raises(AddressError, match="is not mapped"):
        table.unmap(va, nbytes)
    assert table.extents(0x2000, 0x1000) == [(0x9000, 0x1000)]


def test_ranges_are_checked() -> None:
    table = PageTable(PAGE)
    for va, pa, nbytes in ((-1, 0, 1), (0, -1, 1), (0, 0, 0), (0, ADDRESS_SPACE - 1, 2)):
        with pytest.raises(AddressError):
            table.map(va, pa, nbytes)
    with pytest.raises(AddressError):
        table.unmap(0, 0)
    with pytest.raises(AddressError):
        table.extents(-1, 4)
    for page_bytes in (0, -4096, 3000):
        with pytest.raises(AddressError, match="power of two"):
            PageTable(page_bytes)


def test_address_models() -> None:
    assert address_model("va") is AddressModel.VA
    assert address_model("pa") is AddressModel.PA
    assert address_model("la") is AddressModel.LA
    for name in ("ba", "", None):
        with pytest.raises(ConfigError, match="use one of va, pa, la"):
            address_model(name)
