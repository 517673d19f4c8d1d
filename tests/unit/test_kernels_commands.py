"""Each ``tl`` call hands the PE one command that says everything that hardware and replay need."""

from __future__ import annotations

import numpy as np
import pytest

from kernbench.engine.program.commands import Composite, Cycles, Define, Gemm, Load, Math, Store, Wait
from kernbench.engine.program.operations import Operand
from kernbench.errors import KernelError
from kernbench.language import Placement, Pointer, TensorArg
from tests.unit.kernels_fake_pe import FakePe


def test_load_and_store_carry_address_bytes_and_op():
    def kernel(tl):
        x = tl.load(4096, shape=(3, 5), dtype="f32")
        tl.store(8192, x, dtype="f16")
        tl.store(8192, x)

    load, narrow, store = FakePe().run(kernel)
    assert isinstance(load, Load)
    assert (load.runs[0][0], load.runs[0][1]) == (4096, 60)
    op = load.op
    assert (op.kind, op.name, op.launch, op.nbytes, op.id) == ("memory", "dma_read", 7, 60, 100)
    assert op.inputs == (Operand((3, 5), "f32", address=4096),)
    assert op.output == Operand((3, 5), "f32", handle=100)
    assert isinstance(narrow, Store)
    assert (narrow.runs[0][0], narrow.runs[0][1], narrow.op.id) == (8192, 30, 101)
    assert (narrow.op.kind, narrow.op.name) == ("memory", "dma_write")
    assert narrow.op.inputs == (Operand((3, 5), "f32", handle=100),)
    assert narrow.op.output == Operand((3, 5), "f16", address=8192)
    assert isinstance(store, Store)
    assert store.op.output == Operand((3, 5), "f32", address=8192)
    assert store.runs == ((8192, 60),)


def test_load_defaults_come_from_the_pointer_and_its_dtype_stays_with_an_offset():
    x = TensorArg("x", (8, 4), "f32", {(1, 2, 3): Placement(1024, 1024 + 64, (4, 4))})

    def kernel(x, tl):
        tl.load(x)
        tl.load(x.local)
        tl.load(x + 16, 4)
        tl.load(1040, 4)
        tl.store(x, tl.zeros((8, 4), "f16"))

    whole, local, plain, number, _, store = FakePe().run(kernel, x)
    assert (whole.runs[0][0], whole.op.output.shape, whole.op.output.dtype) == (1024, (8, 4), "f32")
    assert (local.runs[0][0], local.op.output.shape) == (1088, (4, 4))
    assert (plain.runs[0][0], plain.op.output.shape, plain.op.output.dtype) == (1040, (4,), "f32")
    assert (number.runs[0][0], number.op.output.shape, number.op.output.dtype) == (1040, (4,), "f16")
    assert store.op.output == Operand((8, 4), "f32", address=1024)


@pytest.mark.parametrize(
    ("dtype", "result", "accumulator"),
    [
        ("f16", "f16", "f32"),
        ("bf16", "bf16", "f32"),
        ("f32", "f32", "f32"),
        ("i8", "i32", "i32"),
        ("i32", "i32", "i32"),
    ],
)
def test_dot(dtype, result, accumulator):
    def kernel(tl):
        tl.dot(tl.zeros((4, 8), dtype), tl.zeros((8, 2), dtype))

    a, b, dot = FakePe().run(kernel)
    assert isinstance(dot, Gemm)
    assert (dot.m, dot.k, dot.n) == (4, 8, 2)
    item, out = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "i32": 4}[dtype], 2 if result.endswith("16") else 4
    assert (dot.plan.stages[0].nbytes, dot.plan.stages[2].nbytes) == ((32 + 16) * item, 8 * out)
    assert (dot.op.kind, dot.op.name, dot.op.params) == ("gemm", "dot", {"acc_dtype": accumulator})
    assert [o.handle for o in dot.op.inputs] == [a.op.id, b.op.id]
    assert dot.op.output == Operand((4, 2), result, handle=dot.op.id)


