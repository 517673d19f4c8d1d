"""Compiles the tray: host CPU, switch, and the packages that hang on it."""

from __future__ import annotations

from kernbench.topology import names
from kernbench.topology.build_sip import add_sip
from kernbench.topology.builder import Builder


def add_tray(build: Builder) -> None:
    """Add the tray with everything in it."""
    system = build.spec.system
    tray = build.add_group("tray", names.TRAY, None)
    host = build.add("host_cpu", names.HOST_CPU, tray, system.host)
    switch = build.add("switch", names.SWITCH, tray, system.switch)
    build.link(host, switch, "pcie", system.host.link_gbs, system.host.wire_mm)
    for sip in range(system.sips):
        for endpoint in add_sip(build, sip):
            build.link(switch, endpoint, "pcie", system.switch.link_gbs, system.switch.wire_mm)
