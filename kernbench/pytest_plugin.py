"""Fixtures for testing your kernels, benches and topologies; nothing to install or start.

Loaded by pytest wherever KernBench is installed, so it imports nothing before a fixture is used. Override
the session's ``kernbench_topology`` in a ``conftest.py`` to test on another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kernbench.api.kernel import KernelRun
    from kernbench.api.result import Run
    from kernbench.support.pgraph import GraphStore, PropertyGraph


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option ``kernbench_triton`` of ``pytest.ini`` and ``pyproject.toml``."""
    help = "test files that import triton get KernBench's, for the whole session"
    parser.addini("kernbench_triton", help, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Have ``triton`` be KernBench's where the project says so."""
    if config.getini("kernbench_triton"):
        from kernbench.support.stand_ins import standing_in

        names = ExitStack()
        names.enter_context(standing_in())
        config.add_cleanup(names.close)


@pytest.fixture(scope="session")
def kernbench_topology() -> PropertyGraph:
    """The compiled topology that ``kernbench_run`` and ``kernbench_kernel`` use: the default machine."""
    import kernbench as kb

    return kb.load_topology()


@pytest.fixture
def kernbench_store() -> Iterator[GraphStore]:
    """An empty store in memory, closed after the test."""
    from kernbench.api.stores import borrowed

    with borrowed("memory:") as store:
        yield store


@pytest.fixture
def kernbench_run(kernbench_store: GraphStore, request: pytest.FixtureRequest) -> Callable[..., Run]:
    """``kernbench_run(bench, **params)``: run a bench, verified, into ``kernbench_store``.

    Takes what :func:`kernbench.run` takes; ``verify`` is on by default. Returns the Run.
    """

    def run(bench: Any, topology: Any = None, verify: bool = True, **options: Any) -> Run:
        import kernbench as kb

        graph = request.getfixturevalue("kernbench_topology") if topology is None else topology
        return kb.run(bench, graph, verify, **{"store": kernbench_store, **options})

    return run


@pytest.fixture
def kernbench_kernel(kernbench_store: GraphStore, request: pytest.FixtureRequest) -> Callable[..., KernelRun]:
    """``kernbench_kernel(fn, *arrays, out=..., **constants)``: run one kernel (:func:`kernbench.run_kernel`).

    Returns an object with ``latency_ns``, ``arrays``, ``outputs``, ``output``, ``run`` and ``query``. Its
    ``check(reference)`` compares the machine, the interpreter and ``reference(*arrays)`` in one call.
    """

    def kernel(fn: Callable[..., Any], *args: object, topology: Any = None, **options: Any) -> KernelRun:
        import kernbench as kb

        graph = request.getfixturevalue("kernbench_topology") if topology is None else topology
        return kb.run_kernel(fn, *args, topology=graph, **{"store": kernbench_store, **options})

    return kernel
