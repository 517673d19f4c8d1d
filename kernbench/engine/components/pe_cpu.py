"""PE_CPU: takes launches, runs kernels between commands, answers when they are done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kernbench.engine.components.command_issue import CommandIssue
from kernbench.engine.components.pe_compute import PeGemm
from kernbench.engine.components.system import System
from kernbench.engine.core.transaction import Packet
from kernbench.engine.program import commands as c
from kernbench.engine.program.computing import Command
from kernbench.engine.program.launches import Launch
from kernbench.engine.program.messages import LaunchDone, LaunchMessage, QueueMessage
from kernbench.errors import AddressError, KernelError, RoutingError, StarvedError
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Node

MAX_IDLE = 100_000
"""Operations that a kernel may issue at one instant; more of them are taken for an endless loop."""


class PeCpu(CommandIssue):
    """Runs one kernel at a time; launches that arrive meanwhile wait in order of arrival.

    Each command but a definition costs ``dispatch_cycles`` of the PE's clock before it is handed on.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self._dispatch_ns = self.number("dispatch_cycles") * self._cycle_ns
        PeCpu.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        CommandIssue.reset(self)
        self._queue: deque[tuple[Launch, int, str]] = deque()
        self._cause = -1
        self._above = ""
        self._ending = False
        """Whether the kernel has been stopped while work that it had started is still in progress."""
        self.failure: Exception | None = None
        """How a kernel failed since the queues were set up; it may have left parts of messages there."""

    def wired(self) -> None:
        """Find the scheduler, the queues, the TCM's scratch region and the PEs beside this one."""
        CommandIssue.wired(self)
        tcm = self.sibling("pe_tcm").node.properties
        shape = MachineShape.of(self.system.graph)
        sip, cube, _ = self.location
        pes = shape.pes_of(sip)
        self._device_counts = (pes[cube], len(pes), shape.sips)
        self._pes_of_package = sum(pes)
        self._scratch = (int(tcm["scheduler_reserved_bytes"]), int(tcm["scratch_bytes"]))

    def receive(self, packet: Packet) -> None:
        """Receive a launch for this PE, or directions for its queues."""
        transaction = packet.transaction
        self.system.end(transaction)
        message: LaunchMessage | QueueMessage = transaction.message
        if isinstance(message, QueueMessage):
            self.failure = None
            self.forward(self._ipcq, self._ipcq.set_up, message)
            return
        self._queue.append((message.launch, transaction.id, transaction.src))
        if self._launch is None:
            self._next()

    def _next(self) -> None:
        """Go to the barrier of the launch at the head of the queue."""
        if not self._queue:
            return
        launch, self._cause, self._above = self._queue.popleft()
        self._launch = launch
        everyone = launch.arrive(self.location, self.clock.time, self._begin, self._stop)
        if everyone is not None:
            self.clock.call_at(launch.start_ns, self._release, launch, everyone)

    def _release(self, launch: Launch, everyone: list[Callable[[], None]]) -> None:
        """Start all PEs of a launch at one instant, in order of location."""
        self.system.launch_started(launch, self.clock.time)
        for begin in everyone:
            begin()

    def _now(self) -> float:
        return self.clock.time

    def _begin(self) -> None:
        launch = self._launch
        assert launch is not None
        if launch.stopped:
            self._over()
            return
        self._last_op = self._resumed_by = -1
        self._started = []
        self._ahead = {}
        self._epoch += 1
        leader = launch.leaders.get(self.location)
        if leader is not None:
            if leader in launch.request.pe_times:
                self._over()
            else:
                launch.followers.setdefault(leader, []).append(self._over)
            return
        gemm, falls = self.sibling("pe_gemm"), "clock_loaded_ghz" in self.of_pe
        if isinstance(gemm, PeGemm):
            gemm.begin_launch(falls and launch.work_of(self.location[0]) >= self._pes_of_package)
        system = self.system
        try:
            self._kernel = launch.kernel.start(self.context(launch, system.next_op_id))
        except Exception as error:
            self._failed(error)
            return
        self._run()

    def context(self, launch: Launch, next_op_id: Callable[[], int]) -> c.PeContext:
        """What a kernel of ``launch`` sees of the PE."""
        scratch_offset, scratch_bytes = self._scratch
        return c.PeContext(
            *self.location,
            self.resource.rpartition(".")[0],
            *launch.program_id(self.location),
            self.system.addresses.tcm(*self.location, scratch_offset),
            scratch_bytes,
            self._now,
            next_op_id,
            launch.id,
            device_counts=self._device_counts,
            queues=self._ipcq.queues,
            run_ahead=bool(self.node.properties.get("run_ahead", False)),
            warps=int(self.of_pe.get("warps", 0)),
            staging="staging_bytes_per_cycle" in self.sibling("pe_gemm").node.properties,
        )

    def _run(self) -> None:
        """Resume the kernel and carry out its commands until one takes time."""
        launch, kernel = self._launch, self._kernel
        assert launch is not None
        assert kernel is not None
        for _ in range(MAX_IDLE):
            try:
                command = kernel.resume()
                if command is None:
                    break
                self._check(command, kernel)
            except Exception as error:
                self._failed(error)
                return
            if self._dispatch_ns > 0.0 and command.dispatched:
                self._busy_ns += self._dispatch_ns
                self.clock.call_at(
                    self.clock.time + self._dispatch_ns, self._dispatch_later, command, self._epoch
                )
                return
            if not command.begin(self):
                return
        else:
            self._failed(
                KernelError(f"it spins: {MAX_IDLE} operations and no time passes; load, or tl.cycles(n)")
            )
            return
        self._over()

    def _check(self, command: Command, kernel: c.RunningKernel) -> None:
        """Refuse a command that the hardware cannot execute; the error names the call that issued it."""
        try:
            command.check(self._scheduler, self._ipcq)
        except (AddressError, RoutingError, KernelError) as problem:
            subject, _, call = kernel.describe().partition(": ")
            at_call = f"{call}: {problem}" if call else str(problem)
            if isinstance(problem, AddressError) and command.runs:
                near = kernel.nearest_tensor(min(address for address, _ in command.runs))
                at_call += f"; {near}" if near else ""
            raise KernelError(f"{subject} at {self.clock.time:g} ns: {at_call}", at_call) from problem

    def _failed(self, error: Exception) -> None:
        """Stop the kernel; its launch ends when the work that it has started no longer uses memory."""
        launch = self._launch
        assert launch is not None
        self._epoch += 1
        self._cancel()
        if self._kernel is not None:
            self._kernel.close()
        self._ending = True  # it need not be stopped any more
        launch.fail(self.resource.rpartition(".")[0], self.clock.time, error)
        root = error.root if isinstance(error, StarvedError) else None
        self.failure = root or launch.failure or error
        self._over_when_idle()

    def _stop(self, launch: Launch) -> None:
        """End the kernel of ``launch``, because another one of its kernels has failed."""
        if self._launch is not launch or self._kernel is None or self._ending:
            return
        self._epoch += 1
        self._cancel()
        self.failure = launch.failure
        self._kernel.close()
        self._over_when_idle()

    def _cancel(self) -> None:
        """Start none of the commands that the kernel has queued."""
        self._ipcq.cancel()
        for queues in self._ahead.values():
            queues.close()

    def _over_when_idle(self) -> None:
        """End the launch here as soon as all work that the kernel has started is over."""
        self._ending = True
        if self._after(self._started, self._idle) and self._blocked is None:
            self._over()

    def _idle(self) -> None:
        """Called when work that a stopped kernel had started is over."""
        if self._ending:
            self._over_when_idle()

    def _dispatch_later(self, command: Command, epoch: int) -> None:
        if epoch == self._epoch and command.begin(self):
            self._run()

    def _over(self) -> None:
        """Called when the kernel has ended: answer, and begin the next launch."""
        launch = self._launch
        assert launch is not None
        self.system.kernel_ended(launch, self.location)
        self._launch = self._kernel = None
        self._ending = False
        self.post(
            "launch_done",
            self._above,
            Traffic.COMMAND,
            LaunchDone(launch),
            parent=self._cause,
            op=self._resumed_by,
        )
        self._next()
        for over in launch.followers.pop(self.location, ()):
            over()

    def abandon(self) -> None:
        """Stop the kernel that is suspended here, because the run is over; no answer is sent."""
        self._epoch += 1
        if self._kernel is not None:
            self._kernel.close()
        self._kernel = self._launch = None

    @property
    def waits_for_queue(self) -> bool:
        """Whether a kernel with open sends or receives is here."""
        return self._kernel is not None and bool(self._ipcq.blocked())

    def starved_by(self) -> tuple[str, Exception] | None:
        """A PE whose kernel has failed, and how, if only that PE could end the waits of this one."""
        if self._kernel is None:
            return None
        for _, peers in self._ipcq.blocked():
            found = places(self.system.graph)
            cpus = [self.system.component(found.part("pe_cpu", *peer)) for peer in peers]
            idle = [cpu for cpu in cpus if isinstance(cpu, PeCpu) and cpu._kernel is None]
            failed = [cpu.failure for cpu in idle if cpu.failure is not None]
            if failed and len(failed) == len(peers):
                return found.pe(*peers[0]), failed[0]
        return None

    def stop_starved(self) -> None:
        """Stop the kernel, with the failure of the PE that it waits for as the cause."""
        starved = self.starved_by()
        assert starved is not None
        assert self._kernel is not None
        peer, failure = starved
        self._failed(
            StarvedError(f"{self._kernel.describe()} waits for {peer}, which has failed: {failure}", failure)
        )

    def waiting(self) -> list[str]:
        """The kernel that is suspended here, or the launch whose barrier it waits at."""
        if self._kernel is not None:
            queued = [head for queues in self._ahead.values() for head in queues.waiting()]
            return ["; ".join([f"{self.resource} runs {self._kernel.describe()}", *queued])]
        if self._launch is not None:
            return [f"{self.resource} waits for the other PEs of {self._launch.correlation_id}"]
        return []
