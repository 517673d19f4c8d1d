"""Works out the blocks of a file, from its parts to the rows of the whole machine."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from math import prod
from typing import Any

from kernbench.errors import ConfigError
from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.hardware.topology.marked_yaml import Path, dotted
from kernbench.hardware.topology.nodes import HOST_CPU
from kernbench.hardware.topology.part_keys import of_kind
from kernbench.hardware.topology.shapes.expressions import filled
from kernbench.hardware.topology.shapes.idle import refuse_idle_sections
from kernbench.hardware.topology.shapes.model import LEVELS, Block
from kernbench.hardware.topology.shapes.references import resolve
from kernbench.hardware.topology.shapes.rows import Array, Element, Rows, Sort
from kernbench.hardware.topology.shapes.templates import TEMPLATES, template
from kernbench.hardware.topology.shapes.uses import MAX_LINKS, MAX_PARTS, Piece, Use, read_use, refuse_crowd
from kernbench.hardware.topology.shapes.wiring import Wiring
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.hints import did_you_mean, shown

MAX_DEPTH = 16
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class Elaboration:
    """One file being worked out. Blocks with equal parameters are worked out once."""

    def __init__(self, spec: TopologySpec) -> None:
        self.spec = spec
        self.blocks = (*spec.blocks, *(name for name in TEMPLATES if name not in spec.blocks))
        """Names of all blocks, the built-in ones last."""
        self.sections: set[str] = set()
        """Sections of the file that its built-in blocks take."""
        self._wiring = Wiring(self)
        self._sorts: dict[str, Sort] = {}
        self._known: dict[str, Rows] = {}
        self._sizes: dict[str, int] = {}
        self._open: list[str] = []

    def machine(self) -> Rows:
        """The whole machine."""
        for kind in self.spec.defaults:
            if kind not in COMPONENT_KINDS:
                raise self.wrong(
                    ("defaults", kind), f"is not a kind of part, {did_you_mean(kind, COMPONENT_KINDS)}"
                )
        parts, connect = self.spec.parts, self.spec.connect
        whole = Block.model_construct(params={}, level="", port=(), parts=parts, connect=connect)
        made = self._block((), whole, {})
        if not made.packages:
            made.be_one_package()
        made.number_computing_first()
        if len(set(made.names)) < len(made.names):
            name = Counter(made.names).most_common(1)[0][0]
            raise self.wrong(("parts",), f"two parts are called '{name}', expected different names")
        made = self._with_host(made)
        used = {sort.kind.kind for sort in self._sorts.values()}
        for kind in self.spec.defaults:
            if kind not in used:
                section = ".".join(COMPONENT_KINDS[kind].section)
                inner = f"; parts of built-in blocks have them in the section {section}" if section else ""
                raise self.wrong(
                    ("defaults", kind), f"no part of 'parts' is of this kind, expected it left out{inner}"
                )
        refuse_idle_sections(self.spec, used, self.sections)
        return made

    def _with_host(self, made: Rows) -> Rows:
        """The machine with its host CPU first, where the file has none."""
        hosts = [
            name for name, sort in zip(made.names, made.sorts, strict=True) if sort.kind.kind == "host_cpu"
        ]
        if len(hosts) > 1:
            both = f"'{hosts[0]}' and '{hosts[1]}'"
            raise self.wrong(("parts",), f"{both} are host CPUs, expected one of them")
        if hosts:
            return made
        if HOST_CPU in made.names:
            message = f"'{HOST_CPU}' is not a host CPU, expected one, under any name, or another name for it"
            raise self.wrong(("parts",), message)
        whole = Rows(grids=made.grids)
        whole.add(HOST_CPU, self.sort((), "host_cpu", {}), (0.0, 0.0))
        whole.place(made, "", (0.0, 0.0))
        return whole

    def wrong(self, path: Path, message: object) -> ConfigError:
        """The error for what stands at ``path`` of the file."""
        return ConfigError(f"{self.spec.located(path)}: {dotted(path)}: {message}")

    def filled(self, path: Path, value: Any, params: Mapping[str, Any]) -> Any:
        """``value`` with its expressions worked out."""
        try:
            return filled(value, params)
        except ValueError as error:
            raise self.wrong(path, error) from None

    def sort(self, path: Path, kind: str, keys: Mapping[str, Any]) -> Sort:
        """The parts of ``kind`` with ``keys``; the defaults of the kind, then its section, say the rest."""
        known = json.dumps([kind, keys], sort_keys=True, default=str)
        if known not in self._sorts:
            defaults = self.spec.defaults.get(kind, {})

            def wrong(key: str, message: str) -> ConfigError:
                if key and key not in keys and key in defaults:
                    return self.wrong(("defaults", kind, key), message)
                return self.wrong((*path, key) if key else path, message)

            record = COMPONENT_KINDS[kind]
            self._sorts[known] = Sort(record, of_kind(self.spec, record, {**defaults, **keys}, wrong))
        return self._sorts[known]

    def group(self, level: str) -> Sort:
        """The sort of the group that a block with a level is."""
        kind = COMPONENT_KINDS[LEVELS[level]]
        return self._sorts.setdefault(kind.kind, Sort(kind, {"impl": "", "overhead_ns": 0.0}))

    def block(self, path: Path, name: str, given: Mapping[str, Any]) -> Rows:
        """The block called ``name`` with the parameters ``given``."""
        known = json.dumps([name, given], sort_keys=True, default=str)
        if known in self._known:
            return self._known[known]
        self._enter(path, name)
        if name in self.spec.blocks:
            block = self.spec.blocks[name]
            for key in given:
                if key not in block.params:
                    hint = did_you_mean(key, block.params) if block.params else "expected none"
                    raise self.wrong((*path, key), f"is not a parameter of block '{name}', {hint}")
            made = self._block(("blocks", name), block, {**block.params, **given})
        else:
            made = template(self, path, name, given)
        self._open.pop()
        self._known[known] = made
        return made

    def _enter(self, path: Path, name: str) -> None:
        """Note that the block called ``name`` is being worked out."""
        if name in self._open or len(self._open) >= MAX_DEPTH:
            what = "holds itself" if name in self._open else f"is more than {MAX_DEPTH} deep"
            raise self.wrong(
                path, f"block {' > '.join([*self._open, name])} {what}, expected other blocks within"
            )
        self._open.append(name)

    def _size(self, piece: Piece) -> int:
        """How many parts one element makes, without making any of a block of the file."""
        if not piece.block:
            return 1
        known = json.dumps([piece.block, piece.keys], sort_keys=True, default=str)
        if known not in self._sizes:
            block = self.spec.blocks.get(piece.block)
            if block is None:
                self._sizes[known] = len(self.block(piece.path, piece.block, piece.keys).names)
                return self._sizes[known]
            self._enter(piece.path, piece.block)
            params, size = {**block.params, **piece.keys}, int(block.level != "")
            for name, value in block.parts.items():
                here = ("blocks", piece.block, "parts", name)
                size += self._made_by(here, read_use(self, here, value, params))
            self._open.pop()
            self._sizes[known] = size
        return self._sizes[known]

    def _made_by(self, path: Path, use: Use, before: int = 0) -> int:
        """How many parts an entry makes; refused where there are too many with those ``before``."""
        sizes = [self._size(piece) if piece is not None else 0 for piece in use.pieces]
        made = prod(use.sizes) * sizes[0] if len(sizes) == 1 else sum(sizes)
        self._refuse_crowd(path, before + made, "parts", MAX_PARTS)
        return made

    def _refuse_crowd(self, path: Path, count: int, what: str, most: int) -> None:
        try:
            refuse_crowd(count, what, most)
        except ValueError as error:
            raise self.wrong(path, error) from None

    def _block(self, path: Path, block: Block, params: Mapping[str, Any]) -> Rows:
        made = Rows(level=block.level)
        if block.level:
            made.add("", self.group(block.level), (0.0, 0.0))
        across = max(1, round(len(block.parts) ** 0.5))
        x = y = height = width = 0.0
        for number, (name, value) in enumerate(block.parts.items()):
            if number % across == 0:
                x, y, height = 0.0, y + height, 0.0
            here = (*path, "parts", name)
            w, h = self._use(made, here, name, read_use(self, here, value, params), params, (x, y))
            x, height = x + w, max(height, h)
            width = max(width, x)
        made.size = max(width, 1.0), max(y + height, 1.0)
        for i, statement in enumerate(block.connect):
            self._wiring.connect(made, (*path, "connect", i), statement, params)
        self._wiring.deal(made)
        made.ports = self._ports(made, (*path, "port"), block.port)
        if block.level:
            inside = {"package": made.packages, "chiplet": made.chiplets, "pe": made.pes}
            levels = list(inside)
            if any(inside[level] for level in levels[: levels.index(block.level) + 1]):
                raise self.wrong(
                    (*path, "level"),
                    f"a {block.level} holds what counts as much or more, expected package > chiplet > pe",
                )
            made.close()
        return made

    def _ports(self, made: Rows, path: Path, port: Any) -> tuple[str, ...]:
        ports = port if isinstance(port, list | tuple) else (port,)
        if not all(isinstance(one, str) for one in ports):
            raise self.wrong(path, "is not a name, expected a part of the block, or a list of them")
        for one in ports:
            try:
                resolve(one, made, {})
            except ValueError as error:
                raise self.wrong(path, error) from None
        return tuple(ports)

    def _use(
        self, made: Rows, path: Path, name: str, use: Use, params: Mapping[str, Any], at: tuple[float, float]
    ) -> tuple[float, float]:
        """Add one entry of ``parts``; returns its width and height as drawn."""
        self._made_by(path, use, len(made.names))
        made_of: dict[int, Rows | Sort] = {
            id(one): self.block(one.path, one.block, one.keys)
            if one.block
            else self.sort(one.path, one.kind, one.keys)
            for one in use.pieces
            if one is not None
        }
        sizes = [one.size for one in made_of.values() if isinstance(one, Rows)]
        widest, highest = (
            max([1.0, *one]) * 1.1 for one in (zip(*sizes, strict=True) if sizes else ((), ()))
        )
        pitch_x, pitch_y = use.pitch or (widest, highest)
        left, top = use.at or at
        places = list(use.places())
        wired = [made_of[id(piece)] for piece in use.pieces if piece is not None]
        links = sum(len(one.links) for one in wired if isinstance(one, Rows))
        links *= len(places) if len(use.pieces) == 1 else 1
        self._refuse_crowd(path, len(made.links) + links, "links", MAX_LINKS)
        found: list[Element | None] = [None] * prod(use.sizes)
        taken = set(made.names)
        right = bottom = 0
        for position, place in places:
            text = self._name(path, name, use, place, params)
            if text in taken:
                raise self.wrong(path, f"'{text}' is there already, expected another name")
            taken.add(text)
            column, row = use.cell(position, place)
            right, bottom = max(right, column + 1), max(bottom, row + 1)
            spot = round(left + column * pitch_x, 6), round(top + row * pitch_y, 6)
            what = made_of[id(use.pieces[position if len(use.pieces) > 1 else 0])]
            if isinstance(what, Rows):
                found[position] = Element(made.place(what, "" if what.bare else text, spot), what)
            else:
                found[position] = Element(made.add(text, what, spot), None)
                if len(place) == 2:
                    made.cells[len(made.names) - 1] = place[1], place[0]
        array = made.arrays[name] = Array(use.axes, use.sizes, found, use.order)
        for one in made_of.values():
            if isinstance(one, Rows):
                made.grids = {**one.grids, **({one.level: array} if one.level else {}), **made.grids}
        return right * pitch_x, bottom * pitch_y

    def _name(
        self, path: Path, name: str, use: Use, place: tuple[int, ...], params: Mapping[str, Any]
    ) -> str:
        text = name + "_".join(map(str, place))
        if use.name is not None:
            text = str(
                self.filled((*path, "name"), use.name, {**params, **dict(zip(use.axes, place, strict=True))})
            )
        if not _NAME.fullmatch(text):
            raise self.wrong(path, f"{shown(text)} is not a name, expected letters, digits and . _ -")
        return text
