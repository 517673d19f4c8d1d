"""Pictures of nodes and relationships."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree as ET

from kernbench_graph.drawing import MOST_NODES, DrawnNode, lay_out, svg
from kernbench_graph.entities import GraphPath, graph_node, graph_relationship
from kernbench_graph.result import Result
from kernbench_graph.schema import SCHEMA

from tools.reference.schema_pictures import schema_pictures

_RECT = "{http://www.w3.org/2000/svg}g/{http://www.w3.org/2000/svg}rect"


def boxes_of(picture: str) -> list[tuple[float, float]]:
    return [(float(box.attrib["x"]), float(box.attrib["y"])) for box in ET.fromstring(picture).findall(_RECT)]


def test_every_relationship_is_in_a_picture_of_the_schema_and_no_box_lies_on_another() -> None:
    leading: list[str] = []
    written: set[str] = set()
    for labels, picture in schema_pictures():
        leading += labels
        for (x1, y1), (x2, y2) in combinations(boxes_of(picture), 2):
            assert abs(x1 - x2) >= 92 or abs(y1 - y2) >= 22
        written |= set(re.split(r"[<>, ]+", picture))
    assert sorted(leading) == sorted({source for rel in SCHEMA.relationships for source, _ in rel.pairs})
    assert {rel.type for rel in SCHEMA.relationships} <= written


def test_relationships_lead_to_the_right_also_around_a_circle() -> None:
    boxes = {name: DrawnNode("L", name) for name in "abcd"}
    picture = svg(
        boxes, [("a", "b", "R"), ("b", "c", "R"), ("a", "c", "R"), ("c", "d", "R"), ("d", "a", "B")]
    )
    places = dict(zip("abcd", boxes_of(picture), strict=True))
    assert places["a"][0] < places["b"][0] < places["c"][0] < places["d"][0]
    assert picture.count("<path d=") == 1 + 5


def test_an_answer_with_paths_draws_itself_and_says_nothing_of_names_as_markup() -> None:
    nodes = tuple(graph_node(["Op"], {"id": f"r/{n}", "name": f"<b>{n}"}) for n in range(3))
    rels = tuple(graph_relationship("DEPENDS_ON", f"r/{n}", f"r/{n + 1}", {}) for n in range(2))
    result = Result(["p"], [(GraphPath(nodes, rels),)])
    assert len(boxes_of(result.to_svg())) == 3
    assert "<b>" not in result.to_svg()
    assert "<svg" in result._repr_html_()
    assert "<svg" not in Result(["n"], [(1,)])._repr_html_()
    assert Result(["n"], [(1,)]).to_svg() == ""


def test_parts_lie_beside_each_other_a_long_chain_in_rows_and_no_box_on_another() -> None:
    chain = [(f"c{n}", f"c{n + 1}") for n in range(22)]
    pairs = [(f"a{n}", f"b{n}") for n in range(40)]
    crossed = [("a0", "b1"), ("b0", "b0"), ("b1", "a1")]
    keys = list(dict.fromkeys(key for pair in (*chain, *pairs, *crossed) for key in pair))
    drawn = lay_out(keys, [*chain, *pairs, *crossed])
    assert set(drawn.ways) == {*chain, *pairs, *crossed}
    for (x1, y1), (x2, y2) in combinations(drawn.places.values(), 2):
        assert abs(x1 - x2) >= 176 or abs(y1 - y2) >= 34
    assert len({y for key, (_, y) in drawn.places.items() if key[0] == "c"}) == 5
    assert max(x for x, _ in drawn.places.values()) + 176 <= drawn.width <= 3 * drawn.height
    for source, target in chain:
        (x1, y1), (x2, y2) = drawn.ways[source, target][0], drawn.ways[source, target][-1]
        for end, (x, y) in ((source, (x1, y1)), (target, (x2, y2))):
            left, middle = drawn.places[end]
            assert left <= x <= left + 176
            assert abs(y - middle) <= 17


def test_too_many_are_not_drawn() -> None:
    boxes = {str(n): DrawnNode("L", str(n)) for n in range(MOST_NODES + 1)}
    assert svg(boxes, []) == ""
    assert svg(dict(list(boxes.items())[:-1]), []) != ""
