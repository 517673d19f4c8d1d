"""Options that several commands share, as decorators: ``@options.store``.

Those that a function of the API takes under the same name reach it as they are, in ``same`` of a command.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.team import PROJECT
from kernbench.cli import completion
from kernbench.cli.output import remark
from kernbench.errors import KernBenchError
from kernbench.support.time_limit import limited

if TYPE_CHECKING:
    from kernbench.support.pgraph import GraphStore

Function = TypeVar("Function", bound=Callable[..., Any])

_OF_FAULT = re.compile(r"override faults: faults\.(\d+)(?:: |\.)")
"""How errors of a topology name a fault that an option gave."""


def _all_of(*options: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """A decorator for several options; help lists them in this order."""

    def decorate(function: Function) -> Function:
        return functools.reduce(lambda decorated, option: option(decorated), reversed(options), function)

    return decorate


store = click.option(
    "--store",
    metavar="URL",
    help="Where runs are saved: a folder, memory: or neo4j://HOST:7687  [default: $KERNBENCH_STORE or "
    ".kernbench]",
)
"""``--store URL``, passed as ``store``; None stands for the default store."""

queries = click.option(
    "--queries",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="A folder with your own questions, as <topic>/<name>.yaml; may be repeated. "
    "$KERNBENCH_QUERIES names further ones.",
)
"""``--queries DIR``, passed as ``queries``: folders with questions of the user's own."""


def _known(ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
    """The names as given. An unknown topology is a usage error; a mistake inside its file is not."""
    if ctx.resilient_parsing:  # a line that is being completed
        return value
    from kernbench.errors import ConfigError
    from kernbench.hardware.topology.loader import find

    for name in value if isinstance(value, tuple) else (value,):
        try:
            find(name)
        except ConfigError as error:
            raise click.UsageError(str(error)) from None
    return value


_topology: dict[str, Any] = {"shell_complete": completion.topologies, "callback": _known}
topology = click.option(
    "--topology", metavar="FILE", **_topology,
    help="A topology file, or the name of a shipped one.  [default: default]",
)  # fmt: skip
"""``--topology FILE``, passed as ``topology``; None stands for the default topology."""

topologies = click.option(
    "--topology", "topologies", multiple=True, metavar="FILE", **_topology,
    help="A topology file, or the name of a shipped one; may be repeated.  [default: default]",
)  # fmt: skip
"""``--topology FILE`` several times, passed as ``topologies``; none stands for the default one."""


def file(name: str = "file", metavar: str | None = None) -> Callable[[Function], Function]:
    """``FILE``, a topology, passed as ``name``."""
    return click.argument(name, metavar=metavar, **_topology)


device = click.option("--device", metavar="all|sip:N", help="The SIPs to run on.  [default: SIP 0]")
"""``--device``, passed as ``device``: the SIPs that a bench is given."""

packages = click.option(
    "--device", default="all", show_default=True, metavar="all|sip:N", help="Packages that share the model."
)
"""``--device`` of a model, passed as ``device``."""

topo = click.option(
    "--topo",
    multiple=True,
    metavar="KEY=VALUE",
    callback=lambda _ctx, _param, items: assignments("--topo", items),
    shell_complete=completion.topology_keys,
    help="Change a key of the topology, such as cube.hbm.channel_gbs=64; may be repeated.",
)
"""``--topo``, passed as ``topo``, a mapping."""

tag = click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Tag of each saved run; may be repeated."
)
"""``--tag``, passed as ``tags``."""


def _set_project(ctx: click.Context, _param: click.Parameter, name: str | None) -> None:
    """What reads the environment sees the project, workers that are started from here too."""
    if name is None:
        return
    before = os.environ.get(PROJECT)
    os.environ[PROJECT] = name

    def restore() -> None:
        if before is None:
            os.environ.pop(PROJECT, None)
        else:
            os.environ[PROJECT] = before

    ctx.call_on_close(restore)


