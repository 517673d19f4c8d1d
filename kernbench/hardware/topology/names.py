"""What the name of a part says, for machines described in Python: its kind and its location.

The scheme is in the records of the kinds (:mod:`kernbench.hardware.kinds.components`). In a compiled graph
ids are names without meaning: kinds and locations are properties, and
:mod:`kernbench.hardware.topology.places` finds parts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from kernbench.errors import UsageError
from kernbench.hardware.kinds import COMPONENT_KINDS, ComponentKind

Said = dict[str, Any]
"""The numbers and texts in a name by field, such as ``sip``, ``row``, ``side``.

``pe`` is the slice of an HBM controller and of what is before it, ``index`` a channel of that.
"""
_FIELDS = {"io": r"(?!cube\d)[a-z][a-z0-9_]*", "side": "[NSEW]", "phy": r"\w+", "link": r"[\w.-]+->[\w.-]+?"}
"""Patterns of the fields of a name that are not numbers."""


def _pattern(template: str) -> re.Pattern[str]:
    texts = re.split(r"\{(\w+)\}", template)
    fields = (f"(?P<{field}>{_FIELDS.get(field, '[0-9]+')})" for field in texts[1::2])
    return re.compile("".join(re.escape(t) + next(fields, "") for t in texts[::2]))


@cache
def _patterns() -> tuple[tuple[ComponentKind, re.Pattern[str]], ...]:
    """The pattern of each kind, made when the first name is taken apart: most runs take none."""
    return tuple((kind, _pattern(kind.name)) for kind in COMPONENT_KINDS.values() if kind.name)


def parse(name: str) -> tuple[ComponentKind, Said]:
    """The kind of a part, and what its name says; :class:`UsageError` for a text that names none."""
    for kind, pattern in _patterns():
        if match := pattern.fullmatch(name):
            return kind, {k: v if k in _FIELDS else int(v) for k, v in match.groupdict().items()}
    raise UsageError(f"'{name}' is not a component's name, expected one such as 'sip0.cube0.pe0.pe_dma'")
