# Written by Inductor of PyTorch 2.15.0+cu132; tools/torch_outputs.py has the model.
# AOT ID: ['10_inference']
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


# kernel path: /tmp/torchinductor_root/tmp6yw1qpb3/do/cdolqg2us4roiibnxxctrqxjhkfxmie5dijz2zdnt73guilkjnsw.py
# Topologically Sorted Source Nodes: [lstm_cell], Original ATen: [aten.add, aten.unsafe_split, aten.sigmoid, aten.mul, aten.tanh]
# Source node to ATen node mapping:
#   lstm_cell => add, add_1, mul, mul_1, mul_2, sigmoid, sigmoid_1, sigmoid_2, split, tanh, tanh_1
# Graph fragment:
#   %addmm : Tensor "f32[4, 128][128, 1]cpu" = PlaceHolder[target=addmm]
#   %addmm_1 : Tensor "f32[4, 128][128, 1]cpu" = PlaceHolder[target=addmm_1]
#   %arg2_1 : Tensor "f32[4, 32][32, 1]cpu" = PlaceHolder[target=arg2_1]
#   %add_1 : Tensor "f32[4, 32][32, 1]cpu" = PlaceHolder[target=add_1]
#   %add : Tensor "f32[4, 128][128, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%addmm, %addmm_1), kwargs = {})
#   %split : [num_users=4] = call_function[target=torch.ops.aten.split.Tensor](args = (%add, 32, 1), kwargs = {})
#   %sigmoid_2 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%getitem_3,), kwargs = {})
#   %sigmoid_1 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%getitem_1,), kwargs = {})
#   %mul : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_1, %arg2_1), kwargs = {})
#   %sigmoid : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%getitem,), kwargs = {})
#   %tanh : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.tanh.default](args = (%getitem_2,), kwargs = {})
#   %mul_1 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid, %tanh), kwargs = {})
#   %add_1 : Tensor "f32[4, 32][32, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul, %mul_1), kwargs = {})
#   %tanh_1 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.tanh.default](args = (%add_1,), kwargs = {})
#   %mul_2 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_2, %tanh_1), kwargs = {})
#   return %add_1,%mul_2
triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_0 = async_compile.triton('triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 128}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'in_ptr2': '*fp32', 'out_ptr0': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]], (5,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_0', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 9, 'num_store': 2, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 6656}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_0(in_ptr0, in_ptr1, in_ptr2, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 128
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 32)
    x1 = xindex // 32
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (32 + x0 + 128*x1), xmask)
    tmp1 = tl.load(in_ptr1 + (32 + x0 + 128*x1), xmask)
    tmp4 = tl.load(in_ptr2 + (x2), xmask)
    tmp6 = tl.load(in_ptr0 + (x0 + 128*x1), xmask)
    tmp7 = tl.load(in_ptr1 + (x0 + 128*x1), xmask)
    tmp10 = tl.load(in_ptr0 + (64 + x0 + 128*x1), xmask)
    tmp11 = tl.load(in_ptr1 + (64 + x0 + 128*x1), xmask)
    tmp16 = tl.load(in_ptr0 + (96 + x0 + 128*x1), xmask)
    tmp17 = tl.load(in_ptr1 + (96 + x0 + 128*x1), xmask)
    tmp2 = tmp0 + tmp1
    tmp3 = tl.sigmoid(tmp2)
    tmp5 = tmp3 * tmp4
    tmp8 = tmp6 + tmp7
    tmp9 = tl.sigmoid(tmp8)
    tmp12 = tmp10 + tmp11
    tmp13 = libdevice.tanh(tmp12)
    tmp14 = tmp9 * tmp13
    tmp15 = tmp5 + tmp14
    tmp18 = tmp16 + tmp17
    tmp19 = tl.sigmoid(tmp18)
    tmp20 = libdevice.tanh(tmp15)
    tmp21 = tmp19 * tmp20
    tl.store(out_ptr0 + (x2), tmp15, xmask)
    tl.store(out_ptr1 + (x2), tmp21, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmp6yw1qpb3/oz/cozfujo43hb3mjgbldi6ja4y6kgi5oaolt52z7b4jzkc6z5gj2zw.py
# Topologically Sorted Source Nodes: [lstm_cell_1], Original ATen: [aten.add, aten.unsafe_split, aten.sigmoid, aten.mul, aten.tanh]
# Source node to ATen node mapping:
#   lstm_cell_1 => add_2, add_3, mul_3, mul_4, mul_5, sigmoid_3, sigmoid_4, sigmoid_5, split_1, tanh_2, tanh_3
# Graph fragment:
#   %addmm_2 : Tensor "f32[4, 128][128, 1]cpu" = PlaceHolder[target=addmm_2]
#   %addmm_3 : Tensor "f32[4, 128][128, 1]cpu" = PlaceHolder[target=addmm_3]
#   %add_1 : Tensor "f32[4, 32][32, 1]cpu" = PlaceHolder[target=add_1]
#   %add_3 : Tensor "f32[4, 32][32, 1]cpu" = PlaceHolder[target=add_3]
#   %add_2 : Tensor "f32[4, 128][128, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%addmm_2, %addmm_3), kwargs = {})
#   %split_1 : [num_users=4] = call_function[target=torch.ops.aten.split.Tensor](args = (%add_2, 32, 1), kwargs = {})
#   %sigmoid_5 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%getitem_7,), kwargs = {})
#   %sigmoid_4 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%getitem_5,), kwargs = {})
#   %mul_3 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_4, %add_1), kwargs = {})
#   %sigmoid_3 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sigmoid.default](args = (%getitem_4,), kwargs = {})
#   %tanh_2 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.tanh.default](args = (%getitem_6,), kwargs = {})
#   %mul_4 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_3, %tanh_2), kwargs = {})
#   %add_3 : Tensor "f32[4, 32][32, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_3, %mul_4), kwargs = {})
#   %tanh_3 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.tanh.default](args = (%add_3,), kwargs = {})
#   %mul_5 : Tensor "f32[4, 32][32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sigmoid_5, %tanh_3), kwargs = {})
#   return %add_3,%mul_5
triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_1 = async_compile.triton('triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_1', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 128}, 
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_1', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 9, 'num_store': 2, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 6656}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_1(in_out_ptr0, in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 128
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 32)
    x1 = xindex // 32
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (32 + x0 + 128*x1), xmask)
    tmp1 = tl.load(in_ptr1 + (32 + x0 + 128*x1), xmask)
    tmp4 = tl.load(in_out_ptr0 + (x2), xmask)
    tmp6 = tl.load(in_ptr0 + (x0 + 128*x1), xmask)
    tmp7 = tl.load(in_ptr1 + (x0 + 128*x1), xmask)
    tmp10 = tl.load(in_ptr0 + (64 + x0 + 128*x1), xmask)
    tmp11 = tl.load(in_ptr1 + (64 + x0 + 128*x1), xmask)
    tmp16 = tl.load(in_ptr0 + (96 + x0 + 128*x1), xmask)
    tmp17 = tl.load(in_ptr1 + (96 + x0 + 128*x1), xmask)
    tmp2 = tmp0 + tmp1
    tmp3 = tl.sigmoid(tmp2)
    tmp5 = tmp3 * tmp4
    tmp8 = tmp6 + tmp7
    tmp9 = tl.sigmoid(tmp8)
    tmp12 = tmp10 + tmp11
    tmp13 = libdevice.tanh(tmp12)
    tmp14 = tmp9 * tmp13
    tmp15 = tmp5 + tmp14
    tmp18 = tmp16 + tmp17
    tmp19 = tl.sigmoid(tmp18)
    tmp20 = libdevice.tanh(tmp15)
    tmp21 = tmp19 * tmp20
    tl.store(in_out_ptr0 + (x2), tmp15, xmask)
    tl.store(out_ptr0 + (x2), tmp21, xmask)
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
        arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1 = args
        args.clear()
        assert_size_stride_grouped((arg6_1, arg1_1, arg4_1), ((128, ), (4, 32), (128, 32)), ((1, ), (32, 1), (32, 1)), 'input')
        buf0 = empty_strided_cpu((4, 128), (128, 1), torch.float32)
        # Topologically Sorted Source Nodes: [lstm_cell], Original ATen: [aten.t, aten.addmm]
        extern_kernels.addmm(arg6_1, arg1_1, reinterpret_tensor(arg4_1, (32, 128), (1, 32), 0), alpha=1, beta=1, out=buf0)
        del arg1_1
        assert_size_stride_grouped((arg5_1, arg0_1, arg3_1), ((128, ), (3, 4, 16), (128, 16)), ((1, ), (64, 16, 1), (16, 1)), 'input')
        buf1 = empty_strided_cpu((4, 128), (128, 1), torch.float32)
        # Topologically Sorted Source Nodes: [one, lstm_cell], Original ATen: [aten.select, aten.t, aten.addmm]
        extern_kernels.addmm(arg5_1, reinterpret_tensor(arg0_1, (4, 16), (16, 1), 0), reinterpret_tensor(arg3_1, (16, 128), (1, 16), 0), alpha=1, beta=1, out=buf1)
        assert_size_stride(arg2_1, (4, 32), (32, 1), 'input')
        buf2 = empty_strided_cpu((4, 32), (32, 1), torch.float32)
        buf3 = empty_strided_cpu((4, 32), (32, 1), torch.float32)
        # Topologically Sorted Source Nodes: [lstm_cell], Original ATen: [aten.add, aten.unsafe_split, aten.sigmoid, aten.mul, aten.tanh]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_0.run(buf0, buf1, arg2_1, buf2, buf3, 128, stream=raw_streamNone)
        del arg2_1
        buf4 = buf1; del buf1  # reuse
        # Topologically Sorted Source Nodes: [lstm_cell, lstm_cell_1], Original ATen: [aten.add, aten.unsafe_split, aten.sigmoid, aten.tanh, aten.mul, aten.t, aten.addmm]
        extern_kernels.addmm(arg6_1, buf3, reinterpret_tensor(arg4_1, (32, 128), (1, 32), 0), alpha=1, beta=1, out=buf4)
        buf5 = buf0; del buf0  # reuse
        # Topologically Sorted Source Nodes: [one_1, lstm_cell_1], Original ATen: [aten.select, aten.t, aten.addmm]
        extern_kernels.addmm(arg5_1, reinterpret_tensor(arg0_1, (4, 16), (16, 1), 64), reinterpret_tensor(arg3_1, (16, 128), (1, 16), 0), alpha=1, beta=1, out=buf5)
        buf6 = buf2; del buf2  # reuse
        buf7 = buf3; del buf3  # reuse
        # Topologically Sorted Source Nodes: [lstm_cell_1], Original ATen: [aten.add, aten.unsafe_split, aten.sigmoid, aten.mul, aten.tanh]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_1.run(buf6, buf4, buf5, buf7, 128, stream=raw_streamNone)
        buf8 = buf5; del buf5  # reuse
        # Topologically Sorted Source Nodes: [lstm_cell_1, lstm_cell_2], Original ATen: [aten.add, aten.unsafe_split, aten.sigmoid, aten.tanh, aten.mul, aten.t, aten.addmm]
        extern_kernels.addmm(arg6_1, buf7, reinterpret_tensor(arg4_1, (32, 128), (1, 32), 0), alpha=1, beta=1, out=buf8)
        del arg4_1
        del arg6_1
        buf9 = buf4; del buf4  # reuse
        # Topologically Sorted Source Nodes: [one_2, lstm_cell_2], Original ATen: [aten.select, aten.t, aten.addmm]
        extern_kernels.addmm(arg5_1, reinterpret_tensor(arg0_1, (4, 16), (16, 1), 128), reinterpret_tensor(arg3_1, (16, 128), (1, 16), 0), alpha=1, beta=1, out=buf9)
        del arg0_1
        del arg3_1
        del arg5_1
        buf10 = buf6; del buf6  # reuse
        buf11 = buf7; del buf7  # reuse
        # Topologically Sorted Source Nodes: [lstm_cell_2], Original ATen: [aten.add, aten.unsafe_split, aten.sigmoid, aten.mul, aten.tanh]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_add_mul_sigmoid_tanh_unsafe_split_1.run(buf10, buf8, buf9, buf11, 128, stream=raw_streamNone)
        return (buf11, buf10, )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((3, 4, 16), (64, 16, 1), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((4, 32), (32, 1), device='cpu', dtype=torch.float32)
    arg2_1 = rand_strided((4, 32), (32, 1), device='cpu', dtype=torch.float32)
    arg3_1 = rand_strided((128, 16), (16, 1), device='cpu', dtype=torch.float32)
    arg4_1 = rand_strided((128, 32), (32, 1), device='cpu', dtype=torch.float32)
    arg5_1 = rand_strided((128, ), (1, ), device='cpu', dtype=torch.float32)
    arg6_1 = rand_strided((128, ), (1, ), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
