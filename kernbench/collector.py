"""Python's garbage collector, kept from walking over a machine again and again while that is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused() -> Iterator[None]:
    """No collection meanwhile: for code that makes many objects and leaves no garbage.

    Tens of thousands of components and links, each a few objects, are several collections of all that
    there is; without them a default machine is wired in half the time. The objects made count as old
    afterwards, so that the next collection of young ones does not walk over them either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
