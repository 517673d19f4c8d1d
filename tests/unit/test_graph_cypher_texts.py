"""Functions that build Cypher show an example of its text in their docstring, and the example is true.

The functions are found in the code: a new one without an example fails.
"""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import kernbench_graph
import pytest

import kernbench

WORD = re.compile(r"\b(MATCH|CREATE|MERGE|UNWIND|COPY|DELETE|DROP|SET|WHERE|WITH|RETURN)\b")
WORDS = re.compile(rf"{WORD.pattern} *[^ ]")
"""In capitals, which no message to users has."""
BUILDERS = ("neo4j.ddl", "neo4j.rows", "embedded.ddl", "arcade.ddl")
"""Modules whose public functions build Cypher when they return text, pieces of statements included."""
TEXTS = ("str", "list[str]")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _builds(function: Function) -> bool:
    """Whether a text of Cypher with something filled in stands in the function."""
    return any(
        isinstance(node, ast.JoinedStr)
        and any(isinstance(part, ast.FormattedValue) for part in node.values)
        and WORDS.search("".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values))
        for node in ast.walk(function)
    )


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, Function):
            yield f"{prefix}{node.name}", node
            yield from _functions(node, f"{prefix}{node.name}.<locals>.")


def _found() -> Iterator[tuple[str, str]]:
    for package in (kernbench_graph, kernbench):
        root = Path(package.__path__[0])
        for path in sorted(root.rglob("*.py")):
            module = ".".join((package.__name__, *path.relative_to(root).with_suffix("").parts))
            source = path.read_text(encoding="utf-8")
            if not WORD.search(source) and not module.endswith(BUILDERS):
                continue  # few modules build Cypher, and every worker looks for them before its first test
            for name, function in _functions(ast.parse(source)):
                returns_text = (
                    module.endswith(BUILDERS)
                    and not name.startswith("_")
                    and function.returns is not None
                    and ast.unparse(function.returns) in TEXTS
                    and "." not in name
                )
                if returns_text or _builds(function):
                    yield module.removesuffix(".__init__"), name


FOUND = list(_found())


@pytest.mark.parametrize(("module", "name"), FOUND, ids=[f"{module}.{name}" for module, name in FOUND])
def test_the_example_in_its_docstring_is_what_it_returns(module: str, name: str) -> None:
    """White space aside, so that a statement may be shown on several lines."""
    loaded = import_module(module)
    assert "<locals>" not in name, "a function within another has no docstring to be read; move it out"
    function = attrgetter(name)(loaded)
    tests = doctest.DocTestFinder(recurse=False).find(function, name, loaded, vars(loaded))
    examples = [example for test in tests for example in test.examples]
    assert any(example.want.strip() for example in examples), f"{name} shows no example of its Cypher"
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    for test in tests:
        runner.run(test, out=said.append)
    assert not said, "".join(said)


def test_the_functions_are_found() -> None:
    names = {name for _, name in FOUND}
    assert {"joining", "creating", "statements", "node_table", "copying", "deleting_nodes"} <= names
    builds = ast.parse('def a(x):\n    return f"MATCH (n:{x}) RETURN n"\ndef b(x):\n    return f"it is {x}"')
    assert [_builds(function) for _, function in _functions(builds)] == [True, False]
