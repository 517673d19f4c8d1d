"""The machine that was wired for a compiled topology is kept with it, for the next run on that.

Wiring the default machine takes ten times as long as many a run on it, and what is wired does not change: so
sweeps, ``tune`` and notebooks wire it once. One machine is kept for a graph, as long as that lives, and of
all graphs together for the :data:`MOST` used last. Who takes it has it alone, until it is given back; who
finds none, as a run within a run does, wires another one.

What is wired follows from the graph's properties, the classes of components and, as routes are worked out on
the way, the thread. These are looked at, so a graph that a user has changed gets a new machine; those that no
user gets are :data:`SEALED`. A machine with anything of a user's is not kept (:attr:`Machine.keepable`).

Also tried: a copy of the machine made when it was wired, which is most of the wiring again; and one image of
its state that is put back, for which every class has to say what its state is as well.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from threading import get_ident
from weakref import WeakValueDictionary

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.machine.machine import Machine
from kernbench.support.pgraph import PropertyGraph

_KEY = "machine"
SEALED = "sealed"
"""Set among what is worked out of a graph that nobody changes: it need not be looked at."""
MOST = 4
"""Machines that are kept at a time."""
_graphs: WeakValueDictionary[int, PropertyGraph] = WeakValueDictionary()
"""The graphs that have one, by identity; the one used last is last."""


def machine_for(
    graph: PropertyGraph,
    instruments: Sequence[Instrument] = (),
    components: Mapping[str, str] | None = None,
    *,
    traced: bool = True,
    check: bool | None = None,
) -> Machine:
    """A machine made from ``graph``, kept or fresh; the arguments and errors are those of the class."""
    wired = _wired_from(graph, components)
    before, kept = graph.worked_out.pop(_KEY, (None, None))
    if before == wired:
        assert isinstance(kept, Machine)
        kept.start_run(instruments, traced=traced, check=check)
        return kept
    machine = Machine(graph, instruments, components, traced=traced, check=check)
    machine.wired_from = wired
    return machine


def give_back(machine: Machine) -> None:
    """The run on a machine of :func:`machine_for` is over, and nobody looks at it any more."""
    if machine.keepable and machine.wired_from is not None:
        machine.reset()  # what the run has left is not kept with it
        graph = machine.graph
        graph.worked_out[_KEY] = machine.wired_from, machine
        _graphs.pop(id(graph), None)
        _graphs[id(graph)] = graph
        for unused in list(_graphs.values())[:-MOST]:
            unused.worked_out.pop(_KEY, None)
            _graphs.pop(id(unused), None)


def _wired_from(graph: PropertyGraph, components: Mapping[str, str] | None) -> object:
    """What a machine is wired from; equal where another one would be wired alike."""
    classes = tuple(sorted((components or {}).items()))
    if SEALED in graph.worked_out:
        return SEALED, classes, get_ident()
    properties = [graph.properties, graph.notes, [node.properties for node in graph.nodes()],
                  [edge.properties for edge in graph.edges()]]  # fmt: skip
    return blake2b(pickle.dumps(properties)).digest(), classes, get_ident()
