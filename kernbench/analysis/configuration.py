"""Differences in the configuration of two runs, value by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.support.pgraph import CONFIGURED, GraphStore, settings

Properties = Mapping[str, Any]
"""The properties of a kept run."""
Settings = Mapping[tuple[str, str], Any]


_SAYS = ("topology", "bench", "params", "again", "version", "source_text")
"""Properties without which nothing differs."""


def differences(old: Properties, new: Properties, store: GraphStore) -> list[dict[str, Any]]:
    """Rows ``what key before after``; a value that one of the runs has not is None.

    ``what`` is ``bench``, ``parameter``, ``topology`` (``key`` is the key of the topology file), ``device``,
    ``exact``, ``component``, ``version`` or ``source`` (``key`` is a line of the bench's file that is there
    more often, or less, ``before`` and ``after`` say how often). The sources of two different benches are not
    compared.
    The question ``history/configured-differently`` has the same rows, with values as text.
    """
    if all(old.get(name) == new.get(name) for name in _SAYS):
        return []
    one_machine = old["topology"] == new["topology"]  # then its keys cannot differ
    specs = ["" if one_machine else store.load_topology(str(run["topology"])).spec for run in (old, new)]
    before, after = map(settings, (old, new), specs)
    is_compared = old["bench"] == new["bench"] and all(run.get("source_text") for run in (old, new))
    rows = [row for row in changed(before, after) if row["what"] != "source" or is_compared]
    return sorted(rows, key=lambda row: CONFIGURED.index(row["what"]))


def changed(before: Settings, after: Settings) -> list[dict[str, Any]]:
    """Rows ``what key before after`` of settings by both that are not the same."""
    return [
        {"what": what, "key": key, "before": before.get((what, key)), "after": after.get((what, key))}
        for what, key in {**before, **after}
        if before.get((what, key)) != after.get((what, key))
    ]
