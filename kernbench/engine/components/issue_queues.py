"""Commands of a kernel that runs ahead: three queues of a PE, each in order, each head with its operands."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from kernbench.engine.program import commands as c
from kernbench.engine.program.operations import Op

Queue = deque[c.Ahead]


class IssueQueues:
    """Loads, stores and compute: the head of each queue is issued when all that it waits for is done.

    Args:
        issue: carries out a command, and completes it.
        defined: notes a definition, which takes no time.
    """

    def __init__(self, issue: Callable[[c.Ahead], None], defined: Callable[[Op], object]) -> None:
        self._issue = issue
        self._defined = defined
        self._queues: dict[type[c.Command], Queue] = {kind: deque() for kind in (c.Load, c.Store, c.Compute)}
        self._closed = False

    def put(self, command: c.Ahead) -> None:
        """Take a command; one that takes no time is done as soon as its operands are available."""
        asked = command.command
        if isinstance(asked, c.Define):
            self._define(command)
            return
        queue = next(queue for kind, queue in self._queues.items() if isinstance(asked, kind))
        queue.append(command)
        if len(queue) == 1:
            self._pump(queue, -1)

    def close(self) -> None:
        """Issue nothing more: the kernel has been stopped."""
        self._closed = True
        for queue in self._queues.values():
            queue.clear()

    def waiting(self) -> list[str]:
        """The heads of the queues, which are waiting."""
        heads = [queue[0] for queue in self._queues.values() if queue]
        return [f"tl.{head.op.name} ({head.op.source}) waits for its operands" for head in heads]

    def _define(self, command: c.Ahead, by: int = -1) -> None:
        """Note a definition that has its operands, the last of them by the end of operation ``by``."""
        for awaited in command.after:
            if not awaited.done:
                awaited.then(partial(self._define, command, awaited.op))
                return
        if by != -1 and (by, "wait") not in command.op.after:
            command.op.after.append((by, "wait"))
        if not self._closed:
            self._defined(command.op)
            command.completion.complete()

    def _pump(self, queue: Queue, by: int) -> None:
        """Issue the heads that have their operands, released by the end of operation ``by``."""
        while queue:
            command = queue[0]
            for awaited in command.after:
                if not awaited.done:
                    awaited.then(partial(self._again, queue, command, awaited))
                    return
            queue.popleft()
            if by != -1 and (by, "wait") not in command.op.after:
                command.op.after.append((by, "wait"))
            self._issue(command)

    def _again(self, queue: Queue, command: c.Ahead, awaited: c.Completion) -> None:
        if queue and queue[0] is command:
            self._pump(queue, awaited.op)
