"""Click's commands and groups with what every one of ours has: lazy import, ``--debug``, an example.

A group knows its commands by name and one line of help; a command's module is imported when it is run
or asked for its own help, never for the list.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from kernbench.support.hints import suggestion

COMPLETE_VARIABLE = "_KERNBENCH_COMPLETE"
"""Set by completion scripts when they ask for completions."""


class Entry(NamedTuple):
    """A command of a group: ``module``, or ``module:name`` if it is not called ``command``; its help."""

    module: str
    help: str


class _WithExamples(click.Command):
    """A command whose help ends with examples that work, and that takes ``--debug``."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", {}).setdefault("help_option_names", ["-h", "--help"])
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.params.append(
            click.Option(["--debug"], is_flag=True, expose_value=False, help="Show tracebacks of errors.")
        )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, as typed."""
        if self.examples:
            with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
                for line in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class Command(_WithExamples):
    """A command that does something."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As Click does, but ``--json``, as other tools have it, leads to ``--format json``."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            wanted = error.option_name.removeprefix("--")
            for option in self.params:
                if isinstance(option.type, click.Choice) and wanted in option.type.choices:
                    meant = f"no option '{error.option_name}'; did you mean '{option.opts[0]} {wanted}'?"
                    raise click.UsageError(meant, ctx) from None
            raise


class LazyGroup(_WithExamples, click.Group):
    """A command that only holds others, which are imported when needed."""

    def __init__(
        self,
        *args: Any,
        entries: Mapping[str, Entry],
        elsewhere: Mapping[str, str] | None = None,
        first: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        """``elsewhere`` maps the names that other tools have for a command to ours.

        ``first`` are the commands of a first day: help lists the others below them.
        """
        super().__init__(*args, no_args_is_help=False, subcommand_metavar="COMMAND ...", **kwargs)
        self.entries = entries
        self.elsewhere = elsewhere or {}
        self.first = tuple(first)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As Click does; without any argument, print the help."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin with what is typed, without importing any; then options."""
        named = [
            CompletionItem(name, help=entry.help)
            for name, entry in self.entries.items()
            if name.startswith(incomplete)
        ]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they were declared."""
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.module.partition(":")
        command = getattr(importlib.import_module(module), attribute or "command")
        assert isinstance(command, click.Command)
        command.name = cmd_name  # what lists and references of commands call it
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As Click does, but an unknown command's error names what there is."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is not None:
            return name, command, args[1:]
        if name.startswith("-"):
            raise click.NoSuchOption(name, ctx=ctx)
        raise click.UsageError(
            f"no command '{name}'; {self._meant(ctx, name)}available: {', '.join(self.entries)}", ctx
        )

    def _meant(self, ctx: click.Context, name: str) -> str:
        """``did you mean 'x'? ``: another tool's name for one, a command of a group, one like it."""
        within = [
            f"{group} {name}"
            for group in self.entries
            if isinstance(command := self.get_command(ctx, group), LazyGroup) and name in command.entries
        ]
        path = ctx.find_root().command_path if name in self.elsewhere else ctx.command_path
        found = [self.elsewhere[name]] if name in self.elsewhere else within
        if not found:
            return suggestion(name, self.entries)
        return f"did you mean {' or '.join(repr(f'{path} {one}') for one in found)}? "

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        more = [name for name in self.entries if name not in self.first]
        for title, names in (("Commands", self.first), ("More" if self.first else "Commands", more)):
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name, self.entries[name].help) for name in names])
