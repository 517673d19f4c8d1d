# Written by Inductor of PyTorch 2.15.0+cu132; tools/torch_outputs.py has the model.
# AOT ID: ['1_inference']
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

from torch._inductor.runtime.runtime_utils import assert_tensor_metadata

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


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/gy/cgy6fsb6rds7c24rm4cbapwlebddezbdjbpkiowaipazybb77pof.py
# Topologically Sorted Source Nodes: [pow_1, mean, add, rsqrt, mul, y], Original ATen: [aten.pow, aten.mean, aten.add, aten.rsqrt, aten.mul]
# Source node to ATen node mapping:
#   add => add
#   mean => mean
#   mul => mul
#   pow_1 => pow_1
#   rsqrt => rsqrt
#   y => mul_1
# Graph fragment:
#   %arg0_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu" = PlaceHolder[target=arg0_1]
#   %buf0 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=buf0]
#   %arg1_1 : Tensor "f32[64][1]cpu" = PlaceHolder[target=arg1_1]
#   %pow_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.pow.Tensor_Scalar](args = (%arg0_1, 2), kwargs = {})
#   %mean : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mean.dim](args = (%pow_1, [-1], True), kwargs = {})
#   %add : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mean, 1e-05), kwargs = {})
#   %rsqrt : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.rsqrt.default](args = (%add,), kwargs = {})
#   %mul : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%arg0_1, %rsqrt), kwargs = {})
#   %mul_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=3] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mul, %arg1_1), kwargs = {})
#   return %buf0,%mul_1
triton_per_fused_add_mean_mul_pow_rsqrt_0 = async_compile.triton('triton_per_fused_add_mean_mul_pow_rsqrt_0', '''
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
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused_add_mean_mul_pow_rsqrt_0', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 2, 'num_store': 1, 'num_reduction': 1, 'autotune_hints': (), 'tiling_scores': {'x': 0, 'r0_': 12544}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused_add_mean_mul_pow_rsqrt_0(in_ptr0, in_ptr1, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp12 = tl.load(in_ptr1 + (r0_1), None, eviction_policy='evict_last')
    tmp1 = tmp0 * tmp0
    tmp2 = tl.broadcast_to(tmp1, [XBLOCK, R0_BLOCK])
    tmp4 = tl.where(xmask, tmp2, 0)
    tmp5 = tl.sum(tmp4, 1)[:, None].to(tl.float32)
    tmp6 = tl.full([1, 1], 64.0, tl.float32)
    tmp7 = (tmp5 / tmp6)
    tmp8 = tl.full([1, 1], 1e-05, tl.float32)
    tmp9 = tmp7 + tmp8
    tmp10 = libdevice.rsqrt(tmp9)
    tmp11 = tmp0 * tmp10
    tmp13 = tmp11 * tmp12
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp13, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/a2/ca2gp7eabxl4smnrhvo3gqxprdnb7tg77ort4xak6brq4jb5pjaq.py
# Topologically Sorted Source Nodes: [linear, view, transpose, a, arange, getitem, arange_1, truediv, pow_2, truediv_1, angle, cos, mul_3, b, sin, mul_4, sub, stack, sin_1, mul_5, cos_1, mul_6, add_1], Original ATen: [aten._unsafe_view, aten.view, aten.transpose, aten.slice, aten.arange, aten.unsqueeze, aten.div, aten.pow, aten.mul, aten.cos, aten.sin, aten.sub, aten.stack, aten.add]
# Source node to ATen node mapping:
#   a => slice_1
#   add_1 => add_1
#   angle => mul_3
#   arange => iota
#   arange_1 => iota_1
#   b => slice_2
#   cos => cos
#   cos_1 => cos_1
#   getitem => unsqueeze
#   linear => view_1
#   mul_3 => mul_4
#   mul_4 => mul_5
#   mul_5 => mul_6
#   mul_6 => mul_7
#   pow_2 => pow_2
#   sin => sin
#   sin_1 => sin_1
#   stack => cat, unsqueeze_1, unsqueeze_2
#   sub => sub
#   transpose => permute_1
#   truediv => div
#   truediv_1 => reciprocal
#   view => view_2
# Graph fragment:
#   %mm : Tensor "f32[16, 64][64, 1]cpu" = PlaceHolder[target=mm]
#   %view_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm, [1, 16, 64]), kwargs = {})
#   %view_2 : Tensor "f32[1, 16, 4, 16][1024, 64, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%view_1, [1, 16, 4, 16]), kwargs = {})
#   %permute_1 : Tensor "f32[1, 4, 16, 16][1024, 16, 64, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.permute.default](args = (%view_2, [0, 2, 1, 3]), kwargs = {})
#   %slice_1 : Tensor "f32[1, 4, 16, 8][1024, 16, 64, 2]cpu"[num_users=2] = call_function[target=torch.ops.aten.slice.Tensor](args = (%permute_1, 3, 0, 9223372036854775807, 2), kwargs = {})
#   %iota : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze : Tensor "i64[16, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota, 1), kwargs = {})
#   %iota_1 : Tensor "i64[8][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (8,), kwargs = {start: 0, step: 2, dtype: torch.int64, device: cpu, requires_grad: False})
#   %div : Tensor "f32[8][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.div.Tensor](args = (%iota_1, 16), kwargs = {})
#   %pow_2 : Tensor "f32[8][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.pow.Scalar](args = (10000, %div), kwargs = {})
#   %reciprocal : Tensor "f32[8][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reciprocal.default](args = (%pow_2,), kwargs = {})
#   %mul_3 : Tensor "f32[16, 8][8, 1]cpu"[num_users=4] = call_function[target=torch.ops.aten.mul.Tensor](args = (%unsqueeze, %reciprocal), kwargs = {})
#   %cos : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.cos.default](args = (%mul_3,), kwargs = {})
#   %mul_4 : Tensor "f32[1, 4, 16, 8][512, 8, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_1, %cos), kwargs = {})
#   %slice_2 : Tensor "f32[1, 4, 16, 8][1024, 16, 64, 2]cpu"[num_users=2] = call_function[target=torch.ops.aten.slice.Tensor](args = (%permute_1, 3, 1, 9223372036854775807, 2), kwargs = {})
#   %sin : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%mul_3,), kwargs = {})
#   %mul_5 : Tensor "f32[1, 4, 16, 8][512, 8, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_2, %sin), kwargs = {})
#   %sub : Tensor "f32[1, 4, 16, 8][512, 8, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%mul_4, %mul_5), kwargs = {})
#   %unsqueeze_1 : Tensor "f32[1, 4, 16, 8, 1][512, 8, 32, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%sub, 4), kwargs = {})
#   %sin_1 : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%mul_3,), kwargs = {})
#   %mul_6 : Tensor "f32[1, 4, 16, 8][512, 8, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_1, %sin_1), kwargs = {})
#   %cos_1 : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.cos.default](args = (%mul_3,), kwargs = {})
#   %mul_7 : Tensor "f32[1, 4, 16, 8][512, 8, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_2, %cos_1), kwargs = {})
#   %add_1 : Tensor "f32[1, 4, 16, 8][512, 8, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_6, %mul_7), kwargs = {})
#   %unsqueeze_2 : Tensor "f32[1, 4, 16, 8, 1][512, 8, 32, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%add_1, 4), kwargs = {})
#   %cat : Tensor "f32[1, 4, 16, 8, 2][1024, 256, 16, 2, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.cat.default](args = ([%unsqueeze_1, %unsqueeze_2], -1), kwargs = {})
#   return %buf3,%buf4
triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_1 = async_compile.triton('triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_1', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 512}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_1', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 2, 'num_store': 2, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 0}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_1(in_ptr0, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 512
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x3 = xindex
    x0 = (xindex % 8)
    x2 = xindex // 32
    x1 = ((xindex // 8) % 4)
    tmp0 = tl.load(in_ptr0 + (2*x3), xmask, eviction_policy='evict_last')
    tmp14 = tl.load(in_ptr0 + (1 + 2*x3), xmask, eviction_policy='evict_last')
    tmp1 = (2*x0).to(tl.float32)
    tmp2 = (tmp1).to(tl.float32)
    tmp3 = tl.full([1], 16.0, tl.float32)
    tmp4 = (tmp2 / tmp3)
    tmp5 = tl.full([1], 10000.0, tl.float32)
    tmp6 = libdevice.pow(tmp5, tmp4)
    tmp7 = tl.full([1], 1.0, tl.float32)
    tmp8 = (tmp7 / tmp6)
    tmp9 = (x2).to(tl.float32)
    tmp10 = (tmp9).to(tl.float32)
    tmp11 = tmp10 * tmp8
    tmp12 = tl_math.cos(tmp11)
    tmp13 = tmp0 * tmp12
    tmp15 = tl_math.sin(tmp11)
    tmp16 = tmp14 * tmp15
    tmp17 = tmp13 - tmp16
    tmp18 = tmp0 * tmp15
    tmp19 = tmp14 * tmp12
    tmp20 = tmp18 + tmp19
    tl.store(out_ptr0 + (2*x0 + 16*x2 + 256*x1), tmp17, xmask)
    tl.store(out_ptr1 + (2*x0 + 16*x2 + 256*x1), tmp20, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/mc/cmcjrcmiyis2mxbwtk2ojo33v73ni6kwrcihfilqnhey5iynj56k.py
# Topologically Sorted Source Nodes: [linear_1, view_1, transpose_1, a_1, arange_2, getitem_3, arange_3, truediv_2, pow_3, truediv_3, angle_1, cos_2, mul_8, b_1, sin_2, mul_9, sub_1, stack_1, sin_3, mul_10, cos_3, mul_11, add_2], Original ATen: [aten._unsafe_view, aten.view, aten.transpose, aten.slice, aten.arange, aten.unsqueeze, aten.div, aten.pow, aten.mul, aten.cos, aten.sin, aten.sub, aten.stack, aten.add]
# Source node to ATen node mapping:
#   a_1 => slice_3
#   add_2 => add_2
#   angle_1 => mul_9
#   arange_2 => iota_2
#   arange_3 => iota_3
#   b_1 => slice_4
#   cos_2 => cos_2
#   cos_3 => cos_3
#   getitem_3 => unsqueeze_3
#   linear_1 => view_5
#   mul_10 => mul_12
#   mul_11 => mul_13
#   mul_8 => mul_10
#   mul_9 => mul_11
#   pow_3 => pow_3
#   sin_2 => sin_2
#   sin_3 => sin_3
#   stack_1 => cat_1, unsqueeze_4, unsqueeze_5
#   sub_1 => sub_1
#   transpose_1 => permute_3
#   truediv_2 => div_1
#   truediv_3 => reciprocal_1
#   view_1 => view_6
# Graph fragment:
#   %mm_1 : Tensor "f32[16, 32][32, 1]cpu" = PlaceHolder[target=mm_1]
#   %view_5 : Tensor "f32[1, 16, 32][512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_1, [1, 16, 32]), kwargs = {})
#   %view_6 : Tensor "f32[1, 16, 2, 16][512, 32, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%view_5, [1, 16, 2, 16]), kwargs = {})
#   %permute_3 : Tensor "f32[1, 2, 16, 16][512, 16, 32, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.permute.default](args = (%view_6, [0, 2, 1, 3]), kwargs = {})
#   %slice_3 : Tensor "f32[1, 2, 16, 8][512, 16, 32, 2]cpu"[num_users=2] = call_function[target=torch.ops.aten.slice.Tensor](args = (%permute_3, 3, 0, 9223372036854775807, 2), kwargs = {})
#   %iota_2 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_3 : Tensor "i64[16, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_2, 1), kwargs = {})
#   %iota_3 : Tensor "i64[8][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (8,), kwargs = {start: 0, step: 2, dtype: torch.int64, device: cpu, requires_grad: False})
#   %div_1 : Tensor "f32[8][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.div.Tensor](args = (%iota_3, 16), kwargs = {})
#   %pow_3 : Tensor "f32[8][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.pow.Scalar](args = (10000, %div_1), kwargs = {})
#   %reciprocal_1 : Tensor "f32[8][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reciprocal.default](args = (%pow_3,), kwargs = {})
#   %mul_9 : Tensor "f32[16, 8][8, 1]cpu"[num_users=4] = call_function[target=torch.ops.aten.mul.Tensor](args = (%unsqueeze_3, %reciprocal_1), kwargs = {})
#   %cos_2 : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.cos.default](args = (%mul_9,), kwargs = {})
#   %mul_10 : Tensor "f32[1, 2, 16, 8][256, 8, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_3, %cos_2), kwargs = {})
#   %slice_4 : Tensor "f32[1, 2, 16, 8][512, 16, 32, 2]cpu"[num_users=2] = call_function[target=torch.ops.aten.slice.Tensor](args = (%permute_3, 3, 1, 9223372036854775807, 2), kwargs = {})
#   %sin_2 : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%mul_9,), kwargs = {})
#   %mul_11 : Tensor "f32[1, 2, 16, 8][256, 8, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_4, %sin_2), kwargs = {})
#   %sub_1 : Tensor "f32[1, 2, 16, 8][256, 8, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%mul_10, %mul_11), kwargs = {})
#   %unsqueeze_4 : Tensor "f32[1, 2, 16, 8, 1][256, 8, 16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%sub_1, 4), kwargs = {})
#   %sin_3 : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%mul_9,), kwargs = {})
#   %mul_12 : Tensor "f32[1, 2, 16, 8][256, 8, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_3, %sin_3), kwargs = {})
#   %cos_3 : Tensor "f32[16, 8][8, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.cos.default](args = (%mul_9,), kwargs = {})
#   %mul_13 : Tensor "f32[1, 2, 16, 8][256, 8, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%slice_4, %cos_3), kwargs = {})
#   %add_2 : Tensor "f32[1, 2, 16, 8][256, 8, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_12, %mul_13), kwargs = {})
#   %unsqueeze_5 : Tensor "f32[1, 2, 16, 8, 1][256, 8, 16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%add_2, 4), kwargs = {})
#   %cat_1 : Tensor "f32[1, 2, 16, 8, 2][512, 256, 16, 2, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.cat.default](args = ([%unsqueeze_4, %unsqueeze_5], -1), kwargs = {})
#   return %buf7,%buf8
triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_2 = async_compile.triton('triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_2', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 256}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_2', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 2, 'num_store': 2, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 0}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_2(in_ptr0, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    xnumel = 256
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x3 = xindex
    x0 = (xindex % 8)
    x2 = xindex // 16
    x1 = ((xindex // 8) % 2)
    tmp0 = tl.load(in_ptr0 + (2*x3), xmask, eviction_policy='evict_last')
    tmp14 = tl.load(in_ptr0 + (1 + 2*x3), xmask, eviction_policy='evict_last')
    tmp1 = (2*x0).to(tl.float32)
    tmp2 = (tmp1).to(tl.float32)
    tmp3 = tl.full([1], 16.0, tl.float32)
    tmp4 = (tmp2 / tmp3)
    tmp5 = tl.full([1], 10000.0, tl.float32)
    tmp6 = libdevice.pow(tmp5, tmp4)
    tmp7 = tl.full([1], 1.0, tl.float32)
    tmp8 = (tmp7 / tmp6)
    tmp9 = (x2).to(tl.float32)
    tmp10 = (tmp9).to(tl.float32)
    tmp11 = tmp10 * tmp8
    tmp12 = tl_math.cos(tmp11)
    tmp13 = tmp0 * tmp12
    tmp15 = tl_math.sin(tmp11)
    tmp16 = tmp14 * tmp15
    tmp17 = tmp13 - tmp16
    tmp18 = tmp0 * tmp15
    tmp19 = tmp14 * tmp12
    tmp20 = tmp18 + tmp19
    tl.store(out_ptr0 + (2*x0 + 16*x2 + 256*x1), tmp17, xmask)
    tl.store(out_ptr1 + (2*x0 + 16*x2 + 256*x1), tmp20, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/ne/cnev5lgm63ctllf7rfqd3hjfciqtyynodqutzhuo4wigqfjrrt46.py
# Topologically Sorted Source Nodes: [q, k, k_1, linear_2, view_2, v, v_1, hidden, full], Original ATen: [aten.view, aten.unsqueeze, aten.expand, aten.clone, aten._unsafe_view, aten.transpose, aten.triu, aten.full, aten._scaled_dot_product_flash_attention_for_cpu]
# Source node to ATen node mapping:
#   full => full_default
#   hidden => full_default_1, ge, iota_4, iota_5, sub_2, unsqueeze_8, unsqueeze_9, where
#   k => view_7
#   k_1 => clone, expand, unsqueeze_6, view_11
#   linear_2 => view_9
#   q => view_3
#   v => permute_5
#   v_1 => clone_1, expand_1, unsqueeze_7, view_12
#   view_2 => view_10
# Graph fragment:
#   %cat_1 : Tensor "f32[1, 2, 16, 8, 2][512, 256, 16, 2, 1]cpu" = PlaceHolder[target=cat_1]
#   %view_3 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%cat, [1, 4, 16, 16]), kwargs = {})
#   %view_7 : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%cat_1, [1, 2, 16, 16]), kwargs = {})
#   %unsqueeze_6 : Tensor "f32[1, 2, 1, 16, 16][512, 256, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%view_7, 2), kwargs = {})
#   %expand : Tensor "f32[1, 2, 2, 16, 16][512, 256, 0, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.expand.default](args = (%unsqueeze_6, [1, 2, 2, 16, 16]), kwargs = {})
#   %clone : Tensor "f32[1, 2, 2, 16, 16][1024, 512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand,), kwargs = {memory_format: torch.contiguous_format})
#   %view_11 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%clone, [1, 4, 16, 16]), kwargs = {})
#   %view_9 : Tensor "f32[1, 16, 32][512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_2, [1, 16, 32]), kwargs = {})
#   %view_10 : Tensor "f32[1, 16, 2, 16][512, 32, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%view_9, [1, 16, 2, 16]), kwargs = {})
#   %permute_5 : Tensor "f32[1, 2, 16, 16][512, 16, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%view_10, [0, 2, 1, 3]), kwargs = {})
#   %unsqueeze_7 : Tensor "f32[1, 2, 1, 16, 16][512, 16, 512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%permute_5, 2), kwargs = {})
#   %expand_1 : Tensor "f32[1, 2, 2, 16, 16][512, 16, 0, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.expand.default](args = (%unsqueeze_7, [1, 2, 2, 16, 16]), kwargs = {})
#   %clone_1 : Tensor "f32[1, 2, 2, 16, 16][1024, 512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand_1,), kwargs = {memory_format: torch.contiguous_format})
#   %view_12 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%clone_1, [1, 4, 16, 16]), kwargs = {})
#   %iota_4 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_8 : Tensor "i64[1, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_4, -2), kwargs = {})
#   %iota_5 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_9 : Tensor "i64[16, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_5, -1), kwargs = {})
#   %sub_2 : Tensor "i64[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%unsqueeze_8, %unsqueeze_9), kwargs = {})
#   %ge : Tensor "b8[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.ge.Scalar](args = (%sub_2, 1), kwargs = {})
#   %full_default : Tensor "f32[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([16, 16], -inf), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %full_default_1 : Tensor "f32[][]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([], 0.0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %where : Tensor "f32[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.where.self](args = (%ge, %full_default, %full_default_1), kwargs = {})
#   %_scaled_dot_product_flash_attention_for_cpu_default : [num_users=1] = call_function[target=torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default](args = (%view_3, %view_11, %view_12), kwargs = {attn_mask: %where, scale: 0.25})
#   return %buf11
triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_3 = async_compile.triton('triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_3', '''
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
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_3', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 10240}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_3(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1024
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 256)
    x1 = xindex // 256
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 256*(x1 // 2)), xmask)
    tl.store(out_ptr0 + (x2), tmp0, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/fr/cfrgt3jzn5baqlemvn2p37b52lwdotpzgalawcghflwiwfmd27rg.py
# Topologically Sorted Source Nodes: [q, k, k_1, linear_2, view_2, v, v_1, hidden, full], Original ATen: [aten.view, aten.unsqueeze, aten.expand, aten.clone, aten._unsafe_view, aten.transpose, aten.triu, aten.full, aten._scaled_dot_product_flash_attention_for_cpu]
# Source node to ATen node mapping:
#   full => full_default
#   hidden => full_default_1, ge, iota_4, iota_5, sub_2, unsqueeze_8, unsqueeze_9, where
#   k => view_7
#   k_1 => clone, expand, unsqueeze_6, view_11
#   linear_2 => view_9
#   q => view_3
#   v => permute_5
#   v_1 => clone_1, expand_1, unsqueeze_7, view_12
#   view_2 => view_10
# Graph fragment:
#   %mm_2 : Tensor "f32[16, 32][32, 1]cpu" = PlaceHolder[target=mm_2]
#   %view_3 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%cat, [1, 4, 16, 16]), kwargs = {})
#   %view_7 : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%cat_1, [1, 2, 16, 16]), kwargs = {})
#   %unsqueeze_6 : Tensor "f32[1, 2, 1, 16, 16][512, 256, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%view_7, 2), kwargs = {})
#   %expand : Tensor "f32[1, 2, 2, 16, 16][512, 256, 0, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.expand.default](args = (%unsqueeze_6, [1, 2, 2, 16, 16]), kwargs = {})
#   %clone : Tensor "f32[1, 2, 2, 16, 16][1024, 512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand,), kwargs = {memory_format: torch.contiguous_format})
#   %view_11 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%clone, [1, 4, 16, 16]), kwargs = {})
#   %view_9 : Tensor "f32[1, 16, 32][512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_2, [1, 16, 32]), kwargs = {})
#   %view_10 : Tensor "f32[1, 16, 2, 16][512, 32, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%view_9, [1, 16, 2, 16]), kwargs = {})
#   %permute_5 : Tensor "f32[1, 2, 16, 16][512, 16, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%view_10, [0, 2, 1, 3]), kwargs = {})
#   %unsqueeze_7 : Tensor "f32[1, 2, 1, 16, 16][512, 16, 512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%permute_5, 2), kwargs = {})
#   %expand_1 : Tensor "f32[1, 2, 2, 16, 16][512, 16, 0, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.expand.default](args = (%unsqueeze_7, [1, 2, 2, 16, 16]), kwargs = {})
#   %clone_1 : Tensor "f32[1, 2, 2, 16, 16][1024, 512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand_1,), kwargs = {memory_format: torch.contiguous_format})
#   %view_12 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%clone_1, [1, 4, 16, 16]), kwargs = {})
#   %iota_4 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_8 : Tensor "i64[1, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_4, -2), kwargs = {})
#   %iota_5 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_9 : Tensor "i64[16, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_5, -1), kwargs = {})
#   %sub_2 : Tensor "i64[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%unsqueeze_8, %unsqueeze_9), kwargs = {})
#   %ge : Tensor "b8[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.ge.Scalar](args = (%sub_2, 1), kwargs = {})
#   %full_default : Tensor "f32[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([16, 16], -inf), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %full_default_1 : Tensor "f32[][]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([], 0.0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %where : Tensor "f32[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.where.self](args = (%ge, %full_default, %full_default_1), kwargs = {})
#   %_scaled_dot_product_flash_attention_for_cpu_default : [num_users=1] = call_function[target=torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default](args = (%view_3, %view_11, %view_12), kwargs = {attn_mask: %where, scale: 0.25})
#   return %buf12
triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_4 = async_compile.triton('triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_4', '''
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
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_4', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 10240}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_4(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1024
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 16)
    x2 = xindex // 256
    x3 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 16*(x2 // 2) + 32*x1), xmask)
    tl.store(out_ptr0 + (x3), tmp0, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/5t/c5tts2kfccapobi67t3dm34ely3pl5cyh2tqdnhyedp6cf3krsuc.py
# Topologically Sorted Source Nodes: [q, k, k_1, linear_2, view_2, v, v_1, hidden, full], Original ATen: [aten.view, aten.unsqueeze, aten.expand, aten.clone, aten._unsafe_view, aten.transpose, aten.triu, aten.full, aten._scaled_dot_product_flash_attention_for_cpu]
# Source node to ATen node mapping:
#   full => full_default
#   hidden => full_default_1, ge, iota_4, iota_5, sub_2, unsqueeze_8, unsqueeze_9, where
#   k => view_7
#   k_1 => clone, expand, unsqueeze_6, view_11
#   linear_2 => view_9
#   q => view_3
#   v => permute_5
#   v_1 => clone_1, expand_1, unsqueeze_7, view_12
#   view_2 => view_10
# Graph fragment:
#   %view_3 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%cat, [1, 4, 16, 16]), kwargs = {})
#   %view_7 : Tensor "f32[1, 2, 16, 16][512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%cat_1, [1, 2, 16, 16]), kwargs = {})
#   %unsqueeze_6 : Tensor "f32[1, 2, 1, 16, 16][512, 256, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%view_7, 2), kwargs = {})
#   %expand : Tensor "f32[1, 2, 2, 16, 16][512, 256, 0, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.expand.default](args = (%unsqueeze_6, [1, 2, 2, 16, 16]), kwargs = {})
#   %clone : Tensor "f32[1, 2, 2, 16, 16][1024, 512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand,), kwargs = {memory_format: torch.contiguous_format})
#   %view_11 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%clone, [1, 4, 16, 16]), kwargs = {})
#   %view_9 : Tensor "f32[1, 16, 32][512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_2, [1, 16, 32]), kwargs = {})
#   %view_10 : Tensor "f32[1, 16, 2, 16][512, 32, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%view_9, [1, 16, 2, 16]), kwargs = {})
#   %permute_5 : Tensor "f32[1, 2, 16, 16][512, 16, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%view_10, [0, 2, 1, 3]), kwargs = {})
#   %unsqueeze_7 : Tensor "f32[1, 2, 1, 16, 16][512, 16, 512, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%permute_5, 2), kwargs = {})
#   %expand_1 : Tensor "f32[1, 2, 2, 16, 16][512, 16, 0, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.expand.default](args = (%unsqueeze_7, [1, 2, 2, 16, 16]), kwargs = {})
#   %clone_1 : Tensor "f32[1, 2, 2, 16, 16][1024, 512, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%expand_1,), kwargs = {memory_format: torch.contiguous_format})
#   %view_12 : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%clone_1, [1, 4, 16, 16]), kwargs = {})
#   %iota_4 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_8 : Tensor "i64[1, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_4, -2), kwargs = {})
#   %iota_5 : Tensor "i64[16][1]cpu"[num_users=1] = call_function[target=torch.ops.prims.iota.default](args = (16,), kwargs = {start: 0, step: 1, dtype: torch.int64, device: cpu, requires_grad: False})
#   %unsqueeze_9 : Tensor "i64[16, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%iota_5, -1), kwargs = {})
#   %sub_2 : Tensor "i64[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%unsqueeze_8, %unsqueeze_9), kwargs = {})
#   %ge : Tensor "b8[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.ge.Scalar](args = (%sub_2, 1), kwargs = {})
#   %full_default : Tensor "f32[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([16, 16], -inf), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %full_default_1 : Tensor "f32[][]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([], 0.0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %where : Tensor "f32[16, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.where.self](args = (%ge, %full_default, %full_default_1), kwargs = {})
#   %_scaled_dot_product_flash_attention_for_cpu_default : [num_users=1] = call_function[target=torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default](args = (%view_3, %view_11, %view_12), kwargs = {attn_mask: %where, scale: 0.25})
#   return %buf13
triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_5 = async_compile.triton('triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_5', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 256}, 
    filename=__file__,
    triton_meta={'signature': {'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_5', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 0, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 2048}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_5(out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 256
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 16)
    x1 = xindex // 16
    x2 = xindex
    tmp0 = (x0 + ((-1)*x1)).to(tl.int64)
    tmp1 = (tmp0).to(tl.int64)
    tmp2 = tl.full([1], 1, tl.int64)
    tmp3 = tmp1 >= tmp2
    tmp4 = tl.full([1], float("-inf"), tl.float32)
    tmp5 = tl.full([1], 0.0, tl.float32)
    tmp6 = tl.where(tmp3, tmp4, tmp5)
    tl.store(out_ptr0 + (x2), tmp6, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/sc/cscue7jk6p3vvnget5zec2dmhfn6gxjcjbykoqqp25gmlx7vxqqx.py
# Topologically Sorted Source Nodes: [transpose_4, reshape], Original ATen: [aten.transpose, aten.clone]
# Source node to ATen node mapping:
#   reshape => clone_2
#   transpose_4 => permute_7
# Graph fragment:
#   %getitem : Tensor "f32[1, 4, 16, 16][1024, 256, 16, 1]cpu" = PlaceHolder[target=getitem]
#   %permute_7 : Tensor "f32[1, 16, 4, 16][1024, 16, 256, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%getitem, [0, 2, 1, 3]), kwargs = {})
#   %clone_2 : Tensor "f32[1, 16, 4, 16][1024, 64, 16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%permute_7,), kwargs = {memory_format: torch.contiguous_format})
#   return %clone_2
triton_poi_fused_clone_transpose_6 = async_compile.triton('triton_poi_fused_clone_transpose_6', '''
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
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_clone_transpose_6', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 12288}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_clone_transpose_6(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1024
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 16)
    x1 = ((xindex // 16) % 4)
    x2 = xindex // 64
    x3 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 16*x2 + 256*x1), xmask)
    tl.store(out_ptr0 + (x3), tmp0, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/3u/c3un455ospaznzv7zi2putqvcqux3b7fd6sqza5ftkmzzyocofdk.py
# Topologically Sorted Source Nodes: [linear_3, x, pow_4, mean_1, add_5, rsqrt_1, mul_12, y_1], Original ATen: [aten._unsafe_view, aten.add, aten.pow, aten.mean, aten.rsqrt, aten.mul]
# Source node to ATen node mapping:
#   add_5 => add_5
#   linear_3 => view_21
#   mean_1 => mean_1
#   mul_12 => mul_14
#   pow_4 => pow_4
#   rsqrt_1 => rsqrt_1
#   x => add_4
#   y_1 => mul_15
# Graph fragment:
#   %arg0_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu" = PlaceHolder[target=arg0_1]
#   %mm_3 : Tensor "f32[16, 64][64, 1]cpu" = PlaceHolder[target=mm_3]
#   %buf19 : Tensor "f32[1, 16, 1][16, 1, 16]cpu" = PlaceHolder[target=buf19]
#   %arg6_1 : Tensor "f32[64][1]cpu" = PlaceHolder[target=arg6_1]
#   %view_21 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_3, [1, 16, 64]), kwargs = {})
#   %add_4 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=3] = call_function[target=torch.ops.aten.add.Tensor](args = (%arg0_1, %view_21), kwargs = {})
#   %pow_4 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.pow.Tensor_Scalar](args = (%add_4, 2), kwargs = {})
#   %mean_1 : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mean.dim](args = (%pow_4, [-1], True), kwargs = {})
#   %add_5 : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mean_1, 1e-05), kwargs = {})
#   %rsqrt_1 : Tensor "f32[1, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.rsqrt.default](args = (%add_5,), kwargs = {})
#   %mul_14 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%add_4, %rsqrt_1), kwargs = {})
#   %mul_15 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mul_14, %arg6_1), kwargs = {})
#   return %buf19,%mul_15
triton_per_fused__unsafe_view_add_mean_mul_pow_rsqrt_7 = async_compile.triton('triton_per_fused__unsafe_view_add_mean_mul_pow_rsqrt_7', '''
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
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'in_ptr2': '*fp32', 'out_ptr1': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(1,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]], (5,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused__unsafe_view_add_mean_mul_pow_rsqrt_7', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 3, 'num_store': 1, 'num_reduction': 1, 'autotune_hints': (), 'tiling_scores': {'x': 0, 'r0_': 16640}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused__unsafe_view_add_mean_mul_pow_rsqrt_7(in_ptr0, in_ptr1, in_ptr2, out_ptr1, xnumel, r0_numel, XBLOCK : tl.constexpr):
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
    tmp14 = tl.load(in_ptr2 + (r0_1), None, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp3 = tmp2 * tmp2
    tmp4 = tl.broadcast_to(tmp3, [XBLOCK, R0_BLOCK])
    tmp6 = tl.where(xmask, tmp4, 0)
    tmp7 = tl.sum(tmp6, 1)[:, None].to(tl.float32)
    tmp8 = tl.full([1, 1], 64.0, tl.float32)
    tmp9 = (tmp7 / tmp8)
    tmp10 = tl.full([1, 1], 1e-05, tl.float32)
    tmp11 = tmp9 + tmp10
    tmp12 = libdevice.rsqrt(tmp11)
    tmp13 = tmp2 * tmp12
    tmp15 = tmp13 * tmp14
    tl.store(out_ptr1 + (r0_1 + 64*x0), tmp15, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/pm/cpmedeiyad6lkes5tf4azdyxgcqu3kxyjpcne62wcii3anmc3eii.py
# Topologically Sorted Source Nodes: [linear_4, silu, linear_5, mul_14], Original ATen: [aten._unsafe_view, aten.silu, aten.mul]
# Source node to ATen node mapping:
#   linear_4 => view_23
#   linear_5 => view_25
#   mul_14 => mul_16
#   silu => add_6, div_4, exp_1, neg
# Graph fragment:
#   %mm_4 : Tensor "f32[16, 88][88, 1]cpu" = PlaceHolder[target=mm_4]
#   %mm_5 : Tensor "f32[16, 88][88, 1]cpu" = PlaceHolder[target=mm_5]
#   %view_23 : Tensor "f32[1, 16, 88][1408, 88, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_4, [1, 16, 88]), kwargs = {})
#   %neg : Tensor "f32[1, 16, 88][1408, 88, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%view_23,), kwargs = {})
#   %exp_1 : Tensor "f32[1, 16, 88][1408, 88, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.exp.default](args = (%neg,), kwargs = {})
#   %add_6 : Tensor "f32[1, 16, 88][1408, 88, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%exp_1, 1), kwargs = {})
#   %div_4 : Tensor "f32[1, 16, 88][1408, 88, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.div.Tensor](args = (%view_23, %add_6), kwargs = {})
#   %view_25 : Tensor "f32[1, 16, 88][1408, 88, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_5, [1, 16, 88]), kwargs = {})
#   %mul_16 : Tensor "f32[1, 16, 88][1408, 88, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%div_4, %view_25), kwargs = {})
#   return %mul_16
triton_poi_fused__unsafe_view_mul_silu_8 = async_compile.triton('triton_poi_fused__unsafe_view_mul_silu_8', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 2048}, 
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__unsafe_view_mul_silu_8', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 2, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 22528}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__unsafe_view_mul_silu_8(in_out_ptr0, in_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 1408
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (x0), xmask)
    tmp6 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = -tmp0
    tmp2 = libdevice.exp(tmp1)
    tmp3 = tl.full([1], 1.0, tl.float32)
    tmp4 = tmp2 + tmp3
    tmp5 = (tmp0 / tmp4)
    tmp7 = tmp5 * tmp6
    tl.store(in_out_ptr0 + (x0), tmp7, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpb1c3il5k/gb/cgbhiifmhxiu4tb7u4cuvvnzv44eaaodenzadigcbxibwhioisww.py
# Topologically Sorted Source Nodes: [linear_3, x, linear_6, add_6], Original ATen: [aten._unsafe_view, aten.add]
# Source node to ATen node mapping:
#   add_6 => add_7
#   linear_3 => view_21
#   linear_6 => view_27
#   x => add_4
# Graph fragment:
#   %arg0_1 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu" = PlaceHolder[target=arg0_1]
#   %mm_3 : Tensor "f32[16, 64][64, 1]cpu" = PlaceHolder[target=mm_3]
#   %mm_6 : Tensor "f32[16, 64][64, 1]cpu" = PlaceHolder[target=mm_6]
#   %view_21 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_3, [1, 16, 64]), kwargs = {})
#   %add_4 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=3] = call_function[target=torch.ops.aten.add.Tensor](args = (%arg0_1, %view_21), kwargs = {})
#   %view_27 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%mm_6, [1, 16, 64]), kwargs = {})
#   %add_7 : Tensor "f32[1, 16, 64][1024, 64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%add_4, %view_27), kwargs = {})
#   return %add_7
triton_poi_fused__unsafe_view_add_9 = async_compile.triton('triton_poi_fused__unsafe_view_add_9', '''
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
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__unsafe_view_add_9', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 3, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 20480}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__unsafe_view_add_9(in_out_ptr0, in_ptr0, in_ptr1, xnumel, XBLOCK : tl.constexpr):
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
        arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1, arg7_1, arg8_1, arg9_1 = args
        args.clear()
        assert_size_stride_grouped((arg0_1, arg1_1), ((1, 16, 64), (64, )), ((1024, 64, 1), (1, )), 'input')
        buf1 = empty_strided_cpu((1, 16, 64), (1024, 64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [pow_1, mean, add, rsqrt, mul, y], Original ATen: [aten.pow, aten.mean, aten.add, aten.rsqrt, aten.mul]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused_add_mean_mul_pow_rsqrt_0.run(arg0_1, arg1_1, buf1, 16, 64, stream=raw_streamNone)
        del arg1_1
        assert_size_stride(arg2_1, (64, 64), (64, 1), 'input')
        buf2 = empty_strided_cpu((16, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [pow_1, mean, add, rsqrt, mul, y, linear], Original ATen: [aten.pow, aten.mean, aten.add, aten.rsqrt, aten.mul, aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf1, (16, 64), (64, 1), 0), reinterpret_tensor(arg2_1, (64, 64), (1, 64), 0), out=buf2)
        del arg2_1
        buf5 = empty_strided_cpu((1, 4, 16, 8, 2), (1024, 256, 16, 2, 1), torch.float32)
        buf3 = reinterpret_tensor(buf5, (1, 4, 16, 8, 1), (1024, 256, 16, 2, 1), 0)  # alias
        buf4 = reinterpret_tensor(buf5, (1, 4, 16, 8, 1), (1024, 256, 16, 2, 1), 1)  # alias
        # Topologically Sorted Source Nodes: [linear, view, transpose, a, arange, getitem, arange_1, truediv, pow_2, truediv_1, angle, cos, mul_3, b, sin, mul_4, sub, stack, sin_1, mul_5, cos_1, mul_6, add_1], Original ATen: [aten._unsafe_view, aten.view, aten.transpose, aten.slice, aten.arange, aten.unsqueeze, aten.div, aten.pow, aten.mul, aten.cos, aten.sin, aten.sub, aten.stack, aten.add]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_1.run(buf2, buf3, buf4, 512, stream=raw_streamNone)
        assert_size_stride(arg3_1, (32, 64), (64, 1), 'input')
        del buf3
        del buf4
        buf6 = empty_strided_cpu((16, 32), (32, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear_1], Original ATen: [aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf1, (16, 64), (64, 1), 0), reinterpret_tensor(arg3_1, (64, 32), (1, 64), 0), out=buf6)
        del arg3_1
        buf9 = empty_strided_cpu((1, 2, 16, 8, 2), (512, 256, 16, 2, 1), torch.float32)
        buf7 = reinterpret_tensor(buf9, (1, 2, 16, 8, 1), (512, 256, 16, 2, 1), 0)  # alias
        buf8 = reinterpret_tensor(buf9, (1, 2, 16, 8, 1), (512, 256, 16, 2, 1), 1)  # alias
        # Topologically Sorted Source Nodes: [linear_1, view_1, transpose_1, a_1, arange_2, getitem_3, arange_3, truediv_2, pow_3, truediv_3, angle_1, cos_2, mul_8, b_1, sin_2, mul_9, sub_1, stack_1, sin_3, mul_10, cos_3, mul_11, add_2], Original ATen: [aten._unsafe_view, aten.view, aten.transpose, aten.slice, aten.arange, aten.unsqueeze, aten.div, aten.pow, aten.mul, aten.cos, aten.sin, aten.sub, aten.stack, aten.add]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__unsafe_view_add_arange_cos_div_mul_pow_sin_slice_stack_sub_transpose_unsqueeze_view_2.run(buf6, buf7, buf8, 256, stream=raw_streamNone)
        assert_size_stride(arg4_1, (32, 64), (64, 1), 'input')
        del buf7
        del buf8
        buf10 = buf6; del buf6  # reuse
        # Topologically Sorted Source Nodes: [linear_2], Original ATen: [aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf1, (16, 64), (64, 1), 0), reinterpret_tensor(arg4_1, (64, 32), (1, 64), 0), out=buf10)
        del arg4_1
        buf11 = reinterpret_tensor(buf1, (1, 4, 16, 16), (1024, 256, 16, 1), 0); del buf1  # reuse
        # Topologically Sorted Source Nodes: [q, k, k_1, linear_2, view_2, v, v_1, hidden, full], Original ATen: [aten.view, aten.unsqueeze, aten.expand, aten.clone, aten._unsafe_view, aten.transpose, aten.triu, aten.full, aten._scaled_dot_product_flash_attention_for_cpu]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_3.run(buf9, buf11, 1024, stream=raw_streamNone)
        del buf9
        buf12 = reinterpret_tensor(buf2, (1, 4, 16, 16), (1024, 256, 16, 1), 0); del buf2  # reuse
        # Topologically Sorted Source Nodes: [q, k, k_1, linear_2, view_2, v, v_1, hidden, full], Original ATen: [aten.view, aten.unsqueeze, aten.expand, aten.clone, aten._unsafe_view, aten.transpose, aten.triu, aten.full, aten._scaled_dot_product_flash_attention_for_cpu]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_4.run(buf10, buf12, 1024, stream=raw_streamNone)
        del buf10
        buf13 = empty_strided_cpu((16, 16), (16, 1), torch.float32)
        # Topologically Sorted Source Nodes: [q, k, k_1, linear_2, view_2, v, v_1, hidden, full], Original ATen: [aten.view, aten.unsqueeze, aten.expand, aten.clone, aten._unsafe_view, aten.transpose, aten.triu, aten.full, aten._scaled_dot_product_flash_attention_for_cpu]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__scaled_dot_product_flash_attention_for_cpu__unsafe_view_clone_expand_full_transpose_triu_unsqueeze_view_5.run(buf13, 256, stream=raw_streamNone)
        # Topologically Sorted Source Nodes: [q, k, k_1, linear_2, view_2, v, v_1, hidden, full], Original ATen: [aten.view, aten.unsqueeze, aten.expand, aten.clone, aten._unsafe_view, aten.transpose, aten.triu, aten.full, aten._scaled_dot_product_flash_attention_for_cpu]
        buf14 = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(reinterpret_tensor(buf5, (1, 4, 16, 16), (1024, 256, 16, 1), 0), buf11, buf12, attn_mask=buf13, scale=0.25)
        del buf11
        del buf12
        del buf13
        buf15 = buf14[0]
        assert_tensor_metadata(buf15, (1, 4, 16, 16), (1024, 256, 16, 1), torch.float32, 'torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default')
        assert_alignment(buf15, 16, 'torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default')
        del buf14
        buf17 = reinterpret_tensor(buf5, (1, 16, 4, 16), (1024, 64, 16, 1), 0); del buf5  # reuse
        # Topologically Sorted Source Nodes: [transpose_4, reshape], Original ATen: [aten.transpose, aten.clone]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_clone_transpose_6.run(buf15, buf17, 1024, stream=raw_streamNone)
        assert_size_stride(arg5_1, (64, 64), (64, 1), 'input')
        buf18 = reinterpret_tensor(buf15, (16, 64), (64, 1), 0); del buf15  # reuse
        # Topologically Sorted Source Nodes: [transpose_4, reshape, linear_3], Original ATen: [aten.transpose, aten.clone, aten._unsafe_view, aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf17, (16, 64), (64, 1), 0), reinterpret_tensor(arg5_1, (64, 64), (1, 64), 0), out=buf18)
        del arg5_1
        assert_size_stride(arg6_1, (64, ), (1, ), 'input')
        buf20 = reinterpret_tensor(buf17, (1, 16, 64), (1024, 64, 1), 0); del buf17  # reuse
        # Topologically Sorted Source Nodes: [linear_3, x, pow_4, mean_1, add_5, rsqrt_1, mul_12, y_1], Original ATen: [aten._unsafe_view, aten.add, aten.pow, aten.mean, aten.rsqrt, aten.mul]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused__unsafe_view_add_mean_mul_pow_rsqrt_7.run(arg0_1, buf18, arg6_1, buf20, 16, 64, stream=raw_streamNone)
        del arg6_1
        assert_size_stride(arg7_1, (88, 64), (64, 1), 'input')
        buf21 = empty_strided_cpu((16, 88), (88, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear_3, x, pow_4, mean_1, add_5, rsqrt_1, mul_12, y_1, linear_4], Original ATen: [aten._unsafe_view, aten.add, aten.pow, aten.mean, aten.rsqrt, aten.mul, aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf20, (16, 64), (64, 1), 0), reinterpret_tensor(arg7_1, (64, 88), (1, 64), 0), out=buf21)
        del arg7_1
        assert_size_stride(arg8_1, (88, 64), (64, 1), 'input')
        buf22 = empty_strided_cpu((16, 88), (88, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear_5], Original ATen: [aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf20, (16, 64), (64, 1), 0), reinterpret_tensor(arg8_1, (64, 88), (1, 64), 0), out=buf22)
        del arg8_1
        del buf20
        buf23 = reinterpret_tensor(buf21, (1, 16, 88), (1408, 88, 1), 0); del buf21  # reuse
        # Topologically Sorted Source Nodes: [linear_4, silu, linear_5, mul_14], Original ATen: [aten._unsafe_view, aten.silu, aten.mul]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__unsafe_view_mul_silu_8.run(buf23, buf22, 1408, stream=raw_streamNone)
        del buf22
        assert_size_stride(arg9_1, (64, 88), (88, 1), 'input')
        buf24 = empty_strided_cpu((16, 64), (64, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear_4, silu, linear_5, mul_14, linear_6], Original ATen: [aten._unsafe_view, aten.silu, aten.mul, aten.view, aten.t, aten.mm]
        extern_kernels.mm(reinterpret_tensor(buf23, (16, 88), (88, 1), 0), reinterpret_tensor(arg9_1, (88, 64), (1, 88), 0), out=buf24)
        del arg9_1
        del buf23
        buf25 = reinterpret_tensor(buf18, (1, 16, 64), (1024, 64, 1), 0); del buf18  # reuse
        # Topologically Sorted Source Nodes: [linear_3, x, linear_6, add_6], Original ATen: [aten._unsafe_view, aten.add]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__unsafe_view_add_9.run(buf25, arg0_1, buf24, 1024, stream=raw_streamNone)
        del arg0_1
        return (buf25, )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((1, 16, 64), (1024, 64, 1), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    arg2_1 = rand_strided((64, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg3_1 = rand_strided((32, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg4_1 = rand_strided((32, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg5_1 = rand_strided((64, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg6_1 = rand_strided((64, ), (1, ), device='cpu', dtype=torch.float32)
    arg7_1 = rand_strided((88, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg8_1 = rand_strided((88, 64), (64, 1), device='cpu', dtype=torch.float32)
    arg9_1 = rand_strided((64, 88), (88, 1), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1, arg6_1, arg7_1, arg8_1, arg9_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
