"""Machines that a topology file describes, and those that were built part by part and have none."""

from __future__ import annotations

import json
from typing import Any

from kernbench.errors import UsageError

_BUILT = "built_in_python"


def built(name: str) -> str:
    """The ``spec`` of a machine that no topology file describes."""
    return json.dumps({"name": name, _BUILT: True}, sort_keys=True)


def content_of(spec: str) -> dict[str, Any]:
    """The content of the topology file behind a machine's ``spec``, with every default.

    :class:`UsageError` for a machine that was built in Python.
    """
    content: dict[str, Any] = json.loads(spec)
    if content.get(_BUILT):
        raise UsageError(
            f"topology '{content['name']}' was built in Python, and this needs one that a topology file "
            "describes; change or draw it where it is built"
        )
    return content
