"""Questions: the library's by name, those of a user's own folders, or free Cypher."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from kernbench.analysis.windows.estimate_bounds import said
from kernbench.api.names import QUERIES_VARIABLE, Folders, question_folders
from kernbench.api.stores import Store, borrowed, run_id
from kernbench.errors import KernBenchError, UsageError
from kernbench.support.data_files import data_dir

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore, Question, Result


def library(queries: Folders = ()) -> Mapping[str, Question]:
    """All questions by name: shipped ones, those of ``$KERNBENCH_QUERIES``, those of the folders ``queries``.

    ``QueryError`` names the file of a question that is wrong, or whose name another one has already.
    """
    folders = question_folders(queries)
    return _library(folders, tuple(map(os.path.abspath, folders)))


@cache
def _library(folders: tuple[str, ...], places: tuple[str, ...]) -> Mapping[str, Question]:
    """The questions of ``folders``, which lie at ``places``: a relative name means another one elsewhere."""
    from kernbench.support.pgraph import QueryError, load_library

    found = dict(load_library(data_dir("queries"), proved=True))
    for folder, place in zip(folders, places, strict=True):
        if not os.path.isdir(place):
            raise UsageError(
                f"'{folder}' is not a folder of questions; see --queries and ${QUERIES_VARIABLE}"
            )
        own = load_library(place)
        if taken := sorted(own.keys() & found.keys()):
            raise QueryError(f"{folder}: there is a question '{taken[0]}' already; give yours another name")
        found |= own
    return dict(sorted(found.items()))


def look_again() -> None:
    """Forget the questions read so far; the next request reads the folders again."""
    _library.cache_clear()


def questions(queries: Folders = ()) -> list[dict[str, Any]]:
    """The library as plain data: ``name title scope params returns folds notes rests_on advice``.

    In order of name. Each parameter has ``name type default help choices minimum`` (without a default it must
    be given), each returned column ``name type unit help``. ``folds`` are the columns that name parts of the
    machine, of questions whose rows are shown as one where the parts are symmetric. ``rests_on`` names the
    analyses that work out what it reads, beside what a run itself has; ``advice`` says what to do about a
    row, of those that look for something to improve.
    """
    return [_plain(found) for found in library(queries).values()]


def question(name: str, queries: Folders = ()) -> dict[str, Any]:
    """One question as :func:`questions` describes it; its last part is enough where no other ends so."""
    from kernbench.support.pgraph import find_question

    return _plain(find_question(library(queries), name))


def _plain(found: Question) -> dict[str, Any]:
    return {
        "name": found.name,
        "title": found.title,
        "scope": found.scope,
        "params": [{"name": name, **param.model_dump()} for name, param in found.params.items()],
        "returns": [column.model_dump() for column in found.returns],
        "folds": list(found.folds),
        "notes": found.notes,
        "rests_on": found.rests_on,
        "advice": found.advice,
    }


def filled_in(question: Mapping[str, Any], texts: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a form with these ``texts`` gives: empty ones are left at their defaults.

    Where the default names a thing, an empty text is a value of its own, "any": such a field holds the
    default from the start, for which :func:`names_by_default` asks.
    """
    named = {param["name"] for param in question["params"] if names_by_default(param)}
    return {name: text for name, text in texts.items() if str(text).strip() or name in named}


def names_by_default(param: Mapping[str, Any]) -> bool:
    """Whether a parameter, as :func:`question` describes it, names a thing where it is not given.

    Runs do not count: there is always one that is meant.
    """
    return bool(param["refers"] and param["refers"] != "run" and param["default"])


def ask(
    name: str,
    run: str | None = None,
    store: Store = None,
    params: Mapping[str, object] | None = None,
    *,
    queries: Folders = (),
    explain: bool = False,
    **window: Any,
) -> Result:
    """Ask the question ``name``.

    Args:
        name: Of the question; its last part is enough where no other question ends so.
        run: An id or a reference such as ``last~1``; by default the last run. Questions about the history are
            asked of all runs.
        store: An open store, a URL, or None for the default one.
        params: The question's parameters, also as text.
        queries: Folders with questions of your own.
        explain: Give the plan instead of the rows, as :func:`ask_cypher` does.
        window: ``launch``, ``from_ns`` and ``to_ns`` choose a window, as :meth:`kernbench.Run.window` takes
            them, for questions with parameters of that name; by default it is that of the launches.

    Returns:
        Columns and rows; ``engine`` says who answered.

    Raises:
        QueryError: The question or a parameter is unknown.
    """
    from kernbench.support.pgraph import ask as ask_question

    question, given, bound = _gather(name, params, queries, window)
    with borrowed(store) as opened:
        target, bound = _fit(opened, question, run, given, bound)
        _work_out(opened, question, target, bound)
        found = ask_question(opened, question, target, explain=explain, **bound)
        more = [] if explain else _of_simulated(opened, question.text("", bound), target)
        return replace(found, notes=[*found.notes, *more])


_SIMULATED = frozenset({"HOP", "SERVED", "WAITED_FOR", "WAITED_AT", "Wait"})
"""What a run has of its simulated part alone, where it accounts for more."""


