"""The entry point: runs a command and turns whatever goes wrong into one line and an exit status.

0 done; 1 the run or a check failed; 2 wrong usage; 130 interrupted; 141 whoever read our output went away.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

import click

from kernbench.cli.app import app
from kernbench.errors import KernBenchError, UsageError

DONE, FAILED, WRONG_USAGE, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line ``argv`` (default: the process's own) and return the exit status."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    try:
        status = _invoke([arg for arg in args if arg != "--debug"])
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        keeps = next((arg for arg in args if not arg.startswith("-")), "") in ("run", "traffic")
        return _report("interrupted; nothing was kept" if keeps else "interrupted", INTERRUPTED)
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _report(*_explain(error, debug))
    return status


def _invoke(args: list[str]) -> int:
    try:
        with app.make_context("kernbench", args) as context:
            app.invoke(context)
    except click.exceptions.Exit as asked:
        return asked.exit_code
    return DONE


def _explain(error: Exception, debug: bool) -> tuple[str, int]:
    """The line to print and the exit status for ``error``."""
    if isinstance(error, click.UsageError):
        message = error.format_message().rstrip(".")
        message = message[:1].lower() + message[1:]
        command = error.ctx.command_path if error.ctx else "kernbench"
        return f"{message}; see '{command} --help'", WRONG_USAGE
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    if _on_purpose(error):
        return str(error), WRONG_USAGE if _wrong_usage(error) else FAILED
    if isinstance(error, OSError):
        where = f"'{error.filename}': " if error.filename else ""
        return f"{where}{error.strerror or error}", FAILED
    remedy = "" if debug else "; run again with --debug for the traceback"
    return f"unexpected {type(error).__name__}: {error}{remedy}", FAILED


def _on_purpose(error: Exception) -> bool:
    """True for errors whose message was written for people: KernBench's and the stores'."""
    from kernbench.pgraph import StoreError

    return isinstance(error, KernBenchError | StoreError)


def _wrong_usage(error: Exception) -> bool:
    """True where what was asked for does not exist or cannot be: a bench, a run, a question, a store."""
    from kernbench.pgraph import QueryError, QueryTimeoutError, RunNotFoundError, StoreUrlError

    if getattr(error, "during_run", False):
        return False
    asked_wrongly = isinstance(error, UsageError | QueryError | RunNotFoundError | StoreUrlError)
    return asked_wrongly and not isinstance(error, QueryTimeoutError)


def _report(message: str, status: int) -> int:
    line = " ".join(message.split()) or "no message"
    try:
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()
    with contextlib.suppress(OSError):
        print(f"kernbench: error: {line}", file=sys.stderr, flush=True)
    return status


def _abandon_stdout() -> None:
    """Nobody reads stdout any more: let Python's own flush at exit write to nowhere, quietly."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
