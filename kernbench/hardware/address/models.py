"""The address models: what the addresses that kernels use mean. One model per run.

``va``: a tensor is one contiguous virtual range and each PE's :class:`~kernbench.hardware.address.PageTable`
translates it; an address that is not mapped is taken as a physical one. ``pa``: addresses are physical,
nothing is ever mapped, so the same (empty) page table is the identity. ``la``: a tensor is one contiguous
logical range and each PE's :class:`~kernbench.hardware.address.Baaw` resolves it, to one request or to one
for each pseudo-channel, as the topology maps channels.
"""

from __future__ import annotations

from enum import Enum

from kernbench.errors import ConfigError


class AddressModel(Enum):
    """How a kernel's address becomes a physical one."""

    VA = "va"
    PA = "pa"
    LA = "la"


def address_model(name: object) -> AddressModel:
    """The model called ``name``; :class:`ConfigError` lists the known ones."""
    try:
        return AddressModel(name)
    except ValueError:
        known = ", ".join(model.value for model in AddressModel)
        raise ConfigError(f"address_model {name!r} is not known; use one of {known}") from None
