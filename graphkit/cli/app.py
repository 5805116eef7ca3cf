"""The root command, which imports the command that is called; each has a file of its name."""

from __future__ import annotations

import os
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from graphkit.cli.base import Commands, made_command, made_group, refused_by_system, say
from graphkit.cli.plugin_commands import plugin_command, plugin_commands, section_of, usable_commands
from graphkit.cli.streams import prepare_streams
from graphkit.records.words import shortened

#: The exit code after an unexpected error (EX_SOFTWARE of sysexits.h); 1 is a failed gate.
BUG = 70

#: The exit code after Ctrl-C, as of a shell.
INTERRUPTED = 130

#: The environment variable that makes graphkit print the traceback of such an error.
DEBUG_VARIABLE = "GRAPHKIT_DEBUG"

#: The commands of the core by what a person wants, in the order of the help. Plug-ins add theirs,
#: to one of these sections or to one of their own (:func:`graphkit.cli.plugin_commands.section_of`).
SECTIONS = {
    "start": ("import",),
    "score": ("evaluate", "load-scores"),
    "understand": ("why", "failures", "report"),
    "compare": (),
    "gold": (),
    "graph": ("load", "git", "query", "queries", "db"),
    "more": ("measures", "schema"),
}


def module_of(name: str) -> str:
    """Return the module of a command of the core, which holds it under the same name."""
    return "imports" if name == "import" else name.replace("-", "_")  # ``import`` is a keyword


class _OnDemand(Mapping[str, Any]):
    """The commands and groups by name, each imported when it is first asked for: their options take time to build."""

    def __init__(self) -> None:
        self._core = [name for names in SECTIONS.values() for name in names]
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            if name in self._core:
                module = module_of(name)
                found = getattr(import_module(f"graphkit.cli.{module}"), module)
            else:
                found = plugin_command(name)
            self._made[name] = made_group(name, found) if isinstance(found, typer.Typer) else made_command(name, found)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._core or name in plugin_commands()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._core, *plugin_commands()]))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class RootCommands(Commands):
    """The commands of ``graphkit``."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": None})
        self.commands = _OnDemand()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands; of plug-ins, those that can be used."""
        return [name for names in self._sections().values() for name in names]

    def _sections(self) -> dict[str, list[str]]:
        """Return the names of the commands by section; no plug-in moves a command of the core."""
        sections = {section: list(names) for section, names in SECTIONS.items()}
        own = {name for names in SECTIONS.values() for name in names}
        for name in usable_commands():
            if name not in own:
                sections.setdefault(section_of(plugin_commands()[name]), []).append(name)
        return sections

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each command: by what a person wants, then those of other plug-ins under their names."""
        rows = [
            (f"{section if place == 0 else '':<10} {name}", one.get_short_help_str(limit=200))
            for section, names in self._sections().items()
            for place, (name, one) in enumerate((name, self.get_command(ctx, name)) for name in names)
            if one is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    cls=RootCommands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Evaluate GraphRAG traversals over many repositories in a graph.\n\n"
    "Exit codes: 0 done, 1 gate failed, 2 usage or bad input, 3 database, 70 bug.",
)


def _version(value: bool) -> None:
    if value:
        from graphkit import __version__

        typer.echo(f"graphkit {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Evaluate GraphRAG traversals over many repositories in a graph."""


def main() -> None:
    """Run the command line."""
    prepare_streams()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a background job of a script ignores it
        signal.signal(signal.SIGINT, _interrupted)
        sys.unraisablehook = _come_again
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where a full disk can still be reported, and not at the interpreter's exit
            if signal.getsignal(signal.SIGINT) is _interrupted:
                signal.signal(signal.SIGINT, _end_at_once)
    except OSError as error:
        sys.exit(refused_by_system(error))
    except Exception as error:
        _report_bug(error)
        sys.exit(BUG)


def _interrupted(number: int, frame: FrameType | None) -> NoReturn:
    """Let the command end by Ctrl-C, and at once by another one: nobody wants to see where that met the ending."""
    signal.signal(signal.SIGINT, _end_at_once)
    raise KeyboardInterrupt


def _come_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Let a Ctrl-C that fell into a callback, where Python drops what is raised, come again a moment later."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    signal.signal(signal.SIGINT, _interrupted)
    threading.Timer(0.01, interrupt_main).start()


def _end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """End as after a kill: what is written is whole, and the next command sweeps the rest."""
    if os.isatty(2):
        os.write(2, b"\x1b[?25h\n")  # the progress hides the cursor
    os._exit(INTERRUPTED)


def _report_bug(error: Exception) -> None:
    """Print an unexpected error in one line, and how to report it; print the traceback only if the variable asks."""
    if os.environ.get(DEBUG_VARIABLE) == "1":
        import traceback

        traceback.print_exc()
    what = str(error)
    say(f"error: graphkit has a bug: {type(error).__name__}{': ' if what else ''}{shortened(what, 300)}")
    say(f"  Report it with the command, its input, and what the same command prints under {DEBUG_VARIABLE}=1.")
