"""Tells results how they are shown (:data:`kernbench.api.shown.SHOWN`), when ``kernbench`` is imported.

Screens are imported when something is shown, for the sake of start-up time.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kernbench.api.shown import SHOWN

if TYPE_CHECKING:
    from kernbench.draw.content import Content

_FUNCTIONS = {
    "run": "overview:of_run",
    "energy": "energy:of_use",
    "what-if": "what_if:content",
    "advising": "advice:of_named_run",
    "sweep": "points:of_sweep",
    "tuning": "points:of_tuning",
    **{key: f"{key}:content" for key in ("advice", "comparison", "diagnosis", "model", "serving")},
}
"""The function that shows it, in a module of :mod:`kernbench.api.contents`."""


def _later(function: str) -> Callable[..., Content]:
    module, _, name = function.partition(":")

    def content(*given: Any) -> Content:
        found: Content = getattr(import_module(f"kernbench.api.contents.{module}"), name)(*given)
        return found

    return content


def _tab(*given: Any) -> Content:
    from kernbench.api.contents import tab

    return tab(*given)


SHOWN.update({key: _later(function) for key, function in _FUNCTIONS.items()}, tab=_tab)
