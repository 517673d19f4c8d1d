"""The part of the schema that is added to runs that are kept already: answers of analyses, and annotations.

An analysis that has parameters, such as the route from one component to another, has an answer for each of
their values. Each is added when a question first asks for it (:mod:`kernbench_graph.added`), and is part of
the run's graph from then on.
"""

from __future__ import annotations

from kernbench_graph.schema_types import Edges, Property, Relationship, Table, label_of

_P = Property
_SRC = _P("src", "string", "Start, by the name in the question.")
_DST = _P("dst", "string", "End, by the name in the question.")
_TRAFFIC = _P("traffic", "string", "Kind of traffic, such as `PE_DMA`.")
_LOST = _P(
    "lost", "string", "What had failed: a link, component or group; empty for the whole machine.", default=""
)
_VIA = _P(
    "via", "string", "Channel router by which the HBM slice is entered, if it has any; empty for the first."
)
_WEIGHT = _P("weight", "double", "Routing weight of the route.")
_HOPS = _P("hops", "int64", "Links on the route.")
_NS = _P("ns", "double", "Time of a message without payload, on an idle machine.", "ns")
_REACHABLE = _P("reachable", "bool", "Whether there is a route; if not, the figures are 0.")


def _key(doc: str) -> Property:
    return _P("name", "string", doc)


def _seq(doc: str) -> Property:
    return _P("seq", "int32", doc)


WAY = Table("Way", "run", "Routes that questions asked for.", (
    _key("Both ends, the traffic and the rest of what was asked, in words."),
    _SRC, _DST, _TRAFFIC, _VIA, _LOST, _WEIGHT, _HOPS, _NS,
), key="name", added=True)  # fmt: skip
PASSED = Table("Passed", "run", "Links of ways, in order.", (
    _P("way", "string", "The way.", to="Way"),
    _seq("Position on it, from 1."),
    _P("link", "string", "The link.", to="Link"),
), added=True)  # fmt: skip
ROUTES = Table("Routes", "run", "Ends whose shortest routes questions asked for.", (
    _key("Both ends, the traffic and the rest of what was asked, in words."),
    _SRC, _DST, _TRAFFIC, _VIA, _LOST,
    _P("most", "int64", "How many routes were asked for."),
), key="name", added=True)  # fmt: skip
ALTERNATIVE = Table("Alternative", "run", "Shortest routes between two ends.", (
    _key("What was asked, in words, and the rank."),
    _P("routes", "string", "What was asked.", to="Routes"),
    _P("rank", "int64", "Order by weight, from 1: the simulator's route."),
    _WEIGHT, _HOPS, _NS,
    _P("gbs", "double", "Bandwidth of its narrowest link.", "GB/s"),
), key="name", added=True)  # fmt: skip
ALTERNATIVE_PASSED = Table("AlternativePassed", "run", "Links of shortest routes, in order.", (
    _P("alternative", "string", "The route.", to="Alternative"),
    _seq("Position on it, from 1."),
    _P("link", "string", "The link.", to="Link"),
), added=True)  # fmt: skip
REACH = Table("Reach", "run", "Starts of distances that questions asked for.", (
    _key("The start, the kind of component and the traffic, in words."),
    _SRC,
    _P("kind", "string", "Kind of the components at the other end; empty for all."),
    _TRAFFIC, _LOST,
), key="name", added=True)  # fmt: skip
REACHED = Table("Reached", "run", "Distances to components.", (
    _P("reach", "string", "Start of the distance.", to="Reach"),
    _P("component", "string", "The component.", to="Component"),
    _REACHABLE, _WEIGHT, _HOPS, _NS,
), added=True)  # fmt: skip
FAULT = Table("Fault", "run", "Failures that questions asked about.", (
    _key("Name of the link, component or group of components that fails."),
    _P("links", "int64", "Links that fail with it, both directions counted."),
), key="name", added=True)  # fmt: skip
DETOUR = Table("Detour", "run", "Pairs of ends whose route a fault changes.", (
    _key("The fault, both ends and the traffic, in words."),
    _P("fault", "string", "The fault.", to="Fault"),
    _P("src", "string", "Component that sends."),
    _P("dst", "string", "Component that receives."),
    _TRAFFIC,
    _P("transactions", "int64", "Transactions of the run between them."),
    _REACHABLE,
    _P("weight", "double", "Routing weight of the route without the fault."),
    _P("new_weight", "double", "Routing weight of the new route."),
    _P("ns", "double", "Time of a message without payload over the route without the fault.", "ns"),
    _P("new_ns", "double", "The same over the new route.", "ns"),
), key="name", added=True)  # fmt: skip
DETOUR_PASSED = Table("DetourPassed", "run", "Links of new routes, in order.", (
    _P("detour", "string", "The detour.", to="Detour"),
    _seq("Position on the new route, from 1."),
    _P("link", "string", "The link.", to="Link"),
), added=True)  # fmt: skip
SINGLE_POINTS = Table("SinglePoints", "run", "Pairs of sets whose single points of failure were asked for.", (
    _key("Both sets and the traffic, in words."),
    _P("src", "string", "The component or group that sends."),
    _P("dst", "string", "The component or group that receives."),
    _TRAFFIC,
), key="name", added=True)  # fmt: skip
NEEDED = Table("Needed", "run", "Links and components on every path between two sets.", (
    _P("points", "string", "The sets.", to="SinglePoints"),
    _seq("Order along the paths, from 1."),
    _P("link", "string", "The link; empty where it is a component.", to="Link", absent=""),
    _P("component", "string", "The component; empty where it is a link.", to="Component", absent=""),
), added=True)  # fmt: skip

