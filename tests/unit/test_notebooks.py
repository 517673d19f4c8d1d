"""How results show themselves: in a notebook as HTML, at a prompt as a line."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from html import escape
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.support.pgraph import Result


def _html(thing: Any) -> ET.Element:
    """The HTML that a notebook shows; fails where it is not well formed."""
    text = thing._repr_html_()
    return ET.fromstring(f"<div>{text.replace('&rarr;', '→').replace('&larr;', '←')}</div>")


def _texts(thing: Any) -> str:
    return " ".join(_html(thing).itertext())


@pytest.fixture(scope="module")
def gemm() -> kb.Run:
    return kb.run("gemm-single-pe", "minimal", True, store="memory:")


def test_a_run_shows_its_launches_and_where_their_time_went(gemm: kb.Run) -> None:
    text = _texts(gemm)
    assert f"{gemm.latency_ns:.1f} ns in 1 launch" in text
    assert "verified" in text
    for word in ("Critical path of the kernel of launch 0 by cause", "compute", "Busiest parts", "pe_gemm"):
        assert word in text


def test_a_run_without_a_trace_shows_itself_too() -> None:
    bare = kb.run("gemm-single-pe", "minimal", trace=False, params={"m": 8, "k": 8, "n": 8})
    assert "not kept" in _texts(bare)


def test_a_critical_path_shows_its_sums(gemm: kb.Run) -> None:
    path = gemm.critical_path("all")
    text = _texts(path)
    assert f"{path.ns:.3f} ns in {len(path.steps)} steps" in text
    assert "gemm_single_pe.py:22" in text
    assert str(path).startswith(f"{path.ns:.3f} ns in {len(path.steps)} steps: hbm ")


def test_a_topology_shows_its_parts() -> None:
    graph = kb.load_topology("minimal")
    assert repr(graph).startswith("<PropertyGraph minimal: ")
    text = _texts(graph)
    assert "pe_gemm" in text
    assert "router_mesh" in text


def test_an_answer_is_a_table_and_a_path_is_drawn(gemm: kb.Run) -> None:
    result = gemm.query("bottleneck/busiest-links", limit=3)
    table = _html(result)
    assert [cell.text for cell in table.iter("th")] == result.columns
    assert len(list(table.iter("tr"))) == 4
    nodes = kb.GraphNode(("Run",), {"id": "r", "name": "x"}), kb.GraphNode(("Launch",), {"id": "l"})
    there = kb.GraphPath(nodes, (kb.GraphRelationship("LAUNCHED", "r", "l", {"since": 1.5}),))
    back = kb.GraphPath(nodes[::-1], there.relationships)
    for path in (there, back):
        assert {"Run", "x", "Launch", "l", "LAUNCHED"} <= set(_texts(path).split())
        shown = Result(["p", "n"], [(path, nodes[0])])._repr_html_()
        assert path._repr_html_() in shown
        assert escape(str(path)) in shown
    assert str(back) == "(:Launch l)<-[:LAUNCHED]-(:Run x)"


def test_long_answers_say_how_much_is_left_out() -> None:
    assert "20 more rows" in _texts(Result(["n"], [(number,) for number in range(120)]))


def test_texts_are_escaped() -> None:
    assert "<b>" not in Result(["<b>"], [("<b>&",), (None,), (float("nan"),)])._repr_html_()


def test_a_kernel_run_is_a_line_for_people() -> None:
    def add(x: Any, y: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.load(x) + tl.load(y))

    x = np.ones((8, 8), np.float16)
    done = kb.run_kernel(add, x, x, out=np.zeros_like(x), topology="minimal")
    line = repr(done)
    assert line.startswith(f"<KernelRun add: {done.latency_ns:.1f} ns on minimal")
    assert "outputs float16[8, 8]" in line
    assert "\n" not in line
    assert "Critical path of the kernel of launch 0 by cause" in _texts(done)
