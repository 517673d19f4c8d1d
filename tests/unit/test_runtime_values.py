"""Values of tensors on a small real machine: written, read, refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.errors import LaunchError, UsageError
from kernbench.host import DPPolicy
from kernbench.host.placement import SPLITS
from tests.examples import examples
from tests.small_contexts import ALL, copy_kernel, make


@pytest.mark.parametrize("model", ["va", "pa"])
@examples(15)
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
    with pytest.raises(UsageError, match="not real numbers"):
        torch.from_numpy(np.ones(3, complex))
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
    with pytest.raises(LaunchError, match="128 bytes run 96 bytes past this PE's 32 bytes of tensor"):
        torch.launch("k", lambda x, y, tl: tl.store(y.local, tl.load(x)), x, y).wait()
