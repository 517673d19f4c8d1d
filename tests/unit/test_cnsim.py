"""Meshes of chiplets beside CNSim: the machine, its closed form, and who sends to whom."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.validation import cnsim
from kernbench.validation.table_file import Case, cases, read

CASE: Case = {
    "k_chip": 2, "k_node": 2, "d2d": "serial", "vcs": 2, "buffer": 20, "packet": 5, "stages": 3,
    "traffic": "uniform", "rate": 0.01,
}  # fmt: skip


def test_only_links_between_chiplets_are_slower() -> None:
    links = {
        (edge.source, edge.target): edge.properties
        for edge in cnsim.machine(2, 2, "serial", 1, 16, 3).edges("LINK")
    }
    within, between = (links[f"tile{x}_0.r", f"tile{x + 1}_0.r"] for x in (0, 1))
    assert (within["bw_gbs"], between["bw_gbs"]) == (32.0, 64.0)
    assert between["delay_ns"] - within["delay_ns"] == 3.5
    assert links["tile3_0.r", "tile2_0.r"] == links["tile0_0.r", "tile1_0.r"] | {"axis": 0}


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_packet_alone_takes_the_stages_and_links_of_its_way(stages: int) -> None:
    assert cnsim.zero_load({**CASE, "d2d": "parallel", "stages": stages}) < 1e-3


def test_a_router_sends_where_the_halves_of_its_number_are_exchanged() -> None:
    """Numbers count routers chiplet by chiplet; those that send to themselves do not send."""
    partners = cnsim._transposed(2, 4)
    assert sorted(partners) == list(range(64))
    assert list(partners[partners]) == list(range(64))
    assert int(np.sum(partners == np.arange(64))) == 8
    assert partners[1] == 16  # 0b000001 to 0b001000: the first of the third row of the first chiplet


def test_latency_grows_with_load_from_that_without() -> None:
    """On average 2.67 links, 1.07 of them between chiplets."""
    low, high = (cnsim.latency({**CASE, "rate": rate}) for rate in (0.01, 0.3))
    assert 5 + 8 / 3 * 4 + 16 / 15 * 3 - 1.5 < low < high


def test_every_row_given_is_there_and_most_are_judged() -> None:
    groups = [group for group in read("cnsim").groups if group.measure == "latency"]
    counts = {
        kind: sum(len(list(cases(g))) for g in groups if g.limit.kind == kind)
        for kind in ("relative", "of_set")
    }
    assert counts == {"relative": 31, "of_set": 14}
