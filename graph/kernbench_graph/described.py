"""What the manifests of a run and its topology say, as tables of the graph: parameters, tags, configuration.

Nothing keeps these tables: they are made whenever a graph is filled.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from kernbench_graph.archive.canonical import ARROW_TYPES
from kernbench_graph.archive.launched import times_of
from kernbench_graph.archive.record import tag_list
from kernbench_graph.schema import SCHEMA

Settings = Mapping[tuple[str, str], Any]
"""Value by what is configured, such as ``parameter``, and by key, such as ``m``; no value is None."""
SOURCE = "source"
"""Settings that are lines of a bench's source: the key is the line, the value how often it is there."""
CONFIGURED = ("bench", "parameter", "topology", "device", "exact", "component", "version", SOURCE)
"""What is configured, in the order in which differences are shown."""


def settings(info: Mapping[str, Any], spec: str) -> dict[tuple[str, str], Any]:
    """Everything that was configured for a run on the topology with the specification ``spec``.

    By ``bench``, ``parameter``, ``topology`` (a dotted key of its file; none where ``spec`` is not JSON),
    ``device``, ``exact``, ``component`` (the class of an implementation), ``version`` and ``source``.
    """
    again = info.get("again") or {}
    found: dict[str, Mapping[str, Any]] = {
        "bench": {"bench": info["bench"]},
        "parameter": _flat_json(str(info["params"])),
        "topology": _flat_json(spec),
        "device": {"device": again.get("device")},
        "exact": {"exact": again.get("exact")},
        "component": dict(again.get("components") or {}),
        "version": {"version": info["version"]},
        SOURCE: Counter(line.rstrip() for line in _lines(info) if line.strip()),
    }
    return {
        (what, str(key)): value
        for what, values in found.items()
        for key, value in values.items()
        if value is not None
    }


def described(info: Mapping[str, Any], spec: str, table: str) -> pa.Table:
    """The table of that name, of a run with the properties ``info`` on the topology specified by ``spec``."""
    columns = [(column.name, ARROW_TYPES[column.type]) for column in SCHEMA.table(table).columns]
    return pa.Table.from_pylist(list(_ROWS[table](info, spec)), pa.schema(columns))


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings and lists as one mapping of dotted keys.

    >>> flat({"cube": {"pes": 4, "sizes": [1, 2]}})
    {'cube.pes': 4, 'cube.sizes.0': 1, 'cube.sizes.1': 2}
    """
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


def text_of(value: Any) -> str:
    """A setting's value in words: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


@lru_cache(maxsize=64)
def _flat_json(text: str) -> Mapping[str, Any]:
    """The keys of an object in JSON; none where it is anything else."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return flat(found) if isinstance(found, dict) else {}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _params(info: Mapping[str, Any], spec: str) -> Iterator[dict[str, Any]]:
    for (what, key), value in settings(info, "").items():
        if what == "parameter":
            yield {"name": key, "text": text_of(value), "value": _number(value)}


def _tags(info: Mapping[str, Any], spec: str) -> Iterator[dict[str, Any]]:
    for tag in dict.fromkeys(tag_list(str(info["tags"]))):
        yield {"name": tag}


def _configuration_rows(info: Mapping[str, Any], spec: str) -> Iterator[dict[str, Any]]:
    first = {line.rstrip(): n for n, line in reversed([*enumerate(_lines(info), 1)])}
    for number, ((what, key), value) in enumerate(settings(info, spec).items()):
        at = first[key] if what == SOURCE else number
        yield {"what": what, "name": key, "text": text_of(value), "value": _number(value), "number": at}


def _submission_rows(info: Mapping[str, Any], spec: str) -> Iterator[dict[str, Any]]:
    for number, launch in enumerate(info.get("launches") or ()):
        rank = launch.get("rank")
        sips = _sips(launch)
        yield {
            "number": number,
            "rank": -1 if rank is None else rank,
            "sip": sips[0] if len(sips) == 1 else -1,
            **times_of(launch),
            "call": launch.get("call", ""),
            "for_pes": launch.get("for_pes", 0),
            "language": launch.get("language", "tl"),
            **{name: launch.get(name, 0) for name in ("blocks", "num_warps", "num_stages", "residents")},
            "grid": launch.get("grid", ""),
            "follows": launch.get("follows", -1),
            "times": launch.get("times", 1),
            "model_nodes": launch.get("model_nodes", ""),
            "model_line": launch.get("model_line", ""),
        }


def _sips(launch: Mapping[str, Any]) -> Sequence[int]:
    """Numbers of the packages that ran a launch; -1 for one without.

    Runs of older versions name the PEs instead, ``sip0.cube0.pe0``.
    """
    if "sips" in launch:
        return list(launch["sips"])
    packages = {pe.partition(".")[0].removeprefix("sip") for pe in launch.get("pe_times") or ()}
    return [int(one) if one.isdecimal() else -1 for one in packages]


def _repetition_rows(info: Mapping[str, Any], spec: str) -> Iterator[dict[str, Any]]:
    last: dict[tuple[Any, Any], int] = {}
    for number, launch in enumerate(info.get("launches") or ()):
        same = launch.get("kernel"), launch.get("rank")
        if same in last:
            yield {"launch": number, "before": last[same]}
        last[same] = number


def _lines(info: Mapping[str, Any]) -> list[str]:
    return str(info.get("source_text") or "").splitlines()


_ROWS = {
    "Param": _params,
    "Tag": _tags,
    "Configured": _configuration_rows,
    "Submitted": _submission_rows,
    "Repeated": _repetition_rows,
}
