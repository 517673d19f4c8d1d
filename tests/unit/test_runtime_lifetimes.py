"""Memory of tensors on a small real machine: held, freed, used again."""

from __future__ import annotations

import gc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kernbench.errors import AllocationError, UsageError
from kernbench.host import DPPolicy
from kernbench.host.placement import SPLITS
from tests.examples import examples
from tests.small_contexts import ALL, copy_kernel, double_kernel, make


def free_bytes(torch):
    memory = torch.storage.memory
    return [one.free_bytes for one in memory._lists.values()] + (
        [memory._virtual.space.free_bytes] if memory._virtual else []
    )


@pytest.mark.parametrize("model", ["va", "pa"])
def test_freed_memory_is_unmapped_and_used_again(model):
    torch = make(model)
    x = torch.from_numpy(np.arange(16, dtype=np.float32), dp=ALL)
    places = [(s.pa, x.va) for s in x.shards]
    x.numpy()
    del x
    y = torch.from_numpy(np.arange(16, 32, dtype=np.float32), dp=ALL)
    assert [(s.pa, y.va) for s in y.shards] == places
    out = torch.empty(16, dtype="f32", dp=ALL)
    torch.launch("copy", copy_kernel, y, out)
    np.testing.assert_array_equal(out.numpy(), np.arange(16, 32))


def test_memory_runs_out_only_while_it_is_held():
    torch = make("minimal", verify=False)
    size = (3 << 30,)
    x = torch.empty(size, dtype="i8")
    y = torch.empty(size, dtype="i8")
    with pytest.raises(AllocationError):
        torch.empty(size, dtype="i8")
    del x
    z = torch.empty(size, dtype="i8")
    y.free()
    y.free()
    torch.empty(size, dtype="i8")
    assert z.sips == (0,)


def test_use_after_free_is_an_error():
    torch = make("minimal")
    x = torch.zeros(4, name="gone")
    x.free()
    assert x.freed
    assert "freed" in repr(x)
    for use in (
        lambda: x.numpy(),
        lambda: x[0],
        lambda: x.copy_(np.zeros(4)),
        lambda: x.shards,
        lambda: torch.launch("k", copy_kernel, x, x),
        lambda: torch.check("c", x, np.zeros(4)),
    ):
        with pytest.raises(UsageError, match="'gone' was freed"):
            use()


def test_a_running_launch_keeps_its_tensors():
    torch = make("minimal")
    out = torch.empty(16, dtype="f32")
    torch.launch("copy", copy_kernel, torch.from_numpy(np.arange(16, dtype=np.float32)), out)
    gc.collect()
    torch.zeros(16, dtype="f32")  # must not land on the input, which the kernel has not read
    np.testing.assert_array_equal(out.numpy(), np.arange(16))


def test_results_live_on_when_inputs_are_freed_before_they_are_read():
    torch = make()
    x = torch.from_numpy(np.arange(16, dtype=np.float32), dp=ALL)
    y = torch.empty(16, dtype="f32", dp=ALL)
    torch.launch("double", double_kernel, x, y)
    torch.wait_all()
    del x
    torch.zeros(16, dtype="f32", dp=ALL)  # over the input's bytes
    np.testing.assert_array_equal(y.numpy(), 2 * np.arange(16))


@pytest.mark.parametrize("model", ["va", "pa"])
def test_with_frees_everything(model):
    with make(model) as torch:
        kept = torch.zeros(64, dp=ALL)
        torch.launch("copy", copy_kernel, kept, kept)
        full, kept_va = free_bytes(torch), kept.va or 0
    assert kept.freed
    assert all(after > before for after, before in zip(free_bytes(torch), full, strict=True))
    assert all(
        not any(start <= kept_va < end for start, end, _ in c.table.mappings)
        for n, c in torch._driver.machine.components.items()
        if n.endswith("pe_mmu")
    )
    for use in (lambda: torch.zeros(4), lambda: torch.launch("k", copy_kernel, kept, kept)):
        with pytest.raises(UsageError, match="closed"):
            use()
    torch.close()


def test_an_error_inside_with_is_not_hidden():
    with pytest.raises(ZeroDivisionError), make("minimal") as torch:
        torch.launch("never", copy_kernel, 1 // len(torch.checks))


class Lifetimes(RuleBasedStateMachine):
    """Tensors come, change and go; each always holds its own values, and nothing is lost."""

    @initialize(model=st.sampled_from(["va", "pa"]))
    def begin(self, model):
        self.torch = make(model)
        self.model: list[tuple] = []
        self.count = 0

    def values(self):
        self.count += 1
        return np.arange(16, dtype=np.float32).reshape(4, 4) + 100 * self.count

    @rule(cube=st.sampled_from(SPLITS), pe=st.sampled_from(SPLITS))
    def create(self, cube, pe):
        values = self.values()
        self.model.append((self.torch.from_numpy(values, dp=DPPolicy(cube, pe)), values))

    @rule(data=st.data())
    def overwrite(self, data):
        if self.model:
            at = data.draw(st.integers(0, len(self.model) - 1))
            values = self.values()
            self.model[at][0].copy_(values)
            self.model[at] = (self.model[at][0], values)

    @rule(data=st.data())
    def compute(self, data):
        if self.model:
            at = data.draw(st.integers(0, len(self.model) - 1))
            tensor, values = self.model[at]
            self.torch.launch("double", double_kernel, tensor, tensor)
            self.model[at] = (tensor, 2 * values)

    @rule(data=st.data(), explicit=st.booleans())
    def drop(self, data, explicit):
        if self.model:
            tensor, _ = self.model.pop(data.draw(st.integers(0, len(self.model) - 1)))
            if explicit:
                tensor.free()

    @rule(data=st.data())
    def read(self, data):
        if self.model:
            tensor, values = self.model[data.draw(st.integers(0, len(self.model) - 1))]
            np.testing.assert_array_equal(tensor.numpy(1), values)

    @invariant()
    def live_tensors_do_not_overlap(self):
        if not hasattr(self, "torch"):
            return
        spans = sorted((s.pa, s.pa + s.nbytes) for tensor, _ in self.model for s in tensor.shards)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))

    def teardown(self):
        if not hasattr(self, "torch"):
            return
        for tensor, values in self.model:
            np.testing.assert_array_equal(tensor.numpy(), values)
        self.torch.close()
        memory = self.torch.storage.memory
        assert all(one.free_bytes == one.capacity for one in memory._lists.values())


TestLifetimes = examples(25, stateful_step_count=12)(Lifetimes).TestCase
