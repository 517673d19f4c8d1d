"""Components and links of a run's topology found by name, the key of their tables in LadybugDB.

Questions find them by id, which is unique on a server that holds many topologies. The graph of one run has
one, and an id in it is the topology's followed by the name. No key helps to find an id that is put together
row by row: that takes several times as long, and planning it longer still.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kernbench_graph.schema import SCHEMA

_NAMED = "|".join(
    label.name
    for label in SCHEMA.labels
    if label.record == "topology" and label.key == "name" and not label.prefix
)
_BY_ID = re.compile(
    rf"(?P<node>\(\w*:(?:{_NAMED})(?:\|(?:{_NAMED}))*) "
    r"\{id: (?P<topology>\w+)\.id \+ '/' \+ (?P<name>\w+\.\w+)\}\)"
)


@lru_cache(maxsize=128)
def by_name(cypher: str) -> str:
    """A question of the library with names in place of ids that begin with the topology's.

    >>> links = "MATCH (:Run)-[:RAN_ON]->(t:Topology) MATCH (l:Link {id: t.id + '/' + use.link}) RETURN l"
    >>> print(by_name(links))
    MATCH (:Run)-[:RAN_ON]->(t:Topology) MATCH (l:Link {name: use.link}) RETURN l
    >>> of_runs = "MATCH (r:Run) MATCH (l:Link {id: r.id + '/' + r.name}) RETURN l"
    >>> by_name(of_runs) == of_runs
    True
    """

    def named(match: re.Match[str]) -> str:
        if f"({match['topology']}:Topology)" not in cypher:
            return match[0]
        return f"{match['node']} {{name: {match['name']}}})"

    return _BY_ID.sub(named, cypher)
