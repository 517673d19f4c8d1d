"""The links that two of the simulator's routes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernbench.api.deriving.asked import Asked, Rows


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``seq other_seq link`` per link of both routes; each number is its place on one of them."""
    first = asked.routed.route(params["src"], params["dst"], params["traffic"])
    second = asked.routed.route(params["other_src"], params["other_dst"], params["traffic"])
    place = {link.id: seq for seq, link in enumerate(second.links, 1)}
    return [
        {"seq": seq, "other_seq": place[link.id], "link": link.id}
        for seq, link in enumerate(first.links, 1)
        if link.id in place
    ]
