"""The topology file as validated data: the processing element."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, model_validator

from kernbench.hardware.topology.fields import Gbs, MemoryPart, Part, PowerOfTwo, Section, Size, section
from kernbench.operations import ANY, NAMES
from kernbench.support.dtypes import DTYPES, PACKED
from kernbench.support.hints import did_you_mean

MAX_TCM_BYTES = 2 << 20
"""Budget of PE_TCM in a physical address."""


OFF = {
    "": ("operands", "warps", "clock"),
    "pe_cpu": ("run_ahead",),
    "pe_dma": ("issue", "rearrange"),
    "pe_gemm": (
        "fixed_cycles", "smallest", "phases", "operand_bytes_per_cycle", "staging_bytes_per_cycle", "subblock"
    ),
    "pe_math": ("cycles", "reduce"),
}  # fmt: skip
"""Keys of a PE and its parts that are left out of a machine which does not set them."""


class Links(Section):
    """Bandwidths of the links of a PE."""

    dma_gbs: Gbs = Field(default=256.0, description="GB/s between PE_DMA and its router, each way")
    command_gbs: Gbs = Field(
        default=256.0, description="GB/s between PE_CPU or PE_MMU and the router, each way"
    )
    internal_gbs: Gbs = Field(
        default=512.0, description="GB/s of every link between parts of the PE, each way"
    )


class Clock(Section):
    """The clock of PE_CPU, PE_GEMM and PE_MATH, and how far it falls."""

    ghz: float = Field(
        default=0.0, ge=0, description="clock in GHz, in place of theirs; 0: they have their own"
    )
    loaded_ghz: float = Field(
        default=0.0,
        ge=0,
        description="from the first product on of a launch with work for all PEs of its package, until the "
        "PE begins another: of products, MATH and the issue of loads; 0: it does not fall",
    )


def clocked(part: Part, ghz: float) -> Part:
    """``part`` with the clock of the whole PE, if it has a clock and the PE one."""
    return part.model_copy(update={"clock_ghz": ghz}) if ghz and hasattr(part, "clock_ghz") else part


class PeCpu(Part):
    """The PE's control processor, which runs kernels."""

    clock_ghz: float = Field(default=1.0, gt=0, description="clock in GHz")
    dispatch_cycles: float = Field(default=0.0, ge=0, description="cycles of overhead per kernel call")
    run_ahead: bool = Field(
        default=False,
        description="true: kernels of kernbench.tl go on while loads, stores and compute are carried out, "
        "each in order, as those of Triton always do",
    )


class PeScheduler(Part):
    """The PE's dispatcher of commands and tiles."""

    compute_slots: Literal[1, 2] = Field(
        default=1, description="1: GEMM and MATH take turns; 2: they work side by side"
    )
    tile_transfers: Literal["packed", "rows"] = Field(
        default="rows",
        description="tiles that a composite cuts from wide matrices: rows apart, or in one piece (packed)",
    )


class Issue(Section):
    """What a kernel's loads cost the PE, in its CPU's cycles, before they are under way. Tiles cost none."""

    load_cycles: float = Field(default=0.0, ge=0, description="cycles of every load")
    bytes_per_cycle: float = Field(default=0.0, ge=0, description="bytes a cycle of every load; 0: no cost")
    slot: Literal["", "pe_math"] = Field(
        default="",
        description="pe_math: it holds that one's compute slot meanwhile; left out, one of its own",
    )


class Rearrange(Section):
    """What a kernel's stores cost a PE that has multiplied in the launch, before they are under way.

    Results of products lie as the matrix engine has them. Cycles are its CPU's, spent where loads are issued.
    """

    cycles: float = Field(default=0.0, ge=0, description="cycles of every such store")
    bytes_per_cycle: float = Field(default=0.0, ge=0, description="bytes a cycle of it; 0: no cost")


