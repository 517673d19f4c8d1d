"""Adds the pseudo-channels of a compiled machine: parts of the HBM slices, for use to be counted at.

They have no wires, take no traffic by themselves and no implementation. What they are made from are the
slices' own properties, whatever the file's overrides have made of them.
"""

from __future__ import annotations

from kernbench.topology import names
from kernbench.topology.builder import Builder
from kernbench.topology.properties import part


def add_channels(build: Builder) -> None:
    """Add the channels of every slice, slice after slice."""
    for slice_ in [node for node in build.graph.nodes() if node.properties["kind"] == "hbm_ctrl"]:
        p = slice_.properties
        for channel in range(int(p["n_channels"])):
            name = names.pseudo_channel(int(p["sip"]), int(p["cube"]), int(p["slice"]), channel)
            own = {"slice": p["slice"], "channel": channel, "bw_gbs": p["channel_gbs"]}
            build.add(part(name, slice_, "pseudo_channel", own), slice_.id)
