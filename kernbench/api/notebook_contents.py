"""What results show of themselves: their tabs, and what notebooks draw.

The drawing is in :mod:`kernbench.api.contents`, above the results; :mod:`kernbench.notebook` puts it here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernbench.draw.content import Content

SHOWN: dict[str, Callable[..., Content]] = {}
"""By what is shown: ``run``, ``tab``, ``advice`` or ``energy``."""
