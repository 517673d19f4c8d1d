# Written by Inductor of PyTorch 2.15.0+cu132; tools/torch_outputs.py has the model.
# AOT ID: ['0_inference']
from ctypes import c_void_p, c_long, c_int
import torch
import math
import random
import os
import tempfile
from math import inf, nan
from cmath import nanj
from torch._inductor.hooks import run_intermediate_hooks
from torch._inductor.utils import maybe_profile
from torch._inductor.codegen.memory_planning import _align as align
from torch import device, empty_strided
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.select_algorithm import extern_kernels
import triton
import triton.language as tl
from torch._inductor.runtime.triton_heuristics import start_graph, end_graph

def get_raw_stream(_):
    return 0


aten = torch.ops.aten
inductor_ops = torch.ops.inductor
_quantized = torch.ops._quantized
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
assert_size_stride_grouped = torch._C._dynamo.guards.assert_size_stride_grouped
assert_alignment = torch._C._dynamo.guards.assert_alignment
empty_strided_cpu = torch._C._dynamo.guards._empty_strided_cpu
empty_strided_cpu_pinned = torch._C._dynamo.guards._empty_strided_cpu_pinned
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
empty_strided_xpu = torch._C._dynamo.guards._empty_strided_xpu
empty_strided_mtia = torch._C._dynamo.guards._empty_strided_mtia
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor
alloc_from_pool = torch.ops.inductor._alloc_from_pool
async_compile = AsyncCompile()
empty_strided_p2p = torch._C._distributed_c10d._SymmetricMemory.empty_strided_p2p


