"""A run as it goes: simulated time, events, how fast they come; at its end the run itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Sparkline, Static

from kernbench.api.result import Run
from kernbench.report.cells import number
from kernbench.tui.models.watch import Watched
from kernbench.tui.screens.base import BrowserScreen
from kernbench.tui.widgets.words import facts


class WatchScreen(BrowserScreen):
    """Figures of a run under way; leaving stops it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+q,ctrl+c,escape,backspace", "stop", "Stop the run", priority=True, key_display="q"),
        # Other screens come when the run is there to be looked at.
        Binding("r,t,i,a,c,W", "wait", show=False),
    ]
    DEFAULT_CSS = """
    WatchScreen #figures { height: auto; padding: 1 2; }
    WatchScreen Sparkline { height: 4; margin: 0 2; width: 1fr; }
    WatchScreen #under { padding: 0 2; }
    """

    def __init__(self, watched: Watched, ended: Callable[[Run | None], None]) -> None:
        super().__init__()
        self.title = f"running {watched.name}"
        self.watched = watched
        self.ended = ended
        self._rates: list[float] = []
        self._last = (0.0, 0)

    def content(self) -> ComposeResult:
        """Figures, and events a second over time."""
        yield Static(id="figures")
        yield Sparkline([], id="rates")
        yield Static("events a second, since the beginning", id="under")

    def begin(self) -> None:
        """Run in a thread, and draw now and then."""
        self.set_interval(0.25, self.draw)
        self.draw()
        self.ask(self.watched.work, lambda _: self.ended(self.watched.run), "run")

    def draw(self) -> None:
        """The figures of now."""
        seen, passed = self.watched.seen, time.monotonic() - self.watched.started
        before, events = self._last
        if passed - before >= 0.2 and seen.events:
            self._rates.append((seen.events - events) / (passed - before))
            self._last = passed, seen.events
            if self.is_there:
                self.query_one(Sparkline).data = self._rates
        rate = f"{seen.events / passed:.0f}" if passed > 0 else "0"
        lines = [
            (
                "simulated",
                "preparing" if not seen.events else f"{number(round(seen.sim_ns, 3))} ns{seen.share}",
            ),
            ("events", f"{seen.events}, {rate} a second"),
            ("running for", f"{passed:.1f} s"),
        ]
        if self.watched.stopping:
            lines.append(("", "stopping"))
        if self.is_there:
            self.query_one("#figures", Static).update(facts(lines, 11))

    def action_wait(self) -> None:
        """Say that there is nothing to browse yet."""
        self.say("the run can be browsed when it has ended")

    def action_stop(self) -> None:
        """Stop the run as Ctrl-C does."""
        self.watched.stop()
        self.draw()
