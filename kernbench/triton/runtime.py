"""``triton.runtime``: the machine that kernels run on, as ``driver.active`` describes a GPU."""

from __future__ import annotations

from typing import Any

from kernbench.errors import UsageError
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.host.context import Context
from kernbench.host.current import context_of


def context(what: str) -> Context:
    """The context of the program that is running; an error of ``what`` where there is none."""
    try:
        return context_of(None, what)
    except UsageError:
        raise UsageError(f"{what} is for programs on a machine: call it in a bench's run(torch)") from None


_REGISTERS = 65536
"""What a PE has for its blocks, as programs for GPUs divide it: see ``triton.launching.Compiled``."""


class _Utils:
    def get_device_properties(self, device: int | None = 0) -> dict[str, Any]:
        """Of the machine: PEs of a SIP as multiprocessors, their scratch, their clock."""
        graph = context("triton.runtime.driver").graph
        pe = next(iter(graph.nodes("PeTcm")))
        cpu = next(iter(graph.nodes("PeCpu")))
        return {
            "multiprocessor_count": sum(MachineShape.of(graph).pes_of(0)),
            "max_shared_mem": int(pe.properties["scratch_bytes"]),
            "warpSize": 1,
            "max_num_regs": _REGISTERS,
            "max_warps": int(graph.node(cpu.id.rpartition(".")[0]).properties.get("warps", 0)),
            "sm_clock_rate": float(cpu.properties["clock_ghz"]) * 1e6,
        }


class _Target:
    backend = "kernbench"
    arch = "kernbench"
    warp_size = 1


class _Active:
    """The driver of the machine."""

    utils = _Utils()

    def get_current_device(self) -> int:
        """The number of the machine."""
        return 0

    def get_active_torch_device(self) -> str:
        """The SIP that tensors are made on, as ``x.device`` says it."""
        return f"sip:{context('triton.runtime.driver').ahbm.sips[0]}"

    def get_current_target(self) -> _Target:
        """What kernels are made for."""
        return _Target()

    def get_device_interface(self) -> Context:
        """The context, ``torch`` of a bench."""
        return context("triton.runtime.driver")


class _Driver:
    active = _Active()


driver = _Driver()
"""``driver.active.utils.get_device_properties(0)["multiprocessor_count"]`` and similar calls."""
