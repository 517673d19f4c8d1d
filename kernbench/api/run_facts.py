"""What is known of a run without its trace: its settings, its times, its launches."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kernbench.analysis.path.model_time import carried_out
from kernbench.analysis.use.pe_times import pe_times
from kernbench.analysis.windows.chosen_window import Chosen, ChosenWindow
from kernbench.analysis.windows.estimate_bounds import said
from kernbench.api.stores import tags_of
from kernbench.errors import UsageError
from kernbench.support.pgraph import has, times_of

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.analysis.windows.time_window import Window

_VERIFIED = {"yes": True, "no": False, "race": False}


class RunFacts:
    """The record of a run. Times in ns of simulated time, sizes in bytes."""

    def __init__(self, properties: Mapping[str, Any]) -> None:
        self.properties = properties
        """All that its record says of the run itself; :attr:`info` has what is documented."""

    @cached_property
    def tables(self) -> Mapping[str, pa.Table]:
        """Its tables by name, if it has any."""
        return {}

    @property
    def id(self) -> str:
        """Id in its store; empty when the run was not traced and so is not kept."""
        return str(self.properties.get("id", ""))

    def window_facts(self, window: Window) -> dict[str, Any]:
        """``run_id bench topology launch window``: the first keys of each answer about a window of it."""
        return {
            "run_id": self.id,
            "bench": self.bench,
            "topology": self.topology,
            "launch": window.launch,
            "window": window.name,
        }

    @property
    def bench(self) -> str:
        """Name of the bench."""
        return str(self.properties["bench"])

    @property
    def topology(self) -> str:
        """Name of the topology."""
        return str(self.properties["topology_name"])

    @property
    def params(self) -> dict[str, Any]:
        """Values of the bench's parameters."""
        value: dict[str, Any] = json.loads(self.properties["params"] or "{}")
        return value

    @property
    def tags(self) -> list[str]:
        """Tags that the user gave the run."""
        return tags_of(self.properties)

    @property
    def verified(self) -> bool | None:
        """Whether values were right and no accesses raced; None if not asked, or if nothing was checked."""
        return _VERIFIED.get(self.verdict)

    @property
    def verdict(self) -> str:
        """What verification found: ``yes``, ``no`` (values are wrong), ``race`` (accesses race),
        ``nothing checked`` (asked, but there was nothing to compare), or ``not asked``."""
        found = str(self.properties["verified"])
        # Earlier versions called a race with right values "no", and the run "ok".
        older = found == "no" and self.properties["status"] == "ok" and self.properties.get("races")
        return "race" if older else found

    @property
    def problem(self) -> str:
        """What is wrong where :attr:`verified` is False: the tensor and value, or the race; what ended a run
        that is partial; else empty."""
        if self.properties["status"] == "partial":
            return str(self.properties.get("problem", ""))
        if self.verified is not False:
            return ""
        races = self.properties.get("races") or [{"message": "accesses race"}]
        other = races[0]["message"] if self.verdict == "race" else "values are wrong"
        return str(self.properties.get("problem", other))

    @property
    def nothing_checked(self) -> bool:
        """Whether verification was asked for, and the bench gave nothing to compare."""
        return self.verdict == "nothing checked"

    @property
    def sim_ns(self) -> float:
        """Simulated time from the first host command to the last answer."""
        return float(self.properties["sim_ns"])

    @property
    def latency_ns(self) -> float | None:
        """Time in which at least one launch is between submission and completion; None without launches."""
        return float(self.properties["latency_ns"]) if has(self.properties, "launches") else None

    @property
    def launch_ns(self) -> float | None:
        """The part of :attr:`latency_ns` in which no launch runs: those under way have not started yet."""
        return float(self.properties["launch_ns"]) if has(self.properties, "launches") else None

    @property
    def kernels_ns(self) -> float | None:
        """The rest of :attr:`latency_ns`: a launch runs, from its common start to its last answer."""
        latency, launch = self.latency_ns, self.launch_ns
        return None if latency is None or launch is None else latency - launch

    @property
    def time_ns(self) -> float:
        """The time that runs are compared by: :attr:`latency_ns`; without launches :attr:`sim_ns`."""
        return self.sim_ns if self.latency_ns is None else self.latency_ns

    @cached_property
    def launches(self) -> list[dict[str, Any]]:
        """The kernel launches in order.

        Keys: ``launch kernel source rank package sips pes t_submit t_start t_done latency_ns launch_ns pe_ns
        late_ns pe_times``. ``source`` is where the kernel's code starts, ``sips`` are numbers of packages.
        ``latency_ns`` is from submission to completion, ``launch_ns`` its part before the common
        start of the PEs.
        ``rank`` submitted it, None for a bench without ranks; ``package`` has the PEs, several with a comma
        between them. In a run that failed, times that have not come are -1, and their differences 0.
        """
        launches = self.properties.get("launches") or []
        pes = pe_times(launches, self.tables)
        return [
            {
                "launch": one.get("launch", number),
                "kernel": one.get("kernel", ""),
                "rank": one.get("rank"),
                "package": one.get("package", ""),
                **{key: value for key, value in one.items() if key != "rank"},
                "pe_times": pes[number],
                **times_of(one),
            }
            for number, one in enumerate(launches)
        ]

    @property
    def of_model(self) -> bool:
        """Whether launches say what they carry out of a compiled model: ``model_nodes``, ``model_line``."""
        return any(map(carried_out, self.launches))

    @property
    def accounted(self) -> list[str]:
        """What was simulated where a run accounts for more, and how far off times may be; else empty."""
        return said(self.properties)

    @property
    def source_text(self) -> str:
        """The text of the bench's file as it was run; empty for traffic, and for what was typed in."""
        return str(self.properties.get("source_text", ""))

    @property
    def again(self) -> dict[str, Any]:
        """The settings for a re-run beside parameters and topology: ``bench device components topo code``.

        ``bench`` is as the user named it. ``UsageError`` for a run that was kept without them.
        """
        found = self.properties.get("again")
        if found is None:
            raise UsageError(
                f"the version that kept run '{self.id}' did not record how to re-run it; run its bench first"
            )
        if not _says_how(found):
            raise UsageError(f"run '{self.id}' does not record how to re-run it; run its bench first")
        return {"bench": "", "device": None, "components": None, **found}

    @property
    def asked_hash(self) -> str:
        """The hash of the configuration that was asked for, before kernels chose their own."""
        return str(self.properties.get("asked_hash", self.properties["config_hash"]))

    @property
    def info(self) -> dict[str, Any]:
        """All settings and figures of the run itself, without looking at its trace."""
        p = self.properties
        return {
            "run_id": self.id or None,
            "bench": self.bench,
            "params": self.params,
            "topology": self.topology,
            "topology_changes": (self.properties.get("again") or {}).get("topo", {}),
            "topology_id": p["topology"],
            "sim_ns": self.sim_ns,
            "latency_ns": self.latency_ns,
            "launch_ns": self.launch_ns,
            "verified": self.verified,
            "nothing_checked": self.nothing_checked,
            "verdict": self.verdict,
            "problem": self.problem,
            **{
                key: p[key]
                for key in ("ops_verified", "tile_transfers", "repeats", "on_host", "pes", "collectives")
                if key in p
            },
            **({"accounted": self.accounted} if self.accounted else {}),
            "status": p["status"],
            "races": list(p.get("races", ())),
            "wall_s": float(p["wall_s"]),
            "events": int(p["events"]),
            "hops": int(p["hops"]),
            "flit_crossings": int(p["flit_crossings"]),
            "started_at": p["started_at"],
            "version": p["version"],
            "config_hash": p["config_hash"],
            "tags": self.tags,
            "user": p.get("user", ""),
            "project": p.get("project", ""),
        }

    def window(
        self, launch: Chosen = "all", from_ns: float | None = None, to_ns: float | None = None
    ) -> Window:
        """A window of the run: a launch's number, ``"all"`` launches, ``"setup"``, or ``"run"``, the whole.

        None is the whole run too. Of plain traffic ``"all"`` is the makespan. ``from_ns`` and ``to_ns`` cut
        it further, in ns of simulated time; a :class:`~kernbench.analysis.windows.chosen_window.ChosenWindow`
        has all three. ``UsageError`` for a launch that there is not, or a window
        without time in it.
        """
        from kernbench.analysis.windows.time_window import select

        chosen = ChosenWindow.of(launch, from_ns, to_ns)
        return select(self.properties, chosen.launch, chosen.from_ns, chosen.to_ns)


def _says_how(again: object) -> bool:
    """Whether the settings for a re-run, which may come from anybody, are of their types."""
    if not isinstance(again, dict) or not isinstance(again.get("bench", ""), str):
        return False
    texts = [again.get("components") or {}, again.get("topo", {}), again.get("code", {})]
    return all(isinstance(text, dict) and all(isinstance(v, str) for v in text.values()) for text in texts)
