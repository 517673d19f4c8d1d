"""The product's code keeps the rules of ``tests/code_rules.py``, and they find what they are for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.code_rules import findings, method_names, simpy_private

ROOT = Path(__file__).resolve().parents[2]


def test_product_code_keeps_the_rules() -> None:
    files = [
        path
        for folder in ("kernbench", "graph", "evaluations")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    trees = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}
    assert len(trees) > 400
    methods = method_names(trees.values())
    assert {"occupy", "receive_flit", "wired"} <= methods
    found = [
        f"{name}:{one.line}: {one.rule}: {one.what}"
        for name, tree in trees.items()
        for one in findings(tree, methods)
    ]
    assert not found, "\n".join(found)


METHODS = frozenset({"occupy", "leave"})
BROKEN = {
    "import simpy\ndef f(env): return env._now": "private of SimPy",
    "from simpy import Process\nclass P(Process):\n    def _resume(self): pass": "private of SimPy",
    "def f(part, g): vars(part)['occupy'] = g": "written into another",
    "def f(part): del vars(part)['occupy']": "written into another",
    "def f(part, g): vars(part).update(occupy=g)": "written into another",
    "def f(part, g): part.__dict__['occupy'] = g": "written into another",
    "def f(a, b): return a.occupy == b.occupy": "methods compared",
    "def f(a): return type(a).occupy is not Server.occupy": "methods compared",
    "def f(a, name, m): return getattr(type(a), name) is not m": "methods compared",
    "def f(cls, name, m): return getattr(cls, name, None) == m": "methods compared",
    "def f(a, b): return a.call.__func__ is b": "methods compared",
}
ALLOWED = [
    "def f(env): return env._now",  # of something else than SimPy
    "import simpy\ndef f(env): return env.now, env.active_process, env.event()",
    "def f(part): return vars(part)['occupy'], vars(part).items()",
    "def f(a, b): return a.kind == b.kind and a.role is Role.TRANSIT",
    "def f(a): return type(a).occupy is None or getattr(a, 'x') == 3",
    "def f(a, b): return type(a) is type(b) and a.leave() == b.leave()",
]


@pytest.mark.parametrize("source", BROKEN)
def test_a_rule_finds_what_it_is_for(source: str) -> None:
    assert [one.rule for one in findings(ast.parse(source), METHODS)] == [BROKEN[source]]


@pytest.mark.parametrize("source", ALLOWED)
def test_what_is_right_is_left_alone(source: str) -> None:
    assert findings(ast.parse(source), METHODS) == []


def test_the_private_names_are_those_of_the_simpy_that_is_installed() -> None:
    assert {
        "_now",
        "_queue",
        "_active_proc",
        "_eid",
        "_ok",
        "_value",
        "_defused",
        "_generator",
    } <= simpy_private()
    assert not {"now", "schedule", "__init__"} & simpy_private()
