"""Every misuse of ``tl`` is an error at the call that names kernel, PE, time, call and argument."""

from __future__ import annotations

import contextlib
import inspect
import math
import re
import threading

import numpy as np
import pytest
from greenlet import GreenletExit

from kernbench.errors import KernelError
from kernbench.language import KernelCall, Placement, TensorArg
from kernbench.language.tl import Language, public_names
from tests.unit.kernels_fake_pe import FakePe

X = TensorArg("x", (4, 4), "f16", default=Placement(256, 256, (4, 4)))


def fails(kernel, *args, pe=None):
    with pytest.raises(KernelError) as caught:
        (pe or FakePe()).run(kernel, *args)
    message = str(caught.value)
    assert "\n" not in message
    return message


CALLS = [
    (lambda tl, x: tl.load(-4, (2,)), "ptr", "negative"),
    (lambda tl, x: tl.load(None, (2,)), "ptr", "address is needed"),
    (lambda tl, x: tl.load("x", (2,)), "ptr", "not an integer"),
    (lambda tl, x: tl.load(True, (2,)), "ptr", "bool"),
    (lambda tl, x: tl.load(4), "shape", "plain address"),
    (lambda tl, x: tl.load(4, (0, 2)), "shape", "below 1"),
    (lambda tl, x: tl.load(4, (2.0,)), "shape", "not an integer"),
    (lambda tl, x: tl.load(4, (2,), "f63"), "dtype", "f16, bf16, f32, f8e4m3, f8e5m2, i1, i8, u8, i32"),
    (lambda tl, x: tl.load(x, (5, 4)), "ptr", "40 bytes run 8 bytes past the end of tensor 'x', 32 bytes"),
    (lambda tl, x: tl.load(x, mask=1), "mask", "not a tensor handle"),
    (lambda tl, x: tl.load(x, other="one"), "other", "not a number"),
    (lambda tl, x: tl.store(-1, tl.zeros((2,))), "ptr", "negative"),
    (lambda tl, x: tl.store(0, 1.0), "dtype", "needed for a number at a plain address"),
    (lambda tl, x: tl.store(x, "1"), "value", "not a tensor handle"),
    (lambda tl, x: tl.store(0, tl.ref(x)), "value", "tl.load it first"),
    (lambda tl, x: tl.store(0, tl.zeros((2,)), mask=1), "mask", "not a tensor handle"),
    (lambda tl, x: tl.store(0, tl.zeros((2,)), dtype="int"), "dtype", "not known"),
    (lambda tl, x: tl.store(x, tl.zeros((5, 4))), "value", "shape (5, 4) is not that of tensor 'x', (4, 4)"),
    (lambda tl, x: tl.store(x, tl.zeros((2, 2))), "value", "shape (2, 2) is not that of tensor 'x', (4, 4)"),
    (lambda tl, x: tl.store(x, tl.zeros((16,))), "value", "shape (16,) is not that of tensor 'x', (4, 4)"),
    (lambda tl, x: tl.load(x, (2, 2)), "shape", "not consecutive in tensor 'x' of shape (4, 4); name a part"),
    (lambda tl, x: tl.load(x, (3, 3)), "shape", "tl.make_block_ptr or strides="),
    (lambda tl, x: tl.load(x, (3, 5)), "shape", "not consecutive"),
    (lambda tl, x: tl.ref(x, (2, 2)), "ptr", "not consecutive"),
    (lambda tl, x: tl.ref(x, (64,)), "ptr", "past the end"),
    (lambda tl, x: tl.dot(x, tl.zeros((4, 4))), "a", "tl.load it first"),
    (lambda tl, x: tl.dot(tl.zeros((4,)), tl.zeros((4, 4))), "a", "not a matrix"),
    (lambda tl, x: tl.dot(tl.zeros((4, 4)), tl.zeros((2, 4, 4))), "b", "not a matrix"),
    (lambda tl, x: tl.dot(tl.zeros((4, 3)), tl.zeros((4, 4))), "b", "K must be 3"),
    (lambda tl, x: tl.dot(tl.zeros((4, 4)), tl.zeros((4, 4), "f32")), "b", "differs"),
    (lambda tl, x: tl.dot(tl.zeros((4, 4)), tl.zeros((4, 4)), "i32"), "acc_dtype", "cannot accumulate"),
    (lambda tl, x: tl.dot(tl.zeros((4, 4), "i8"), tl.zeros((4, 4), "i8"), "i8"), "acc_dtype", "cannot"),
    (lambda tl, x: tl.dot(tl.zeros((4, 4)), tl.zeros((4, 4)), out_dtype="q"), "out_dtype", "not known"),
    (lambda tl, x: tl.exp(1.0), "x", "at least one argument"),
    (lambda tl, x: tl.exp(x), "x", "no tensors of pointers"),
    (lambda tl, x: tl.add(1, 2), "a", "at least one argument"),
    (lambda tl, x: tl.add(tl.zeros((3,)), tl.zeros((4,))), "b", "does not broadcast"),
    (lambda tl, x: tl.add(tl.zeros((3,)), "1"), "b", "not a tensor handle"),
    (lambda tl, x: tl.mul(tl.zeros((3,)), 2**64), "b", "64 bits"),
    (lambda tl, x: tl.mul(tl.zeros((3,), "i32"), 2**31), "b", "not an i32 value"),
    (lambda tl, x: tl.dot(tl.zeros((3, 3), "i64"), tl.zeros((3, 3), "i64")), "a", "takes no i64"),
    (lambda tl, x: tl.mul(tl.zeros((3,)), np.complex64(1j)), "b", "not a real number"),
    (lambda tl, x: tl.add(tl.zeros((3,), "i8"), 300), "b", "300 is not an i8 value"),
    (lambda tl, x: tl.maximum(-129, tl.zeros((3,), "i8")), "a", "-129 is not an i8 value"),
    (lambda tl, x: tl.clamp(tl.zeros((3,), "i8"), -1, 128), "max", "128 is not an i8 value"),
    (lambda tl, x: tl.where(tl.zeros((3,)), tl.zeros((3,), "i8"), 128), "b", "128 is not an i8 value"),
    (lambda tl, x: tl.arange(0, 129, "i8"), "end", "128 is not an i8 value"),
    (lambda tl, x: tl.arange(-129, 0, "i8"), "start", "-129 is not an i8 value"),
    (lambda tl, x: tl.clamp(1, tl.zeros((3,)), 2), "x", "not a tensor handle"),
    (lambda tl, x: tl.clamp(tl.zeros((3,)), [0], 2), "min", "not a tensor handle"),
    (lambda tl, x: tl.where(1, tl.zeros((3,)), 2), "cond", "not a tensor handle"),
    (lambda tl, x: tl.softmax(tl.zeros((3,)), 1), "axis", "not an axis"),
    (lambda tl, x: tl.sum(tl.zeros((3,)), -2), "axis", "not an axis"),
    (lambda tl, x: tl.max(tl.zeros((3,)), 0.0), "axis", "not an integer"),
    (lambda tl, x: tl.arange(3, 3), "end", "not above"),
    (lambda tl, x: tl.arange(0, 2**40), "end", "not an i32 value"),
    (lambda tl, x: tl.zeros((2, -1)), "shape", "below 1"),
    (lambda tl, x: tl.full((2,), "a"), "value", "not a number"),
    (lambda tl, x: tl.full((2,), 300, "i8"), "value", "not an i8"),
    (lambda tl, x: tl.full((2,), math.inf, "i32"), "value", "not an i32"),
    (lambda tl, x: tl.full((2,), 0.5, "i32"), "value", "not an i32"),
    (lambda tl, x: tl.trans(tl.zeros((3,))), "x", "fewer than two"),
    (lambda tl, x: tl.program_id(3), "axis", "not one of 0"),
    (lambda tl, x: tl.num_programs(-1), "axis", "not one of 0"),
    (lambda tl, x: tl.cdiv(1, 0), "b", "below 1"),
    (lambda tl, x: tl.cycles(-1), "n", "cannot pass"),
    (lambda tl, x: tl.cycles(math.nan), "n", "cannot pass"),
    (lambda tl, x: tl.local_shape(4), "arg", "not a tensor argument"),
    (lambda tl, x: tl.wait(tl.zeros((2,))), "completion", "not what tl.composite or tl.recv_async returns"),
    (lambda tl, x: tl.wait([1]), "completion", "not what tl.composite or tl.recv_async returns"),
]