def test_dot_takes_accumulator_and_result_type():
    def kernel(tl):
        a = tl.zeros((2, 2), "f16")
        tl.dot(a, a, acc_dtype="f16", out_dtype="f32")

    dot = FakePe().run(kernel)[-1]
    assert dot.op.params == {"acc_dtype": "f16"}
    assert dot.op.output.dtype == "f32"


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "abs", "sigmoid", "cos", "sin", "neg"])
def test_unary_math(name):
    def kernel(tl):
        getattr(tl, name)(tl.zeros((3, 4), "f16"))

    define, command = FakePe().run(kernel)
    assert isinstance(command, Math)
    assert (command.elements, command.plan.stages[0].nbytes, command.plan.stages[2].nbytes) == (12, 24, 24)
    assert (command.op.kind, command.op.name, command.op.params) == ("math", name, {"scalars": {}})
    assert command.op.inputs == (Operand((3, 4), "f16", handle=define.op.id),)
    assert command.op.output == Operand((3, 4), "f16", handle=command.op.id)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "maximum", "minimum"])
def test_binary_math_broadcasts_and_keeps_scalars_in_place(name):
    def kernel(tl):
        x, row = tl.zeros((3, 4), "f16"), tl.zeros((4,), "f16")
        call = getattr(tl, name)
        call(x, row)
        call(x, 2.5)
        call(np.float32(3), x)

    first, row, tensors, right, left = FakePe().run(kernel)
    x, r = first.op.id, row.op.id
    assert [o.handle for o in tensors.op.inputs] == [x, r]
    assert (tensors.elements, tensors.plan.stages[0].nbytes, tensors.op.output.shape) == (12, 24 + 8, (3, 4))
    assert right.op.params == {"scalars": {1: 2.5}}
    assert left.op.params == {"scalars": {0: 3.0}}
    assert [o.handle for o in left.op.inputs] == [x]
    assert {command.op.name for command in (tensors, right, left)} == {name}


def test_three_argument_math():
    def kernel(tl):
        x, y = tl.zeros((4,), "f16"), tl.zeros((4,), "f32")
        tl.fma(x, 2, y)
        tl.clamp(x, 0.0, max=y)
        tl.where(x, y, 1)
        tl.where(x, 1, 2)

    zeros, other, fma, clamp, where, scalars = FakePe().run(kernel)
    x, y = zeros.op.id, other.op.id
    assert (fma.op.name, fma.op.params, [o.handle for o in fma.op.inputs]) == (
        "fma",
        {"scalars": {1: 2}},
        [x, y],
    )
    assert fma.op.output.dtype == "f32"
    assert clamp.op.params == {"scalars": {1: 0.0}}
    assert [o.handle for o in where.op.inputs] == [x, y]
    assert where.op.output.dtype == "f32"
    assert (scalars.op.params, scalars.op.output.dtype) == ({"scalars": {1: 1, 2: 2}}, "i32")


def test_reductions_keep_the_axis_and_softmax_the_shape():
    def kernel(tl):
        x = tl.zeros((3, 4), "f16")
        tl.sum(x, axis=0)
        tl.max(x, axis=-1)
        tl.min(x, 1)
        tl.softmax(x)
        tl.sum(tl.zeros((3,), "i8"), 0)

    _, total, largest, least, softmax, _, integers = FakePe().run(kernel)
    assert (total.op.name, total.op.params["axis"], total.op.output.shape) == ("sum", 0, (1, 4))
    assert (largest.op.name, largest.op.params["axis"], largest.op.output.shape) == ("max", 1, (3, 1))
    assert (least.op.name, least.op.output.shape) == ("min", (3, 1))
    assert (total.elements, total.plan.stages[0].nbytes, total.plan.stages[2].nbytes) == (
        12,
        24,
        16,
    )  # the sum of f16 is f32
    assert (softmax.op.name, softmax.op.params["axis"], softmax.op.output.shape) == ("softmax", 1, (3, 4))
    assert integers.op.output.dtype == "i32"


