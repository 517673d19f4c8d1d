"""``kernbench energy``: where the energy of a run went."""

from __future__ import annotations

import click

import kernbench as kb
from kernbench.api.energy_use import ENERGY_BY, EnergyUse
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option, say


@click.command(
    cls=Command,
    examples=[
        "kernbench energy",
        "kernbench energy last --by line",
        "kernbench energy last --by launch --power-limit 700",
        "kernbench energy --set hbm_ctrl.pj_per_byte_read=20 --set pe_gemm.pj_per_mac.f16=0.4",
    ],
)
@options.run
@click.option(
    "--by", type=click.Choice(ENERGY_BY), default="kind", show_default=True,
    help="A row for each part, kind of part, source line, launch or node of a compiled model.",
)  # fmt: skip
@click.option(
    "--set", "figures", multiple=True, metavar="KIND.KEY=VALUE",
    help="Use your figure instead of the machine's, without a new run; may be repeated.",
)  # fmt: skip
@click.option(
    "--power-limit", type=float, metavar="W",
    help="With --by launch: average watts of each launch, and the share of its clock that keeps W.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, metavar="N", help="Rows to show."
)
@options.store
@format_option
def command(
    run: str,
    by: str,
    figures: tuple[str, ...],
    power_limit: float | None,
    limit: int,
    store: str | None,
    fmt: str,
) -> None:
    """Show where the energy of RUN went: wires, memories, arithmetic, the host's own traffic.

    Energy is counted from the bytes, messages and operations of the run, with the figures under 'energy' in
    the topology and those of configs/energy.yaml. The latter are published figures of other chips: use them
    to compare kernels and machines, or give your own. Whatever --by is, the rows add up to the energy of the
    run.

    A clock that keeps a power limit is an estimate: what the run would have taken at it, a run with
    pe.clock.loaded_ghz at that share says.
    """
    with options.opened(store) as kept_in:
        found = kb.energy(
            run, kept_in, by=by, figures=options.assignments("--set", figures), power_limit_w=power_limit
        )
    count = len(found["rows"])

    def left() -> None:
        if limit < count:
            say(f"and {count - limit} more, with --limit {count}")

    emit_result(fmt, EnergyUse(found, rows=found["rows"][:limit]), left)
