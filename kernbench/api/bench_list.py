"""The list of benches, as plain data."""

from __future__ import annotations

from typing import Any


def benches() -> list[dict[str, Any]]:
    """The shipped benches: ``index name description params``.

    Each parameter has ``name type default help env choices minimum``.
    """
    from kernbench.benches import list_all

    return [
        {
            "index": index,
            "name": spec.name,
            "description": spec.description,
            "params": [
                {
                    "name": param.name,
                    "type": param.type.__name__,
                    "default": param.default,
                    "help": param.help,
                    "env": param.env,
                    "choices": list(param.choices) if param.choices else None,
                    "minimum": param.minimum,
                }
                for param in spec.params
            ],
        }
        for index, spec in enumerate(list_all(), start=1)
    ]
