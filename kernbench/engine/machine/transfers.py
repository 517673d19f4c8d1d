"""One transfer of plain traffic: from a PE, the host or an M_CPU to a memory, without a kernel around it.

It takes the way that the same traffic takes in a run: a PE's goes through its DMA engines, the host's
through the host CPU, an M_CPU's through its own DMA. No values are moved, only time is spent.
"""

from __future__ import annotations

from kernbench.engine.components.base import Component
from kernbench.engine.components.dma import Job
from kernbench.engine.components.host import Host
from kernbench.engine.components.m_cpu import MCpu
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.system import System
from kernbench.engine.program.launches import Request
from kernbench.engine.program.operations import Op, Region
from kernbench.errors import UsageError
from kernbench.hardware.kinds import component_kind
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.places import places

_SOURCES = {PeDma: Traffic.PE_DMA, Host: Traffic.HOST_MEMORY, MCpu: Traffic.MCPU_DMA}
_OP_NAMES = {Traffic.PE_DMA: "dma", Traffic.HOST_MEMORY: "host", Traffic.MCPU_DMA: "mcpu"}


class Transfer(Request):
    """One read or write in flight; wait for it with ``Machine.wait``. Times in ns, sizes in bytes.

    ``t_submit`` is when the source gets it, ``t_done`` when a write is acknowledged or a read has its last
    byte, ``wait_ns`` the part of that time for which it stood behind others, its own DMA's queue included. A
    transfer that goes as one request a channel waits for its own requests too; the longest wait counts.
    """

    def __init__(self, src: str, dst: str, nbytes: int, *, is_write: bool, t_submit: float) -> None:
        super().__init__(f"{'write' if is_write else 'read'} of {nbytes} bytes, {src} and {dst}", t_submit)
        self.src = src
        """Component that asks: a PE's ``pe_dma``, the host CPU or an ``m_cpu``."""
        self.dst = dst
        """Memory that answers."""
        self.nbytes = nbytes
        self.is_write = is_write

    @property
    def ns(self) -> float:
        """Time from submission to answer."""
        return self.t_done - self.t_submit


def endpoint(machine: System, src: str) -> tuple[Component, Traffic]:
    """The component behind the name of a source, and the traffic that it sends.

    A PE stands for its DMA and ``host`` for the host CPU. Others are a :class:`UsageError`.
    """
    full = places(machine.graph).part("host_cpu") if src == "host" else src
    for name in (full, f"{full}.pe_dma"):
        component = machine.components.get(name)
        if component is not None:
            for kind, traffic in _SOURCES.items():
                if isinstance(component, kind):
                    return component, traffic
    known = [name for name, one in machine.components.items() if isinstance(one, PeDma | MCpu)]
    such = f" such as '{known[0].removesuffix('.pe_dma')}'" if known else ""
    raise UsageError(
        f"'{src}' cannot send traffic, expected 'host', or a PE, an M_CPU or a source{such} of this topology"
    )


def address_of(machine: System, dst: str, offset: int, nbytes: int) -> int:
    """Physical address of byte ``offset`` of memory ``dst``.

    :class:`UsageError` when that is not a memory, or has fewer than ``nbytes`` bytes from there on.
    """
    component = machine.components.get(dst)
    kind = None if component is None else component_kind(component.node)
    if component is None or kind is None or not kind.memory:
        known = [name for name, one in machine.components.items() if component_kind(one.node).memory]
        such = f" such as '{known[0]}'" if known else ""
        raise UsageError(
            f"'{dst}' is not a memory, expected an HBM slice, SRAM, TCM or memory{such} of this topology"
        )
    window = machine.addresses.window(dst)
    if nbytes < 1:
        raise UsageError(f"a transfer of {nbytes} bytes, expected at least 1")
    if offset < 0 or offset + nbytes > window.nbytes:
        raise UsageError(
            f"{nbytes} bytes at offset {offset} leave the {window.nbytes} bytes of {kind.memory} '{dst}'"
        )
    return window.base + offset


def start(machine: System, transfer: Transfer, source: Component, traffic: Traffic, region: Region) -> None:
    """Hand ``transfer`` to its source now."""
    name = f"{_OP_NAMES[traffic]}_{'write' if transfer.is_write else 'read'}"
    op = Op(machine.next_op_id(), "memory", name, nbytes=region.nbytes)
    if isinstance(source, Host):
        source.transfer(transfer, [region], is_write=transfer.is_write, op=op)
        return
    assert isinstance(source, PeDma | MCpu)

    made: list[Job] = []

    def done() -> None:
        transfer.wait_ns = made.pop().wait_ns  # kept there, it would be in a cycle of references
        transfer.part_done(machine.clock.now)

    made.append(Job(op, name, (region,), done))
    transfer.open = 1
    source.submit(made[0])
