"""A cube's command processor: fans out to its PEs and gathers their answers (ADR-0035)."""

from __future__ import annotations

from dataclasses import replace

from kernbench.components.fan_out import FanOut
from kernbench.components.launch import Launch
from kernbench.components.messages import MapMessage
from kernbench.topology import names


class MCpu(FanOut):
    """Commands for one cube."""

    def below(self, launch: Launch) -> list[str]:
        """The PE CPUs of this cube that take part."""
        sip, cube, _ = self.place
        return [names.pe_part(sip, cube, pe, "pe_cpu") for pe in launch.pes(sip, cube)]

    def split(self, message: MapMessage) -> list[tuple[str, MapMessage]]:
        """One share a PE: its MMU."""
        sip, cube, _ = self.place
        return [
            (names.pe_part(sip, cube, pe, "pe_mmu"), replace(message, pes=((cube, pe),)))
            for _, pe in message.pes
        ]
