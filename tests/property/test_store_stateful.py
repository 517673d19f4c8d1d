"""Stores against a dictionary: whatever is kept, tagged, removed and reopened, both say the same."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from kernbench_graph.errors import RunNotFoundError, StoreError
from kernbench_graph.opening import open_store
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.store import GraphStore

from tests.conformance.graph_records import sample
from tests.examples import examples

MACHINES = ("0123456789abcdef", "fedcba9876543210")
NAMES = st.sampled_from(["a", "ab", "abc", "b", "b1", "c.d"])
REFERENCES = st.one_of(NAMES, st.sampled_from(["last", "last~1", "last~3", "", "z", "c"]))


def on(machine: str, bench: str, name: str) -> tuple[RunRecord, TopologyRecord]:
    """A run called ``name`` on a topology of that id."""
    run, topology = sample(bench, id=name)
    return run, replace(topology, id=machine)


class StoreMachine(RuleBasedStateMachine):
    """The model holds bench, tags and topology by id; a dictionary keeps the order of keeping."""

    url = "memory:"

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model: dict[str, tuple[str, list[str], str]] = {}
        self.store = self.open()

    def open(self) -> GraphStore:
        return open_store(self.url)

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)

    @rule(name=NAMES, bench=st.sampled_from(["gemm", "copy"]), machine=st.sampled_from(MACHINES))
    def keep(self, name: str, bench: str, machine: str) -> None:
        if name in self.model:
            with pytest.raises(StoreError, match="already"):
                self.store.keep(*on(self.model[name][2], bench, name))
        else:
            assert self.store.keep(*on(machine, bench, name)) == name
            self.model[name] = (bench, [], machine)

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        if name in self.model:
            self.store.remove(name)
            del self.model[name]
        else:
            with pytest.raises(RunNotFoundError):
                self.store.remove(name)

    @rule(name=NAMES, tags=st.lists(st.sampled_from(["x", "it's"]), max_size=2))
    def tag(self, name: str, tags: list[str]) -> None:
        if name in self.model:
            bench, before, machine = self.model[name]
            wanted = list(dict.fromkeys([*before, *tags]))
            assert self.store.change_tags(name, tags) == wanted
            self.model[name] = (bench, wanted, machine)
        else:
            with pytest.raises(RunNotFoundError):
                self.store.change_tags(name, tags)

    @rule(ref=REFERENCES)
    def resolve(self, ref: str) -> None:
        ids = list(self.model)
        back = {"last": 0, "last~1": 1, "last~3": 3}.get(ref)
        if back is not None:
            expected = ids[-1 - back : len(ids) - back] if back < len(ids) else []
        else:
            expected = [ref] if ref in ids else [name for name in ids if ref and name.startswith(ref)]
        if len(expected) == 1:
            assert self.store.resolve(ref) == expected[0]
        else:
            with pytest.raises(RunNotFoundError):
                self.store.resolve(ref)

    @rule(name=NAMES)
    def load(self, name: str) -> None:
        if name in self.model:
            record = self.store.load(name)
            assert (record.info["id"], record.info["bench"]) == (name, self.model[name][0])
            assert record.tables["Hop"].num_rows == 12
            assert record.info["topology"] == self.model[name][2]

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def ask_one(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.model)))
        bench, tags, _ = self.model[name]
        rows = self.store.query(
            "MATCH (r:Run {id: $run}) RETURN r.id AS i, r.bench AS b, r.tags AS t", run=name
        ).rows
        assert [(i, b, json.loads(t)) for i, b, t in rows] == [(name, bench, tags)]

    @rule()
    def ask_all(self) -> None:
        rows: list[Any] = self.store.query("MATCH (r:Run) RETURN r.id AS id, r.bench AS b ORDER BY id").rows
        assert rows == sorted((name, bench) for name, (bench, _, _) in self.model.items())

    @invariant()
    def lists_agree(self) -> None:
        found = [(run["id"], run["bench"], json.loads(run["tags"])) for run in self.store.runs()]
        assert found == [(name, bench, tags) for name, (bench, tags, _) in self.model.items()]
        assert self.store.notes == []

    @rule()
    def ask_what_was_used(self) -> None:
        rows = self.store.query(
            "MATCH (r:Run)-[:USED]->(p) RETURN r.id AS i, r.tags AS t, count(p) AS n"
        ).rows
        assert sorted((i, json.loads(t), n) for i, t, n in rows) == sorted(
            (name, tags, 7) for name, (_, tags, _) in self.model.items()
        )

    @invariant()
    def topologies_are_there_as_long_as_a_run_is_on_them(self) -> None:
        used = {machine for _, _, machine in self.model.values()}
        for machine in MACHINES:
            if machine in used:
                assert self.store.load_topology(machine).tables["Link"].num_rows == 6
            else:
                with pytest.raises(StoreError, match="no topology"):
                    self.store.load_topology(machine)


class EmbeddedMachine(StoreMachine):
    """The same on disk, where the store may also be closed and opened again, or lose its cache."""

    def open(self) -> GraphStore:
        return open_store(self.folder / "store")

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()

    @rule()
    def lose_the_cache(self) -> None:
        shutil.rmtree(self.folder / "store" / "cache", ignore_errors=True)


TestMemoryStore = examples(15, stateful_step_count=20)(StoreMachine).TestCase
TestEmbeddedStore = examples(12, stateful_step_count=20)(EmbeddedMachine).TestCase
