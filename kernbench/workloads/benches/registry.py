"""Which benches there are: the ``@bench`` decorator, the list, and how a name becomes a bench.

An index is a bench's place in the alphabetical list: handy to type, but it moves when benches are added.
Scripts use names.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernbench.errors import BenchError, UsageError
from kernbench.support.hints import suggestion
from kernbench.support.user_modules import check, load_file, load_module, module_name
from kernbench.workloads.benches.params import Param, ParamValue, resolve_params
from kernbench.workloads.benches.scripts import is_script, name_of, runner
from kernbench.workloads.benches.user import names_user_bench, parts

if TYPE_CHECKING:
    from kernbench.host.context import Context

Run = Callable[["Context"], Any]

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_INFRASTRUCTURE = ("params", "registry", "scripts", "user")
_by_module: dict[str, dict[str, BenchSpec]] = {}


@dataclass(frozen=True, slots=True)
class BenchSpec:
    """A registered bench: ``run(torch)``, its description and parameters."""

    name: str
    description: str
    params: tuple[Param, ...]
    run: Run
    module: str
    script: bool = False
    """Whether it is a file that launches where it stands: it takes any parameters, and reads its results."""

    def resolve_params(
        self, values: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None
    ) -> dict[str, ParamValue]:
        """Values of all parameters; see :func:`kernbench.workloads.benches.params.resolve_params`."""
        if self.script:
            return {name: str(value) for name, value in (values or {}).items()}
        return resolve_params(self.name, self.params, values, environ)


def bench(
    *misplaced: object, name: str, description: str, params: Sequence[Param] = ()
) -> Callable[[Run], Run]:
    """Register ``run(torch)`` as a bench; the function is returned unchanged.

    Args:
        misplaced: Nothing; all arguments go by name.
        name: In kebab-case.
        description: A short sentence.
        params: The parameters that ``torch.params`` has.

    Raises:
        BenchError: A bad or repeated name, or a function that does not take ``torch`` alone.
    """
    if misplaced:
        raise BenchError('write @bench(name="my-bench", description="What it runs."), with names')
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BenchError(
            f"bench name {name!r}: use kebab-case, lower case letters and digits such as 'my-bench'"
        )
    if not isinstance(description, str) or not description.strip():
        raise BenchError(f"bench '{name}': description is empty; say in one sentence what it runs")
    seen: set[str] = set()
    for param in params:
        if param.name in seen:
            raise BenchError(f"bench '{name}': parameter '{param.name}' is declared twice")
        seen.add(param.name)

    def register(run: Run) -> Run:
        try:
            inspect.signature(run).bind(None)
        except TypeError as problem:
            raise BenchError(f"bench '{name}' must be a function of torch alone: {problem}") from None
        module = run.__module__
        for other, benches in _by_module.items():
            same_room = _shipped(other) == _shipped(module)
            if name in benches and same_room and (other == module or _shipped(module)):
                raise BenchError(f"bench name '{name}' is used twice, in {other} and in {module}; rename one")
        spec = BenchSpec(name, description.strip(), tuple(params), run, module)
        _by_module.setdefault(module, {})[name] = spec
        return run

    return register


def _shipped(module: str) -> bool:
    return module.startswith("kernbench.workloads.benches.")


def registered_in(module: str) -> dict[str, BenchSpec]:
    """The benches that module ``module`` registered, by name."""
    return dict(_by_module.get(module, {}))


def forget(module: str) -> None:
    """Drop the benches of ``module``, which is about to be loaded once more."""
    _by_module.pop(module, None)


def load_package(path: Iterable[str], package: str) -> None:
    """Import every module of a package of benches; one without ``@bench`` is a :class:`BenchError`.

    Modules whose name starts with an underscore are helpers and are left alone.
    """
    silent = []
    for info in sorted(pkgutil.iter_modules(list(path)), key=lambda m: m.name):
        if info.name.startswith("_") or info.name in _INFRASTRUCTURE:
            continue
        module = f"{package}.{info.name}"
        importlib.import_module(module)
        if module not in _by_module:
            silent.append(module)
    if silent:
        raise BenchError(
            f"no @bench in {', '.join(silent)}; decorate its run function, or start a helper's name with _"
        )


def list_all() -> list[BenchSpec]:
    """The shipped benches in alphabetical order; the index of a bench is its position, from 1."""
    package = importlib.import_module("kernbench.workloads.benches")
    load_package(package.__path__, package.__name__)
    specs = [spec for module, found in _by_module.items() if _shipped(module) for spec in found.values()]
    return sorted(specs, key=lambda spec: spec.name)


def _shipped_bench(name: str) -> BenchSpec | None:
    """The shipped bench of that name where its module is called like it, without importing the others."""
    module = f"kernbench.workloads.benches.{name.replace('-', '_')}"
    stem = module.rpartition(".")[2]
    if stem in _INFRASTRUCTURE or importlib.util.find_spec(module) is None:
        return None
    importlib.import_module(module)
    return registered_in(module).get(name)


def _user_bench(identifier: str) -> BenchSpec:
    """The bench of the file or module that ``identifier`` names, which is imported.

    Errors are :class:`UsageError`: no such file or module, no ``@bench`` in it, no bench of that name,
    or several where none was named. Errors raised by the module itself are reported with its file.
    """
    place, colon, name = parts(identifier)
    if place.endswith(".py"):
        if is_script(place):
            if colon:
                raise UsageError(f"'{place}' is a script, which has no bench '{name}'; leave out ':{name}'")
            check(place, "bench")
            return BenchSpec(name_of(place), f"The script {place}.", (), runner(place), place, script=True)
        forget(module_name(Path(place)))
        module = load_file(place, "bench")
    else:
        module = load_module(place, "bench")
    benches = registered_in(module)
    if not benches:
        raise UsageError(
            f"'{place}' registers no bench; decorate a function run(torch) with @bench, or "
            "import torch in a script that launches"
        )
    if colon:
        if name not in benches:
            raise UsageError(f"'{place}' has no bench '{name}'; it has {', '.join(benches)}")
        return benches[name]
    if len(benches) > 1:
        raise UsageError(f"'{place}' has several benches; add one of {', '.join(f':{b}' for b in benches)}")
    return next(iter(benches.values()))


def resolve(identifier: str) -> BenchSpec:
    """The bench called ``identifier``.

    A name, an index of :func:`list_all`, ``path/to/file.py`` or ``path/to/file.py:name``, or
    ``package.module:name``. An unknown one is a :class:`UsageError` that lists the benches.
    """
    text = identifier.strip() if isinstance(identifier, str) else ""
    if not text:
        raise UsageError("bench name is empty; 'kernbench list' shows the benches")
    if names_user_bench(text):
        return _user_bench(text)
    if _NAME.fullmatch(text) and (found := _shipped_bench(text)):
        return found
    benches = list_all()
    if text.isdecimal():
        if len(text) > 9 or not 1 <= int(text) <= len(benches):
            raise UsageError(f"no bench has index {text}; indices go from 1 to {len(benches)}")
        return benches[int(text) - 1]
    by_name = {spec.name: spec for spec in benches}
    if text in by_name:
        return by_name[text]
    raise UsageError(f"no bench '{text}'; {suggestion(text, by_name)}available: {', '.join(by_name)}")
