"""What IO CPU and M CPU share: pass a command on to everyone below, gather the answers, answer once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from kernbench.components.base import Component
from kernbench.components.launch import Launch
from kernbench.components.messages import LaunchDone, LaunchMessage, MapMessage
from kernbench.pgraph import Node
from kernbench.routing import Traffic
from kernbench.sim.transaction import Packet

if TYPE_CHECKING:
    from kernbench.components.board import Board


class FanOut(Component, ABC):
    """A command processor in the tree host - IO CPU - M CPU - PE. Launch messages carry 0 bytes."""

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self._open: dict[int, int] = {}
        self._launches: dict[int, tuple[Launch, str]] = {}

    @abstractmethod
    def below(self, launch: Launch) -> list[str]:
        """Components that this one passes ``launch`` on to."""

    @abstractmethod
    def split(self, message: MapMessage) -> list[tuple[str, MapMessage]]:
        """Components that get a share of a map message, and their shares."""

    def before_launch(self, launch: Launch) -> None:
        """Called before a launch is passed on."""

    def receive(self, packet: Packet) -> None:
        """A launch or map from above, or an answer from below."""
        transaction = packet.transaction
        self.machine.end(transaction)
        message = transaction.message
        if isinstance(message, LaunchMessage):
            launch = message.launch
            self.before_launch(launch)
            names = self.below(launch)
            self._open[launch.id] = len(names)
            self._launches[launch.id] = (launch, transaction.src)
            for name in names:
                self.post("launch", name, Traffic.COMMAND, message, parent=transaction.id)
        elif isinstance(message, LaunchDone):
            launch = message.launch
            self._open[launch.id] -= 1
            if self._open[launch.id] == 0:
                del self._open[launch.id]
                _, above = self._launches.pop(launch.id)
                self.post("launch_done", above, Traffic.COMMAND, message, parent=transaction.id)
        elif isinstance(message, MapMessage):
            for name, share in self.split(message):
                self.post(
                    share.kind, name, Traffic.COMMAND, share, nbytes=share.nbytes, parent=transaction.id
                )

    def waiting(self) -> list[str]:
        """Launches with answers missing."""
        return [
            f"{self.resource} waits for {missing} answers to {self._launches[i][0].correlation_id}"
            for i, missing in self._open.items()
        ]
