"""What is compiled, and the digest that ties it to its source. The build runs this file by itself."""

from __future__ import annotations

import hashlib
from pathlib import Path

CONTAINERS = ("queue", "columns")
"""Modules of ``kernbench.engine.core`` in two forms: ``.pyx`` is compiled, ``.py`` runs where nothing is."""

RULES = (
    "holding", "occupancy", "server", "transaction", "node", "clock", "inputs", "vc_allocation", "port",
    "fabric", "rows", "ledger",
    "fifo_monitor",
)  # fmt: skip
"""Modules of ``kernbench.engine.core`` that are compiled from the ``.py`` file."""

ARBITERS = ("fifo", "oldest_first", "priority", "round_robin")
"""Modules of ``kernbench.engine.arbiters`` that are."""

COMPONENTS = (
    "base", "access", "dma", "memory", "sram", "hbm", "dram_timing", "dram_state", "dram_window",
    "dram_commands", "dram_channel", "dram_bus", "dram_request", "hbm_dram", "hbm_cached", "transit",
    "pe_tcm", "pe_component", "pe_compute", "pe_fetch_store", "pe_dma", "pe_scheduler", "pe_ipcq",
    "command_issue", "pe_cpu", "launch_stamp",
)  # fmt: skip
"""Modules of ``kernbench.engine.components`` that are."""

ADDRESSES = ("extent_map", "page_table", "requests", "address_map")
"""Modules of ``kernbench.hardware.address`` that are, beside ``free_list``."""

KERNELS = ("handles", "scratch", "issue", "thread")
"""Modules of ``kernbench.language`` that are: what each ``tl`` call passes."""

FOLLOWED = ("dependencies", "recorder", "races")
"""Modules of ``kernbench.values`` that are: what is found of each operation as it ends."""

MODULES = {
    "kernbench.hardware.routing.containers": "pyx",
    "kernbench.hardware.routing.tables": "py",
    "kernbench.hardware.routing.router": "py",
    "kernbench.engine.program.operations": "py",
    "kernbench.engine.program.tile_plans": "py",
    "kernbench.engine.program.computing": "py",
    **{f"kernbench.engine.core.{name}": "pyx" for name in CONTAINERS},
    **{f"kernbench.engine.core.{name}": "py" for name in RULES},
    **{f"kernbench.engine.arbiters.{name}": "py" for name in ARBITERS},
    **{f"kernbench.engine.components.{name}": "py" for name in COMPONENTS},
    "kernbench.hardware.address.free_list": "py",
    **{f"kernbench.hardware.address.{name}": "py" for name in ADDRESSES},
    **{f"kernbench.language.{name}": "py" for name in KERNELS},
    **{f"kernbench.values.{name}": "py" for name in FOLLOWED},
}
"""The compiled modules, each after those whose types it uses, with the ending of what it is compiled from."""

SHARED = "kernbench.support.compiled.shared"
"""The extension module of Cython's own helpers, which all the others import."""

STAMP = "kernbench/support/compiled/sources.txt"
"""The file beside the compiled modules with the digest of what they were compiled from."""


def source(root: Path, module: str) -> Path:
    """The file that a module is compiled from."""
    return root.joinpath(*module.split(".")).with_suffix(f".{MODULES[module]}")


def digest(root: Path) -> str:
    """Digest of all that is compiled, below ``root``; empty where there are no declarations (``.pxd``)."""
    found = [source(root, module) for module in MODULES]
    found += [path for module in MODULES if (path := source(root, module).with_suffix(".pxd")).exists()]
    content = hashlib.sha256()
    for path in found:
        if not path.exists():
            return ""
        content.update(path.name.encode() + b"\n" + path.read_bytes())
    return content.hexdigest()[:16]
