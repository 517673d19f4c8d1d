"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from kernbench.pgraph import GraphStore

Function = TypeVar("Function", bound=Callable[..., Any])


def store_option(function: Function) -> Function:
    """``--store URL``, passed as ``store``; None stands for the default store."""
    return click.option(
        "--store",
        metavar="URL",
        help="Where runs are kept: a folder, memory: or neo4j://HOST:7687  [default: $KERNBENCH_STORE or "
        ".kernbench]",
    )(function)


def topology_option(function: Function) -> Function:
    """``--topology FILE``, passed as ``topology``; None stands for the default topology."""
    return click.option(
        "--topology", metavar="FILE", help="A file, or the name of a shipped one.  [default: default]"
    )(function)


def kept_options(function: Function) -> Function:
    """``--tag`` and ``--no-trace``, passed as ``tags`` and ``no_trace``: whether and how a run is kept."""
    tag = click.option(
        "--tag", "tags", multiple=True, metavar="TAG", help="Mark the kept run; may be repeated."
    )
    no_trace = click.option("--no-trace", is_flag=True, help="Keep nothing; times are the same.")
    return tag(no_trace(function))


def check_option(function: Function) -> Function:
    """``--check``, passed as ``check``: watch the simulated machine as it runs."""
    return click.option(
        "--check",
        is_flag=True,
        help="Check the rules of the simulated machine as it runs: bytes, order, capacity, waits. "
        "Takes longer.",
    )(function)


def assignments(option: str, items: Iterable[str]) -> dict[str, str]:
    """``("a=1", "b=2")`` as a dictionary; a text without ``=``, or a name set twice, is wrong usage."""
    values: dict[str, str] = {}
    for item in items:
        name, equals, value = item.partition("=")
        name = name.strip()
        if not equals or not name:
            raise click.UsageError(f"{option} '{item}': write it as name=value")
        if name in values:
            raise click.UsageError(f"{option} '{item}': '{name}' is set twice")
        values[name] = value.strip()
    return values


def topology_file(name: str | None) -> str | None:
    """``name`` as it is; that there is no such topology is wrong usage, unlike a mistake inside the file."""
    from kernbench.errors import ConfigError
    from kernbench.topology.loader import find

    try:
        find(name)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    return name


@contextmanager
def opened(url: str | None) -> Iterator[GraphStore]:
    """The store at ``url`` for the length of a ``with``; what it has to remark goes to stderr."""
    from kernbench import api

    with api.borrowed(url) as store:
        yield store
        for note in store.notes:
            print(f"kernbench: note: {note}", file=sys.stderr)