project = click.option(
    "--project",
    metavar="NAME",
    callback=_set_project,
    expose_value=False,
    help="The project of the runs; '' for all.  [default: $KERNBENCH_PROJECT]",
)
"""``--project``: what is saved is of that project, and only its runs are seen."""

detail = click.option(
    "--detail",
    type=click.Choice(["summary", "operations", "full"]),
    default="full",
    show_default=True,
    help="What to store on a Neo4j server: summary has the use of each resource, operations adds "
    "operations and transactions, full adds every hop.",
)
"""``--detail``, passed as ``detail``: how much of a run a server is to hold as a graph."""

details = click.option(
    "--details",
    is_flag=True,
    help="Show how close launches, PEs and operations came to the limits of the hardware.",
)
"""``--details``, passed as ``details``: the roofline of a run too."""

exact = click.option("--exact", is_flag=True, help="Simulate every rank, period and PE, identical ones too.")
"""``--exact``, passed as ``exact``: nothing of a run is estimated."""


def _or_empty(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str:
    return text or ""


types = _all_of(
    click.option("--weights", type=click.Choice(["f16", "fp8", "int8", "int4"]), callback=_or_empty,
                 help="Weights in memory; products are of f16.  [default: as the model's file says]"),
    click.option("--cache", type=click.Choice(["f16", "fp8"]), default="f16", show_default=True,
                 help="Keys and values in memory."),
)  # fmt: skip
"""``--weights`` and ``--cache``: types of a model's values in memory."""

check = click.option(
    "--check",
    is_flag=True,
    help="Check the invariants of the simulated machine as it runs: bytes, order, capacity, waits. Slower.",
)
"""``--check``, passed as ``check``: watch the simulated machine as it runs."""

instruments = click.option(
    "--instrument",
    "instruments",
    multiple=True,
    metavar="FILE.py[:CLASS]",
    help="Your own instrument: it observes the run and may save a table with it; may be repeated.",
)
"""``--instrument``, passed as ``instruments``: classes that observe the run."""


def moved(option: str, now: str) -> Callable[[Function], Function]:
    """A spelling of former versions: an error that says what is written ``now``.

    In ``now`` the command stands for ``{command}``, and what was given to the option for ``{value}``.
    """

    def refuse(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
        if value is not None:
            new = now.format(command=ctx.command_path, value=value)
            raise click.UsageError(f"{option} was removed; write '{new}'", ctx)

    name = f"moved_{option.strip('-')}"  # an argument may have the option's name
    return click.option(option, name, hidden=True, expose_value=False, callback=refuse)


def settings(metavar: str, complete: completion.Complete) -> Callable[[Function], Function]:
    """Words without ``=``, passed as ``words``, and ``NAME=VALUE``, passed as ``settings``, a mapping.

    ``complete`` completes the first word.
    """

    def decorate(function: Function) -> Function:
        argument = click.argument("given", nargs=-1, metavar=metavar, shell_complete=complete)
        refused = moved("--set", f"{{command}} {metavar.split()[0].strip('[]')} {{value}}")

        @functools.wraps(function)
        def command(*args: Any, given: tuple[str, ...], **kwargs: Any) -> Any:
            words = tuple(word for word in given if "=" not in word)
            settings = assignments("parameter", [word for word in given if "=" in word])
            return function(*args, words=words, settings=settings, **kwargs)

        return argument(refused(command))  # type: ignore[return-value]

    return decorate


def at_most_one(words: Sequence[str], what: str) -> str | None:
    """The only word, or None; that there are several is wrong usage."""
    if len(words) > 1:
        raise click.UsageError(f"'{words[1]}': {what} is named already, '{words[0]}'; write name=value")
    return words[0] if words else None


def bench(function: Function) -> Function:
    """``BENCH NAME=VALUE...`` as ``bench`` and ``settings``; ``--bench NAME`` is the records' spelling."""

    @functools.wraps(function)
    def command(*args: Any, words: tuple[str, ...], named: str | None, **kwargs: Any) -> Any:
        given = at_most_one(words, "the bench")
        if given is not None and named is not None:
            raise click.UsageError(
                f"the bench is given twice, as '{given}' and as --bench {named}; give it once"
            )
        if given is None and named is None:
            raise click.UsageError("name a bench: a name or index from 'kernbench list', or file.py[:name]")
        return function(*args, bench=given or named, **kwargs)

    option = click.option("--bench", "named", hidden=True, shell_complete=completion.benches)
    argument = settings("BENCH [NAME=VALUE]...", completion.bench_words)
    return argument(option(command))  # type: ignore[return-value]


def faults(function: Function) -> Function:
    """``--fault``: what is lost or slow, passed in ``topo`` as the topology's ``faults``."""

    @functools.wraps(function)
    def command(*args: Any, fault: tuple[str, ...], topo: dict[str, Any], **kwargs: Any) -> Any:
        found = [_fault(text) for text in fault]
        try:
            return function(*args, topo={**topo, "faults": found} if found else topo, **kwargs)
        except KernBenchError as error:
            error.args = (_OF_FAULT.sub(lambda at: f"--fault '{fault[int(at[1])]}': ", str(error)),)
            raise

    return click.option(
        "--fault",
        multiple=True,
        metavar="PLACE[@FROM..TO]|PLACE=SPEED",
        help="A link a->b or a part that fails, for good or from FROM to TO ns, or that runs at SPEED times "
        "its speed, such as sip0.cube0.pe1=0.5. Replaces the faults of the topology; may be repeated.",
    )(cast(Function, command))


def _fault(text: str) -> dict[str, object]:
    where, at, times = text.partition("@")
    where, equals, speed = where.partition("=")
    found: dict[str, object] = {"link" if "->" in where else "part": where}
    since, dots, until = times.partition("..")
    try:
        if equals:
            found["speed"] = float(speed)
        if at:
            found["from_ns"] = float(since or 0)
            if dots and until:
                found["to_ns"] = float(until)
    except ValueError:
        raise click.UsageError(
            f"--fault {text}: expected PLACE, PLACE@FROM..TO in ns, or PLACE=SPEED"
        ) from None
    return found


changes = _all_of(
    topo,
    click.option(
        "--components",
        metavar="FILE",
        help="A file of 'impl: module:Class' lines, in addition to the topology's components_file.",
    ),
    faults,
)
"""``--topo``, ``--fault`` and ``--components``, passed as ``topo`` (a mapping) and ``components``."""

kept = _all_of(
    tag,
    click.option("--no-trace", is_flag=True, help="Do not record a trace: the same times, no waits."),
    detail,
)
"""``--tag``, ``--no-trace``, ``--detail``, as ``tags no_trace detail``: whether and how a run is kept."""

_timeout = click.option(
    "--timeout", type=float, metavar="SECONDS",
    help="Stop after this wall time, even inside a kernel, or a file being imported, that never ends.",
)  # fmt: skip


def timeout(function: Function) -> Function:
    """``--timeout``: where the whole command is to end, whatever it does."""

    @functools.wraps(function)
    def command(*args: Any, timeout: float | None, **kwargs: Any) -> Any:
        with limited(timeout):
            return function(*args, **kwargs)

    return _timeout(cast(Function, command))


limits = _all_of(
    click.option("--max-ns", type=float, metavar="NS", help="Stop after this simulated time."),
    click.option("--max-events", type=int, metavar="N", help="Stop after this many events."),
    _timeout,
)
"""``--max-ns``, ``--max-events`` and ``--timeout``, passed by these names: where a run is to end."""

executor = _all_of(
    click.option(
        "--jobs", type=click.IntRange(min=1), default=1, show_default=True,
        help="Points to run at the same time.",
    ),
    click.option(
        "--executor", type=click.Choice(["local", "dask"]),
        help="Processes of this computer, or a Dask cluster (kernbench[dask]).  [default: local; dask with "
        "--scheduler]",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS",
        help="Address of a running Dask cluster, such as tcp://host:8786; default: --jobs local workers.",
    ),
)  # fmt: skip
"""``--jobs``, ``--executor`` and ``--scheduler``: where points are run, and how many at a time."""


class _End(click.ParamType[float]):
    """The end of a window, ns; ``export --to FORMAT`` is a spelling of former versions."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """As a float does; a word after ``export --to`` is told where it goes."""
        if ctx is not None and ctx.info_name == "export" and str(value).isalpha():
            self.fail(f"'{value}' is not a time; write 'kernbench export {value}'", param, ctx)
        return float(click.FLOAT.convert(value, param, ctx))


launch = click.option(
    "--launch", metavar="N|all|setup|run", default="all", show_default=True,
    help="Time to look at: one launch, all of them, the time outside of them, or the whole run.",
)  # fmt: skip
"""``--launch``, passed as ``launch``."""


def window(function: Function) -> Function:
    """``--launch``, ``--from`` and ``--to`` as a ``window``, by default all launches."""

    @functools.wraps(function)
    def with_window(*given: Any, launch: str, from_ns: float | None, to_ns: float | None, **more: Any) -> Any:
        return function(*given, window=ChosenWindow(launch, from_ns, to_ns), **more)

    taken = cast(Function, with_window)
    begin = click.option("--from", "from_ns", type=float, metavar="NS", help="Start of the time range.")
    end = click.option("--to", "to_ns", type=_End(), metavar="NS", help="End of the time range.")
    return launch(begin(end(taken)))


def given(ctx: click.Context, *names: str) -> dict[str, Any]:
    """Those of the parameters ``names`` that the user has given, with their values."""
    defaults = (click.core.ParameterSource.DEFAULT, None)
    return {name: ctx.params[name] for name in names if ctx.get_parameter_source(name) not in defaults}


def run(function: Function) -> Function:
    """``[RUN]``, passed as ``run``; by default the last run."""
    argument = click.argument(
        "run", metavar="[RUN]", required=False, default="last", shell_complete=completion.runs
    )
    return argument(moved("--run", "{command} {value}")(function))


def assignments(option: str, items: Iterable[str], form: str = "name=value") -> dict[str, str]:
    """``("a=1", "b=2")`` as a dictionary; a text without ``=``, or a name set twice, is wrong usage.

    ``form`` is how the error says to write it.
    """
    values: dict[str, str] = {}
    for item in items:
        # A name may hold the key of a kernel's configuration: scale[n=100].BLOCK=64.
        keyed = item.find("].") + 1
        name, equals, value = item[keyed:].partition("=")
        name = item[:keyed] + name
        name = name.strip()
        if not equals or not name:
            raise click.UsageError(f"{option} '{item}': write it as {form}")
        if name in values:
            raise click.UsageError(f"{option} '{item}': '{name}' is set twice")
        values[name] = value.strip()
    return values


def ends_in(suffix: str) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """A callback that refuses other files before anything is run."""

    def check(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
        if value is not None and Path(value).suffix.lower() != suffix:
            raise click.BadParameter(f"'{value}' must end in {suffix}")
        return value

    return check


def share(_ctx: click.Context, _param: click.Parameter, text: str) -> float:
    """A callback for a share, written as 5% or 0.05."""
    try:
        value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise click.BadParameter(f"'{text}' is not a share; write it as 5% or 0.05")
    return value


@contextmanager
def opened(url: str | None) -> Iterator[GraphStore]:
    """The store at ``url`` for the length of a ``with``; its remarks go to stderr."""
    from kernbench.api.stores import borrowed

    with borrowed(url) as store:
        yield store
        for note in store.notes:
            remark(note)
