"""The machine of a run as a tree of parts, each with the use of its busiest member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.analysis.block_use import busiest_member, members_of_blocks
from kernbench.api.open_runs import OpenRun
from kernbench.draw.machine.facts import is_tray
from kernbench.tui.models.mesh import MeshMap, map_of
from kernbench.tui.models.resource_page import Shares, describe


class MachineTree:
    """Parts by the part that contains them; ``shares`` has the use of each resource in a window."""

    def __init__(self, opened: OpenRun, shares: Mapping[str, Shares], window: str) -> None:
        self.opened = opened
        self.shares = shares
        self._utilisation = {name: one.utilisation for name, one in shares.items()}
        self.window = window
        table = opened.topology.tables["Component"]
        self._parts: dict[str, list[str]] = {}
        self._parent: dict[str, str] = {}
        for name, parent in zip(table["name"].to_pylist(), table["parent"].to_pylist(), strict=True):
            self._parts.setdefault(parent, []).append(name)
            self._parent[name] = parent
        self.root = self._parts[""][0]
        if not is_tray(opened.graph):
            self._group()
        inside = members_of_blocks(self._parent, self._utilisation)
        self._most = {block: busiest_member(self._utilisation, own) for block, own in inside.items()}

    def _group(self) -> None:
        """Put parts of a block that is not a component itself, such as a stack, below one name."""
        for parent, parts in list(self._parts.items()):
            blocks: dict[str, list[str]] = {}
            for name in parts:
                own = name.removeprefix(f"{parent}.")
                blocks.setdefault(name[: len(name) - len(own)] + own.partition(".")[0], []).append(name)
            grouped = {block: own for block, own in blocks.items() if len(own) > 1 and block not in own}
            self._parts |= grouped
            self._parent |= {name: block for block, own in grouped.items() for name in own}
            self._parent |= dict.fromkeys(grouped, parent)
            self._parts[parent] = [
                n for block, own in blocks.items() for n in ([block] if block in grouped else own)
            ]

    @property
    def first_package(self) -> str:
        """The first SIP; the machine itself where it has none."""
        table = self.opened.topology.tables["Component"]
        named = zip(table["name"].to_pylist(), table["kind"].to_pylist(), strict=True)
        return next((name for name, kind in named if kind == "sip"), self.root)

    def parts(self, name: str) -> list[str]:
        """The parts of a part."""
        return self._parts.get(name, [])

    def label(self, name: str) -> str:
        """The last part of a name, and the utilisation of its busiest member."""
        parent = self._parent.get(name, "")
        short = name.removeprefix(f"{parent}.") if parent else name
        share, _ = self._most.get(name, (0.0, ""))
        return f"{short} {share:.0%}" if share >= 0.005 else short

    def use(self, name: str) -> str:
        """How much a part was used, in words."""
        if name in self.shares:
            return f"{self.shares[name]} of {self.window}"
        if name in self._most:
            share, member = self._most[name]
            return f"utilisation of its busiest member {member} {share:.1%} of {self.window}"
        return f"not used in {self.window}"

    def describe(self, name: str) -> dict[str, Any]:
        """The part's properties; of a block that is not a component, how many parts it has."""
        known = name in self.opened.components or name in self.opened.links
        return describe(self.opened, name) if known else {"parts": len(self.parts(name))}

    def map(self, name: str) -> MeshMap | None:
        """The map on which it lies."""
        return map_of(self.opened, self._utilisation, self._most, name)
