"""One entry of a topology file's ``overrides``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PrivateAttr

from kernbench.topology.fields import Section

FREE = 1e12
"""The speed of what is free: a millisecond there becomes a millionth of a nanosecond."""

Speed = Annotated[float, Field(ge=1 / FREE, le=FREE)]


class Override(Section):
    """Something that is faster or slower than the rest of its kind, or costs next to nothing."""

    where: str = Field(
        description="a component, a link 'a->b', kind:NAME, or a group such as sip0.cube3 with all in it",
        min_length=1,
        max_length=400,
    )
    speed: Speed | None = Field(default=None, description="times as fast; below 1 it is slower")
    free: bool = Field(default=False, description="true: so fast (1e12) that its time does not count")
    _written_at: str = PrivateAttr(default="")

    @property
    def factor(self) -> float:
        """How many times as fast."""
        return FREE if self.speed is None else self.speed

    @property
    def written_at(self) -> str:
        """``file:line`` where it stands; empty for one made in code. No part of the content."""
        return self._written_at

    def note_place(self, place: str) -> None:
        """Remember ``file:line``, for errors that only the compiled machine can show."""
        self._written_at = place

    def __eq__(self, other: object) -> bool:
        """The same place at the same speed, wherever that was written."""
        return isinstance(other, Override) and self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash((self.where, self.speed, self.free))
