"""The machine of a run: a tree of its parts, a map coloured by use, and what is known of one part."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static, Tree
from textual.widgets.tree import TreeNode

from kernbench.draw.cells import text
from kernbench.draw.colours import STEPS
from kernbench.draw.targets import Target
from kernbench.tui.models.machine import MachineTree
from kernbench.tui.models.mesh import Cell, MeshMap
from kernbench.tui.models.resource_page import shares_of
from kernbench.tui.screens.base import BrowserScreen
from kernbench.tui.widgets.mesh import MeshWidget, heat
from kernbench.tui.widgets.words import styled


def legend() -> list[str | tuple[str, str]]:
    """The scale of all pictures: each step with its style and the percentage at which it ends."""
    tops = [(number + 1) / len(STEPS) for number in range(len(STEPS))]
    return ["   0 ", *((f"{top:>5.0%} ", str(heat(top))) for top in tops)]


class TopologyScreen(BrowserScreen):
    """Tree and map; Tab goes from one to the other, Enter opens."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "window", "Window"),
        Binding("o", "out", "Map out", show=False),
        Binding("f", "open_part", "Its page"),
    ]
    HELP = "Tab      from tree to map; Enter on a cube: its routers; o: back out; f: the page of a part"
    DEFAULT_CSS = """
    TopologyScreen #parts { width: 25%; min-width: 23; max-width: 44; scrollbar-size: 1 1; height: 1fr; }
    TopologyScreen #right { width: 1fr; height: 1fr; }
    TopologyScreen #part { height: auto; max-height: 6; padding: 0 1; background: $panel; }
    TopologyScreen #map-title { height: auto; padding: 0 1; }
    """

    def __init__(self, run_id: str) -> None:
        super().__init__("topology", run_id)
        self.machine: MachineTree | None = None
        self._shown = ""
        """The part whose map is shown."""
        self._described = ""

    def content(self) -> ComposeResult:
        """Tree to the left; map and facts to the right."""
        with Horizontal():
            yield Tree[str]("tray", id="parts")
            with Vertical(id="right"):
                yield Static(id="map-title")
                yield MeshWidget(id="map")
                yield Static(id="part")

    def begin(self) -> None:
        """Load the machine and the use of its parts."""
        if self.focused is None:
            self.query_one("#parts", Tree).focus()
        window, browser = self.browser_app.window, self.browser_app.browser

        def work() -> MachineTree:
            opened = browser.run(self._run_id)
            return MachineTree(opened, shares_of(opened, window), opened.run.window(window).name)

        self.ask(work, self.show_machine, "machine")

    def show_machine(self, machine: MachineTree) -> None:
        """Fill the tree anew."""
        self.machine = machine
        tree: Tree[str] = self.query_one("#parts", Tree)
        tree.clear()
        tree.guide_depth = 2  # names and percentages have room at 80 columns
        tree.root.data = machine.root
        tree.root.set_label(Text(machine.label(machine.root)))
        self._add_parts(tree.root)
        tree.root.expand()
        for node in tree.root.children:
            if node.data == machine.first_package:
                self._add_parts(node)
                node.expand()
                break
        self.show_part(self._shown or machine.first_package)

    def _add_parts(self, node: TreeNode[str]) -> None:
        """The parts of a part, when it is first opened."""
        assert self.machine is not None
        if node.children or node.data is None:
            return
        for name in self.machine.parts(node.data):
            label = Text(self.machine.label(name))
            if self.machine.parts(name):
                node.add(label, data=name)
            else:
                node.add_leaf(label, data=name)

    @on(Tree.NodeExpanded)
    def expanded(self, event: Tree.NodeExpanded[str]) -> None:
        """Load what is inside."""
        if self.machine is not None:
            self._add_parts(event.node)

    @on(Tree.NodeHighlighted)
    def highlighted(self, event: Tree.NodeHighlighted[str]) -> None:
        """Describe the part under the cursor, and show the map on which it lies."""
        if self.machine is not None and event.node.data is not None and self.query_one("#parts").has_focus:
            self.show_part(event.node.data)

    @on(Tree.NodeSelected)
    def selected(self, event: Tree.NodeSelected[str]) -> None:
        """Open a part that has no parts of its own."""
        if event.node.data is not None and not event.node.allow_expand:
            self.follow(Target("resource", event.node.data))

    def show_part(self, name: str) -> None:
        """Facts of a part, and its map."""
        machine = self.machine
        if machine is None or not name:
            return
        self._shown = name
        self.describe_part(name)
        self.ask(lambda: machine.map(name), self.show_map, "map")

    def describe_part(self, name: str, cell: Cell | None = None) -> None:
        """Name, use and properties of a part; of a cell of the map also what was busiest there."""
        assert self.machine is not None
        self._described = name
        facts = ", ".join(f"{key} {text(value)}" for key, value in self.machine.describe(name).items())
        use = self.machine.use(name)
        if cell is not None and cell.label.endswith("+") and cell.busiest:
            use += f"; with what is beside it: {cell.share:.1%}, {cell.busiest}"
        self.query_one("#part", Static).update(styled((name, "bold"), f"  {use}\n{facts}"))

    def show_map(self, found: MeshMap | None) -> None:
        """Draw a map; the one before stays where a part lies on none."""
        if found is not None and self.machine is not None:
            self.query_one(MeshWidget).show(found)
            words = f"{found.title}, busiest member in {self.machine.window}"
            scale = legend() if self.size.width >= 100 else []
            self.query_one("#map-title", Static).update(styled(words, *scale))

    @on(MeshWidget.Moved)
    def moved(self, event: MeshWidget.Moved) -> None:
        """Describe the cell under the map's cursor."""
        if self.machine is not None and self.query_one(MeshWidget).has_focus:
            self.describe_part(event.cell.name, event.cell)

    @on(MeshWidget.Opened)
    def opened(self, event: MeshWidget.Opened) -> None:
        """A cube shows its routers, a block the blocks within it, anything else its page."""
        found, machine = self.query_one(MeshWidget).map, self.machine
        opens = found is not None and found.title.endswith(("cubes", "blocks"))
        if opens and machine is not None and machine.parts(event.cell.name):
            self.show_part(event.cell.name)
        else:
            self.follow(Target("resource", event.cell.name))

    def action_open_part(self) -> None:
        """The page of the part that is described."""
        if self._described:
            self.follow(Target("resource", self._described))

    def action_out(self) -> None:
        """From the map of a cube back to that of its package."""
        self.show_part(self._shown.partition(".")[0])
