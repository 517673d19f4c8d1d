"""The IO chiplet's command processor: fans out to the cubes of its SIP and stamps the common start."""

from __future__ import annotations

from dataclasses import replace

from kernbench.engine.components.fan_out import FanOut
from kernbench.engine.components.launch_stamp import last_arrival
from kernbench.engine.program.messages import LaunchMessage, SetupMessage
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.places import places


class IoCpu(FanOut):
    """Commands for one SIP."""

    def before_launch(self, message: LaunchMessage) -> None:
        """Set the common start: when the last of its PEs has its launch, on an otherwise idle machine."""
        path, sip, launch = self.system.path, self.location[0], message.launch
        legs, found = [], places(self.system.graph)
        for cube, (m_cpu, _) in zip(message.cubes, self.below(message), strict=True):
            pe_cpus = [found.part("pe_cpu", sip, cube, pe) for pe in launch.pes(sip, cube)]
            second = [path(m_cpu, pe_cpu, Traffic.COMMAND) for pe_cpu in pe_cpus]
            legs.append((path(self.resource, m_cpu, Traffic.COMMAND), second))
        launch.stamp(last_arrival(self.clock.now, legs))

    def below(self, message: LaunchMessage) -> list[tuple[str, LaunchMessage]]:
        """The M CPUs of the cubes that take part."""
        sip, found = self.location[0], places(self.system.graph)
        return [(found.part("m_cpu", sip, cube), replace(message, cubes=(cube,))) for cube in message.cubes]

    def split(self, message: SetupMessage) -> list[tuple[str, SetupMessage]]:
        """One share for each cube."""
        sip, found = self.location[0], places(self.system.graph)
        cubes = sorted({cube for cube, _ in message.pes})
        return [
            (found.part("m_cpu", sip, cube), message.share([pe for pe in message.pes if pe[0] == cube]))
            for cube in cubes
        ]
