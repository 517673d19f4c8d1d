"""A physical address as a value: fields in, 51 bits out (more beyond 16 packages), and back.

Decoding is positional and needs no topology. :class:`kernbench.hardware.address.AddressMap`
knows which part of the space a topology implements.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import SupportsIndex

from kernbench.errors import AddressError
from kernbench.hardware.address.layout import (
    ADDR_SPACE,
    ADDRESS_BITS,
    AHBM_DIES,
    BUDGETS,
    CHIPLET_OFFSET,
    DIE_ID,
    IO_DIES,
    LAYOUTS,
    RESOURCE_KIND,
    RESOURCE_KINDS,
    SIP_ID,
    UAL_BASE,
    UNITS,
    Bits,
    Kind,
    Unit,
)


@dataclass(frozen=True, slots=True)
class PhysAddr:
    """A valid physical address, immutable and compared by value.

    ``offset`` is bytes within what ``kind`` (and ``unit``) name; for UAL it is ``chiplet_offset``, so it
    starts at 2 GiB. ``pe_id`` is set for ``PE_LOCAL`` alone, ``unit`` for the kinds that have sub-units.
    An instance that breaks a rule of the layout cannot be made: :class:`AddressError` names the field.
    ``bits`` is the width of the machine's addresses, :func:`kernbench.hardware.address.layout.address_bits`.
    """

    sip_id: int
    die_id: int
    kind: Kind
    offset: int
    pe_id: int | None = None
    unit: Unit | None = None
    bits: int = ADDRESS_BITS

    def __post_init__(self) -> None:
        dies = IO_DIES if self.kind in (Kind.IOCPU, Kind.UAL) else AHBM_DIES
        if self.die_id not in dies:
            raise AddressError(
                f"die_id {self.die_id} is not a {self.kind.name} die; use {dies.start}..{dies.stop - 1}"
            )
        if (self.kind is Kind.PE_LOCAL) != (self.pe_id is not None):
            raise AddressError(f"pe_id is {self.pe_id} in a {self.kind.name} address; PE_LOCAL alone has one")
        units = UNITS.get(self.kind)
        if (units is None) != (self.unit is None) or (units and not isinstance(self.unit, units)):
            wanted = units.__name__ if units else "None"
            raise AddressError(f"sub-unit of a {self.kind.name} address is {self.unit!r}; use {wanted}")
        for field, attribute in _GIVEN[self.kind]:
            if not 0 <= (value := getattr(self, attribute)) < _limit(field, self.bits):
                raise _too_large(field, value, _limit(field, self.bits))
        if self.kind is Kind.UAL and self.offset < UAL_BASE:
            raise AddressError(f"chiplet_offset {self.offset:#x} is below the UAL region at {UAL_BASE:#x}")
        if self.unit is not None and self.offset >= (budget := BUDGETS[self.kind][self.unit]):
            raise AddressError(
                f"sub_offset {self.offset:#x} is past the {budget:#x} bytes of "
                f"{self.kind.name} {self.unit.name}"
            )

    def encode(self) -> int:
        """The address as an integer of :attr:`bits` bits."""
        address = _FIXED[self.kind]
        for field, attribute in _GIVEN[self.kind]:
            address |= getattr(self, attribute) << field.low
        return address

    def __int__(self) -> int:
        return self.encode()

    @classmethod
    def decode(cls, addr: SupportsIndex, bits: int = ADDRESS_BITS) -> PhysAddr:
        """The fields of ``addr``; :class:`AddressError` names the field that breaks a rule."""
        number = operator.index(addr)
        if not 0 <= number < 1 << bits:
            raise AddressError(f"physical address {number:#x} does not fit {bits} bits")
        try:
            return cls._decode(number, bits)
        except AddressError as error:
            raise AddressError(f"physical address {number:#x}: {error}") from None

    @classmethod
    def _decode(cls, addr: int, bits: int) -> PhysAddr:
        kind = _kind(addr)
        fields = {}
        for field in LAYOUTS[kind]:
            fields[field.name] = value = field.get(addr)
            if field.name == "mbz" and value:
                raise AddressError(f"{field} must be zero, is {value:#x}")
        unit: Unit | None = None
        if kind in UNITS:
            name = next(n for n in fields if n.endswith("sub_unit"))
            try:
                unit = UNITS[kind](fields[name])
            except ValueError:
                raise AddressError(f"{name} {fields[name]} is reserved") from None
        offset = LAYOUTS[kind][-1].get(addr)
        sip = addr >> SIP_ID.low  # the topmost field, whatever its width
        return cls(sip, fields["die_id"], kind, offset, fields.get("pe_id"), unit, bits)


_ATTRIBUTES = {
    "sip_id": "sip_id",
    "die_id": "die_id",
    "pe_id": "pe_id",
    **dict.fromkeys(("pe_sub_unit", "mcpu_sub_unit", "iocpu_sub_unit"), "unit"),
    **dict.fromkeys(("hbm_offset", "sub_offset", "sram_offset", "chiplet_offset"), "offset"),
}
"""Field of the layouts: the attribute that it holds. All other fields follow from the kind."""
_GIVEN = {
    kind: [(field, _ATTRIBUTES[field.name]) for field in fields if field.name in _ATTRIBUTES]
    for kind, fields in LAYOUTS.items()
}
_FIXED = dict.fromkeys(LAYOUTS, 0) | {
    Kind.HBM: 1 << ADDR_SPACE.low,
    **{kind: value << RESOURCE_KIND.low for value, kind in enumerate(RESOURCE_KINDS)},
}
"""The bits of the fields that follow from the kind."""


def _limit(field: Bits, bits: int) -> int:
    """One past the largest value of ``field`` in an address of ``bits`` bits."""
    return 1 << (bits - SIP_ID.low) if field is SIP_ID else field.limit


def _too_large(field: Bits, value: int, limit: int) -> AddressError:
    base = "d" if limit <= 256 else "#x"  # counts are decimal, offsets are hexadecimal
    most = limit - 1
    return AddressError(f"{field.name} {value:{base}} does not fit its bits; use 0..{most:{base}}")


def _kind(addr: int) -> Kind:
    die = DIE_ID.get(addr)
    if die in IO_DIES:
        return Kind.IOCPU if CHIPLET_OFFSET.get(addr) < UAL_BASE else Kind.UAL
    if die not in AHBM_DIES:
        raise AddressError(f"die_id {die} is reserved")
    if ADDR_SPACE.get(addr):
        return Kind.HBM
    resource = RESOURCE_KIND.get(addr)
    if resource >= len(RESOURCE_KINDS):
        raise AddressError(f"resource_kind {resource} is reserved")
    return RESOURCE_KINDS[resource]