CUT = Table("Cut", "run", "Cuts through the machine that questions asked for.", (
    _key("Both parts, in words."),
    _P("kind", "string", "`between` two parts; `minimum`: of all cuts between them that of least bandwidth; "
       "`bisection`: the same between two halves of the machine."),
    _P("src", "string", "The one part; empty for a half of the machine."),
    _P("dst", "string", "The other part; empty for everything outside of the first."),
    _LOST,
    _P("gbs", "double", "Bandwidth of its links away from the first part or half.", "GB/s"),
    _P("straight", "bool", "Whether links lead directly from one part to the other; if not, a cut `between` "
       "them has all links at the edge of the first."),
    _P("first", "string", "What is on its first side: the one part, or the packages, chiplets or PEs of one "
       "half."),
    _P("exact", "bool", "Whether no other cut of its kind has less bandwidth; if not, not all were tried."),
), key="name", added=True)  # fmt: skip
CROSSED = Table("Crossed", "run", "Links of cuts.", (
    _P("cut", "string", "The cut.", to="Cut"),
    _P("link", "string", "The link.", to="Link"),
    _P("back", "bool", "Whether it leads to the first part."),
), added=True)  # fmt: skip
CONE = Table("Cone", "run", "Transactions whose causes questions asked for.", (
    _key("The transaction, in words."),
    _P("txn", "int64", "The late transaction.", to="Transaction", shown=True),
), key="name", added=True)  # fmt: skip
BEHIND = Table("Behind", "run", "Transactions that delayed another one, directly or through others.", (
    _P("cone", "string", "The cone of the late one.", to="Cone"),
    _P("txn", "int64", "The transaction.", to="Transaction"),
    _P("depth", "int64", "Fewest steps from the late one."),
    _P("relation", "string", "How it was reached: `WAITED_FOR` or `CAUSED_BY`."),
    _P("through", "int64", "The transaction or operation one step nearer."),
    _P("resource", "string", "Where that one waited for it; empty for `CAUSED_BY`."),
    _P("lost_ns", "double", "Length of the longest such wait; 0 for `CAUSED_BY`.", "ns"),
), added=True)  # fmt: skip
MEETINGS = Table("Meetings", "run", "Places whose meetings of transactions questions asked for.", (
    _key("The place, the time and how many, in words."),
    _P("resource", "string", "Name of the component or link."),
    _P("from_ns", "double", "Start of the time range.", "ns"),
    _P("most", "int64", "Maximum number of meetings, earliest first."),
), key="name", added=True)  # fmt: skip
MEETING = Table("Meeting", "run", "Two transactions that were at a place at the same time.", (
    _key("The place and the number of the meeting, in words."),
    _P("meetings", "string", "What the question asked for.", to="Meetings"),
    _P("first", "int64", "The one with the lower number.", to="Transaction"),
    _P("second", "int64", "The other one.", to="Transaction"),
    _P("t_ns", "double", "When they met.", "ns"),
    _P("together_ns", "double", "For how long.", "ns"),
), key="name", added=True)  # fmt: skip
LINEAGE = Table("Lineage", "run", "Operations whose lineage questions asked for.", (
    _key("The operation, in words."),
    _P("op", "int64", "The operation.", to="Op", shown=True),
), key="name", added=True)  # fmt: skip
CAME_FROM = Table("CameFrom", "run", "Operations that the value of another one comes from.", (
    _P("lineage", "string", "The lineage of the value.", to="Lineage"),
    _P("op", "int64", "The operation.", to="Op"),
    _P("depth", "int64", "Fewest steps from the operation."),
    _P("hazard", "string", "`handle`: its result is an operand of `through`; `raw`: through memory."),
    _P("through", "int64", "The transaction or operation one step nearer."),
), added=True)  # fmt: skip

