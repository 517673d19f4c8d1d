"""Process groups, and the check that their ranks make the same calls in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kernbench.errors import CollectiveError
from kernbench.host.collectives.algorithm import Over

Shapes = Sequence[tuple[int, ...]]
_COMPARED = ("collective", "op", "root", "dtype", "shapes", "placement")
_HALVES = {"send": "sends", "recv": "receives"}
"""The two calls that make a message, and what the rank that makes one does."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments that must be the same for one call on every rank of a group."""

    collective: str
    op: str
    root: int | None
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    placement: tuple[object, ...] = field(repr=False)

    def __str__(self) -> str:
        if self.collective in _HALVES:
            return f"{_HALVES[self.collective]} {self.dtype} {self.shapes[0]}"
        op = self.op if self.root is None else ", ".join(filter(None, [self.op, f"rank {self.root}"]))
        shapes = ", ".join(map(str, dict.fromkeys(self.shapes)))
        return f"{self.collective}({op}) of {self.dtype} {shapes}" if shapes else f"{self.collective}()"

    def difference(self, other: Signature) -> str:
        """In which respect the two differ."""
        halves = self.collective in _HALVES and other.collective in _HALVES
        for name in ("op", "root", "dtype", "shapes", "placement") if halves else _COMPARED:
            if getattr(self, name) != getattr(other, name):
                return name
        return ""


@dataclass(slots=True)
class _Made:
    """A call that ranks have made: the first one's signature and line."""

    signature: Signature
    first: int
    line: str
    ranks: list[int]
    exchanged: dict[int, tuple[Shapes, Shapes]] = field(default_factory=dict)


class ProcessGroup:
    """Ranks that take part in collectives together. ``ranks`` are global ranks, ascending.

    ``over``: whether reductions add up the contributions of ranks, or of each cube or PE of them too.
    """

    def __init__(self, name: str, ranks: Sequence[int], over: Over = "ranks", tag: str = "") -> None:
        self.name = name
        self.ranks = tuple(ranks)
        self.over: Over = over
        self.tag = tag
        self._numbers = {rank: number for number, rank in enumerate(self.ranks)}
        self._calls: list[_Made] = []
        self._made: dict[int, int] = {}
        self._pairs: dict[tuple[int, int], list[_Made]] = {}
        self._halves: dict[tuple[int, int, bool], int] = {}

    def __repr__(self) -> str:
        return f"<ProcessGroup {self.name}: ranks {list(self.ranks)}>"

    def size(self) -> int:
        """Number of ranks."""
        return len(self.ranks)

    def rank_of(self, rank: int) -> int:
        """The number within the group of a global rank; -1 when it is not in it."""
        return self._numbers.get(rank, -1)

    def call(self, rank: int, signature: Signature, line: str) -> int:
        """Global rank ``rank`` makes its next call. Returns the number of the call, from 0.

        Raises:
            CollectiveError: Another rank made a different call at this place in the order.
        """
        number = self._made.get(rank, 0)
        self._made[rank] = number + 1
        if number == len(self._calls):
            self._calls.append(_Made(signature, rank, line, [rank]))
            return number
        made = self._calls[number]
        self._agree(made, signature, rank, line, f"call {number} of {self.name}")
        made.ranks.append(rank)
        return number

    def exchange(self, number: int, rank: int, outputs: Shapes, inputs: Shapes) -> None:
        """Rank ``rank`` of the group gives shapes for each rank in an all_to_all, its ``number``-th call.

        Raises:
            CollectiveError: What one rank sends to another has not the shape that it receives.
        """
        exchanged = self._calls[number].exchanged
        for other, (theirs_out, theirs_in) in exchanged.items():
            for source, target, sent, received in (
                (rank, other, inputs[other], theirs_out[rank]),
                (other, rank, theirs_in[rank], outputs[other]),
            ):
                if sent != received:
                    raise CollectiveError(
                        f"ranks disagree in the shape of call {number} of {self.name}: rank "
                        f"{self.ranks[source]} sends {sent} to rank {self.ranks[target]}, which receives "
                        f"{received}; make them equal"
                    )
        exchanged[rank] = (outputs, inputs)

    def half(self, source: int, target: int, rank: int, signature: Signature, line: str) -> None:
        """Rank ``rank`` (one of the two) makes its part of the next send from ``source`` to ``target``."""
        made = self._pairs.setdefault((source, target), [])
        key = (source, target, rank == source)
        number = self._halves.get(key, 0)
        self._halves[key] = number + 1
        if number == len(made):
            made.append(_Made(signature, rank, line, [rank]))
            return
        what = f"message {number} from rank {source} to rank {target}"
        self._agree(made[number], signature, rank, line, what)
        made[number].ranks.append(rank)

    def _agree(self, made: _Made, mine: Signature, rank: int, line: str, what: str) -> None:
        different = made.signature.difference(mine)
        if not different:
            return
        half = mine.collective in _HALVES
        hint = {
            "placement": "place the tensors alike on every rank",
            "shapes": "let both tensors have one shape" if half else "use tensors of one shape on every rank",
            "dtype": "let both tensors have one dtype" if half else "use one dtype on every rank",
        }.get(different, "let every rank make the same calls in the same order")
        calls = "" if half else "calls "
        and_ = " placed otherwise" if different == "placement" else ""
        raise CollectiveError(
            f"ranks disagree in the {different} of {what}: rank {made.first} {calls}{made.signature}"
            f"{f' ({made.line})' if made.line else ''}, rank {rank} {mine}{and_}"
            f"{f' ({line})' if line else ''}; {hint}"
        )

    def missing(self) -> list[str]:
        """A line for each call that ranks have made and others have not, for a deadlock report."""
        lines = []
        for number, made in enumerate(self._calls):
            absent = [rank for rank in self.ranks if rank not in made.ranks]
            if absent:
                lines.append(
                    f"call {number} of {self.name}, {made.signature}, waits for {_ranks(absent)}, "
                    f"which {'has' if len(absent) == 1 else 'have'} not made it"
                )
        for (source, target), messages in self._pairs.items():
            for number, made in enumerate(messages):
                if len(made.ranks) < 2:
                    other, does = (target, "receive") if made.first == source else (source, "send")
                    message = f"message {number} from rank {source} to rank {target}"
                    lines.append(f"{message}: rank {other} does not {does} it")
        return lines


def _ranks(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:8])) + (" ..." if len(numbers) > 8 else "")
    return f"rank {shown}" if len(numbers) == 1 else f"ranks {shown}"
