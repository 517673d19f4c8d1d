"""The parameters of a question, checked against the run that it is asked of and as its text takes them.

What they name must exist, so that no typo gives an empty answer: a parameter's ``refers`` in the question's
file says what its value names. An empty text stands for "any" and is not checked. So must the window or the
launch that the question is asked about.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from kernbench.analysis.path.path_steps import CAUSES
from kernbench.analysis.routes.routing import HOST
from kernbench.analysis.run_view import RunView
from kernbench.analysis.windows.chosen_window import ALL, RUN, SETUP
from kernbench.analysis.windows.time_window import select
from kernbench.errors import UsageError
from kernbench.support.hints import did_you_mean, suggestion
from kernbench.support.pgraph import GraphStore, QueryError, Question, RunRecord, settings

_NUMBERED = {"transaction": "Transaction", "operation": "Op"}
"""Things with numbers, and the table that has them."""
_FEW = 20
"""As many names are listed in an error; of more only the closest."""
MOST_INTERVALS = 1000
"""Intervals that a window may be cut into."""


def check_params(
    store: GraphStore,
    question: Question,
    run: str | None,
    params: Mapping[str, Any],
    given: Collection[str],
    resolve: Callable[[str], str],
) -> dict[str, Any]:
    """``params`` with short names written out: ``host`` for the host CPU, ``last`` for the id of a run.

    Args:
        store: Where the question will be asked.
        question: Its ``params`` say what they refer to.
        run: The id of the run that is asked; None for questions about the history.
        params: All parameters, bound.
        given: Those that were given; defaults need not exist in every machine, unless they are runs.
        resolve: The id of the run that a reference means.

    Raises:
        QueryError: A parameter names something that does not exist; the message suggests what it may mean.
    """
    known = _Known(store, run or "")
    found = dict(params)
    for name, parameter in question.params.items():
        if parameter.refers == "run" or (parameter.refers and name in given and found[name] != ""):
            found[name] = _check_value(known, name, parameter.refers, found[name], resolve)
    return found


def _check_value(known: _Known, name: str, refers: str, value: Any, resolve: Callable[[str], str]) -> Any:
    if refers == "run":
        if not value:
            raise QueryError(f"parameter '{name}' is empty; name a run, such as last or last~1")
        return resolve(str(value))
    if refers in _NUMBERED:
        if not known.has(_NUMBERED[refers], int(value)):
            there = known.range(_NUMBERED[refers])
            raise QueryError(f"parameter '{name}': the run has no {refers} {value}; it has {there}")
        return value
    if refers in ("component", "resource", "part"):
        value = known.host() if value == HOST else value
    if not known.has_name(refers, value):
        names = known.names(refers)
        raise QueryError(
            f"parameter '{name}': there is no {refers.replace('_', ' ')} '{value}'{_hint(value, names)}"
        )
    return value


def _hint(value: object, names: Iterable[str]) -> str:
    choices = sorted(names)
    hint = (
        did_you_mean(str(value), choices)
        if len(choices) <= _FEW
        else suggestion(str(value), choices).rstrip()
    )
    return (
        f"; {hint}" if hint else "; 'kernbench topology show' and 'kernbench query busiest-links' list some"
    )


def fitting(run: RunRecord, question: Question, params: Mapping[str, Any]) -> dict[str, Any]:
    """``params`` with the window, or the launch, as the graph calls it.

    Raises:
        UsageError: The run has no such launch, nothing is in that window, or the run was kept by a version
            that did not record what the question is about.
    """
    found = dict(params)
    of_tensors = ":Tensor" in question.cypher
    if of_tensors and "tensors" not in run.info and not run.tables["Tensor"].num_rows:
        raise UsageError(
            f"run '{run.info['id']}' was kept without its tensors, as older versions of KernBench kept runs; "
            "run its bench again to see their traffic"
        )
    if ":Step" in question.cypher and not run.tables["Transaction"].num_rows:
        raise UsageError(
            f"the run of '{run.info['bench']}' has no trace to explain it; run it with trace=True"
        )
    if {"launch", "from_ns", "to_ns"} <= params.keys():
        launch, until = str(params["launch"]), float(params["to_ns"])
        select(run.info, launch, params["from_ns"], None if until < 0 else until)
        found["launch"] = launch if launch in (ALL, SETUP, RUN) else str(int(launch))
        found["from_ns"] = max(float(params["from_ns"]), 0.0)
        if params.get("intervals", 0) > MOST_INTERVALS:
            raise UsageError(
                f"{params['intervals']} intervals are more than {MOST_INTERVALS}; choose a shorter window "
                "with from_ns and to_ns"
            )
    elif "launch" in params:
        found["launch"] = ALL if params["launch"] == RUN else params["launch"]
        numbers = [str(number) for number in run.tables["Launch"]["number"].to_pylist()]
        if found["launch"] not in (ALL, *numbers):
            launch, count = found["launch"], len(numbers)
            raise UsageError(f"the run has no launch '{launch}'; it has {count}, counted from 0; or give all")
    return found


class _Known(RunView):
    """The names that exist in a run and its topology, looked up when they are needed."""

    def has_name(self, refers: str, name: object) -> bool:
        """Whether a parameter of this sort may name it."""
        if refers not in ("component", "resource", "part", "link"):
            return name in self.names(refers)
        import pyarrow.compute as pc

        found = ([] if refers == "link" else ["Component"]) + ([] if refers == "component" else ["Link"])
        return any(
            pc.any(pc.equal(self.topology_tables[table]["name"], str(name))).as_py() for table in found
        )

    def host(self) -> str:
        """The name of the host CPU."""
        components = self.topology_tables["Component"]
        return str(components["name"][components["kind"].index("host_cpu").as_py()])

    def names(self, refers: str) -> set[str]:
        """Everything that a parameter of this sort may name."""
        if refers in ("bench", "topology"):
            key = {"bench": "bench", "topology": "topology_name"}[refers]
            return {str(info[key]) for info in self.store.runs()}
        if refers == "tag":
            return {tag for info in self.store.runs() for tag in json.loads(str(info["tags"]))}
        if refers == "key":
            return {key for info in self.store.runs() for key in self._keys(info)}
        if refers == "cause":
            return set(CAUSES)
        if refers == "transaction_kind":
            return set(self.tables["Transaction"]["kind"].unique().to_pylist())
        components, links = (self.topology_tables[name] for name in ("Component", "Link"))
        if refers.endswith("kind"):
            kinds = {
                "component_kind": [components],
                "link_kind": [links],
                "resource_kind": [components, links],
            }
            return {str(kind) for table in kinds[refers] for kind in table["kind"].unique().to_pylist()}
        found = set() if refers == "link" else set(components["name"].to_pylist())
        return found if refers == "component" else found | set(links["name"].to_pylist())

    def range(self, table: str) -> str:
        """The numbers that there are, in words."""
        import pyarrow.compute as pc

        ids = self.tables[table]["number"]
        if not len(ids):
            return "none"
        bounds = pc.min_max(ids)
        return f"{bounds['min']} to {bounds['max']}"

    def _keys(self, info: Mapping[str, Any]) -> Iterable[str]:
        """The parameters of a run, and the keys of its topology's file."""
        spec = self.store.load_topology(str(info["topology"])).spec
        return [key for what, key in settings(info, spec) if what in ("parameter", "topology")]
