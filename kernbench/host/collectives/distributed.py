"""``torch.distributed``: ranks that work together, as in PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from kernbench.errors import CollectiveError, UsageError
from kernbench.host.collectives.backend import Backend
from kernbench.host.collectives.config import read_config
from kernbench.host.collectives.groups import ProcessGroup
from kernbench.host.collectives.steps import OPS
from kernbench.host.collectives.work import Work
from kernbench.support.hints import did_you_mean, no_attribute, shown

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor

BACKEND = "ahbm"


class ReduceOp(StrEnum):
    """How values of the ranks become one; a plain string such as ``"sum"`` will do as well."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PRODUCT = "prod"
    AVG = "avg"


Reduction = ReduceOp | str


@dataclass
class GroupNames:
    """``torch.distributed.group``: the groups that are always there.

    ``WORLD`` are all ranks. ``CUBES`` and ``PES`` are all ranks too, with reductions that add up the
    contributions of every cube or PE of a rank as well: equal slices of the first dimension.
    """

    WORLD: ProcessGroup
    CUBES: ProcessGroup
    PES: ProcessGroup


class Distributed:
    """``torch.distributed`` of one run. Its methods mean what PyTorch's of the same name mean.

    A tensor may be placed over the cubes and PEs of its SIP in any way, the same on all ranks. All ranks of a
    group must make the same calls in the same order; :class:`CollectiveError` where they do not. The
    collectives have these arguments in common:

    - ``op``: ``sum``, ``max``, ``min``, ``prod`` or ``avg``, a :class:`ReduceOp` or its name;
    - ``group``: the ranks that take part, by default all; ``dst`` and ``src`` are ranks of all;
    - ``async_op``: return at once, a :class:`Work` to wait for; else when the caller's part is done.
    """

    def __getattr__(self, name: str) -> NoReturn:
        raise no_attribute("torch.distributed", name, dir(self))

    def __init__(self, context: Context) -> None:
        self.ReduceOp = ReduceOp
        self._context = context
        self._backend: Backend | None = None
        self._by: set[int | None] = set()

    # -- setting up ---------------------------------------------------------------------------------

    def init_process_group(
        self,
        backend: str = BACKEND,
        *,
        world_size: int | None = None,
        rank: int | None = None,
        config: str | Path | dict[str, Any] | None = None,
    ) -> None:
        """Set up the default group, of all ranks: once in the bench's own program, or in every rank.

        Args:
            backend: ``"ahbm"``.
            world_size: Number of ranks. By default that of ``ccl.yaml`` (of the algorithm for all_reduce,
                else of ``defaults``), else the number of SIPs.
            rank: The caller's rank, to be checked.
            config: Keys of ``ccl.yaml`` to change, or a file with them.

        Raises:
            ValueError: There is no such backend, or the machine lacks as many SIPs (a :class:`UsageError`).
            CollectiveError: It was set up already, or with another ``world_size``.
        """
        if backend != BACKEND:
            raise UsageError(f"init_process_group({backend!r}): no such backend; use '{BACKEND}'")
        me = self._context.scheduler.asking.rank
        if rank is not None and me is not None and rank != me:
            raise UsageError(f"init_process_group(rank={rank}): this is rank {me}; leave rank out")
        if me in self._by:
            raise CollectiveError("init_process_group: called twice; call destroy_process_group first")
        if self._backend is None:
            self._backend = Backend(self._context, read_config(config), world_size)
        elif world_size is not None and world_size != self._backend.world_size:
            raise CollectiveError(
                f"init_process_group(world_size={world_size}): another rank has set up "
                f"{self._backend.world_size} ranks; use one number on all ranks"
            )
        self._by.add(me)

    def destroy_process_group(self) -> None:
        """Forget all groups; they can be set up anew."""
        self._set_up("destroy_process_group")
        self._by.discard(self._context.scheduler.asking.rank)
        if not self._by and self._backend is not None:
            self._backend.close()
            self._backend = None

    def is_initialized(self) -> bool:
        """True after :meth:`init_process_group`."""
        return self._backend is not None

    def is_available(self) -> bool:
        """True."""
        return True

    def get_backend(self, group: ProcessGroup | None = None) -> str:
        """``"ahbm"``."""
        self._set_up("get_backend")
        return BACKEND

    def get_world_size(self, group: ProcessGroup | None = None) -> int:
        """Number of ranks in ``group``, by default of all; -1 where the caller is not in it."""
        found = self._group("get_world_size", group)
        return found.size() if found.rank_of(self._rank()) >= 0 else -1

    def get_rank(self, group: ProcessGroup | None = None) -> int:
        """The caller's rank in ``group``, by default among all; -1 where it is not in it.

        The bench's own program counts as rank 0.
        """
        return self._group("get_rank", group).rank_of(self._rank())

    def get_process_group_ranks(self, group: ProcessGroup | None = None) -> list[int]:
        """The ranks of ``group`` as they count among all."""
        return list(self._group("get_process_group_ranks", group).ranks)

    def new_group(self, ranks: Sequence[int] | None = None) -> ProcessGroup:
        """A group of some ranks (by default all). Every rank makes this call, whether it is in it or not."""
        return self._set_up("new_group").new_group(ranks)

    @property
    def group(self) -> GroupNames:
        """The groups that are always there: WORLD, CUBES, PES."""
        backend = self._set_up("group")
        return GroupNames(backend.world, backend.cubes, backend.pes)

    # -- collectives --------------------------------------------------------------------------------

    def all_reduce(
        self,
        tensor: Tensor,
        op: Reduction = "sum",
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """Reduce ``tensor`` elementwise over the ranks; every rank's becomes the result."""
        return self._run("all_reduce", [tensor], group, async_op, op=_op(op))

    def reduce(
        self,
        tensor: Tensor,
        dst: int,
        op: Reduction = "sum",
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """As :meth:`all_reduce`, but only rank ``dst`` gets the result."""
        return self._run("reduce", [tensor], group, async_op, op=_op(op), root=dst)

    def broadcast(
        self, tensor: Tensor, src: int, group: ProcessGroup | None = None, async_op: bool = False
    ) -> Work | None:
        """``tensor`` of rank ``src`` becomes that of every rank."""
        return self._run("broadcast", [tensor], group, async_op, root=src)

    def all_gather(
        self,
        tensor_list: Sequence[Tensor],
        tensor: Tensor,
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """``tensor`` of rank i becomes ``tensor_list[i]`` on every rank."""
        size = self._list("all_gather", "tensor_list", tensor_list, group)
        return self._run("all_gather", [tensor, *tensor_list[:size]], group, async_op)

    def all_gather_into_tensor(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """``input_tensor`` of all ranks, one after another along the first dimension of ``output_tensor``."""
        return self._run("all_gather", [input_tensor, output_tensor], group, async_op, whole=True)

    def reduce_scatter(
        self,
        output: Tensor,
        input_list: Sequence[Tensor],
        op: Reduction = "sum",
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """``input_list[i]``, reduced over the ranks, becomes ``output`` of rank i."""
        size = self._list("reduce_scatter", "input_list", input_list, group)
        return self._run("reduce_scatter", [output, *input_list[:size]], group, async_op, op=_op(op))

    def reduce_scatter_tensor(
        self,
        output: Tensor,
        input: Tensor,
        op: Reduction = "sum",
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """The i-th part of ``input`` along its first dimension, reduced, becomes ``output`` of rank i."""
        return self._run("reduce_scatter", [output, input], group, async_op, op=_op(op), whole=True)

    def gather(
        self,
        tensor: Tensor,
        gather_list: Sequence[Tensor] | None = None,
        dst: int = 0,
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """``tensor`` of rank i becomes ``gather_list[i]`` of rank ``dst``; the others pass no list."""
        tensors = self._rooted("gather", "gather_list", gather_list, dst, group)
        return self._run("gather", [tensor, *tensors], group, async_op, root=dst)

    def scatter(
        self,
        tensor: Tensor,
        scatter_list: Sequence[Tensor] | None = None,
        src: int = 0,
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """``scatter_list[i]`` of rank ``src`` becomes ``tensor`` of rank i; the others pass no list."""
        tensors = self._rooted("scatter", "scatter_list", scatter_list, src, group)
        return self._run("scatter", [tensor, *tensors], group, async_op, root=src)

    def all_to_all(
        self,
        output_tensor_list: Sequence[Tensor],
        input_tensor_list: Sequence[Tensor],
        group: ProcessGroup | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """``input_tensor_list[j]`` of rank i becomes ``output_tensor_list[i]`` of rank j."""
        size = self._list("all_to_all", "output_tensor_list", output_tensor_list, group)
        self._list("all_to_all", "input_tensor_list", input_tensor_list, group)
        tensors = [*output_tensor_list[:size], *input_tensor_list[:size]]
        return self._run("all_to_all", tensors, group, async_op)

    def barrier(self, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
        """Return when every rank has made this call."""
        backend = self._set_up("barrier")
        return self._run("barrier", [backend.marker()], group, async_op)

    # -- between two ranks --------------------------------------------------------------------------

    def send(self, tensor: Tensor, dst: int, group: ProcessGroup | None = None) -> None:
        """Send ``tensor`` to rank ``dst``, which receives it; returns when it has left."""
        self.isend(tensor, dst, group).wait()

    def recv(self, tensor: Tensor, src: int, group: ProcessGroup | None = None) -> int:
        """Receive ``tensor`` from rank ``src``; returns that rank."""
        self.irecv(tensor, src, group).wait()
        return src

    def isend(self, tensor: Tensor, dst: int, group: ProcessGroup | None = None) -> Work:
        """As :meth:`send`, without waiting."""
        return self._set_up("isend").half(tensor, self._group("isend", group), dst, sends=True)

    def irecv(self, tensor: Tensor, src: int, group: ProcessGroup | None = None) -> Work:
        """As :meth:`recv`, without waiting."""
        return self._set_up("irecv").half(tensor, self._group("irecv", group), src, sends=False)

    # -- inside -------------------------------------------------------------------------------------

    def _run(
        self,
        collective: str,
        tensors: Sequence[Tensor],
        group: ProcessGroup | None,
        async_op: bool,
        *,
        op: str = "",
        root: int | None = None,
        whole: bool = False,
    ) -> Work | None:
        backend = self._set_up(collective)
        members = self._group(collective, group)
        work = backend.run(collective, tensors, members, op=op, root=root, whole=whole)
        if async_op:
            return work
        work.wait()
        return None

    def _rank(self) -> int:
        return self._context.scheduler.asking.rank or 0

    def _set_up(self, what: str) -> Backend:
        if self._backend is None:
            raise CollectiveError(
                f"torch.distributed.{what}: the default process group has not been initialized; call "
                f"init_process_group('{BACKEND}') first"
            )
        return self._backend

    def _group(self, what: str, group: ProcessGroup | None) -> ProcessGroup:
        backend = self._set_up(what)
        if group is None:
            return backend.world
        if not isinstance(group, ProcessGroup):
            raise UsageError(f"{what}: group={shown(group)} is not a group; new_group(ranks) gives one")
        return group

    def _list(self, what: str, name: str, tensors: object, group: ProcessGroup | None) -> int:
        """The size of the group; ``tensors`` must hold one tensor for each of its ranks."""
        size = self._group(what, group).size()
        if isinstance(tensors, str) or not isinstance(tensors, Sequence) or len(tensors) != size:
            given = f"{len(tensors)} tensors" if isinstance(tensors, Sequence) else repr(tensors)
            raise UsageError(f"{what}: {name} holds {given}; give one for each of the {size} ranks")
        return size

    def _rooted(
        self, what: str, name: str, tensors: Sequence[Tensor] | None, root: int, group: ProcessGroup | None
    ) -> Sequence[Tensor]:
        if self._rank() == root:
            self._list(what, name, tensors, group)
            return tensors or ()
        if tensors:
            raise UsageError(f"{what}: {name} is for rank {root} alone; leave it out on rank {self._rank()}")
        return ()


def _op(op: Reduction) -> str:
    name = op.value if isinstance(op, ReduceOp) else op
    if name not in OPS:
        raise UsageError(f"op={op!r} is not a reduction; {did_you_mean(str(op), OPS)}")
    return name
