"""How busy a block of a machine was: a package, a chiplet, a PE, or what a picture draws as one.

One definition on every surface. The members of a block are the components in it and the links between two of
them; a link that leaves it is of the block around both ends. A block is as busy as its busiest member: a mean
would hide what holds the others up. A part that stands for its own parts, as a slice of HBM for its channels,
is as busy as it is said to be itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def busiest_member(shares: Mapping[str, float], members: Iterable[str]) -> tuple[float, str]:
    """Utilisation and name of the busiest of ``members``, the first by name of equal ones; 0 and "" if idle.

    ``shares`` has the utilisation of components and links, 0 to 1; what it lacks was idle.
    """
    share, name = min(((-round(shares.get(one, 0.0), 9), one) for one in members), default=(0.0, ""))
    return (shares[name], name) if share < 0.0 else (0.0, "")


def members_of_blocks(parent: Mapping[str, str], names: Iterable[str]) -> dict[str, list[str]]:
    """Which of the components and links ``names`` are members of each block, by the blocks that have any.

    Args:
        parent: The block that contains each component directly; empty for the machine itself. A component is
            a member of itself.
        names: Names of components, and of links as ``src->dst``; those with a use of their own.
    """
    found: dict[str, list[str]] = {}
    known = set(names)
    for name in known:
        src, _, dst = name.partition("->")
        ends = set(_around(parent, dst))
        stood_for = parent.get(name, "") in known
        for block in (name,) if stood_for else _around(parent, src):
            if not dst or block in ends:
                found.setdefault(block, []).append(name)
    return found


def _around(parent: Mapping[str, str], component: str) -> Iterable[str]:
    """The component and the blocks that contain it, from the inside out."""
    while component:
        yield component
        component = parent.get(component, "")
