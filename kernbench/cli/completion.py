"""Tab completion: the names that benches, questions, runs, topologies and parameters have here and now.

Each function is a ``shell_complete`` of Click: it gets the context (with the arguments before), the parameter
and the text so far. A store that cannot be opened completes nothing.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from typing import Any

import click

from kernbench.errors import KernBenchError

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _starting(texts: Callable[[click.Context], Iterable[str]]) -> Complete:
    """The ``texts`` that begin with what is typed; none where they cannot be had."""

    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        try:
            return [text for text in texts(ctx) if text.startswith(incomplete)]
        except (KernBenchError, OSError):
            return []

    return complete


def _benches(_ctx: click.Context) -> Iterable[str]:
    from kernbench import api

    return [bench["name"] for bench in api.benches()]


def _words() -> list[str]:
    """The words of the command line so far; Click's context ends at an option whose value is being typed."""
    return shlex.split(os.environ.get("COMP_WORDS", ""), posix=False)


def _bench_settings(_ctx: click.Context) -> Iterable[str]:
    from kernbench import api

    words, chosen = _words(), None
    if "--bench" in words[:-1]:
        chosen = words[words.index("--bench") + 1]
    settings = (p for bench in api.benches() if chosen in (None, bench["name"]) for p in bench["params"])
    return dict.fromkeys(f"{p['name']}=" for p in settings)


def _questions(_ctx: click.Context) -> Iterable[str]:
    from kernbench import api

    names = [question["name"] for question in api.questions()]
    return [*names, *(name.partition("/")[2] for name in names)]


def _question_parameters(_ctx: click.Context) -> Iterable[str]:
    from kernbench import api

    words = set(_words())
    asked = [q for q in api.questions() if {q["name"], q["name"].partition("/")[2]} & words]
    return dict.fromkeys(f"{param['name']}=" for q in asked or api.questions() for param in q["params"])


def _runs(ctx: click.Context) -> Iterable[str]:
    from kernbench import api

    with api.borrowed(ctx.params.get("store")) as store:
        kept: list[Any] = api.runs(store)
    return [
        "last",
        *(run.id for run in reversed(kept)),
        *dict.fromkeys(tag for run in kept for tag in run.tags),
    ]


def _topologies(_ctx: click.Context) -> Iterable[str]:
    from kernbench.topology import shipped

    return shipped()


def _patterns(_ctx: click.Context) -> Iterable[str]:
    from kernbench import api

    return [f"pattern:{pattern['name']}" for pattern in api.traffic_patterns()]


def _evaluations(_ctx: click.Context) -> Iterable[str]:
    from kernbench import api

    return [evaluation["name"] for evaluation in api.evaluations()]


benches = _starting(_benches)
evaluations = _starting(_evaluations)
bench_settings = _starting(_bench_settings)
questions = _starting(_questions)
question_parameters = _starting(_question_parameters)
runs = _starting(_runs)
topologies = _starting(_topologies)
patterns = _starting(_patterns)
