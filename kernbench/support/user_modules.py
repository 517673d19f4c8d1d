"""Imports users' own Python code: benches and components, from a file or from an importable module.

What an archive names is run only where the user names it too, and while its content is what the archive says
(:func:`only`): a kept run may come from somebody else, and name a file that happens to lie here.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from kernbench.errors import AllocationError, ConfigError, KernBenchError, UsageError
from kernbench.support.host_memory import lacks, needed
from kernbench.support.input_files import LONGEST, read_file
from kernbench.support.stand_ins import standing_in
from kernbench.support.user_code import ends
from kernbench.support.user_greenlets import run_user

T = TypeVar("T")
_folders: dict[Path, None] = {}
_loaded: dict[str, str] = {}
"""By the name of a module, the hash of its code when it was loaded."""
_SHIPPED = tuple(
    f"kernbench.{room}."
    for room in ("engine.arbiters", "workloads.benches", "host.collectives", "engine.components")
)


class _State(threading.local):
    noted: dict[str, str] | None = None
    expected: Mapping[str, str] | None = None


_state = _State()


def search_in(folder: Path) -> None:
    """Let :func:`load_module` find modules in ``folder`` too, after the working directory."""
    _folders[folder.resolve()] = None


def module_name(path: Path) -> str:
    """The name under which :func:`load_file` imports a file.

    The path is part of the name, so that two files of one name do not replace each other.
    """
    full = path.expanduser().resolve()
    return f"kernbench_user_{full.stem}_{hashlib.sha256(str(full).encode()).hexdigest()[:8]}"


def source(place: str, what: str) -> bytes:
    """The content of the Python file ``place``, a ``what``; :class:`UsageError` where it cannot be read."""
    try:
        return read_file(Path(place).expanduser(), LONGEST)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "does not exist" if missing else f"cannot be read: {error.strerror}"
        raise UsageError(f"{what} file '{place}' {reason}; give the path of a Python file") from None


def load_file(place: str, what: str) -> str:
    """Import the Python file ``place`` anew and return its module's name; ``what`` is it in errors.

    Raises :class:`UsageError` when there is no such file or it does not import.
    """
    source(place, what)
    path = Path(place).expanduser().resolve()
    name = module_name(path)
    _loaded[name] = check(place, what)
    loader = SourceFileLoader(name, str(path))  # whatever the name ends in that a link leads to
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _importable(path.parent), users_code():
            run_user(partial(loader.exec_module, module))
    except BaseException as error:
        del sys.modules[name]
        failure = _unimportable(f"{what} file '{place}'", error)
        raise failure from None if failure is error else error
    return name


def run_file(place: str, arguments: Sequence[str]) -> None:
    """Run a Python file as ``python place arguments`` does, in this process."""
    path = Path(place).expanduser().resolve()
    module = ModuleType("__main__")
    module.__file__ = str(path)
    before, sys.argv = sys.argv, [place, *arguments]
    try:
        with _importable(path.parent), users_code():
            exec(compile(source(place, "script"), str(path), "exec"), vars(module))
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise
    finally:
        sys.argv = before


def load_module(place: str, what: str) -> str:
    """Import the module ``place``, which may lie in the working directory; ``what`` is it in errors.

    Raises :class:`UsageError` when it does not import.
    """
    found, loaded = check(place, what), sys.modules.get(place) is not None
    if not loaded:
        _loaded[place] = found
    try:
        if loaded or _is_shipped(place):  # runs none of a user's; another thread may still import it
            importlib.import_module(place)
        else:
            with _importable(Path.cwd(), *_folders), users_code():
                run_user(partial(importlib.import_module, place))
    except BaseException as error:
        failure = _unimportable(f"{what} module '{place}'", error)
        raise failure from None if failure is error else error
    return place


def load_class(target: str, what: str, meant: str, base: type[T]) -> type[T]:
    """The class ``module:Class`` or ``file.py:Class``, a ``what``; errors begin with ``meant``.

    Raises :class:`ConfigError` when it does not import or is not a subclass of ``base``.
    """
    place, _, name = target.rpartition(":")
    load = load_file if place.endswith(".py") else load_module
    try:
        module = sys.modules[load(place, what)]
    except KernBenchError as error:
        raise ConfigError(f"{meant} does not import: {error}") from error
    found = getattr(module, name, None)
    if found is None:
        raise ConfigError(f"{meant} does not import: '{place}' has no class '{name}'")
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ConfigError(f"{meant} is not a subclass of {base.__module__}.{base.__qualname__}")
    return found


@contextmanager
def users_code() -> Iterator[None]:
    """Run users' code: meanwhile ``triton`` and ``torch`` are KernBench's.

    The working directory is afterwards what it was, so that the code cannot move stores and files.
    """
    before = os.getcwd()
    try:
        with standing_in():
            yield
    finally:
        with suppress(OSError):  # it is there no more
            os.chdir(before)


def code_hash(place: str) -> str:
    """SHA-256 over the Python file or module ``place``, found without running any of it; empty for none.

    The packages that a module lies in count, for importing it runs them too.
    """
    files = [Path(place).expanduser()] if place.endswith(".py") else _files_of_module(place)
    try:
        content = [read_file(file, LONGEST) for file in files]
        return hashlib.sha256(b"\0".join(content)).hexdigest() if files else ""
    except OSError:
        return ""


def hash_of_loaded(module: str) -> str:
    """:func:`code_hash` of the file or module ``module`` when it was loaded."""
    return _loaded.get(module) or code_hash(module)


def _files_of_module(name: str) -> list[Path]:
    """The files that importing a module runs; none where there is no such module, or it is not a file."""
    found: list[Path] = []
    search: list[str] | None = [*sys.path, *map(str, (Path.cwd(), *_folders))]
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:count]), search)
        if spec is None:
            return []
        if spec.origin is not None and spec.has_location:
            found.append(Path(spec.origin))
        search = list(spec.submodule_search_locations or ())
    return found


@contextmanager
def noted() -> Iterator[dict[str, str]]:
    """The hash of each file or module of users' code that is loaded by name in this thread, by that name."""
    before, _state.noted = _state.noted, {}
    try:
        yield _state.noted
    finally:
        _state.noted = before


