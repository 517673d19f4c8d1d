"""The properties of a run as a list of many has them: what is long is read when it is first looked at."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from kernbench_graph.schema import SCHEMA

_VERSION = 1
"""Raised whenever the same manifest gives other properties."""
_LONG = 2000
"""Characters of a list or mapping, as JSON, from which on it is left out: flows, many launches."""


@cache
def brief_version() -> str:
    """Tells apart what versions with other properties of runs keep of :func:`brief`."""
    said = [_VERSION, _LONG, *(prop.name for prop in SCHEMA.info["run"])]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


class BriefInfo(Mapping[str, Any]):
    """Properties of a run. Those ``left_out`` are read with the first of them."""

    def __init__(
        self, short: Mapping[str, Any], left_out: Collection[str], read: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._short, self.left_out, self._read = short, left_out, read

    @cached_property
    def _whole(self) -> Mapping[str, Any]:
        return self._read()

    def __getitem__(self, name: str) -> Any:
        return self._whole[name] if name in self.left_out else self._short[name]

    def __contains__(self, name: object) -> bool:
        return name in self._short or name in self.left_out

    def __iter__(self) -> Iterator[str]:
        return iter((*self._short, *self.left_out))

    def __len__(self) -> int:
        return len(self._short) + len(self.left_out)


def brief(info: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Properties of a run without those that are long, and the names of these.

    >>> brief({"id": "a", "flows": list(range(1000))})
    ({'id': 'a'}, ['flows'])
    """
    long = [
        name
        for name, value in info.items()
        if isinstance(value, list | dict) and len(json.dumps(value)) > _LONG
    ]
    return {name: value for name, value in info.items() if name not in long}, long


def listed_info(
    short: dict[str, Any], left_out: Collection[str], read: Callable[[], Mapping[str, Any]]
) -> Mapping[str, Any]:
    """From the result of :func:`brief`, the properties again; ``read`` gives all of them."""
    return BriefInfo(short, left_out, read) if left_out else dict(short)


def has(info: Mapping[str, Any], name: str) -> bool:
    """Whether properties have something under a name that is not empty; nothing is read for that."""
    return (isinstance(info, BriefInfo) and name in info.left_out) or bool(info.get(name))
