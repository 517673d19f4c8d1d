"""Messages from PE to PE: queue, queue without reading its slots, and plain DMA (bench ``pe2pe``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _axes import bytes_axis

from kernbench.api.evaluations import evaluation
from kernbench.api.sweeps.evaluator import Evaluator
from kernbench.hardware.kinds.links import BLUE, GREEN, VERMILION
from kernbench.hardware.topology.places import places
from kernbench.workloads.benches.params import Param
from kernbench.workloads.benches.pe2pe import SOURCE, WAYS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = {"dma": (BLUE, "o", "DMA write"), "queue": (VERMILION, "s", "queue"),
          "queue-unread": (GREEN, "^", "queue, slots not read")}  # fmt: skip
Rows = list[dict[str, Any]]


@evaluation(
    name="pe2pe",
    description="Messages from PE to PE, near and far: latency and bandwidth of queues and of plain DMA.",
    params=[
        Param("nbytes", int, 0, "one size of messages; 0 for 128 B to 64 KiB", minimum=0),
        Param("buffer_kind", str, "tcm", "memory of rings and DMA targets", choices=("tcm", "sram", "hbm")),
    ],
)
def run(evaluator: Evaluator) -> None:
    """Every path that the machine has in every way."""
    point = {"nbytes": evaluator.params["nbytes"], "buffer_kind": evaluator.params["buffer_kind"]}
    (found,) = evaluator.points("pe2pe", [point])
    if found is None:
        return
    rows: Rows = []
    source = places(evaluator.machine()).pe(*SOURCE)
    for launch in found.launches:
        words = str(launch["kernel"]).split()
        if len(words) != 3 or words[0] not in WAYS:
            continue  # checks of values, and the launches of receivers on other packages
        # The sender's kernel ends when it knows that the message is there.
        sender = float(launch["pe_times"][source]["exec_ns"])
        nbytes = int(words[2])
        rows.append(
            {
                "path": words[1],
                "how": words[0],
                "bytes": nbytes,
                "latency_ns": sender,
                "bandwidth_gbs": nbytes / sender,
                "run_id": found.id,
            }
        )
    by_size = {(row["path"], row["bytes"], row["how"]): row["latency_ns"] for row in rows}
    for row in rows:
        row["against_dma"] = row["latency_ns"] / by_size[row["path"], row["bytes"], "dma"]
    evaluator.table("pe2pe", rows)
    if len({row["bytes"] for row in rows}) > 1:
        paths = list(dict.fromkeys(row["path"] for row in rows))
        evaluator.figure("pe2pe", lambda figure: _draw(figure, rows, paths), (3.6 * len(paths) + 1, 6.4))
    evaluator.note(
        "The records have no figures of single messages to set beside these; a queue's latency counts the "
        "signal that the receiver sends back, a DMA write's its acknowledgement."
    )


def _draw(figure: Figure, rows: Rows, paths: list[str]) -> None:
    figure.suptitle("Messages from PE to PE", fontsize=12, fontweight="bold")
    panels = figure.subplots(2, len(paths), sharex=True, sharey="row", squeeze=False)
    for column, path in enumerate(paths):
        for how, (colour, mark, label) in _LOOKS.items():
            own = [row for row in rows if (row["path"], row["how"]) == (path, how)]
            for line, key in enumerate(("latency_ns", "bandwidth_gbs")):
                panels[line][column].plot(
                    [row["bytes"] for row in own], [row[key] for row in own], color=colour, marker=mark,
                    markersize=4, linewidth=1.4, label=label,
                )  # fmt: skip
        panels[0][column].set_title(path, fontsize=11)
        bytes_axis(panels[0][column])
        panels[1][column].tick_params(axis="x", labelsize=8)
        panels[0][column].set_yscale("log")
        panels[1][column].set_xlabel("bytes")
        for line in (0, 1):
            panels[line][column].grid(color="#e4e7eb", linewidth=0.8)
            panels[line][column].spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("ns")
    panels[1][0].set_ylabel("GB/s")
    panels[1][0].set_ylim(bottom=0)
    panels[0][0].legend(frameon=False, fontsize=8)
