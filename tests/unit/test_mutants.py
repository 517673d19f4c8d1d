"""Every fault of ``tools/mutants`` can still be planted, so that a change of the code takes them along."""

from __future__ import annotations

import ast

import yaml

from tools.mutants.run import ROOT, Planted, faults, locate, sources


def test_every_fault_can_be_planted() -> None:
    seen = sources(ROOT)
    for fault in faults():
        planted = locate(fault, ROOT, seen)
        assert isinstance(planted, Planted), f"{fault.name}: {planted}"
        assert planted.text != seen[planted.path], f"{fault.name}: changes nothing"
        try:
            (ast.parse if planted.path.suffix == ".py" else yaml.safe_load)(planted.text)
        except (SyntaxError, yaml.YAMLError) as error:
            raise AssertionError(f"{fault.name}: {planted.path} cannot be read with it") from error


def test_tests_that_faults_declare_are_there() -> None:
    named = {f"{fault.name}: {test}": ROOT / "tests" / test for fault in faults() for test in fault.tests}
    assert [name for name, path in named.items() if not path.exists()] == []
    assert all(fault.tests for fault in faults())
