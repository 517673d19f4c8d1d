"""PE_CPU: takes launches, runs kernels between commands, answers when they are done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from kernbench.engine.components.issue_queues import IssueQueues
from kernbench.engine.components.pe_component import PeComponent
from kernbench.engine.components.pe_compute import PeGemm
from kernbench.engine.components.pe_ipcq import PeIpcq
from kernbench.engine.components.pe_scheduler import PeScheduler
from kernbench.engine.components.system import System
from kernbench.engine.core.transaction import Packet
from kernbench.engine.program import commands as c
from kernbench.engine.program.computing import Command
from kernbench.engine.program.launches import Launch
from kernbench.engine.program.messages import LaunchDone, LaunchMessage, QueueMessage
from kernbench.engine.program.operations import Op
from kernbench.errors import AddressError, KernelError, RoutingError, StarvedError
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Node

MAX_IDLE = 100_000
"""Operations that a kernel may issue at one instant; more of them are taken for an endless loop."""
_MANY = 64
"""Number of commands started above which finished ones are forgotten."""


class PeCpu(PeComponent):
    """Runs one kernel at a time; launches that arrive meanwhile wait in order of arrival.

    Each command but a definition costs ``dispatch_cycles`` of the PE's clock before it is handed on.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self._unblock = self._blocked_over
        self._cycle_ns = 1.0 / self.number("clock_ghz")
        self._dispatch_ns = self.number("dispatch_cycles") * self._cycle_ns
        PeCpu.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        PeComponent.reset(self)
        self._queue: deque[tuple[Launch, int, str]] = deque()
        self._launch: Launch | None = None
        self._kernel: c.RunningKernel | None = None
        self._cause = -1
        self._above = ""
        self._last_op = -1
        self._resumed_by = -1
        """Id of the operation whose end last resumed the kernel; -1 if it was the launch."""
        self._started: list[c.Completion] = []
        """Work in progress that the kernel does not wait for: composites and commands ahead."""
        self._ahead: dict[int, IssueQueues] = {}
        """The queues of a kernel that runs ahead, by thread."""
        self._epoch = 0
        """Counts kernels begun and stopped: a completion from an earlier epoch resumes no kernel."""
        self._blocked: Op | None = None
        """The command that the kernel waits for, while the scheduler executes it."""
        self._blocked_in = 0
        """The epoch in which it was issued."""
        self._sending = self._posted = False
        """Whether a send is being submitted, and whether it was posted at once."""
        self._ending = False
        """Whether the kernel has been stopped while work that it had started is still in progress."""
        self.failure: Exception | None = None
        """How a kernel failed since the queues were set up; it may have left parts of messages there."""

    def wired(self) -> None:
        """Find the scheduler, the queues and the TCM's scratch region."""
        scheduler = self.sibling("pe_scheduler")
        assert isinstance(scheduler, PeScheduler)
        self._scheduler = scheduler
        self._submit = scheduler.submit  # as a value: of a typed attribute it would be a pointer in C
        ipcq = self.sibling("pe_ipcq")
        assert isinstance(ipcq, PeIpcq)
        self._ipcq = ipcq
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

    def _resume(self, epoch: int) -> None:
        """Resume the kernel, if its epoch has not changed."""
        if epoch == self._epoch:
            self._run()

    def _dispatch_later(self, command: Command, epoch: int) -> None:
        if epoch == self._epoch and command.begin(self):
            self._run()

    # -- how commands are carried out: see :class:`~kernbench.engine.program.carriers.Pe` --------------------

    def define(self, op: Op) -> bool:
        """The kernel goes on at once."""
        launch, now = self._launch, self.clock.time
        assert launch is not None
        op.launch = launch.id
        self.finish(op, now, now, now)
        return True

    def work(self, cycles: float) -> bool:
        """The kernel goes on later."""
        self._busy_ns += cycles * self._cycle_ns
        self.clock.call_at(self.clock.time + cycles * self._cycle_ns, self._resume, self._epoch)
        return False

    def wait(self, completions: Sequence[c.Completion]) -> bool:
        """The kernel goes on with the last of them."""
        return self._after(completions, self._run)

    def send(self, command: c.Send) -> bool:
        """The kernel goes on when it is posted."""
        op = command.op
        self._issued(op)
        self._sending, self._posted = True, False
        self.forward(self._ipcq, self._ipcq.submit_send, command, partial(self._sent, op, self._epoch))
        self._sending = False
        return self._posted

    def receive_message(self, command: c.Receive) -> bool:
        """The kernel goes on when the message is there, or at once with a completion."""
        op = command.op
        self._issued(op)
        done = partial(self._command_done, op, self._epoch)
        self.forward(self._ipcq, self._ipcq.submit_receive, command, done)
        return command.completion is not None

    def start(self, command: c.Composite) -> bool:
        """The kernel goes on."""
        self._issued(command.op)
        self._started = [*[one for one in self._started if not one.done], command.completion]
        self.forward(self._scheduler, self._submit, command, self._run)
        return True

    def block(self, command: Command, op: Op) -> bool:
        """The kernel goes on when it is over."""
        self._issued(op)
        self._blocked = op
        self._blocked_in = self._epoch
        self._hand_on(command, self._unblock)
        return False

    def queue(self, command: c.Ahead) -> bool:
        """The kernel goes on; so does the command, when its operands are there."""
        launch, op = self._launch, command.op
        assert launch is not None
        op.launch = launch.id
        if self._resumed_by != -1:
            op.after.append((self._resumed_by, "wait"))
        queues = self._ahead.get(command.thread)
        if queues is None:
            queues = self._ahead[command.thread] = IssueQueues(self._issue, self.define)
        queues.put(command)
        return True

    def _issue(self, command: c.Ahead) -> None:
        """Called when a queued command has its operands."""
        if len(self._started) > _MANY:
            self._started = [one for one in self._started if not one.done]
        self._started.append(command.completion)
        self._hand_on(command.command, command.completion.complete)

    def _hand_on(self, command: Command, done: Callable[[], None]) -> None:
        """Have the scheduler execute a command."""
        scheduler = self._scheduler
        if self._own or self.crossing(scheduler) > 0.0:
            self.forward(scheduler, self._submit, command, done)
        else:
            self.crossed(scheduler)
            scheduler.submit(command, done)

    def _issued(self, op: Op) -> None:
        """Note which operations ``op`` depends on."""
        launch, last, resumed_by = self._launch, self._last_op, self._resumed_by
        assert launch is not None
        op.launch = launch.id
        if last >= 0:
            op.after.append((last, "issue"))
        if resumed_by != -1 and resumed_by != last:
            op.after.append((resumed_by, "wait"))

    def _blocked_over(self) -> None:
        """Called when the command that the kernel waits for is over."""
        op, self._blocked = self._blocked, None
        assert op is not None
        self._command_done(op, self._blocked_in)

    def _command_done(self, op: Op, epoch: int) -> None:
        if epoch == self._epoch:
            self._last_op = self._resumed_by = op.id
            self._run()
        else:
            self._idle()

    def _sent(self, op: Op, epoch: int, by: int) -> None:
        """Called when a send is posted, because operation ``by`` is over; -1 if at once."""
        if epoch != self._epoch:
            self._idle()
            return
        if by != -1:
            self._resumed_by = by
            if by == op.id:
                self._last_op = by
        if self._sending:
            self._posted = True
        else:
            self._run()

    def _after(self, completions: Sequence[c.Completion], then: Callable[[], None]) -> bool:
        """Call ``then`` with the last of ``completions``; True, and no call, when all are done already."""
        missing = [completion for completion in completions if not completion.done]
        left, epoch = len(missing), self._epoch

        def one_done(completion: c.Completion) -> None:
            nonlocal left
            left -= 1
            if left == 0 and epoch == self._epoch:
                self._resumed_by = completion.op
                then()

        for completion in missing:
            completion.then(partial(one_done, completion))
        return not missing

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
