"""``kernbench serve-sim``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

import kernbench as kb
from kernbench.cli import options
from kernbench.cli.group import Command
from kernbench.cli.output import emit_result, format_option, print_content, say_last
from kernbench.cli.progress import running

_TIME = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ns|us|ms|s)\s*")
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def _time(_ctx: click.Context, _param: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    match = _TIME.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"'{text}' is not a time; write it as 500ms or 0.5s")
    return float(match[1]) * _NS[match[2]]


@click.command(
    cls=Command,
    examples=[
        "kernbench serve-sim small --topology minimal --rate 2000/s --prompt 100 --output 20",
        "kernbench serve-sim small --topology minimal --rate 1000/s:16000/s --prompt 100 --output 20 "
        "--ttft 1ms --tpot 0.1ms",
        "kernbench serve-sim small --topology minimal --rate 4000/s --prompt 'uniform(50,200)' --output 20 "
        "--replicas 2",
    ],
)
@click.argument("model")
@options.topology
@options.topo
@options.packages
@options.types
@click.option(
    "--rate", metavar="R/s",
    help="Requests a second: 4/s, 90/min, a list, or 1/s:32/s for 1, 2, 4 ... 32.  [default: 1/s, or the "
    "trace's]",
)  # fmt: skip
@click.option(
    "--prompt", default="lognormal(512,0.8)", show_default=True, metavar="TOKENS|TRACE.csv",
    help="Tokens of prompts: lognormal(mean,sigma), uniform(a,b), fixed(n); or a trace of requests.",
)  # fmt: skip
@click.option(
    "--output", metavar="TOKENS", help="Tokens of answers, as --prompt.  [default: lognormal(128,0.8)]"
)
@click.option("--requests", type=click.IntRange(min=1), default=1000, show_default=True, metavar="N",
              help="How many requests come; a trace has its own.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Seed of arrivals and lengths.")  # fmt: skip
@click.option(
    "--policy", default="first_come", show_default=True, metavar="NAME|FILE.py:CLASS",
    help="first_come, shortest, prefill_first, decode_first, or a class of your own.",
)  # fmt: skip
@click.option("--replicas", type=click.IntRange(1, 100_000), default=1, show_default=True, metavar="N",
              help="Machines, which take turns with the requests.")  # fmt: skip
@click.option("--batch", type=click.IntRange(min=1), default=64, show_default=True, metavar="N",
              help="Requests that are worked on at a time, at most.")  # fmt: skip
@click.option("--step-tokens", type=click.IntRange(min=1), default=512, show_default=True, metavar="N",
              help="Tokens of a step, at most; longer prompts are read in chunks.")  # fmt: skip
@click.option("--block-tokens", type=click.IntRange(min=1), default=16, show_default=True, metavar="N",
              help="Tokens of a block of the cache.")  # fmt: skip
@click.option("--cache-tokens", type=click.IntRange(min=1), metavar="N",
              help="Tokens of the cache.  [default: what the model leaves of the memory]")  # fmt: skip
@click.option("--ttft", "ttft_ns", metavar="TIME", callback=_time,
              help="Target for the time to the first token, such as 500ms.")  # fmt: skip
@click.option("--tpot", "tpot_ns", metavar="TIME", callback=_time,
              help="Target for the mean time a token after the first.")  # fmt: skip
@click.option("--out", metavar="F.csv", callback=options.ends_in(".csv"),
              help="Also write a row for each request, at the rate of JSON's percentiles.")  # fmt: skip
@click.option("--page", metavar="F.html", callback=options.ends_in(".html"),
              help="Also write all tables as a page.")  # fmt: skip
@options.exact
@options.timeout
@options.store
@format_option
def command(
    model: str, topology: str | None, out: str | None, page: str | None, fmt: str, **same: Any
) -> None:
    """Simulate a service of MODEL: requests come, wait, are batched, prefilled, decoded, and leave.

    MODEL is a name (llama-8b), a config.json or a folder with one. Steps of some sizes are simulated on the
    machine and kept in the store; between them times are interpolated, and how far off that is is said.
    Requests arrive as a Poisson process. A trace is CSV with the columns of Azure's (TIMESTAMP,
    ContextTokens, GeneratedTokens), BurstGPT's (Timestamp, Request tokens, Response tokens) or Mooncake's
    (timestamp in ms, input_length, output_length) public traces, or timestamp in s, input, output.

    TTFT: time to the first token, from arrival. TPOT: mean time a token after the first. Goodput: requests a
    second that keep --ttft and --tpot. With several rates: a curve, and its knee, the highest rate at which
    99 % of the requests keep them. CSV is the curve.
    """
    with running() as progress:
        found = kb.serve_sim(model, topology, progress=progress.of_pieces, **same)
    if out is not None:
        found.write_requests(out)
    shown = found.content()
    if page is not None:
        from kernbench.export.html.files import write_still

        write_still(Path(page), shown)
    if fmt == "table":
        print_content(shown)
        say_last(shown)
    else:
        emit_result(fmt, found)
