"""How many examples a property test makes: all of them in CI, a thirty-second of the dear ones every day.

A test whose examples are dear, because each runs a machine, a process or a store, asks for them through
:func:`examples`. Under the profile ``full`` (``--hypothesis-profile=full``) it makes as many as it asks for,
under ``quick``, which is the default, fewer. All other tests make all of theirs under either, so that ``make
slow`` leaves out what ``make test`` has made already.

Both make the same examples each time, so that a change that passes once passes again. ``search`` is ``full``
with other examples in each run, of all property tests: ``make slow PROFILE=search`` looks for what the fixed
ones do not show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

SHARE = 32
LEAST = 3
Test = TypeVar("Test", bound=Any)


def register_profiles() -> None:
    """Register the profiles and load ``quick``, which ``--hypothesis-profile`` may replace."""
    for name in ("full", "quick", "search"):
        settings.register_profile(name, deadline=None, derandomize=name != "search")
    settings.load_profile("quick")


def examples(count: int, **more: Any) -> Callable[[Test], Test]:
    """Mark a test, or the class of a state machine, as dear: ``count`` in full, a thirty-second every day."""
    if settings.get_current_profile_name() == "quick":
        count = max(min(LEAST, count), count // SHARE)
    asked = settings(max_examples=count, **more)

    def dear(test: Test) -> Test:
        if isinstance(test, type):
            test.TestCase.settings = asked
            pytest.mark.dear(test.TestCase)
            return test
        return pytest.mark.dear(asked(test))

    return dear
