"""Tensors on the host as in PyTorch: ``data``, ``t[i] = v``, ``to``, values in ``repr``."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from tests.small_contexts import ALL, copy_kernel, double_kernel, make

X = np.arange(48, dtype=np.float32).reshape(8, 6)

KEYS = [
    (3, 1.5),
    ((2, 4), 7),
    (slice(2, 5), np.arange(6)),
    ((slice(None), slice(1, 3)), -1),
    ((slice(0, 8, 3), slice(5, None, -2)), np.arange(9).reshape(3, 3)),
    ((..., 0), np.arange(8)),
    (slice(None), X[::-1]),
    (slice(3, 3), 5),
]


@pytest.mark.parametrize(("key", "value"), KEYS)
@pytest.mark.parametrize(
    ("graph", "dp"), [("va", None), ("pa", ALL), ("va", DPPolicy("tiled_row_major", "replicate"))]
)
def test_parts_are_overwritten_in_every_copy(graph, dp, key, value):
    with make(graph) as torch:
        x = torch.from_numpy(X, dp=dp)
        x[key] = value
        expected = X.copy()
        expected[key] = value
        for sip in x.sips:
            np.testing.assert_array_equal(x.numpy(sip), expected)
        assert (x.data == expected).all()


def test_a_write_of_part_moves_only_that_part_and_comes_after_what_was_submitted():
    with make() as torch:
        torch.ahbm.set_device(0)
        x, y = torch.from_numpy(X, dp=ALL), torch.empty(8, 6, dtype="f32", dp=ALL)
        torch.launch("copy", copy_kernel, x, y)
        x[1, 2:5] = 100.0
        torch.launch("double", double_kernel, x, x)
        expected = X.copy()
        expected[1, 2:5] = 100
        np.testing.assert_array_equal(y.data, X)
        np.testing.assert_array_equal(x.data, 2 * expected)
        written = [op for op in torch._data.log if op.name == "host_write"]
        assert written[-1].nbytes == 3 * 4


def test_wrong_parts_are_refused():
    with make() as torch:
        x = torch.from_numpy(X.astype(np.int32), name="x")
        with pytest.raises(UsageError, match=r"tensor 'x': the part has shape \(6,\), the value \(4,\)"):
            x[0] = np.ones(4)
        with pytest.raises(IndexError, match="out of range"):
            x[9] = 1
        x[0] = 2.7
        assert (x[0] == 2).all(), "cast as PyTorch casts"


def test_to_another_type_and_sip():
    with make() as torch:
        torch.ahbm.set_device(0)
        x = torch.from_numpy(X, dp=ALL)
        assert x.to(torch.float32) is x
        assert x.to("sip:0") is x
        half = x.to(torch.float16)
        assert (half.dtype, half.sips, half.shape) == ("f16", (0,), (8, 6))
        assert [shard.index for shard in half.shards] == [shard.index for shard in x.shards]
        np.testing.assert_array_equal(half.data, X.astype(np.float16))
        there = x.to(1)
        assert (there.dtype, there.sips) == ("f32", (1,))
        np.testing.assert_array_equal(there.data, X)
        for wrong in ("cpu", 2, "f64"):
            with pytest.raises(UsageError, match=r"give a dtype .* or a SIP from 0 to 1; numpy"):
                x.to(wrong)


def test_a_repr_has_the_values_of_all_work_before_it():
    with make() as torch:
        torch.ahbm.set_device(0)
        x, y = torch.from_numpy(X, dp=ALL), torch.zeros(8, 6, dtype="f32", dp=ALL, name="y")
        torch.launch("double", double_kernel, x, y)
        assert "[82., 84." not in repr(X)
        assert "84., 86., 88., 90., 92., 94.]], 'y', shape=(8, 6), dtype=f32, sips=[0])" in repr(y)
        large = torch.zeros(64, 64, name="large")
        before = torch.now
        assert repr(large) == "Tensor('large', shape=(64, 64), dtype=f16, sips=[0])"
        assert torch.now == before, "too large to be read for a message"
        never = torch.empty(2, name="never")
        assert repr(never) == "Tensor('never', shape=(2,), dtype=f16, sips=[0])"
        y.free()
        assert repr(y) == "Tensor('y', shape=(8, 6), dtype=f32, sips=[0], freed)"


def test_a_repr_without_verification_has_what_was_moved_and_no_results():
    with make(verify=False) as torch:
        torch.ahbm.set_device(0)
        x, y = torch.from_numpy(X[:1], name="x"), torch.zeros(1, 6, dtype="f32", name="y")
        assert repr(x).startswith("Tensor([[0., 1., 2., 3., 4., 5.]], 'x'")
        torch.launch("double", double_kernel, x, y)
        assert repr(y) == "Tensor('y', shape=(1, 6), dtype=f32, sips=[0])"
