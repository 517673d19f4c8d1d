"""Which SIPs a run uses, and which of them is current."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.host.scheduler import Scheduler

_SIP = re.compile(r"sip:(\d{1,9})")


def parse_device(selector: str | None, sips: int) -> tuple[int, ...]:
    """The SIPs that a run may use: ``"sip:N"`` is one, ``"all"`` and ``None`` are all of them.

    Raises:
        UsageError: ``selector`` is none of these, or there is no such SIP.
    """
    if selector is None:
        return tuple(range(sips))
    exists = "all, " + ", ".join(f"sip:{n}" for n in range(sips))
    if selector == "all":
        return tuple(range(sips))
    match = _SIP.fullmatch(selector) if isinstance(selector, str) else None
    if match is None:
        raise UsageError(f"device {selector!r} is not a device; use one of {exists}")
    number = int(match[1])
    if number >= sips:
        raise UsageError(f"device '{selector}' does not exist in this topology; use one of {exists}")
    return (number,)


class Ahbm:
    """``torch.ahbm``: which SIP tensors are made on.

    Every rank has a device of its own, before it sets one the SIP of its number in the device selection. The
    bench's own program makes tensors on ``default`` before it calls :meth:`set_device`: SIP 0, or with a
    device selection each of its SIPs. A launch runs wherever its tensors are.
    """

    def __init__(self, selected: tuple[int, ...], default: tuple[int, ...], scheduler: Scheduler) -> None:
        self._selected = selected
        self._default = default
        self._scheduler = scheduler

    def set_device(self, device: int | None) -> None:
        """Make tensors on SIP ``device`` from now on; ``None`` goes back to the default."""
        if device is not None and (isinstance(device, bool) or device not in self._selected):
            exists = ", ".join(map(str, self._selected))
            raise UsageError(
                f"set_device({device!r}): SIP not in this run's device selection; use one of {exists}"
            )
        self._scheduler.current.device = device

    def current_device(self) -> int | None:
        """The SIP that tensors are made on, ``None`` when the bench's default is in use."""
        program = self._scheduler.current
        if program.device is not None or program.rank is None:
            return program.device
        return self.sip_of(program.rank)

    def sip_of(self, rank: int) -> int:
        """The SIP of a rank: the one of that number in the device selection."""
        if rank >= len(self._selected):
            raise UsageError(
                f"rank {rank} has no SIP: this run uses {len(self._selected)}; start fewer ranks, or "
                "choose a SIP with torch.ahbm.set_device"
            )
        return self._selected[rank]

    def device_count(self) -> int:
        """Number of SIPs that :meth:`set_device` accepts."""
        return len(self._selected)

    @property
    def sips(self) -> tuple[int, ...]:
        """The SIPs that a tensor made now lies on, ascending."""
        current = self.current_device()
        return self._default if current is None else (current,)


class Accelerator:
    """``torch.accelerator``: the device-neutral spelling of :class:`Ahbm`; both share one state."""

    def __init__(self, ahbm: Ahbm) -> None:
        self._ahbm = ahbm

    def set_device_index(self, device: int | None) -> None:
        """As :meth:`Ahbm.set_device`."""
        self._ahbm.set_device(device)

    def current_device_index(self) -> int | None:
        """As :meth:`Ahbm.current_device`."""
        return self._ahbm.current_device()

    def device_count(self) -> int:
        """As :meth:`Ahbm.device_count`."""
        return self._ahbm.device_count()
