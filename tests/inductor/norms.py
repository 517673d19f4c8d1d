# Written by Inductor of PyTorch 2.15.0+cu132; tools/torch_outputs.py has the model.
# AOT ID: ['3_inference']
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


# kernel path: /tmp/torchinductor_root/tmpik3c5ozc/fy/cfyafu7k4cbujcnjcmk3ppgep2qjehzxnyydjaprppo7h5uxvrcf.py
# Topologically Sorted Source Nodes: [y], Original ATen: [aten.native_group_norm]
# Source node to ATen node mapping:
#   y => var_mean, view
# Graph fragment:
#   %arg2_1 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu" = PlaceHolder[target=arg2_1]
#   %buf0 : Tensor "f32[2, 4, 1, 1][4, 1, 8, 8]cpu" = PlaceHolder[target=buf0]
#   %getitem_1 : Tensor "f32[2, 4, 1, 1][4, 1, 8, 8]cpu" = PlaceHolder[target=getitem_1]
#   %view : Tensor "f32[2, 4, 4, 100][1600, 400, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%arg2_1, [2, 4, 4, 100]), kwargs = {})
#   %var_mean : [num_users=2] = call_function[target=torch.ops.aten.var_mean.correction](args = (%view, [2, 3]), kwargs = {correction: 0, keepdim: True})
#   return %buf0,%getitem_1,%buf2
triton_per_fused_native_group_norm_0 = async_compile.triton('triton_per_fused_native_group_norm_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 8, 'r0_': 512},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused_native_group_norm_0', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 1, 'num_store': 2, 'num_reduction': 2, 'autotune_hints': (), 'tiling_scores': {'x': 128, 'r0_': 12800}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused_native_group_norm_0(in_out_ptr0, in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 8
    r0_numel = 400
    R0_BLOCK: tl.constexpr = 512
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
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 400*x0), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(r0_mask & xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tmp5 = tl.full([1, 1], 400.0, tl.float32)
    tmp6 = (tmp4 / tmp5)
    tmp7 = tmp0 - tmp6
    tmp8 = tmp7 * tmp7
    tmp9 = tl.broadcast_to(tmp8, [XBLOCK, R0_BLOCK])
    tmp11 = tl.where(r0_mask & xmask, tmp9, 0)
    tmp12 = tl.sum(tmp11, 1)[:, None].to(tl.float32)
    tl.store(in_out_ptr0 + (x0), tmp6, xmask)
    tl.store(out_ptr0 + (x0), tmp12, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpik3c5ozc/si/csir7ijybqyrpwg4a3wn424fzvzzbjbxbxda3yrkvkcad7zg3tvl.py
# Topologically Sorted Source Nodes: [y, instance_norm, softmax, var, argmax, logsumexp], Original ATen: [aten.native_group_norm, aten.view, aten._native_batch_norm_legit, aten.repeat, aten._softmax, aten.var, aten.argmax, aten.logsumexp]
# Source node to ATen node mapping:
#   argmax => argmax
#   instance_norm => add_3, add_4, mul_3, mul_4, repeat, repeat_1, rsqrt_1, sub, unsqueeze_2, unsqueeze_3, var_mean_1, view_3, view_4
#   logsumexp => abs_1, add_5, amax_1, eq, exp_1, full_default, log, squeeze_4, sub_2, sum_2, where
#   softmax => amax, div, exp, sub_1, sum_1
#   var => var
#   y => add, add_1, add_2, as_strided, as_strided_1, mul, mul_1, mul_2, neg, rsqrt, unsqueeze, unsqueeze_1, var_mean, view, view_1, view_2
# Graph fragment:
#   %buf2 : Tensor "f32[2, 4, 1, 1][4, 1, 8, 8]cpu" = PlaceHolder[target=buf2]
#   %arg0_1 : Tensor "f32[16][1]cpu" = PlaceHolder[target=arg0_1]
#   %getitem_1 : Tensor "f32[2, 4, 1, 1][4, 1, 8, 8]cpu" = PlaceHolder[target=getitem_1]
#   %mul : Tensor "f32[2, 4, 4, 1][16, 4, 1, 1]cpu" = PlaceHolder[target=mul]
#   %arg1_1 : Tensor "f32[16][1]cpu" = PlaceHolder[target=arg1_1]
#   %arg2_1 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu" = PlaceHolder[target=arg2_1]
#   %add_1 : Tensor "f32[2, 4, 4, 1][16, 4, 1, 1]cpu" = PlaceHolder[target=add_1]
#   %buf5 : Tensor "f32[1, 32, 1][32, 1, 32]cpu" = PlaceHolder[target=buf5]
#   %getitem_3 : Tensor "f32[1, 32, 1][32, 1, 32]cpu" = PlaceHolder[target=getitem_3]
#   %buf13 : Tensor "f32[2, 16, 1][16, 1, 32]cpu" = PlaceHolder[target=buf13]
#   %amax_1 : Tensor "f32[2, 16, 1][16, 1, 32]cpu" = PlaceHolder[target=amax_1]
#   %buf7 : Tensor "f32[1, 32, 1][32, 1, 32]cpu" = PlaceHolder[target=buf7]
#   %arg3_1 : Tensor "f32[16][1]cpu" = PlaceHolder[target=arg3_1]
#   %arg4_1 : Tensor "f32[16][1]cpu" = PlaceHolder[target=arg4_1]
#   %add_4 : Tensor "f32[1, 32, 100][3200, 100, 1]cpu" = PlaceHolder[target=add_4]
#   %amax : Tensor "f32[2, 16, 1][16, 1, 32]cpu" = PlaceHolder[target=amax]
#   %exp : Tensor "f32[2, 16, 100][1600, 100, 1]cpu" = PlaceHolder[target=exp]
#   %sum_1 : Tensor "f32[2, 16, 1][16, 1, 32]cpu" = PlaceHolder[target=sum_1]
#   %sum_2 : Tensor "f32[2, 16][16, 1]cpu" = PlaceHolder[target=sum_2]
#   %buf14 : Tensor "f32[2, 16][16, 1]cpu" = PlaceHolder[target=buf14]
#   %view : Tensor "f32[2, 4, 4, 100][1600, 400, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%arg2_1, [2, 4, 4, 100]), kwargs = {})
#   %var_mean : [num_users=2] = call_function[target=torch.ops.aten.var_mean.correction](args = (%view, [2, 3]), kwargs = {correction: 0, keepdim: True})
#   %add : Tensor "f32[2, 4, 1, 1][4, 1, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%getitem, 1e-05), kwargs = {})
#   %rsqrt : Tensor "f32[2, 4, 1, 1][4, 1, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.rsqrt.default](args = (%add,), kwargs = {})
#   %view_1 : Tensor "f32[1, 4, 4, 1][16, 4, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%arg0_1, [1, 4, 4, 1]), kwargs = {})
#   %mul : Tensor "f32[2, 4, 4, 1][16, 4, 1, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.mul.Tensor](args = (%rsqrt, %view_1), kwargs = {})
#   %as_strided : Tensor "f32[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.as_strided.default](args = (%mul, [2, 16], [16, 1]), kwargs = {})
#   %unsqueeze : Tensor "f32[2, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%as_strided, 2), kwargs = {})
#   %mul_2 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%arg2_1, %unsqueeze), kwargs = {})
#   %neg : Tensor "f32[2, 4, 1, 1][4, 1, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.neg.default](args = (%getitem_1,), kwargs = {})
#   %mul_1 : Tensor "f32[2, 4, 4, 1][16, 4, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%neg, %mul), kwargs = {})
#   %view_2 : Tensor "f32[1, 4, 4, 1][16, 4, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%arg1_1, [1, 4, 4, 1]), kwargs = {})
#   %add_1 : Tensor "f32[2, 4, 4, 1][16, 4, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_1, %view_2), kwargs = {})
#   %as_strided_1 : Tensor "f32[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.as_strided.default](args = (%add_1, [2, 16], [16, 1]), kwargs = {})
#   %unsqueeze_1 : Tensor "f32[2, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%as_strided_1, 2), kwargs = {})
#   %add_2 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=5] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_2, %unsqueeze_1), kwargs = {})
#   %view_3 : Tensor "f32[1, 32, 100][3200, 100, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.reshape.default](args = (%add_2, [1, 32, 100]), kwargs = {})
#   %var_mean_1 : [num_users=2] = call_function[target=torch.ops.aten.var_mean.correction](args = (%view_3, [0, 2]), kwargs = {correction: 0, keepdim: True})
#   %sub : Tensor "f32[1, 32, 100][3200, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%view_3, %getitem_3), kwargs = {})
#   %add_3 : Tensor "f32[1, 32, 1][32, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%getitem_2, 1e-05), kwargs = {})
#   %rsqrt_1 : Tensor "f32[1, 32, 1][32, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.rsqrt.default](args = (%add_3,), kwargs = {})
#   %mul_3 : Tensor "f32[1, 32, 100][3200, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%sub, %rsqrt_1), kwargs = {})
#   %repeat : Tensor "f32[32][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.repeat.default](args = (%arg3_1, [2]), kwargs = {})
#   %unsqueeze_2 : Tensor "f32[32, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%repeat, -1), kwargs = {})
#   %mul_4 : Tensor "f32[1, 32, 100][3200, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%mul_3, %unsqueeze_2), kwargs = {})
#   %repeat_1 : Tensor "f32[32][1]cpu"[num_users=1] = call_function[target=torch.ops.aten.repeat.default](args = (%arg4_1, [2]), kwargs = {})
#   %unsqueeze_3 : Tensor "f32[32, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%repeat_1, -1), kwargs = {})
#   %add_4 : Tensor "f32[1, 32, 100][3200, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%mul_4, %unsqueeze_3), kwargs = {})
#   %view_4 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.reshape.default](args = (%add_4, [2, 16, 100]), kwargs = {})
#   %amax : Tensor "f32[2, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.amax.default](args = (%view_4, [-1], True), kwargs = {})
#   %sub_1 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%view_4, %amax), kwargs = {})
#   %exp : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.exp.default](args = (%sub_1,), kwargs = {})
#   %sum_1 : Tensor "f32[2, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%exp, [-1], True), kwargs = {})
#   %div : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.div.Tensor](args = (%exp, %sum_1), kwargs = {})
#   %var : Tensor "f32[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.var.correction](args = (%add_2, [-1]), kwargs = {correction: 1})
#   %argmax : Tensor "i64[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.argmax.default](args = (%add_2, -1), kwargs = {})
#   %amax_1 : Tensor "f32[2, 16, 1][16, 1, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.amax.default](args = (%add_2, [-1], True), kwargs = {})
#   %abs_1 : Tensor "f32[2, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.abs.default](args = (%amax_1,), kwargs = {})
#   %eq : Tensor "b8[2, 16, 1][16, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.eq.Scalar](args = (%abs_1, inf), kwargs = {})
#   %full_default : Tensor "f32[][]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([], 0.0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %where : Tensor "f32[2, 16, 1][16, 1, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.where.self](args = (%eq, %full_default, %amax_1), kwargs = {})
#   %sub_2 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%add_2, %where), kwargs = {})
#   %exp_1 : Tensor "f32[2, 16, 100][1600, 100, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.exp.default](args = (%sub_2,), kwargs = {})
#   %sum_2 : Tensor "f32[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%exp_1, [-1]), kwargs = {})
#   %log : Tensor "f32[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.log.default](args = (%sum_2,), kwargs = {})
#   %squeeze_4 : Tensor "f32[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.squeeze.dims](args = (%where, [-1]), kwargs = {})
#   %add_5 : Tensor "f32[2, 16][16, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%log, %squeeze_4), kwargs = {})
#   return %mul,%add_1,%buf5,%getitem_3,%buf7,%buf13,%buf14,%argmax,%amax_1,%sum_2,%add_4,%amax,%exp,%sum_1,%div,%add_5,%var
triton_per_fused__native_batch_norm_legit__softmax_argmax_logsumexp_native_group_norm_repeat_var_view_1 = async_compile.triton('triton_per_fused__native_batch_norm_legit__softmax_argmax_logsumexp_native_group_norm_repeat_var_view_1', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.persistent_reduction(
    size_hints={'x': 32, 'r0_': 128},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr1': '*fp32', 'in_out_ptr2': '*fp32', 'in_out_ptr3': '*fp32', 'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'in_ptr2': '*fp32', 'in_ptr3': '*fp32', 'in_ptr4': '*fp32', 'in_ptr5': '*fp32', 'in_ptr6': '*fp32', 'out_ptr3': '*i64', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]], (5,): [['tt.divisibility', 16]], (10,): [['tt.divisibility', 16]], (11,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused__native_batch_norm_legit__softmax_argmax_logsumexp_native_group_norm_repeat_var_view_1', 'mutated_arg_names': ['in_out_ptr1', 'in_out_ptr2', 'in_out_ptr3'], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 7, 'num_store': 4, 'num_reduction': 9, 'autotune_hints': (), 'tiling_scores': {'x': 1152, 'r0_': 38400}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused__native_batch_norm_legit__softmax_argmax_logsumexp_native_group_norm_repeat_var_view_1(in_out_ptr1, in_out_ptr2, in_out_ptr3, in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, out_ptr3, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 32
    r0_numel = 100
    R0_BLOCK: tl.constexpr = 128
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
    x5 = xindex // 4
    x6 = (xindex % 16)
    x3 = xindex
    r0_4 = r0_index
    tmp0 = tl.load(in_ptr0 + (x5), xmask, eviction_policy='evict_last')
    tmp6 = tl.load(in_ptr1 + (x6), xmask, eviction_policy='evict_last')
    tmp8 = tl.load(in_ptr2 + (x5), xmask, eviction_policy='evict_last')
    tmp11 = tl.load(in_ptr3 + (x6), xmask, eviction_policy='evict_last')
    tmp13 = tl.load(in_ptr4 + (r0_4 + 100*x3), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
    tmp48 = tl.load(in_ptr5 + ((x3 % 16)), xmask, eviction_policy='evict_last')
    tmp50 = tl.load(in_ptr6 + ((x3 % 16)), xmask, eviction_policy='evict_last')
    tmp1 = tl.full([1, 1], 400.0, tl.float32)
    tmp2 = (tmp0 / tmp1)
    tmp3 = tl.full([1, 1], 1e-05, tl.float32)
    tmp4 = tmp2 + tmp3
    tmp5 = libdevice.rsqrt(tmp4)
    tmp7 = tmp5 * tmp6
    tmp9 = -tmp8
    tmp10 = tmp9 * tmp7
    tmp12 = tmp10 + tmp11
    tmp14 = tmp13 * tmp7
    tmp15 = tmp14 + tmp12
    tmp16 = tl.broadcast_to(tmp15, [XBLOCK, R0_BLOCK])
    tmp18 = tl.where(r0_mask & xmask, tmp16, 0)
    tmp19 = tl.sum(tmp18, 1)[:, None].to(tl.float32)
    tmp20 = tl.full([1, 1], 100.0, tl.float32)
    tmp21 = (tmp19 / tmp20)
    tmp22 = tmp15 - tmp21
    tmp23 = tmp22 * tmp22
    tmp24 = tl.broadcast_to(tmp23, [XBLOCK, R0_BLOCK])
    tmp26 = tl.where(r0_mask & xmask, tmp24, 0)
    tmp27 = tl.sum(tmp26, 1)[:, None].to(tl.float32)
    tmp29 = tl.where(r0_mask & xmask, tmp16, float("-inf"))
    tmp30 = tl.broadcast_to(rindex, tmp29.shape)
    tmp28_val, tmp28_idx = triton_helpers.max_with_index(tmp29, tmp30, 1)
    tmp28 = tmp28_idx[:, None]
    tmp32 = triton_helpers.max2(tmp29, 1)[:, None].to(tl.float32)
    tmp33 = tl_math.abs(tmp32)
    tmp34 = tl.full([1, 1], float("inf"), tl.float32)
    tmp35 = tmp33 == tmp34
    tmp36 = tl.full([1, 1], 0.0, tl.float32)
    tmp37 = tl.where(tmp35, tmp36, tmp32)
    tmp38 = tmp15 - tmp37
    tmp39 = libdevice.exp(tmp38)
    tmp40 = tl.broadcast_to(tmp39, [XBLOCK, R0_BLOCK])
    tmp42 = tl.where(r0_mask & xmask, tmp40, 0)
    tmp43 = tl.sum(tmp42, 1)[:, None].to(tl.float32)
    tmp44 = (tmp27 / tmp20)
    tmp45 = tmp44 + tmp3
    tmp46 = libdevice.rsqrt(tmp45)
    tmp47 = tmp22 * tmp46
    tmp49 = tmp47 * tmp48
    tmp51 = tmp49 + tmp50
    tmp52 = tl.broadcast_to(tmp51, [XBLOCK, R0_BLOCK])
    tmp54 = tl.where(r0_mask & xmask, tmp52, float("-inf"))
    tmp55 = triton_helpers.max2(tmp54, 1)[:, None].to(tl.float32)
    tmp56 = tmp51 - tmp55
    tmp57 = libdevice.exp(tmp56)
    tmp58 = tl.broadcast_to(tmp57, [XBLOCK, R0_BLOCK])
    tmp60 = tl.where(r0_mask & xmask, tmp58, 0)
    tmp61 = tl.sum(tmp60, 1)[:, None].to(tl.float32)
    tmp62 = (tmp57 / tmp61)
    tmp63 = tl_math.log(tmp43)
    tmp64 = tmp63 + tmp37
    tmp65 = tl.full([1, 1], 99.0, tl.float32)
    tmp66 = (tmp27 / tmp65)
    tl.store(in_out_ptr2 + (r0_4 + 100*x3), tmp62, r0_mask & xmask)
    tl.store(in_out_ptr3 + (x3), tmp64, xmask)
    tl.store(in_out_ptr1 + (x3), tmp66, xmask)
    tl.store(out_ptr3 + (x3), tmp28, xmask)
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
        arg0_1, arg1_1, arg2_1, arg3_1, arg4_1 = args
        args.clear()
        assert_size_stride(arg2_1, (2, 16, 100), (1600, 100, 1), 'input')
        buf0 = empty_strided_cpu((2, 4, 1, 1), (4, 1, 8, 8), torch.float32)
        buf1 = buf0; del buf0  # reuse
        buf2 = empty_strided_cpu((2, 4, 1, 1), (4, 1, 8, 8), torch.float32)
        # Topologically Sorted Source Nodes: [y], Original ATen: [aten.native_group_norm]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused_native_group_norm_0.run(buf1, arg2_1, buf2, 8, 400, stream=raw_streamNone)
        assert_size_stride_grouped((arg0_1, arg1_1, arg3_1, arg4_1), ((16, ), (16, ), (16, ), (16, )), ((1, ), (1, ), (1, ), (1, )), 'input')
        buf13 = empty_strided_cpu((2, 16, 1), (16, 1, 32), torch.float32)
        buf14 = reinterpret_tensor(buf13, (2, 16), (16, 1), 0); del buf13  # reuse
        buf16 = empty_strided_cpu((2, 16), (16, 1), torch.int64)
        buf18 = empty_strided_cpu((2, 16), (16, 1), torch.float32)
        buf8 = empty_strided_cpu((1, 32, 100), (3200, 100, 1), torch.float32)
        buf10 = reinterpret_tensor(buf8, (2, 16, 100), (1600, 100, 1), 0); del buf8  # reuse
        buf12 = buf10; del buf10  # reuse
        buf19 = buf18; del buf18  # reuse
        buf15 = buf14; del buf14  # reuse
        # Topologically Sorted Source Nodes: [y, instance_norm, softmax, var, argmax, logsumexp], Original ATen: [aten.native_group_norm, aten.view, aten._native_batch_norm_legit, aten.repeat, aten._softmax, aten.var, aten.argmax, aten.logsumexp]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused__native_batch_norm_legit__softmax_argmax_logsumexp_native_group_norm_repeat_var_view_1.run(buf15, buf12, buf19, buf2, arg0_1, buf1, arg1_1, arg2_1, arg3_1, arg4_1, buf16, 32, 100, stream=raw_streamNone)
        del arg0_1
        del arg1_1
        del arg2_1
        del arg3_1
        del arg4_1
        return (buf12, buf15, buf16, buf19, )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((16, ), (1, ), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((16, ), (1, ), device='cpu', dtype=torch.float32)
    arg2_1 = rand_strided((2, 16, 100), (1600, 100, 1), device='cpu', dtype=torch.float32)
    arg3_1 = rand_strided((16, ), (1, ), device='cpu', dtype=torch.float32)
    arg4_1 = rand_strided((16, ), (1, ), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1, arg2_1, arg3_1, arg4_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