@pytest.mark.parametrize(("call", "argument", "problem"), CALLS)
def test_bad_arguments_are_named(call, argument, problem):
    def kernel(x, tl):
        tl.cycles(1)
        call(tl, x)

    message = fails(kernel, X)
    assert re.match(r"kernel 'kernel' on sip1\.cube2\.pe3 at \d+ ns: tl\.\w+: argument ", message)
    assert f"argument '{argument}'" in message
    assert problem in message


COMPOSITES = [
    ({"op": "conv"}, "op", "use one of gemm, exp"),
    ({"op": "softmax"}, "op", "not known"),
    ({"op": "fma"}, "op", "not known"),
    ({"a": 4}, "a", "neither a handle nor a tl.ref"),
    ({"b": None}, "b", "neither a handle nor a tl.ref"),
    ({"out_ptr": None}, "out_ptr", "address is needed"),
    ({"out_ptr": -8}, "out_ptr", "negative"),
    ({"out_dtype": "f8"}, "out_dtype", "not known"),
    ({"acc_dtype": "f8"}, "acc_dtype", "not known"),
    ({"acc_dtype": "i32"}, "acc_dtype", "cannot accumulate"),
    ({"tile_shape": (2, 2)}, "tile_shape", "(M, K, N)"),
    ({"tile_shape": (2, 2, 0)}, "tile_shape", "below 1"),
    ({"op": "exp"}, "b", "takes a alone"),
    ({"op": "mul"}, "b", "must be a number"),
    ({"op": "exp", "b": None, "tile_shape": (1, 2, 3)}, "tile_shape", "(M, N)"),
    ({"op": "exp", "b": None, "acc_dtype": "f32"}, "acc_dtype", "does not accumulate"),
    ({"epilogue": {"op": "relu"}}, "epilogue", "list of dicts"),
    ({"epilogue": "relu"}, "epilogue", "list of dicts"),
    ({"epilogue": ["relu"]}, "epilogue[0]", "must be a dict"),
    ({"epilogue": [{}]}, "epilogue[0].op", "use one of bias, relu"),
    ({"epilogue": [{"op": "relu"}, {"op": "tahnh"}]}, "epilogue[1].op", "did you mean 'tanh'?"),
    ({"epilogue": [{"op": "clamp"}]}, "epilogue[0].op", "use maximum and minimum"),
    ({"epilogue": [{"op": "where"}]}, "epilogue[0].op", "three arguments"),
    ({"epilogue": [{"op": "cast"}]}, "epilogue[0].op", "not known"),
    ({"epilogue": [{"op": "mul"}]}, "epilogue[0].value", "missing"),
    ({"epilogue": [{"op": "exp", "value": 1}]}, "epilogue[0].value", "not a field of exp"),
    ({"epilogue": [{"op": "bias", "bias": 1, "group": 4}]}, "epilogue[0].group", "not a field of bias"),
    ({"epilogue": [{"op": "dequant", "scale": 1, "group": 4}]}, "epilogue[0].group", "scope 'k_tile'"),
    (
        {"epilogue": [{"op": "dequant", "scale": 1, "group": 4, "scope": "k_tile"}]},
        "epilogue[0].group",
        "needs tile_shape",
    ),
    (
        {
            "epilogue": [{"op": "dequant", "scale": 1, "group": 4, "scope": "k_tile"}],
            "tile_shape": (4, 3, 4),
        },
        "epilogue[0].group",
        "multiple of the tile's K, 3",
    ),
    (
        {
            "epilogue": [{"op": "dequant", "scale": 1, "group": 0, "scope": "k_tile"}],
            "tile_shape": (4, 4, 4),
        },
        "epilogue[0].group",
        "1 or more",
    ),
    (
        {
            "epilogue": [{"op": "dequant", "scale": 1, "group": 4, "scope": "k_tile"}],
            "tile_shape": (4, 4, 4),
        },
        "epilogue[0].group",
        "a scale for each group",
    ),
    ({"epilogue": [{"op": ["relu"]}]}, "epilogue[0].op", "not known"),
    ({"epilogue": [{"op": "relu", "scope": "tile"}]}, "epilogue[0].scope", "k_tile, output_tile, kernel"),
    ({"epilogue": [{"op": "relu", "factor": 2}]}, "epilogue[0].factor", "not a field of relu"),
    ({"epilogue": [{"op": "bias"}]}, "epilogue[0].bias", "missing"),
    ({"epilogue": [{"op": "bias", "bias": 1.0}]}, "epilogue[0].bias", "neither a handle"),
    ({"epilogue": [{"op": "scale"}]}, "epilogue[0].factor", "missing"),
    ({"epilogue": [{"op": "scale", "factor": "2"}]}, "epilogue[0].factor", "not a number"),
    ({"epilogue": [{"op": "scale", "factor": 2, "scale": 2}]}, "epilogue[0].scale", "repeats"),
    ({"epilogue": [{"op": "dequant"}]}, "epilogue[0].scale", "missing"),
    (
        {"epilogue": [{"op": "dequant", "scale": 1, "zero_point": "a"}]},
        "epilogue[0].zero_point",
        "not a number",
    ),
    ({"epilogue": [{"op": "residual"}]}, "epilogue[0].residual", "missing"),
    ({"op": "exp", "b": None, "epilogue": [{"op": "relu", "scope": "k_tile"}]}, "epilogue[0].scope", "gemm"),
]


