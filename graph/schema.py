"""What a run and a topology look like: as archive tables, and as a property graph.

One description, in frozen dataclasses, from which everything else is made: the column types of the
Parquet archive (:mod:`graph.columns`), the typed tables of the embedded Cypher engine
(:mod:`graph.stores.ladybug_ddl`) and the reference page (:mod:`graph.reference`). A store that needs
constraints or indexes takes them from :attr:`NodeLabel.key` and from the properties marked ``indexed``.

Units: times are float nanoseconds, sizes bytes, bandwidths GB/s (10^9 bytes/s), lengths millimetres.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

SCHEMA_VERSION = 1
"""Raised whenever a table, a column or its meaning changes; archives of another version are refused."""

PropertyType = Literal["string", "int64", "int32", "double", "bool"]
Record = Literal["run", "topology"]


@dataclass(frozen=True, slots=True)
class Property:
    """One typed property of a node or relationship, and one column of an archive table."""

    name: str
    type: PropertyType
    doc: str
    unit: str = ""
    indexed: bool = False
    """Worth an index where a store has them, because questions select by it."""


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A node label. ``key`` is the property that identifies a node within its graph."""

    name: str
    doc: str
    properties: tuple[Property, ...]
    key: str = "id"

    def property(self, name: str) -> Property:
        """The property of that name; ``KeyError`` when there is none."""
        for candidate in self.properties:
            if candidate.name == name:
                return candidate
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship type and the pairs of labels ``(from, to)`` that it may join."""

    type: str
    doc: str
    pairs: tuple[tuple[str, str], ...]
    properties: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """One Parquet file of a record. ``references`` maps a column to the tables its ids must be in."""

    name: str
    record: Record
    doc: str
    columns: tuple[Property, ...]
    key: str = ""
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    absent: Mapping[str, str | int] = field(default_factory=dict)
    """Column -> the value that stands for "refers to nothing" and is exempt from ``references``."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The whole description; order is the order in which things are written, created and documented."""

    version: int
    labels: tuple[NodeLabel, ...]
    relationships: tuple[Relationship, ...]
    tables: tuple[Table, ...]
    run_info: tuple[Property, ...]
    """Properties of the Run node, which are kept in the manifest rather than in a table."""

    def label(self, name: str) -> NodeLabel:
        """The label of that name; ``KeyError`` when there is none."""
        return {label.name: label for label in self.labels}[name]

    def relationship(self, type_: str) -> Relationship:
        """The relationship of that type; ``KeyError`` when there is none."""
        return {rel.type: rel for rel in self.relationships}[type_]

    def table(self, name: str) -> Table:
        """The archive table of that name; ``KeyError`` when there is none."""
        return {table.name: table for table in self.tables}[name]

    def record_tables(self, record: Record) -> tuple[Table, ...]:
        """The tables that make up a record of that sort, in order."""
        return tuple(table for table in self.tables if table.record == record)


