"""How busy a die, a package or a PE was: one figure for each on every surface."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.block_use import busiest_member, members_of_blocks
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.draw.colours import percent
from kernbench.page.answers import Answers
from kernbench.page.run_report import _busiest
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.machine import MachineTree
from kernbench.tui.models.resource_page import shares_of
from tests.examples import examples

WHOLE = ChosenWindow()
PARTS = ("a", "b", "c", "d", "e")


@st.composite
def trees(draw: st.DrawFn) -> dict[str, str]:
    """Parents of :data:`PARTS`: each is within one before it, or within the machine."""
    return {name: draw(st.sampled_from(("", *PARTS[:at]))) for at, name in enumerate(PARTS)}


@examples(50)
@given(parent=trees(), shares=st.dictionaries(st.sampled_from(PARTS), st.floats(0, 1)), data=st.data())
def test_a_block_is_as_busy_as_its_busiest_part_or_inner_link(
    parent: dict[str, str], shares: dict[str, float], data: st.DataObject
) -> None:
    leaves = [name for name in PARTS if name not in parent.values()]
    shares = {name: share for name, share in shares.items() if name in leaves}
    ends = st.sampled_from(leaves)
    links = data.draw(st.dictionaries(st.tuples(ends, ends), st.floats(0, 1)))
    shares |= {f"{a}->{b}": share for (a, b), share in links.items()}

    def within(part: str, block: str) -> bool:
        return part == block or (bool(part) and within(parent[part], block))

    found = members_of_blocks(parent, shares)
    for block in PARTS:
        inside = {name for name in shares if all(within(end, block) for end in name.split("->"))}
        assert set(found.get(block, ())) == inside
        share, name = busiest_member(shares, found.get(block, ()))
        assert share == pytest.approx(max((shares[one] for one in inside), default=0.0), abs=1e-9)
        assert name in inside or (share == 0 and not name)


def test_a_part_that_stands_for_its_parts_counts_by_itself() -> None:
    parent = {"cube": "", "cube.hbm": "cube", "cube.hbm.pc0": "cube.hbm"}
    shares = {"cube.hbm": 0.5, "cube.hbm.pc0": 0.9}
    found = members_of_blocks(parent, shares)
    assert busiest_member(shares, found["cube"]) == (0.5, "cube.hbm")
    assert busiest_member(shares, found["cube.hbm"]) == (0.5, "cube.hbm")
    assert busiest_member(shares, found["cube.hbm.pc0"]) == (0.9, "cube.hbm.pc0")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> kb.Run:
    """On a machine of parts whose links are busier than its parts."""
    store = str(tmp_path_factory.mktemp("run") / "store")
    machine = kb.load_topology("two-kinds", {"wires.hbm.gbs": 16})
    flows = [
        {"src": f"package.die{x}_0.pe0", "dst": f"package.die{x}_1.hbm1", "bytes": 65536 >> x, "op": "write"}
        for x in range(3)
        if x != 1
    ]
    return kb.traffic(flows, machine, store=store)


def test_every_surface_gives_a_die_the_same_use(run: kb.Run) -> None:
    """Diagram, page, and tree and map of the terminal UI."""
    used = run.use()
    shares = dict(zip(used["resource"].tolist(), used["utilisation"].tolist(), strict=True))
    opened = Browser(run.store).run(run.id)
    tree = MachineTree(opened, shares_of(opened, WHOLE), "launch 0")
    package_map = tree.map("package")
    assert package_map is not None
    cells = {cell.name: cell.share for cell in package_map.cells.values()}
    assert "package.io" in cells, "all that is in the package, not dies alone"
    picture = kb.diagram(opened.graph, "system", run=run, store=run.store, of="package")
    page = Answers(run.store).answer("machine", {"run": run.id, "view": "system", "of": "package"})
    dies = [name for name in tree.parts("package") if tree.parts(name)]
    by_links = 0
    for die in dies:
        parts = [name for name in shares if name.startswith(f"{die}.") and "->" not in name]
        links = [name for name in shares if all(end.startswith(f"{die}.") for end in name.split("->"))]
        share = max((shares[name] for name in links), default=0.0)
        by_links += share > max((shares[name] for name in parts), default=0.0)
        assert cells[die] == pytest.approx(share, rel=1e-8)
        assert tree.label(die) == (f"{die.rpartition('.')[2]} {share:.0%}" if share >= 0.005 else die[8:])
        assert page["use"]["whole"].get(die, 0.0) == pytest.approx(share, abs=5.1e-5)
        said = re.search(rf'<g id="{re.escape(die)}"><title>.*?utilisation ([^<,]+)', picture, re.DOTALL)
        assert said is not None
        assert said[1] == percent(share)
        if share:
            assert "busiest member" in tree.use(die)
    assert len(dies) > 1
    assert by_links


def test_a_report_shows_the_dies_with_the_busiest_members(run: kb.Run) -> None:
    shares = run.utilisation(run.window())
    dies = [f"package.die{x}_{y}" for x in range(3) for y in range(2)]
    inside = {die: [s for n, s in shares.items() if n.count(die) == n.count("package")] for die in dies}
    most = {die: max(found, default=0.0) for die, found in inside.items()}
    shown = _busiest(Answers(run.store), {"run": run.id}, dies)
    assert len(shown) == 3
    assert min(most[die] for die in shown) >= max(most[die] for die in dies if die not in shown) > 0
