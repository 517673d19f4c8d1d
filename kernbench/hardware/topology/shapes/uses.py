"""One entry of ``parts``: a part, a block, or an array of either, alike or as a picture in text has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench.hardware.kinds import COMPONENT_KINDS, Form
from kernbench.hardware.topology.marked_yaml import Path
from kernbench.hardware.topology.orders import Coordinates, in_order
from kernbench.support.hints import did_you_mean, shown

if TYPE_CHECKING:
    from kernbench.hardware.topology.shapes.elaborate import Elaboration

MAX_PARTS = 2_000_000
MAX_LINKS = 4_000_000
"""Parts and links, each way, that a machine may have."""
HOLE = "."
"""The letter of a place in a map at which there is nothing, where its legend says nothing else of it."""


def refuse_crowd(count: int, what: str, most: int) -> None:
    """``ValueError`` where a machine would have more parts or links than one may."""
    if count > most:
        raise ValueError(f"makes {count:,} {what}, expected at most {most:,} in all")


_KEYS = ("kind", "block", "shape", "count", "map", "legend", "order", "name", "at", "pitch_mm")


class Piece(NamedTuple):
    """What one element is: a kind of part or a block, with its keys, and where that is written."""

    path: Path
    kind: str
    block: str
    keys: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Use:
    """An entry of ``parts``, read."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    pieces: list[Piece | None]
    """By place, the first axis counting fastest, None for a hole; a single one stands for all places."""
    order: str
    name: str | None
    at: tuple[float, float] | None
    pitch: tuple[float, float] | None

    def places(self) -> Iterator[tuple[int, Coordinates]]:
        """All places that are not holes with their positions in arrays, in the order of their numbers."""
        for place in in_order(self.sizes, self.order):
            position, step = 0, 1
            for at, size in zip(place, self.sizes, strict=True):
                position, step = position + at * step, step * size
            if len(self.pieces) == 1 or self.pieces[position] is not None:
                yield position, place

    def cell(self, position: int, place: Coordinates) -> tuple[int, int]:
        """Column and row in which an element is drawn: planes of a third axis side by side, lists in rows."""
        if len(place) < 2:
            across = max(1, round((self.sizes[0] if self.sizes else 1) ** 0.5))
            return position % across, position // across
        column, row = place[:2]
        if len(place) > 2:
            across = max(1, round(self.sizes[2] ** 0.5))
            column += place[2] % across * (self.sizes[0] + 1)
            row += place[2] // across * (self.sizes[1] + 1)
        return column, row


def read_use(made: Elaboration, path: Path, value: Any, params: Mapping[str, Any]) -> Use:
    """The entry at ``path``; ``ConfigError`` says what is wrong with it."""
    if isinstance(value, str):
        return Use(
            (), (), [_piece(made, path, made.filled(path, value, params), {})], "index", None, None, None
        )
    if not isinstance(value, dict):
        raise made.wrong(path, f"is {shown(value)}, expected a kind, a block, or a mapping")
    name = value.get("name")
    if name is not None and not isinstance(name, str):
        raise made.wrong((*path, "name"), f"is {shown(name)}, expected a text such as 'r{{y}}c{{x}}'")
    use = {key: made.filled((*path, key), one, params) for key, one in value.items() if key != "name"}
    keys = {key: one for key, one in use.items() if key not in _KEYS}
    axes, sizes = _shape(made, path, use)
    pieces: list[Piece | None] = (
        _picture(made, path, use, sizes, keys) if "map" in use else [_named(made, path, use, keys)]
    )
    order = use.get("order", "index")
    if order not in ("index", "snake"):
        raise made.wrong((*path, "order"), f"is {shown(order)}, expected index or snake")
    at, pitch = (_point(made, (*path, key), use.get(key)) for key in ("at", "pitch_mm"))
    return Use(axes, sizes, pieces, order, name, at, pitch)


