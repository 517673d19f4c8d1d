"""What the host asked the machine for, and whether it has been answered."""

from __future__ import annotations


class Request:
    """A host operation in flight. Times in ns; ``t_start`` is the common kernel start of a launch."""

    def __init__(self, label: str, t_submit: float) -> None:
        self.label = label
        self.t_submit = t_submit
        self.t_start = -1.0
        self.t_done = -1.0
        self.done = False
        self.wait_ns = 0.0
        """Longest time that one transaction of a transfer stood behind others, once it is done."""
        self.error: Exception | None = None
        self.open = 0
        """Parts that are still unanswered."""

    def part_done(self, time: float, error: Exception | None = None) -> None:
        """One part is answered; the request is done with its last. The first error stays."""
        if error is not None and self.error is None:
            self.error = error
        self.open -= 1
        if self.open <= 0 and not self.done:
            self.done = True
            self.t_done = time
