"""How PE_CPU issues the commands of the kernel that runs on it, and learns that they are over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from kernbench.engine.components.issue_queues import IssueQueues
from kernbench.engine.components.pe_component import PeComponent
from kernbench.engine.components.pe_ipcq import PeIpcq
from kernbench.engine.components.pe_scheduler import PeScheduler
from kernbench.engine.components.system import System
from kernbench.engine.program import commands as c
from kernbench.engine.program.computing import Command
from kernbench.engine.program.launches import Launch
from kernbench.engine.program.operations import Op
from kernbench.support.pgraph import Node

_MANY = 64
"""Number of commands started above which finished ones are forgotten."""


class CommandIssue(PeComponent):
    """Carries out commands: see :class:`~kernbench.engine.program.carriers.Pe`.

    What carries a command out tells whether the kernel may go on at once. Where it may not, :meth:`_run`
    resumes it with the completion, unless another kernel has begun meanwhile.
    """

    def __init__(self, node: Node, system: System) -> None:
        super().__init__(node, system)
        self._unblock = self._blocked_over
        self._cycle_ns = 1.0 / self.number("clock_ghz")

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        PeComponent.reset(self)
        self._launch: Launch | None = None
        self._kernel: c.RunningKernel | None = None
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

    def wired(self) -> None:
        """Find the scheduler and the queues."""
        scheduler = self.sibling("pe_scheduler")
        assert isinstance(scheduler, PeScheduler)
        self._scheduler = scheduler
        self._submit = scheduler.submit  # as a value: of a typed attribute it would be a pointer in C
        ipcq = self.sibling("pe_ipcq")
        assert isinstance(ipcq, PeIpcq)
        self._ipcq = ipcq

    def _run(self) -> None:
        """Resume the kernel and carry out its commands until one takes time."""
        raise NotImplementedError

    def _idle(self) -> None:
        """Called when work that a stopped kernel had started is over."""
        raise NotImplementedError

    def _resume(self, epoch: int) -> None:
        """Resume the kernel, if its epoch has not changed."""
        if epoch == self._epoch:
            self._run()

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
