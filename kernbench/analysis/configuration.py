"""Differences in the configuration of two runs, value by value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from kernbench.analysis.derived import AskedRun, Rows
from kernbench.pgraph import GraphStore

Properties = Mapping[str, Any]
"""The properties of a kept run."""


def differences(old: Properties, new: Properties, store: GraphStore) -> list[dict[str, Any]]:
    """Rows ``what key before after``; a value that one of the runs has not is None.

    ``what`` is ``bench``, ``parameter``, ``topology`` (``key`` is the key of the topology file), ``device``,
    ``component``, ``version`` or ``source`` (``key`` is the line of the bench's file in the newer run). The
    sources of two different benches are not compared.
    """
    rows = list(_differing("bench", {"bench": old["bench"]}, {"bench": new["bench"]}))
    rows += _differing("parameter", *(flat(json.loads(run["params"] or "{}")) for run in (old, new)))
    if old["topology"] != new["topology"]:
        rows += _differing("topology", *(topology_keys(store, str(run["topology"])) for run in (old, new)))
    settings = [run.get("again") or {} for run in (old, new)]
    rows += _differing("device", *({"device": one.get("device")} for one in settings))
    rows += _differing("component", *(dict(one.get("components") or {}) for one in settings))
    rows += _differing("version", {"version": old["version"]}, {"version": new["version"]})
    if old["bench"] == new["bench"]:
        rows += _source(str(old.get("source_text", "")), str(new.get("source_text", "")))
    return rows


def configured_differently(asked: AskedRun, params: Mapping[str, Any]) -> Rows:
    """Derived parameter of ``history/configured-differently``: the rows with values as text, and a number."""
    ids = [asked.store.resolve(str(params[end])) for end in ("before", "after")]
    old, new = (asked.store.load(one).info for one in ids)
    return [
        {
            "number": number,
            "what": row["what"],
            "key": row["key"],
            **{end: "" if row[end] is None else _text(row[end]) for end in ("before", "after")},
        }
        for number, row in enumerate(differences(old, new, asked.store))
    ]


def topology_keys(store: GraphStore, topology_id: str) -> dict[str, Any]:
    """All keys of a kept topology with their values, the key dotted; none where its file was not kept."""
    try:
        return flat(json.loads(store.load_topology(topology_id).spec))
    except ValueError:
        return {}


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings and lists as one mapping of dotted keys."""
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        items = [(str(number), item) for number, item in enumerate(value)]
    else:
        return {prefix: value}
    found: dict[str, Any] = {}
    for key, item in items:
        found |= flat(item, f"{prefix}.{key}" if prefix else key)
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _differing(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in {**old, **new}:
        if old.get(key) != new.get(key):
            yield {"what": what, "key": key, "before": old.get(key), "after": new.get(key)}


def _source(old: str, new: str) -> Iterator[dict[str, Any]]:
    """Changed stretches of lines; nothing where the source of one was not kept."""
    if not old or not new or old == new:
        return
    a, b = old.splitlines(), new.splitlines()
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            before, after = (" / ".join(line.strip() for line in part) for part in (a[a0:a1], b[b0:b1]))
            yield {
                "what": "source",
                "key": f"line {b0 + 1}",
                "before": before or None,
                "after": after or None,
            }
