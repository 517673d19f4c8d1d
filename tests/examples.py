"""How many examples a property test makes: all of them in CI, about a quarter of the dear ones every day.

A test whose examples are dear, because each runs a machine, a process or a store, asks for them through
:func:`examples`. Under the profile ``full`` (``--hypothesis-profile=full``) it makes as many as it asks for,
under ``quick``, which is the default, fewer. All other tests make all of theirs under either.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings

SHARE = 4
LEAST = 5


def register_profiles() -> None:
    """Register ``full`` and ``quick``; load ``quick``, which ``--hypothesis-profile`` may replace."""
    for name in ("full", "quick"):
        settings.register_profile(name, deadline=None)
    settings.load_profile("quick")


def examples(count: int, **more: Any) -> settings:
    """Settings for a test whose examples are dear: ``count`` in full, a quarter of that every day."""
    if settings.get_current_profile_name() != "full":
        count = max(min(LEAST, count), count // SHARE)
    return settings(max_examples=count, **more)
