"""Imports users' own Python code: benches and components, from a file or from an importable module."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernbench.errors import KernBenchError, UsageError

_folders: dict[Path, None] = {}


def search_in(folder: Path) -> None:
    """Let :func:`load_module` find modules in ``folder`` too, after the working directory."""
    _folders[folder.resolve()] = None


def module_name(path: Path) -> str:
    """The name under which :func:`load_file` imports a file.

    The path is part of the name, so that two files of one name do not replace each other.
    """
    full = path.expanduser().resolve()
    return f"kernbench_user_{full.stem}_{hashlib.sha256(str(full).encode()).hexdigest()[:8]}"


def load_file(place: str, what: str) -> str:
    """Import the Python file ``place`` anew and return its module's name; ``what`` is it in errors.

    Raises :class:`UsageError` when there is no such file or it does not import.
    """
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        raise UsageError(f"{what} file '{place}' does not exist; give the path of a Python file")
    name = module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _importable(path.parent):
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        failure = _unimportable(f"{what} file '{place}'", error)
        raise failure from None if failure is error else error
    return name


def load_module(place: str, what: str) -> str:
    """Import the module ``place``, which may lie in the working directory; ``what`` is it in errors.

    Raises :class:`UsageError` when it does not import.
    """
    try:
        with _importable(Path.cwd(), *_folders):
            importlib.import_module(place)
    except BaseException as error:
        failure = _unimportable(f"{what} module '{place}'", error)
        raise failure from None if failure is error else error
    return place


def _unimportable(what: str, error: BaseException) -> BaseException:
    """The exception to raise when a user's module raised ``error`` during its import."""
    if isinstance(error, SystemExit):  # it would end this program, with the module's own exit status
        return UsageError(f"{what} exits while it is imported; put that under if __name__ == '__main__'")
    if isinstance(error, KernBenchError) or not isinstance(error, Exception):
        return error
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
