"""What the host says to a device: messages that are checked when they are made (ADR-0012).

Every shard carries its (sip, cube, pe) tag, so the device fans out without decoding addresses. Bulk data
never rides in a message; a launch names its kernel and carries no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kernbench.errors import UsageError


def _whole(value: object, field: str, what: str, minimum: int = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise UsageError(f"{what}: {field} is {value!r}; it must be a whole number of {minimum} or more")


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every request carries: who asks (``correlation_id``), which request, of which device."""

    correlation_id: str
    request_id: str
    target_device: str

    def __post_init__(self) -> None:
        for field in ("correlation_id", "request_id", "target_device"):
            value = getattr(self, field)
            if not isinstance(value, str) or not value:
                raise UsageError(f"message envelope: {field} is {value!r}; it must be a non-empty string")


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
class MemoryWrite:
    """Write one tagged piece of device memory from the host."""

    envelope: Envelope
    target: ShardRef


@dataclass(frozen=True, slots=True)
class MemoryRead:
    """Read tagged pieces of one SIP's memory to the host."""

    envelope: Envelope
    sources: tuple[ShardRef, ...]

    def __post_init__(self) -> None:
        if not self.sources:
            raise UsageError(f"memory read {self.envelope.request_id}: no shard to read")
        if len({s.sip for s in self.sources}) != 1:
            raise UsageError(f"memory read {self.envelope.request_id}: its shards lie on more than one SIP")


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
            if not isinstance(shard, ShardRef):
                raise UsageError(
                    f"tensor argument '{self.name}': shard {shard!r} carries no (sip, cube, pe) tag"
                )


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """Run kernel ``kernel`` on every PE that holds a shard of one of its tensor arguments."""

    envelope: Envelope
    kernel: str
    tensors: tuple[TensorArgRef, ...]
    scalars: Mapping[str, object]

    def __post_init__(self) -> None:
        if not self.kernel:
            raise UsageError("launch: the kernel has no name")
        if not self.tensors:
            raise UsageError(
                f"launch '{self.kernel}': no tensor argument, so no PE to run on; pass at least one tensor"
            )

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
