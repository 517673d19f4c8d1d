"""Tensors and launches on a small real machine: two SIPs of two cubes with two PEs."""

from __future__ import annotations

import gc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kernbench.components.machine import Machine
from kernbench.errors import AllocationError, KernelError, LaunchError, UsageError
from kernbench.replay import DataPlane
from kernbench.runtime import Context, DPPolicy
from kernbench.runtime.placement import SPLITS
from tests.small_machines import minimal, small

GRAPHS = {"va": small("va"), "pa": small("pa"), "minimal": minimal()}
ALL = DPPolicy("row_wise", "row_wise")


def make(graph="va", *, verify=True, device="all", params=None):
    data = DataPlane(verify=verify)
    return Context(Machine(GRAPHS[graph], [data]), data, device=device, params=params)


def copy_kernel(src, dst, tl):
    tl.store(dst.local, tl.load(src.local))


def double_kernel(src, dst, tl):
    tl.store(dst.local, tl.load(src.local) * 2)


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["va", "pa"])
@settings(deadline=None, max_examples=15)
@given(
    cube=st.sampled_from(SPLITS),
    pe=st.sampled_from(SPLITS),
    dtype=st.sampled_from(["f16", "bf16", "f32", "i8", "i32"]),
    key=st.sampled_from([np.s_[:], np.s_[3], np.s_[2:5, 1:], np.s_[..., 5], np.s_[::-2, ::3], np.s_[1:1]]),
)
def test_what_is_written_is_read_back(model, cube, pe, dtype, key):
    torch = make(model)
    array = np.arange(64).reshape(8, 8)
    tensor = torch.from_numpy(array, dtype=dtype, dp=DPPolicy(cube, pe))
    for sip in (0, 1):
        np.testing.assert_array_equal(tensor.numpy(sip).astype(int), array)
    np.testing.assert_array_equal(tensor[key].astype(int), array[key])
    assert torch.now > 0


def test_making_tensors():
    torch = make("minimal")
    assert not torch.zeros(2, 3).numpy().any()
    np.testing.assert_array_equal(torch.full((2, 2), 7, dtype="i32").numpy(), [[7, 7], [7, 7]])
    tensor = torch.from_numpy(np.ones((2, 3), np.float32), name="x")
    assert (tensor.shape, tensor.dtype, tensor.name) == ((2, 3), "f32", "x")
    assert (tensor.ndim, tensor.itemsize, tensor.nbytes, tensor.numel(), len(tensor)) == (2, 4, 24, 6, 2)
    assert torch.empty((4,), dtype=torch.bfloat16).dtype == "bf16"
    assert np.asarray(tensor, dtype=np.int32).sum() == 6
    with pytest.raises(UsageError, match="float64"):
        torch.from_numpy(np.ones(3))
    with pytest.raises(UsageError, match="f8"):
        torch.zeros(3, dtype="f8")
    with pytest.raises(UsageError, match="not a DPPolicy"):
        torch.zeros(3, dp="column_wise")
    with pytest.raises(UsageError, match="truth value"):
        bool(tensor)


def test_memory_that_was_never_written_cannot_be_read():
    with pytest.raises(Exception, match="never written"):
        make("minimal").empty(4).numpy()


def test_without_a_policy_a_tensor_lies_on_one_pe_of_each_sip():
    tensor = make().zeros(2, 2)
    assert [s.place for s in tensor.shards] == [(0, 0, 0), (1, 0, 0)]
    assert len({s.pa for s in tensor.shards}) == 2


def test_a_host_read_takes_the_time_of_its_bytes():
    torch = make("minimal")
    tensor = torch.zeros(256, 256)
    torch.wait_all()
    begin = torch.now
    tensor[0, :4]
    few = torch.now - begin
    tensor.numpy()
    assert torch.now - begin - few > 2 * few > 0


