"""The parts that all commands share: their decorator, output, database and error messages."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_type_hints

import typer
from typer.core import TyperGroup
from typer.models import OptionInfo

from graphkit.errors import GraphkitError, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from graphkit.database.settings import Settings
    from graphkit.database.store import Store
    from graphkit.files.outputs import Kind
    from graphkit.files.problems import Problems

#: Characters that JSON may contain as they are, but that control a terminal or end a line for some readers.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))}


@dataclass(frozen=True, slots=True)
class Writes:
    """Mark of an option that names a file to write, with the kind of file that it becomes.

    Before a command runs, :func:`graphkit.files.outputs.check_output` checks these files. The command gets ``--force``
    if ``replaces`` is true: then a file of another kind may be replaced.
    """

    kind: Kind
    replaces: bool = True


@dataclass(frozen=True)
class JsonOptions:
    """The options of every command."""

    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False
    lift_limits: Annotated[
        bool, typer.Option("--no-input-limits", help="Read inputs of any compression, size and slowness.")
    ] = False


@dataclass(frozen=True)
class HomeOptions(JsonOptions):
    """The options of a command that uses graphkit's own folder."""

    data: Annotated[
        str | None,
        typer.Option("--data", metavar="DIR", help="Use the embedded database in DIR. [default: .graphkit]"),
    ] = None


@dataclass(frozen=True)
class StoreOptions(HomeOptions):
    """The options of a command that opens the database."""

    uri: Annotated[
        str | None,
        typer.Option("--neo4j-uri", metavar="URI", help="Use this Neo4j server instead. [env: NEO4J_URI]"),
    ] = None
    username: Annotated[
        str | None,
        typer.Option("--neo4j-username", metavar="NAME", help="Log in as NAME. [env: NEO4J_USERNAME] [default: neo4j]"),
    ] = None
    password: Annotated[
        str | None,
        typer.Option(
            "--neo4j-password",
            metavar="SECRET",
            help="Log in with SECRET; better use the variable. [env: NEO4J_PASSWORD]",
        ),
    ] = None
    database: Annotated[
        str | None,
        typer.Option(
            "--neo4j-database", metavar="NAME", help="Use the database NAME. [env: NEO4J_DATABASE] [default: neo4j]"
        ),
    ] = None


ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace a file of another kind, but never one that the command reads.")
]

#: The shared options of the running command, and where it prints results; each call sets them anew.
_shared = JsonOptions()
_results: TextIO | None = None


