"""What a machine makes of a model on every screen: decode, prefill, memory, and twice of each part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.contents import judged
from kernbench.api.models.model import TWICE, ModelAnswer
from kernbench.draw.content import SHARE, Column, Content, Grid
from kernbench.support.sizes import decimal_size

_CHANGE = Column("change", SHARE, signed=True, quiet=(None,))
_SHARES = ("of_roof", "estimated", "off_by_at_most")
_SAID = tuple(
    Column(name, SHARE if name in _SHARES else "", quiet=(None,))
    for name in (
        *("of_roof", "bound_by", "most_time_in", "critical_path", "mj_token"),
        *("layers", "estimated", "off_by_at_most"),
    )
)
_MEMORY = ("weights", "cache", "activations", "free")
NOTE = (
    "In decode one new token of each sequence; in prefill a prompt of one sequence that waits for nothing, "
    "which is the time to the first token. Embedding, the product with the vocabulary and sampling are left "
    "out. of_roof: the least time by three numbers of a package, its arithmetic, memory and links, over the "
    "simulated one; bound_by: what most of that is spent on. critical_path: the cause of most of a layer's "
    "time. layers: simulated of all; estimated: the share of the time that the others have; off_by_at_most: "
    "against a run of all (--exact)."
)


def content(found: ModelAnswer) -> Content:
    """What :func:`kernbench.model` has found."""
    machine = (Column("machine"),) if len(found.machines) > 1 else ()
    change = (_CHANGE,) if machine else ()
    steps = [_step(row) for row in found.steps]
    of = [*machine, Column("batch"), Column("context")]
    twice = tuple(Column(name, SHARE, signed=True) for name in TWICE)
    times = (Column("token_ms"), Column("tokens_s"), Column("tokens_s_user"))
    first = (Column("first_token_ms"), Column("tokens_s"))
    tokens = [step for step in steps if step["phase"] == "decode"]
    sizes = [*map(Column, _MEMORY)]
    grids = [
        Grid("decode", "Tokens", [*of, *times, *change, *_SAID], tokens),
        Grid("prefill", "First token", [*machine, Column("prompt"), *first, *change, *_SAID],
             [s for s in steps if s["phase"] == "prefill"]),
        Grid("twice", "With one part twice as fast, simulated again",
             [*machine, Column("phase"), *of[-2:], Column("ms"), *twice], list(map(_twice, found.twice))),
        Grid("memory", "Memory of a package", [*machine, Column("phase"), *of[-2:], *sizes], steps),
    ]  # fmt: skip
    wrong = [f"{_named(row)}: {row['problem']}" for row in found.refused]
    packages = ", ".join(dict.fromkeys(f"{row['machine']} ({row['packages']})" for row in found.steps))
    facts = [("model", found.model), ("packages", packages), ("judged by", judged.STEPS)]
    notes = dict.fromkeys(note for row in found.steps for note in row["notes"])
    return Content(grids, "no step", title=f"{found.model} on {' and '.join(found.machines)}",
                   facts=facts, said=[*notes], wrong=wrong, note=NOTE)  # fmt: skip


def _step(row: Mapping[str, Any]) -> dict[str, Any]:
    tokens = row["batch"] if row["phase"] == "decode" else row["context"]
    part, share = _most(row["parts"])
    ms, cause = row["ns"] / 1e6, None
    if row["causes"]:
        name, of_path = _most(row["causes"])
        cause = f"{name} {of_path:.0%}"
    return {
        **{
            key: row[key] for key in ("machine", "phase", "batch", "context", "change", "of_roof", "bound_by")
        },
        "prompt": row["context"],
        "token_ms": ms,
        "first_token_ms": ms,
        "tokens_s": row["tokens_per_s"],
        "tokens_s_user": 1e9 / row["ns"],
        "most_time_in": f"{part} {share:.0%}",
        "critical_path": cause,
        "mj_token": None if row["energy_pj"] is None else row["energy_pj"] / tokens / 1e9,
        "layers": f"{row['layers_simulated']} of {row['layers']}",
        "estimated": row["estimated"],
        "off_by_at_most": row["bar"],
        **{name: decimal_size(nbytes) for name, nbytes in row["memory"].items()},
    }


def _most(shares: Mapping[str, float]) -> tuple[str, float]:
    return max(shares.items(), key=lambda item: item[1])


def _twice(row: Mapping[str, Any]) -> dict[str, Any]:
    named = {key: row[key] for key in ("machine", "phase", "batch", "context")}
    changes = {what: row[what] / row["ns"] - 1 for what in TWICE}
    return {**named, "ms": row["ns"] / 1e6, **changes}


def _named(row: Mapping[str, Any]) -> str:
    size = f"batch {row['batch']}, context" if row["phase"] == "decode" else "prompt"
    return f"{row['machine']}, {size} {row['context']}"
