"""A size in bytes means the same in a topology, a list of flows, a parameter and an option."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.hardware.topology import load
from kernbench.support.sizes import read_size
from kernbench.workloads.benches.params import Param
from kernbench.workloads.probes.traffic_flow import make_flow

UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@given(st.integers(0, 10**6), st.sampled_from(sorted(UNITS)), st.sampled_from(["", " ", "  "]))
def test_a_size_is_a_number_and_a_binary_unit(number: int, unit: str, between: str) -> None:
    assert read_size(f"{number}{between}{unit}") == number * UNITS[unit]


@pytest.mark.parametrize("text", ["", "KiB", "4 kB", "4k", "-1", "1.5 MiB", "4 KiB 2", "1e3", "9" * 19])
def test_any_other_text_is_not_a_size(text: str) -> None:
    assert read_size(text) is None


@pytest.mark.parametrize("text", ["4096", "4KiB", "4 KiB"])
def test_a_size_is_read_alike_everywhere(text: str) -> None:
    ends = {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.sram"}
    assert make_flow({**ends, "bytes": text}, str).bytes == 4096
    assert Param("slot_bytes", int, 0, "bytes of a slot").accept(text) == 4096
    assert load("minimal", {"pe.pe_ipcq.slot_bytes": text}).pe.pe_ipcq.slot_bytes == 4096


def test_a_parameter_that_is_not_of_bytes_takes_no_unit() -> None:
    with pytest.raises(ValueError, match="'4KiB' is not a whole number"):
        Param("rows", int, 1, "rows").accept("4KiB")
