"""Percentages on the pictures of a machine."""

from __future__ import annotations

import pytest

from kernbench.api.topologies import described_machine
from kernbench.draw.machine import VIEWS, Overlay
from kernbench.draw.machine.text import BOLD, width
from kernbench.draw.percents import HIGH, percents

THICKEST = 2.5
"""Half of the border of a box at 100 %, points."""


@pytest.mark.parametrize("pes", [8, 16])
def test_no_percentage_lies_over_a_box_of_another(pes: int) -> None:
    """Nor over its border, which is thick where a part was busy."""
    view = VIEWS["cube"](described_machine("default", {"cube.pes.count": pes})[0], None)
    busy = Overlay(
        {wire.id: 0.885 for wire in view.wires}, {box.id: 0.885 for box in view.boxes if box.components}
    )
    notes = percents(view, busy)
    assert len(notes) > 40
    half = width("88%", HIGH) * BOLD / 2
    for key, note in notes.items():
        for box in view.boxes:
            if not box.is_frame and box.id != key and box.kind != "label":
                apart = (
                    note.x + half <= box.x - THICKEST
                    or box.right + THICKEST <= note.x - half
                    or note.y + HIGH / 2 <= box.y - THICKEST
                    or box.bottom + THICKEST <= note.y - HIGH / 2
                )
                assert apart, (key, box.id)