def _shape(made: Elaboration, path: Path, use: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if "shape" in use and "count" in use:
        raise made.wrong((*path, "count"), "is set beside shape, expected one of the two")
    shape, key = (
        (use["shape"], "shape")
        if "shape" in use
        else ({"i": use["count"]} if "count" in use else {}, "count")
    )
    if not isinstance(shape, dict) or ("shape" in use and not shape):
        raise made.wrong(
            (*path, key), f"is {shown(shape)}, expected axes with their sizes, such as {{x: 8, y: 8}}"
        )
    most = MAX_PARTS
    for axis, size in shape.items():
        where = (*path, key, axis) if key == "shape" else (*path, key)
        if type(size) is not int or not 1 <= size <= most:
            raise made.wrong(where, f"is {shown(size)}, expected an integer from 1 to {most}")
        if not str(axis).isidentifier():
            raise made.wrong(where, f"'{axis}' is not a name of an axis, expected letters, digits and _")
        most //= size
    return tuple(shape), tuple(shape.values())


def _named(made: Elaboration, path: Path, use: Mapping[str, Any], keys: Mapping[str, Any]) -> Piece:
    """What a mapping with ``kind`` or ``block`` means."""
    given = [key for key in ("kind", "block") if key in use]
    if len(given) != 1:
        raise made.wrong(
            path, f"has {' and '.join(given) or 'neither kind nor block'}, expected one of kind and block"
        )
    if not isinstance(use[given[0]], str):
        raise made.wrong((*path, given[0]), f"is {shown(use[given[0]])}, expected a name")
    return _piece(made, path, use[given[0]], keys, given[0])


def _piece(made: Elaboration, path: Path, name: str, keys: Mapping[str, Any], given: str = "") -> Piece:
    """A kind or a block by name, ``given`` says which of the two it is called."""
    if given != "kind" and name in made.blocks:
        return Piece(path, "", name, keys)
    kind = COMPONENT_KINDS.get(name)
    if given != "block" and kind is not None and kind.form is Form.WIRED:
        return Piece(path, name, "", keys)
    kinds = (
        [] if given == "block" else [one.kind for one in COMPONENT_KINDS.values() if one.form is Form.WIRED]
    )
    known = [*([] if given == "kind" else made.blocks), *kinds]
    what = {"": "a kind or block", "kind": "a kind of part", "block": "a block"}[given]
    raise made.wrong(
        (*path, given) if given else path, f"'{name}' is not {what}, {did_you_mean(name, known)}"
    )


def _picture(
    made: Elaboration, path: Path, use: Mapping[str, Any], sizes: Sequence[int], keys: Mapping[str, Any]
) -> list[Piece | None]:
    """The elements of an array as its ``map`` has them, by the letters of its ``legend``; None for holes."""
    drawn, legend = use["map"], use.get("legend")
    letters = drawn.split() if isinstance(drawn, str) else drawn
    where = (*path, "map")
    if not isinstance(letters, list) or not all(isinstance(one, str) for one in letters):
        raise made.wrong(where, f"is {shown(drawn)}, expected letters of the legend, row by row")
    count = 1
    for size in sizes:
        count *= size
    if len(letters) != count:
        raise made.wrong(
            where, f"has {len(letters)} letters, expected {count}: one for each place of the shape"
        )
    if not isinstance(legend, dict):
        raise made.wrong((*path, "legend"), f"is {shown(legend)}, expected what each letter of the map is")
    known: dict[str, Piece | None] = {} if HOLE in legend else {HOLE: None}
    for letter in dict.fromkeys(letters):
        if letter in known:
            continue
        if letter not in legend:
            hint = f"{did_you_mean(letter, legend)} of the legend"
            raise made.wrong(where, f"has '{letter}', {hint}, or '{HOLE}' for a hole")
        meant, at = legend[letter], (*path, "legend", letter)
        if isinstance(meant, str):
            known[letter] = _piece(made, at, meant, keys)
        elif isinstance(meant, dict):
            inner = {key: one for key, one in meant.items() if key not in ("kind", "block")}
            known[letter] = _named(made, at, {**use, **meant}, {**keys, **inner})
        else:
            raise made.wrong(at, f"is {shown(meant)}, expected a kind, a block, or a mapping")
    if all(letter == HOLE for letter in letters) and HOLE in known and known[HOLE] is None:
        raise made.wrong(where, "has holes alone, expected a letter of the legend at one place or more")
    return [known[letter] for letter in letters]


def _point(made: Elaboration, path: Path, value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    if (
        not isinstance(value, dict)
        or set(value) != {"x", "y"}
        or not all(type(one) in (int, float) for one in value.values())
    ):
        raise made.wrong(path, f"is {shown(value)}, expected mm such as {{x: 1.5, y: 2}}")
    return float(value["x"]), float(value["y"])