ANNOTATION = Table("Annotation", "run", "Values or texts that users and analyses attach to nodes.", (
    _key("Name that it was given."),
    _P("holds", "string", "`number` or `text`: whether its marks use `value` or `text`."),
    _P("nodes", "int64", "Nodes that it is about."),
), key="name", added=True)  # fmt: skip
_MARKED = (
    ("component", "Component", "string"), ("link", "Link", "string"), ("use", "Use", "string"),
    ("launch", "Launch", "int64"), ("op", "Op", "int64"), ("txn", "Transaction", "int64"),
    ("tensor", "Tensor", "int64"), ("route", "Route", "int64"),
)  # fmt: skip
MARK = Table("Mark", "run", "One value or text for one node; the other nodes are absent.", (
    _P("annotation", "string", "The annotation.", to="Annotation"),
    _P("value", "double", "The number; 0 where it is a text."),
    _P("text", "string", "The text; empty where it is a number."),
    *(
        _P(name, "int64", "The node.", to=label, absent=-1, default=-1) if kind == "int64" else
        _P(name, "string", "The node.", to=label, absent="", default="")
        for name, label, kind in _MARKED
    ),
), added=True)  # fmt: skip
MARKED = {label: name for name, label, _ in _MARKED}
"""The labels whose nodes can be annotated, and the column of :data:`MARK` for each."""

NOTE = "annotation "
"""What the names of users' annotations begin with as additions: nothing can work them out again."""

ADDED_TABLES = (
    WAY, PASSED, ROUTES, ALTERNATIVE, ALTERNATIVE_PASSED, REACH, REACHED, FAULT, DETOUR, DETOUR_PASSED,
    SINGLE_POINTS, NEEDED, CUT, CROSSED, CONE, BEHIND, MEETINGS, MEETING, LINEAGE, CAME_FROM, ANNOTATION,
    MARK,
)  # fmt: skip
_WHEN = "Added when a question first asks for it."
ADDED_LABELS = (
    label_of(WAY, f"A route that the simulator takes. {_WHEN}", "way:"),
    label_of(ROUTES, f"Two ends and the shortest routes between them. {_WHEN}", "routes:"),
    label_of(ALTERNATIVE, "One of the shortest routes between two ends.", "alternative:"),
    label_of(REACH, f"A start of routes to all components, or to those of a kind. {_WHEN}", "reach:"),
    label_of(FAULT, f"A part that fails. {_WHEN}", "fault:"),
    label_of(DETOUR, "A pair of ends whose route changes when a part fails.", "detour:"),
    label_of(SINGLE_POINTS, f"Two sets of components and all that every path between them needs. {_WHEN}",
             "points:"),
    label_of(CUT, f"Two parts of the machine and the links between them. {_WHEN}", "cut:"),
    label_of(CONE, f"A late transaction and all that delayed it. {_WHEN}", "cone:"),
    label_of(MEETINGS, f"A component or link at which transactions met. {_WHEN}", "meetings:"),
    label_of(MEETING, "Two transactions that were at a place at the same time.", "meeting:"),
    label_of(LINEAGE, f"An operation and all that its value comes from. {_WHEN}", "lineage:"),
    label_of(ANNOTATION, "Numbers or texts for nodes of the run and its topology.", "annotation:"),
)  # fmt: skip
_WAY, _REACH, _FAULT, _DETOUR, _POINTS, _CUT, _CONE, _MEETINGS, _LINEAGE = (
    (label, "name")
    for label in ("Way", "Reach", "Fault", "Detour", "SinglePoints", "Cut", "Cone", "Meetings", "Lineage")
)
_MEETING, _RUN = ("Meeting", "name"), ("Run", "")