def test_copy_sees_and_replaces_in_the_order_of_the_program():
    torch = make()
    x = torch.from_numpy(np.arange(16, dtype=np.float32), dp=ALL)
    y = torch.empty(16, dtype="f32", dp=ALL)
    torch.launch("copy", copy_kernel, x, y)
    x.copy_(np.zeros(16))  # after the launch, which has read the old values
    np.testing.assert_array_equal(y.numpy(), np.arange(16))
    np.testing.assert_array_equal(x.copy_(y).numpy(1), np.arange(16))
    with pytest.raises(UsageError, match=r"\(16,\).*\(4,\)"):
        x.copy_(np.zeros(4))


# -- launches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["va", "pa"])
def test_a_launch_runs_on_every_pe_that_holds_a_shard(model):
    torch = make(model)
    x = torch.from_numpy(np.arange(32, dtype=np.float32).reshape(8, 4), dp=ALL)
    y = torch.empty(8, 4, dtype="f32", dp=ALL)
    handle = torch.launch("double", double_kernel, x, y)
    assert not handle.done
    assert "running" in repr(handle)
    handle.wait()
    assert handle.done
    assert handle.targets == tuple((s, c, p) for s in (0, 1) for c in (0, 1) for p in (0, 1))
    record = handle.record
    assert (record.name, record.pes) == ("double", 8)
    assert 0 < record.t_submit < record.t_start < record.t_done
    for sip in (0, 1):
        np.testing.assert_array_equal(y.numpy(sip), 2 * np.arange(32).reshape(8, 4))


def test_sips_are_told_apart_by_axis_2():
    def kernel(out, tl):
        tl.store(out.local, tl.full((4,), tl.program_id(2) + 10 * tl.num_programs(2), dtype="f32"))

    torch = make()
    out = torch.empty(4, dtype="f32")
    torch.launch("which", kernel, out)
    assert [out.numpy(sip)[0] for sip in (0, 1)] == [20, 21]


@pytest.mark.parametrize(("device", "sips"), [("all", [0, 1]), ("sip:0", [0]), ("sip:1", [1])])
def test_device_selection(device, sips):
    torch = make(device=device)
    x = torch.zeros(4)
    assert list(x.sips) == sips
    assert {t[0] for t in torch.launch("touch", copy_kernel, x, x).targets} == set(sips)
    torch.wait_all()


def test_current_device_places_tensors_on_one_sip():
    torch = make()
    torch.ahbm.set_device(1)
    x = torch.full((4,), 3.0)
    assert x.sips == (1,)
    assert torch.launch("copy", copy_kernel, x, x).targets == ((1, 0, 0),)
    assert x.numpy()[0] == 3
    with pytest.raises(UsageError, match="no copy on SIP 0; it is on 1"):
        x.numpy(0)


def test_launches_on_one_pe_run_in_order_and_need_no_wait_between():
    torch = make("minimal")
    x = torch.full((64,), 1.0, dtype="f32")
    handles = [torch.launch("double", double_kernel, x, x) for _ in range(4)]
    assert not any(h.done for h in handles)
    torch.wait(*handles)
    times = [(h.record.t_start, h.record.t_done) for h in handles]
    assert all(later[0] >= earlier[0] for earlier, later in pairwise(times))
    np.testing.assert_array_equal(x.numpy(), np.full(64, 16))


