"""How wide a text is, so that boxes can be made for their labels before anything is drawn.

Widths are those of DejaVu Sans, the widest of the fonts that the pictures ask for: whatever a viewer
falls back to, a label fits.
"""

from __future__ import annotations

from collections.abc import Iterable

SIZE = 15.0
"""Size of labels, points."""
LINE = 18.0
"""From one line of a label to the next, points."""

_FIRST = 32
# Advance widths of the characters 32 to 126, thousandths of the size.
_WIDTHS = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
    636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
    500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
    635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
)  # fmt: skip
_WIDEST = 1000
BOLD = 1.27
"""A bold text is at most so much wider."""


def width(text: str, size: float = SIZE) -> float:
    """Width of ``text`` on one line, points."""
    thousandths = 0
    for character in text:
        index = ord(character) - _FIRST
        thousandths += _WIDTHS[index] if 0 <= index < len(_WIDTHS) else _WIDEST
    return thousandths * size / 1000


def block(lines: Iterable[str]) -> tuple[float, float]:
    """(width, height) of a label, points."""
    texts = list(lines)
    return max((width(text) for text in texts), default=0.0), LINE * len(texts)
