"""``kernbench probe``."""

from __future__ import annotations

import click

import kernbench as kb
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option
from kernbench.cli.progress import running
from kernbench.support.sizes import read_size


def _bytes(text: str) -> int:
    """Bytes as typed: ``4096`` or ``4KiB``."""
    nbytes = read_size(text)
    if not nbytes:
        raise click.BadParameter(f"'{text}' is not a size, expected bytes such as 4096 or 4KiB")
    return nbytes


def _size(_ctx: click.Context, _param: click.Parameter, text: str | None) -> int | None:
    return None if text is None else _bytes(text)


def _sizes(_ctx: click.Context, _param: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(_bytes(item) for item in text.split(","))


@click.command(
    cls=Command,
    examples=[
        "kernbench probe --topology minimal --strict --check",
        "kernbench probe --case pe-cross-cube-hbm-best --sizes 256,4KiB",
    ],
)
@click.option("--case", metavar="NAME", default="all", show_default=True, help="Only this case, with hops.")
@options.topology
@options.changes
@click.option(
    "--sizes", callback=_sizes, metavar="LIST", help="Transfer sizes.  [default: 256 B to 1 MiB, times 4]"
)
@click.option(
    "--bytes", "nbytes", callback=_size, metavar="SIZE", help="Size used in the summary.  [default: 32KiB]"
)
@click.option("--hops", is_flag=True, help="Show the hops of all cases.")
@options.check
@click.option("--strict", is_flag=True, help="Exit with status 1 when an invariant is violated.")
@options.timeout
@format_option
def command(
    case: str,
    topology: str | None,
    topo: dict[str, str],
    components: str | None,
    sizes: tuple[int, ...] | None,
    nbytes: int | None,
    hops: bool,
    check: bool,
    strict: bool,
    fmt: str,
) -> None:
    """Measure single transfers on an idle machine and compare each with a formula.

    The cases follow from the topology: from the host to the nearest and to farther cubes, and from a PE to
    its own memory and to the nearest and farthest memory in its cube, its SIP and another SIP. Each invariant
    that is checked prints a line that begins with [v] (holds), [x] (violated) or [-] (nothing to compare).
    """
    with running() as progress:
        report = kb.probe(
            topology,
            case=case,
            sizes=sizes,
            nbytes=nbytes,
            topo=topo,
            components=components,
            progress=progress,
            check=check or None,
            hops=hops,
        )
    emit_result(fmt, report)
    if strict and not report.ok:
        first = report.violations[0]
        raise click.ClickException(
            f"{len(report.violations)} of {len(report.findings)} invariants violated on "
            f"'{report.topology}'; {first.name}: {first.detail}"
        )