@pytest.mark.parametrize(("change", "argument", "problem"), COMPOSITES)
def test_bad_composites_are_refused_at_the_call(change, argument, problem):
    pe = FakePe()

    def kernel(x, tl):
        arguments = {"op": "gemm", "a": x, "b": tl.ref(x), "out_ptr": 4096}
        tl.composite(**{**arguments, **change})

    message = fails(kernel, X, pe=pe)
    assert "tl.composite: " in message
    assert f"argument '{argument}'" in message
    assert problem in message
    assert pe.commands == []


@pytest.mark.parametrize("field", ["bias", "residual"])
def test_epilogue_operand_shapes(field):
    def kernel(x, tl):
        tl.composite("gemm", x, tl.ref(x), 4096, epilogue=[{"op": field, field: tl.ref(0, (3,))}])

    expected = {"bias": "(4,)", "residual": "(4, 4)"}[field]
    assert f"argument 'epilogue[0].{field}': shape (3,) must be {expected}" in fails(kernel, X)


def test_the_result_of_a_composite_has_the_shape_of_its_tensor():
    small = TensorArg("small", (4, 3), "f16", default=Placement(64))

    def kernel(x, small, tl):
        tl.composite("gemm", x, x, small)

    said = "argument 'out_ptr': the result has shape (4, 4), tensor 'small' has (4, 3)"
    assert said in fails(kernel, X, small)


