"""From a call of a rank to a launch: checks, the choice of an algorithm, queues, and the kernel's start."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kernbench.errors import CollectiveError, UsageError
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.host import Tensor
from kernbench.host.collectives import piece_trace
from kernbench.host.collectives.algorithm import Algorithm, Call, find
from kernbench.host.collectives.config import AlgorithmChoice, CollectivesConfig
from kernbench.host.collectives.folding import Folding
from kernbench.host.collectives.groups import ProcessGroup, Signature
from kernbench.host.collectives.piece_trace import PieceTrace
from kernbench.host.collectives.steps import Limits
from kernbench.host.collectives.tensors import check_alike, check_whole, lanes_of, placement_of
from kernbench.host.collectives.transport import Transport
from kernbench.host.collectives.work import Work
from kernbench.support.hints import shown
from kernbench.support.user_code import line_of

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.host.alike import Alike

_EXCHANGES = ("all_to_all",)
"""Collectives whose tensors may differ in shape from pair to pair of ranks."""


def _too_large(choice: AlgorithmChoice, nbytes: int) -> str | None:
    """Why ``choice`` does not take ``nbytes`` bytes on a PE, or None."""
    if choice.up_to is None or nbytes <= choice.up_to:
        return None
    return f"ccl.yaml gives it up to {choice.up_to} bytes on a PE, and there are {nbytes}"


class Backend:
    """State that the ranks of one run share between ``init_process_group`` and ``destroy_process_group``."""

    def __init__(self, context: Context, config: CollectivesConfig, world_size: int | None) -> None:
        self._context = context
        self._config = config
        self._shape = MachineShape.of(context.graph)
        first = config.collectives["all_reduce"][0].name
        sips = context.ahbm.device_count()
        size = world_size or config.setting("world_size", first) or sips
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= sips:
            raise UsageError(
                f"world_size {size}: this run has {sips} SIPs, and a rank needs one of its own; use at most "
                f"{sips}"
            )
        self.world_size = size
        everyone = range(size)
        self.world = ProcessGroup("the default group", everyone)
        self.cubes = ProcessGroup("group CUBES", everyone, "cubes")
        self.pes = ProcessGroup("group PES", everyone, "pes")
        self._groups = [self.world, self.cubes, self.pes]
        self._made: dict[int | None, int] = {}
        self._new: list[ProcessGroup] = []
        self._markers: dict[int, Tensor] = {}
        self._folding: dict[Alike, Folding] = {}
        self._algorithms: dict[str, list[tuple[AlgorithmChoice, Algorithm]]] = {}
        queues = {name: config.setting(name, first) for name in ("slots", "slot_bytes", "buffer_kind")}
        self._transport = Transport(context, **queues)
        rings = [node.properties for node in context.graph.nodes("PeIpcq")]
        self._limits = Limits(
            piece=queues["slot_bytes"] or min(int(p["slot_bytes"]) for p in rings),
            window=queues["slots"] or min(int(p["slots"]) for p in rings),
            held=max(1, context.scratch_bytes // 4),
        )
        context.scheduler.notes.append(self._missing)
        self._trace = self._traced() if piece_trace.wanted() else None

    def _traced(self) -> PieceTrace:
        ahbm = self._context.ahbm
        return PieceTrace(
            self._context.scheduler.machine, [ahbm.sip_of(rank) for rank in range(self.world_size)]
        )

    def close(self) -> None:
        """Take no more part in deadlock reports; trace no more pieces."""
        if self._trace is not None:
            self._trace.close()
        self._context.scheduler.notes.remove(self._missing)

    def new_group(self, ranks: Sequence[int] | None) -> ProcessGroup:
        """See ``Distributed.new_group``."""
        wanted = sorted(range(self.world_size) if ranks is None else ranks)
        if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(self.world.ranks):
            raise UsageError(
                f"new_group({ranks}): give different ranks below the world size of {self.world_size}"
            )
        me = self._context.scheduler.asking.rank
        number = self._made.setdefault(me, self._made.get(None, 0))
        self._made[me] = number + 1
        if number == len(self._new):
            group = ProcessGroup(f"group {number} of ranks {wanted}", wanted, tag=f"g{number}_")
            self._new.append(group)
            self._groups.append(group)
        elif self._new[number].ranks != tuple(wanted):
            raise CollectiveError(
                f"ranks disagree in new_group call {number}: another rank gives "
                f"{list(self._new[number].ranks)}, rank {me} {wanted}; all ranks make the same groups in the "
                "same order"
            )
        return self._new[number]

    def marker(self) -> Tensor:
        """A tensor of the calling rank that says where its barriers run: PE 0 of cube 0."""
        me = self._rank()
        if me not in self._markers:
            self._markers[me] = self._context.empty(1, dtype="i8", name=f"barrier{me}")
        return self._markers[me]

    def run(
        self,
        collective: str,
        tensors: Sequence[Tensor],
        group: ProcessGroup,
        *,
        op: str,
        root: int | None,
        whole: bool,
    ) -> Work:
        """Start the calling rank's part in a collective. ``root`` is a global rank.

        Raises:
            UsageError: An argument does not fit, or no algorithm serves the call; nothing was sent.
            CollectiveError: Other ranks have made another call.
        """
        me, rank = self._member(collective, group)
        self._check(collective, tensors, me)
        if whole:
            check_whole(collective, tensors[0], tensors[1], group.size())
        else:
            check_alike(collective, tensors, one_shape=collective not in _EXCHANGES)
        call = self._call(collective, tensors, group, op, rank, self._root(collective, group, root))
        name, algorithm, call = self._choose(call)
        line = line_of(sys._getframe())
        shapes = () if collective in (*_EXCHANGES, "barrier") else (tensors[0].shape,)
        signature = Signature(
            collective, op, root, shapes, tensors[0].dtype, placement_of(tensors[0]) if shapes else call.lanes
        )
        number = group.call(me, signature, line)
        if collective in _EXCHANGES:
            size = group.size()
            outputs, inputs = [t.shape for t in tensors[:size]], [t.shape for t in tensors[size:]]
            group.exchange(number, rank, outputs, inputs)
        return self._launch(name, algorithm, call)

    def half(self, tensor: Tensor, group: ProcessGroup, peer: int, *, sends: bool) -> Work:
        """Start the calling rank's part of a message to or from global rank ``peer``."""
        me, rank = self._member("send" if sends else "recv", group)
        what = "send" if sends else "recv"
        self._check(what, [tensor], me)
        at = self._root(what, group, peer)
        if at == rank:
            raise UsageError(f"{what}: rank {me} cannot {what} to itself; use copy_")
        call = self._call("send", [tensor], group, "", rank, at, {"sends": sends})
        name, algorithm, call = self._choose(call)
        source, target = (me, peer) if sends else (peer, me)
        signature = Signature(what, "", None, (tensor.shape,), tensor.dtype, placement_of(tensor))
        group.half(source, target, me, signature, line_of(sys._getframe()))
        return self._launch(name, algorithm, call)

    # -- inside -------------------------------------------------------------------------------------

    def _rank(self) -> int:
        """The calling rank."""
        program = self._context.scheduler.asking
        if program.rank is None and self.world_size > 1:
            raise UsageError(
                "a collective outside of a rank would deadlock; call it in the function that "
                "torch.multiprocessing.spawn runs"
            )
        return program.rank or 0

    def _member(self, what: str, group: ProcessGroup) -> tuple[int, int]:
        """The calling rank, among all and within the group."""
        me = self._rank()
        rank = group.rank_of(me)
        if rank < 0:
            raise UsageError(f"{what}: rank {me} is not in {group.name}; its ranks are {list(group.ranks)}")
        started = self._context.scheduler.asking.ranks
        if started <= group.ranks[-1]:
            raise UsageError(
                f"{what}: {group.name} has {group.size()} ranks up to {group.ranks[-1]}, and spawn started "
                f"{started}; spawn(nprocs={self.world_size}), or init_process_group(world_size={started})"
            )
        return me, rank

    def _root(self, what: str, group: ProcessGroup, root: int | None) -> int:
        if root is None:
            return 0
        at = group.rank_of(root) if isinstance(root, int) and not isinstance(root, bool) else -1
        if at < 0:
            raise UsageError(
                f"{what}: rank {shown(root)} is not in {group.name}; use one of {list(group.ranks)}"
            )
        return at

    def _check(self, what: str, tensors: Sequence[Tensor], me: int) -> None:
        sip = self._context.ahbm.sip_of(me)
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise UsageError(f"{what}: {shown(tensor)} is not a tensor")
            if tensor.allocation and tensor.sips != (sip,):
                raise UsageError(
                    f"{what}: tensor '{tensor.name}' lies on SIP {', '.join(map(str, tensor.sips))}, and "
                    f"rank {me} is SIP {sip}; make it in the rank, after torch.ahbm.set_device(rank)"
                )
            if tensor.dtype != tensors[0].dtype:
                raise UsageError(
                    f"{what}: tensor '{tensor.name}' is {tensor.dtype}, '{tensors[0].name}' is "
                    f"{tensors[0].dtype}; use one dtype"
                )

    def _call(
        self,
        collective: str,
        tensors: Sequence[Tensor],
        group: ProcessGroup,
        op: str,
        rank: int,
        root: int,
        options: dict[str, object] | None = None,
    ) -> Call:
        return Call(
            collective=collective,
            tensors=tuple(tensors),
            op=op,
            rank=rank,
            root=root,
            sips=tuple(self._context.ahbm.sip_of(r) for r in group.ranks),
            over=group.over if op else "ranks",
            lanes=lanes_of(tensors[0]),
            shape=self._shape,
            limits=self._limits,
            tag=group.tag,
            options=options or {},
        )

    def _choose(self, call: Call) -> tuple[str, Algorithm, Call]:
        """The first algorithm of the configuration that serves ``call``, its name, and the call that it sees.

        Each algorithm sees its own options: those of one that refuses are not the next one's.
        """
        if call.collective not in self._algorithms:
            self._algorithms[call.collective] = [
                (choice, algorithm)
                for choice in self._config.collectives[call.collective]
                for algorithm in find(choice.name)
                if algorithm.collective == call.collective
            ]
        reasons = []
        nbytes = max((shard.nbytes for shard in call.tensors[0].shards), default=0)
        for choice, algorithm in self._algorithms[call.collective]:
            name = choice.name
            settings = self._config.algorithms.get(name)
            own = call if settings is None else replace(call, options={**settings.options, **call.options})
            why = _too_large(choice, nbytes) or algorithm.refusal(own)
            if why is None:
                return name, algorithm, own
            reasons.append(f"{name}: {why}")
        tensor = call.tensors[0].name
        reason = "; ".join(reasons) or "ccl.yaml names none that carries it out"
        raise UsageError(f"{call.collective} of tensor '{tensor}': no algorithm serves it: {reason}")

    def _launch(self, name: str, algorithm: Algorithm, call: Call) -> Work:
        program, folded = self._context.scheduler.current, False
        alike, rank = program.alike, program.rank or 0
        if alike is None:
            self._transport.ensure(algorithm.neighbours(call))
        else:
            if alike not in self._folding:
                self._folding[alike] = Folding(self._context.scheduler.machine, alike)
            folding = self._folding[alike]
            self._context.hold()
            folding.called(rank, call)
            alike.collective(rank, call.collective)
            table = folding.neighbours(rank, call, algorithm)
            self._transport.ensure(table)
            folded = folding.folds(rank, name, algorithm, table)
        launch = self._context.launch_part(
            f"{call.collective}/{name}",
            algorithm.kernel,
            *algorithm.arguments(call),
            *call.tensors,
            folded=folded,
        )
        if alike is not None:
            alike.under_way(rank, launch, folded)
        return Work(launch)

    def _missing(self) -> list[str]:
        return [line for group in self._groups for line in group.missing()]