# kernel path: /tmp/torchinductor_root/tmpm1zu9h5_/4e/c4eykt5etpt4wnadenpo6geh6cshiobm7ptowirmt2sc6cahevtk.py
# Topologically Sorted Source Nodes: [mul, mul_1, m, mul_5, mul_2, mul_3, mul_4, v, sqrt, add_2, truediv, sub], Original ATen: [aten.mul, aten.add, aten.sqrt, aten.div, aten.sub]
# Source node to ATen node mapping:
#   add_2 => add_2
#   m => add
#   mul => mul
#   mul_1 => mul_1
#   mul_2 => mul_2
#   mul_3 => mul_3
#   mul_4 => mul_4
#   mul_5 => mul_5
#   sqrt => sqrt
#   sub => sub
#   truediv => div
#   v => add_1
# Graph fragment:
#   %arg0_1 : Tensor "f32[1000][1]cpu" = PlaceHolder[target=arg0_1]
#   %arg1_1 : Tensor "f32[1000][1]cpu" = PlaceHolder[target=arg1_1]
#   %arg2_1 : Tensor "f32[1000][1]cpu" = PlaceHolder[target=arg2_1]
#   %arg3_1 : Tensor "f32[1000][1]cpu" = PlaceHolder[target=arg3_1]
#   %add : Tensor "f32[1000][1]cpu" = PlaceHolder[target=add]
#   %add_1 : Tensor "f32[1000][1]cpu" = PlaceHolder[target=add_1]
#   %mul : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%arg0_1, 0.9), kwargs = {})
#   %mul_1 : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%arg1_1, 0.1), kwargs = {})
#   %add : Tensor "f32[1000][1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul, %mul_1), kwargs = {})
#   %mul_5 : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%add, 0.001), kwargs = {})
#   %mul_2 : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%arg2_1, 0.99), kwargs = {})
#   %mul_3 : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%arg1_1, 0.01), kwargs = {})
#   %mul_4 : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mul_3, %arg1_1), kwargs = {})
#   %add_1 : Tensor "f32[1000][1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_2, %mul_4), kwargs = {})
#   %sqrt : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sqrt.default](args = (%add_1,), kwargs = {})
#   %add_2 : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%sqrt, 1e-08), kwargs = {})
#   %div : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.div.Tensor](args = (%mul_5, %add_2), kwargs = {})
#   %sub : Tensor "f32[1000][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%arg3_1, %div), kwargs = {})
#   return %add,%add_1,%sub
triton_poi_fused_add_div_mul_sqrt_sub_0 = async_compile.triton('triton_poi_fused_add_div_mul_sqrt_sub_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 1024}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'in_ptr2': '*fp32', 'in_ptr3': '*fp32', 'out_ptr0': '*fp32', 'out_ptr1': '*fp32', 'out_ptr2': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(4,): [['tt.divisibility', 16]], (5,): [['tt.divisibility', 16]], (6,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_add_div_mul_sqrt_sub_0', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 4, 'num_store': 3, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 40000}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_add_div_mul_sqrt_sub_0(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr0, out_ptr1, out_ptr2, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1000
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp3 = tl.load(in_ptr1 + (x0), xmask)
    tmp7 = tl.load(in_ptr2 + (x0), xmask)
    tmp14 = tl.load(in_ptr3 + (x0), xmask)
    tmp1 = tl.full([1], 0.9, tl.float32)
    tmp2 = tmp0 * tmp1
    tmp4 = tl.full([1], 0.1, tl.float32)
    tmp5 = tmp3 * tmp4
    tmp6 = tmp2 + tmp5
    tmp8 = tl.full([1], 0.99, tl.float32)
    tmp9 = tmp7 * tmp8
    tmp10 = tl.full([1], 0.01, tl.float32)
    tmp11 = tmp3 * tmp10
    tmp12 = tmp11 * tmp3
    tmp13 = tmp9 + tmp12
    tmp15 = tl.full([1], 0.001, tl.float32)
    tmp16 = tmp6 * tmp15
    tmp17 = tl.sqrt_rn(tmp13)
    tmp18 = tl.full([1], 1e-08, tl.float32)
    tmp19 = tmp17 + tmp18
    tmp20 = (tmp16 / tmp19)
    tmp21 = tmp14 - tmp20
    tl.store(out_ptr0 + (x0), tmp6, xmask)
    tl.store(out_ptr1 + (x0), tmp13, xmask)
    tl.store(out_ptr2 + (x0), tmp21, xmask)
''', device_str='cpu')


async_compile.wait(globals())
del async_compile

class Runner:
    def __init__(self, partitions):
        self.partitions = partitions

    def recursively_apply_fns(self, fns):
        new_callables = []
        for fn, c in zip(fns, self.partitions):
            new_callables.append(fn(c))
        self.partitions = new_callables

    def call(self, args):
        arg0_1, arg1_1, arg2_1, arg3_1 = args
        args.clear()
        assert_size_stride_grouped((arg0_1, arg1_1, arg2_1, arg3_1), ((1000, ), (1000, ), (1000, ), (1000, )), ((1, ), (1, ), (1, ), (1, )), 'input')
        buf0 = empty_strided_cpu((1000, ), (1, ), torch.float32)
        buf1 = empty_strided_cpu((1000, ), (1, ), torch.float32)
        buf2 = empty_strided_cpu((1000, ), (1, ), torch.float32)
        # Topologically Sorted Source Nodes: [mul, mul_1, m, mul_5, mul_2, mul_3, mul_4, v, sqrt, add_2, truediv, sub], Original ATen: [aten.mul, aten.add, aten.sqrt, aten.div, aten.sub]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_add_div_mul_sqrt_sub_0.run(arg0_1, arg1_1, arg2_1, arg3_1, buf0, buf1, buf2, 1000, stream=raw_streamNone)
        del arg0_1
        del arg1_1
        del arg2_1
        del arg3_1
        return (buf2, buf0, buf1, )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((1000, ), (1, ), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((1000, ), (1, ), device='cpu', dtype=torch.float32)
    arg2_1 = rand_strided((1000, ), (1, ), device='cpu', dtype=torch.float32)
    arg3_1 = rand_strided((1000, ), (1, ), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1, arg2_1, arg3_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
