"""Writes the reference page of the command line from the commands themselves.

``python -m kernbench.cli.reference [FILE]``; without a file to stdout.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from kernbench.cli.app import app
from kernbench.cli.group import LazyGroup

_HEAD = """# Command line

Made from the commands' own help by `make docs`; do not edit.

Exit status: 0 done, 1 the run or a check failed, 2 wrong usage, 130 interrupted. An error is one line on
stderr, `kernbench: error: ...`; `--debug` adds the traceback. With `--format json` stdout holds one JSON
value on one line and nothing else.

| command | keys of its JSON |
|---|---|
| `run`, `runs show` | `run_id bench params topology topology_id sim_ns latency_ns verified status races[] wall_s events hops flit_crossings started_at version config_hash tags launches[] window{} by_cause{} by_line{} busiest[] busiest_links[] busiest_engines[] most_waited_for[]`; with `--details` `roofline{}`: `launch[] pe[] operation[]`, rows as of the question `bottleneck/roofline` |
| `runs list` | `runs[]`, each as above up to `tags`, and `changed[]`: what was configured otherwise than for the run before, null for a bench's first |
| `compare`, `runs compare` | `before{} after{} same_config configured[] window figures[] causes[] resources[] threshold slower` |
| `runs export`, `runs import` | `runs[]`: `run_id copied` |
| `runs prune`, `runs rm` | `runs[]`: ids |
| `runs tag` | `tags[]` |
| `why` | `run_id launch window t_start t_end ns by_cause{} by_location{} by_line{} steps[]`, each step `t_start t_end ns cause location activity transaction hop line` |
| `advise` | `run_id bench topology launch window ns advice[]`, each `rule title advice saves_ns share evidence{}` |
| `timeline` | `run_id title start_ns ns left_out groups[]`, each group `place count rows[]`, each row `place label occupancy bars[]`, each bar `begin end category name number source`; with `--out` `run_id files[]` |
| `export` | `run_id to window files[]` |
| `report` | `run_id files[]` |
| `energy` | `run_id bench topology latency_ns sim_ns energy_pj dynamic_pj static_pj launches_pj edp_pj_ns by rows[]`, each `name kind energy_pj share dynamic_pj static_pj`, with `parts` by kind and `launch` by launch |
| `what-if` | `run_id bench topology launch window`; without `--speed` `ns candidates[]`, each `where on_path_ns twice_ns twice_saved_ns free_ns free_saved_ns`; with it `changes[] before{} estimate{} measured{} saved_ns difference_ns` |
| `probe` | `topology ok bytes largest_difference_ns cases[] left_out[] invariants[] notes[]`; each case `name category op src dst links bytes actual_ns formula_ns difference_ns effective_gbs bottleneck_gbs utilisation breakdown{} bottleneck sweep[] hops[]` |
| `validate` | `counts{} rows[] sources{}`, each row `table row reference measured unit difference relative limit verdict source needs note`; with `--list` `tables[]` |
| `tune` | `bench points[] settings{} best_run`, each point `kernel key config latency_ns best run_id error` |
| `sweep` | `bench swept[] points[]`, each point `point topology params{} topo{} latency_ns sim_ns verified run_id kept_before error` |
| `evaluate` | `name folder points[] tables{} files[] notes[] moved[] wall_s`, each point `bench params{} topology run_id latency_ns kept_before error`; `moved` is null without `--against`, else rows `bench params{} topology before_ns after_ns change moved before after`; with `--list` `evaluations[]` |
| `query` | `name columns rows`; with `--list` `questions[]` |
| `traffic` | as `run` without `launches` and `most_waited_for`, and `makespan_ns total_bytes bandwidth_gbs peak_path_gbs peak_fair_gbs flows[] link_kinds[]`, each flow with `name src dst op bytes offset count start_ns end_ns bandwidth_gbs wait_ns peak_path_gbs peak_fair_gbs`; with `--list` `patterns[]` |
| `list` | `benches[]` |
| `topology check` | `topology id components links overrides` |
| `topology show` | the topology's properties, `components` and `links` by kind, `overrides[]`, `area_mm2` by kind; with `--from` and `--to` `src dst traffic weight_mm hops[]` |
| `topology diagram` | `files[]`: `view file` |
| `figures` | `files[] latency[] bandwidth[] left_out[]`; keys of the rows as in the CSV files; with `--run` `run_id files[] left_out[]` |
| `doctor` | `ok checks[]` |

`verified` is `true`, `false`, or `null` where verification was not asked for, or had nothing to
compare (`nothing_checked` of a run says so). Times end in `_ns` and are
simulated nanoseconds, `wall_s` is seconds of real time.
"""  # noqa: E501 - a row of a table is one line


def commands(command: click.Command, parent: click.Context | None, name: str) -> Iterator[click.Context]:
    """The context of ``command`` and of all below it, in order."""
    settings = command.context_settings
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=96, max_content_width=96, **settings
    )
    yield context
    if isinstance(command, LazyGroup):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from commands(found, context, child)


def page() -> str:
    """The whole page as Markdown."""
    sections = [
        f"## {context.command_path}\n\n```text\n{context.get_help().rstrip()}\n```\n"
        for context in commands(app, None, "kernbench")
    ]
    return "\n".join([_HEAD, *sections])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
