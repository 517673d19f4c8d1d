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


# kernel path: /tmp/torchinductor_root/tmp4f5iy7s0/fu/cfuuipjldtxt5t7rlkd7jtje3ifv43gahsp6nzuc42vh5uqn25zc.py
# Topologically Sorted Source Nodes: [layer_norm], Original ATen: [aten.native_layer_norm]
# Source node to ATen node mapping:
#   layer_norm => add, add_1, mul, mul_1, rsqrt, sub, var_mean
# Graph fragment:
#   %arg0_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu" = PlaceHolder[target=arg0_1]
#   %buf0 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=buf0]
#   %getitem_1 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=getitem_1]
#   %buf2 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=buf2]
#   %arg1_1 : Tensor "f32[64][1]cpu" = PlaceHolder[target=arg1_1]
#   %arg2_1 : Tensor "f32[64][1]cpu" = PlaceHolder[target=arg2_1]
#   %var_mean : [num_users=2] = call_function[target=torch.ops.aten.var_mean.correction](args = (%arg0_1, [2]), kwargs = {correction: 0, keepdim: True})
#   %sub : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%arg0_1, %getitem_1), kwargs = {})
#   %add : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%getitem, 1e-05), kwargs = {})
#   %rsqrt : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.rsqrt.default](args = (%add,), kwargs = {})
#   %mul : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sub, %rsqrt), kwargs = {})
#   %mul_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mul, %arg1_1), kwargs = {})
#   %add_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_1, %arg2_1), kwargs = {})
#   return %buf0,%getitem_1,%buf2,%add_1
triton_per_fused_native_layer_norm_0 = async_compile.triton('triton_per_fused_native_layer_norm_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 16, 'r0_': 64},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'in_ptr2': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(3,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]], (5,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused_native_layer_norm_0', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 3, 'num_store': 1, 'num_reduction': 2, 'autotune_hints': (), 'tiling_scores': {'x': 0, 'r0_': 12800}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused_native_layer_norm_0(in_ptr0, in_ptr1, in_ptr2, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 16
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp18 = tl.load(in_ptr1 + (r0_1), None, eviction_policy='evict_last')
    tmp20 = tl.load(in_ptr2 + (r0_1), None, eviction_policy='evict_last')
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tmp5 = tl.full([1, 1], 64.0, tl.float32)
    tmp6 = (tmp4 / tmp5)
    tmp7 = tmp0 - tmp6
    tmp8 = tmp7 * tmp7
    tmp9 = tl.broadcast_to(tmp8, [XBLOCK, R0_BLOCK])
    tmp11 = tl.where(xmask, tmp9, 0)
    tmp12 = tl.sum(tmp11, 1)[:, None].to(tl.float32)
    tmp13 = (tmp12 / tmp5)
    tmp14 = tl.full([1, 1], 1e-05, tl.float32)
    tmp15 = tmp13 + tmp14
    tmp16 = libdevice.rsqrt(tmp15)
    tmp17 = tmp7 * tmp16
    tmp19 = tmp17 * tmp18
    tmp21 = tmp19 + tmp20
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp21, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmp4f5iy7s0/z6/cz6tnoyc5dbte5cgeeolcq4ydovq3qivnntda22yc4wx3vpzpbjv.py
# Topologically Sorted Source Nodes: [hidden, ones, masked_fill, matmul, score, weights], Original ATen: [aten.triu, aten.ones, aten.masked_fill, aten.view, aten.mul, aten._softmax]
# Source node to ATen node mapping:
#   hidden => ge, iota, iota_1, logical_and, sub_1, unsqueeze, unsqueeze_1
#   masked_fill => full_default_1, where
#   matmul => view_5
#   ones => full_default
#   score => mul_2
#   weights => amax, div, exp, sub_2, sum_1
# Graph fragment:
#   %bmm : Tensor "f32[2, 16, 16][256, 16, 1]cpu" = PlaceHolder[target=bmm]
#   %amax : Tensor "f32[1, 2, 16, 1][32, 16, 1, 32]cpu" = PlaceHolder[target=amax]
#   %exp : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu" = PlaceHolder[target=exp]
#   %sum_1 : Tensor "f32[1, 2, 16, 1][32, 16, 1, 32]cpu" = PlaceHolder[target=sum_1]
#   %iota : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze : Tensor "i64[1, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota, -2), kwargs = {})
#   %iota_1 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_1 : Tensor "i64[16, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_1, -1), kwargs = {})
#   %sub_1 : Tensor "i64[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%unsqueeze, %unsqueeze_1), kwargs = {})
#   %ge : Tensor "b8[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.ge.Scalar](args = (%sub_1, 1), kwargs = {})
#   %full_default : Tensor "b8[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([16, 16], True), kwargs = {dtype: torch.bool, layout: torch.strided, device: cpu, pin_memory: False})
#   %logical_and : Tensor "b8[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.logical_and.default](args = (%ge, %full_default), kwargs = {})
#   %full_default_1 : Tensor "f32[][]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([], -inf), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %view_5 : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%bmm, [1, 2, 16, 16]), kwargs = {})
#   %mul_2 : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%view_5, 0.1767766952966369), kwargs = {})
#   %where : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.where.self](args = (%logical_and, %full_default_1, %mul_2), kwargs = {})
#   %amax : Tensor "f32[1, 2, 16, 1][32, 16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.amax.default](args = (%where, [-1], True), kwargs = {})
#   %sub_2 : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%where, %amax), kwargs = {})
#   %exp : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.exp.default](args = (%sub_2,), kwargs = {})
#   %sum_1 : Tensor "f32[1, 2, 16, 1][32, 16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%exp, [-1], True), kwargs = {})
#   %div : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.div.Tensor](args = (%exp, %sum_1), kwargs = {})
#   return %amax,%exp,%sum_1,%expand_2
triton_per_fused__softmax_masked_fill_mul_ones_triu_view_1 = async_compile.triton('triton_per_fused__softmax_masked_fill_mul_ones_triu_view_1', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 32, 'r0_': 16},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused__softmax_masked_fill_mul_ones_triu_view_1', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 2, 'autotune_hints': (), 'tiling_scores': {'x': 0, 'r0_': 6144}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused__softmax_masked_fill_mul_ones_triu_view_1(in_out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 32
    r0_numel = 16
    R0_BLOCK: tl.constexpr = 16
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = r0_index < r0_numel
    roffset = r0_offset
    rindex = r0_index
    r0_2 = r0_index
    x0 = (xindex % 16)
    x3 = xindex
    tmp6 = tl.load(in_out_ptr0 + (r0_2 + 16*x3), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
    tmp0 = (r0_2 + ((-1)*x0)).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1, 1], 1, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tl.full([1, 1], True, tl.int1)
    tmp5 = tmp3 & tmp4
    tmp7 = tl.full([1, 1], 0.1767766952966369, tl.float32)
    tmp8 = tmp6 * tmp7
    tmp9 = tl.full([1, 1], float("-inf"), tl.float32)
    tmp10 = tl.where(tmp5, tmp9, tmp8)
    tmp11 = tl.broadcast_to(tmp10, [XBLOCK, R0_BLOCK])
    tmp13 = tl.where(r0_mask & xmask, tmp11, float("-inf"))
    tmp14 = triton_helpers.max2(tmp13, 1)[:, None].to(tl.float32)
    tmp15 = tmp10 - tmp14
    tmp16 = libdevice.exp(tmp15)
    tmp17 = tl.broadcast_to(tmp16, [XBLOCK, R0_BLOCK])
    tmp19 = tl.where(r0_mask & xmask, tmp17, 0)
    tmp20 = tl.sum(tmp19, 1)[:, None].to(tl.float32)
    tmp21 = (tmp16 / tmp20)
    tl.store(in_out_ptr0 + (r0_2 + 16*x3), tmp21, r0_mask & xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmp4f5iy7s0/ga/cgadprmahf5gmrtdarxd6dfryqwhebzn47c2jkszy54px6yvidhy.py
# Topologically Sorted Source Nodes: [matmul_1, transpose_1, reshape], Original ATen: [aten.view, aten.transpose, aten.clone]
# Source node to ATen node mapping:
#   matmul_1 => view_8
#   reshape => clone
#   transpose_1 => permute_3
# Graph fragment:
#   %bmm_1 : Tensor "f32[2, 16, 32][512, 32, 1]cpu" = PlaceHolder[target=bmm_1]
#   %view_8 : Tensor "f32[1, 2, 16, 32][1024, 512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%bmm_1, [1, 2, 16, 32]), kwargs = {})
#   %permute_3 : Tensor "f32[1, 16, 2, 32][1024, 32, 512, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%view_8, [0, 2, 1, 3]), kwargs = {})
#   %clone : Tensor "f32[1, 16, 2, 32][1024, 64, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%permute_3,), kwargs = {memory_format: torch.contiguous_format})
#   return %clone
triton_poi_fused_clone_transpose_view_2 = async_compile.triton('triton_poi_fused_clone_transpose_view_2', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 1024}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_clone_transpose_view_2', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 12288}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_clone_transpose_view_2(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1024
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 32)
    x1 = ((xindex // 32) % 2)
    x2 = xindex // 64
    x3 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 32*x2 + 512*x1), xmask)
    tl.store(out_ptr0 + (x3), tmp0, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmp4f5iy7s0/cg/ccgh7rslt5zccithfviy2di4txajdf6ecgtadldpj3ddc7pivaq4.py
# Topologically Sorted Source Nodes: [linear_1, x, layer_norm_1], Original ATen: [aten._unsafe_view, aten.add, aten.native_layer_norm]
# Source node to ATen node mapping:
#   layer_norm_1 => add_3, add_4, mul_3, mul_4, rsqrt_1, sub_3, var_mean_1
#   linear_1 => view_11
#   x => add_2
# Graph fragment:
#   %arg0_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu" = PlaceHolder[target=arg0_1]
#   %addmm_1 : Tensor "f32[16, 64][64, 1]cpu" = PlaceHolder[target=addmm_1]
#   %buf13 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=buf13]
#   %getitem_3 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=getitem_3]
#   %buf15 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=buf15]
#   %arg7_1 : Tensor "f32[64][1]cpu" = PlaceHolder[target=arg7_1]
#   %arg8_1 : Tensor "f32[64][1]cpu" = PlaceHolder[target=arg8_1]
#   %view_11 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%addmm_1, [1, 16, 64]), kwargs = {})
#   %add_2 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=3] = call_function[target=torch.ops.aten.add.Tensor](args = (%arg0_1, %view_11), kwargs = {})
#   %var_mean_1 : [num_users=2] = call_function[target=torch.ops.aten.var_mean.correction](args = (%add_2, [2]), kwargs = {correction: 0, keepdim: True})
#   %sub_3 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%add_2, %getitem_3), kwargs = {})
#   %add_3 : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%getitem_2, 1e-05), kwargs = {})
#   %rsqrt_1 : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.rsqrt.default](args = (%add_3,), kwargs = {})
#   %mul_3 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sub_3, %rsqrt_1), kwargs = {})
#   %mul_4 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mul_3, %arg7_1), kwargs = {})
#   %add_4 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_4, %arg8_1), kwargs = {})
#   return %buf13,%getitem_3,%buf15,%add_4
triton_per_fused__unsafe_view_add_native_layer_norm_3 = async_compile.triton('triton_per_fused__unsafe_view_add_native_layer_norm_3', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 16, 'r0_': 64},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'in_ptr2': '*fp32', 'in_ptr3': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(1,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]], (5,): [['tt.divisibility', 16]], (6,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused__unsafe_view_add_native_layer_norm_3', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 4, 'num_store': 1, 'num_reduction': 2, 'autotune_hints': (), 'tiling_scores': {'x': 0, 'r0_': 16896}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused__unsafe_view_add_native_layer_norm_3(in_ptr0, in_ptr1, in_ptr2, in_ptr3, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 16
    r0_numel = 64
    R0_BLOCK: tl.constexpr = 64
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_offset = 0
    r0_mask = tl.full([R0_BLOCK], True, tl.int1)[None, :]
    roffset = r0_offset
    rindex = r0_index
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.load(in_ptr1 + (r0_1 + 64*x0), xmask, eviction_policy='evict_first', other=0.0)
    tmp20 = tl.load(in_ptr2 + (r0_1), None, eviction_policy='evict_last')
    tmp22 = tl.load(in_ptr3 + (r0_1), None, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp3 = tl.broadcast_to(tmp2, [XBLOCK, R0_BLOCK])
    tmp5 = tl.where(xmask, tmp3, 0)
    tmp6 = tl.sum(tmp5, 1)[:, None].to(tl.float32)
    tmp7 = tl.full([1, 1], 64.0, tl.float32)
    tmp8 = (tmp6 / tmp7)
    tmp9 = tmp2 - tmp8
    tmp10 = tmp9 * tmp9
    tmp11 = tl.broadcast_to(tmp10, [XBLOCK, R0_BLOCK])
    tmp13 = tl.where(xmask, tmp11, 0)
    tmp14 = tl.sum(tmp13, 1)[:, None].to(tl.float32)
    tmp15 = (tmp14 / tmp7)
    tmp16 = tl.full([1, 1], 1e-05, tl.float32)
    tmp17 = tmp15 + tmp16
    tmp18 = libdevice.rsqrt(tmp17)
    tmp19 = tmp9 * tmp18
    tmp21 = tmp19 * tmp20
    tmp23 = tmp21 + tmp22
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp23, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmp4f5iy7s0/ge/cgevmirdeu7dtkam2x3zbs7keopewjot2shi4pwimabrktw2ycmq.py
# Topologically Sorted Source Nodes: [linear_2, gelu], Original ATen: [aten._unsafe_view, aten.gelu]
# Source node to ATen node mapping:
#   gelu => add_5, erf, mul_5, mul_6, mul_7
#   linear_2 => view_13
# Graph fragment:
#   %addmm_2 : Tensor "f32[16, 256][256, 1]cpu" = PlaceHolder[target=addmm_2]
#   %view_13 : Tensor "f32[1, 16, 256][4096, 256, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.reshape.default](args = (%addmm_2, [1, 16, 256]), kwargs = {})
#   %mul_5 : Tensor "f32[1, 16, 256][4096, 256, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%view_13, 0.5), kwargs = {})
#   %mul_6 : Tensor "f32[1, 16, 256][4096, 256, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%view_13, 0.7071067811865476), kwargs = {})
#   %erf : Tensor "f32[1, 16, 256][4096, 256, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.erf.default](args = (%mul_6,), kwargs = {})
#   %add_5 : Tensor "f32[1, 16, 256][4096, 256, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%erf, 1), kwargs = {})
#   %mul_7 : Tensor "f32[1, 16, 256][4096, 256, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mul_5, %add_5), kwargs = {})
#   return %mul_7
triton_poi_fused__unsafe_view_gelu_4 = async_compile.triton('triton_poi_fused__unsafe_view_gelu_4', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 4096}, 
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__unsafe_view_gelu_4', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 49152}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__unsafe_view_gelu_4(in_out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 4096
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = tl.full([XBLOCK], True, tl.int1)[:]
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (x0), None)
    tmp1 = tl.full([1], 0.5, tl.float32)
    tmp2 = tmp0 * tmp1
    tmp3 = tl.full([1], 0.7071067811865476, tl.float32)
    tmp4 = tmp0 * tmp3
    tmp5 = libdevice.erf(tmp4)
    tmp6 = tl.full([1], 1.0, tl.float32)
    tmp7 = tmp5 + tmp6
    tmp8 = tmp2 * tmp7
    tl.store(in_out_ptr0 + (x0), tmp8, None)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmp4f5iy7s0/ug/cugfpka43amfhzkjghkhan4536sx7rp2xb2qsz7uv2rjrf5vvb7t.py
# Topologically Sorted Source Nodes: [linear_1, x, linear_3, add_1], Original ATen: [aten._unsafe_view, aten.add]
# Source node to ATen node mapping:
#   add_1 => add_6
#   linear_1 => view_11
#   linear_3 => view_15
#   x => add_2
# Graph fragment:
#   %arg0_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu" = PlaceHolder[target=arg0_1]
#   %addmm_1 : Tensor "f32[16, 64][64, 1]cpu" = PlaceHolder[target=addmm_1]
#   %addmm_3 : Tensor "f32[16, 64][64, 1]cpu" = PlaceHolder[target=addmm_3]
#   %view_11 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%addmm_1, [1, 16, 64]), kwargs = {})
#   %add_2 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=3] = call_function[target=torch.ops.aten.add.Tensor](args = (%arg0_1, %view_11), kwargs = {})
#   %view_15 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%addmm_3, [1, 16, 64]), kwargs = {})
#   %add_6 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%add_2, %view_15), kwargs = {})
#   return %add_6
triton_poi_fused__unsafe_view_add_5 = async_compile.triton('triton_poi_fused__unsafe_view_add_5', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 1024}, 
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__unsafe_view_add_5', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 3, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 20480}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__unsafe_view_add_5(in_out_ptr0, in_ptr0, in_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1024
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_out_ptr0 + (x0), xmask)
    tmp3 = tl.load(in_ptr1 + (x0), xmask)
    tmp2 = tmp0 + tmp1
    tmp4 = tmp2 + tmp3
    tl.store(in_out_ptr0 + (x0), tmp4, xmask)
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
        arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1, arg7_1, arg8_1, arg9_1, arg10_1, arg11_1, arg12_1 = args
        args.clear()
        assert_size_stride_grouped((arg0_1, arg1_1, arg2_1), ((1, 16, 64), (64, ), (64, )), ((1024, 64, 1), (1, ), (1, )), 'input')
        buf3 = empty_strided_cpu((1, 16, 64), (1024, 64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [layer_norm], Original ATen: [aten.native_layer_norm]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused_native_layer_norm_0.run(arg0_1, arg1_1, arg2_1, buf3, 16, 64, stream=raw_streamNone)
        del arg1_1
        del arg2_1
        assert_size_stride_grouped((arg4_1, arg3_1), ((192, ), (192, 64)), ((1, ), (64, 1)), 'input')
        buf4 = empty_strided_cpu((16, 192), (192, 1), torch.float32)
        # Topologically Sorted Source Nodes: [layer_norm, linear], Original ATen: [aten.native_layer_norm, aten.view, aten.t, aten.addmm]
        extern_kernels.addmm(arg4_1, reinterpret_tensor(buf3, (16, 64), (64, 1), 0), reinterpret_tensor(arg3_1, (64, 192), (1, 64), 0), alpha=1, beta=1, out=buf4)
        del arg3_1
        del arg4_1
        buf5 = empty_strided_cpu((2, 16, 16), (256, 16, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear, view, permute, q, matmul, k, transpose], Original ATen: [aten._unsafe_view, aten.view, aten.permute, aten.select, aten.transpose, aten.bmm]
        extern_kernels.bmm(reinterpret_tensor(buf4, (2, 16, 32), (32, 192, 1), 0), reinterpret_tensor(buf4, (2, 32, 16), (32, 1, 192), 64), out=buf5)
        buf7 = reinterpret_tensor(buf5, (1, 2, 16, 16), (512, 256, 16, 1), 0); del buf5  # reuse
        buf9 = buf7; del buf7  # reuse
        # Topologically Sorted Source Nodes: [hidden, ones, masked_fill, matmul, score, weights], Original ATen: [aten.triu, aten.ones, aten.masked_fill, aten.view, aten.mul, aten._softmax]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused__softmax_masked_fill_mul_ones_triu_view_1.run(buf9, 32, 16, stream=raw_streamNone)
        buf10 = reinterpret_tensor(buf3, (2, 16, 32), (512, 32, 1), 0); del buf3  # reuse
        # Topologically Sorted Source Nodes: [linear, view, permute, weights, matmul_1, v], Original ATen: [aten._unsafe_view, aten.view, aten.permute, aten._softmax, aten.select, aten.bmm]
        extern_kernels.bmm(reinterpret_tensor(buf9, (2, 16, 16), (256, 16, 1), 0), reinterpret_tensor(buf4, (2, 16, 32), (32, 192, 1), 128), out=buf10)
        del buf4
        del buf9
        buf11 = empty_strided_cpu((1, 16, 2, 32), (1024, 64, 32, 1), torch.float32)
        # Topologically Sorted Source Nodes: [matmul_1, transpose_1, reshape], Original ATen: [aten.view, aten.transpose, aten.clone]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_clone_transpose_view_2.run(buf10, buf11, 1024, stream=raw_streamNone)
        assert_size_stride_grouped((arg6_1, arg5_1), ((64, ), (64, 64)), ((1, ), (64, 1)), 'input')
        buf12 = reinterpret_tensor(buf10, (16, 64), (64, 1), 0); del buf10  # reuse
        # Topologically Sorted Source Nodes: [matmul_1, transpose_1, reshape, linear_1], Original ATen: [aten.view, aten.transpose, aten.clone, aten._unsafe_view, aten.t, aten.addmm]
        extern_kernels.addmm(arg6_1, reinterpret_tensor(buf11, (16, 64), (64, 1), 0), reinterpret_tensor(arg5_1, (64, 64), (1, 64), 0), alpha=1, beta=1, out=buf12)
        del arg5_1
        del arg6_1
        assert_size_stride_grouped((arg7_1, arg8_1), ((64, ), (64, )), ((1, ), (1, )), 'input')
        buf16 = reinterpret_tensor(buf11, (1, 16, 64), (1024, 64, 1), 0); del buf11  # reuse
        # Topologically Sorted Source Nodes: [linear_1, x, layer_norm_1], Original ATen: [aten._unsafe_view, aten.add, aten.native_layer_norm]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused__unsafe_view_add_native_layer_norm_3.run(arg0_1, buf12, arg7_1, arg8_1, buf16, 16, 64, stream=raw_streamNone)
        del arg7_1
        del arg8_1
        assert_size_stride_grouped((arg10_1, arg9_1), ((256, ), (256, 64)), ((1, ), (64, 1)), 'input')
        buf17 = empty_strided_cpu((16, 256), (256, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear_1, x, layer_norm_1, linear_2], Original ATen: [aten._unsafe_view, aten.add, aten.native_layer_norm, aten.view, aten.t, aten.addmm]
        extern_kernels.addmm(arg10_1, reinterpret_tensor(buf16, (16, 64), (64, 1), 0), reinterpret_tensor(arg9_1, (64, 256), (1, 64), 0), alpha=1, beta=1, out=buf17)
        del arg10_1
        del arg9_1
        del buf16
        buf18 = reinterpret_tensor(buf17, (1, 16, 256), (4096, 256, 1), 0); del buf17  # reuse
        # Topologically Sorted Source Nodes: [linear_2, gelu], Original ATen: [aten._unsafe_view, aten.gelu]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__unsafe_view_gelu_4.run(buf18, 4096, stream=raw_streamNone)
        assert_size_stride_grouped((arg12_1, arg11_1), ((64, ), (64, 256)), ((1, ), (256, 1)), 'input')
        buf19 = empty_strided_cpu((16, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear_2, gelu, linear_3], Original ATen: [aten._unsafe_view, aten.gelu, aten.view, aten.t, aten.addmm]
        extern_kernels.addmm(arg12_1, reinterpret_tensor(buf18, (16, 256), (256, 1), 0), reinterpret_tensor(arg11_1, (256, 64), (1, 256), 0), alpha=1, beta=1, out=buf19)
        del arg11_1
        del arg12_1
        del buf18
        buf20 = reinterpret_tensor(buf12, (1, 16, 64), (1024, 64, 1), 0); del buf12  # reuse
        # Topologically Sorted Source Nodes: [linear_1, x, linear_3, add_1], Original ATen: [aten._unsafe_view, aten.add]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__unsafe_view_add_5.run(buf20, arg0_1, buf19, 1024, stream=raw_streamNone)
        del arg0_1
        return (buf20, )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((1, 16, 64), (1024, 64, 1), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    arg2_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    arg3_1 = rand_strided((192, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg4_1 = rand_strided((192, ), (1, ), device='cpu', dtype=torch.float32)
    arg5_1 = rand_strided((64, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg6_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    arg7_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    arg8_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    arg9_1 = rand_strided((256, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg10_1 = rand_strided((256, ), (1, ), device='cpu', dtype=torch.float32)
    arg11_1 = rand_strided((64, 256), (256, 1), device='cpu', dtype=torch.float32)
    arg12_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1, arg7_1, arg8_1, arg9_1, arg10_1, arg11_1, arg12_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
