"""Every field of every kind survives encode and decode; every number of the width decodes or says why not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.errors import AddressError
from kernbench.hardware.address import ADDRESS_BITS, ADDRESS_SPACE, Kind, PhysAddr, address_bits
from kernbench.hardware.address.layout import BUDGETS, LAYOUTS, UNITS

sips, cubes, io_dies, pes = st.integers(0, 15), st.integers(0, 15), st.integers(16, 20), st.integers(0, 15)


@st.composite
def addresses(draw: st.DrawFn) -> PhysAddr:
    """A valid address of any kind, with edges of the offsets likely."""
    kind = draw(st.sampled_from(Kind))
    sip = draw(sips)
    die = draw(io_dies if kind in (Kind.IOCPU, Kind.UAL) else cubes)
    if kind is Kind.UAL:
        return PhysAddr(sip, die, Kind.UAL, draw(st.integers(2 << 30, (1 << 40) - 1)))
    if kind in BUDGETS:
        unit = draw(st.sampled_from(UNITS[kind]))
        offset = draw(st.integers(0, BUDGETS[kind][unit] - 1))
        pe = draw(pes) if kind is Kind.PE_LOCAL else None
        return PhysAddr(sip, die, kind, offset, pe, unit)
    return PhysAddr(sip, die, kind, draw(st.integers(0, LAYOUTS[kind][-1].limit - 1)))


@settings(deadline=None, max_examples=500)
@given(addresses())
def test_round_trip_of_every_field(addr: PhysAddr) -> None:
    bits = addr.encode()
    assert 0 <= bits < ADDRESS_SPACE
    assert PhysAddr.decode(bits) == addr


@given(addresses(), st.integers(17, 256), st.data())
def test_beyond_16_packages_sip_id_alone_grows(addr: PhysAddr, packages: int, data: st.DataObject) -> None:
    bits = address_bits(packages)
    assert 1 << (bits - 47) >= packages > 1 << (bits - 48)
    sip = data.draw(st.integers(0, packages - 1))
    wide = replace(addr, sip_id=sip, bits=bits)
    assert wide.encode() == replace(addr, sip_id=0).encode() + (sip << 47)
    assert PhysAddr.decode(wide.encode(), bits) == wide
    with pytest.raises(AddressError, match=f"does not fit {bits} bits"):
        PhysAddr.decode(wide.encode() + (1 << bits), bits)
    with pytest.raises(AddressError, match=f"sip_id {1 << (bits - 47)} does not fit its bits"):
        replace(wide, sip_id=1 << (bits - 47))


def test_up_to_16_packages_an_address_has_the_bits_of_the_record() -> None:
    assert {address_bits(packages) for packages in range(1, 17)} == {ADDRESS_BITS}


@settings(deadline=None, max_examples=300)
@given(addresses(), addresses())
def test_different_addresses_have_different_bits(one: PhysAddr, other: PhysAddr) -> None:
    assert (one == other) == (one.encode() == other.encode())


@settings(deadline=None, max_examples=500)
@given(
    st.builds(lambda addr, bit: addr.encode() ^ (1 << bit), addresses(), st.integers(0, 50))
    | st.integers(0, ADDRESS_SPACE - 1)
)
def test_what_decodes_encodes_to_the_same_bits(bits: int) -> None:
    try:
        addr = PhysAddr.decode(bits)
    except AddressError as error:
        message = str(error)
    else:
        assert addr.encode() == bits
        return
    assert f"{bits:#x}" in message
    assert "\n" not in message