def _of_simulated(store: GraphStore, text: str, target: str | None) -> list[str]:
    """What was simulated of the run, where a text sees that alone and the run accounts for more."""
    from kernbench.support.pgraph import looked_at

    if target is None or _SIMULATED.isdisjoint(looked_at(text)):
        return []
    return said(store.load(target).info)[:1]


def print_question(
    name: str,
    run: str | None = None,
    store: Store = None,
    params: Mapping[str, object] | None = None,
    *,
    form: str = "neo4j",
    queries: Folders = (),
    **window: Any,
) -> str:
    """The question ``name`` as text to paste into another client of a server that has the run.

    Arguments are those of :func:`ask`; ``form`` is ``neo4j`` for Neo4j Browser, or ``cypher-shell``. The text
    sets the parameters, among them the run's id, and has the same rows there as :func:`ask` here. Where it
    rests on an analysis that is not on that server for certain, a comment in it says what to do.
    """
    from kernbench.support.pgraph import parameter_names, printed

    question, given, bound = _gather(name, params, queries, window)
    with borrowed(store) as opened:
        target, bound = _fit(opened, question, run, given, bound)
        _work_out(opened, question, target, bound)
        there = not question.works_out or "neo4j" in opened.engines
    text = question.text("neo4j", bound)
    values = {"run": target, **bound}
    remark = (
        f"No rows before the server has the analysis '{question.works_out}' for these parameters: ask "
        f"'kernbench query {question.name} --store neo4j://...' with them there once"
    )
    given = {name: values[name] for name in parameter_names(text)}
    return printed(text, given, form, "" if there else remark)


def expect(questions: Sequence[Question], run: str, store: GraphStore) -> None:
    """Make the one graph that all of these questions look at, which is quicker than a larger one for each."""
    for question in questions:
        with suppress(KernBenchError):  # it is told where the question is asked
            _work_out(store, question, run, question.bind({}))
    for engine in store.engines:
        if asked := [(one.text(engine), one.defaults()) for one in questions if one.engine == engine]:
            store.expect(run, asked, engine)


def _work_out(store: GraphStore, question: Question, run: str | None, params: Mapping[str, Any]) -> None:
    """See to it that the graph has the answers of the analysis that the question rests on."""
    if question.works_out and run is not None:
        from kernbench.analysis.on_demand import add_answers

        add_answers(store, run, question.works_out, params)


def _gather(
    name: str, params: Mapping[str, object] | None, queries: Folders, window: Mapping[str, Any]
) -> tuple[Question, dict[str, Any], dict[str, Any]]:
    """The question, the parameters that were given, and all of them.

    Before anything is opened: wrong parameters fail at once, and names that :func:`ask` itself takes (store,
    run) cannot clash with the question's.
    """
    from kernbench.support.pgraph import QueryError, find_question

    question = find_question(library(queries), name)
    given: dict[str, Any] = dict(params or {})
    if "launch" in given:
        given["launch"] = str(given["launch"])
    for key, value in window.items():
        if value is not None:
            if key not in question.params:
                raise QueryError(f"question '{question.name}' looks at the whole run; it takes no '{key}'")
            given[key] = str(value) if key == "launch" else value
    return question, given, question.bind(given)


def _fit(
    store: GraphStore, question: Question, run: str | None, given: Mapping[str, Any], bound: Mapping[str, Any]
) -> tuple[str | None, dict[str, Any]]:
    """The id of the run that is asked, and the parameters checked against it and as the graph takes them."""
    from kernbench.analysis.question_params import check_params, fitting

    target = None if question.scope == "history" else run_id(store, run or "last")
    found = check_params(store, question, target, bound, given, lambda ref: run_id(store, ref))
    return target, found if target is None else fitting(store.load(target), question, found)


def ask_cypher(
    text: str,
    run: str | None = None,
    store: Store = None,
    params: Mapping[str, object] | None = None,
    *,
    engine: str | None = None,
    timeout_s: float | None = None,
) -> Result:
    """Ask free Cypher, which may only read, of one run's graph, or of the one over all runs (None).

    Args:
        text: one statement. ``$run`` in it is the run's id. After ``EXPLAIN`` its plan comes instead of its
            rows: a line of the engine's text each, in the column ``plan``; from a server an operator each,
            ``depth operator details estimated_rows``, the last one first. After ``PROFILE`` the plan has
            what was counted, on a server and from ``ladybug``.
        run: an id, a unique prefix of one, a tag, ``last`` or ``last~N``.
        store: a store, its URL, or None for the default one.
        params: values of the other parameters by name.
        engine: ``arcadedb`` or ``ladybug``, where a store has several; None for the first that is installed.
        timeout_s: time after which the query is stopped; None for a minute.

    Returns:
        Columns and rows; nodes, relationships and paths are :class:`GraphNode`, :class:`GraphRelationship`
        and :class:`GraphPath`. ``engine`` says who answered.
    """
    from kernbench.api.cypher_errors import explain_error
    from kernbench.support.pgraph import QUERY_TIMEOUT_S, QueryError

    with borrowed(store) as opened:
        target = None if run is None else run_id(opened, run)
        try:
            limit = QUERY_TIMEOUT_S if timeout_s is None else timeout_s
            found = opened.query(text, dict(params or {}), target, limit, engine)
        except QueryError as error:
            raise explain_error(error, text) from error
        return replace(found, notes=[*found.notes, *_of_simulated(opened, text, target)])
