"""PE_CPU: takes launches, runs kernels between commands, answers when they are done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kernbench.components.launch import Launch
from kernbench.components.messages import LaunchDone, LaunchMessage
from kernbench.errors import AddressError, KernelError, RoutingError
from kernbench.pe import commands as c
from kernbench.pe.part import PePart
from kernbench.pe.scheduler import EngineCommand, PeScheduler
from kernbench.pgraph import Node
from kernbench.routing import Traffic
from kernbench.sim.ops import Op
from kernbench.sim.transaction import Packet

if TYPE_CHECKING:
    from kernbench.components.board import Board


class PeCpu(PePart):
    """One kernel at a time; launches that come meanwhile wait in order of arrival.

    Each command but a definition costs ``dispatch_cycles`` of the PE's clock before it is handed on.
    """

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self._queue: deque[tuple[Launch, int, str]] = deque()
        self._launch: Launch | None = None
        self._kernel: c.KernelThread | None = None
        self._cause = -1
        self._above = ""
        self._last_op = -1
        self._resumed_by = -1
        """Id of the operation whose end let the kernel go on last; -1 when it was the launch."""
        self._started: list[c.Completion] = []
        """Composites of the kernel that may still be running."""
        self._cycle_ns = 1.0 / self.number("clock_ghz")
        self._dispatch_ns = self.number("dispatch_cycles") * self._cycle_ns

    def wired(self) -> None:
        """Find the scheduler and the TCM's scratch region."""
        scheduler = self.sibling("pe_scheduler")
        assert isinstance(scheduler, PeScheduler)
        self._scheduler = scheduler
        tcm = self.sibling("pe_tcm").node.properties
        self._scratch = (int(tcm["scheduler_reserved_bytes"]), int(tcm["scratch_bytes"]))

    def receive(self, packet: Packet) -> None:
        """A launch for this PE."""
        transaction = packet.transaction
        self.machine.end(transaction)
        message: LaunchMessage = transaction.message
        self._queue.append((message.launch, transaction.id, transaction.src))
        if self._launch is None:
            self._next()

    def _next(self) -> None:
        """Go to the barrier of the launch at the head of the queue."""
        if not self._queue:
            return
        launch, self._cause, self._above = self._queue.popleft()
        self._launch = launch
        everyone = launch.arrive(self.place, self.clock.now, self._begin)
        if everyone is not None:
            self.clock.call_at(launch.start_ns, self._release, launch, everyone)

    def _release(self, launch: Launch, everyone: list[Callable[[], None]]) -> None:
        """All PEs of a launch begin, in order of place, at one instant."""
        self.machine.started(launch, float(self.clock.now))
        for begin in everyone:
            begin()

    def _begin(self) -> None:
        launch = self._launch
        assert launch is not None
        index, count = launch.program_id(self.place)
        scratch_offset, scratch_bytes = self._scratch
        self._last_op = self._resumed_by = -1
        self._started = []
        context = c.PeContext(
            *self.place,
            self.resource.rpartition(".")[0],
            index,
            count,
            self.machine.addresses.tcm(*self.place, scratch_offset),
            scratch_bytes,
            lambda: float(self.clock.now),
            self.machine.next_op_id,
            launch.id,
        )
        try:
            self._kernel = launch.call.start(context)
        except Exception as error:
            self._failed(error)
            return
        self._run()

    def _run(self) -> None:
        """Resume the kernel and carry out its commands until one takes time."""
        launch, kernel = self._launch, self._kernel
        assert launch is not None
        assert kernel is not None
        while True:
            try:
                command = kernel.resume()
                if command is None:
                    break
                if not isinstance(command, c.Define | c.Cycles | c.Wait):
                    self._check(command, kernel)
            except Exception as error:
                self._failed(error)
                return
            if isinstance(command, c.Define):
                now = float(self.clock.now)
                command.op.launch = launch.id
                self.finish(command.op, now, now, now)
            elif self._dispatch_ns > 0.0:
                self.busy_ns += self._dispatch_ns
                self.clock.call_at(self.clock.now + self._dispatch_ns, self._dispatch_later, command)
                return
            elif not self._dispatch(command):
                return
        self._over()

    def _check(self, command: EngineCommand | c.Composite, kernel: c.KernelThread) -> None:
        """Refuse a command that the hardware could not carry out, in the name of the call that gave it."""
        try:
            self._scheduler.check(command)
        except (AddressError, RoutingError, KernelError) as problem:
            subject, _, call = kernel.describe().partition(": ")
            at = f"{subject} at {self.clock.now:g} ns: {call}"
            raise KernelError(f"{at}: {problem}" if call else f"{at}{problem}") from problem

    def _failed(self, error: Exception) -> None:
        """Stop the kernel; its launch ends when what it has started is over, and no longer uses memory."""
        launch = self._launch
        assert launch is not None
        if self._kernel is not None:
            self._kernel.close()
        launch.fail(self.resource.rpartition(".")[0], float(self.clock.now), error)
        if self._after(self._started, self._over):
            self._over()

    def _dispatch_later(self, command: c.Command) -> None:
        if self._dispatch(command):
            self._run()

    def _dispatch(self, command: c.Command) -> bool:
        """Hand a command on. True when the kernel may go on at once."""
        launch = self._launch
        assert launch is not None
        if isinstance(command, c.Cycles):
            self.busy_ns += command.count * self._cycle_ns
            self.clock.call_at(self.clock.now + command.count * self._cycle_ns, self._run)
            return False
        if isinstance(command, c.Wait):
            return self._after(command.completions, self._run)
        assert not isinstance(command, c.Define)
        op = command.op
        op.launch = launch.id
        if self._last_op >= 0:
            op.after.append((self._last_op, "issue"))
        if self._resumed_by not in (-1, self._last_op):
            op.after.append((self._resumed_by, "wait"))
        if isinstance(command, c.Composite):
            self._started = [*(one for one in self._started if not one.done), command.completion]
            self.hand_over(self._scheduler, self._scheduler.submit, command, self._run)
            return True
        self.hand_over(self._scheduler, self._scheduler.submit, command, lambda: self._command_done(op))
        return False

    def _command_done(self, op: Op) -> None:
        self._last_op = self._resumed_by = op.id
        self._run()

    def _after(self, completions: Sequence[c.Completion], then: Callable[[], None]) -> bool:
        """Call ``then`` with the last of ``completions``; True, and no call, when all are done already."""
        missing = [completion for completion in completions if not completion.done]
        left = len(missing)

        def one_done(completion: c.Completion) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self._resumed_by = completion.op
                then()

        for completion in missing:
            completion.then(partial(one_done, completion))
        return not missing

    def _over(self) -> None:
        """The kernel has ended: answer, and take the next launch."""
        launch = self._launch
        assert launch is not None
        self._launch = self._kernel = None
        self.post(
            "launch_done",
            self._above,
            Traffic.COMMAND,
            LaunchDone(launch),
            parent=self._cause,
            op=self._resumed_by,
        )
        self._next()

    def waiting(self) -> list[str]:
        """The kernel that is suspended here, or the launch whose barrier it waits at."""
        if self._kernel is not None:
            return [f"{self.resource} runs {self._kernel.describe()}"]
        if self._launch is not None:
            return [f"{self.resource} waits for the other PEs of {self._launch.correlation_id}"]
        return []