def test_every_pe_reaches_every_part_of_a_split_tensor_in_the_va_model():
    def gather(src, dst, size, tl):
        for part in range(src.shape[0] * 4 // size):
            block = tl.load(src + part * size, shape=(size // 4,), dtype="f32")
            tl.store(dst.local + part * size, block)

    torch = make()
    values = np.arange(64, dtype=np.float32)
    x = torch.from_numpy(values, dp=ALL)
    everywhere = torch.empty(64, dtype="f32", dp=DPPolicy())
    torch.launch("gather", gather, x, everywhere, 64)
    torch.check("everywhere", everywhere, values)
    torch.wait_all()
    from kernbench.runtime.checks import verify

    results = verify(torch.checks[0], torch.storage, torch._data)
    assert [(r.sip, r.ok) for r in results] == [(0, True), (1, True)]


def test_a_replicated_tensor_is_each_pes_own():
    def mark(x, tl):
        me = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
        tl.store(x, tl.full((4,), me, dtype="i32"))  # the same virtual address on all of them

    torch = make(device="sip:0")
    x = torch.empty(4, dtype="i32", dp=DPPolicy())
    torch.launch("mark", mark, x)
    torch.wait_all()
    values = [
        torch.storage.peek_whole([shard], (4,), "i32", "x")[0] for shard in x.shards
    ]  # every copy by itself
    assert values == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (lambda t: ("k", copy_kernel), UsageError, ("'k'", "no tensor argument")),
        (lambda t: (copy_kernel, t.zeros(4)), UsageError, ("first argument is the launch's name",)),
        (lambda t: ("k", 3, t.zeros(4)), UsageError, ("not a kernel",)),
        (lambda t: ("k", copy_kernel, t.zeros(4)), KernelError, ("dst",)),
        (lambda t: ("k", copy_kernel, t.zeros(4), np.zeros(4)), KernelError, ("numpy array",)),
        (
            lambda t: ("k", copy_kernel, t.zeros(4, dp=DPPolicy()), t.zeros(4)),
            UsageError,
            ("cube1.pe0", "cannot reach"),
        ),
    ],
)
def test_a_wrong_launch_sends_nothing(arguments, error, words):
    torch = make()
    given_arguments = arguments(torch)
    before = torch.submitted
    with pytest.raises(error) as caught:
        torch.launch(*given_arguments)
    assert torch.submitted == before
    for word in words:
        assert word in str(caught.value)


def test_tensors_of_different_sips_do_not_meet():
    torch = make()
    torch.ahbm.set_device(0)
    x = torch.zeros(4)
    torch.ahbm.set_device(1)
    y = torch.zeros(4)
    with pytest.raises(UsageError, match="cannot reach"):
        torch.launch("copy", copy_kernel, x, y)


def test_a_failing_kernel_fails_its_launch_once():
    def broken(x, tl):
        raise ZeroDivisionError("by design")

    torch = make("minimal")
    handle = torch.launch("broken", broken, torch.zeros(4))
    with pytest.raises(LaunchError, match=r"'broken' failed on sip0\.cube0\.pe0.*by design"):
        torch.wait_all()
    torch.wait_all()
    with pytest.raises(LaunchError):
        handle.wait()


# -- lifetime -------------------------------------------------------------------------------------


def free_bytes(torch):
    memory = torch.storage.memory
    return [p.hbm.free_bytes for p in memory._pes.values()] + (
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
        c.table.translate(kept_va) is None
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
        assert all(p.hbm.used_bytes == 0 for p in memory._pes.values())


TestLifetimes = Lifetimes.TestCase
TestLifetimes.settings = settings(deadline=None, max_examples=25, stateful_step_count=12)


# -- surroundings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["distributed", "multiprocessing", "install_ipcq"])
def test_what_is_not_built_says_so(name):
    torch = make("minimal")
    with pytest.raises(UsageError, match="not in this version"):
        getattr(torch, name)
    assert not hasattr(torch, name)
    with pytest.raises(AttributeError, match="no attribute 'cuda'"):
        torch.cuda  # noqa: B018


def test_spec_and_params():
    torch = make(params={"m": 3, "kind": "x"})
    assert torch.spec["system"]["sips"] == 2
    assert (torch.cubes_per_sip, torch.pes_per_cube, torch.address_model) == (2, 2, "va")
    assert (torch.params.m, torch.params["kind"], dict(torch.params)) == (3, "x", {"m": 3, "kind": "x"})
    with pytest.raises(UsageError, match="no parameter 'n'"):
        _ = torch.params.n


def test_the_same_program_takes_the_same_time():
    def times():
        torch = make()
        x = torch.zeros(64, 64, dp=ALL)
        handle = torch.launch("double", double_kernel, x, x)
        x.numpy()
        return handle.record, torch.now

    assert times() == times()


# -- values from the host -------------------------------------------------------------------------


def test_arrays_come_in_any_layout_and_byte_order():
    torch = make("minimal")
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    for given_array in (array.astype(">f4"), array[::-1, ::2], array.T, np.asfortranarray(array)):
        tensor = torch.from_numpy(given_array)
        assert tensor.dtype == "f32"
        np.testing.assert_array_equal(tensor.numpy(), given_array)
        np.testing.assert_array_equal(torch.empty(given_array.shape).copy_(given_array).numpy(), given_array)


@pytest.mark.parametrize("values", [np.ones(3, complex), ["a", "b", "c"], [[1], [1, 2], []], [None] * 3])
def test_only_real_numbers_become_tensors(values):
    torch = make("minimal")
    with pytest.raises(UsageError):
        torch.from_numpy(values, dtype="f32")
    with pytest.raises(UsageError):
        torch.zeros(3).copy_(values)


@pytest.mark.parametrize(
    ("value", "dtype"), [(300, "i8"), (1.5, "i32"), (float("nan"), "i8"), ([1, 2], "i8")]
)
def test_a_tensor_is_not_filled_with_what_its_type_cannot_hold(value, dtype):
    torch = make("minimal")
    with pytest.raises(UsageError, match=r"not an? i|give one number"):
        torch.full((2,), value, dtype=dtype)
    np.testing.assert_array_equal(torch.full((2,), -128.0, dtype="i8").numpy(), [-128, -128])


def test_what_is_written_has_the_tensors_shape_and_gets_its_type():
    torch = make()
    tensor = torch.zeros(4, 4, dtype="i32", dp=ALL)
    for shape in ((2, 2), (8, 8), (4,), ()):
        with pytest.raises(UsageError, match="make them equal"):
            tensor.write(np.zeros(shape, np.int32))
    assert tensor.write(np.full((4, 4), 2.75)).numpy().tolist() == [[2] * 4] * 4


def test_writes_without_waits_keep_their_order():
    torch = make()
    tensor = torch.zeros(64, 64, dp=DPPolicy("row_wise", "replicate"))
    tensor.fill(1).fill(2).write(np.full((64, 64), 3.0))
    assert np.unique(tensor.numpy(1)).tolist() == [3]


def test_a_tensor_inside_a_list_is_refused():
    torch = make("minimal")
    x = torch.zeros(4)
    for inside in ([x], (1, x), {"x": x}):
        with pytest.raises(UsageError, match=r"argument 1 holds a tensor inside a (list|tuple|dict)"):
            torch.launch("k", copy_kernel, x, inside)


def test_in_the_pa_model_a_base_reaches_only_the_pes_own_shard():
    """Behind it lies another tensor, whose bytes would be taken for the rest."""
    torch = make("pa")
    x = torch.from_numpy(np.arange(32, dtype=np.int32), dp=ALL)
    torch.from_numpy(np.full(64, -1, np.int32), dp=DPPolicy())
    y = torch.empty(32, dtype="i32", dp=DPPolicy())
    with pytest.raises(LaunchError, match="128 bytes run past this PE's 32 bytes of tensor"):
        torch.launch("k", lambda x, y, tl: tl.store(y.local, tl.load(x)), x, y).wait()


# -- kernels that fail ----------------------------------------------------------------------------


@pytest.mark.parametrize("streamed", [True, False])
def test_a_failed_launch_ends_with_what_its_kernels_had_started(streamed):
    """Before that its tensors' memory is neither unmapped nor given to others."""

    def broken(x, y, tl):
        tl.composite("exp", x.local if streamed else tl.load(x.local), None, y.local)
        raise ValueError("by design")

    torch = make()
    x, y = torch.zeros(256, 256, dtype="f32"), torch.zeros(256, 256, dtype="f32")
    handle = torch.launch("broken", broken, x, y)
    with pytest.raises(LaunchError, match="by design"):
        handle.wait()
    np.testing.assert_array_equal(y.numpy(1), np.ones((256, 256)))
    del x, y, handle
    z = torch.from_numpy(np.full((256, 256), 7, np.float32))
    w = torch.from_numpy(np.full((256, 256), 7, np.float32))
    torch._driver.machine.settle()
    assert np.unique([z.numpy(), w.numpy()]).tolist() == [7]
