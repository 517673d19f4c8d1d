"""``kernbench query``: questions of the library, or free Cypher."""

from __future__ import annotations

import click

from kernbench import api
from kernbench.cli.group import Command
from kernbench.cli.options import assignments, opened, store_option
from kernbench.cli.output import emit, format_option
from kernbench.pgraph import GraphStore, QueryError, ReadOnlyError, Result


@click.command(
    cls=Command,
    examples=[
        "kernbench query --list",
        "kernbench query bottleneck/busiest-links --run last",
        "kernbench query --cypher 'MATCH (t:Transaction) RETURN t.kind AS kind, count(*) AS n ORDER BY kind'",
    ],
)
@click.argument("name", required=False)
@click.option("--run", "run", metavar="RUN", help="The run to ask: an id, the start of one, or last.")
@click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option(
    "--list", "list_all", is_flag=True, help="List the questions of the library and their parameters."
)
@click.option(
    "--cypher", metavar="TEXT", help="Ask this instead of a question of the library. It may only read."
)
@store_option
@format_option
def command(
    name: str | None,
    run: str | None,
    params: tuple[str, ...],
    list_all: bool,
    cypher: str | None,
    store: str | None,
    fmt: str,
) -> None:
    """Ask the question NAME of a kept run, by default the last.

    Free Cypher without --run is asked of the graph over all runs where that has what it names (Run, Topology,
    USED), and of the last run where it does not.
    """
    if sum((name is not None, list_all, cypher is not None)) != 1:
        raise click.UsageError("give one of NAME, --list and --cypher")
    if list_all:
        if params or run is not None:
            raise click.UsageError("--list takes neither --run nor --param")
        _list(fmt)
        return
    values = assignments("--param", params)
    with opened(store) as kept_in:
        if name is not None:
            result = api.ask(name, run, kept_in, values)
        else:
            assert cypher is not None
            result = _ask_cypher(cypher, run, kept_in, {key: _literal(text) for key, text in values.items()})
    payload = {"name": name, "columns": result.columns, "rows": result.rows}
    emit(fmt, payload, result.columns, result.rows)


def _ask_cypher(text: str, run: str | None, store: GraphStore, params: dict[str, object]) -> Result:
    """Without ``run``: of the graph over all runs where that has what is asked for, else of the last run."""
    try:
        return api.ask_cypher(text, run, store, params)
    except ReadOnlyError:
        raise
    except QueryError:
        if run is not None or not store.runs():
            raise
        return api.ask_cypher(text, "last", store, params)


def _list(fmt: str) -> None:
    questions = api.questions()
    rows = [(q["name"], q["title"], " ".join(_signature(p) for p in q["params"])) for q in questions]
    emit(fmt, {"questions": questions}, ("name", "title", "params"), rows)


def _signature(param: dict[str, object]) -> str:
    """``name=default``; ``name=?`` where a value must be given."""
    default = param["default"]
    return f"{param['name']}={'?' if default is None else default or repr(default)}"


def _literal(text: str) -> object:
    """What a value on the command line means in free Cypher: true, false, a number, or else text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
