"""Every public name of Triton 3.6's language is there, or is an error that says what to do instead."""

from __future__ import annotations

import pytest

import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.errors import KernelError, UsageError
from kernbench.triton.names import CALLS, ELSEWHERE, HINTS, MATH

TEXT = """
PropagateNan TRITON_MAX_TENSOR_NUMEL load_tensor_descriptor store_tensor_descriptor
make_tensor_descriptor tensor_descriptor abs add advance arange argmax argmin associative_scan assume
atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor
bfloat16 bitonic_merge block_type broadcast broadcast_to cat cast cdiv ceil clamp condition const
constexpr constexpr_type cos cumprod cumsum debug_barrier device_assert device_print div_rn dot
dot_scaled dtype erf exp exp2 expand_dims extra fdiv flip float16 float32 float64 float8e4b15 float8e4nv
float8e4b8 float8e5 float8e5b16 floor fma full gather histogram inline_asm_elementwise interleave int1
int16 int32 int64 int8 join load log log2 make_block_ptr map_elementwise math max max_constancy
max_contiguous maximum min minimum mul multiple_of num_programs pair_uniform_to_normal permute philox
philox_impl pi32_t pointer_type program_id rand rand4x randint randint4x randn randn4x range ravel reduce
reduce_or reshape rsqrt slice sigmoid sin softmax sort split sqrt sqrt_rn static_assert static_print
static_range store sub sum swizzle2d target_info tensor topk trans tuple uint16 uint32 uint64 uint8
uint_to_uniform_float umulhi view void where xor_sum zeros zeros_like
"""
NAMES = TEXT.split()
HOST = """
AsyncCompileMode autotune cdiv CompilationError compile Config constexpr_function FutureKernel heuristics
InterpreterError jit JITFunction KernelInterface language MockTensor must_use_result next_power_of_2
OutOfResources reinterpret runtime set_allocator TensorWrapper TritonError testing tools
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_language_is_there_or_says_what_to_do(name: str) -> None:
    if name in ELSEWHERE:
        with pytest.raises(KernelError, match=rf"tl\.{name} is not here; \w"):
            getattr(tl, name)
    else:
        assert hasattr(tl, name)


@pytest.mark.parametrize("name", HOST.split())
def test_a_name_of_the_package_is_there_or_says_what_to_do(name: str) -> None:
    if name in triton._ELSEWHERE:
        with pytest.raises(UsageError, match=rf"triton\.{name} is not here; \w"):
            getattr(triton, name)
    else:
        assert hasattr(triton, name)


def test_parts_of_the_language_name_what_they_have() -> None:
    assert {*MATH} == {*vars(tl.math)}
    with pytest.raises(KernelError, match=r"tl\.umulhi is not here; \w"):
        tl.math.umulhi  # noqa: B018
    with pytest.raises(KernelError, match=r"has no 'tanhf'; did you mean 'tanh'"):
        tl.extra.cuda.libdevice.tanhf  # noqa: B018


def test_hints_to_launches_of_cuda_are_without_effect_and_other_names_are_errors() -> None:
    tl.extra.cuda.gdc_wait()
    tl.extra.cuda.gdc_launch_dependents()
    with pytest.raises(KernelError, match=r"tl\.extra\.cuda\.globaltimer is not here"):
        tl.extra.cuda.globaltimer  # noqa: B018


def test_no_name_is_both_here_and_elsewhere_nor_unknown_to_triton() -> None:
    assert not {*CALLS, *HINTS} & {*ELSEWHERE}
    assert {*CALLS, *HINTS, *ELSEWHERE} <= {*NAMES}


def test_names_of_the_host_are_there_or_say_what_to_do() -> None:
    assert (triton.cdiv(7, 2), triton.next_power_of_2(5), triton.next_power_of_2(8)) == (4, 8, 8)
    with pytest.raises(UsageError, match=r"nothing is compiled: launch kernel"):
        triton.compile  # noqa: B018
    with pytest.raises(KernelError, match=r"triton.language has no 'laod'; did you mean 'load'"):
        tl.laod  # noqa: B018


def test_calls_outside_of_a_kernel_say_so() -> None:
    with pytest.raises(KernelError, match=r"tl.load of kernbench.triton.language is called outside"):
        tl.load(0)
