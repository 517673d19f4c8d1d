"""The entry point: runs a command and turns whatever goes wrong into one line and an exit status.

0 done; 1 the run or a check failed; 2 wrong usage; 130 interrupted; 141 the reader of our output went away.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

# The rest is imported within main(), so that Ctrl-C while a command starts ends it as it does later on.
if TYPE_CHECKING:
    from kernbench.errors import KernBenchError

# At its end Python looks for cycles among all objects there are; of a machine those are a million.
atexit.register(gc.freeze)

DONE, FAILED, WRONG_USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (default: the process's own) and return the exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    _fill_closed_streams()
    # A command makes much and drops little, and its process is short: collect seldom.
    gc.set_threshold(50_000, 20, 20)
    debug = "--debug" in args
    try:
        status = _invoke([arg for arg in args if arg != "--debug"])
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt as stop:
        kept = getattr(stop, "kept_run", None) is not None
        keeps = not kept and next((arg for arg in args if not arg.startswith("-")), "") in ("run", "traffic")
        stood = f" {stop}" if str(stop) else ""
        return _report(f"interrupted{stood}{'; nothing was saved' if keeps else ''}", INTERRUPTED)
    except (Exception, GeneratorExit) as error:
        from kernbench.errors import ConfigError, DeadlockError

        if debug:
            import traceback

            traceback.print_exc()
        message, status = _explain(error, debug)
        marked = str(getattr(error, "marked", ""))
        message = message.removesuffix(marked)
        if isinstance(error, DeadlockError):
            message, _, marked = message.partition("\n")
        # Only mistakes in a file come several at a time, a line each.
        return _report(message, status, several=isinstance(error, ConfigError), marked=marked)
    return status


def _fill_closed_streams() -> None:
    """Streams that the caller closed lead nowhere; else the next file opened would get their number."""
    with contextlib.suppress(OSError):
        while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(opened, True)
        os.close(opened)
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))
        elif hasattr(stream, "reconfigure"):  # what its encoding lacks is written out
            stream.reconfigure(errors="backslashreplace")


def _invoke(args: list[str]) -> int:
    import click

    from kernbench.cli.app import app
    from kernbench.cli.group import COMPLETE_VARIABLE

    if COMPLETE_VARIABLE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "kernbench", COMPLETE_VARIABLE, os.environ[COMPLETE_VARIABLE])
    try:
        with app.make_context("kernbench", args) as context:
            app.invoke(context)
    except click.exceptions.Exit as asked:
        return asked.exit_code
    return DONE


def _explain(error: BaseException, debug: bool) -> tuple[str, int]:
    """The line to print and the exit status for ``error``."""
    import click

    from kernbench.errors import KernBenchError

    if isinstance(error, click.UsageError):
        message = error.format_message().rstrip(".")
        message = message[:1].lower() + message[1:]
        command = error.ctx.command_path if error.ctx else "kernbench"
        return f"{message}; see '{command} --help'", WRONG_USAGE
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    if isinstance(error, KernBenchError):
        return str(error), WRONG_USAGE if _wrong_usage(error) else FAILED
    if isinstance(error, OSError):
        where = f"'{error.filename}': " if error.filename else ""
        return f"{where}{error.strerror or error}", FAILED
    if isinstance(error, MemoryError):
        from kernbench.support.host_memory import lacks, needed

        return lacks(needed(error)), FAILED
    remedy = "" if debug else "; re-run with --debug for the traceback"
    return f"unexpected {type(error).__name__}: {error}{remedy}", FAILED


def _wrong_usage(error: KernBenchError) -> bool:
    """True where what was asked for does not exist or cannot be: a bench, a run, a question, a store."""
    from kernbench.errors import UsageError
    from kernbench.support.pgraph import QueryError, QueryTimeoutError, RunNotFoundError, StoreUrlError

    if error.during_run:
        return False
    asked_wrongly = isinstance(error, UsageError | QueryError | RunNotFoundError | StoreUrlError)
    return asked_wrongly and not isinstance(error, QueryTimeoutError)


def _report(message: str, status: int, *, several: bool = False, marked: str = "") -> int:
    """Print an error; ``marked`` is the line of a query at fault with a caret below it."""
    from kernbench.draw.cells import printable
    from kernbench.errors import shorten

    message = shorten(message)
    texts = message.splitlines() if several else [message]
    lines = [printable(shorten(" ".join(text.split()))) or "no message" for text in texts]
    try:
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()
    with contextlib.suppress(OSError):
        for line in lines:
            print(f"kernbench: error: {line}", file=sys.stderr, flush=True)
        for line in marked.splitlines():
            # As many characters as the query has, so that the caret stands below its place.
            print("".join(c if c.isprintable() else "?" for c in line), file=sys.stderr, flush=True)
    return status


def _abandon_stdout() -> None:
    """The reader of stdout is gone: let Python's own flush at exit write to nowhere, quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
