"""Screens in general: a heading, keys that lead everywhere, and work that never blocks them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Static
from textual.worker import Worker

from kernbench.draw.targets import Target
from kernbench.errors import KernBenchError
from kernbench.support.pgraph import asked_by
from kernbench.tui.widgets.words import plain, styled

if TYPE_CHECKING:
    from kernbench.analysis.windows.chosen_window import ChosenWindow
    from kernbench.tui.models.browser import Browser

Answer = TypeVar("Answer")


class BrowserApp(Protocol):
    """What screens ask of the app."""

    browser: Browser
    window: ChosenWindow
    history: list[str]

    def next_window(self, run_id: str, then: Callable[[], None]) -> None: ...  # noqa: D102

    def open_target(self, target: Target, run_id: str) -> None: ...  # noqa: D102

    def compare(self, before: str, after: str) -> None: ...  # noqa: D102


class BrowserScreen(Screen[None]):
    """A screen with a heading on top and the keys at the bottom."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace", "leave", "Back"),
        Binding("question_mark", "app.help", "Help", key_display="?"),
    ]
    AUTO_FOCUS = ""
    HELP: ClassVar[str] = ""
    """Lines of the help that are for this screen alone: ``key  meaning``."""

    def __init__(self, title: str, run_id: str = "") -> None:
        super().__init__()
        self.title = title
        self._run_id = run_id
        self._requests: dict[str, int] = {}
        """The newest request of each group that is under way, by its number."""
        self._number = 0
        self._since = 0.0
        self.failure = ""
        """The error that is shown; empty when all went well."""

    @property
    def browser_app(self) -> BrowserApp:
        """The app, with its store."""
        return cast("BrowserApp", self.app)

    @property
    def is_there(self) -> bool:
        """Whether its widgets can be asked for: they have been made, and it is not being closed."""
        # A screen that is removed loses its widgets one by one while its own tasks still run.
        return self.display and bool(self.query("#message"))

    @property
    def asking(self) -> int:
        """Questions under way."""
        return len(self._requests)

    @property
    def heading(self) -> str:
        """Its name in the path at the top of the screen."""
        return self.title or ""

    @property
    def run_id(self) -> str:
        """Id of the run that is looked at; empty on screens over all runs."""
        return self._run_id

    def compose(self) -> ComposeResult:
        """Heading, content, message line, keys."""
        yield Static(id="heading")
        yield from self.content()
        yield Static(id="message")
        yield Footer()

    def content(self) -> ComposeResult:
        """The widgets between heading and keys."""
        yield from ()

    def on_mount(self) -> None:
        """Draw the heading, then begin."""
        self.draw_heading()
        self.set_interval(0.5, self._tick)
        self.begin()

    def _tick(self) -> None:
        """Time goes on in the heading while something is worked out."""
        if self.asking:
            self.draw_heading()

    def on_resize(self) -> None:
        """As much of the path as there is room for."""
        self.draw_heading()

    def begin(self) -> None:
        """Ask for what is to be shown first."""

    def draw_heading(self) -> None:
        """Path of screens that lead here, and whether something is being worked out."""
        if not self.is_there:
            return
        path = [screen.heading for screen in self.app.screen_stack if isinstance(screen, BrowserScreen)]
        if self.heading not in path:
            path.append(self.heading)
        busy = ""
        if self.asking:
            waited = time.monotonic() - self._since
            building = self.browser_app.browser.building
            doing = f"{waited:.0f} s, {building or 'working'}, F4 lists" if waited >= 1.0 else "working"
            busy = f" ({doing} ...)"
        # The last screens matter most where there is no room for all.
        words, room = " > ".join(filter(None, path)), self.size.width - len(busy) - 2
        if len(words) > room > 0:
            words = f"…{words[len(words) - room + 1 :]}"
        self.query_one("#heading", Static).update(styled(words, (busy, "italic")))

    def say(self, message: str, *, error: bool = False) -> None:
        """Put a line above the keys; an empty one takes it away."""
        if not self.is_there:
            return
        self.failure = message if error else ""
        line = self.query_one("#message", Static)
        line.update(plain(f"error: {message}" if error else message))
        line.set_class(error, "error")
        line.display = bool(message)

    def ask(self, work: Callable[[], Answer], then: Callable[[Answer], None], group: str = "ask") -> None:
        """Do ``work`` in a thread, then give ``then`` its answer; a newer one of the group replaces it."""
        if not self.asking:
            self._since = time.monotonic()
        self._number += 1
        self._requests[group] = self._number
        self.draw_heading()
        number = self._number

        # Not yet a coroutine, for a worker that is replaced at once never runs.
        async def asked() -> None:
            await self._asked(work, then, group, number)

        _: Worker[None] = self.run_worker(asked, group=group, exclusive=True)

    async def _asked(
        self, work: Callable[[], Answer], then: Callable[[Answer], None], group: str, number: int
    ) -> None:
        def asked() -> Answer:
            """As long as the screen waits for it: a query of a screen that was left is cancelled."""
            with asked_by("terminal UI", lambda: self._requests.get(group) != number):
                return work()

        try:
            answer = await asyncio.to_thread(asked)
        except Exception as error:  # a question that fails leaves the screens as they are
            known = isinstance(error, KernBenchError | OSError)
            message = f"{error}" if known else f"unexpected {type(error).__name__}: {error}"
            if self.is_there:
                self.say(" ".join(message.split()), error=True)
                self.failed()
        else:
            if self.is_there:
                self.say("")
                then(answer)
        finally:
            # One that was replaced may end later than its successor begins, or never have begun.
            if self._requests.get(group) == number:
                del self._requests[group]
            self.draw_heading()

    def failed(self) -> None:
        """Called when something could not be worked out, after its error is shown."""

    def action_leave(self) -> None:
        """Back to the screen before; the first one stays."""
        if len([one for one in self.app.screen_stack if isinstance(one, BrowserScreen)]) > 1:
            self.dismiss(None)

    def action_window(self) -> None:
        """The next window of the run."""
        if self._run_id:
            self.browser_app.next_window(self._run_id, self.begin)

    def follow(self, target: Target) -> None:
        """Open a thing that a row of this screen names."""
        self.browser_app.open_target(target, self.run_id)
