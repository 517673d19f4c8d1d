# Written by Inductor of PyTorch 2.15.0+cu132; tools/torch_outputs.py has the model.
# AOT ID: ['13_inference']
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


# kernel path: /tmp/torchinductor_root/tmptbbgnden/nk/cnkvhjvcpfsindn6gec7dzhpqhnaxfyotsnfbftpyoszlpeizvey.py
# Topologically Sorted Source Nodes: [getitem_11, sigmoid_5, getitem_9, sigmoid_4, getitem_7, sigmoid_3, getitem_5, sigmoid_2, getitem_3, sigmoid_1, getitem_1, sigmoid, state, mul, getitem_2, state_1, mul_1, getitem_4, state_2, mul_2, getitem_6, state_3, mul_3, getitem_8, state_4, mul_4, getitem_10, state_5, mul_5, getitem_12, state_6], Original ATen: [aten.select, aten.sigmoid, aten.zeros_like, aten.mul, aten.add]
# Source node to ATen node mapping:
#   getitem_1 => select_1
#   getitem_10 => select_10
#   getitem_11 => select_11
#   getitem_12 => select_12
#   getitem_2 => select_2
#   getitem_3 => select_3
#   getitem_4 => select_4
#   getitem_5 => select_5
#   getitem_6 => select_6
#   getitem_7 => select_7
#   getitem_8 => select_8
#   getitem_9 => select_9
#   mul => mul
#   mul_1 => mul_1
#   mul_2 => mul_2
#   mul_3 => mul_3
#   mul_4 => mul_4
#   mul_5 => mul_5
#   sigmoid => sigmoid
#   sigmoid_1 => sigmoid_1
#   sigmoid_2 => sigmoid_2
#   sigmoid_3 => sigmoid_3
#   sigmoid_4 => sigmoid_4
#   sigmoid_5 => sigmoid_5
#   state => full_default
#   state_1 => add
#   state_2 => add_1
#   state_3 => add_2
#   state_4 => add_3
#   state_5 => add_4
#   state_6 => add_5
# Graph fragment:
#   %arg0_1 : Tensor "f32[2, 6, 40][240, 40, 1]cpu" = PlaceHolder[target=arg0_1]
#   %arg1_1 : Tensor "f32[2, 6, 40][240, 40, 1]cpu" = PlaceHolder[target=arg1_1]
#   %add : Tensor "f32[2, 40][240, 1]cpu" = PlaceHolder[target=add]
#   %add_1 : Tensor "f32[2, 40][240, 1]cpu" = PlaceHolder[target=add_1]
#   %add_2 : Tensor "f32[2, 40][240, 1]cpu" = PlaceHolder[target=add_2]
#   %add_3 : Tensor "f32[2, 40][240, 1]cpu" = PlaceHolder[target=add_3]
#   %add_4 : Tensor "f32[2, 40][240, 1]cpu" = PlaceHolder[target=add_4]
#   %select_11 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg0_1, 1, 5), kwargs = {})
#   %sigmoid_5 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%select_11,), kwargs = {})
#   %select_9 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg0_1, 1, 4), kwargs = {})
#   %sigmoid_4 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%select_9,), kwargs = {})
#   %select_7 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg0_1, 1, 3), kwargs = {})
#   %sigmoid_3 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%select_7,), kwargs = {})
#   %select_5 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg0_1, 1, 2), kwargs = {})
#   %sigmoid_2 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%select_5,), kwargs = {})
#   %select_3 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg0_1, 1, 1), kwargs = {})
#   %sigmoid_1 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%select_3,), kwargs = {})
#   %select_1 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg0_1, 1, 0), kwargs = {})
#   %sigmoid : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%select_1,), kwargs = {})
#   %full_default : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([2, 40], 0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %mul : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid, %full_default), kwargs = {})
#   %select_2 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg1_1, 1, 0), kwargs = {})
#   %add : Tensor "f32[2, 40][40, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul, %select_2), kwargs = {})
#   %mul_1 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_1, %add), kwargs = {})
#   %select_4 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg1_1, 1, 1), kwargs = {})
#   %add_1 : Tensor "f32[2, 40][40, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_1, %select_4), kwargs = {})
#   %mul_2 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_2, %add_1), kwargs = {})
#   %select_6 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg1_1, 1, 2), kwargs = {})
#   %add_2 : Tensor "f32[2, 40][40, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_2, %select_6), kwargs = {})
#   %mul_3 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_3, %add_2), kwargs = {})
#   %select_8 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg1_1, 1, 3), kwargs = {})
#   %add_3 : Tensor "f32[2, 40][40, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_3, %select_8), kwargs = {})
#   %mul_4 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_4, %add_3), kwargs = {})
#   %select_10 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg1_1, 1, 4), kwargs = {})
#   %add_4 : Tensor "f32[2, 40][40, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_4, %select_10), kwargs = {})
#   %mul_5 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_5, %add_4), kwargs = {})
#   %select_12 : Tensor "f32[2, 40][240, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%arg1_1, 1, 5), kwargs = {})
#   %add_5 : Tensor "f32[2, 40][40, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_5, %select_12), kwargs = {})
#   return %add,%add_1,%add_2,%add_3,%add_4,%add_5
triton_poi_fused_add_mul_select_sigmoid_zeros_like_0 = async_compile.triton('triton_poi_fused_add_mul_select_sigmoid_zeros_like_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 128}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'out_ptr0': '*fp32', 'out_ptr1': '*fp32', 'out_ptr2': '*fp32', 'out_ptr3': '*fp32', 'out_ptr4': '*fp32', 'out_ptr5': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(2,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]], (6,): [['tt.divisibility', 16]], (8,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_add_mul_select_sigmoid_zeros_like_0', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 12, 'num_store': 6, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 7680}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_add_mul_select_sigmoid_zeros_like_0(in_ptr0, in_ptr1, out_ptr0, out_ptr1, out_ptr2, out_ptr3, out_ptr4, out_ptr5, xnumel, XBLOCK : tl.constexpr):
    xnumel = 80
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 40)
    x1 = xindex // 40
    tmp0 = tl.load(in_ptr0 + (x0 + 240*x1), xmask)
    tmp4 = tl.load(in_ptr1 + (x0 + 240*x1), xmask)
    tmp6 = tl.load(in_ptr0 + (40 + x0 + 240*x1), xmask)
    tmp9 = tl.load(in_ptr1 + (40 + x0 + 240*x1), xmask)
    tmp11 = tl.load(in_ptr0 + (80 + x0 + 240*x1), xmask)
    tmp14 = tl.load(in_ptr1 + (80 + x0 + 240*x1), xmask)
    tmp16 = tl.load(in_ptr0 + (120 + x0 + 240*x1), xmask)
    tmp19 = tl.load(in_ptr1 + (120 + x0 + 240*x1), xmask)
    tmp21 = tl.load(in_ptr0 + (160 + x0 + 240*x1), xmask)
    tmp24 = tl.load(in_ptr1 + (160 + x0 + 240*x1), xmask)
    tmp26 = tl.load(in_ptr0 + (200 + x0 + 240*x1), xmask)
    tmp29 = tl.load(in_ptr1 + (200 + x0 + 240*x1), xmask)
    tmp1 = tl.sigmoid(tmp0)
    tmp2 = tl.full([1], 0.0, tl.float32)
    tmp3 = tmp1 * tmp2
    tmp5 = tmp3 + tmp4
    tmp7 = tl.sigmoid(tmp6)
    tmp8 = tmp7 * tmp5
    tmp10 = tmp8 + tmp9
    tmp12 = tl.sigmoid(tmp11)
    tmp13 = tmp12 * tmp10
    tmp15 = tmp13 + tmp14
    tmp17 = tl.sigmoid(tmp16)
    tmp18 = tmp17 * tmp15
    tmp20 = tmp18 + tmp19
    tmp22 = tl.sigmoid(tmp21)
    tmp23 = tmp22 * tmp20
    tmp25 = tmp23 + tmp24
    tmp27 = tl.sigmoid(tmp26)
    tmp28 = tmp27 * tmp25
    tmp30 = tmp28 + tmp29
    tl.store(out_ptr0 + (x0 + 240*x1), tmp5, xmask)
    tl.store(out_ptr1 + (x0 + 240*x1), tmp10, xmask)
    tl.store(out_ptr2 + (x0 + 240*x1), tmp15, xmask)
    tl.store(out_ptr3 + (x0 + 240*x1), tmp20, xmask)
    tl.store(out_ptr4 + (x0 + 240*x1), tmp25, xmask)
    tl.store(out_ptr5 + (x0 + 240*x1), tmp30, xmask)
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
        arg0_1, arg1_1 = args
        args.clear()
        assert_size_stride_grouped((arg0_1, arg1_1), ((2, 6, 40), (2, 6, 40)), ((240, 40, 1), (240, 40, 1)), 'input')
        buf6 = empty_strided_cpu((2, 240), (240, 1), torch.float32)
        buf0 = reinterpret_tensor(buf6, (2, 40), (240, 1), 0)  # alias
        buf1 = reinterpret_tensor(buf6, (2, 40), (240, 1), 40)  # alias
        buf2 = reinterpret_tensor(buf6, (2, 40), (240, 1), 80)  # alias
        buf3 = reinterpret_tensor(buf6, (2, 40), (240, 1), 120)  # alias
        buf4 = reinterpret_tensor(buf6, (2, 40), (240, 1), 160)  # alias
        buf5 = reinterpret_tensor(buf6, (2, 40), (240, 1), 200)  # alias
        # Topologically Sorted Source Nodes: [getitem_11, sigmoid_5, getitem_9, sigmoid_4, getitem_7, sigmoid_3, getitem_5, sigmoid_2, getitem_3, sigmoid_1, getitem_1, sigmoid, state, mul, getitem_2, state_1, mul_1, getitem_4, state_2, mul_2, getitem_6, state_3, mul_3, getitem_8, state_4, mul_4, getitem_10, state_5, mul_5, getitem_12, state_6], Original ATen: [aten.select, aten.sigmoid, aten.zeros_like, aten.mul, aten.add]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_add_mul_select_sigmoid_zeros_like_0.run(arg0_1, arg1_1, buf0, buf1, buf2, buf3, buf4, buf5, 80, stream=raw_streamNone)
        del arg0_1
        del arg1_1
        return (reinterpret_tensor(buf6, (2, 6, 40), (240, 40, 1), 0), )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((2, 6, 40), (240, 40, 1), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((2, 6, 40), (240, 40, 1), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
