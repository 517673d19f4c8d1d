"""The 51-bit layout: the record's worked examples, its tables, and every rule's error."""

from __future__ import annotations

import dataclasses

import pytest

from kernbench.errors import AddressError
from kernbench.hardware.address import ADDRESS_SPACE, IocpuUnit, Kind, McpuUnit, PeUnit, PhysAddr
from kernbench.hardware.address.layout import BUDGETS, LAYOUTS, UNITS

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

EXAMPLES = {
    "A.1": (PhysAddr(2, 5, Kind.HBM, 0x1000), (2 << 47) | (5 << 42) | (1 << 37) | 0x1000),
    "A.2": (
        PhysAddr(0, 0, Kind.PE_LOCAL, 0x400, 3, PeUnit.PE_TCM),
        (0 << 34) | (3 << 29) | (6 << 25) | 0x400,
    ),
    "A.3": (
        PhysAddr(1, 3, Kind.MCPU_LOCAL, 0, unit=McpuUnit.MCPU_SRAM),
        (1 << 47) | (3 << 42) | (1 << 34) | (5 << 25),
    ),
    "A.4": (
        PhysAddr(1, 17, Kind.IOCPU, 0x20000, unit=IocpuUnit.IPCQ),
        (1 << 47) | (17 << 42) | (2 << 27) | 0x20000,
    ),
    "A.5": (PhysAddr(0, 16, Kind.UAL, 4 * GIB), (16 << 42) | 0x1_0000_0000),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples_of_the_record(name: str) -> None:
    fields, bits = EXAMPLES[name]
    assert fields.encode() == bits
    assert int(fields) == bits
    assert PhysAddr.decode(bits) == fields


def test_the_record_s_budgets() -> None:
    assert list(BUDGETS[Kind.PE_LOCAL].values()) == [
        8 * KIB, 8 * KIB, 256 * KIB, 16 * KIB, 16 * KIB, 192 * KIB, 2 * MIB,
    ]  # fmt: skip
    assert list(BUDGETS[Kind.MCPU_LOCAL].values()) == [
        512 * KIB, 512 * KIB, 256 * KIB, 8 * KIB, 16 * KIB, 10 * MIB,
    ]  # fmt: skip
    assert list(BUDGETS[Kind.IOCPU].values()) == [
        512 * KIB, 512 * KIB, 2 * MIB, 8 * KIB, 16 * KIB, 64 * MIB,
    ]  # fmt: skip


@pytest.mark.parametrize("kind", Kind)
def test_fields_cover_all_51_bits_without_a_gap(kind: Kind) -> None:
    next_high = 50
    for field in LAYOUTS[kind]:
        assert field.high == next_high, field
        next_high = field.low - 1
    assert next_high == -1


def test_an_address_is_an_immutable_value() -> None:
    addr = PhysAddr(1, 2, Kind.HBM, 3)
    assert addr == PhysAddr.decode(addr.encode())
    assert len({addr, PhysAddr(1, 2, Kind.HBM, 3), PhysAddr(1, 2, Kind.HBM, 4)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        addr.offset = 4  # type: ignore[misc]


def test_equal_unit_numbers_of_different_kinds_are_different_addresses() -> None:
    assert PhysAddr(0, 0, Kind.MCPU_LOCAL, 0, unit=McpuUnit.IPCQ) != PhysAddr(
        0, 0, Kind.PE_LOCAL, 0, 0, PeUnit.IPCQ
    )


PE = PhysAddr(0, 0, Kind.PE_LOCAL, 0, 3, PeUnit.PE_TCM).encode()
MCPU = PhysAddr(0, 0, Kind.MCPU_LOCAL, 0, unit=McpuUnit.MCPU_SRAM).encode()
SRAM = PhysAddr(0, 0, Kind.CUBE_SRAM, 0).encode()
HBM = PhysAddr(0, 0, Kind.HBM, 0).encode()
UAL = PhysAddr(0, 16, Kind.UAL, 2 * GIB).encode()


def test_decoding_an_invalid_address_names_the_field() -> None:
    invalid = [
        *[(HBM | 1 << bit, r"mbz\[41:38\]") for bit in range(38, 42)],
        *[(SRAM | 1 << bit, r"mbz\[41:38\]") for bit in range(38, 42)],
        *[(SRAM | 1 << bit, r"mbz\[33:25\]") for bit in range(25, 34)],
        *[(MCPU | 1 << bit, r"mbz\[33:30\]") for bit in range(30, 34)],
        (PE | 1 << 33, r"mbz\[33:33\]"),
        *[(UAL | 1 << bit, r"mbz\[41:40\]") for bit in (40, 41)],
        *[(die << 42, f"die_id {die} is reserved") for die in range(21, 32)],
        *[(kind << 34, f"resource_kind {kind} is reserved") for kind in range(3, 8)],
        *[(unit << 25, f"pe_sub_unit {unit} is reserved") for unit in range(7, 16)],
        *[(1 << 34 | unit << 25, f"mcpu_sub_unit {unit} is reserved") for unit in range(6, 32)],
        *[(16 << 42 | unit << 27, f"iocpu_sub_unit {unit} is reserved") for unit in range(6, 16)],
        (PE | 2 * MIB, "sub_offset 0x200000 is past the 0x200000 bytes of PE_LOCAL PE_TCM"),
        (ADDRESS_SPACE, "does not fit 51 bits"),
        (-1, "does not fit 51 bits"),
    ]
    for bits, field in invalid:
        with pytest.raises(AddressError, match=field):
            PhysAddr.decode(bits)


@pytest.mark.parametrize("kind", BUDGETS)
def test_each_unit_ends_at_its_budget(kind: Kind) -> None:
    for unit in UNITS[kind]:
        budget = BUDGETS[kind][unit]
        first = PhysAddr(
            0, 16 if kind is Kind.IOCPU else 0, kind, 0, 0 if kind is Kind.PE_LOCAL else None, unit
        )
        last = PhysAddr.decode(first.encode() + budget - 1)
        assert (last.unit, last.offset) == (unit, budget - 1)
        with pytest.raises(AddressError, match="sub_offset"):
            PhysAddr.decode(first.encode() + budget)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: PhysAddr(16, 0, Kind.HBM, 0), "sip_id 16"),
        (lambda: PhysAddr(-1, 0, Kind.HBM, 0), "sip_id -1"),
        (lambda: PhysAddr(0, 16, Kind.HBM, 0), "die_id 16"),
        (lambda: PhysAddr(0, 0, Kind.HBM, 1 << 37), "hbm_offset"),
        (lambda: PhysAddr(0, 0, Kind.HBM, -1), "hbm_offset -0x1"),
        (lambda: PhysAddr(0, 0, Kind.CUBE_SRAM, 32 * MIB), "sram_offset"),
        (lambda: PhysAddr(0, 0, Kind.PE_LOCAL, 0, 16, PeUnit.IPCQ), "pe_id 16"),
        (lambda: PhysAddr(0, 0, Kind.PE_LOCAL, 256 * KIB, 0, PeUnit.IPCQ), "sub_offset"),
        (lambda: PhysAddr(0, 15, Kind.IOCPU, 0, unit=IocpuUnit.IPCQ), "die_id 15"),
        (lambda: PhysAddr(0, 21, Kind.UAL, 2 * GIB), "die_id 21"),
        (lambda: PhysAddr(0, 16, Kind.UAL, 2 * GIB - 1), "chiplet_offset"),
        (lambda: PhysAddr(0, 16, Kind.UAL, 1 << 40), "chiplet_offset"),
        (lambda: PhysAddr(0, 0, Kind.HBM, 0, pe_id=0), "pe_id"),
        (lambda: PhysAddr(0, 0, Kind.PE_LOCAL, 0, unit=PeUnit.IPCQ), "pe_id"),
        (lambda: PhysAddr(0, 0, Kind.PE_LOCAL, 0, pe_id=0), "sub-unit"),
        (lambda: PhysAddr(0, 0, Kind.PE_LOCAL, 0, pe_id=0, unit=McpuUnit.IPCQ), "sub-unit"),
        (lambda: PhysAddr(0, 0, Kind.CUBE_SRAM, 0, unit=McpuUnit.IPCQ), "sub-unit"),
    ],
)
def test_an_invalid_address_cannot_be_made(make: object, field: str) -> None:
    with pytest.raises(AddressError, match=field):
        make()  # type: ignore[operator]
