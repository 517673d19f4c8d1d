"""The part of the schema that follows from the properties of a run and of its topology alone.

Its rows are in every graph that has the run (:mod:`kernbench_graph.described`).
"""

from __future__ import annotations

from kernbench_graph.schema_types import Edges, Property, Relationship, Table, label_of

_P = Property
_TEXT = _P("text", "string", "Its value: text as it is, anything else as JSON.")
_VALUE = _P("value", "double", "Its value if that is a number.")

PARAM = Table("Param", "run", "Parameters of the bench.", (
    _P("name", "string", "Name of the parameter."), _TEXT, _VALUE,
), key="name", described=True)  # fmt: skip
TAG = Table("Tag", "run", "The user's tags; the points of a sweep have a tag in common.", (
    _P("name", "string", "The tag.", indexed=True),
), key="name", described=True)  # fmt: skip
CONFIGURED = Table("Configured", "run", "The configuration of a run.", (
    _P("what", "string", "`bench`, `parameter`, `topology`, `device`, `exact`, `component`, `version` or "
       "`source`: a line of the bench's file."),
    _P("name", "string", "The parameter, the dotted key of the topology file, the line."),
    _P("text", "string", "Its value: a text as it is, anything else as JSON; how often a line is there."),
    _VALUE,
    _P("number", "int64", "Its place in the configuration, from 0; of a line its number, from 1."),
), described=True)  # fmt: skip

SUBMITTED = Table("Submitted", "run", "Further columns of launches.", (
    _P("number", "int64", "Number of the launch within its run, from 0."),
    _P("rank", "int64", "Rank that submitted it; -1 for a bench without ranks.", default=-1),
    _P("sip", "int32", "SIP whose PEs ran it; -1 where those of several did, or unknown.", default=-1),
    _P("latency_ns", "double", "From submission to completion.", "ns", default=0.0),
    _P("launch_ns", "double", "Part of it before the common start of its PEs.", "ns", default=0.0),
    _P("call", "string", "File and line of the host's call that started it, where its kernel is KernBench's "
       "own, as that of a collective; else empty.", default=""),
    _P("for_pes", "int64", "How many PEs the job is for; 0 where the launch does not say.", default=0),
    _P("language", "string", "Language of its kernel: `tl`, or `triton` for blocks of a grid.", default="tl"),
    _P("blocks", "int64", "Blocks of its grid; 0 without one.", default=0),
    _P("grid", "string", "Blocks along each axis of its grid, as `8x4x1`; empty without one.", default=""),
    *(_P(name, "int64", f"{doc}; 0 without a grid, or unknown.", default=0) for name, doc in (
        ("num_warps", "Warps of a block, as the launch or its configuration has it"),
        ("num_stages", "Buffers of loads in a loop that does not say"),
        ("residents", "Most blocks that a PE had room for at a time"),
    )),
    _P("follows", "int64", "The launch that was simulated for this one, on another package; -1 where it was "
       "itself.", to="Launch", absent=-1, default=-1, shown=True),
    _P("times", "int64", "How often it happens: more than once in the last simulated period of a repeat.",
       default=1),
    _P("model_nodes", "string", "Nodes of a compiled model that it carries out, as `linear, gelu`.",
       default=""),
    _P("model_line", "string", "File and line of the model where these are; empty where it is not known.",
       default=""),
), key="number", described=True)  # fmt: skip
REPEATED = Table("Repeated", "run", "Launches of a kernel that was launched before.", (
    _P("launch", "int64", "The launch.", to="Launch"),
    _P("before", "int64", "The last one before it of that kernel, by the same rank.", to="Launch"),
), described=True)  # fmt: skip

TAG_PREFIX = "tag:"
"""Of the ids of nodes of tags within their run."""
DESCRIBED_TABLES = (PARAM, TAG, CONFIGURED, SUBMITTED, REPEATED)
DESCRIBED_LABELS = (
    label_of(PARAM, "A parameter of the bench, with the value that the run had.", "param:"),
    label_of(TAG, "A tag of the run. Each run has nodes of its own: runs that share a tag do by its name.",
             TAG_PREFIX),
)  # fmt: skip
DESCRIBED_RELATIONSHIPS = (
    Relationship("HAS_PARAM", "A run's parameters.", (Edges("Param", ("Run", ""), ("Param", "name")),)),
    Relationship("TAGGED", "A run's tags.", (Edges("Tag", ("Run", ""), ("Tag", "name")),)),
    Relationship("REPEATS", "The launch before it of the same kernel by the same rank.",
                 (Edges("Repeated", ("Launch", "launch"), ("Launch", "before")),)),
    Relationship("CONFIGURED", "One thing that was configured for a run.",
                 (Edges("Configured", ("Run", ""), ("Topology", "")),),
                 tuple(CONFIGURED.column(name) for name in ("what", "name", "text", "value", "number"))),
)  # fmt: skip