@contextmanager
def only(expected: Mapping[str, str]) -> Iterator[None]:
    """Users' code is loaded by name in this thread only where :func:`code_hash` is what ``expected`` says.

    All else is a :class:`UsageError`, before any of it runs.
    """
    before, _state.expected = _state.expected, expected
    try:
        yield
    finally:
        _state.expected = before


def check(place: str, what: str) -> str:
    """To be called before the Python file or module ``place`` is run; ``what`` is it in errors.

    Returns its :func:`code_hash`, empty for a module that KernBench ships to be named like this. Raises
    :class:`UsageError` as :func:`only` says.
    """
    if _is_shipped(place):
        return ""
    found = code_hash(place)
    if _state.noted is not None:
        _state.noted[place] = found
    if _state.expected is not None and not (found and _state.expected.get(place) == found):
        if place in _state.expected:
            raise UsageError(f"{what} '{place}' is not run: it has been changed since; re-run it first")
        raise UsageError(
            f"{what} '{place}' is not run: a kept run names it, and may come from elsewhere; if you know the "
            f"file, name it too, --code {place} (code=['{place}'] in Python)"
        )
    return found


def _is_shipped(place: str) -> bool:
    """Whether it is a module of KernBench's own, which needs nothing of what users' code is given."""
    return place.startswith(_SHIPPED) and not place.endswith(".py")


def _unimportable(what: str, error: BaseException) -> BaseException:
    """The exception to raise when a user's module raised ``error`` during its import."""
    if isinstance(error, KernBenchError | KeyboardInterrupt):
        return error
    if not isinstance(error, Exception):  # it would end this program, with the module's own exit status
        how = "exits" if isinstance(error, SystemExit) else ends(error)
        return UsageError(f"{what} {how} while it is imported; put that under if __name__ == '__main__'")
    if isinstance(error, MemoryError) and not str(error):  # what Python's parser says
        error = SyntaxError("nested too deeply")
    if isinstance(error, MemoryError):
        return AllocationError(f"{what} cannot be imported: {lacks(needed(error))}")
    return UsageError(f"{what} cannot be imported: {type(error).__name__}: {error}")


@contextmanager
def _importable(*folders: Path) -> Iterator[None]:
    """Let imports find modules in ``folders``, after everything that is installed, for a while."""
    added = [str(folder) for folder in folders]
    sys.path.extend(added)
    try:
        yield
    finally:
        for folder in added:
            sys.path.remove(folder)
