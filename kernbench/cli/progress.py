"""The progress of a long run, on the terminal of the person who started it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO

from kernbench.cli.output import remark
from kernbench.draw.cells import number, printable
from kernbench.draw.progress import line
from kernbench.engine.run_options import WorkProgress

if TYPE_CHECKING:
    from rich.live import Live

    from kernbench.api.sweeps.result import SweepPoint
    from kernbench.draw.progress import Standing

QUIET_S = 1.0
"""Work shorter than this shows nothing."""
_EVERY_S = 0.2
_LOGGED_EVERY_S = 30.0
"""Between lines where stderr is a file or a pipe."""
_LAST_POINTS = 12
"""Points of a sweep that are shown while it goes on."""


class Progress:
    """Called with (simulated ns, events so far, share done or None); shows one line that it keeps redrawing.

    Nothing is written within the first second. Where ``stream`` (stderr) is not a terminal, each line stays,
    and there is one every 30 s. Used as a context manager it removes its line at the end.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.clock = clock
        self.started = clock()
        self.on_terminal = self.stream.isatty()
        self._every_s = _EVERY_S if self.on_terminal else _LOGGED_EVERY_S
        self.shown = self.started + (QUIET_S - _EVERY_S if self.on_terminal else 0.0)
        self._live: Live | None = None
        self._told = False
        """Whether the work itself has said how far it is."""

    def __call__(self, sim_ns: float, events: int, share: float | None = None) -> None:
        """Show how far it is, unless that was done a moment ago."""
        self._show(lambda wall_s: line(sim_ns, events, wall_s, share))

    @property
    def of_run(self) -> WorkProgress:
        """The progress of one run, which also says what it has done of its work."""
        return WorkProgress(
            lambda sim_ns, events, work: self._show(
                lambda wall_s: line(sim_ns, events, wall_s, work.share, work.text)
            )
        )

    def of_graph(self, done: int, total: int) -> None:
        """Show how far the building of a graph is; as when called."""
        self._show(lambda _: f"building the graph, {100 * done / max(1, total):.0f} % done")

    def of_pieces(self, standing: Standing, points: Sequence[SweepPoint] = ()) -> None:
        """Show how far it is, below the points of a sweep that were done last; as when called."""
        lines = [*point_lines(points), standing.text] if self.on_terminal else [standing.text]
        self._show(lambda _: "\n".join(lines))

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Show ``what`` and the seconds since the start, as long as the work says nothing itself."""
        over = Event()

        def tell() -> None:
            while not over.wait(_EVERY_S):
                if not self._told:
                    self._draw(lambda wall_s: f"{what}, {wall_s:.0f} s")

        teller = Thread(target=tell, daemon=True)
        if self.on_terminal:
            teller.start()
        try:
            yield
        finally:
            over.set()
            if teller.ident is not None:
                teller.join()

    def _show(self, text: Callable[[float], str]) -> None:
        self._told = True
        self._draw(text)

    def _draw(self, text: Callable[[float], str]) -> None:
        now = self.clock()
        if now - self.shown < self._every_s:
            return
        self.shown = now
        if not self.on_terminal:
            print(printable(text(now - self.started)), file=self.stream, flush=True)
            return
        if self._live is None:
            self._live = self._begin()
        self._live.update(text(now - self.started), refresh=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def _begin(self) -> Live:
        # Imported now: rich takes longer to import than most commands take to run.
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self.stream, force_terminal=True, highlight=False, markup=False)
        live = Live(console=console, auto_refresh=False, transient=True)
        live.start()
        return live


@contextmanager
def running() -> Iterator[Progress]:
    """The progress of simulations; what they print goes to stderr, for stdout has the answer alone.

    A remark first where runs are slow because what is compiled is out of date.
    """
    # Imported now: whoever simulates needs it, others do not wait for it.
    from kernbench.support import compiled

    if text := compiled.reminder():
        remark(text)
    with redirect_stdout(sys.stderr), Progress() as progress:  # rich gives back the stdout that it found
        yield progress


def point_lines(points: Sequence[SweepPoint]) -> list[str]:
    """``point 3: block_n=32  1,234.5 ns`` for each of the last of these."""
    from kernbench.api.sweeps.result import Sweep

    swept = Sweep("", tuple(points)).swept
    shown = points[-_LAST_POINTS:]
    named = [f"point {one.point}: {' '.join(f'{key}={one.value(key)}' for key in swept)}" for one in shown]
    wide = max(map(len, named), default=0)
    told = [one.error or f"{number(one.latency_ns)} ns" for one in shown]
    return [printable(f"{name:{wide}}  {text}") for name, text in zip(named, told, strict=True)]