class PeDma(Part):
    """The PE's DMA."""

    read_engines: int = Field(default=1, ge=1, le=64, description="engines that read, with one queue")
    write_engines: int = Field(default=1, ge=1, le=64, description="engines that write, with one queue")
    outstanding: int = Field(default=2, ge=1, le=1024, description="requests that an engine has in flight")
    issue: Issue = section("what a kernel's loads cost the PE")
    rearrange: Rearrange = section("what stores of results of products cost the PE")


class Tile(Section):
    """The GEMM engine's native tile."""

    m: int = Field(default=32, ge=1, description="rows of the output")
    k: int = Field(default=64, ge=1, description="depth of the product")
    n: int = Field(default=32, ge=1, description="columns of the output")


class Array(NamedTuple):
    """Which of m, k and n (0, 1, 2) lie along the rows and columns of an array, and which streams through."""

    rows: int
    cols: int
    streams: int


ARRAYS = {"os": Array(0, 2, 1), "ws": Array(1, 2, 0), "is": Array(1, 0, 2)}
"""By dataflow: what stays in the array is the output (os), the weights (ws) or the input (is)."""


class Smallest(Section):
    """Blocks of few rows, for which the GEMM engine has another way. Only with dataflow tile."""

    m: int = Field(default=0, ge=0, description="rows below which a block takes it; 0: none does")
    fixed: float = Field(default=0.0, ge=0, description="cycles of each block")
    macs: float = Field(
        default=0.0, ge=0, description="multiply-accumulates per cycle, of those that the block has"
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.m > 0) != (self.macs > 0) or (self.fixed and not self.m):
            raise ValueError(f"has m {self.m} and macs {self.macs:g}, expected both above 0, or nothing")
        return self


class Subblock(Section):
    """The part of the output that the GEMM engine holds at a time. Only with dataflow tile."""

    tiles: int = Field(
        default=0,
        ge=0,
        le=1 << 16,
        description="native tiles, at most; 0: no groups, every product loads both operands",
    )
    cycles: float = Field(default=0.0, ge=0, description="cycles before each of them, in every block")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.cycles and not self.tiles:
            raise ValueError(f"has cycles {self.cycles:g} without tiles, expected both")
        return self


def _rates(value: object) -> object:
    """A rate of all types, or by type, where ``*`` is the rate of those that are not named."""
    if not isinstance(value, dict):
        return value
    for name, rate in value.items():
        if name not in (ANY, *DTYPES, *PACKED):
            raise ValueError(f"names the type {name!r}, {did_you_mean(str(name), (ANY, *DTYPES, *PACKED))}")
        if type(rate) not in (int, float) or not 0 < rate <= 1e12:
            raise ValueError(f"has {name!r} set to {rate!r}, expected a number above 0")
    if ANY not in value:
        raise ValueError(f"names {', '.join(value) or 'no type'}, expected '*' as well: of all other types")
    return {name: float(rate) for name, rate in value.items()}


def _phases(value: object) -> object:
    """The table of precisions."""
    if not isinstance(value, dict):
        raise ValueError(f"is {value!r}, expected a mapping of precisions to phases")
    for name, phases in value.items():
        if not str(name).isidentifier():
            raise ValueError(f"has the precision {name!r}, expected a name such as hifi2")
        if type(phases) is not int or not 1 <= phases <= 1000:
            raise ValueError(f"has {name!r} set to {phases!r}, expected an integer from 1 to 1000")
    return value


Rates = Annotated[
    Annotated[float, Field(gt=0)] | dict[str, float],
    Field(union_mode="left_to_right"),
    BeforeValidator(_rates),
]


