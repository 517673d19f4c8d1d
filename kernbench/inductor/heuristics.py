"""Kernels of Inductor: their block sizes, which its heuristics leave to the launch, and their grids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernbench.host.launching import LaunchHandle
from kernbench.inductor.buffers import Strided
from kernbench.inductor.sources import calling, refused
from kernbench.triton import cdiv, next_power_of_2
from kernbench.triton.launching import JITFunction, OnGrid

ELEMENTS = 1024
"""Of a block: what Inductor's heuristics give a block of a large pointwise kernel."""
SIDE = 32
"""Of a block with two or three axes, where these are as long."""
ROOM = 65535
"""Blocks along axis 1 of a grid on a GPU."""
Numbers = Mapping[str, Any]


class Kernel:
    """A kernel under one of Inductor's heuristics; ``run`` launches it with the arguments of its file."""

    def __init__(self, fn: JITFunction, kind: str, given: Numbers) -> None:
        self.fn, self.kind = fn, kind
        self.meta: Numbers = given.get("inductor_meta") or {}
        self.constants: Numbers = (given.get("triton_meta") or {}).get("constants") or {}
        configs = given.get("configs") or [{}]
        self.config = dict(configs[0]) if isinstance(configs[0], Mapping) else {}

    def run(self, *args: Any, grid: Any = None, stream: object = None, **named: Any) -> LaunchHandle | None:
        """Launch on the grid that the file's ``grid`` or ``inductor_meta`` says, as of 2.6 the latter."""
        left = [name for name in self.fn.arg_names if name not in named]
        chosen = {name: value for name, value in self.config.items() if name in left}
        blocks = [name for name in left if name in _AXES]
        left = [name for name in left if name not in blocks and name not in chosen]
        if len(args) < len(left):
            left = [name for name in left if name not in self.constants]
        bound = dict(zip(left, args, strict=False)) | named
        sizes = {name.removesuffix("numel"): value for name, value in bound.items() if name.endswith("numel")}
        chosen |= self._blocks(blocks, sizes)
        beyond = dict(zip(self.meta.get("extra_launcher_args", ()), args[len(left) :], strict=False))
        dims = self._grid({**bound, **chosen, **beyond}, grid)
        kept = {name: value for name, value in self.constants.items() if name in self.fn.arg_names}
        return launched(self.fn, dims, {**kept, **bound, **chosen}, kind=self.kind)

    def _blocks(self, names: Sequence[str], sizes: Numbers) -> dict[str, int]:
        """About a thousand elements a block: rows of a reduction go first, then x, then y and z."""
        length = {name: next_power_of_2(int(size)) for name, size in sizes.items()}
        found, room = {}, ELEMENTS
        rows = length.get("r0_", length.get("r", 1))
        if not {"R0_BLOCK", "RBLOCK"}.intersection(names):
            room = max(1, room // rows)
        plane = {"XBLOCK", "YBLOCK"}.issubset(names)
        for name in sorted(names, key=list(_AXES).index):
            size = next((length[axis] for axis in _AXES[name] if axis in length), ELEMENTS)
            limit = room
            if plane and name == "XBLOCK":
                limit = max(SIDE, room // length.get("y", 1))
            found[name] = 1 if self.kind == "split_scan" and name == "XBLOCK" else min(size, limit)
            room = max(1, room // found[name])
        return found

    def _grid(self, known: Numbers, grid: Any) -> Sequence[int]:
        if grid is not None:
            return tuple(grid(known) if callable(grid) else grid)
        kind = self.meta.get("grid_type")
        if kind not in _GRIDS:
            raise refused(
                f"kernel '{self.fn.fn.__name__}' has a grid of the kind {kind}; known are {', '.join(_GRIDS)}"
            )
        return tuple(int(n) for n in _GRIDS[kind](self.meta, known))


def launched(
    fn: JITFunction, grid: Sequence[int], arguments: Mapping[str, Any], name: str = "", kind: str = ""
) -> LaunchHandle | None:
    """Launch ``fn`` on tensors of Inductor's code, which may begin anywhere in a buffer."""
    offsets = {key: one.offset for key, one in arguments.items() if isinstance(one, Strided) and one.offset}
    given = {key: one.memory if isinstance(one, Strided) else one for key, one in arguments.items()}
    tensors = [one.memory for one in arguments.values() if isinstance(one, Strided)]
    if 0 in grid:
        return None
    handle: LaunchHandle = tensors[0].launch(
        name or fn.fn.__name__, OnGrid(fn, tuple(grid), offsets), **given
    )
    handle.model_nodes, handle.model_line = calling()
    handle.model_kind = kind or fn.fn.__name__
    return handle


_AXES = {
    "R0_BLOCK": ("r0_", "r"),
    "RBLOCK": ("r", "r0_"),
    "R1_BLOCK": ("r1_",),
    "XBLOCK": ("x",),
    "YBLOCK": ("y",),
    "ZBLOCK": ("z",),
}
"""Block sizes, in the order in which they are chosen, and the axes that they cut."""


def _along(known: Numbers, axis: str) -> int:
    return cdiv(int(known[f"{axis}numel"]), int(known.get(f"{axis.upper()}BLOCK", 1)))


def _overflowing(_: Numbers, known: Numbers) -> tuple[int, int, int]:
    blocks = _along(known, "y")
    parts = cdiv(blocks, ROOM)
    return _along(known, "x"), cdiv(blocks, parts), parts


def _fixed(meta: Numbers, known: Numbers) -> Sequence[int]:
    return [_evaluated(one, known) for one in meta["fixed_grid"]]


def _precomputed(meta: Numbers, known: Numbers) -> Sequence[int]:
    for candidate in meta["precomputed_grids"]:
        if all(known.get(key) == value for key, value in candidate["config"].items()):
            return [_evaluated(one, known) for one in candidate["python"]]
    raise refused(f"no grid among {meta['precomputed_grids']} is for these arguments")


def _evaluated(text: Any, known: Numbers) -> int:
    """A number of blocks as the file has it: an expression of the kernel's arguments."""
    return int(eval(str(text), {}, dict(known)))


def _combined(meta: Numbers, known: Numbers) -> Sequence[int]:
    """Several kernels in one: along x the blocks of each in turn; along y and z those of the longest."""
    combo = meta["combo_grid_meta"]
    block = {**(combo.get("default_config") or {}), **known}
    kernels = range(combo["num_kernels"])

    def lengths(axis: str) -> list[int]:
        """Those of the kernels that have the axis; a length that the file leaves open is an argument."""
        names = [name for n in kernels if (name := f"{axis}numel_{n}") in combo]
        return [int(combo[name] or known[name]) for name in names]

    width = block.get("XBLOCK", ELEMENTS)
    parts = [cdiv(size, 1 if combo.get(f"no_x_dim_{n}") else width) for n, size in enumerate(lengths("x"))]
    others = [cdiv(max(lengths(axis), default=1), block.get(f"{axis.upper()}BLOCK", 1)) for axis in "yz"]
    return (max(sum(parts), int(combo.get("min_blocks") or 0)), *others)


_GRIDS: dict[Any, Callable[[Numbers, Numbers], Sequence[int]]] = {
    "Grid1D": lambda _, known: (_along(known, "x"),),
    "Grid2D": lambda _, known: (_along(known, "x"), _along(known, "y")),
    "Grid3D": lambda _, known: (_along(known, "x"), _along(known, "y"), _along(known, "z")),
    "BatchMatmulGrid3D": lambda _, known: (_along(known, "z"), _along(known, "y"), _along(known, "x")),
    "Grid2DWithYZOverflow": _overflowing,
    "SplitScanGrid": lambda _, known: (
        cdiv(int(known.get("r0_numel", known.get("rnumel", 1))), known.get("R0_BLOCK", known.get("RBLOCK"))),
        int(known["xnumel"]),
    ),
    "FixedGrid": _fixed,
    "PrecomputedGrid": _precomputed,
    "SequentialComboKernelGrid": _combined,
}


def grid(*sizes: Any) -> Callable[[Numbers], Sequence[int]]:
    """The grid of files until 2.5, from the sizes along z, y and x."""

    def found(known: Numbers) -> Sequence[int]:
        axes = zip(("XBLOCK", "YBLOCK", "ZBLOCK"), reversed(sizes), strict=False)
        return [cdiv(int(size), int(known.get(block, 1))) for block, size in axes if size is not None]

    return found


def split_scan_grid(xnumel: Any, rnumel: Any) -> Callable[[Numbers], Sequence[int]]:
    """The same of a scan that is cut into parts."""
    return lambda known: (cdiv(int(rnumel), known.get("RBLOCK", 1)), int(xnumel))


def under(kind: str) -> Callable[..., Any]:
    """The decorator of one of the heuristics: what it says of sizes is known at the launch."""

    def heuristic(*_: Any, **given: Any) -> Callable[[JITFunction], Kernel]:
        return lambda fn: Kernel(fn, kind, given)

    return heuristic


TABLE: dict[str, Any] = {
    kind: under(kind)
    for kind in ("pointwise", "reduction", "persistent_reduction", "split_scan", "template", "foreach",
                 "user_autotune")
} | {"grid": grid, "split_scan_grid": split_scan_grid}  # fmt: skip
"""By the names that Inductor's files call them."""
