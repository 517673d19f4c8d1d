"""The specification of a machine, as its graph has it."""

from __future__ import annotations

import json
from typing import Any

from kernbench.errors import UsageError

_BUILT = "built_in_python"
"""Key of machines that former versions built part by part, and kept no specification of."""


def content_of(spec: str) -> dict[str, Any]:
    """The content of the topology file behind a machine's ``spec``, with every default.

    :class:`UsageError` for a machine that a former version kept without.
    """
    content: dict[str, Any] = json.loads(spec)
    if content.get(_BUILT):
        raise UsageError(
            f"topology '{content['name']}' was built in Python by a version that did not keep how; "
            "build it again"
        )
    return content