class PeGemm(Part):
    """The PE's matrix engine."""

    clock_ghz: float = Field(default=1.0, gt=0, description="clock in GHz")
    tile: Tile = section("native tile")
    macs_per_cycle: Rates = Field(
        default=4096.0,
        description="multiply-accumulates per cycle, with dataflow tile, else rows x cols: a number, or by "
        "type of the operands, '*' all that are not named",
    )
    phases: Annotated[dict[str, int], BeforeValidator(_phases)] = Field(
        default_factory=dict,
        description="passes over the operands by precision, as tl.dot names it; 1 where none is named, "
        "with dataflow tile",
    )
    operand_bytes_per_cycle: float = Field(
        default=0.0,
        ge=0,
        description="bytes of native tiles that it takes in a cycle; 0: as many as it needs",
    )
    staging_bytes_per_cycle: float = Field(
        default=0.0,
        ge=0,
        description="bytes a cycle of operands that a loop of one stage loads: they pass through registers "
        "before the product, which is over so much later; 0: no cost",
    )
    subblock: Subblock = section("part of the output that it holds at a time")
    dataflow: Literal["tile", "os", "ws", "is"] = Field(
        default="tile",
        description="tile: whole native tiles; os, ws, is: systolic array that holds output, weights, input",
    )
    fixed_cycles: float = Field(
        default=0.0, ge=0, description="cycles of each block beside those of its tiles, with dataflow tile"
    )
    smallest: Smallest = section("blocks of few rows")
    rows: int = Field(default=32, ge=1, le=1 << 16, description="rows of the systolic array")
    cols: int = Field(default=32, ge=1, le=1 << 16, description="columns of the systolic array")

    @property
    def rate(self) -> float:
        """``macs_per_cycle`` of types that are not named."""
        return self.macs_per_cycle[ANY] if isinstance(self.macs_per_cycle, dict) else self.macs_per_cycle

    @property
    def rates(self) -> dict[str, float]:
        """``macs_per_cycle`` of types that are named."""
        rates = self.macs_per_cycle if isinstance(self.macs_per_cycle, dict) else {}
        return {name: rate for name, rate in rates.items() if name != ANY}


USUAL_PASSES = {"softmax": 5}
"""Passes of an operation over its elements where that is not one.

Transcendental functions are taken as pipelined lookups at full rate; softmax is maximum, subtraction,
exponential, sum and division.
"""


def _passes(value: object) -> object:
    """The table of passes: what a file gives, over :data:`USUAL_PASSES`."""
    if not isinstance(value, dict):
        raise ValueError(f"is {value!r}, expected a mapping of operations to passes")
    for name, passes in value.items():
        if name not in NAMES:
            raise ValueError(f"names the operation {name!r}, {did_you_mean(str(name), NAMES)}")
        if type(passes) is not int or not 1 <= passes <= 1000:
            raise ValueError(f"has {name!r} set to {passes!r}, expected an integer from 1 to 1000")
    return {**USUAL_PASSES, **value}


def _pair(value: object, said: str = "is") -> tuple[float, ...]:
    """Latency in cycles and elements a cycle; ``said`` begins the error."""
    if isinstance(value, list | tuple) and len(value) == 2:
        numbers = [float(one) for one in value if type(one) in (int, float) and 0 <= one <= 1e12]
        if len(numbers) == 2 and numbers[1] >= 1e-6:
            return tuple(numbers)
    raise ValueError(f"{said} {value!r}, expected [latency in cycles, elements a cycle above 0]")


def _cycles(value: object) -> object:
    """The table of cycles."""
    if not isinstance(value, dict):
        raise ValueError(f"is {value!r}, expected a mapping of operations to [latency, elements a cycle]")
    known = (ANY, *NAMES)
    for name in value:
        if name not in known:
            raise ValueError(f"names the operation {name!r}, {did_you_mean(str(name), known)}")
    return {name: _pair(pair, f"has {name!r} set to") for name, pair in value.items()}


Pair = Annotated[
    tuple[float, float] | None, BeforeValidator(lambda value: None if value is None else _pair(value))
]


class Reduce(Section):
    """Reductions of the vector engine: [latency in cycles, elements a cycle], over ``cycles``."""

    across: Pair = Field(
        default=None,
        description="those that leave one result, or are not along rows of at most lanes elements",
    )
    within: Pair = Field(default=None, description="those of rows of at most lanes elements")


