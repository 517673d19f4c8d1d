"""Tensor parallel layers as in Megatron, and declarative placement as in PyTorch's DTensor; forward only."""

from __future__ import annotations

from kernbench.host.tensor_parallel.dtensor import DTensor, distribute_tensor
from kernbench.host.tensor_parallel.layers import (
    ColumnParallelLinear,
    RowParallelLinear,
    VocabParallelEmbedding,
)
from kernbench.host.tensor_parallel.mesh import DeviceMesh, Partial, Replicate, Shard, init_device_mesh
from kernbench.host.tensor_parallel.placing import REPLICATED
from kernbench.host.tensor_parallel.regions import (
    copy_to_region,
    copy_to_tensor_model_parallel_region,
    gather_from_region,
    gather_from_tensor_model_parallel_region,
    reduce_from_region,
    reduce_from_tensor_model_parallel_region,
    scatter_to_region,
    scatter_to_tensor_model_parallel_region,
)
from kernbench.host.tensor_parallel.state import (
    get_tensor_model_parallel_group,
    get_tensor_model_parallel_rank,
    get_tensor_model_parallel_world_size,
    initialize_model_parallel,
)

__all__ = [
    "REPLICATED",
    "ColumnParallelLinear",
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Replicate",
    "RowParallelLinear",
    "Shard",
    "VocabParallelEmbedding",
    "copy_to_region",
    "copy_to_tensor_model_parallel_region",
    "distribute_tensor",
    "gather_from_region",
    "gather_from_tensor_model_parallel_region",
    "get_tensor_model_parallel_group",
    "get_tensor_model_parallel_rank",
    "get_tensor_model_parallel_world_size",
    "init_device_mesh",
    "initialize_model_parallel",
    "reduce_from_region",
    "reduce_from_tensor_model_parallel_region",
    "scatter_to_region",
    "scatter_to_tensor_model_parallel_region",
]
