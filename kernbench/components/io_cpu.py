"""The IO chiplet's command processor: fans out to the cubes of its SIP and stamps the common start."""

from __future__ import annotations

from dataclasses import replace

from kernbench.components.fan_out import FanOut
from kernbench.components.launch import Launch
from kernbench.components.messages import MapMessage
from kernbench.routing import Traffic
from kernbench.topology import names


class IoCpu(FanOut):
    """Commands for one SIP (ADR-0036)."""

    def before_launch(self, launch: Launch) -> None:
        """Stamp the start: now plus the longest two-leg way to a PE of this SIP (ADR-0009 D5).

        A leg is the latency of a 0-byte message with both ends' overheads; the IO CPU's own is paid by
        now and the M CPU's would be counted twice.
        """
        machine = self.machine
        sip = self.place[0]
        longest = 0.0
        for cube in launch.cubes(sip):
            m_cpu = machine.component(names.m_cpu(sip, cube))
            first = machine.path(self.resource, m_cpu.resource, Traffic.COMMAND).latency_ns()
            for pe in launch.pes(sip, cube):
                second = machine.path(m_cpu.resource, names.pe_part(sip, cube, pe, "pe_cpu"), Traffic.COMMAND)
                longest = max(longest, first + second.latency_ns() - self.overhead_ns - m_cpu.overhead_ns)
        launch.start_ns = max(launch.start_ns, self.clock.now + longest)

    def below(self, launch: Launch) -> list[str]:
        """The M CPUs of the cubes of this SIP that take part."""
        sip = self.place[0]
        return [names.m_cpu(sip, cube) for cube in launch.cubes(sip)]

    def split(self, message: MapMessage) -> list[tuple[str, MapMessage]]:
        """One share a cube."""
        sip = self.place[0]
        cubes = sorted({cube for cube, _ in message.pes})
        return [
            (names.m_cpu(sip, cube), replace(message, pes=tuple(p for p in message.pes if p[0] == cube)))
            for cube in cubes
        ]