def test_views_are_definitions_without_time():
    def kernel(tl):
        tl.arange(2, 6)
        tl.full((2, 3), 1.5, "f32")
        x = tl.zeros((2, 3))
        tl.trans(x)

    commands = FakePe().run(kernel)
    assert all(isinstance(command, Define) for command in commands)
    arange, full, zeros, trans = (command.op for command in commands)
    assert {op.kind for op in (arange, full, zeros, trans)} == {"view"}
    assert (arange.name, arange.params, arange.output.shape) == ("arange", {"start": 2, "stop": 6}, (4,))
    assert arange.output.dtype == "i32"
    assert (full.name, full.params, full.output.dtype) == ("full", {"value": 1.5}, "f32")
    assert (zeros.name, zeros.output.dtype) == ("zeros", "f16")
    assert (trans.name, trans.output.shape, trans.inputs[0].handle) == ("trans", (3, 2), zeros.id)


def test_operators_issue_math():
    def kernel(tl):
        x, y = tl.zeros((4,), "f32"), tl.zeros((4,), "f32")
        x + y, x - y, x * y, x / y, -x
        1 + x, 1 - x, 2 * x, 1 / x
        x + 1, x - 1, x * 2, x / 2

    commands = FakePe().run(kernel)[2:]
    names = [command.op.name for command in commands]
    assert names == ["add", "sub", "mul", "div", "neg"] + ["add", "sub", "mul", "div"] * 2
    assert [command.op.params["scalars"] for command in commands[5:9]] == [{0: 1}, {0: 1}, {0: 2}, {0: 1}]
    assert [command.op.params["scalars"] for command in commands[9:]] == [{1: 1}, {1: 1}, {1: 2}, {1: 2}]


def test_numpy_scalars_on_the_left_do_not_read_the_value():
    def kernel(tl):
        x = tl.exp(tl.zeros((4,), "f32"))
        np.float32(2) * x

    command = FakePe().run(kernel)[-1]
    assert (command.op.name, command.op.params["scalars"]) == ("mul", {0: 2.0})


def test_program_ids_cycles_and_helpers():
    seen = {}

    def kernel(x, tl):
        seen["id"] = [tl.program_id(), tl.program_id(1), tl.program_id(axis=2)]
        seen["n"] = [tl.num_programs(), tl.num_programs(1), tl.num_programs(2)]
        seen["cdiv"] = [tl.cdiv(7, 2), tl.cdiv(8, 2), tl.cdiv(0, 3)]
        seen["local"] = tl.local_shape(x)
        tl.cycles(12)
        tl.cycles(0.5)

    x = TensorArg("x", (8,), "f16", default=Placement(0, 0, (2,)))
    commands = FakePe().run(kernel, x)
    assert seen == {"id": [3, 2, 1], "n": [8, 16, 2], "cdiv": [4, 4, 0], "local": (2,)}
    assert commands == [Cycles(12), Cycles(0.5)]


def test_gemm_composite():
    def kernel(out, tl):
        a = tl.load(4096, (4, 8), "f16")
        b, bias, residual = tl.ref(8192, (8, 6)), tl.load(512, (6,), "f32"), tl.ref(1024, (4, 6))
        tl.composite(
            op="gemm",
            a=a,
            b=b,
            out_ptr=out,
            epilogue=[
                {"op": "bias", "bias": bias, "scope": "k_tile"},
                {"op": "relu"},
                {"op": "scale", "scale": 0.5, "scope": "kernel"},
                {"op": "dequant", "scale": bias, "zero_point": 3},
                {"op": "residual", "residual": residual},
            ],
            tile_shape=(2, 4, 6),
        )

    pe = FakePe()
    out = TensorArg("out", (4, 6), "f32", default=Placement(65536))
    load, bias, command, wait = pe.run(kernel, out)
    assert isinstance(command, Composite)
    a, b = Operand((4, 8), "f16", handle=load.op.id), Operand((8, 6), "f16", address=8192)
    row = Operand((6,), "f32", handle=bias.op.id)
    assert command.op.inputs == (a, b, row, row, Operand((4, 6), "f16", address=1024))
    assert command.op.output == Operand((4, 6), "f32", address=65536)
    assert (command.op.kind, command.op.name) == ("gemm", "composite_gemm")
    assert command.op.params == {
        "acc_dtype": "f32",
        "tile": (2, 4, 6),
        "epilogue": [
            {"op": "bias", "scope": "k_tile", "operand": 2, "factor": None},
            {"op": "relu", "scope": "output_tile", "operand": None, "factor": None},
            {"op": "scale", "scope": "kernel", "operand": None, "factor": 0.5},
            {"op": "dequant", "scope": "output_tile", "operand": 3, "factor": None, "zero_point": 3},
            {"op": "residual", "scope": "output_tile", "operand": 4, "factor": None},
        ],
    }
    assert [(e["op"], e["scope"], e["factor"]) for e in command.op.params["epilogue"]] == [
        ("bias", "k_tile", None),
        ("relu", "output_tile", None),
        ("scale", "kernel", 0.5),
        ("dequant", "output_tile", None),
        ("residual", "output_tile", None),
    ]
    assert command.op.params["epilogue"][0]["operand"] == 2
    assert isinstance(wait, Wait)
    assert wait.completions == [command.completion]


