"""A range is checked and translated once, until its addresses lead elsewhere."""

from __future__ import annotations

import pytest

from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.machine.machine import Machine
from kernbench.errors import AddressError
from tests.compiled import compiled

VA, NBYTES = 1 << 52, 4096


def test_requests_are_those_of_the_mapping_that_holds_now() -> None:
    machine = Machine(compiled("minimal"))
    dma = machine.components["sip0.cube0.pe0.pe_dma"]
    assert isinstance(dma, PeDma)
    places = [machine.addresses.hbm(0, 0, 0, offset) for offset in (0, 1 << 20)]
    for place in places:
        machine.wait(machine.map(0, [(0, 0)], [(VA, place, NBYTES)]))
        found = dma.dma.requests_for(VA, NBYTES)
        assert [(request.pa, request.nbytes) for request in found] == [(place, NBYTES)]
        assert dma.dma.requests_for(VA, NBYTES) is found
        machine.wait(machine.map(0, [(0, 0)], [(VA, place, NBYTES)], install=False))
        with pytest.raises(AddressError, match="neither in a tensor nor physical"):
            dma.dma.requests_for(VA, NBYTES)


def test_a_kept_machine_keeps_no_requests() -> None:
    machine = Machine(compiled("minimal"))
    dma = machine.components["sip0.cube0.pe0.pe_dma"]
    assert isinstance(dma, PeDma)
    before = dma.dma.requests_for(machine.addresses.hbm(0, 0, 0, 0), NBYTES)
    machine.reset()
    assert dma.dma.requests_for(machine.addresses.hbm(0, 0, 0, 0), NBYTES) is not before
