"""Tab completion: the names that benches, questions, runs, topologies and parameters have here and now.

Each function is a ``shell_complete`` of Click: it gets the context (with the arguments before), the parameter
and the text so far. A store that cannot be opened completes nothing.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable

import click

from kernbench.api import names
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


def _words() -> list[str]:
    """The words of the command line so far; Click's context ends at an option whose value is being typed."""
    return shlex.split(os.environ.get("COMP_WORDS", ""), posix=False)


def _bench_settings(_ctx: click.Context) -> Iterable[str]:
    words, known = _words(), names.bench_names()
    chosen = [bench for bench in known if bench in words]
    params = (param for bench in chosen or known for param in known[bench])
    return dict.fromkeys(f"{param}=" for param in params)


def _bench_words(ctx: click.Context) -> Iterable[str]:
    """A bench, then its parameters."""
    known = names.bench_names()
    return [*([] if known.keys() & set(_words()) else known), *_bench_settings(ctx)]


def _questions(_ctx: click.Context) -> Iterable[str]:
    known = names.question_files()
    return [*known, *(name.partition("/")[2] for name in known)]


def _question_parameters(_ctx: click.Context) -> Iterable[str]:
    words, known = set(_words()), names.question_files()
    asked = [file for name, file in known.items() if {name, name.partition("/")[2]} & words]
    params = (param for file in asked or known.values() for param in names.question_parameter_names(file))
    return dict.fromkeys(f"{param}=" for param in params)


def _question_words(ctx: click.Context) -> Iterable[str]:
    """A question, then a run and the question's parameters."""
    known = list(_questions(ctx))
    asked = set(known) & set(_words())
    return [*(_runs(ctx) if asked else known), *_question_parameters(ctx)]


def _runs(ctx: click.Context) -> Iterable[str]:
    kept = names.run_names(ctx.params.get("store"))
    return [
        "last",
        *(run for run, _ in reversed(kept)),
        *dict.fromkeys(tag for _, tags in kept for tag in tags),
    ]


def _exports(ctx: click.Context) -> Iterable[str]:
    from kernbench.api.exporting import formats

    return [*formats(), *_runs(ctx)]


def parts(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of parts of the topology on the command line, one level further than what is typed."""
    from kernbench.api.topologies import load_topology

    known = names.topology_names()
    file = next((word for word in _words() if word in known or word.endswith((".yaml", ".yml"))), "default")
    try:
        graph = load_topology(file)
    except (KernBenchError, OSError):
        return []
    begun = [node.id for node in graph.nodes() if node.properties["impl"] and node.id.startswith(incomplete)]
    level = incomplete.count(".") + 1
    return sorted({".".join(name.split(".")[:level]) + "." * (name.count(".") >= level) for name in begun})


benches = _starting(lambda _ctx: names.bench_names())
evaluations = _starting(lambda _ctx: names.evaluation_names())
bench_words = _starting(_bench_words)
questions = _starting(_questions)
question_words = _starting(_question_words)
runs = _starting(_runs)
topologies = _starting(lambda _ctx: names.topology_names())
topology_keys = _starting(lambda _ctx: [f"{key}=" for key in names.topology_keys()])
exports = _starting(_exports)
patterns = _starting(lambda _ctx: [f"pattern:{name}" for name in names.pattern_names()])
tables = _starting(lambda _ctx: names.table_names())
