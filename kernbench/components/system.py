"""The interface of the machine that components use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kernbench.address import AddressMap
from kernbench.pgraph import PropertyGraph
from kernbench.program.launches import Launch, Target
from kernbench.program.operations import Op
from kernbench.routing import Traffic
from kernbench.sim.clock import Clock
from kernbench.sim.fabric import Fabric
from kernbench.sim.node import Link
from kernbench.sim.server import Server
from kernbench.sim.transaction import Path, Transaction

if TYPE_CHECKING:
    from kernbench.components.base import Component
    from kernbench.sim.rows import StageRows, TransactionRows


class System(Protocol):
    """The machine as its components see it: other components, links, routes, transactions, instruments.

    :class:`~kernbench.machine.machine.Machine` implements it. All times are in ns, all sizes in bytes.
    """

    @property
    def clock(self) -> Clock:
        """Simulated time."""

    @property
    def fabric(self) -> Fabric:
        """Carries packets over links."""

    traced: bool
    """Whether transactions keep their hops."""
    in_flight: dict[int, Any]
    """See :class:`~kernbench.sim.ledger.Ledger`, as of the next four."""
    access_rows: TransactionRows | None
    stage_rows: StageRows | None
    accesses_seen: bool
    stages_seen: bool

    @property
    def flit_bytes(self) -> int:
        """Bytes of a flit."""

    @property
    def graph(self) -> PropertyGraph:
        """The compiled topology."""

    @property
    def addresses(self) -> AddressMap:
        """Which memory holds which physical address."""

    @property
    def components(self) -> Mapping[str, Component]:
        """All components by name."""

    def component(self, name: str) -> Component:
        """The component called ``name``. Raises ``KeyError`` when there is none."""

    def link(self, source: str, target: str) -> Link:
        """The direct link between two components.

        Raises:
            RoutingError: there is no such link.
        """

    def path(self, source: str, target: str, traffic: Traffic, via: str = "") -> Path:
        """The compiled route between two components, with its reverse.

        Args:
            source: name of the component that sends.
            target: name of the component that receives.
            traffic: kind of traffic, which restricts the links that may be used.
            via: name of the channel router by which the route enters an HBM slice that has them.

        Returns:
            The same object for the same arguments.

        Raises:
            RoutingError: this traffic has no route; the message names both ends.
        """

    def begin(
        self,
        kind: str,
        path: Path,
        nbytes: int,
        t_submit: float,
        *,
        parent: int = -1,
        op: int = -1,
        address: int = 0,
        channel: int = -1,
        is_write: bool = False,
        message: object = None,
        ids: tuple[str, str] = ("", ""),
    ) -> Transaction:
        """A new transaction over ``path``, in flight until :meth:`end`.

        Args:
            kind: such as ``dma_read``; kept in the trace.
            path: its route; the first node sends, the last one receives.
            nbytes: payload of the request or of its answer.
            t_submit: when it was asked for, ns.
            parent: id of the transaction that caused it, -1 for none.
            op: id of the operation that it serves, -1 for none.
            address: byte offset within the destination memory.
            channel: pseudo-channel that holds all of its bytes, -1 where address bits tell.
            is_write: the payload travels out rather than back.
            message: the payload of a control message.
            ids: correlation id and request id of the host's message that it belongs to.
        """

    def open(
        self, kind: str, path: Path, nbytes: int, t_submit: float, op: int, is_write: bool
    ) -> Transaction:
        """As :meth:`begin`, of a transaction that is known by no more than this."""

    def next_transaction(self) -> int:
        """The number of the next transaction, which :meth:`opened` may make an object."""

    def opened(
        self, number: int, kind: str, path: Path, nbytes: int, t_submit: float, op: int, is_write: bool
    ) -> Transaction:
        """As :meth:`open`, of one that has its number."""

    def end(self, transaction: Transaction) -> None:
        """Note that ``transaction`` is answered now; inform the instruments, then its ``on_done``."""

    def served(self, op: Op) -> None:
        """Note that memory has served the last byte of ``op``: it takes effect now."""

    def note_work(self, launch: int, component: str, begin: float, end: float) -> None:
        """Note that ``component`` was at work for ``launch`` between two times, ns."""

    def report(self, op: Op) -> None:
        """Note that a component has carried out ``op``."""

    def launch_started(self, launch: Launch, time: float) -> None:
        """Note that all PEs of ``launch`` begin at ``time`` ns."""

    def kernel_ended(self, launch: Launch, target: Target) -> None:
        """Note that the kernel of ``launch`` on PE ``target`` has ended, and all that it started."""

    def launch_ended(self, launch: Launch) -> None:
        """Note that the host has all answers to ``launch``."""

    def next_op_id(self) -> int:
        """The id of the next data operation."""

    def register(self, server: Server) -> None:
        """Add ``server`` to the table of resources whose use the trace counts."""
