"""Parameters that questions share: a file names one, with nothing or with its default, ``limit: 20``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WINDOW = "Launch number, from 0; or all launches, setup (the time outside them) or run (all of it)."
_NAME = {"type": "string", "default": ""}
SHARED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "window": {
        "launch": {"type": "string", "default": "all", "help": _WINDOW},
        "from_ns": {"type": "float", "default": 0.0, "help": "Start of the time range."},
        "to_ns": {"type": "float", "default": -1.0, "help": "End of the time range; -1 for no end."},
    },
    "launches": {
        "launch": {"type": "string", "default": "all", "help": "Launch number, from 0; or all launches."}
    },
    "limit": {"limit": {"type": "int", "default": 20, "minimum": 0, "help": "Maximum number of rows."}},
    "transaction_kind": {
        "kind": _NAME
        | {"refers": "transaction_kind", "help": "Only transactions of this kind; empty for all."}
    },
    "link_kind": {"kind": _NAME | {"refers": "link_kind", "help": "Only links of this kind; empty for all."}},
    "traffic": {
        "traffic": {
            "type": "string",
            "default": "PE_DMA",
            "choices": ["PE_DMA", "MCPU_DMA", "HOST_MEMORY", "COMMAND"],
            "help": "Kind of traffic, which decides the links it may use.",
        }
    },
    "lost": {
        "lost": _NAME
        | {
            "refers": "part",
            "help": "A link, component or group that has failed; empty for the whole machine.",
        }
    },
    "intervals": {
        "intervals": {
            "type": "int",
            "default": 20,
            "minimum": 1,
            "help": "Number of equal intervals that the window is divided into; 1000 at most.",
        }
    },
}
"""What each stands for: parameters by name."""


def with_shared(params: Any) -> Any:
    """Parameters as a file has them, with what shared ones stand for; ``ValueError`` for an unknown one."""
    if not isinstance(params, dict):
        return params
    found: dict[Any, Any] = {}
    for name, said in params.items():
        if said is not None and not isinstance(said, str | int | float):
            found[name] = said
        elif name in SHARED:
            default = {} if said is None else {"default": said}
            found |= {one: {**fields, **default} for one, fields in SHARED[name].items()}
        else:
            raise ValueError(f"'{name}' has no type and help, and is not shared: {', '.join(SHARED)} are")
    return found
