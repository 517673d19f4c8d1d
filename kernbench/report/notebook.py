"""A run as notebooks show it: its facts, its launches, and where their time went."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from kernbench.pgraph import html_table
from kernbench.report.cells import PART, launch_columns, number, share, text

_PARTS = (("busiest", "busiest parts"), ("most_waited_for", "parts that were waited for longest"))


def run_html(summary: Mapping[str, Any]) -> str:
    """The HTML of a run's summary: :meth:`kernbench.Run.summary`."""
    params = " ".join(f"{key}={value}" for key, value in summary["params"].items())
    verified = {True: "verified", False: "NOT verified: values are wrong", None: "not verified"}
    time = f"{number(summary['latency_ns'])} ns in {len(summary['launches'])} launches"
    facts = [summary["run_id"] or "not kept", time, verified[summary["verified"]], params]
    parts = [
        f"<h4>{escape(summary['bench'])} on {escape(summary['topology'])}</h4>",
        f"<p>{escape('; '.join(fact for fact in facts if fact))}</p>",
    ]
    if summary["launches"]:
        columns = launch_columns(summary["launches"])
        parts.append(html_table(columns, [[row[name] for name in columns] for row in summary["launches"]]))
    if summary["by_cause"]:
        window = summary["window"]
        caption = f"critical path of {window['name']} by cause, {number(window['ns'])} ns"
        parts.append(causes_html(summary["by_cause"], window["ns"], caption))
    for key, title in _PARTS:
        rows = [[row[name] for name in PART] for row in summary.get(key, ())]
        for row in rows:
            row[2:4] = share(row[2]), share(row[3])
        if rows:
            parts.append(html_table(PART, rows, title))
    parts += [f"<p>{escape(text(race['message']))}</p>" for race in summary["races"]]
    return "".join(parts)


def causes_html(by_cause: Mapping[str, float], ns: float, caption: str) -> str:
    """ns by cause as a table with their shares of ``ns``."""
    rows = [(cause, time, f"{time / ns:.1%}" if ns else "-") for cause, time in by_cause.items()]
    return html_table(("cause", "ns", "share"), rows, caption)
