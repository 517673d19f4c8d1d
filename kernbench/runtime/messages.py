"""Messages from the host to a device, validated when they are made (ADR-0012).

Every shard carries its (sip, cube, pe) tag, so the device fans out without decoding addresses. Bulk data
never rides in a message; a launch names its kernel and carries no code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernbench.address import AddressMap
from kernbench.errors import UsageError
from kernbench.topology import names


def _whole(value: object, field: str, what: str, minimum: int = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise UsageError(f"{what}: {field} is {value!r}; it must be a whole number of {minimum} or more")


def _request_id(envelope: object) -> str:
    if not isinstance(envelope, Envelope):
        raise UsageError(f"message: envelope is {envelope!r}; every request needs one")
    return envelope.request_id


def _text(value: object, field: str, what: str) -> None:
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{what}: {field} is {value!r}; it must be a string or None")


def _one_of(value: object, choices: Sequence[str], field: str, what: str) -> None:
    if value not in choices:
        raise UsageError(f"{what}: {field} is {value!r}; it must be one of {', '.join(map(repr, choices))}")


def _tagged(shard: object, field: str, what: str) -> None:
    if not isinstance(shard, ShardRef):
        raise UsageError(f"{what}: {field} {shard!r} carries no (sip, cube, pe) tag; pass a ShardRef")


PATTERN_KINDS = ("zero", "fill_u8", "fill_u16", "fill_u32", "fill_fp16", "fill_fp32")
MEMORY_KINDS = ("HBM", "TCM", "SRAM", "AUTO")
FAILURE_POLICIES = ("fail_fast", "run_on")
"""``fail_fast`` stops the kernels of a launch at its first failure, ``run_on`` lets the others end."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Fields of every request (ADR-0012 D3): correlation id, request id, target device.

    ``timestamp_tag`` is for debugging and has no effect.
    """

    correlation_id: str
    request_id: str
    target_device: str
    timestamp_tag: str | None = None

    def __post_init__(self) -> None:
        for field in ("correlation_id", "request_id", "target_device"):
            value = getattr(self, field)
            if not isinstance(value, str) or not value:
                raise UsageError(f"message envelope: {field} is {value!r}; it must be a non-empty string")
        _text(self.timestamp_tag, "timestamp_tag", "message envelope")


@dataclass(frozen=True, slots=True)
class ShardRef:
    """A tagged piece of device memory: ``nbytes`` at physical address ``pa`` of PE (sip, cube, pe).

    ``offset_bytes`` is its place in its tensor's device layout.
    """

    sip: int
    cube: int
    pe: int
    pa: int
    nbytes: int
    offset_bytes: int = 0

    def __post_init__(self) -> None:
        for field in ("sip", "cube", "pe", "pa", "offset_bytes"):
            _whole(getattr(self, field), field, "shard")
        _whole(self.nbytes, "nbytes", "shard", minimum=1)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The content of a memory write: ``zero``, or ``fill_*`` with a ``value``."""

    pattern_kind: str
    value: float | None = None

    def __post_init__(self) -> None:
        _one_of(self.pattern_kind, PATTERN_KINDS, "pattern_kind", "pattern")
        number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if self.pattern_kind != "zero" and not number:
            raise UsageError(f"pattern '{self.pattern_kind}': value is {self.value!r}; it must be a number")


@dataclass(frozen=True, slots=True)
class MemoryWrite:
    """Write one tagged piece of device memory from the host (ADR-0012 D5)."""

    envelope: Envelope
    target: ShardRef
    src_kind: str = "host_buffer_ref"
    pattern: Pattern | None = None
    dst_mem_kind: str = "AUTO"
    debug_label: str | None = None

    def __post_init__(self) -> None:
        what = f"memory write {_request_id(self.envelope)}"
        _tagged(self.target, "target", what)
        _one_of(self.src_kind, ("pattern", "host_buffer_ref"), "src_kind", what)
        if (self.src_kind == "pattern") != isinstance(self.pattern, Pattern):
            raise UsageError(
                f"{what}: pattern is {self.pattern!r}; give one exactly where src_kind is 'pattern'"
            )
        _one_of(self.dst_mem_kind, MEMORY_KINDS, "dst_mem_kind", what)
        _text(self.debug_label, "debug_label", what)


@dataclass(frozen=True, slots=True)
class MemoryRead:
    """Read tagged pieces of one SIP's memory to the host (ADR-0012 D6)."""

    envelope: Envelope
    sources: tuple[ShardRef, ...]
    dst_kind: str = "host_sink"
    debug_label: str | None = None

    def __post_init__(self) -> None:
        what = f"memory read {_request_id(self.envelope)}"
        if not self.sources:
            raise UsageError(f"{what}: no shard to read")
        for source in self.sources:
            _tagged(source, "source", what)
        if len({s.sip for s in self.sources}) != 1:
            raise UsageError(f"{what}: its shards lie on more than one SIP")
        _one_of(self.dst_kind, ("host_sink", "discard"), "dst_kind", what)
        _text(self.debug_label, "debug_label", what)


@dataclass(frozen=True, slots=True)
class MapEntry:
    """``nbytes`` at virtual (``la`` model: logical) address ``va`` are found at physical address ``pa``."""

    va: int
    pa: int
    nbytes: int

    def __post_init__(self) -> None:
        _whole(self.va, "va", "mapping")
        _whole(self.pa, "pa", "mapping")
        _whole(self.nbytes, "nbytes", "mapping", minimum=1)


