"""A bench's parameters as it reads them: ``torch.params.m``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernbench.errors import UsageError


class Params(Mapping[str, Any]):
    """Read-only values by name, as attributes or as items."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise UnknownParameterError(
                f"the bench has no parameter '{name}'; declare it in @bench(params=[...])"
            ) from None

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Params({', '.join(f'{k}={v!r}' for k, v in self._values.items())})"


class UnknownParameterError(UsageError, AttributeError):
    """A bench reads a parameter that it has not declared."""
