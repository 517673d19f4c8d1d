"""Who carries commands out: the parts of a PE, or the interpreter, as commands see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from kernbench.engine.program.operations import Op

if TYPE_CHECKING:
    from kernbench.engine.program.commands import Ahead, Completion, Composite
    from kernbench.engine.program.computing import Command, Compute
    from kernbench.engine.program.queues import Receive, Send

Runs = Sequence[tuple[int, int]]
Done = Callable[[], None]


class Pe(Protocol):
    """PE_CPU. Each method tells whether the kernel may go on at once."""

    def block(self, command: Command, op: Op) -> bool:
        """Hand ``command`` to the scheduler; the kernel goes on when it is over."""

    def define(self, op: Op) -> bool:
        """``op`` takes no time."""

    def work(self, cycles: float) -> bool:
        """The kernel itself computes for so many cycles."""

    def queue(self, command: Ahead) -> bool:
        """Carry ``command`` out when its operands are there; the kernel goes on meanwhile."""

    def start(self, command: Composite) -> bool:
        """Hand ``command`` to the scheduler; the kernel goes on meanwhile."""

    def wait(self, completions: Sequence[Completion]) -> bool:
        """The kernel goes on when all are done."""

    def send(self, command: Send) -> bool:
        """Hand ``command`` to the queues."""

    def receive_message(self, command: Receive) -> bool:
        """Hand ``command`` to the queues."""


class Scheduler(Protocol):
    """PE_SCHEDULER."""

    def compute(self, command: Compute, done: Done) -> None:
        """Work on operands in TCM."""

    def transfer(self, op: Op, kind: str, runs: Runs, done: Done) -> None:
        """Move bytes between TCM and memory."""

    def feed(self, command: Composite) -> None:
        """Work tile by tile."""

    def check_runs(self, runs: Runs) -> None:
        """Refuse a transfer that cannot be carried out."""

    def check_precision(self, precision: str) -> None:
        """Refuse a precision that the matrix engine does not have."""

    def check_tiles(self, command: Composite) -> None:
        """Refuse a composite that cannot be carried out."""


class Queues(Protocol):
    """PE_IPCQ."""

    def check_peers(self, directions: tuple[str, ...]) -> None:
        """Refuse directions whose peers cannot be reached, all by one message where there are several."""

    def check_memory(self, argument: str, address: int | None, nbytes: int, space: str | None) -> None:
        """Refuse an address that leads to no memory, or to another one than ``argument`` says."""


class Interpreter(Protocol):
    """A program that runs without a machine."""

    tile: tuple[int, int, int]

    def execute(self, op: Op, runs: Runs) -> None:
        """Compute ``op`` now."""

    def send(self, command: Send) -> bool:
        """Put the message into the peer's ring; whether the kernel may go on."""

    def receive(self, command: Receive) -> bool:
        """Receive a message; whether the kernel may go on."""

    def receive_open(self) -> None:
        """Let open receives take what has arrived."""