@dataclass(frozen=True, slots=True)
class MapRequest:
    """Install ``entries`` in the MMUs (BAAWs) of ``pes``, each ``(cube, pe)``, of one SIP, or remove them."""

    envelope: Envelope
    sip: int
    pes: tuple[tuple[int, int], ...]
    entries: tuple[MapEntry, ...]
    install: bool = True

    def __post_init__(self) -> None:
        what = f"map request {self.envelope.request_id}"
        _whole(self.sip, "sip", what)
        if not self.pes or not self.entries:
            raise UsageError(f"{what}: it names no PE or no entry")


@dataclass(frozen=True, slots=True)
class TensorArgRef:
    """A tensor argument of a launch: its shards, tagged; ``va`` its virtual or logical base, or ``None``."""

    name: str
    shards: tuple[ShardRef, ...]
    va: int | None

    def __post_init__(self) -> None:
        if not self.shards:
            raise UsageError(f"tensor argument '{self.name}': it has no shard, so no PE holds any of it")
        for shard in self.shards:
            _tagged(shard, "shard", f"tensor argument '{self.name}'")


@dataclass(frozen=True, slots=True)
class KernelRef:
    """The kernel of a launch (ADR-0012 D7).

    ``builtin``: every PE has it. ``deployed``: ``nbytes_code`` bytes of code lie at the tagged addresses of
    ``deployments``, one for each SIP of the launch, where memory writes have put them.
    """

    name: str
    kind: str = "builtin"
    deployments: tuple[ShardRef, ...] = ()
    nbytes_code: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise UsageError("launch: the kernel has no name")
        what = f"kernel '{self.name}'"
        _one_of(self.kind, ("deployed", "builtin"), "kind", what)
        _whole(self.nbytes_code, "nbytes_code", what)
        for shard in self.deployments:
            _tagged(shard, "deployment", what)
            if shard.nbytes != self.nbytes_code:
                raise UsageError(
                    f"{what}: {shard.nbytes} bytes are deployed, its code has {self.nbytes_code}"
                )
        if (self.kind == "deployed") != bool(self.deployments):
            raise UsageError(f"{what}: a deployed kernel, and no other, names where its code lies")


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """Run ``kernel`` on every PE that holds a shard of one of its tensor arguments (ADR-0012 D7).

    ``scalars`` are passed as they are. ``grid`` and ``meta`` are free for tools and have no effect.
    """

    envelope: Envelope
    kernel: KernelRef
    tensors: tuple[TensorArgRef, ...]
    scalars: Mapping[str, object]
    failure_policy: str = "fail_fast"
    grid: Mapping[str, int] | None = None
    meta: Mapping[str, object] | None = None
    debug_label: str | None = None

    def __post_init__(self) -> None:
        _request_id(self.envelope)
        if not isinstance(self.kernel, KernelRef):
            raise UsageError(f"launch: kernel is {self.kernel!r}; pass a KernelRef")
        what = f"launch '{self.kernel.name}'"
        if not self.tensors:
            raise UsageError(f"{what}: no tensor argument, so no PE to run on; pass at least one tensor")
        for tensor in self.tensors:
            if not isinstance(tensor, TensorArgRef):
                raise UsageError(f"{what}: tensor argument {tensor!r} is no TensorArgRef")
        _one_of(self.failure_policy, FAILURE_POLICIES, "failure_policy", what)
        _text(self.debug_label, "debug_label", what)

    @property
    def targets(self) -> tuple[tuple[int, int, int], ...]:
        """The PEs ``(sip, cube, pe)`` that hold a shard of any tensor argument, ascending."""
        return tuple(sorted({(s.sip, s.cube, s.pe) for t in self.tensors for s in t.shards}))


@dataclass(frozen=True, slots=True)
class Completion:
    """How a request, or a whole run, ended; ``error_code`` and ``error_message`` are ``None`` when ``ok``."""

    ok: bool
    error_code: str | None = None
    error_message: str | None = None

    def __post_init__(self) -> None:
        if self.ok and (self.error_code is not None or self.error_message is not None):
            raise UsageError("completion: ok carries no error")
        if not self.ok and not self.error_code:
            raise UsageError("completion: a failure needs an error_code")


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request: its ids, and how it ended (ADR-0012 D3)."""

    correlation_id: str
    request_id: str
    completion: Completion


def check_tags(shards: Iterable[ShardRef], addresses: AddressMap, what: str) -> None:
    """Refuse a shard whose tag is not where its address leads.

    Raises:
        UsageError: its bytes do not lie in one memory of the PE (an SRAM: of the cube) that its tag names.
        AddressError: its address leads nowhere.
    """
    for shard in shards:
        found = addresses.resolve(shard.pa)
        if addresses.resolve(shard.pa + shard.nbytes - 1).component != found.component:
            raise UsageError(f"{what}: {shard.nbytes} bytes at {shard.pa:#x} leave '{found.component}'")
        at = names.parse(found.component)
        tag = (shard.sip, shard.cube, shard.pe)
        if tag != (at.sip, at.cube, shard.pe if found.kind == "sram" else at.pe):
            raise UsageError(
                f"{what}: a shard is tagged {tag}, but its address {shard.pa:#x} is in '{found.component}'"
            )
