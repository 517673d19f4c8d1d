# Written by Inductor of PyTorch 2.15.0+cu132; tools/torch_outputs.py has the model.
# AOT ID: ['5_inference']
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


# kernel path: /tmp/torchinductor_root/tmp9hwvo4bg/t3/ct3kfismjgd5qzkhgj22q27y5nivnxpatdugrnvow4wm2y4wo5kn.py
# Topologically Sorted Source Nodes: [sort, cumsum, gt, exp, where], Original ATen: [aten.sort, aten.cumsum, aten.gt, aten.exp, aten.where]
# Source node to ATen node mapping:
#   cumsum => cumsum
#   exp => exp
#   gt => gt
#   sort => getitem_1, sort
#   where => where
# Graph fragment:
#   %arg0_1 : Tensor "f32[4, 64][64, 1]cpu" = PlaceHolder[target=arg0_1]
#   %buf1 : Tensor "i16[4, 64][64, 1]cpu" = PlaceHolder[target=buf1]
#   %sort : [num_users=2] = call_function[target=torch.ops.aten.sort.default](args = (%arg0_1,), kwargs = {})
#   %getitem_1 : Tensor "i64[4, 64][64, 1]cpu"[num_users=1] = call_function[target=operator.getitem](args = (%sort, 1), kwargs = {})
#   %cumsum : Tensor "f32[4, 64][64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.cumsum.default](args = (%arg0_1, -1), kwargs = {})
#   %gt : Tensor "b8[4, 64][64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.gt.Scalar](args = (%arg0_1, 0), kwargs = {})
#   %exp : Tensor "f32[4, 64][64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.exp.default](args = (%arg0_1,), kwargs = {})
#   %where : Tensor "f32[4, 64][64, 1]cpu"[num_users=1] = call_function[target=torch.ops.aten.where.self](args = (%gt, %arg0_1, %exp), kwargs = {})
#   return %getitem,%buf1,%cumsum,%where,%getitem_1
triton_per_fused_cumsum_exp_gt_sort_where_0 = async_compile.triton('triton_per_fused_cumsum_exp_gt_sort_where_0', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
triton_helpers.set_driver_to_cpu()

@triton.jit
def _triton_helper_fn_add0(arg0_0, arg1_0):
    tmp0 = arg0_0 + arg1_0
    return tmp0

@triton_heuristics.persistent_reduction(
    size_hints={'x': 4, 'r0_': 64},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'out_ptr2': '*fp32', 'out_ptr3': '*fp32', 'out_ptr4': '*i64', 'xnumel': 'i32', 'r0_numel': 'i32'}, 'device': DeviceProperties(type='cpu', index=None, multi_processor_count=2, cc='', major=None, regs_per_multiprocessor=None, max_threads_per_multi_processor=None, max_threads_per_block=1024, warp_size=None), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]], (4,): [['tt.divisibility', 16]], (6,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_per_fused_cumsum_exp_gt_sort_where_0', 'mutated_arg_names': [], 'optimize_mem': True, 'no_x_dim': None, 'atomic_add_found': False, 'num_load': 1, 'num_store': 4, 'num_reduction': 0, 'autotune_hints': (), 'tiling_scores': {'x': 0, 'r0_': 11264}, 'backend_hash': '', 'assert_indirect_indexing': True, 'autotune_local_cache': True, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': True, 'dynamic_scale_rblock': True, 'incremental_autotune': False, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'batch_invariant': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': True, 'dynamic_disable_pipelining': True, 'are_deterministic_algorithms_enabled': False}
)
@triton.jit
def triton_per_fused_cumsum_exp_gt_sort_where_0(in_ptr0, out_ptr0, out_ptr2, out_ptr3, out_ptr4, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 4
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
    tmp1 = (r0_1).to(tl.int16)
    tmp2 = (tmp1).to(tl.int16)
    tmp3 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp4 = tl.broadcast_to(tmp2, [XBLOCK, R0_BLOCK])
    tmp5, tmp6, = triton_helpers.sort_with_index(tmp3, tmp4, None, 1, stable=False, descending=False)
    tmp7 = tmp0.to(tl.float32)
    tmp8 = tl.broadcast_to(tmp7, [XBLOCK, R0_BLOCK])
    tmp9, = tl.associative_scan((tmp8,), 1, _triton_helper_fn_add0)
    tmp10 = tl.full([1, 1], 0.0, tl.float32)
    tmp11 = tmp0 > tmp10
    tmp12 = libdevice.exp(tmp0)
    tmp13 = tl.where(tmp11, tmp0, tmp12)
    tmp14 = tmp6.to(tl.int64)
    tl.store(out_ptr0 + (r0_1 + 64*x0), tmp5, xmask)
    tl.store(out_ptr2 + (r0_1 + 64*x0), tmp9, xmask)
    tl.store(out_ptr3 + (r0_1 + 64*x0), tmp13, xmask)
    tl.store(out_ptr4 + (r0_1 + 64*x0), tmp14, xmask)
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
        arg0_1, = args
        args.clear()
        assert_size_stride(arg0_1, (4, 64), (64, 1), 'input')
        buf0 = empty_strided_cpu((4, 64), (64, 1), torch.float32)
        buf6 = empty_strided_cpu((4, 64), (64, 1), torch.float32)
        buf7 = empty_strided_cpu((4, 64), (64, 1), torch.float32)
        buf2 = empty_strided_cpu((4, 64), (64, 1), torch.int64)
        # Topologically Sorted Source Nodes: [sort, cumsum, gt, exp, where], Original ATen: [aten.sort, aten.cumsum, aten.gt, aten.exp, aten.where]
        raw_streamNone = get_raw_stream(None)
        triton_per_fused_cumsum_exp_gt_sort_where_0.run(arg0_1, buf0, buf6, buf7, buf2, 4, 64, stream=raw_streamNone)
        # Topologically Sorted Source Nodes: [topk], Original ATen: [aten.topk]
        buf3 = torch.ops.aten.topk.default(arg0_1, 5, -1, True, True)
        del arg0_1
        buf4 = buf3[0]
        assert_tensor_metadata(buf4, (4, 5), (5, 1), torch.float32, 'torch.ops.aten.topk.default')
        # buffer buf4 (op: torch.ops.aten.topk.default) is assumed to be not aligned
        return (buf0, buf2, buf6, buf4, buf7, )

runner = Runner(partitions=[])
call = runner.call
recursively_apply_fns = runner.recursively_apply_fns


def get_args():
    from torch._dynamo.testing import rand_strided
    arg0_1 = rand_strided((4, 64), (64, 1), device='cpu', dtype=torch.float32)
    return [arg0_1]


def benchmark_compiled_module(args, times=10, repeat=10):
    from torch._inductor.utils import print_performance
    fn = lambda: call(list(args))
    return print_performance(fn, times=times, repeat=repeat, device='cpu')


if __name__ == "__main__":
    from torch._inductor.wrapper_benchmark import compiled_module_main
    args = get_args()
    compiled_module_main('None', lambda times, repeat: benchmark_compiled_module(args, times=times, repeat=repeat))
