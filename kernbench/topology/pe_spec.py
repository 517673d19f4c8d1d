"""The topology file as validated data: the processing element."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kernbench.topology.fields import Gbs, Part, PowerOfTwo, Section, Size

MAX_TCM_BYTES = 2 << 20
"""Budget of PE_TCM in a physical address (ADR-0001 D2.3.3)."""


class Links(Section):
    """Bandwidths of the links of a PE."""

    dma_gbs: Gbs = Field(default=256.0, description="GB/s between PE_DMA and its router, each way")
    command_gbs: Gbs = Field(
        default=256.0, description="GB/s between PE_CPU or PE_MMU and the router, each way"
    )
    internal_gbs: Gbs = Field(
        default=512.0, description="GB/s of every link between parts of the PE, each way"
    )


class PeCpu(Part):
    """The PE's control processor, which runs kernels."""

    clock_ghz: float = Field(default=1.0, gt=0, description="clock in GHz")
    dispatch_cycles: float = Field(default=0.0, ge=0, description="cycles of overhead per kernel call")


class PeDma(Part):
    """The PE's DMA."""

    read_engines: int = Field(default=1, ge=1, le=64, description="reads in progress at a time")
    write_engines: int = Field(default=1, ge=1, le=64, description="writes in progress at a time")


class Tile(Section):
    """The GEMM engine's native tile."""

    m: int = Field(default=32, ge=1, description="rows of the output")
    k: int = Field(default=64, ge=1, description="depth of the product")
    n: int = Field(default=32, ge=1, description="columns of the output")


class PeGemm(Part):
    """The PE's matrix engine."""

    clock_ghz: float = Field(default=1.0, gt=0, description="clock in GHz")
    tile: Tile = Field(default_factory=Tile, description="native tile")
    macs_per_ns: float = Field(default=4096.0, gt=0, description="multiply-accumulates per ns")


class PeMath(Part):
    """The PE's vector engine."""

    clock_ghz: float = Field(default=1.0, gt=0, description="clock in GHz")
    lanes: int = Field(default=128, ge=1, description="elements per cycle")


class PeTcm(Part):
    """The PE's tightly coupled memory: scheduler's part, kernel scratch, then the allocatable rest."""

    size_bytes: Annotated[Size, Field(ge=1, le=MAX_TCM_BYTES)] = Field(default=2 << 20, description="bytes")
    read_gbs: Gbs = Field(default=512.0, description="GB/s of the read port")
    write_gbs: Gbs = Field(default=512.0, description="GB/s of the write port")
    scheduler_reserved_bytes: Annotated[Size, Field(ge=0)] = Field(
        default=256 << 10, description="bytes at offset 0 that PE_SCHEDULER keeps for tile buffers"
    )
    scratch_bytes: Annotated[Size, Field(ge=0)] = Field(
        default=1 << 20, description="bytes after that for the results of a running kernel"
    )


class PeMmu(Part):
    """The PE's address translation."""

    page_bytes: Annotated[PowerOfTwo, Field(ge=256, le=1 << 30)] = Field(
        default=4096, description="bytes of a page"
    )
    tlb_overhead_ns: float = Field(
        default=0.0, ge=0, description="ns that every translation costs its caller"
    )


class PeBaaw(Part):
    """The PE's segment table, in place of the MMU in the ``la`` model."""

    lookup_ns: float = Field(default=0.0, ge=0, description="ns that every look-up costs its caller")


class PeIpcq(Part):
    """The PE's queues to its neighbours: one receive ring per direction."""

    slots: int = Field(default=4, ge=1, le=4096, description="slots of a ring")
    slot_bytes: Annotated[Size, Field(ge=1, le=1 << 25)] = Field(default=4096, description="bytes of a slot")
    credit_bytes: int = Field(
        default=16, ge=0, le=4096, description="bytes of the message that returns a credit"
    )


class Pe(Section):
    """A processing element and its parts."""

    links: Links = Field(default_factory=Links, description="bandwidths of the PE's links")
    pe_cpu: PeCpu = Field(default_factory=PeCpu, description="control processor")
    pe_scheduler: Part = Field(default_factory=Part, description="scheduler of tile pipelines")
    pe_dma: PeDma = Field(default_factory=PeDma, description="DMA")
    pe_fetch_store: Part = Field(default_factory=Part, description="mover between TCM and registers")
    pe_gemm: PeGemm = Field(default_factory=PeGemm, description="matrix engine")
    pe_math: PeMath = Field(default_factory=PeMath, description="vector engine")
    pe_tcm: PeTcm = Field(default_factory=PeTcm, description="tightly coupled memory")
    pe_mmu: PeMmu = Field(default_factory=PeMmu, description="address translation")
    pe_baaw: PeBaaw = Field(default_factory=PeBaaw, description="segment table (address model la)")
    pe_ipcq: PeIpcq = Field(default_factory=PeIpcq, description="queues to other PEs")