def test_handles_do_not_cross_kernels():
    kept = []
    pe = FakePe()
    pe.run(lambda tl: kept.append(tl.zeros((4,))))

    assert "belongs to another kernel" in fails(lambda tl: tl.exp(kept[0]))
    with pytest.raises(KernelError, match="outside of the kernel"):
        kept[0] + 1


def test_scratch_overflow_names_kernel_and_bytes():
    def big(tl):
        keep = [tl.load(0, (16,), "f32") for _ in range(3)]
        return tl.load(0, (30,), "f32"), keep

    message = fails(big, pe=FakePe(scratch_bytes=256))
    assert message.startswith("kernel 'big' on sip1.cube2.pe3 at 30 ns: tl.load: ")
    assert "120 bytes wanted, 64 of 256 bytes free" in message


def test_pointers_without_a_shard_and_tensors_not_placed():
    remote = TensorArg("w", (4,), "f16", default=Placement(64))
    assert "tensor 'w' has no shard on this PE" in fails(lambda w, tl: tl.load(w.local), remote)
    nowhere = TensorArg("w", (4,), "f16")
    assert "tensor 'w' is not placed on sip1.cube2.pe3" in fails(lambda w, tl: None, nowhere)


def test_arguments_that_do_not_fit_are_refused_before_anything_runs():
    def kernel(a, b, tl):
        raise AssertionError("never runs")

    with pytest.raises(KernelError, match=r"kernel 'kernel\(a, b, tl\)': missing a required argument: 'b'"):
        KernelCall(kernel, (1,))
    with pytest.raises(KernelError, match="too many positional arguments"):
        KernelCall(kernel, (1, 2, 3))
    with pytest.raises(KernelError, match="unexpected keyword argument 'c'"):
        KernelCall(kernel, (1, 2), {"c": 3})
    with pytest.raises(KernelError, match="passed by the simulator"):
        KernelCall(kernel, (1, 2), {"tl": 3})
    with pytest.raises(KernelError, match="argument 1 is a numpy array; pass a tensor"):
        KernelCall(kernel, (1, np.zeros(3)))


