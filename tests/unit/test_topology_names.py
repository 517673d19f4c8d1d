from __future__ import annotations

import pytest

from kernbench.errors import UsageError
from kernbench.hardware.topology import compile_topology, load
from tests import names
from tests.names import Name


@pytest.mark.parametrize(
    ("built", "text", "parsed"),
    [
        (names.TRAY, "tray", Name("tray")),
        (names.HOST_CPU, "host.cpu", Name("host_cpu")),
        (names.SWITCH, "fabric.switch0", Name("switch")),
        (names.sip(3), "sip3", Name("sip", 3)),
        (names.cube(3, 15), "sip3.cube15", Name("cube", 3, 15)),
        (names.pe(0, 1, 2), "sip0.cube1.pe2", Name("pe", 0, 1, 2)),
        (names.pe_part(0, 1, 2, "pe_dma"), "sip0.cube1.pe2.pe_dma", Name("pe_dma", 0, 1, 2)),
        (names.router(0, 1, 2, 13), "sip0.cube1.r2c13", Name("router", 0, 1, row=2, col=13)),
        (names.hbm(0, 1, 7), "sip0.cube1.hbm_ctrl.pe7", Name("hbm_ctrl", 0, 1, 7)),
        (names.m_cpu(0, 1), "sip0.cube1.m_cpu", Name("m_cpu", 0, 1)),
        (names.sram(0, 1), "sip0.cube1.sram", Name("sram", 0, 1)),
        (names.ucie_port(0, 1, "E"), "sip0.cube1.ucie-E", Name("ucie_port", 0, 1, side="E")),
        (
            names.ucie_conn(0, 1, "E", 3),
            "sip0.cube1.ucie-E.conn3",
            Name("ucie_conn", 0, 1, side="E", index=3),
        ),
        (names.pcie_ep(1, "io0"), "sip1.io0.pcie_ep", Name("pcie_ep", 1, io="io0")),
        (names.io_cpu(1, "io0"), "sip1.io0.io_cpu", Name("io_cpu", 1, io="io0")),
        (names.io_noc(1, "io0"), "sip1.io0.io_noc", Name("io_noc", 1, io="io0")),
        (names.io_ucie(1, "io0", "P2"), "sip1.io0.io_ucie-P2", Name("io_ucie", 1, io="io0", phy="P2")),
        (
            names.io_ucie_conn(1, "io0", "P2", 3),
            "sip1.io0.io_ucie-P2.conn3",
            Name("io_ucie_conn", 1, io="io0", phy="P2", index=3),
        ),
    ],
)
def test_a_name_is_built_and_parsed(built: str, text: str, parsed: Name) -> None:
    assert built == text
    assert names.parse(built) == parsed


@pytest.mark.parametrize(
    "text", ["", "sip", "sip0.cube0.pe0.pe_x", "sip0.cube0.", "r0c0", "sip0.cube0.ucie-X", "host"]
)
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a component's name"):
        names.parse(text)


def test_every_compiled_component_parses_to_its_own_place() -> None:
    for node in compile_topology(load()).nodes():
        name, p = names.parse(node.id), node.properties
        own_pe = p["slice"] if name.kind in ("hbm_ctrl", "pseudo_channel") else p["pe"]
        assert (name.kind, name.sip, name.cube, name.pe) == (p["kind"], p["sip"], p["cube"], own_pe)
        assert (name.row, name.col) == (p.get("row", -1), p.get("col", -1))
        assert name.index == p.get("channel", name.index)