def _frozen(**entries: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(entries)


def _absent(**entries: str | int) -> Mapping[str, str | int]:
    return MappingProxyType(entries)


_P = Property
_PLACE = ("Component", "Link")

RUN_PROPERTIES = (
    _P("id", "string", "Run id, unique in its store.", indexed=True),
    _P("bench", "string", "Name of the bench, or of the traffic file, that was run.", indexed=True),
    _P("params", "string", "Parameters of the bench, as JSON text of an object."),
    _P("started_at", "string", "When the run began: ISO 8601 text, UTC."),
    _P("status", "string", "`ok` or `failed`."),
    _P("sim_ns", "double", "Simulated time from start to end.", "ns"),
    _P("wall_s", "double", "Time the run took on the machine that ran it.", "s"),
    _P("version", "string", "Version of KernBench that ran it."),
    _P("config_hash", "string", "Hash over everything that was configured: same hash, same run."),
    _P("seed", "int64", "Seed of random inputs; -1 when there was none."),
    _P("tags", "string", "What the user called it: JSON text of a list of strings."),
    _P("topology", "string", "Id of the topology it ran on."),
    _P("topology_name", "string", "Name of that topology."),
    _P("verified", "string", "`yes`, `no` or `not asked`."),
    _P("events", "int64", "Events that the engine processed."),
    _P("hops", "int64", "Hop rows recorded."),
    _P("flit_crossings", "int64", "Flits times places they went through."),
    _P("host", "string", "Name of the machine that ran it."),
)
WALL_CLOCK = ("id", "started_at", "wall_s", "host", "tags")
"""Run properties that differ between two identical runs; kept apart from the deterministic ones."""

TOPOLOGY_PROPERTIES = (
    _P("id", "string", "Hash of the validated specification: same id, same machine."),
    _P("name", "string", "Name given in the topology file."),
    _P("schema_version", "string", "Version of the topology file's format."),
    _P("spec", "string", "The validated specification as YAML or JSON text."),
)
COMPONENT_PROPERTIES = (
    _P("id", "string", "Component id, which is its full name.", indexed=True),
    _P("name", "string", "Full name, such as `sip0.cube0.r0c0`."),
    _P("kind", "string", "Sort of component, such as `router`, or level of the hierarchy.", indexed=True),
    _P("impl", "string", "Implementation that simulates it; empty for levels of the hierarchy."),
    _P("label", "string", "Second label, such as `Router`; a property where a node has one label only."),
    _P("sip", "int32", "SIP it belongs to; -1 when none."),
    _P("cube", "int32", "Cube within the SIP; -1 when none."),
    _P("pe", "int32", "PE within the cube; -1 when none."),
    _P("x_mm", "double", "Position within the package, to the right.", "mm"),
    _P("y_mm", "double", "Position within the package, downwards.", "mm"),
    _P("overhead_ns", "double", "Time that a transaction's first flit pays here.", "ns"),
    _P("attributes", "string", "Properties particular to the kind, as JSON text of an object."),
)
LINK_PROPERTIES = (
    _P("id", "string", "Link id: `source->target`.", indexed=True),
    _P("kind", "string", "Sort of link, such as `router_mesh`.", indexed=True),
    _P("bw_gbs", "double", "Peak bandwidth.", "GB/s"),
    _P("distance_mm", "double", "Length.", "mm"),
    _P("routing_weight", "double", "What routing adds up along a path.", "mm"),
)
TRANSACTION_PROPERTIES = (
    _P("id", "int64", "Number of the transaction within its run.", indexed=True),
    _P("kind", "string", "Sort of transaction, such as `dma_read`."),
    _P("src", "string", "Id of the component that sent it."),
    _P("dst", "string", "Id of the component it went to."),
    _P("bytes", "int64", "Payload.", "bytes"),
    _P("t_submit", "double", "When it was handed over.", "ns"),
    _P("t_done", "double", "When its answer was complete.", "ns"),
    _P("service_ns", "double", "Time spent being served.", "ns"),
    _P("wait_ns", "double", "Time spent behind other transactions.", "ns"),
    _P(
        "op",
        "int64",
        "Operation it belongs to, for a kernel's `launch_done` the one whose end it "
        "waited for last; -1 when none.",
    ),
)
OP_PROPERTIES = (
    _P("id", "int64", "Number of the operation within its run.", indexed=True),
    _P("kind", "string", "`memory`, `gemm`, `math`, `view` or `tile`."),
    _P("name", "string", "What it does, such as `dma_read` or `dot`."),
    _P("stage", "string", "Stage of a tile pipeline; empty when none."),
    _P("component", "string", "Id of the component that carried it out; empty when none."),
    _P("launch", "int64", "Launch it belongs to; -1 when none."),
    _P("parent", "int64", "Operation it is a part of; -1 when none."),
    _P("bytes", "int64", "Bytes moved or produced.", "bytes"),
    _P("t_ready", "double", "When the component received it.", "ns"),
    _P("t_start", "double", "When it began.", "ns"),
    _P("t_end", "double", "When it was done.", "ns"),
    _P("label", "string", "What a time line shows for it."),
)
HOP_PROPERTIES = (
    _P("seq", "int32", "Place in the transaction's way, from 0."),
    _P("t_in", "double", "First flit arrives.", "ns"),
    _P("t_start", "double", "First flit is served.", "ns"),
    _P("t_out", "double", "Last flit leaves.", "ns"),
    _P("service_ns", "double", "Time of the last flit here, less what it waited.", "ns"),
    _P("wait_ns", "double", "Time the last flit stood behind other transactions.", "ns"),
    _P("bytes", "int64", "Bytes that went through.", "bytes"),
)
WAIT_PROPERTIES = (
    _P("resource", "string", "Where it waited: id of the component, link or engine."),
    _P("ns", "double", "For how long.", "ns"),
    _P("holders", "int64", "How many holders this stands for: more than 1 where a long queue was folded."),
)
HAZARD = _P(
    "hazard", "string", "Why: `raw`, `war`, `waw`, `handle`, `stage`, `slot`, `issue`, `wait` or `buffer`."
)
USED_PROPERTIES = (
    _P("kind", "string", "Kind of the component or link."),
    _P("bytes", "int64", "Bytes that went through.", "bytes"),
    _P("busy_ns", "double", "Time in service.", "ns"),
    _P("wait_ns", "double", "Time that transactions stood in front of it.", "ns"),
    _P("utilisation", "double", "Busy time as a share of the run's time, 0 to 1."),
    _P("transactions", "int64", "Transactions that went through."),
    _P("max_queue", "int64", "Most transactions in its queue at once."),
)

LABELS = (
    NodeLabel("Topology", "A compiled machine, kept once per content hash.", TOPOLOGY_PROPERTIES),
    NodeLabel(
        "Component",
        "A part of the machine or a level of its hierarchy. Its second label is its kind.",
        COMPONENT_PROPERTIES,
    ),
    NodeLabel("Link", "A directed wire between two components; a node, so that traffic can attach to it.",
              LINK_PROPERTIES),
    NodeLabel("Run", "One simulation.", RUN_PROPERTIES),
    NodeLabel("Transaction", "One thing asked and answered, or one message.", TRANSACTION_PROPERTIES),
    NodeLabel("Op", "One data operation, or one stage of one tile of it.", OP_PROPERTIES),
)  # fmt: skip

RELATIONSHIPS = (
    Relationship("ON", "Where: a run on its topology, an operation on its component.",
                 (("Run", "Topology"), ("Op", "Component"))),
    Relationship("CONTAINS", "Hierarchy: tray, SIP, cube, PE, part; a topology contains all.",
                 (("Topology", "Component"), ("Topology", "Link"), ("Component", "Component"))),
    Relationship("OUT", "A component sends into this link.", (("Component", "Link"),)),
    Relationship("IN", "This link delivers to the component.", (("Link", "Component"),)),
    Relationship("CONNECTS", "Component to component over one link, for paths.",
                 (("Component", "Component"),),
                 (_P("link", "string", "Id of the link."), _P("kind", "string", "Kind of the link."),
                  _P("weight", "double", "Routing weight of the link.", "mm"),
                  _P("weight_east", "double", "`weight`, plus so little that it only settles ties: fewer "
                     "links first, then X before Y where the target is further right.", "mm"),
                  _P("weight_west", "double", "The same where the target is further left.", "mm"))),
    Relationship("SENT", "A run's transactions.", (("Run", "Transaction"),)),
    Relationship("CAUSED", "A transaction brought another about.", (("Transaction", "Transaction"),)),
    Relationship("HOP", "A place that a transaction went through.",
                 (("Transaction", "Link"), ("Transaction", "Component")), HOP_PROPERTIES),
    Relationship("WAITED_FOR", "A transaction stood behind another; only where it waited.",
                 (("Transaction", "Transaction"),), WAIT_PROPERTIES),
    Relationship("DID", "A run's operations.", (("Run", "Op"),)),
    Relationship("MOVED", "A transaction that an operation caused.", (("Op", "Transaction"),)),
    Relationship("DEPENDS_ON", "An operation could not begin before another.", (("Op", "Op"),), (HAZARD,)),
    Relationship("USED", "A run's use of one component or link, summed up.",
                 (("Run", "Link"), ("Run", "Component")), USED_PROPERTIES),
)  # fmt: skip

TABLES = (
    Table("Component", "topology", "Components and levels of the hierarchy.", COMPONENT_PROPERTIES, key="id"),
    Table("Link", "topology", "Directed links.",
          (*LINK_PROPERTIES[:2], _P("src", "string", "Component that sends."),
           _P("dst", "string", "Component that receives."), *LINK_PROPERTIES[2:]),
          key="id", references=_frozen(src=("Component",), dst=("Component",))),
    Table("Contains", "topology", "Hierarchy.",
          (_P("parent", "string", "Component that contains."), _P("child", "string", "Component in it.")),
          references=_frozen(parent=("Component",), child=("Component",))),
    Table("Transaction", "run", "Transactions.", TRANSACTION_PROPERTIES, key="id",
          references=_frozen(op=("Op",)), absent=_absent(op=-1)),
    Table("Caused", "run", "Transactions that brought others about.",
          (_P("parent", "int64", "The cause."), _P("child", "int64", "The effect.")),
          references=_frozen(parent=("Transaction",), child=("Transaction",))),
    Table("Hop", "run", "Places that transactions went through.",
          (_P("txn", "int64", "The transaction."), HOP_PROPERTIES[0],
           _P("resource", "string", "Component id or link id."),
           _P("is_link", "bool", "Whether `resource` is a link."), *HOP_PROPERTIES[1:]),
          references=_frozen(txn=("Transaction",), resource=_PLACE)),
    Table("WaitedFor", "run", "Who stood behind whom.",
          (_P("txn", "int64", "The transaction that waited."),
           _P("holder", "int64", "The transaction that held what it needed."), *WAIT_PROPERTIES),
          references=_frozen(txn=("Transaction",), holder=("Transaction",))),
    Table("Op", "run", "Operations.", OP_PROPERTIES, key="id",
          references=_frozen(component=("Component",), parent=("Op",)),
          absent=_absent(component="", parent=-1)),
    Table("DependsOn", "run", "Dependencies between operations.",
          (_P("op", "int64", "The operation that depends."),
           _P("on", "int64", "The operation that must come first."), HAZARD),
          references=_frozen(op=("Op",), on=("Op",))),
    Table("Moved", "run", "Transactions that operations caused.",
          (_P("op", "int64", "The operation."), _P("txn", "int64", "The transaction.")),
          references=_frozen(op=("Op",), txn=("Transaction",))),
    Table("Used", "run", "One row per component and link that was used.",
          (_P("resource", "string", "Component id or link id."),
           _P("is_link", "bool", "Whether `resource` is a link."), *USED_PROPERTIES),
          references=_frozen(resource=_PLACE)),
)  # fmt: skip

SCHEMA = Schema(SCHEMA_VERSION, LABELS, RELATIONSHIPS, TABLES, RUN_PROPERTIES)
"""The schema that this version of KernBench writes and reads."""
