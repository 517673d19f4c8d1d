"""Where the PEs of a hierarchical algorithm stand: trees over meshes, and what a placement must be like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernbench.host.collectives.steps import Tree

if TYPE_CHECKING:
    from kernbench.host import Tensor, TensorShard
    from kernbench.host.collectives.algorithm import Call


@dataclass(frozen=True, slots=True)
class Mesh:
    """A mesh of ``w`` x ``h``, numbered row by row, and the root of reductions over it."""

    w: int
    h: int
    root: int

    @classmethod
    def centred(cls, w: int, h: int) -> Mesh:
        """The root in the middle, (h // 2) * w + w // 2: no cube is farther than half the mesh."""
        return cls(w, h, (h // 2) * w + w // 2)

    def tree(self, number: int, prefix: str = "") -> Tree:
        """The part of node ``number``: along its row to the root's column, along that column to the root."""
        x, y = number % self.w, number // self.w
        root_x, root_y = self.root % self.w, self.root // self.w
        children: list[str] = []
        if 0 < x <= root_x:
            children.append("W")
        if root_x <= x < self.w - 1:
            children.append("E")
        if x != root_x:
            return Tree(tuple(prefix + d for d in children), prefix + ("E" if x < root_x else "W"))
        if 0 < y <= root_y:
            children.append("N")
        if root_y <= y < self.h - 1:
            children.append("S")
        parent = None if y == root_y else prefix + ("S" if y < root_y else "N")
        return Tree(tuple(prefix + d for d in children), parent)


def line(number: int, size: int, forward: str, back: str) -> Tree:
    """The part of node ``number`` in a ring of ``size`` used as a tree: two equal arms meet at node 0."""
    arm = size // 2  # nodes of the arm that leads forward from the root
    if number == 0:
        return Tree((*((forward,) if arm else ()), *((back,) if size > 2 else ())), None)
    if number <= arm:
        return Tree((forward,) if number < arm else (), back)
    return Tree((back,) if number > arm + 1 else (), forward)


def together(*trees: Tree) -> Tree:
    """A node's part in trees that are nested: of all but the last it must be the root."""
    return Tree(tuple(child for tree in trees for child in tree.children), trees[-1].parent)


def cube_mesh(call: Call) -> Mesh | str:
    """The mesh of the cubes that hold shards, or why they are none. They are the first ones of a SIP."""
    w, h = call.shape.cube_mesh
    cubes = len({cube for cube, _ in call.lanes})
    if cubes <= w:
        return Mesh.centred(cubes, 1)
    if cubes % w:
        return (
            f"its reduction runs along whole rows of the {w} x {h} cubes, and the tensor lies on {cubes}; "
            "place it on whole rows"
        )
    return Mesh.centred(w, cubes // w)


def contributions(tensor: Tensor, over: str) -> str | None:
    """Why the parts of ``tensor`` are not one contribution a cube (``over`` pes: a PE), or None.

    Contributions are equal slices of the first dimension, so that each has the shape of the sum.
    """
    together: dict[int, list[TensorShard]] = {}
    for shard in tensor.shards:
        together.setdefault(0 if over == "pes" else shard.pe, []).append(shard)
    for shards in together.values():
        rows = {(s.index[0].start, s.index[0].stop) for s in shards}
        others = {tuple((part.start, part.stop) for part in s.index[1:]) for s in shards}
        if len(rows) < len(shards) or len(others) > 1:
            each = "cubes and PEs" if over == "pes" else "cubes"
            return (
                f"it adds up slices of the first dimension, one for each of the {each}, and tensor "
                f"'{tensor.name}' is not split like that; place it row_wise over {each}"
            )
    return None