def command(*, home: bool = False, graph: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a command: add the shared options, and turn each parameter typed by a dataclass into its options.

    The fields of such a dataclass are annotated like parameters of a command. Files that the command writes are checked
    before it runs, see :class:`Writes`.

    Parameters
    ----------
    home, graph
        Whether the command uses graphkit's own folder, or the database.
    """
    shared = StoreOptions if graph else HomeOptions if home else JsonOptions

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(function, eval_str=True).parameters.values()
        families = {one.name: one.annotation for one in own if is_dataclass(one.annotation)}
        options = [each for one in own for each in (_options(one.annotation) if one.name in families else [one])]
        outputs = {one.name: mark for one in options if (mark := _writes(one.annotation)) is not None}
        arguments = {one.name for one in options if not _has(one.annotation, OptionInfo)}
        forced = any(mark.replaces for mark in outputs.values()) and all(one.name != "force" for one in options)
        added = [inspect.Parameter("force", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=ForceOption)]
        every = [*options, *(added if forced else ()), *_options(shared)]

        @functools.wraps(function)
        def run(**given: Any) -> None:
            global _shared, _results
            _shared, _results = _filled(shared, given), None
            force = bool(given.pop("force") if forced else given.get("force"))
            if outputs:
                reads = [path for name in given.keys() - outputs for path in _paths(given[name], name in arguments)]
                _check_outputs(outputs, given, reads, force)
            from graphkit.files.intake import lifted

            filled = {name: _filled(family, given) for name, family in families.items()}
            _reported_fields.clear()
            with _results_alone() if as_json() else nullcontext(), lifted(_shared.lift_limits):
                function(**given, **filled)

        every = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in every]
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in every}
        del run.__wrapped__
        return run

    return declare


def _options(family: Any) -> list[inspect.Parameter]:
    """Return the fields of a dataclass as parameters of a command."""
    hints = get_type_hints(family, include_extras=True)
    found = []
    for one in fields(family):
        default = one.default if one.default_factory is MISSING else one.default_factory()
        default = inspect.Parameter.empty if default is MISSING else default
        found.append(
            inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[one.name])
        )
    return found


def _filled(family: Any, given: dict[str, Any]) -> Any:
    """Return an instance of a dataclass, with the values of its fields taken out of ``given``."""
    return family(**{one.name: given.pop(one.name) for one in fields(family)})


def _has(annotation: Any, kind: type) -> bool:
    return any(isinstance(one, kind) for one in getattr(annotation, "__metadata__", ()))


def _writes(annotation: Any) -> Writes | None:
    """Return the mark of an option that names an output, or None for any other."""
    return next((one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, Writes)), None)


def _check_outputs(
    outputs: Mapping[str, Writes], given: Mapping[str, Any], reads: Collection[Path], force: bool
) -> None:
    """Refuse outputs that would replace an input of the command, each other, or files of another kind."""
    from graphkit.files.outputs import check_output, check_outputs_differ

    named = [(path, mark) for name, mark in outputs.items() for path in _paths(given[name])]
    for path, mark in named:
        check_output(path, mark.kind, reads, force=force and mark.replaces)
    check_outputs_differ(path for path, _ in named)


def _paths(value: Any, text: bool = False) -> Iterator[Path]:
    """Yield the paths in the value of a parameter; with ``text``, strings are paths too, as in arguments."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, Path) or (text and isinstance(one, str) and one):
            yield Path(one)


@contextmanager
def _results_alone() -> Iterator[None]:
    """Keep standard output for JSON: whatever else prints there, such as a user's measure, goes to standard error."""
    global _results
    _results = sys.stdout
    with redirect_stdout(sys.stderr):
        yield


class Commands(TyperGroup):
    """A group of commands that prints graphkit's own errors as messages, with their exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; turn an error of graphkit into its message on standard error and its exit code."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # here, where a full disk can still be reported, and not at the interpreter's exit
        except GraphkitError as error:
            sys.stderr.write(f"error: {_masked(str(error))}\n")
            raise typer.Exit(error.exit_code) from None
        except OSError as error:
            raise typer.Exit(refused_by_system(error)) from None


def group(text: str) -> typer.Typer:
    """Return a group of commands with its help text."""
    made = typer.Typer(cls=Commands, no_args_is_help=True, rich_markup_mode=None, help=text)
    made.callback(help=text)(lambda: None)  # without it, a group of one command would be that command
    return made


def refused_by_system(error: OSError) -> int:
    """Print what the operating system refused, and return the exit code.

    If standard output accepts nothing more, the rest of it is dropped.
    """
    say(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error.strerror or error}")
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 2


def _masked(text: str) -> str:
    from graphkit.records.secrets import masked_message

    return masked_message(text)


def as_json() -> bool:
    """Return whether the running command prints JSON."""
    return _shared.as_json


def print_json(value: Any) -> None:
    """Print a value as one line of JSON on standard output; NaN and the infinities become null."""
    stream = _results or sys.stdout
    escaped = (stream.encoding or "utf-8").lower() not in ("utf-8", "utf8")
    try:
        text = json.dumps(value, ensure_ascii=escaped, default=str, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=escaped, default=str)
    stream.write(_masked(text).translate(_ESCAPED) + "\n")


def _finite(value: Any) -> Any:
    """Return a value with null instead of NaN and the infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def settings() -> Settings:
    """Return the settings of the database that the running command uses."""
    from graphkit.database.settings import Settings

    one = _shared if isinstance(_shared, StoreOptions) else StoreOptions(data=getattr(_shared, "data", None))
    return Settings.resolve(one.uri, one.username, one.password, one.database, Path(one.data) if one.data else None)


def open_graph(read_only: bool = False) -> AbstractContextManager[Store]:
    """Open the database, and report unfinished loads; before writing, create its constraints and indexes.

    With ``read_only`` the server refuses every write, so an account with read access is enough.
    """
    from graphkit.database.store import Store
    from graphkit.graph.opening import prepared
    from graphkit.graph.reservations import unfinished_loads

    store = Store.open(settings(), read_only=read_only)
    if not read_only:
        prepared(store)
    for load in unfinished_loads(store):
        say(f"note: {load}")
    return store


def say(text: str = "") -> None:
    """Print a line on standard error; escape what could break the line or control a terminal."""
    sys.stderr.write(one_line(_masked(text)) + "\n")


def say_text(text: str) -> None:
    """Print several lines on standard error, each as :func:`say` does."""
    for line in text.split("\n"):
        say(line)


def print_line(text: str = "") -> None:
    """Print a line on standard output; escape what could break the line or control a terminal."""
    typer.echo(one_line(_masked(text)), file=_results or sys.stdout)


def print_text(text: str) -> None:
    """Print several lines on standard output, each as :func:`print_line` does."""
    for line in text.split("\n"):
        print_line(line)


def console(stderr: bool = False, width: int | None = None) -> Console:
    """Return a console that prints text unchanged; without a terminal it has the given width."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else width
    made = Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
    render = made.render_str
    # Mask secrets before the layout: one that a cell breaks into lines would no longer be found.
    made.render_str = lambda text, *given, **named: render(_masked(text), *given, **named)  # type: ignore[method-assign]
    return made


#: The unknown fields that this command has reported already: several runs read the same questions.
_reported_fields: set[tuple[str, str]] = set()


def print_problems(problems: Problems) -> None:
    """Print on standard error which records of an input were skipped, and the notes about the others."""
    from graphkit.files.problems import SHOWN
    from graphkit.records.words import counted

    for problem in problems.left_out[:SHOWN]:
        say(f"skipped: {problem}")
    if (rest := len(problems.left_out) + problems.beyond - SHOWN) > 0:
        say(f"skipped: ... and {rest} more")
    for what, count in problems.noted.items():
        first = problems.notes[what][0]
        say(f"note: {what} ({counted(count, 'record')}, the first: {first.where} {first.record})")
    for sentence in problems.unknown_fields(_reported_fields):
        say(f"note: {sentence}")
