"""Which SIPs a run uses, and which of them is current."""

from __future__ import annotations

import re

from kernbench.errors import UsageError

_SIP = re.compile(r"sip:(\d+)")


def parse_device(selector: str, sips: int) -> tuple[int, ...]:
    """The SIPs that ``selector`` names: ``"all"`` or ``"sip:N"``. Others are a :class:`UsageError`."""
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
    """``torch.ahbm``: which SIP tensors are made on (ADR-0024 D3).

    Without a call every tensor is made on each SIP of the device selection, and a launch runs on each.
    """

    def __init__(self, selected: tuple[int, ...]) -> None:
        self._selected = selected
        self._current: int | None = None

    def set_device(self, device: int | None) -> None:
        """Make tensors on SIP ``device`` from now on; ``None`` goes back to the whole selection."""
        if device is not None and (isinstance(device, bool) or device not in self._selected):
            exists = ", ".join(map(str, self._selected))
            raise UsageError(
                f"set_device({device!r}): SIP not in this run's device selection; use one of {exists}"
            )
        self._current = device

    def current_device(self) -> int | None:
        """The SIP set last, ``None`` when the whole selection is in use."""
        return self._current

    def device_count(self) -> int:
        """Number of SIPs in the device selection."""
        return len(self._selected)

    @property
    def sips(self) -> tuple[int, ...]:
        """The SIPs that a tensor made now lies on, ascending."""
        return self._selected if self._current is None else (self._current,)


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
