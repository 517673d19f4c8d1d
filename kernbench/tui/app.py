"""The app: a store, a stack of screens, and the keys that work on all of them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import TextArea

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents.windows import windows
from kernbench.draw.targets import Target
from kernbench.errors import KernBenchError
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.entity_pages import launch_page, operation_page, transaction_page
from kernbench.tui.models.pages import Page
from kernbench.tui.models.resource_page import resource_page
from kernbench.tui.models.run_page import compare_page, run_page, source_page
from kernbench.tui.screens.base import BrowserScreen
from kernbench.tui.screens.choose import Line
from kernbench.tui.screens.cypher import CypherScreen
from kernbench.tui.screens.help import HelpScreen
from kernbench.tui.screens.page import PageScreen
from kernbench.tui.screens.questions import QuestionScreen, QuestionsScreen
from kernbench.tui.screens.running import RunningScreen
from kernbench.tui.screens.runs import RunsScreen
from kernbench.tui.screens.timeline import TimelineScreen
from kernbench.tui.screens.topology import TopologyScreen


class KernBenchApp(App[None]):
    """Browses one store. ``run`` is opened at once where one is given."""

    TITLE = "kernbench"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "runs", "Runs"),
        Binding("t", "topology", "Topology"),
        Binding("i", "timeline", "Timeline"),
        Binding("a", "questions", "Ask"),
        Binding("c", "cypher", "Cypher"),
        Binding("W", "window_line", "Window ...", show=False),
        Binding("f4,Q", "running", "Running", show=False),
        Binding("q", "quit", "Quit"),
        # Also where a dialog or a text field has the keys.
        Binding("ctrl+q,ctrl+c", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Back to the shell", show=False, priority=True),
    ]

    def __init__(self, browser: Browser, run: str | None = None) -> None:
        super().__init__()
        # Over ssh every frame is a round trip; nothing here needs to glide.
        self.animation_level = "none"
        self.browser = browser
        self.window = ChosenWindow()
        self.first = run
        self.history: list[str] = []
        """Cypher that was asked, oldest first."""

    def on_mount(self) -> None:
        """Show the runs, and the one that was asked for on top."""
        if os.name == "posix" and threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._terminated)
        self.push_screen(RunsScreen(self.first))

    def _terminated(self) -> None:
        """Leave the terminal as it was; queries end."""
        self.browser.store.queries.cancel_all()
        self.exit(return_code=128 + signal.SIGTERM)

    @property
    def run_id(self) -> str:
        """The run that the top screen is about, or the one under the cursor of the list of runs."""
        return self.screen.run_id if isinstance(self.screen, BrowserScreen) else ""

    def open_target(self, target: Target, run_id: str) -> None:
        """Push the screen of a thing, numbers counted in run ``run_id``."""
        if target.sort == "question":
            self.push_screen(QuestionScreen(str(target.key), run_id))
            return
        name = f"run {target.key}" if target.sort == "run" else str(target.key)
        if target.sort in ("transaction", "operation", "launch"):
            name = str(target)
        owner = str(target.key) if target.sort == "run" else run_id
        self.push_screen(PageScreen(name, lambda window: self.page(target, run_id, window), owner))

    def page(self, target: Target, run_id: str, window: ChosenWindow) -> Page:
        """Work out the page of a thing; called in a worker."""
        browser = self.browser
        if target.sort == "run":
            opened = browser.run(browser.resolve(str(target.key)))
            try:
                return run_page(opened, window)
            except KernBenchError:
                # A window of another run, which this one has not.
                self.window = ChosenWindow()
                return run_page(opened, self.window)
        opened = browser.run(run_id)
        if target.sort == "launch":
            return launch_page(opened, int(target.key))
        if target.sort == "transaction":
            return transaction_page(opened, int(target.key))
        if target.sort == "operation":
            return operation_page(opened, int(target.key), browser.store)
        if target.sort == "line":
            return source_page(opened, str(target.key), window)
        return resource_page(opened, str(target.key), window)

    def compare(self, before: str, after: str) -> None:
        """Push the comparison of two runs."""
        self.push_screen(
            PageScreen("comparison", lambda _window: compare_page(self.browser.store, before, after), after)
        )

    def next_window(self, run_id: str, then: Callable[[], None]) -> None:
        """Step to the next window of a run, then draw again."""
        screen = self.screen
        if isinstance(screen, BrowserScreen):

            def step(windows: list[ChosenWindow]) -> None:
                # All launches of a run that has one are that launch, which is listed first.
                at = windows.index(self.window) if self.window in windows else 0
                self.window = windows[(at + 1) % len(windows)]
                then()

            def found() -> list[ChosenWindow]:
                return [ChosenWindow(launch) for launch, _ in windows(self.browser.run(run_id).run)]

            screen.ask(found, step, "window")

    def action_window_line(self) -> None:
        """Ask for a window of any length."""
        screen = self.screen
        if not isinstance(screen, BrowserScreen) or not screen.run_id:
            return

        def given(text: str | None) -> None:
            if text is None:
                return
            assert isinstance(screen, BrowserScreen)

            def checked() -> ChosenWindow:
                window = ChosenWindow.parse(text)
                self.browser.run(screen.run_id).run.window(window)
                return window

            def chosen(window: ChosenWindow) -> None:
                self.window = window
                screen.begin()

            screen.ask(checked, chosen, "window")

        words = "Window: all, a launch's number, setup, run; 100..250 in ns"
        self.push_screen(Line(words, str(self.window)), given)

    def _push_of_run(self, make: Callable[[str], Screen[None]]) -> None:
        """Push a screen about the run at hand; a remark where there is none."""
        if self.run_id:
            self.push_screen(make(self.run_id))
        elif isinstance(self.screen, BrowserScreen):
            self.screen.say("choose a run first")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where an editor has a selection, Ctrl-C copies it."""
        if action != "quit":
            return True
        selected = isinstance(self.focused, TextArea) and bool(self.focused.selected_text)
        return not selected

    async def action_quit(self) -> None:
        """Leave, and cancel what is asked.

        Where the store is still at work, say that this is waited for.
        """
        self.browser.store.queries.cancel_all()
        busy = any(screen.asking for screen in self.screen_stack if isinstance(screen, BrowserScreen))
        self.exit(message="kernbench: waiting for a query to stop" if busy else None)

    def action_runs(self) -> None:
        """Back to the list of runs."""
        while len(self.screen_stack) > 2:
            self.pop_screen()

    def action_topology(self) -> None:
        """The machine of the run at hand."""
        self._push_of_run(TopologyScreen)

    def action_timeline(self) -> None:
        """Its timeline."""
        self._push_of_run(TimelineScreen)

    def action_questions(self) -> None:
        """The library of questions."""
        self.push_screen(QuestionsScreen(self.run_id))

    def action_cypher(self) -> None:
        """Free Cypher."""
        self.push_screen(CypherScreen(self.run_id))

    def action_running(self) -> None:
        """The queries that are running."""
        if not isinstance(self.screen, RunningScreen):
            self.push_screen(RunningScreen())

    def action_help(self) -> None:
        """The keys and the filter's language."""
        extra = self.screen.HELP if isinstance(self.screen, BrowserScreen) else ""
        self.push_screen(HelpScreen(extra))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: everything that a key does, by name."""
        yield SystemCommand("Runs", "All runs of the store", self.action_runs)
        yield SystemCommand("Topology", "The machine of this run, with its map", self.action_topology)
        yield SystemCommand("Timeline", "PEs, engines and links over time", self.action_timeline)
        yield SystemCommand("Questions", "The library of questions", self.action_questions)
        yield SystemCommand("Cypher", "Free Cypher with completion", self.action_cypher)
        yield SystemCommand("Running", "Running queries, which you can cancel", self.action_running)
        yield SystemCommand("Window", "The time range of all pages", self.action_window_line)
        yield SystemCommand("Keys", "All keys, and the filter's language", self.action_help)
        for command in super().get_system_commands(screen):
            if command.title in ("Theme", "Quit", "Screenshot"):
                yield command
