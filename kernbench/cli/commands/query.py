"""``kernbench query``: questions of the library, or free Cypher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api import asking
from kernbench.api.asking import print_question
from kernbench.api.folding import ask_folded
from kernbench.cli import completion, options
from kernbench.cli.group import Command
from kernbench.cli.output import emit, format_option, print_table, remark, say
from kernbench.cli.progress import Progress
from kernbench.cli.source_links import link_lines
from kernbench.support.pgraph import (
    EXPLAIN,
    GraphStore,
    QueryError,
    QueryTimeoutError,
    ReadOnlyError,
    Result,
    asked_for_plan,
)


class _QueryCommand(Command):
    """``query NAME --help`` is about that question."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As Click does, but help that follows the name of a question shows the question."""
        rest = [arg for arg in args if arg not in ctx.help_option_names]
        if len(rest) < len(args):
            ctx.resilient_parsing = True
            super().parse_args(ctx, list(rest))
            ctx.resilient_parsing = False
            if name := _asked(ctx.params.get("words") or (), named=True)[0]:
                say("\n".join(_help(asking.question(name, ctx.params.get("queries") or ()))))
                ctx.exit()
            ctx.params.clear()
        return super().parse_args(ctx, args)


@click.command(
    cls=_QueryCommand,
    examples=[
        "kernbench query --list",
        "kernbench query busiest-links --help",
        "kernbench query busiest-links last limit=3",
        "kernbench query --cypher 'MATCH (t:Transaction) RETURN t.kind AS kind, count(*) AS n ORDER BY kind'",
    ],
)
@click.argument(
    "words", nargs=-1, metavar="NAME [RUN] [PARAM=VALUE]...", shell_complete=completion.question_words
)
@options.moved("--run", "{command} NAME {value}")
@options.moved("--param", "{command} NAME {value}")
@options.window
@click.option(
    "--list", "list_all", is_flag=True, help="List the questions of the library and their parameters."
)
@click.option(
    "--cypher",
    metavar="TEXT",
    help="Run this query instead of a question of the library. Read-only; EXPLAIN shows its plan.",
)
@click.option(
    "--print", "form", type=click.Choice(["neo4j", "cypher-shell"]), is_flag=False, flag_value="neo4j",
    help="Print the Cypher of the question with its parameters, to paste into Neo4j Browser or cypher-shell.",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Show the plan instead of the rows, and which engine answers.")
@click.option(
    "--engine", type=click.Choice(["arcadedb", "ladybug"]),
    help="Engine of --cypher for stores in memory or a folder.  [default: arcadedb where it is installed]",
)  # fmt: skip
@click.option(
    "--timeout", "timeout_s", type=click.FloatRange(min=0, min_open=True), metavar="S", default=60.0,
    show_default=True, help="Stop --cypher after this many seconds.",
)  # fmt: skip
@options.queries
@click.option("--no-fold", is_flag=True, help="Do not merge rows that differ only in an index.")
@options.store
@format_option
def command(
    words: tuple[str, ...],
    window: ChosenWindow,
    list_all: bool,
    cypher: str | None,
    form: str | None,
    explain: bool,
    engine: str | None,
    timeout_s: float,
    queries: tuple[str, ...],
    no_fold: bool,
    store: str | None,
    fmt: str,
) -> None:
    """Answer the question NAME about RUN, by default the last; 'query NAME --help' shows its parameters.

    With --cypher, limit=3 sets the parameter $limit of your query.

    Questions about a time range cover the launches, unless --launch, --from or --to choose another. In tables
    of parts of the machine, symmetric parts are merged into one row, and the column count says how many there
    are; limit=N counts merged rows. --cypher without RUN queries the graph over all runs if that has all
    labels of the query (Run, Topology, USED), else the graph of the last run.
    """
    name, run, params = _asked(words, named=not list_all and cypher is None)
    if sum((name is not None, list_all, cypher is not None)) != 1:
        raise click.UsageError("give one of NAME, --list and --cypher")
    windowed = _is_given("launch") or window.timed
    if form is not None and (name is None or explain):
        raise click.UsageError("--print is for a question by name, without --explain")
    if list_all:
        if params or run is not None or windowed or explain:
            raise click.UsageError("--list takes neither a run, parameters, --explain nor a window")
        _list(fmt, queries)
        return
    values = options.assignments("parameter", params)
    if cypher is not None and windowed:
        raise click.UsageError("--cypher takes no --launch, --from or --to; write the window into the text")
    if cypher is None and (engine is not None or _is_given("timeout_s")):
        raise click.UsageError("--engine and --timeout are for --cypher; leave them out")
    with options.opened(store) as kept_in, Progress() as progress:
        kept_in.progress, kept_in.announce = progress.of_graph, remark
        if name is not None:
            chosen = window.given if windowed else {}
            if form is not None:
                click.echo(print_question(name, run, kept_in, values, form=form, queries=queries, **chosen))
                return

            def ask(params: Mapping[str, Any]) -> Result:
                assert name is not None
                answer = kb.ask(name, run, kept_in, params, queries=queries, explain=explain, **chosen)
                if asking.question(name, queries)["scope"] == "run":
                    link_lines(kb.open_run(run or "last", kept_in))
                return answer

            if fmt == "table" and not no_fold and not explain:
                _print_folded(ask, values, asking.question(name, queries))
                return
            result = ask(values)
        else:
            assert cypher is not None
            bound = {key: _literal(text) for key, text in values.items()}
            asked = f"{EXPLAIN} {cypher}" if explain and not asked_for_plan(cypher)[0] else cypher
            explain = bool(asked_for_plan(asked)[0])
            result = _ask_cypher(asked, run, kept_in, bound, engine, timeout_s)
    payload: dict[str, Any] = {
        "name": name,
        "engine": result.engine,
        "columns": result.columns,
        "rows": result.rows,
    }
    columns: list[str] = list(result.columns)
    rows: list[Sequence[Any]] = list(result.rows)
    emit(fmt, payload, columns, rows)
    if explain:
        remark(f"{result.engine or 'no engine'} answers this")
    if fmt == "table" and not rows:
        remark("no matching rows")


def _asked(words: Sequence[str], *, named: bool) -> tuple[str | None, str | None, list[str]]:
    """The question where one is ``named``, the run, and parameters as texts."""
    params = [word for word in words if "=" in word]
    rest = [word for word in words if "=" not in word]
    name = rest.pop(0) if named and rest else None
    if given := [word.removeprefix("run=") for word in params if word.startswith("run=")]:
        asked = f"{name or '--cypher TEXT'} {given[0]}"
        raise click.UsageError(
            f"the run is a word of its own, not a parameter; write 'kernbench query {asked}'"
        )
    if len(rest) > 1:
        raise click.UsageError(f"'{rest[1]}': the run is named already, '{rest[0]}'; write name=value")
    return name, (rest[0] if rest else None), params


def _print_folded(
    ask: Callable[[Mapping[str, Any]], Result], values: Mapping[str, str], question: dict[str, Any]
) -> None:
    """A table whose rows are folded before they are cut to the question's ``limit``."""
    from kernbench.api.contents import answers as screen

    names, rows, notes = ask_folded(ask, values, question)
    print_table(screen.columns(question, names), rows)
    if not rows:
        notes.append("no matching rows")
    for note in notes:
        remark(note)


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _ask_cypher(
    text: str,
    run: str | None,
    store: GraphStore,
    params: dict[str, object],
    engine: str | None,
    timeout_s: float,
) -> Result:
    """Without ``run``: of the graph over all runs where that has what is asked for, else of the last run."""

    def ask(of: str | None) -> Result:
        return kb.ask_cypher(text, of, store, params, engine=engine, timeout_s=timeout_s)

    try:
        return ask(run)
    except (ReadOnlyError, QueryTimeoutError):
        raise
    except QueryError:
        if run is not None or not store.runs():
            raise
        return ask("last")


def _list(fmt: str, queries: tuple[str, ...]) -> None:
    questions = kb.questions(queries)
    rows = [
        (q["name"], q["title"], " ".join(_signature(p) for p in q["params"]), ", ".join(q["rests_on"]))
        for q in questions
    ]
    emit(fmt, {"questions": questions}, ("name", "title", "params", "rests_on"), rows)


def _help(question: dict[str, Any]) -> list[str]:
    """A question's page in the terminal."""
    lines = [question["name"], "", f"  {question['title']}"]
    if question["notes"]:
        lines += ["", *click.wrap_text(question["notes"], 96, "  ", "  ").splitlines()]
    if question["rests_on"]:
        lines += ["", f"  Rests on the analysis of {' and '.join(question['rests_on'])}."]
    for title, entries in (
        ("Parameters (NAME=VALUE)", question["params"]),
        ("Columns", question["returns"]),
    ):
        if entries:
            lines += ["", f"{title}:"]
            width = max(len(_signature(entry) if "default" in entry else entry["name"]) for entry in entries)
            for entry in entries:
                label = _signature(entry) if "default" in entry else entry["name"]
                about = " ".join(part for part in (_type_text(entry), entry["help"]) if part)
                lines.append(f"  {label:<{width}}  {about}".rstrip())
    example = " ".join(f"{p['name']}=..." for p in question["params"] if p["default"] is None)
    return [*lines, "", "Example:", f"  kernbench query {question['name']} {example}".rstrip()]


def _type_text(entry: dict[str, Any]) -> str:
    """``(int, ns)``, and the choices of a parameter that has some."""
    unit = f", {entry['unit']}" if entry.get("unit") else ""
    choices = f": {', '.join(map(str, entry['choices']))}" if entry.get("choices") else ""
    return f"({entry['type']}{unit}{choices})"


def _signature(param: dict[str, object]) -> str:
    """``name=default``; ``name=?`` where a value must be given."""
    default = param["default"]
    return f"{param['name']}={'?' if default is None else default or repr(default)}"


def _literal(text: str) -> object:
    """The value that a text on the command line stands for in free Cypher: a bool, a number, or itself."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
