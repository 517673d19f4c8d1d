"""Launches on a small real machine: which PEs, in what order, what fails, what a context says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from kernbench.errors import KernelError, LaunchError, UsageError
from kernbench.host import DPPolicy
from tests.small_contexts import ALL, copy_kernel, double_kernel, make


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


def test_a_tensor_without_a_name_is_called_what_the_kernel_calls_it():
    def add(x, y, out, tl):
        tl.store(out.local, tl.load(x.local) + tl.load(y.local))

    torch = make()
    given = [torch.empty(8, 4, dtype="f32", dp=ALL).fill(1) for _ in range(4)]
    mine = torch.empty(8, 4, dtype="f32", dp=ALL, name="mine")
    assert [one.name for one in given] == ["t0", "t1", "t2", "t3"]
    torch.launch("add", add, given[0], given[1], out=given[2]).wait()
    torch.launch("add", add, given[2], given[3], mine).wait()
    assert [one.name for one in (*given, mine)] == ["x", "y", "out", "y.3", "mine"]
    data = torch.storage.data
    assert list(data.log.tables()["Tensor"]["name"]) == ["x", "y", "out", "y.3", "mine"]
    assert data.names.at(given[3].shards[0].pa).tensor == "y.3"


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
    from kernbench.host.expectations import verify

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
        torch.storage.peek_box([shard], shard.index, "i32", "x")[0] for shard in x.shards
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


@pytest.mark.parametrize("streamed", [True, False])
def test_a_failed_launch_ends_with_what_its_kernels_had_started(streamed):
    """Before that its tensors' memory is neither unmapped nor given to others."""

    def broken(x, y, tl):
        tl.composite("exp", x.local if streamed else tl.load(x.local), None, y.local)
        raise ValueError("by design")

    torch = make()
    x, y = torch.zeros(256, 256, dtype="f32"), torch.zeros(256, 256, dtype="f32")
    handle = torch.launch("broken", broken, x, y, failure_policy="run_on")
    with pytest.raises(LaunchError, match="by design"):
        handle.wait()
    # The first failure stops the other PEs where they stand; on SIP 0 the composite had begun.
    np.testing.assert_array_equal(y.numpy(0), np.ones((256, 256)))
    del x, y, handle
    z = torch.from_numpy(np.full((256, 256), 7, np.float32))
    w = torch.from_numpy(np.full((256, 256), 7, np.float32))
    torch._driver.machine.settle()
    assert np.unique([z.numpy(), w.numpy()]).tolist() == [7]


def test_a_failed_launch_is_over_no_earlier_than_its_composites():
    """What they still write would else change memory behind the answer."""

    def composite(x, y, fails, tl):
        done = tl.composite("exp", x.local, None, y.local)
        if fails:
            raise ValueError("by design")
        tl.wait(done)

    ends = []
    for fails in (0, 1):
        torch = make("minimal")
        x, y = torch.zeros(64, 64, dtype="f32"), torch.zeros(64, 64, dtype="f32")
        torch.wait_all()
        launch = torch.launch("composite", composite, x, y, fails, failure_policy="run_on")
        if fails:
            with pytest.raises(LaunchError, match="by design"):
                launch.wait()
        else:
            launch.wait()
        ends.append(launch.record.t_done)
    assert ends[0] == ends[1]


def test_what_is_not_there():
    torch = make("minimal")
    with pytest.raises(AttributeError, match="torch has no 'cuda'"):
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
