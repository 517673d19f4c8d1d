"""The timeline of a run: launches, engines and links, closer or further away."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from kernbench.draw.targets import Target
from kernbench.tui.models.timeline import SHOWN, Timeline
from kernbench.tui.screens.base import BrowserScreen
from kernbench.tui.widgets.bars import Bars
from kernbench.tui.widgets.words import plain


class TimelineScreen(BrowserScreen):
    """Tracks over time; Enter opens a track's page."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "tracks", "Tracks"),
        Binding("w", "window", "Window"),
    ]
    HELP = "+ - 0    zoom in, out, all; left right: earlier, later; v: all, components, links"

    def __init__(self, run_id: str) -> None:
        super().__init__("timeline", run_id)
        self.shown = SHOWN[0]
        self.timeline: Timeline | None = None

    def content(self) -> ComposeResult:
        """A line of facts, the tracks."""
        yield Static(id="facts")
        yield Bars(id="bars")

    def begin(self) -> None:
        """Work the tracks out."""
        self.query_one(Bars).focus()
        window, browser = self.browser_app.window, self.browser_app.browser
        self.ask(lambda: Timeline(browser.run(self._run_id), window), self.show_timeline, "timeline")

    def show_timeline(self, timeline: Timeline) -> None:
        """Draw them."""
        self.timeline = timeline
        tracks = timeline.tracks(self.shown)
        words = (
            f"{timeline.name}; {len(tracks)} tracks ({self.shown}), busiest first; height: occupancy, the "
            "share of a character's time for which the track was occupied"
        )
        self.query_one("#facts", Static).update(plain(words))
        self.query_one(Bars).show(timeline, tracks)

    @on(Bars.Opened)
    def opened(self, event: Bars.Opened) -> None:
        """A launch or a resource."""
        self.follow(Target("launch" if isinstance(event.track, int) else "resource", event.track))

    def action_tracks(self) -> None:
        """Other tracks."""
        self.shown = SHOWN[(SHOWN.index(self.shown) + 1) % len(SHOWN)]
        if self.timeline is not None:
            self.show_timeline(self.timeline)
