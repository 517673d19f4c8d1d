"""What files of Inductor name of Triton's compiler: hints, which are without effect."""

from __future__ import annotations


class AttrsDescriptor:
    """What is known of the arguments of a kernel."""

    def __init__(self, *_: object, **__: object) -> None: ...

    @classmethod
    def from_dict(cls, _: object) -> AttrsDescriptor:
        """The same."""
        return cls()


__path__: list[str] = []
