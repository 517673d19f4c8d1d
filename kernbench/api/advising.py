"""What is asked of a run that is named: advice, and its energy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kernbench.api.advice import LEAST, advice_on
from kernbench.api.energy_use import EnergyUse, Figures, energy_by
from kernbench.api.names import Folders
from kernbench.api.open_runs import open_run
from kernbench.api.result import Run
from kernbench.api.shown import Found
from kernbench.api.stores import Store, borrowed


@contextmanager
def named_run(run: str | Run, store: Store = None) -> Iterator[Run]:
    """The run that is meant, for the length of a ``with``: a run itself, or a reference in ``store``."""
    if isinstance(run, Run):
        yield run
        return
    with borrowed(store) as kept_in:
        yield open_run(run, kept_in)


class Advised(Found):
    """Advice on a run that is named: see :func:`advise`."""

    shown_by = "advice:of_named_run"


def advise(
    run: str | Run = "last",
    store: Store = None,
    *,
    launch: int | str = "all",
    least: float = LEAST,
    queries: Folders = (),
) -> Advised:
    """What to do next about a run: the rules that found something, the largest saving first.

    Args:
        run: A run, or a reference to one, such as ``last~1``.
        store: Where the run is kept, for a reference.
        launch: Number of a launch, or ``all``.
        least: Share of the window's time, 0 to 1, that advice has to save to be given.
        queries: Folders with questions of your own; those with ``advice`` are rules too.

    Returns:
        ``run_id bench topology launch window ns advice uncovered``; each of ``advice`` has ``rule title
        advice saves_ns share evidence model``: the question, what it asks, what to do, ns and share of the
        window's time that doing it should save, the row that the rule found, and the nodes of a compiled
        model that it is about, empty where none are known. ``uncovered`` is None unless most of
        the critical path is nothing that a rule speaks of: ``share``, how much of it at least, and its
        longest part's ``cause location ns longest_share``.

    Raises:
        UsageError: There is no such run or launch, or the run has no trace.
    """
    with named_run(run, store) as kept:
        found, window = advice_on(kept, launch, least, queries), kept.window(launch)
        facts = {**kept.window_facts(window), "ns": window.ns}
        return Advised(**facts, advice=found, uncovered=found.uncovered)


def energy(
    run: str | Run = "last",
    store: Store = None,
    *,
    by: str = "kind",
    figures: Figures | None = None,
    power_limit_w: float | None = None,
) -> EnergyUse:
    """The energy of a run, worked out from its trace: nothing is simulated.

    Args:
        run: A run, or a reference to one, such as ``last~1``.
        store: Where the run is kept, for a reference.
        by: ``part``, ``kind`` (all parts of a kind together), ``line``, ``launch`` or ``model`` (all launches
            of a kernel that carry out the same of a compiled model): what ``rows`` are. The rows add up to
            ``energy_pj`` whatever it is.
        figures: Figures to use in place of the machine's own and of ``configs/energy.yaml``, by dotted key.
        power_limit_w: With ``by="launch"``: W that the whole machine may draw. Rows of launches then have
            ``watts``, their average without the limit, and ``clock_share``, the share of its clock at which
            each keeps it: an estimate, for a clock that falls with its voltage. The run stays as it is.

    Returns:
        ``run_id bench topology latency_ns launch_ns sim_ns energy_pj dynamic_pj static_pj launches_pj
        edp_pj_ns by rows``. ``energy_pj`` is that of the whole run, ``launches_pj`` that of its launches, and
        ``edp_pj_ns`` the latter times ``latency_ns``. Each row has ``name kind energy_pj share dynamic_pj
        static_pj``; those of launches have ``launch`` as well, these and ``model``'s ``model_nodes`` and
        ``model_line``. The largest comes first.

    Raises:
        UsageError: There is no such run, it has no trace, or there are no such figures.
    """
    with named_run(run, store) as kept:
        return energy_by(kept, by, figures, power_limit_w)
