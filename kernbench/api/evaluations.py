"""Evaluations: many configurations of benches and traffic, tables of them, and figures.

A file registers one with :func:`evaluation`; ``kernbench evaluate`` runs it. Those that are shipped lie in
the folder ``evaluations``, a file each; a file whose name starts with an underscore is a helper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from kernbench.errors import BenchError, UsageError
from kernbench.support.data_files import data_dir
from kernbench.support.hints import suggestion
from kernbench.support.user_modules import load_file
from kernbench.workloads.benches import registry as benches
from kernbench.workloads.benches.params import Param, ParamValue, resolve_params

Run = Callable[[Any], None]
"""An evaluation: it takes a :class:`kernbench.api.sweeps.evaluator.Evaluator`."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_registered: dict[str, EvaluationSpec] = {}


@dataclass(frozen=True, slots=True)
class EvaluationSpec:
    """A registered evaluation."""

    name: str
    description: str
    params: tuple[Param, ...]
    run: Run
    module: str

    def resolve_params(self, values: Mapping[str, object] | None = None) -> dict[str, ParamValue]:
        """Values of all parameters; an unknown one is a :class:`UsageError`."""
        return resolve_params(self.name, self.params, values, what="evaluation")


def evaluation(*, name: str, description: str, params: Sequence[Param] = ()) -> Callable[[Run], Run]:
    """Register ``run(evaluator)``. ``name`` is kebab-case, ``description`` a short sentence.

    A bad or repeated name is a :class:`BenchError`.
    """
    if not _NAME.fullmatch(name):
        raise BenchError(f"evaluation name {name!r}: use kebab-case, such as 'my-evaluation'")

    def register(run: Run) -> Run:
        known = _registered.get(name)
        if known is not None and known.module != run.__module__:
            raise BenchError(f"evaluation '{name}' is in {known.module} and in {run.__module__}; rename one")
        _registered[name] = EvaluationSpec(name, description, tuple(params), run, run.__module__)
        return run

    return register


def list_all() -> list[EvaluationSpec]:
    """The shipped evaluations in alphabetical order."""
    modules = _shipped()
    shipped = (spec for spec in _registered.values() if spec.module in modules)
    return sorted(shipped, key=lambda spec: spec.name)


@cache
def _shipped() -> frozenset[str]:
    """The modules of the shipped evaluations, which are imported."""
    files = sorted(data_dir("evaluations").glob("[!_]*.py"))
    return frozenset(load_file(str(file), "evaluation") for file in files)


def resolve(name: str) -> EvaluationSpec:
    """The evaluation called ``name``, or of a file: ``file.py`` or ``file.py:name``.

    An unknown one is a :class:`UsageError` that lists those that there are.
    """
    known = {spec.name: spec for spec in list_all()}
    if name in known:
        return known[name]
    path, _, wanted = name.partition(":")
    if path.endswith(".py"):
        module = load_file(path, "evaluation")
        found = {spec.name: spec for spec in _registered.values() if spec.module == module}
        if wanted in found or (not wanted and len(found) == 1):
            return found[wanted] if wanted else next(iter(found.values()))
        raise UsageError(
            f"'{path}' has {'no evaluation' if not found else 'the evaluations ' + ', '.join(found)}; "
            "decorate a function with @evaluation, and name it as file.py:name where there are several"
        )
    if any(name == one.name for one in benches.list_all()):
        raise UsageError(f"'{name}' is a bench, a single run; run 'kernbench run {name}'")
    raise UsageError(f"no evaluation '{name}'; {suggestion(name, known)}available: {', '.join(known)}")
