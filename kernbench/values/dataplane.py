"""The data of a run: contents of memories and handles while time is simulated, and after replay.

Pass 1 follows every operation as it is reported. Data that were only moved have concrete values, computed
ones are pending; memory that a pending value was stored to is pending, and so is what is loaded from
it. Pass 2 (:meth:`DataPlane.sync`, only with ``verify``) replays on a memory of its own, in the order of
effects, so that it can never see what a later operation wrote; then pending memory gets its bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.rows import StageRows
from kernbench.engine.program.commands import PeContext
from kernbench.engine.program.operations import Op, Region, has_values
from kernbench.errors import KernBenchError, UsageError
from kernbench.hardware.address import ADDRESS_BITS
from kernbench.support import dtypes
from kernbench.values.blocks import BlockRun
from kernbench.values.dependencies import Dependency, DependencyBuilder
from kernbench.values.executor import FAILURES, Executor, freeze, named
from kernbench.values.memory_store import SimulatedMemory
from kernbench.values.op_checks import OpChecks
from kernbench.values.oplog import OpLog
from kernbench.values.races import RaceDetector, Thread
from kernbench.values.semantics import compute
from kernbench.values.tensor_names import TensorNames
from kernbench.values.verification import describe

Array = np.ndarray[Any, Any]


class DataPlane(Instrument):
    """Follows the data of one run. With ``verify`` computed values can be had, by replay.

    ``memory`` is the state of pass 1, ``log`` every operation so far, ``names`` the tensors in memory.
    Without ``verify`` nothing is ever replayed, and no array is kept beyond the contents of memory and the
    loaded values of live handles. ``address_bits`` is the width of the machine's physical addresses.
    With ``check_ops`` each replayed operation is compared with what its inputs give; the first that is off is
    an error.
    With ``recorded`` False the log of a run that is not verified has only the operations that wrote to
    memory, which errors name, and no dependencies.
    """

    def __init__(
        self,
        *,
        verify: bool = False,
        recorded: bool = True,
        address_bits: int = ADDRESS_BITS,
        check_ops: bool = False,
    ) -> None:
        self.verify = self.follows_computed = verify
        self._recorded = recorded or verify
        self.names = TensorNames()
        self.races = RaceDetector(self.names)
        self.memory = SimulatedMemory(strict=verify, names=self.names, address_bits=address_bits)
        self.log = OpLog()
        self.stage_rows = self.log if self._recorded else StageRows()
        self.stage_rows.takes_computed = not verify
        self._dependencies = DependencyBuilder()
        replayed = SimulatedMemory(strict=True, names=self.names, address_bits=address_bits)
        self.op_checks = OpChecks() if verify and check_ops else None
        """Compares every operation that is replayed."""
        self._replay = Executor(replayed, check=self.op_checks, races=self.races) if verify else None
        self._values: dict[int, Array | Callable[[], Array]] = {}
        """What is known; of constants, views and loads how it is worked out, as few are asked for."""
        self._launch_of: dict[int, int] = {}
        self._handles_of: dict[int, dict[int, None]] = {}
        self._uses_left: dict[int, int] = {}
        self._pending: dict[Region, None] = {}
        self._in_effect: dict[int, tuple[Op, list[Dependency]]] = {}
        """Operations that memory has served and that are not over."""

    @property
    def ops_checked(self) -> int:
        """Operations that were compared one by one and are right so far."""
        return 0 if self.op_checks is None else self.op_checks.checked

    def op_served(self, op: Op) -> None:
        """Apply an operation that memory has served. The order of calls is the order of effects on memory.

        With ``verify``, moving bytes that were never written is a :class:`VerificationError`.
        """
        self._in_effect[op.id] = op, self._apply(op)

    def op_done(self, op: Op) -> None:
        """Log a finished operation; one that touches no memory takes effect now."""
        if op.kind == "tile":  # it takes time only
            if self._recorded and op.moved:
                self.log.follow(op, self.names)
            self.stage_done(op)
            return
        served = self._in_effect.pop(op.id, None)
        dependencies = self._apply(op) if served is None else served[1]
        old = _old(op)
        if old is not None:
            old.component, old.t_effect = op.component, op.t_effect
            old.t_ready, old.t_start, old.t_end = op.t_ready, op.t_start, op.t_end
            self.op_done(old)
        if self._recorded or (op.output is not None and op.output.regions):
            self.log.append(op, dependencies)

    def stage_done(self, op: Op) -> None:
        """Log a stage of a tile."""
        if self._recorded:
            self.log.append(op, sorted({*op.after}))

    def _apply(self, op: Op) -> list[Dependency]:
        """Bring ``op`` into effect; returns its dependencies."""
        old = _old(op)
        if old is not None:
            assert op.output is not None
            old.inputs[0].regions = op.output.regions
            self._in_effect[old.id] = old, self._apply(old)
        dependencies: list[Dependency] = []
        if self._recorded:
            dependencies = self._dependencies.add(op)
            self.log.follow(op, self.names)
        if not has_values(op):
            return dependencies
        self.races.access(op)
        if self._replay is not None and "data" in op.params:
            op.params["data"] = _snapshot(op.params["data"])
        value = self._known_value(op)
        output = op.output
        if output is not None and output.regions:
            if value is None:
                for region in output.regions:
                    self.memory.mark_pending(region, op.id)
                    if self.verify:
                        self._pending[region] = None
            else:
                try:
                    self.memory.scatter(output.regions, value() if callable(value) else value)
                except FAILURES as error:
                    raise named(op, error) from error
        if output is not None and output.handle is not None:
            if "uses" in op.params:
                self._uses_left[output.handle] = int(op.params["uses"])
            else:
                if value is not None or self.verify:
                    self._launch_of[output.handle] = op.launch
                    self._handles_of.setdefault(op.launch, {})[output.handle] = None
            if value is not None:
                self._values[output.handle] = value
        if self._replay is not None:
            self._replay.add(op, dependencies)
        elif output is not None and output.regions:
            op.params.pop("data", None)  # memory has it
        if self._uses_left:
            for operand in op.inputs:
                if operand.handle in self._uses_left:
                    self._count_use(operand.handle)
        return dependencies

    def _count_use(self, handle: int) -> None:
        """Data that hardware keeps by itself, such as a message under way, go with their last use."""
        self._uses_left[handle] -= 1
        if not self._uses_left[handle]:
            del self._uses_left[handle]
            self._values.pop(handle, None)
            if self._replay is not None:
                self._replay.retire(handle)

    def known(self, handle: int) -> Array | Callable[[], Array] | None:
        """The value of a handle, or the function that computes it if nobody has read it yet."""
        return self._values.get(handle)

    def value(self, handle: int) -> Array | None:
        """The value of a handle, read-only, as far as pass 1 knows it; None while it is pending.

        A computed value stays pending even after replay: a kernel must not see something else because the
        host has read in the meantime.
        """
        value = self._values.get(handle)
        if callable(value):
            value = self._values[handle] = value()
        return value

    def replayed(self, handle: int) -> Array | None:
        """The value of a handle that a kernel decides by; a computed one is replayed, with ``verify``."""
        value = self.value(handle)
        if value is None and self._replay is not None:
            self._replay.run()
            value = self._replay.value(handle)
        return value

    def kernel_begins(self, launch: int, location: tuple[int, int, int], pe: str) -> Thread:
        """A kernel of ``launch`` begins on a PE: the clock that its operations are stamped by."""
        self.names.pes[location] = pe
        return self.races.thread(launch, location)

    def block_begins(self, pe: PeContext, at: tuple[int, int, int]) -> BlockRun | None:
        """A PE takes the block at ``at`` of a grid; None where operations are not recorded."""
        if not self._recorded:
            return None
        self.log.blocks.append(BlockRun(pe, at))
        return self.log.blocks[-1]

    def release(self, handle: int) -> None:
        """Drop a handle's value early: no operation that is still to be reported uses it.

        Values go with their launch anyway (:meth:`launch_ended`). Unknown handles are ignored.
        """
        launch = self._launch_of.pop(handle, None)
        if launch is None:
            return
        self._values.pop(handle, None)
        del self._handles_of[launch][handle]
        if self._replay is not None:
            self._replay.retire(handle)

    def launch_ended(self, launch: int) -> None:
        """All operations of ``launch`` have been reported: drop the values of its handles.

        Replay keeps a value until the last logged operation that uses it has been replayed.
        """
        self.races.launch_ended(launch)
        for handle in list(self._handles_of.get(launch, ())):
            self.release(handle)
        self._handles_of.pop(launch, None)

    def sync(self) -> None:
        """Replay everything reported so far and make pending memory concrete. Nothing without ``verify``."""
        if self._replay is None:
            return
        self._replay.run()
        pending, self._pending = self._pending, {}
        for region in pending:
            # Also right where a concrete write came later: replay has applied that as well.
            self.memory.copy_written(self._replay.memory, region)

    def read_host(
        self, regions: Sequence[Region], shape: Sequence[int], dtype: str, name: str = "memory"
    ) -> Array:
        """The array at ``regions`` as the host sees it now, read-only; ``name`` is what errors call it.

        Computed values are replayed first. Without ``verify`` they do not exist: :class:`UsageError`.
        """
        waits_for = self._waits_for(regions)
        if waits_for is not None:
            if not self.verify:
                raise UsageError(
                    f"{name} holds a result of {describe(waits_for)}, and a timing run computes no results; "
                    "run with --verify-data to read it"
                )
            self.sync()
        return self.memory.gather(regions, shape, dtypes.dtype(dtype).numpy)

    def forget(self, regions: Sequence[Region]) -> None:
        """The memory at ``regions`` was freed: nothing is written there any more.

        Operations reported before are replayed first, as they may still read those bytes.
        """
        # Memory is often freed where an error would go unseen; the next sync raises the same error.
        with suppress(KernBenchError):
            self.sync()
        for region in regions:
            self.memory.forget(region)
            self.names.remove(region)
            self.races.forget(region)
            if self._replay is not None:
                self._replay.memory.forget(region)

    def writer(self, regions: Sequence[Region], offset: int) -> Op | None:
        """The operation that wrote byte ``offset`` of ``regions`` (taken as one run) last, if any."""
        for region in regions:
            if offset < region.nbytes:
                found = self._dependencies.writer(region.addr + offset)
                return None if found is None else self._find(found)
            offset -= region.nbytes
        return None

    def _known_value(self, op: Op) -> Array | Callable[[], Array] | None:
        """The value of ``op``, if it only moves or defines data and everything it moves is concrete."""
        if op.kind not in ("memory", "view", "queue"):
            return None
        inputs: list[Array | Callable[[], Array]] = []
        for operand in op.inputs:
            if operand.handle is not None:
                value = self.known(operand.handle)
                if value is None:
                    return None
            else:
                if operand.dtype in dtypes.PACKED or self.memory.waits(operand.regions):
                    return None
                try:
                    dtype = dtypes.dtype(operand.dtype).numpy
                    value = self.memory.sampled(operand.regions, operand.shape, dtype)
                except FAILURES as error:
                    raise named(op, error) from error
            inputs.append(value)
        later = op.kind == "view" or (op.name == "dma_read" and not self.verify)
        return partial(_computed, op, inputs) if later else _computed(op, inputs)

    def _waits_for(self, regions: Sequence[Region]) -> Op | None:
        """The operation whose result ``regions`` wait for, if they do."""
        for region in regions:
            op_id = self.memory.pending(region)
            if op_id is not None:
                return self._find(op_id)
        return None

    def _find(self, op_id: int) -> Op | None:
        """The operation of that number, whether it is over or only in effect."""
        served = self._in_effect.get(op_id)
        return self.log.find(op_id) if served is None else served[0]


def _computed(op: Op, inputs: Sequence[Array | Callable[[], Array]]) -> Array:
    """The value of ``op``, read-only."""
    try:
        value = compute(op, [one() if callable(one) else one for one in inputs])
    except FAILURES as error:
        raise named(op, error) from error
    return value if "data" in op.params else freeze(value)


def _old(op: Op) -> Op | None:
    """Of an atomic access that answers: the operation that reads what memory held just before."""
    return op.params.get("old") if op.order is not None and op.order.atomic else None


def _snapshot(data: Array) -> Array:
    """A read-only copy of ``data`` as it is now; replay reads it later."""
    if data.base is None and not data.flags.writeable:
        return data
    return freeze(np.array(data, order="C"))
