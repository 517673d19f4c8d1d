"""Tells results how they are shown (:data:`kernbench.api.notebook_contents.SHOWN`), when
``kernbench`` is imported.

Imports stand inside functions for start-up time: screens are imported when something is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.api.notebook_contents import SHOWN

if TYPE_CHECKING:
    from kernbench.draw.content import Content


def _run(*given: Any) -> Content:
    from kernbench.api.contents.overview import of_run

    return of_run(*given)


def _tab(*given: Any) -> Content:
    from kernbench.api.contents import tab

    return tab(*given)


def _advice(found: Any) -> Content:
    from kernbench.api.contents.advice import content

    return content(found)


def _energy(found: Any) -> Content:
    from kernbench.api.contents.energy import content

    return content([found])


SHOWN.update(run=_run, tab=_tab, advice=_advice, energy=_energy)
