"""What questions need and no store knows, worked out just before they are asked.

A question names such a list as a parameter that is ``derived``; the module of that name in this package
works it out. So one more derived question is one more file here, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.pgraph import GraphStore, Question


def derive(
    store: GraphStore, question: Question, run: str | None, params: Mapping[str, Any]
) -> dict[str, Rows]:
    """The derived parameters of ``question``; ``params`` are all parameters, the derived ones empty.

    ``run`` is an id or a reference, by default the last run; questions about the history have none.
    """
    if not question.derived:
        return {}
    asked = Asked(store, "" if question.scope == "history" else store.resolve(run or "last"))
    return {name: import_module(f"{__name__}.{name}").rows(asked, params) for name in question.derived}