def test_kernels_are_plain_functions():
    def generator(tl):
        yield tl

    async def coroutine(tl):
        return tl

    for function in (generator, coroutine):
        with pytest.raises(KernelError, match="without yield and async"):
            KernelCall(function)
    with pytest.raises(KernelError, match="plain Python function"):
        KernelCall(3)


async def _asynchronous_generator(x, tl):
    yield tl.load(x)


def test_an_asynchronous_generator_is_no_kernel():
    with pytest.raises(KernelError, match="without yield and async"):
        KernelCall(_asynchronous_generator, [X])


def test_a_composite_takes_only_numbers_of_its_type():
    def kernel(tl):
        tl.composite("add", tl.zeros((2, 2), "i8"), 200, 0)

    assert "argument 'b': 200 is not an i8 value" in fails(kernel)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(0), "exits with 0"),
        (GeneratorExit(), "raises GeneratorExit"),
        (GreenletExit(), "raises GreenletExit"),
    ],
)
@pytest.mark.parametrize("begun", [False, True])
def test_a_kernel_that_ends_by_other_means_fails(error, said, begun):
    def kernel(x, tl):
        if begun:
            tl.load(x)
        raise error

    assert f"it {said}; return instead" in fails(kernel, X)


def test_tl_in_another_thread_is_the_kernel_s_failure():
    """Also where the thread, or who waits for it, makes nothing of the error there."""

    def kernel(x, tl):
        def work():
            with contextlib.suppress(KernelError):
                tl.load(x)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    assert "tl is used in another thread; a kernel runs in one" in fails(kernel, X)

    def goes_on(x, tl):
        kernel(x, tl)
        tl.load(x)

    assert "tl is used in another thread; a kernel runs in one" in fails(goes_on, X)


def test_a_pointer_reaches_as_far_as_its_tensor_does_from_there():
    """Where shards are apart, the base is that of the PE's own: behind it lies something else."""
    apart = TensorArg("x", (4, 4), "f16", default=Placement(256, 256, (1, 4), reach=8))
    assert "32 bytes run 24 bytes past this PE's 8 bytes of tensor 'x'" in fails(
        lambda x, tl: tl.load(x), apart
    )
    assert "past this PE's" in fails(lambda x, tl: tl.store(x, tl.zeros((4, 4))), apart)
    pe = FakePe()
    pe.run(lambda x, tl: tl.store(x.local, tl.load(x, (4,))), apart)
    assert len(pe.commands) == 2


SHARD = TensorArg("x", (4, 4), "f16", default=Placement(256, 264, (2, 4)))


@pytest.mark.parametrize(
    ("access", "problem"),
    [
        (lambda tl, x: tl.load(x.local, (3, 4)), "24 bytes run 8 bytes past the end of this PE's shard"),
        (
            lambda tl, x: tl.load(x.local + 8, (2, 4)),
            "16 bytes at byte 8 run 8 bytes past the end of this PE's",
        ),
        (lambda tl, x: tl.load(np.int64(8) + x.local, (2, 4)), "run 8 bytes past the end of this PE's shard"),
        (lambda tl, x: tl.load(x.local + 16 - np.int32(8), (2, 4)), "16 bytes at byte 8 run 8 bytes past"),
        (lambda tl, x: tl.load(x.local - 8, (2, 4)), "begin 8 bytes before this PE's shard of tensor 'x'"),
        (
            lambda tl, x: tl.load(x + 24, (2, 4)),
            "at byte 24 run 8 bytes past the end of tensor 'x', 32 bytes",
        ),
        (
            lambda tl, x: tl.store(x.local + 8, tl.zeros((2, 4))),
            "run 8 bytes past the end of this PE's shard",
        ),
        (lambda tl, x: tl.atomic_add(x.local + 8, tl.zeros((2, 4))), "run 8 bytes past the end of this PE's"),
        (lambda tl, x: tl.ref(x.local + 8, (2, 4)), "run 8 bytes past the end of this PE's shard"),
        (
            lambda tl, x: tl.composite("exp", tl.zeros((2, 4)), out_ptr=x.local + 8),
            "run 8 bytes past the end of this PE's shard",
        ),
        (
            lambda tl, x: tl.load(tl.make_block_ptr(x.local + 8, (4, 4), (4, 1), (0, 0), (2, 4))),
            "elements of the block from (1, 0) on run 8 bytes past the end of this PE's shard",
        ),
        (lambda tl, x: tl.load(x.local + 8, (2, 2), strides=(4, 1)), "from (1, 0) on run 4 bytes past"),
        (
            lambda tl, x: tl.load(x.local + 8, (2, 4), mask=tl.arange(0, 4) < 3),
            "from (1, 0) on, which the mask lets through, run 6 bytes past the end of this PE's shard",
        ),
        (lambda tl, x: tl.load(x.local - 8, (2, 2), strides=(4, 1)), "from (0, 0) on begin 8 bytes before"),
    ],
)
def test_a_block_at_a_shard_stays_in_it(access, problem):
    """Behind it lie the rows of another PE, or another tensor."""
    assert problem in fails(lambda x, tl: access(tl, x), SHARD)


