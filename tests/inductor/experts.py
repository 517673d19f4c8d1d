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


# kernel path: /tmp/torchinductor_root/tmpie6wny1c/4z/c4zbhfodyrfbesdsvsegkhgds4p4btigc2m75uwqokfvcvynueus.py
# Topologically Sorted Source Nodes: [softmax], Original ATen: [aten._softmax]
# Source node to ATen node mapping:
#   softmax => amax, exp, sub
# Graph fragment:
#   %addmm : Tensor "f32[20, 4][4, 1]cpu" = PlaceHolder[target=addmm]
#   %amax : Tensor "f32[20, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.amax.default](args = (%addmm, [-1], True), kwargs = {})
#   %sub : Tensor "f32[20, 4][4, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sub.Tensor](args = (%addmm, %amax), kwargs = {})
#   %exp : Tensor "f32[20, 4][4, 1]cpu"[num_users=2] = call_function[target=torch.ops.aten.exp.default](args = (%sub,), kwargs = {})
#   return %exp
triton_poi_fused__softmax_0 = async_compile.triton('triton_poi_fused__softmax_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 128}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__softmax_0', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 5, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 960}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__softmax_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 80
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x1 = xindex // 4
    tmp0 = tl.load(in_ptr0 + (x2), xmask)
    tmp1 = tl.load(in_ptr0 + (4*x1), xmask, eviction_policy='evict_last')
    tmp2 = tl.load(in_ptr0 + (1 + 4*x1), xmask, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr0 + (2 + 4*x1), xmask, eviction_policy='evict_last')
    tmp6 = tl.load(in_ptr0 + (3 + 4*x1), xmask, eviction_policy='evict_last')
    tmp3 = tl.maximum(tmp1, tmp2, tl.PropagateNan.ALL)
    tmp5 = tl.maximum(tmp3, tmp4, tl.PropagateNan.ALL)
    tmp7 = tl.maximum(tmp5, tmp6, tl.PropagateNan.ALL)
    tmp8 = tmp0 - tmp7
    tmp9 = libdevice.exp(tmp8)
    tl.store(out_ptr0 + (x2), tmp9, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpie6wny1c/bf/cbfqcas2jnnvsuascbqkm5wj2buuyz2ch6unq22bfjtgtprf32pe.py
# Topologically Sorted Source Nodes: [softmax], Original ATen: [aten._softmax]
# Source node to ATen node mapping:
#   softmax => div, sum_1
# Graph fragment:
#   %exp : Tensor "f32[20, 4][4, 1]cpu" = PlaceHolder[target=exp]
#   %sum_1 : Tensor "f32[20, 1][1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%exp, [-1], True), kwargs = {})
#   %div : Tensor "f32[20, 4][4, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.div.Tensor](args = (%exp, %sum_1), kwargs = {})
#   return %div
triton_poi_fused__softmax_1 = async_compile.triton('triton_poi_fused__softmax_1', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 128}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused__softmax_1', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 5, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 960}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused__softmax_1(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 80
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x1 = xindex // 4
    tmp0 = tl.load(in_ptr0 + (x2), xmask)
    tmp1 = tl.load(in_ptr0 + (4*x1), xmask, eviction_policy='evict_last')
    tmp2 = tl.load(in_ptr0 + (1 + 4*x1), xmask, eviction_policy='evict_last')
    tmp4 = tl.load(in_ptr0 + (2 + 4*x1), xmask, eviction_policy='evict_last')
    tmp6 = tl.load(in_ptr0 + (3 + 4*x1), xmask, eviction_policy='evict_last')
    tmp3 = tmp1 + tmp2
    tmp5 = tmp3 + tmp4
    tmp7 = tmp5 + tmp6
    tmp8 = (tmp0 / tmp7)
    tl.store(out_ptr0 + (x2), tmp8, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpie6wny1c/3t/c3tzsk4raly5zck4zjk6bulmhavhpgjtbfdu5c23tbdjw5idmcmw.py
# Topologically Sorted Source Nodes: [zeros, scatter_add_], Original ATen: [aten.zeros, aten.scatter_add]
# Source node to ATen node mapping:
#   scatter_add_ => scatter_add
#   zeros => full_default
# Graph fragment:
#   %full_default : Tensor "f32[20, 4][4, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([20, 4], 0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %scatter_add : Tensor "f32[20, 4][4, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.scatter_add.default](args = (%full_default, 1, %getitem_1, %getitem), kwargs = {})
#   return %scatter_add
triton_poi_fused_scatter_add_zeros_2 = async_compile.triton('triton_poi_fused_scatter_add_zeros_2', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 128}, 
    filename=__file__,
    triton_meta={'signature': {'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_scatter_add_zeros_2', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 0, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 640}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_scatter_add_zeros_2(out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 80
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.full([1], 0.0, tl.float32)
    tl.store(out_ptr0 + (x0), tmp0, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpie6wny1c/ss/cssvyyivini2pfzpvegkhghcrgr6nixoukpbcndqip46oi2gusje.py
# Topologically Sorted Source Nodes: [zeros, scatter_add_], Original ATen: [aten.zeros, aten.scatter_add]
# Source node to ATen node mapping:
#   scatter_add_ => scatter_add
#   zeros => full_default
# Graph fragment:
#   %getitem_1 : Tensor "i64[20, 2][2, 1]cpu" = PlaceHolder[target=getitem_1]
#   %getitem : Tensor "f32[20, 2][2, 1]cpu" = PlaceHolder[target=getitem]
#   %scatter_add : Tensor "f32[20, 4][4, 1]cpu" = PlaceHolder[target=scatter_add]
#   %full_default : Tensor "f32[20, 4][4, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.full.default](args = ([20, 4], 0), kwargs = {dtype: torch.float32, layout: torch.strided, device: cpu, pin_memory: False})
#   %scatter_add : Tensor "f32[20, 4][4, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.scatter_add.default](args = (%full_default, 1, %getitem_1, %getitem), kwargs = {})
#   return %buf11
triton_poi_fused_scatter_add_zeros_3 = async_compile.triton('triton_poi_fused_scatter_add_zeros_3', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 64}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*i64', 'in_ptr1': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_scatter_add_zeros_3', 'mutated_arg_names': ['out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': True, 'num_load': 2, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 480}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_scatter_add_zeros_3(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 40
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x1 = xindex // 2
    tmp0 = tl.load(in_ptr0 + (x2), xmask)
    tmp2 = tl.load(in_ptr1 + (x2), xmask)
    tl.device_assert(((0 <= tmp0) & (tmp0 < 4)) | ~(xmask), "index out of bounds: 0 <= tmp0 < 4")
    tl.atomic_add(out_ptr0 + (tmp0 + 4*x1), tmp2, xmask, sem='relaxed')
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpie6wny1c/yw/cywijn5es7ja4iawfibt5254xmo3xdkeqlqhphos4ug5iv557cis.py
# Topologically Sorted Source Nodes: [einsum], Original ATen: [aten.unsqueeze, aten.permute, aten.clone]
# Source node to ATen node mapping:
#   einsum => clone, permute_2, permute_4, unsqueeze_2
# Graph fragment:
#   %arg3_1 : Tensor "f32[4, 32, 48][1536, 48, 1]cpu" = PlaceHolder[target=arg3_1]
#   %unsqueeze_2 : Tensor "f32[4, 32, 48, 1][1536, 48, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%arg3_1, 3), kwargs = {})
#   %permute_2 : Tensor "f32[4, 1, 48, 32][1536, 1, 1, 48]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%unsqueeze_2, [0, 3, 2, 1]), kwargs = {})
#   %permute_4 : Tensor "f32[32, 4, 48, 1][48, 1536, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%permute_2, [3, 0, 2, 1]), kwargs = {})
#   %clone : Tensor "f32[32, 4, 48, 1][192, 48, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.clone.default](args = (%permute_4,), kwargs = {memory_format: torch.contiguous_format})
#   return %clone
triton_poi_fused_clone_permute_unsqueeze_4 = async_compile.triton('triton_poi_fused_clone_permute_unsqueeze_4', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 8192}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_clone_permute_unsqueeze_4', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 73728}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_clone_permute_unsqueeze_4(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 6144
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 48)
    x1 = ((xindex // 48) % 4)
    x2 = xindex // 192
    x3 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 48*x2 + 1536*x1), xmask)
    tl.store(out_ptr0 + (x3), tmp0, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpie6wny1c/e4/ce4dvnxbscxd5ajhjy766bfiqvawj54w6xd5vch6hayh5gpkqmds.py
# Topologically Sorted Source Nodes: [einsum, y], Original ATen: [aten.view, aten.permute, aten.relu]
# Source node to ATen node mapping:
#   einsum => permute_5, view_2, view_3
#   y => relu
# Graph fragment:
#   %bmm : Tensor "f32[1, 20, 192][3840, 192, 1]cpu" = PlaceHolder[target=bmm]
#   %view_2 : Tensor "f32[20, 1, 4, 48][192, 192, 48, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%bmm, [20, 1, 4, 48]), kwargs = {})
#   %permute_5 : Tensor "f32[4, 20, 48, 1][48, 192, 1, 192]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%view_2, [2, 0, 3, 1]), kwargs = {})
#   %view_3 : Tensor "f32[4, 20, 48][48, 192, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%permute_5, [4, 20, 48]), kwargs = {})
#   %relu : Tensor "f32[4, 20, 48][48, 192, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%view_3,), kwargs = {})
#   return %relu
triton_poi_fused_permute_relu_view_5 = async_compile.triton('triton_poi_fused_permute_relu_view_5', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 4096}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_permute_relu_view_5', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 1, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 46080}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_permute_relu_view_5(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 3840
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 48)
    x1 = ((xindex // 48) % 20)
    x2 = xindex // 960
    x3 = xindex
    tmp0 = tl.load(in_ptr0 + (x0 + 48*x2 + 192*x1), xmask)
    tmp1 = tl.full([1], 0, tl.int32)
    tmp2 = tl.maximum(tmp1, tmp0, tl.PropagateNan.ALL)
    tl.store(out_ptr0 + (x3), tmp2, xmask)
''', device_str='cpu')


# kernel path: /tmp/torchinductor_root/tmpie6wny1c/qa/cqa42ulyhnqi6z3m53hojhg5guqbdeqn3lufmhzonmarrezib4qd.py
# Topologically Sorted Source Nodes: [z, einsum_2], Original ATen: [aten.view, aten.permute, aten.unsqueeze, aten.bmm]
# Source node to ATen node mapping:
#   einsum_2 => bmm_2, permute_11, permute_13, unsqueeze_9
#   z => permute_10, view_6, view_7
# Graph fragment:
#   %bmm_1 : Tensor "f32[4, 20, 32][640, 32, 1]cpu" = PlaceHolder[target=bmm_1]
#   %buf11 : Tensor "f32[20, 4][4, 1]cpu" = PlaceHolder[target=buf11]
#   %view_6 : Tensor "f32[4, 20, 1, 32][640, 32, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%bmm_1, [4, 20, 1, 32]), kwargs = {})
#   %permute_10 : Tensor "f32[4, 20, 32, 1][640, 32, 1, 32]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%view_6, [0, 1, 3, 2]), kwargs = {})
#   %view_7 : Tensor "f32[4, 20, 32][640, 32, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.reshape.default](args = (%permute_10, [4, 20, 32]), kwargs = {})
#   %permute_11 : Tensor "f32[20, 32, 4][32, 1, 640]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%view_7, [1, 2, 0]), kwargs = {})
#   %permute_13 : Tensor "f32[20, 32, 4][32, 1, 640]cpu"[num_users=1] = call_function[target=torch.ops.aten.permute.default](args = (%permute_11, [0, 1, 2]), kwargs = {})
#   %unsqueeze_9 : Tensor "f32[20, 4, 1][4, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.unsqueeze.default](args = (%scatter_add, 2), kwargs = {})
#   %bmm_2 : Tensor "f32[20, 32, 1][32, 1, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.bmm.default](args = (%permute_13, %unsqueeze_9), kwargs = {})
#   return %bmm_2
triton_poi_fused_bmm_permute_unsqueeze_view_6 = async_compile.triton('triton_poi_fused_bmm_permute_unsqueeze_view_6', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton_heuristics.pointwise(
    size_hints={'x': 1024}, 
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_fused_bmm_permute_unsqueeze_view_6', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 8, 'num_store': 1, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 15360}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False},
    min_elem_per_thread=0
)
@triton.jit
def triton_poi_fused_bmm_permute_unsqueeze_view_6(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 640
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x2 = xindex
    x1 = xindex // 32
    tmp0 = tl.load(in_ptr0 + (x2), xmask)
    tmp1 = tl.load(in_ptr1 + (4*x1), xmask, eviction_policy='evict_last')
    tmp3 = tl.load(in_ptr0 + (640 + x2), xmask)
    tmp4 = tl.load(in_ptr1 + (1 + 4*x1), xmask, eviction_policy='evict_last')
    tmp7 = tl.load(in_ptr0 + (1280 + x2), xmask)
    tmp8 = tl.load(in_ptr1 + (2 + 4*x1), xmask, eviction_policy='evict_last')
    tmp11 = tl.load(in_ptr0 + (1920 + x2), xmask)
    tmp12 = tl.load(in_ptr1 + (3 + 4*x1), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 * tmp1
    tmp5 = tmp3 * tmp4
    tmp6 = tmp2 + tmp5
    tmp9 = tmp7 * tmp8
    tmp10 = tmp6 + tmp9
    tmp13 = tmp11 * tmp12
    tmp14 = tmp10 + tmp13
    tl.store(out_ptr0 + (x2), tmp14, xmask)
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
        assert_size_stride_grouped((arg1_1, arg2_1, arg0_1), ((4, ), (20, 32), (4, 32)), ((1, ), (32, 1), (32, 1)), 'input')
        buf0 = empty_strided_cpu((20, 4), (4, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, aten.addmm]
        extern_kernels.addmm(arg1_1, arg2_1, reinterpret_tensor(arg0_1, (32, 4), (1, 32), 0), alpha=1, beta=1, out=buf0)
        del arg0_1
        del arg1_1
        buf1 = empty_strided_cpu((20, 4), (4, 1), torch.float32)
        # Topologically Sorted Source Nodes: [softmax], Original ATen: [aten._softmax]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__softmax_0.run(buf0, buf1, 80, stream=raw_streamNone)
        buf2 = buf0; del buf0  # reuse
        # Topologically Sorted Source Nodes: [softmax], Original ATen: [aten._softmax]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused__softmax_1.run(buf1, buf2, 80, stream=raw_streamNone)
        del buf1
        # Topologically Sorted Source Nodes: [softmax, topk], Original ATen: [aten._softmax, aten.topk]
        buf3 = torch.ops.aten.topk.default(buf2, 2, -1, True, True)
        buf4 = buf3[0]
        assert_tensor_metadata(buf4, (20, 2), (2, 1), torch.float32, 'torch.ops.aten.topk.default')
        assert_alignment(buf4, 16, 'torch.ops.aten.topk.default')
        buf5 = buf3[1]
        assert_tensor_metadata(buf5, (20, 2), (2, 1), torch.int64, 'torch.ops.aten.topk.default')
        assert_alignment(buf5, 16, 'torch.ops.aten.topk.default')
        del buf3
        buf10 = buf2; del buf2  # reuse
        # Topologically Sorted Source Nodes: [zeros, scatter_add_], Original ATen: [aten.zeros, aten.scatter_add]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_scatter_add_zeros_2.run(buf10, 80, stream=raw_streamNone)
        # Topologically Sorted Source Nodes: [zeros, scatter_add_], Original ATen: [aten.zeros, aten.scatter_add]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_scatter_add_zeros_3.run(buf5, buf4, buf10, 40, stream=raw_streamNone)
        del buf4
        del buf5
        assert_size_stride(arg3_1, (4, 32, 48), (1536, 48, 1), 'input')
        buf6 = empty_strided_cpu((32, 4, 48, 1), (192, 48, 1, 1), torch.float32)
        # Topologically Sorted Source Nodes: [einsum], Original ATen: [aten.unsqueeze, aten.permute, aten.clone]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_clone_permute_unsqueeze_4.run(arg3_1, buf6, 6144, stream=raw_streamNone)
        del arg3_1
        buf7 = empty_strided_cpu((1, 20, 192), (3840, 192, 1), torch.float32)
        # Topologically Sorted Source Nodes: [einsum], Original ATen: [aten.unsqueeze, aten.view, aten.permute, aten.clone, aten._unsafe_view, aten.bmm]
        extern_kernels.bmm(reinterpret_tensor(arg2_1, (1, 20, 32), (640, 32, 1), 0), reinterpret_tensor(buf6, (1, 32, 192), (0, 192, 1), 0), out=buf7)
        del arg2_1
        del buf6
        buf8 = empty_strided_cpu((4, 20, 48), (960, 48, 1), torch.float32)
        # Topologically Sorted Source Nodes: [einsum, y], Original ATen: [aten.view, aten.permute, aten.relu]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_permute_relu_view_5.run(buf7, buf8, 3840, stream=raw_streamNone)
        del buf7
        assert_size_stride(arg4_1, (4, 48, 32), (1536, 32, 1), 'input')
        buf9 = empty_strided_cpu((4, 20, 32), (640, 32, 1), torch.float32)
        # Topologically Sorted Source Nodes: [einsum, y, z], Original ATen: [aten.view, aten.permute, aten.relu, aten.unsqueeze, aten.bmm]
        extern_kernels.bmm(buf8, arg4_1, out=buf9)
        del arg4_1
        del buf8
        buf12 = empty_strided_cpu((20, 32, 1), (32, 1, 1), torch.float32)
        # Topologically Sorted Source Nodes: [z, einsum_2], Original ATen: [aten.view, aten.permute, aten.unsqueeze, aten.bmm]
        raw_streamNone = get_raw_stream(None)
        triton_poi_fused_bmm_permute_unsqueeze_view_6.run(buf9, buf10, buf12, 640, stream=raw_streamNone)
        return (reinterpret_tensor(buf12, (20, 32), (32, 1), 0), )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((4, 32), (32, 1), device='cpu', dtype=torch.float32)
    arg1_1 = rand_strided((4, ), (1, ), device='cpu', dtype=torch.float32)
    arg2_1 = rand_strided((20, 32), (32, 1), device='cpu', dtype=torch.float32)
    arg3_1 = rand_strided((4, 32, 48), (1536, 48, 1), device='cpu', dtype=torch.float32)
    arg4_1 = rand_strided((4, 48, 32), (1536, 32, 1), device='cpu', dtype=torch.float32)
    return [arg0_1, arg1_1, arg2_1, arg3_1, arg4_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
