"""``kernbench model``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import kernbench as kb
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option, say
from kernbench.cli.progress import running


def _numbers(_ctx: click.Context, param: click.Parameter, text: str) -> tuple[int, ...]:
    """Whole numbers, 1 or more, with commas between them; none for an empty text."""
    try:
        found = tuple(int(one) for one in text.split(",") if one.strip())
    except ValueError:
        found = (0,)
    if any(number < 1 for number in found):
        raise click.BadParameter(f"'{text}' is not a list of whole numbers from 1, such as 1,64", param=param)
    return found


@click.command(
    cls=Command,
    examples=[
        "kernbench model small --topology minimal --batch 1,4 --context 64 --prompt 32",
        "kernbench model small --topology minimal --batch 1 --context 64 --prompt 32 "
        "--what-if --out answer.html",
        "kernbench model llama-70b --topology h100-8-nvswitch --batch 1,64 --prompt 128",
    ],
)
@click.argument("name", metavar="MODEL|config.json|DIR")
@options.topologies
@click.option(
    "--batch", default="1,16,64,256", show_default=True, callback=_numbers, metavar="LIST",
    help="Sequences in decode.",
)  # fmt: skip
@click.option(
    "--context", default="1024", show_default=True, callback=_numbers, metavar="LIST",
    help="Keys of each sequence, the new token's among them.",
)  # fmt: skip
@click.option(
    "--prompt", default="1024", show_default=True, callback=_numbers, metavar="LIST",
    help="Tokens of one sequence whose first token is waited for; '' for none.",
)  # fmt: skip
@click.option(
    "--what-if", is_flag=True,
    help="Simulate the first context and prompt again with twice the memory, the links, the arithmetic.",
)  # fmt: skip
@click.option("--no-energy", is_flag=True, help="Leave out energy and critical path; takes half the time.")
@options.packages
@click.option(
    "--kernels", type=click.Choice(["own", "triton"]), default="own", show_default=True,
    help="own: each PE streams what lies with it; triton: kernels of Triton over a grid.",
)  # fmt: skip
@options.types
@click.option("--ignore-capacity", is_flag=True, help="Answer also for what does not fit the memory.")
@options.topo
@options.exact
@click.option("--out", metavar="F.html", callback=options.ends_in(".html"), help="Also write one page.")
@options.timeout
@options.store
@format_option
def command(
    name: str,
    topologies: tuple[str, ...],
    no_energy: bool,
    out: str | None,
    store: str | None,
    fmt: str,
    **same: Any,
) -> None:
    """Show what a machine makes of a language model: tokens a second, time to the first token, memory.

    MODEL is a name that 'kernbench list llama-decoder' shows, or a config.json as Hugging Face has them.
    Each row is simulated: three layers, and the others like them. Steps are saved in the store's folder by
    the content of model and machine, so the same question is answered at once. What does not fit the memory
    is said, with what would. A second --topology is compared with the first. CSV has the steps.
    """
    from kernbench.api.models.page import write_page

    with running() as progress, options.opened(store) as kept_in:
        found = kb.model(
            name,
            list(topologies) or None,
            energy=not no_energy,
            store=kept_in,
            progress=progress.of_pieces,
            **same,
        )
    if out is not None:
        write_page(found, Path(out))
    emit_result(fmt, found)
    if out is not None and fmt == "table":
        say(out)
