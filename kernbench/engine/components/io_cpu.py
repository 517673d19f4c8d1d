"""The IO chiplet's command processor: fans out to the cubes of its SIP and stamps the common start."""

from __future__ import annotations

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
        for cube in message.cubes:
            m_cpu = found.part("m_cpu", sip, cube)
            pe_cpus = [found.part("pe_cpu", sip, cube, pe) for pe in launch.pes(sip, cube)]
            second = [path(m_cpu, pe_cpu, Traffic.COMMAND) for pe_cpu in pe_cpus]
            legs.append((path(self.resource, m_cpu, Traffic.COMMAND), second))
        launch.stamp(last_arrival(self.clock.now, legs))

    def below(self, message: LaunchMessage) -> list[tuple[str, LaunchMessage]]:
        """The M CPUs of the cubes that take part."""
        sip, found = self.location[0], places(self.system.graph)
        launch = message.launch
        return [(found.part("m_cpu", sip, cube), LaunchMessage(launch, (cube,))) for cube in message.cubes]

    def split(self, message: SetupMessage) -> list[tuple[str, SetupMessage]]:
        """One share for each cube."""
        sip, found = self.location[0], places(self.system.graph)
        shares: dict[int, list[tuple[int, int]]] = {}
        for pe in message.pes:
            shares.setdefault(pe[0], []).append(pe)
        return [(found.part("m_cpu", sip, cube), message.share(shares[cube])) for cube in sorted(shares)]
