"""Routes and distances as the graph has them: answers for the ends and the traffic that were asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from kernbench.analysis.on_demand import Answers
from kernbench.analysis.run_view import RunView
from kernbench.errors import RoutingError
from kernbench.hardware.kinds import Traffic

if TYPE_CHECKING:
    import pyarrow as pa


def route(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The route from ``src`` to ``dst``, by ``via``, if ``lost`` fails."""
    return _way(asked, *(str(params[name]) for name in ("src", "dst", "traffic", "lost", "via")))


def two_routes(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The routes from ``src`` to ``dst`` and from ``other_src`` to ``other_dst``, if ``lost`` fails."""
    src, dst, other_src, other_dst, traffic, lost = (
        str(params[name]) for name in ("src", "dst", "other_src", "other_dst", "traffic", "lost")
    )
    return {**_way(asked, src, dst, traffic, lost), **_way(asked, other_src, other_dst, traffic, lost)}


def _way(asked: RunView, src: str, dst: str, traffic: str, lost: str, via: str = "") -> Answers:
    name = f"{src} to {dst}{_but(via, lost)}, {traffic}"

    def tables() -> dict[str, pa.Table]:
        import pyarrow as pa

        topology = asked.topology
        topology.check_via(dst, via)
        found = topology.route(src, dst, traffic, via, lost)
        count = len(found.links)
        way = {"name": name, "src": src, "dst": dst, "traffic": traffic, "via": via, "lost": lost,
               "weight": found.weight, "hops": count, "ns": topology.latency_ns(found)}  # fmt: skip
        return {
            "Way": pa.Table.from_pylist([way]),
            "Passed": pa.table({
                "way": pa.array([name] * count, pa.string()),
                "seq": pa.array(range(1, count + 1), pa.int32()),
                "link": pa.array([link.id for link in found.links], pa.string()),
            }),
        }  # fmt: skip

    return {f"route {name}": tables}


def _but(via: str, lost: str) -> str:
    return f"{f' by {via}' if via else ''}{f' without {lost}' if lost else ''}"


def routes(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """The ``count`` shortest routes from ``src`` to ``dst``, by ``via``, without ``lost``."""
    src, dst, traffic, via, lost = (str(params[name]) for name in ("src", "dst", "traffic", "via", "lost"))
    most = int(params["count"])
    name = f"the {most} shortest from {src} to {dst}{_but(via, lost)}, {traffic}"

    def tables() -> dict[str, pa.Table]:
        import pyarrow as pa

        topology = asked.topology
        topology.check_via(dst, via)
        found = [*islice(topology.routes(src, dst, traffic, via, lost), most)]
        about = {"src": src, "dst": dst, "traffic": traffic, "via": via, "lost": lost, "most": most}
        return {
            "Routes": pa.Table.from_pylist([{"name": name, **about}]),
            "Alternative": pa.Table.from_pylist([
                {"name": f"{name}: {rank}", "routes": name, "rank": rank, "weight": one.weight,
                 "hops": len(one.links), "ns": topology.latency_ns(one),
                 "gbs": min(float(link.properties["bw_gbs"]) for link in one.links)}
                for rank, one in enumerate(found, 1)
            ]),
            "AlternativePassed": pa.Table.from_pylist([
                {"alternative": f"{name}: {rank}", "seq": seq, "link": link.id}
                for rank, one in enumerate(found, 1) for seq, link in enumerate(one.links, 1)
            ]),
        }  # fmt: skip

    return {name: tables}


def distances(asked: RunView, params: Mapping[str, Any]) -> Answers:
    """Distances from ``src`` to each component of ``kind`` if ``lost`` fails; zeros without a route.

    ``RoutingError`` where none is reachable: a whole table of nothing says less than that.
    """
    src, kind, traffic, lost = (str(params[name]) for name in ("src", "kind", "traffic", "lost"))
    but = f" without '{lost}'" if lost else ""
    name = f"{src} to {kind or 'all components'}{but}, {traffic}"

    def tables() -> dict[str, pa.Table]:
        import pyarrow as pa

        topology = asked.topology
        rows = []
        for node in topology.graph.nodes():
            if not node.properties["impl"] or kind not in ("", node.properties["kind"]):
                continue
            row = {
                "reach": name,
                "component": node.id,
                "reachable": False,
                "weight": 0.0,
                "hops": 0,
                "ns": 0.0,
            }
            rows.append(row)
            with contextlib.suppress(RoutingError):
                path = topology.route(src, node.id, traffic, lost=lost)
                row["reachable"], row["weight"] = True, path.weight
                row["hops"], row["ns"] = len(path.links), topology.latency_ns(path)
        if not any(row["reachable"] for row in rows):
            what = f"every component of kind '{kind}'" if kind else "every component"
            raise RoutingError(
                f"{what} is unreachable from '{src}'{but} for {traffic} traffic; choose another "
                f"start, or one of {', '.join(t.value for t in Traffic if t.value != traffic)}"
            )
        reach = {"name": name, "src": src, "kind": kind, "traffic": traffic, "lost": lost}
        return {"Reach": pa.Table.from_pylist([reach]), "Reached": pa.Table.from_pylist(rows)}

    return {f"distances {name}": tables}