def test_math_composite_is_two_dimensional():
    def kernel(tl):
        x = tl.ref(0, (5,), "i8")
        tl.composite("exp", x, out_ptr=64)
        tl.composite("mul", x, 3, out_ptr=64, tile_shape=(1, 4))
        tl.composite(
            "abs", tl.ref(0, (2, 5)), out_ptr=64, epilogue=[{"op": "residual", "residual": tl.ref(8, (2, 5))}]
        )

    exp, mul, absolute, wait = FakePe().run(kernel)
    (a,), out = exp.op.inputs, exp.op.output
    assert (exp.op.kind, a.shape, out.shape, out.dtype) == ("math", (1, 5), (1, 5), "f32")
    assert (exp.op.name, exp.op.params["scalars"]) == ("composite_exp", {})
    params = mul.op.params
    assert (mul.op.name, params["scalars"], params["tile"], mul.op.output.dtype) == (
        "composite_mul", {1: 3}, (1, 4), "i8",
    )  # fmt: skip
    assert absolute.op.inputs[1] == Operand((2, 5), "f16", address=8)
    assert len(wait.completions) == 3


def test_wait_for_one_some_and_all():
    def kernel(tl):
        start = lambda: tl.composite("exp", tl.ref(0, (4,)), out_ptr=64)  # noqa: E731
        first, second, third = start(), start(), start()
        tl.wait(first)
        tl.wait([second])
        tl.wait()
        tl.wait()
        assert third.done

    waits = [c for c in FakePe().run(kernel) if isinstance(c, Wait)]
    assert [len(wait.completions) for wait in waits] == [1, 1, 1, 0]


def test_unwaited_composites_are_waited_for_at_the_end_and_waited_ones_not():
    def kernel(wait, tl):
        done = tl.composite("exp", tl.ref(0, (4,)), out_ptr=64)
        if wait:
            tl.wait(done)

    assert sum(isinstance(c, Wait) for c in FakePe().run(kernel, False)) == 1
    assert sum(isinstance(c, Wait) for c in FakePe().run(kernel, True)) == 1


@pytest.mark.parametrize(
    "misuse",
    [
        lambda x: x * 2,
        lambda x: 3 * x,
        lambda x: x / 2,
        lambda x: -x,
        lambda x: x**2,
        lambda x: x + 1.0,
        lambda x: x[0],
    ],
)
def test_a_pointer_is_not_the_values_of_its_tensor(misuse):
    with pytest.raises(KernelError, match=r"'x' is a pointer in a kernel, .* load its values with tl.load"):
        misuse(Pointer(4096, "x", (8, 4), "f32", 4160, (4, 4)))


def test_pointer_is_an_address_that_knows_its_tensor():
    x = Pointer(4096, "x", (8, 4), "f32", 4160, (4, 4))
    assert x == 4096
    assert (x + 4, (x + 4).dtype, (4 + x + 4).dtype) == (4100, "f32", "f32")
    assert (x - 4, (x - 4).dtype, (np.int32(4) + x).dtype) == (4092, "f32", "f32")
    assert (type(x - x), type(x // 4), type(x % 64)) == (int, int, int)
    assert (x.nbytes, x.local, x.local.shape, x.local_shape) == (128, 4160, (4, 4), (4, 4))
    assert x.local.local == x.local
    assert repr(x) == "<Pointer 0x1000 'x' f32 (8, 4)>"