class PeMath(Part):
    """The PE's vector engine.

    An operation takes what ``reduce`` says of it, else its entry in ``cycles``, else that of ``*`` once a
    pass, else ``lanes`` and ``latency_cycles`` once a pass. Saying two of these of one operation is an error.
    """

    clock_ghz: float = Field(default=1.0, gt=0, description="clock in GHz")
    lanes: int = Field(default=128, ge=1, description="elements per cycle and pass")
    passes: Annotated[dict[str, int], BeforeValidator(_passes)] = Field(
        default_factory=lambda: dict(USUAL_PASSES),
        description="passes over its elements by operation; 1 for those that are not named, softmax 5",
    )
    latency_cycles: float = Field(
        default=0.0, ge=0, description="cycles from an element's way in to its way out, once per pass"
    )
    cycles: Annotated[dict[str, tuple[float, float]], BeforeValidator(_cycles)] = Field(
        default_factory=dict,
        description="by operation [latency in cycles, elements a cycle]: the latency does not hold the "
        "compute slot; '*' is all that are not named",
    )
    reduce: Reduce = section("reductions, [latency in cycles, elements a cycle] as in cycles")


class PeTcm(MemoryPart):
    """The PE's tightly coupled memory: scheduler's part, kernel scratch, then the allocatable rest."""

    size_bytes: Annotated[Size, Field(ge=1)] = Field(
        default=2 << 20, description="bytes; of a tray at most 2 MiB"
    )
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


class Tier(Section):
    """The PE's access to slots in one kind of memory."""

    gbs: Gbs = Field(description="GB/s at which a slot is written or read")
    overhead_ns: float = Field(ge=0, description="ns that each access to a slot adds")


class PeIpcq(Part):
    """The PE's queues to its neighbours: one receive ring per direction."""

    slots: int = Field(default=4, ge=1, le=4096, description="slots of a ring")
    slot_bytes: Annotated[Size, Field(ge=1, le=1 << 25)] = Field(default=4096, description="bytes of a slot")
    credit_bytes: int = Field(
        default=16, ge=0, le=4096, description="bytes of the message that returns a credit"
    )
    buffer_kind: Literal["tcm", "sram", "hbm"] = Field(
        default="tcm", description="memory of the rings: the PE's TCM, its cube's SRAM or its HBM slice"
    )
    protocol_ns: float = Field(
        default=0.0, ge=0, description="ns from the write of a slot until the receiver sees it"
    )
    backpressure: Literal["sleep", "poll"] = Field(
        default="sleep",
        description="how a send waits for a free slot: until the credit wakes it, or looking every poll_ns",
    )
    poll_ns: float = Field(default=10.0, gt=0, description="ns that a look takes, with backpressure poll")
    tcm: Tier = section("slots in TCM", gbs=512.0, overhead_ns=0.0)
    sram: Tier = section("slots in SRAM", gbs=512.0, overhead_ns=2.0)
    hbm: Tier = section("slots in HBM", gbs=256.0, overhead_ns=6.0)


class Pe(Section):
    """A processing element and its parts."""

    operands: Literal["tcm", "registers"] = Field(
        default="tcm",
        description="registers: operands and results of MATH, and sums and results of products, pass no port "
        "of the TCM, whose scratch still has room for them",
    )

    warps: int = Field(
        default=0,
        ge=0,
        le=4096,
        description="warps of the blocks of a grid that the PE has at a time: as many blocks as come to that "
        "by num_warps of the launch (4), and find room in the scratch; 0: residents of the launch (1)",
    )
    clock: Clock = section("clock of the whole PE")
    links: Links = section("bandwidths of the PE's links")
    pe_cpu: PeCpu = section("control processor")
    pe_scheduler: PeScheduler = section("scheduler of tile pipelines")
    pe_dma: PeDma = section("DMA")
    pe_fetch_store: Part = section("mover between TCM and registers")
    pe_gemm: PeGemm = section("matrix engine")
    pe_math: PeMath = section("vector engine")
    pe_tcm: PeTcm = section("tightly coupled memory")
    pe_mmu: PeMmu = section("address translation")
    pe_baaw: PeBaaw = section("segment table (address model la)")
    pe_ipcq: PeIpcq = section("queues to other PEs")
