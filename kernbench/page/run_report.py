"""The report of a run: the page of ``kernbench web`` as one HTML file, with its data inside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from kernbench.analysis.block_use import busiest_member, members_of_blocks
from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.api.advising import named_run
from kernbench.api.asking import expect, library
from kernbench.api.contents import named, views
from kernbench.api.exporting import check_file, write_file
from kernbench.api.open_runs import open_run
from kernbench.api.pictures import diagram_views
from kernbench.api.result import Run
from kernbench.api.stores import Store
from kernbench.draw.progress import PieceProgress, Standing
from kernbench.errors import KernBenchError, UsageError
from kernbench.export.html import files
from kernbench.page.answers import Answers, window_of

_BARS = 30_000
"""Bars of the timeline: what keeps the file below 5 MB."""
_BY_NAME = 3
"""SIPs, cubes and PEs that are in the file by name, of each."""


def write_report(
    run: str | Run,
    path: str | os.PathLike[str],
    store: Store = None,
    *,
    launch: Chosen = "all",
    from_ns: float | None = None,
    to_ns: float | None = None,
    against: str | None = None,
    progress: PieceProgress | None = None,
) -> str:
    """Write a run into one HTML file that opens without a network, and give the file's name.

    It is the page of ``kernbench web`` without what needs a store to ask: the machine's four views with
    utilisation over time, of the busiest SIPs, cubes and PEs also by name, the timeline, where the time
    went by cause and by source line, the longest waits, advice, energy, the roofline, and the answers of
    the questions that need no parameter. Energy is of the run; all else is of the launches, or of the
    window that ``launch``, ``from_ns`` and ``to_ns`` choose (:meth:`kernbench.Run.window`). The file says
    what is not in it.

    Args:
        run: A run, or a reference to one, such as ``last``.
        path: The file. It appears whole or not at all.
        store: Where the run is kept, for a reference.
        launch: The window; see above.
        from_ns: ns of simulated time.
        to_ns: ns of simulated time.
        against: An earlier run to compare it with: what was configured differently, and what changed.
        progress: Called with how many parts of the page are worked out, and the last one's name.

    Raises:
        UsageError: There is no such run or window, the run has no trace, or ``against`` is of another bench.
    """
    check_file(path)  # before the work
    with named_run(run, store) as found:
        chosen = ChosenWindow.of(launch, from_ns, to_ns)
        found.timeline(chosen, rows=1)  # a run without a trace, or no such window, is an error
        window = {"launch": chosen.launch, "from": chosen.from_ns, "to": chosen.to_ns}
        answers = {}
        for name, answer in _answers(Answers(found.store), {"run": found.id, **window}, against):
            answers[name] = answer
            if progress is not None:
                text = f"writing the page: {name.removeprefix('ask?question=')}"
                progress(Standing(len(answers), 0, text))
    about = {"run": found.id, "views": views(), "made_by": f"KernBench {found.info['version']}"}
    text = files.one_file(f"{found.bench} on {found.topology}", answers, about)
    return write_file(path, lambda out: out.write(text.encode()))[0]


def _answers(answers: Answers, params: dict[str, Any], against: str | None) -> Iterator[tuple[str, Any]]:
    """Each question of the page, as name and parameters, with its answer."""
    if against is not None:
        before = open_run(against, answers.store)
        if before.bench != answers.run(params).run.bench:
            raise UsageError(
                f"run '{before.id}' is of '{before.bench}', another bench; name an earlier run of this one"
            )
        yield "compare", answers.answer("compare", {**params, "before": before.id, "after": params["run"]})
    asked = [
        question
        for question in answers.answer("questions", {})["questions"]
        if question["scope"] == "run"
        and not question["advice"]  # rules: one view shows them together
        and all(param["default"] is not None for param in question["params"])
    ]
    names = {question["name"] for question in asked}
    wanted = [one for one in library().values() if one.name in names or one.advice]
    expect(wanted, params["run"], answers.store)
    yield "overview", answers.answer("overview", params)
    yield "timeline", answers.answer("timeline", {**params, "bars": _BARS})
    for view in diagram_views(answers.run(params).graph):
        found = _or_why_not(answers, "machine", {**params, "view": view})
        yield f"machine?view={view}", found
        if "picture" not in found:
            continue
        for name in _busiest(answers, params, found["picture"]["instances"]):
            one = answers.answer("machine", {**params, "view": view, "of": name})
            yield f"machine?of={name}&view={view}", one
    for key, _ in named():
        yield key, _or_why_not(answers, key, params)
    yield "source", _or_why_not(answers, "source", params)
    yield "questions", {"questions": asked}
    for question in asked:
        name = question["name"]
        yield f"ask?question={name}", _or_why_not(answers, "ask", {**params, "question": name})


def _busiest(answers: Answers, params: dict[str, Any], names: list[str]) -> list[str]:
    """The :data:`_BY_NAME` of these SIPs, cubes or PEs with the busiest member, in the order given."""
    opened = answers.run(params)
    shares = opened.run.utilisation(opened.run.window(window_of(params)))
    table = opened.topology.tables["Component"]
    parent = dict(zip(table["name"].to_pylist(), table["parent"].to_pylist(), strict=True))
    inside = members_of_blocks(parent, shares)
    most = {name: round(busiest_member(shares, inside.get(name, ()))[0], 9) for name in names}
    chosen = sorted(names, key=lambda name: -most[name])[:_BY_NAME]
    return [name for name in names if name in chosen and most[name] > 0]


def _or_why_not(answers: Answers, name: str, params: dict[str, Any]) -> Any:
    """The answer, or the error in its place: not every window has a roofline."""
    try:
        return answers.answer(name, params)
    except KernBenchError as error:
        return {"error": str(error)}
