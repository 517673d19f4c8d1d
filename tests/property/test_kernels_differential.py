"""A kernel without hardware and the same kernel simulated and replayed give the same bits."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op
from kernbench.host import Context, DPPolicy
from kernbench.language import interpret
from kernbench.values import DataPlane, DependencyBuilder, Executor, SimulatedMemory
from kernbench.values.dependencies import DATA_HAZARDS, Dependency
from tests.examples import examples
from tests.property.generated_kernels import arrays, genes, kernel_of, types
from tests.small_machines import PROGRAMS, minimal, small

SEEDS = st.integers(0, 99)


@pytest.mark.parametrize("ahead", [False, True])
@examples(30, suppress_health_check=[HealthCheck.too_slow])
@given(steps=genes, types=types, seed=SEEDS)
def test_one_pe(ahead: bool, steps: Any, types: Any, seed: int) -> None:
    given_ = arrays(types, 1, seed)
    expected = {name: array.copy() for name, array in given_.items()}
    interpret(kernel_of(steps), *expected.values())
    ran = kb.run_kernel(kernel_of(steps), *given_.values(), topology=minimal(ahead))
    for (name, wanted), got in zip(expected.items(), ran.arrays, strict=True):
        assert got.tobytes() == wanted.tobytes(), name


@pytest.mark.daily("one_to_one")
@pytest.mark.parametrize("model", ["va", "la", "one_to_one", "ahead"])
@examples(20, suppress_health_check=[HealthCheck.too_slow])
@given(
    launches=st.lists(
        st.tuples(genes, st.sampled_from(["", "wait", "read", "copy"])), min_size=1, max_size=3
    ),
    types=types,
    seed=SEEDS,
)
def test_shards_on_every_pe_of_two_sips(model: str, launches: Any, types: Any, seed: int) -> None:
    """The rows lie on 4 PEs of each SIP, which read each other's; launches follow without waits between."""
    given_ = arrays(types, PROGRAMS, seed)
    expected = {name: array.copy() for name, array in given_.items()}
    data = DataPlane(verify=True)
    torch = Context(Machine(small(model), [data]), data, device="all")
    tensors = [
        torch.from_numpy(array, dp=DPPolicy() if name == "w" else DPPolicy("row_wise", "row_wise"), name=name)
        for name, array in given_.items()
    ]
    for steps, then in launches:
        interpret(kernel_of(steps), *expected.values(), grid=(2, 2, 1))
        handle = torch.launch("generated", kernel_of(steps), *tensors)
        if then == "wait":
            handle.wait()
        elif then == "read":
            assert tensors[3].numpy(1).tobytes() == expected["out"].tobytes()
        elif then == "copy":
            tensors[2].copy_(given_["y"])
            expected["y"] = given_["y"].copy()
    for tensor, (name, wanted) in zip(tensors, expected.items(), strict=True):
        for sip in (0, 1):
            got = tensor.numpy(sip)
            assert np.array_equal(got.view(np.uint8), wanted.view(np.uint8)), (name, sip)


class Report(Instrument):
    """Keeps every operation as it was when it was reported."""

    def __init__(self) -> None:
        self.ops: list[Op] = []

    def op_done(self, op: Op) -> None:
        if op.kind != "tile":
            copied = Op(
                op.id, op.kind, op.name, op.inputs, op.output, dict(op.params), component=op.component
            )
            copied.launch, copied.after, copied.order = op.launch, op.after, op.order
            self.ops.append(copied)


def any_order(ops: list[Op], draw: random.Random) -> list[tuple[Op, list[Dependency]]]:
    """``ops`` in some order in which each comes after those that its data depends on."""
    builder = DependencyBuilder()
    needs = {op.id: builder.add(op) for op in ops}
    by_id = {op.id: op for op in ops}
    left = {i: {on for on, hazard in found if hazard in DATA_HAZARDS} for i, found in needs.items()}
    order = []
    while left:
        ready = [i for i, waits_for in left.items() if not waits_for]
        # The latest comes first wherever it may: it overtakes most.
        chosen = draw.choice(ready) if draw.random() < 0.2 else max(ready)
        del left[chosen]
        for waits_for in left.values():
            waits_for.discard(chosen)
        order.append((by_id[chosen], needs[chosen]))
    return order


@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(
    launches=st.lists(genes, min_size=1, max_size=3),
    types=types,
    window=st.sampled_from([1, 7, 4096]),
    seed=SEEDS,
)
def test_sharded_operations_may_be_replayed_in_any_order_that_respects_their_data(
    launches: Any, types: Any, window: int, seed: int
) -> None:
    report, data = Report(), DataPlane(verify=True)
    torch = Context(Machine(small("va"), [report, data]), data, device="all")
    tensors = [
        torch.from_numpy(array, dp=DPPolicy() if name == "w" else DPPolicy("row_wise", "row_wise"))
        for name, array in arrays(types, PROGRAMS, seed).items()
    ]
    for steps in launches:
        torch.launch("generated", kernel_of(steps), *tensors)
    expected = [tensor.numpy(sip) for tensor in tensors for sip in (0, 1)]
    draw = random.Random(seed)
    replayed = Executor(SimulatedMemory(strict=True), window, lambda wave: draw.sample(wave, len(wave)))
    for op, dependencies in any_order(report.ops, draw):
        replayed.add(op, dependencies)
    replayed.run()
    for tensor in tensors:
        for shard in tensor.shards:
            assert shard.pa is not None
            wanted = expected[2 * tensors.index(tensor) + shard.sip][shard.index]
            got = replayed.memory.read(shard.pa, wanted.shape, wanted.dtype)
            assert got.tobytes() == wanted.tobytes()
