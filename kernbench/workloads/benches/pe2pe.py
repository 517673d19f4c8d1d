"""From one PE to another: a queue, with and without reading its slots, against a plain DMA write.

Launches are named ``HOW PATH BYTES``, such as ``queue next-cube 4096``. A message is made in TCM without
time, and a launch lasts until its sender knows that the message is there: the memory's acknowledgement
of a DMA write, for a queue a signal of 0 bytes that the receiver sends back once it has the message.

DMA writes a message of several slots as that many requests, all at once: an endpoint that stores and
forwards whole requests would otherwise favour the queue, whose parts follow each other closely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.registry import bench

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor
    from kernbench.language import Pointer

Location = tuple[int, int, int]

SOURCE: Location = (0, 0, 0)
PATHS = ("in-cube", "next-cube", "far-cube", "next-sip")
WAYS = ("dma", "queue", "queue-unread")
SMALLEST, LARGEST = 128, 65_536
ITEM = 4
GAP = 64
"""Items between the pieces that DMA writes: pieces that adjoin would be one request."""


def transfer(
    _here: Pointer,
    target: Location,
    how: str,
    nbytes: int,
    pieces: int,
    landing: int,
    out: int | None,
    tl: Any,
) -> None:
    """Move ``nbytes`` from PE :data:`SOURCE` to PE ``target``; DMA writes them to ``landing`` in ``pieces``.

    With an address ``out`` the target stores there what has arrived.
    """
    me = (tl.device_id(2), tl.device_id(1), tl.device_id(0))
    count = nbytes // ITEM
    if me == SOURCE:
        data = tl.arange(0, count)
        if how == "dma":
            tl.store(landing, tl.reshape(data, (pieces, count // pieces)), strides=_strides(count, pieces))
        else:
            tl.send("E", data)
            tl.recv("E")
    if me == target and how != "dma":
        got = tl.recv("W") if how == "queue" else tl.recv_no_consume("W")
        tl.send("W")
        if out is not None:
            tl.store(out, got)


def copy(_here: Pointer, target: Location, nbytes: int, pieces: int, landing: int, out: int, tl: Any) -> None:
    """On PE ``target``: from ``landing``, where DMA has left pieces, to ``out``."""
    count = nbytes // ITEM
    if (tl.device_id(2), tl.device_id(1), tl.device_id(0)) == target:
        data = tl.load(landing, (pieces, count // pieces), "i32", strides=_strides(count, pieces))
        tl.store(out, tl.reshape(data, (count,)))


def _strides(count: int, pieces: int) -> tuple[int, int]:
    """Items from one piece to the next, and within a piece."""
    return count // pieces + (GAP if pieces > 1 else 0), 1


@bench(
    name="pe2pe",
    description="From PE to PE in a cube, to other cubes and to another SIP: queues against plain DMA.",
    params=[
        Param("path", str, "all", "which pair of PEs", choices=("all", *PATHS)),
        Param("how", str, "all", "by DMA, by queue, or by queue without reading the slots",
              choices=("all", *WAYS)),
        Param("nbytes", int, 0, "bytes of the message, 0 for 128 B to 64 KiB by powers of two", minimum=0),
        Param("buffer_kind", str, "tcm", "memory of rings and DMA targets", choices=("tcm", "sram", "hbm")),
        Param("slots", int, 4, "slots of a ring", minimum=1),
        Param("slot_bytes", int, 4096, "bytes of a slot", minimum=1),
    ],
)  # fmt: skip
def run(torch: Context) -> None:
    """Every size on every path in every way, one after the other; the largest of each is checked."""
    p = torch.params
    there = targets(torch)
    chosen = list(there) if p.path == "all" else [p.path]
    if not chosen:
        raise UsageError("bench 'pe2pe' needs two PEs; the topology has one")
    if p.path != "all" and p.path not in there:
        raise UsageError(
            f"bench 'pe2pe': the topology has no path '{p.path}'; it has {', '.join(there) or 'one PE alone'}"
        )
    sizes = [p.nbytes] if p.nbytes else [SMALLEST << i for i in range(10)]
    if any(size % ITEM for size in sizes):
        raise UsageError(f"bench 'pe2pe': nbytes={p.nbytes} is not a multiple of {ITEM}, the bytes of an i32")
    for path in chosen:
        target = there[path]
        wires = {SOURCE: {"E": target}, target: {"W": SOURCE}}
        with torch.install_ipcq(wires, slots=p.slots, slot_bytes=p.slot_bytes, buffer_kind=p.buffer_kind):
            for how in WAYS if p.how == "all" else (p.how,):
                for nbytes in sizes:
                    _move(torch, path, target, how, nbytes, check=nbytes == sizes[-1])


def targets(torch: Context) -> dict[str, Location]:
    """The receiving PE of each path that the machine has."""
    spec, found = torch.spec, {}
    if torch.pes_per_cube > 1:
        found["in-cube"] = (0, 0, torch.pes_per_cube - 1)
    if torch.cubes_per_sip > 1:
        found["next-cube"] = (0, 1, 0)
    if torch.cubes_per_sip > 2:
        found["far-cube"] = (0, torch.cubes_per_sip - 1, 0)
    if int(spec["system"]["sips"]) > 1:
        found["next-sip"] = (1, 0, 0)
    return found


def _move(torch: Context, path: str, target: Location, how: str, nbytes: int, *, check: bool) -> None:
    """One transfer of ``nbytes``; with ``check`` once more, and what has arrived must be what was sent."""
    slot_bytes = torch.params.slot_bytes
    pieces = 1 if nbytes % slot_bytes else nbytes // slot_bytes
    room = nbytes + pieces * GAP * ITEM
    here = _tensors(torch, target, room, torch.params.buffer_kind, "landing")
    landing = _address(here, target)
    name = f"{how} {path} {nbytes}"
    _launch(torch, name, transfer, here, target, how, nbytes, pieces, landing, None)
    if not check:
        return
    results = _tensors(torch, target, nbytes, "hbm", f"{how} {path}")
    out = _address(results, target)
    _launch(torch, f"check {name}", transfer, here, target, how, nbytes, pieces, landing, out)
    if how == "dma":
        _launch(torch, f"read {name}", copy, here, target, nbytes, pieces, landing, out)
    result = results[-1]
    row = [(s.sip, s.cube, s.pe) for s in result.shards].index(target)

    def expected() -> np.ndarray[Any, Any]:
        rows = np.zeros(result.shape, np.int32)
        rows[row] = np.arange(nbytes // ITEM)
        return rows

    torch.check(f"{how} {path} {nbytes}", result, expected)


def _tensors(torch: Context, target: Location, nbytes: int, memory: str, name: str) -> list[Tensor]:
    """A row for each PE up to ``target`` on its SIP, and before it on the source's where that is another."""
    made = []
    for sip in sorted({SOURCE[0], target[0]}):
        torch.ahbm.set_device(sip)
        dp = DPPolicy(cube="row_wise", pe="row_wise", num_cubes=target[1] + 1, num_pes=target[2] + 1)
        rows = (target[1] + 1) * (target[2] + 1)
        made.append(torch.zeros(rows, nbytes // ITEM, dtype="i32", dp=dp, memory=memory, name=name))
    torch.ahbm.set_device(None)
    return made


def _address(tensors: list[Tensor], target: Location) -> int:
    """Physical address of the target's row."""
    (pa,) = [s.pa for t in tensors for s in t.shards if (s.sip, s.cube, s.pe) == target]
    assert pa is not None
    return pa


def _launch(torch: Context, name: str, kernel: Any, tensors: list[Tensor], *args: object) -> None:
    """Run on the PEs of all tensors, a launch for each SIP, and wait. The first has the source's PE."""
    torch.wait_all()  # until tensors are there, so that nothing comes between two launches
    names = [name, f"{name} (receiver)"]
    handles = [torch.launch(n, kernel, tensor, *args) for n, tensor in zip(names, tensors, strict=False)]
    torch.wait(*handles)
