"""``triton`` and ``torch`` while files of users run: KernBench's own modules by these names.

An installed Triton is hidden meanwhile, and is back afterwards. ``torch`` is PyTorch where that is installed,
except for files that Inductor wrote: these run without it.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

INDUCTOR = ("torch._inductor", "torch._dynamo", "torch._C")
"""Packages of PyTorch whose names that output files of Inductor use are those of ``kernbench.inductor``."""
COMPILER = ("triton.compiler", "triton.compiler.compiler", "triton.backends", "triton.backends.compiler")
"""Modules of Triton's compiler: what Inductor's files name of them is in ``kernbench.inductor.compiler``."""


class _Names(ModuleType):
    """A module whose names are those of another one."""

    def __init__(self, name: str, of: ModuleType) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


class Alias(Loader):
    """Loads a module by another name: the module itself, which keeps its own."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that the spec's ``loader_state`` names; of Inductor's one that has its names."""
        module = importlib.import_module(spec.loader_state)
        if spec.name.startswith(INDUCTOR):
            spec.loader_state = spec
            return _Names(spec.name, module)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it ran under its own name, and keeps the spec of it."""
        alias = module.__spec__
        assert alias is not None
        module.__spec__ = alias.loader_state


class _StandIns(Alias, MetaPathFinder):
    """Finds ``triton``, ``torch`` and the modules in them, as long as users' code runs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users: Counter[str] = Counter()
        """How many uses of our module are going on, by package."""
        self._hidden: dict[str, ModuleType] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        if not self._users[name.partition(".")[0]]:
            return None
        here = f"kernbench.{name}"
        if name.startswith(INDUCTOR):
            here = "kernbench.inductor"
        elif name in COMPILER:
            here = "kernbench.inductor.compiler"
        elif name.startswith("torch."):
            raise ModuleNotFoundError(
                f"{name} needs PyTorch, which is not installed; kernbench.torch, which stands in for it, has "
                "tensors and functions for host code of kernels",
                name=name,
            )
        elif find_spec(here) is None:
            return None
        return ModuleSpec(name, self, loader_state=here)

    def enter(self, packages: Sequence[str]) -> None:
        """From here on imports of these packages find ours."""
        with self._lock:
            self._hidden.update(self._taken_out([one for one in packages if not self._users[one]]))
            self._users.update(packages)
            if self not in sys.meta_path:
                sys.meta_path.insert(0, self)

    def leave(self, packages: Sequence[str]) -> None:
        """One use of these packages is over; with the last one imports find others again."""
        with self._lock:
            self._users.subtract(packages)
            over = [one for one in packages if not self._users[one]]
            self._taken_out(over)
            for name in [one for one in self._hidden if one.partition(".")[0] in over]:
                sys.modules[name] = self._hidden.pop(name)
            if not self._users.total() and self in sys.meta_path:
                sys.meta_path.remove(self)

    def users(self) -> Iterator[str]:
        """The packages that ours stand in for, each as often as it is used."""
        return self._users.elements()

    def _taken_out(self, packages: Sequence[str]) -> dict[str, ModuleType]:
        if not packages:  # most uses are within others, and thousands of modules take their time
            return {}
        return {
            name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in packages
        }


_stand_ins = _StandIns()


def has_pytorch() -> bool:
    """Whether PyTorch is installed; it is not imported."""
    return PathFinder.find_spec("torch") is not None


@contextmanager
def standing_in(without_pytorch: bool = False) -> Iterator[None]:
    """``triton`` is ``kernbench.triton``; so is ``torch`` ours where PyTorch is not, or not to be used."""
    packages = ("triton", "torch") if without_pytorch or not has_pytorch() else ("triton",)
    _stand_ins.enter(packages)
    try:
        yield
    finally:
        _stand_ins.leave(packages)


@contextmanager
def standing_aside() -> Iterator[None]:
    """Meanwhile imports find what is installed: PyTorch asks for Triton as it is imported."""
    held = list(_stand_ins.users())
    _stand_ins.leave(held)
    try:
        yield
    finally:
        _stand_ins.enter(held)
