"""The base of IO_CPU and M_CPU: forward a command to all below, collect their answers, answer once."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kernbench.engine.components.base import Component
from kernbench.engine.components.system import System
from kernbench.engine.core.transaction import Packet
from kernbench.engine.program.launches import Launch
from kernbench.engine.program.messages import LaunchDone, LaunchMessage, SetupMessage
from kernbench.hardware.routing import Traffic
from kernbench.support.pgraph import Node


class FanOut(Component, ABC):
    """A command processor in the tree host - IO CPU - M CPU - PE. Launch messages carry 0 bytes."""

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        FanOut.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Component.reset(self)
        self._open: dict[int, int] = {}
        self._launches: dict[int, tuple[Launch, str]] = {}

    @abstractmethod
    def below(self, message: LaunchMessage) -> list[tuple[str, LaunchMessage]]:
        """The components that get a share of a launch, with their shares."""

    @abstractmethod
    def split(self, message: SetupMessage) -> list[tuple[str, SetupMessage]]:
        """The components that get a share of a setup message, with their shares."""

    def before_launch(self, message: LaunchMessage) -> None:
        """Called before a launch is passed on."""

    def receive(self, packet: Packet) -> None:
        """Receive a launch or setup from above, or an answer from below."""
        transaction = packet.transaction
        self.system.end(transaction)
        message = transaction.message
        if isinstance(message, LaunchMessage):
            launch = message.launch
            self.before_launch(message)
            below = self.below(message)
            self._open[launch.id] = len(below)
            self._launches[launch.id] = (launch, transaction.src)
            for name, part in below:
                self.post("launch", name, Traffic.COMMAND, part, parent=transaction.id)
        elif isinstance(message, LaunchDone):
            launch = message.launch
            self._open[launch.id] -= 1
            if self._open[launch.id] == 0:
                del self._open[launch.id]
                _, above = self._launches.pop(launch.id)
                self.post("launch_done", above, Traffic.COMMAND, message, parent=transaction.id)
        elif isinstance(message, SetupMessage):
            for name, share in self.split(message):
                self.post(
                    share.kind, name, Traffic.COMMAND, share, nbytes=share.nbytes, parent=transaction.id
                )

    def waiting(self) -> list[str]:
        """Launches whose answers are not complete."""
        return [
            f"{self.resource} waits for {missing} answer{'' if missing == 1 else 's'} "
            f"to {self._launches[i][0].correlation_id}"
            for i, missing in self._open.items()
        ]
