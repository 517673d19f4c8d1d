"""Python's garbage collector, kept from walking over a machine again and again while that is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 1_000_000
"""Objects made in pauses after which all garbage is looked for: eight default machines, 300 MB."""
_made = 0
"""Objects made in pauses since then."""
_held = 0
"""How many callers have set objects aside. Asking the collector itself is a walk over all of them."""


def set_aside() -> None:
    """Collect the garbage, and never look at the rest again: for what stays to the end of the process."""
    global _held
    gc.collect()
    gc.freeze()
    _held += 1


@contextmanager
def aside() -> Iterator[None]:
    """Meanwhile the collector looks at nothing that exists now."""
    global _held
    gc.freeze()
    _held += 1
    try:
        yield
    finally:
        _held -= 1
        if not _held:
            gc.unfreeze()


@contextmanager
def paused() -> Iterator[None]:
    """No collection meanwhile: for code that makes many objects and leaves no garbage.

    Tens of thousands of components and links, each a few objects, are several collections of all that
    there is; without them a default machine is wired in half the time. The objects made count as old
    afterwards, so that the next collection of young ones does not walk over them either. A machine is full
    of reference cycles, so one that is no longer used is garbage until it is looked for: here, before the
    next one is made, once :data:`_MANY` objects may be. Python itself would hardly ever look among the old.
    """
    global _made
    enabled = gc.isenabled()
    if enabled and _made > _MANY:
        _made = 0
        gc.collect()
    gc.disable()
    begun = gc.get_count()[0]
    try:
        yield
    finally:
        if enabled:
            _made += max(gc.get_count()[0] - begun, 0)
            if not _held:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
