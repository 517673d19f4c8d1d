"""The answers that the page asks for, by name: what a server gives one by one, and a report has inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api import asking, comparing, kept_runs
from kernbench.api.contents import SCREENS, Screen, comparison, overview, runs, schema, source
from kernbench.api.contents import answers as screen
from kernbench.api.contents.windows import windows
from kernbench.api.folding import ask_folded
from kernbench.api.open_runs import OpenRun, OpenRuns
from kernbench.api.saving import save_question
from kernbench.api.summary import ALL
from kernbench.draw.cells import plain
from kernbench.errors import UsageError
from kernbench.page.graphs import graph
from kernbench.page.machine import machine, machine_use, where_is
from kernbench.page.tables import content, grid_table, table
from kernbench.page.times import time_line
from kernbench.support.hints import did_you_mean
from kernbench.support.pgraph import GraphStore, Result

Params = Mapping[str, Any]


class Answers:
    """Answers about the runs of a store. Safe to use from several threads."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self._open = OpenRuns(store)

    def answer(self, name: str, params: Params) -> Any:
        """The answer called ``name``, plain data; ``KernBenchError`` says what is wrong with ``params``."""
        if name not in ANSWERS:
            raise UsageError(f"there is no answer '{name}'; {did_you_mean(name, ANSWERS)}")
        return plain(ANSWERS[name](self, params))

    def run(self, params: Params) -> OpenRun:
        """The run that ``run`` names, by default the last one."""
        return self._open.run(str(params.get("run") or "last"))


def window_of(params: Params) -> ChosenWindow:
    """The window that ``launch``, ``from`` and ``to`` choose."""
    return ChosenWindow(str(params.get("launch") or "all"), _ns(params, "from"), _ns(params, "to"))


def _ns(params: Params, name: str) -> float | None:
    given = params.get(name)
    if given in (None, ""):
        return None
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name} '{given}' is not a time; give ns as a number") from None


def _runs(answers: Answers, params: Params) -> Any:
    shown = runs.grid(kept_runs.listed(store=answers.store)[::-1])
    return {
        "runs": [[row["run_id"], row["bench"], runs.label(row)] for row in shown.rows],
        "table": grid_table(shown),
    }


def _overview(answers: Answers, params: Params) -> Any:
    run, window = answers.run(params).run, window_of(params)
    shown = content(overview.of_run(run, window))
    about = {"run": run.id, "window": run.window(window).name, "windows": windows(run)}
    return {**about, "source": source.file_of(run), **shown}


def _machine(answers: Answers, params: Params) -> Any:
    opened = answers.run(params)
    of = str(params.get("of") or "") or None
    view = str(params.get("view") or "")
    if not view:
        view, of = where_is(opened.graph, str(params.get("part") or ""))
    return {
        "picture": machine(opened.graph, view, of),
        "use": machine_use(opened.run, opened.graph, view, of, window_of(params)),
    }


def _timeline(answers: Answers, params: Params) -> Any:
    run = answers.run(params).run
    line = run.timeline(window_of(params), links=True, rows=_count(params, "rows", 16))
    return time_line(line, _count(params, "bars", 40_000))


def _count(params: Params, name: str, default: int) -> int:
    given = params.get(name)
    try:
        value = default if given in (None, "") else int(str(given))
    except ValueError:
        value = -1
    if value < 0:
        raise UsageError(f"{name} '{given}' is not a number of rows; give one from 0")
    return value


def _screen(screen: Screen) -> Callable[[Answers, Params], Any]:
    """The answer that is what a tab shows."""

    def answer(answers: Answers, params: Params) -> Any:
        return content(screen.work_out(answers.run(params).run, window_of(params)))

    return answer


def _ask(answers: Answers, params: Params) -> Any:
    question = asking.question(str(params.get("question") or ""))
    given = asking.filled_in(question, params.get("params") or {})
    history = question["scope"] == "history"
    target = None if history else answers.run(params).run.id
    names = {param["name"] for param in question["params"]}
    window = {
        key: value for key, value in window_of(params).given.items() if key in names and key not in given
    }
    seen: list[Result] = []

    def ask(asked: Params) -> Result:
        seen.append(asking.ask(question["name"], target, answers.store, asked, **({} if history else window)))
        return seen[-1]

    names_folded, rows, notes = ask_folded(ask, given, question)
    shown = table(screen.columns(question, names_folded), rows, empty=screen.EMPTY, notes=notes)
    drawn = graph(seen[0].columns, seen[0].rows, question["name"], target)
    return {"table": shown, "graph": drawn, "engine": seen[0].engine}


def _cypher(answers: Answers, params: Params) -> Any:
    text = str(params.get("text") or "").strip()
    if not text:
        raise UsageError("there is nothing to ask; write a query that begins with MATCH")
    of_all = params.get("run") == "*"
    target = None if of_all else answers.run(params).run.id
    found = asking.ask_cypher(text, target, answers.store)
    shown = table(found.columns, found.rows, empty="no rows", notes=found.notes)
    return {"table": shown, "graph": graph(found.columns, found.rows, run=target), "engine": found.engine}


def _save(answers: Answers, params: Params) -> Any:
    name, title, text = (str(params.get(key) or "").strip() for key in ("name", "title", "text"))
    target = None if params.get("run") == "*" else answers.run(params).run.id
    save_question(name, title, text, target, answers.store)
    return {"name": name}


def _compare(answers: Answers, params: Params) -> Any:
    before, after = (str(params.get(name) or "") for name in ("before", "after"))
    if not before or not after:
        raise UsageError("a comparison is of two runs; choose the one before and the one after")
    found = comparing.compare(before, after, answers.store, top=ALL, any_bench=True, launch=window_of(params))
    return content(comparison.content(found))


ANSWERS: Mapping[str, Callable[[Answers, Params], Any]] = {
    "runs": _runs,
    "overview": _overview,
    "machine": _machine,
    "timeline": _timeline,
    "questions": lambda _answers, _params: {"questions": asking.questions()},
    "ask": _ask,
    "cypher": _cypher,
    "schema": lambda _answers, _params: {"labels": [label._asdict() for label in schema.labels()]},
    "save": _save,
    "compare": _compare,
    "source": lambda answers, params: content(source.of_run(answers.run(params).run, window_of(params))),
    **{screen.key: _screen(screen) for screen in SCREENS},
}
"""By name, as the page asks for them."""
