"""What the name of a part says, for machines described in Python: its kind and its location.

The scheme is in the records of the kinds (:mod:`kernbench.hardware.kinds.components`). In a compiled graph
ids are names without meaning: kinds and locations are properties, and
:mod:`kernbench.hardware.topology.places` finds parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from kernbench.errors import UsageError
from kernbench.hardware.kinds import COMPONENT_KINDS


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed name. Numbers are -1 and texts empty where the name has none."""

    kind: str
    """The component's kind, ``"router"``, ``"pe_dma"``, ``"cube"`` ..."""
    sip: int = -1
    cube: int = -1
    pe: int = -1
    """PE, or slice of an HBM controller, pseudo-channel or channel router."""
    io: str = ""
    row: int = -1
    col: int = -1
    side: str = ""
    phy: str = ""
    index: int = -1
    """Number of a UCIe connection or of a slice's channel."""
    link: str = ""
    """The link whose buffers it is."""


_FIELDS = {"io": r"(?!cube\d)[a-z][a-z0-9_]*", "side": "[NSEW]", "phy": r"\w+", "link": r"[\w.-]+->[\w.-]+?"}
"""Patterns of the fields of a name that are not numbers."""


def _pattern(template: str) -> re.Pattern[str]:
    texts = re.split(r"\{(\w+)\}", template)
    fields = (f"(?P<{field}>{_FIELDS.get(field, '[0-9]+')})" for field in texts[1::2])
    return re.compile("".join(re.escape(t) + next(fields, "") for t in texts[::2]))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The pattern of each kind, made when the first name is taken apart: most runs take none."""
    return tuple((kind.kind, _pattern(kind.name)) for kind in COMPONENT_KINDS.values() if kind.name)


def parse(name: str) -> Name:
    """Take a name apart; a text that names no component of the scheme is a :class:`UsageError`."""
    for kind, pattern in _patterns():
        if match := pattern.fullmatch(name):
            fields = {k: v if k in _FIELDS else int(v) for k, v in match.groupdict().items()}
            return Name(kind, **fields)  # type: ignore[arg-type]
    raise UsageError(f"'{name}' is not a component's name, expected one such as 'sip0.cube0.pe0.pe_dma'")
