"""Benches of users: from a Python file, or from an importable module."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernbench.benches.registry import BenchSpec, forget, registered_in
from kernbench.errors import KernBenchError, UsageError


def names_user_bench(identifier: str) -> bool:
    """True for ``file.py``, ``file.py:name`` and ``package.module:name``."""
    place, _, _ = _parts(identifier)
    return place.endswith(".py") or ":" in identifier


def load_user_bench(identifier: str) -> BenchSpec:
    """Import the file or module that ``identifier`` names and return its bench.

    Errors are :class:`UsageError`: no such file or module, no ``@bench`` in it, no bench of that name,
    or several where none was named. What the module itself raises is reported with its file.
    """
    place, colon, name = _parts(identifier)
    module = _load_file(place) if place.endswith(".py") else _load_module(place)
    benches = registered_in(module)
    if not benches:
        raise UsageError(f"'{place}' registers no bench; decorate a function run(torch) with @bench")
    if colon:
        if name not in benches:
            raise UsageError(f"'{place}' has no bench '{name}'; it has {', '.join(benches)}")
        return benches[name]
    if len(benches) > 1:
        raise UsageError(f"'{place}' has several benches; add one of {', '.join(f':{b}' for b in benches)}")
    return next(iter(benches.values()))


def _parts(identifier: str) -> tuple[str, str, str]:
    if identifier.endswith(".py"):
        return identifier, "", ""
    place, colon, name = identifier.rpartition(":")
    return (place, colon, name) if colon else (identifier, "", "")


def _load_file(place: str) -> str:
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        raise UsageError(f"bench file '{place}' does not exist; give the path of a Python file")
    # The path is part of the name, so that two files of one name do not replace each other.
    module_name = f"kernbench_user_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    forget(module_name)
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        with _importable(path.parent):
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module_name]
        told = _unimportable(f"bench file '{place}'", error)
        raise told from None if told is error else error
    return module_name


def _load_module(place: str) -> str:
    try:
        with _importable(Path.cwd()):
            importlib.import_module(place)
    except BaseException as error:
        told = _unimportable(f"bench module '{place}'", error)
        raise told from None if told is error else error
    return place


def _unimportable(what: str, error: BaseException) -> BaseException:
    """What to raise when a user's module raised ``error`` while it was imported."""
    if isinstance(error, SystemExit):  # it would end this program, with the module's own exit status
        return UsageError(f"{what} exits while it is imported; put that under if __name__ == '__main__'")
    if isinstance(error, KernBenchError) or not isinstance(error, Exception):
        return error
    return UsageError(f"{what} cannot be imported: {type(error).__name__}: {error}")


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let imports find modules in ``folder``, after everything that is installed, for a while."""
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
