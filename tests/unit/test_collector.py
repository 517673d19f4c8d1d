"""The collector, paused while a machine is made; in processes of their own, for the tests' own is frozen."""

from __future__ import annotations

import subprocess
import sys

import pytest

COLLECTED = """
import gc, weakref
from kernbench import collector

class Part:
    def __init__(self):
        self.itself = self

with collector.paused():
    assert not gc.isenabled()
    part = weakref.ref(Part())
    assert part() is not None
assert gc.isenabled()
assert gc.get_freeze_count() == 0
assert part() is not None, "it counts as old"
gc.collect()
assert part() is None
"""
FROZEN = """
import gc
from kernbench import collector

gc.freeze()
frozen = gc.get_freeze_count()
with collector.paused():
    made = [[] for _ in range(100)]
assert gc.get_freeze_count() > frozen // 2 > 0
"""


@pytest.mark.parametrize("program", [COLLECTED, FROZEN], ids=["collected later", "frozen stays frozen"])
def test_objects_made_while_it_is_paused(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True)
