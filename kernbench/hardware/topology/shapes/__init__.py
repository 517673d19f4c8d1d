"""Machines of any shape: parts, blocks, wires and the patterns that join them, as a topology file has them.

:mod:`~kernbench.hardware.topology.shapes.model` says what the file may say; ``elaborate`` makes rows of nodes
and links
of it; ``emit`` makes the property graph of these.
"""