def test_what_lies_in_the_shard_or_in_the_tensor_is_reached():
    def kernel(x, tl):
        tl.load(x.local + 8, (4,))
        tl.load(x.local + 8, (2, 4), mask=tl.arange(0, 2)[:, None] < 1)
        tl.load(x + 8 + np.int32(8), (2, 4))
        tl.load(int(x.local) + 8, (2, 4), "f16")  # a plain address leads anywhere

    assert len(FakePe().run(kernel, SHARD)) == 7


NO_ARGUMENTS = [
    None, "q", 1.5, -1, [], {}, object(), [1, "a"], np.zeros(3), b"x", math.nan, 2**70, True, np.array("a"),
    [[1]], {1}, len, iter([1]), 1j, ...,
]  # fmt: skip
"""Things that most arguments cannot be."""
FINE = {
    "op": "gemm", "shape": (4, 4), "dir": "E", "start": 0, "end": 4, "axis": 0, "dtype": "f16",
    "strides": (4, 1), "offsets": (0, 0), "block_shape": (2, 4), "min": 0, "max": 1, "value": 1, "n": 1,
    "index": 0, "stop": 4, "step": 1,
}  # fmt: skip
CALLS_OF_TL = [name for name in public_names() if inspect.isroutine(getattr(Language, name))]


@pytest.mark.parametrize("name", sorted({*CALLS_OF_TL} - {"device_print", "static_assert"}))
def test_whatever_a_call_is_given_it_takes_or_names_itself(name):
    """No raw TypeError: of every argument in turn."""
    parameters = list(inspect.signature(getattr(Language, name)).parameters.values())[1:]
    needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]

    def calls(x, tl):
        handle = tl.zeros((4, 4))
        fine = {one.name: FINE.get(one.name, handle) for one in needed}
        fine |= {key: x for key in ("ptr", "base", "arg") if key in fine}
        yield [(), {}]
        yield [(handle,) * 12, {}]
        for one in parameters:
            for value in NO_ARGUMENTS if one.kind is not one.VAR_POSITIONAL else ():
                yield [(), fine | {one.name: value}]

    def kernel(x, tl):
        for args, named in calls(x, tl):
            with contextlib.suppress(KernelError):
                getattr(tl, name)(*args, **named)

    FakePe(scratch_bytes=1 << 24).run(kernel, X)


def test_calls_with_too_few_and_too_many_arguments_say_what_they_take():
    assert "tl.exp: missing a required argument: 'x'; it takes x" in fails(lambda x, tl: tl.exp(), X)
    assert "tl.max: too many positional arguments; it takes x, axis" in fails(
        lambda x, tl: tl.max(tl.load(x), 0, True, 1), X
    )


@pytest.mark.parametrize("shape", [(1 << 20, 1 << 20), (1 << 40, 1 << 40), (1 << 70,)])
@pytest.mark.parametrize("name", ["zeros", "broadcast_to"])
def test_a_result_that_no_scratch_holds_is_an_error_that_says_so(name, shape):
    def kernel(tl):
        tl.broadcast_to(tl.zeros((1,)), shape) if name == "broadcast_to" else tl.zeros(shape)

    with pytest.raises(KernelError, match=r"bytes wanted, \d+ of \d+ bytes free|cannot be broadcast"):
        FakePe().run(kernel)
