"""Tensors in HBM, SRAM and TCM: where they lie, that kernels reach them, and errors when they do not fit."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kernbench.engine.run_options import RunOptions
from kernbench.errors import AllocationError, UsageError
from kernbench.host import DPPolicy, run_bench
from tests.compiled import compiled

MODELS = {
    model: compiled("minimal", {"system.address_model": model, "system.sips": 1})
    for model in ("va", "pa", "la")
}
VA = MODELS["va"]
X = np.arange(256, dtype=np.float32).reshape(16, 16)


@dataclass
class Mine:
    run: Any
    name: str = "mine"


def double(x, y, tl):
    tl.store(y.local, tl.load(x.local) * 2.0)


@pytest.mark.daily("*-va", "tcm-tcm-*")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("source", ["hbm", "sram", "tcm"])
@pytest.mark.parametrize("target", ["hbm", "sram", "tcm"])
def test_every_memory_is_written_loaded_stored_and_read(model, source, target):
    read = []

    def run(torch):
        dp = DPPolicy(pe="row_wise", num_cubes=1)
        x = torch.from_numpy(X, dp=dp, memory=source)
        y = torch.empty(*X.shape, dtype="f32", dp=dp, memory=target)
        assert (x.memory, y.memory) == (source, target)
        torch.launch("double", double, x, y)
        read.append(y.numpy())
        torch.check("y", y, 2 * X)
        kinds = [torch.storage.driver.machine.addresses.resolve(s.pa).kind for s in (*x.shards, *y.shards)]
        assert kinds == [source] * len(x.shards) + [target] * len(y.shards)

    outcome = run_bench(MODELS[model], Mine(run), options=RunOptions(verify=True))
    outcome.raise_for_error()
    assert outcome.verified == "yes"
    np.testing.assert_array_equal(read[0], 2 * X)


def test_every_factory_takes_a_memory():
    def run(torch):
        made = [
            torch.zeros(4, memory="tcm"),
            torch.empty(4, memory="tcm"),
            torch.full((4,), 1.0, memory="tcm"),
            torch.from_numpy(np.ones(4, np.float16), memory="tcm"),
            torch.arange(4, memory="tcm"),
        ]
        assert {t.memory for t in made} == {"tcm"}
        np.testing.assert_array_equal(made[-1].numpy(), [0, 1, 2, 3])
        np.testing.assert_array_equal(torch.arange(2, 5, dtype="f32").numpy(), [2, 3, 4])

    run_bench(VA, Mine(run), options=RunOptions(verify=True)).raise_for_error()


def test_memory_that_is_freed_is_used_again():
    def run(torch):
        for memory in ("hbm", "sram", "tcm"):
            first = torch.empty(64, memory=memory)
            at = first.shards[0].pa
            first.free()
            assert torch.empty(64, memory=memory).shards[0].pa == at

    run_bench(VA, Mine(run)).raise_for_error()


@pytest.mark.parametrize(
    ("memory", "elements", "where"),
    [
        ("hbm", 1 << 33, r"HBM slice of sip0\.cube0\.pe0"),
        ("sram", 1 << 25, r"SRAM of sip0\.cube0"),
        ("tcm", 1 << 20, r"TCM of sip0\.cube0\.pe0"),
    ],
)
def test_an_error_of_capacity_names_tensor_policy_bytes_and_largest_block(memory, elements, where):
    def run(torch):
        torch.empty(elements, memory=memory, name="big", dp=DPPolicy(pe="row_wise", num_cubes=1, num_pes=1))

    outcome = run_bench(VA, Mine(run))
    assert outcome.completion.error_code == "OUT_OF_MEMORY"
    with pytest.raises(
        AllocationError, match=rf"tensor 'big' of shape .*pe='row_wise'.*{where} is full"
    ) as e:
        outcome.raise_for_error()
    assert f"{2 * elements} bytes wanted" in str(e.value)
    assert "largest free block" in str(e.value)


def test_a_memory_that_does_not_exist_is_refused():
    def run(torch):
        torch.empty(4, memory="l2", name="x")

    with pytest.raises(UsageError, match="tensor 'x': memory='l2'; use one of hbm, sram, tcm"):
        run_bench(VA, Mine(run)).raise_for_error()


def _addresses(threshold: int) -> list[int]:
    """Addresses of tensors of which every other one dies in a reference cycle."""
    found = []

    def run(torch):
        for _ in range(40):
            loop = [torch.empty(64)]
            loop.append(loop)
            found.append(loop[0].shards[0].pa)
            _ = [[] for _ in range(50)]  # what makes the collector run, sooner or later

    before = gc.get_threshold()
    gc.set_threshold(threshold)
    try:
        run_bench(VA, Mine(run)).raise_for_error()
    finally:
        gc.set_threshold(*before)
    return found


def test_addresses_do_not_depend_on_when_python_collects_garbage():
    assert _addresses(10) == _addresses(1_000_000)


def test_memory_held_by_garbage_is_collected_before_an_allocation_fails():
    def run(torch):
        for _ in range(12):
            loop = [torch.empty(100_000, memory="tcm")]
            loop.append(loop)

    run_bench(VA, Mine(run)).raise_for_error()


def test_by_default_a_program_runs_on_sip_0_and_may_choose_another():
    two = compiled("minimal", {"system.sips": 2})
    seen = []

    def run(torch):
        seen.append(torch.zeros(4).sips)
        torch.ahbm.set_device(1)
        seen.append(torch.zeros(4).sips)
        torch.ahbm.set_device(None)
        seen.append(torch.zeros(4).sips)

    run_bench(two, Mine(run)).raise_for_error()
    assert seen == [(0,), (1,), (0,)]
    seen.clear()
    run_bench(two, Mine(run), options=RunOptions(device="all")).raise_for_error()
    assert seen == [(0, 1), (1,), (0, 1)]