ADDED_RELATIONSHIPS = (
    Relationship("WORKED_OUT", "Results of analyses that questions asked for.", (
        Edges("Way", _RUN, _WAY), Edges("Routes", _RUN, ("Routes", "name")), Edges("Reach", _RUN, _REACH),
        Edges("Fault", _RUN, _FAULT), Edges("SinglePoints", _RUN, _POINTS), Edges("Cut", _RUN, _CUT),
        Edges("Cone", _RUN, _CONE), Edges("Meetings", _RUN, _MEETINGS), Edges("Lineage", _RUN, _LINEAGE),
    )),
    Relationship("OFFERS", "One of the shortest routes between two ends.",
                 (Edges("Alternative", ("Routes", "routes"), ("Alternative", "name")),)),
    Relationship("PASSES", "A link of a route, or of a detour.", (
        Edges("Passed", ("Way", "way"), ("Link", "link")),
        Edges("AlternativePassed", ("Alternative", "alternative"), ("Link", "link")),
        Edges("DetourPassed", ("Detour", "detour"), ("Link", "link")),
    ), (_seq("Position on it, from 1."),)),
    Relationship("REACHES", "A component, and how far it is.",
                 (Edges("Reached", ("Reach", "reach"), ("Component", "component")),),
                 (_REACHABLE, _WEIGHT, _HOPS, _NS)),
    Relationship("REROUTES", "A pair of ends whose route a fault changes.",
                 (Edges("Detour", ("Fault", "fault"), _DETOUR),)),
    Relationship("NEEDS", "A link or component on every path between two sets.", (
        Edges("Needed", ("SinglePoints", "points"), ("Link", "link")),
        Edges("Needed", ("SinglePoints", "points"), ("Component", "component")),
    ), (_seq("Order along the paths, from 1."),)),
    Relationship("CROSSES", "A link from one part of the machine to another, or back.",
                 (Edges("Crossed", ("Cut", "cut"), ("Link", "link")),), (CROSSED.column("back"),)),
    Relationship("LEADS_BACK_TO", "A transaction that delayed a late one.",
                 (Edges("Behind", ("Cone", "cone"), ("Transaction", "txn")),),
                 tuple(BEHIND.column(name)
                       for name in ("depth", "relation", "through", "resource", "lost_ns"))),
    Relationship("HAS_MEETING", "Two transactions that met there.",
                 (Edges("Meeting", ("Meetings", "meetings"), _MEETING),)),
    Relationship("FIRST_THERE", "Of two transactions that met, the one with the lower number.",
                 (Edges("Meeting", _MEETING, ("Transaction", "first")),)),
    Relationship("SECOND_THERE", "Of two transactions that met, the other one.",
                 (Edges("Meeting", _MEETING, ("Transaction", "second")),)),
    Relationship("CAME_FROM", "An operation that a value comes from.",
                 (Edges("CameFrom", ("Lineage", "lineage"), ("Op", "op")),),
                 tuple(CAME_FROM.column(name) for name in ("depth", "hazard", "through"))),
    Relationship("ANNOTATED", "Annotations of nodes of a run.",
                 (Edges("Annotation", _RUN, ("Annotation", "name")),)),
    Relationship("MARKS", "The value or text that an annotation gives a node.",
                 tuple(Edges("Mark", ("Annotation", "annotation"), (label, column))
                       for label, column in MARKED.items()),
                 (MARK.column("value"), MARK.column("text"))),
)  # fmt: skip
