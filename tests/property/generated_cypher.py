"""Reading queries in the Cypher of Neo4j, with node patterns wherever its grammar lets them stand."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

LABELS = ("", "", ":%", ":!Run", ":Run", ":Transaction", ":Link", ":Op", ":Component:Router",
          ":Transaction|Op", " IS Component", ":(Link|Component)&!Router", ":`Run`")  # fmt: skip
PROPERTIES = ("", "", "", "", " {id: 0}", " {kind: 'router'}", " {bench: 'other'}", " {}")
RELATIONSHIPS = ("--", "--", "--", "-->", "<--", "<-[:HOP]-", "-[:SENT|DID]->", "-[r:HOP]->", "-[:MOVED {}]-",
                 "-[:HOP WHERE 1 < (2)]->")  # fmt: skip
VARIABLE = ("-[*0..2]-", "-[:CONNECTS*1..2]->")
QUANTIFIED = ("-[:OUT|IN]->{1,2}", "-[:SENT]->+", "--{0,1}")
"""Neo4j takes no clause with both kinds of repetition, and no comprehension with these."""
FLIPS = "% (5) IN [1, 4]"
"""Of a count: changes whenever the count is tripled, unless it is a multiple of five."""
NAMES = ("n", "`a(`", "where", "is", "exists", "`)-->(`")


@st.composite
def nodes(draw: st.DrawFn, name: str = "") -> str:
    """A node pattern."""
    where = draw(st.sampled_from(("", f" WHERE ({name}.id) <> (1)"))) if name else ""
    return f"({name}{draw(st.sampled_from(LABELS))}{draw(st.sampled_from(PROPERTIES))}{where})"


@st.composite
def paths(draw: st.DrawFn, first: str, known: Sequence[str], least: int = 0, name: str = "") -> str:
    """A path pattern that begins with the node ``first``; its relationships' names begin with ``name``."""
    relationships = draw(st.lists(st.sampled_from(known), min_size=least, max_size=2))
    named = [text.replace("r:", f"{name}{at}:" if name else ":") for at, text in enumerate(relationships)]
    return first + "".join(text + draw(nodes()) for text in named)


@st.composite
def conditions(draw: st.DrawFn, name: str, known: Sequence[str], depth: int = 1) -> str:
    """What may stand behind WHERE; ``name`` is a node."""
    form = draw(st.integers(0, 8 if depth else 4))
    if form == 0:
        return f"EXISTS {{ {draw(paths(draw(nodes()), known))} }}"
    if form == 1:
        return f"COUNT {{ MATCH {draw(paths(draw(nodes()), known))} WHERE (1) < (2) }} {FLIPS}"
    if form == 2:
        first = draw(st.sampled_from((f"({name})", "(:Run)", "(x)")))
        listed = [text for text in known if text not in QUANTIFIED]
        return f"size([{draw(paths(first, listed, least=1))} | 1]) {FLIPS}"
    if form == 3:
        return f"size(COLLECT {{ MATCH {draw(paths(draw(nodes()), known))} RETURN 1 }}) {FLIPS}"
    if form == 4:
        return f"{draw(st.one_of(st.just(f'({name})'), nodes()))}--{draw(nodes())}"
    inner = draw(conditions(name, known, 0))
    if form == 5:
        return f"NOT ({inner})"
    if form == 6:
        return f"({inner}) OR {draw(conditions(name, known, 0))}"
    if form == 7:
        return f"EXISTS {{ MATCH {draw(paths(f'({name})', known))} WHERE {inner} }}"
    return f"CASE WHEN {inner} THEN true ELSE EXISTS {{ ({name})-->() }} END"


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query of one row and column, ``n``."""
    name = draw(st.sampled_from(NAMES))
    known = RELATIONSHIPS + draw(st.sampled_from((VARIABLE, QUANTIFIED)))
    path = draw(st.sampled_from(("", "p = ")))
    first = draw(paths(draw(nodes(name)), known, name="r"))
    second = draw(st.one_of(st.just(""), nodes().map(", {}".format)))
    where = draw(st.one_of(st.just(""), conditions(name, known).map(" WHERE {}".format)))
    more = draw(st.sampled_from(("", " MATCH ", " OPTIONAL MATCH ")))
    more += draw(paths(f"({name})", known, name="s")) if more else ""
    counted = draw(
        st.sampled_from(
            ("count(*)", f"count(DISTINCT {name})", f"sum(COUNT {{ ({name})--{draw(nodes())} }})")
        )
    )
    return f"MATCH {path}{first}{second}{where} WITH {name}{more} RETURN {counted} AS n"
