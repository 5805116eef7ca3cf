"""What every command shares: ``--json``, the options that name a database, and how errors are shown."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

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

#: What JSON may hold as it is, but a terminal obeys or a reader takes for the end of a line.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))}

#: The shared options of the running command: each call sets every one anew.
_values: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Writes:
    """Stands in the annotation of an option that names a file to be written, with the kind of file that it becomes.

    Each command gives such options to :func:`graphkit.files.outputs.check_output` before it does anything, and has
    ``--force`` where ``replaces`` says that a file of another kind may be replaced.
    """

    kind: Kind
    replaces: bool = True


_FORCE = (bool, False, typer.Option("--force", help="Replace a file of another kind; never one that is read."))
_JSON = {
    "as_json": (bool, False, typer.Option("--json", help="Print JSON on standard output.")),
    "lift_limits": (
        bool,
        False,
        typer.Option("--no-input-limits", help="Read inputs of any compression, size and slowness."),
    ),
}
_GRAPH = {
    name: (str | None, None, typer.Option(flag, metavar=metavar, help=text, show_default=False))
    for name, flag, metavar, text in (
        ("data", "--data", "DIR", "Folder of the embedded database. [default: .graphkit]"),
        ("uri", "--neo4j-uri", "URI", "Use this Neo4j instead. [env: NEO4J_URI]"),
        ("username", "--neo4j-username", "NAME", "[env: NEO4J_USERNAME] [default: neo4j]"),
        ("password", "--neo4j-password", "SECRET", "Better given by the environment. [env: NEO4J_PASSWORD]"),
        ("database", "--neo4j-database", "NAME", "[env: NEO4J_DATABASE] [default: neo4j]"),
    )
}


def with_json(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option ``--json``."""
    return _with(command, _JSON)


def with_home(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--json`` and the option that says in which folder graphkit keeps what is its own."""
    return _with(command, {**_JSON, "data": _GRAPH["data"]})


def with_graph(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command ``--json`` and the options that say which database it opens."""
    return _with(command, {**_JSON, **_GRAPH})


def _with(command: Callable[..., None], shared: dict[str, tuple[Any, Any, Any]]) -> Callable[..., None]:
    """Return a command that takes shared options besides its own, and keeps them where :func:`option` finds them."""

    own = inspect.signature(command, eval_str=True)
    outputs = {name: mark for name, one in own.parameters.items() if (mark := _writes(one.annotation)) is not None}
    if "force" not in own.parameters and any(mark.replaces for mark in outputs.values()):
        shared = {"force": _FORCE, **shared}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        _values.clear()
        _values.update({name: given.pop(name) for name in shared})
        if outputs:
            texts = {name for name, one in own.parameters.items() if _is_option(one.annotation)}
            reads = [path for name in given.keys() - outputs for path in _paths(given[name], name not in texts)]
            _check_outputs(outputs, given, reads)
        from graphkit.files.intake import lifted

        with _results_alone() if as_json() else nullcontext(), lifted(bool(option("lift_limits"))):
            command(**given)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, declared])
        for name, (kind, default, declared) in shared.items()
    ]
    both = [*own.parameters.values(), *added]
    run.__signature__ = own.replace(parameters=both)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in both}
    del run.__wrapped__
    return run


def _writes(annotation: Any) -> Writes | None:
    """Return how an option's annotation marks it as an output, or None for one that isn't."""
    return next((one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, Writes)), None)


def _is_option(annotation: Any) -> bool:
    """Tell whether an annotation is that of an option, and not of an argument."""
    return any(isinstance(one, OptionInfo) for one in getattr(annotation, "__metadata__", ()))


def _check_outputs(outputs: Mapping[str, Writes], given: Mapping[str, Any], reads: Collection[Path]) -> None:
    """Refuse outputs that would replace what the command reads, each other, or files of another kind."""
    from graphkit.files.outputs import check_output, check_outputs_differ

    force = bool(given.get("force", option("force")))
    named = [(path, mark) for name, mark in outputs.items() for path in _paths(given[name])]
    for path, mark in named:
        check_output(path, mark.kind, reads, force=force and mark.replaces)
    check_outputs_differ(path for path, _ in named)


def _paths(value: Any, text: bool = False) -> Iterator[Path]:
    """Yield the paths in the value of a parameter; where ``text`` says so a text is one, as an argument may be."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, Path) or (text and isinstance(one, str) and one):
            yield Path(one)


@contextmanager
def _results_alone() -> Iterator[None]:
    """Keep standard output for JSON: what a user's measure or system prints meanwhile goes to standard error."""
    _values["results"] = sys.stdout
    with redirect_stdout(sys.stderr):
        yield


def _results() -> TextIO:
    """Return where results are printed."""
    return option("results") or sys.stdout


class Commands(TyperGroup):
    """The root command: it shows graphkit's own errors in words, with their exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of graphkit's becomes its message on standard error and its exit code."""
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


def refused_by_system(error: OSError) -> int:
    """Say what the operating system refused, and return the exit code.

    Where standard output takes nothing more, what is still to be written goes nowhere.
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


def option(name: str) -> Any:
    """Return the value of a shared option of the running command."""
    return _values.get(name)


def as_json() -> bool:
    """Tell whether the running command was asked for JSON."""
    return bool(option("as_json"))


def print_json(value: Any) -> None:
    """Print a value as one line of JSON on standard output; a number that JSON doesn't have becomes null."""
    stream = _results()
    escaped = (stream.encoding or "utf-8").lower() not in ("utf-8", "utf8")
    try:
        text = json.dumps(value, ensure_ascii=escaped, default=str, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=escaped, default=str)
    stream.write(_masked(text).translate(_ESCAPED) + "\n")


def _finite(value: Any) -> Any:
    """Return a value with null in the place of NaN and the infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def settings() -> Settings:
    """Return which database the running command was told to use."""
    from graphkit.database.settings import Settings

    data = option("data")
    return Settings.resolve(
        option("uri"),
        option("username"),
        option("password"),
        option("database"),
        Path(data) if data else None,
    )


def open_graph(read_only: bool = False) -> AbstractContextManager[Store]:
    """Open the database, and report loads that were not finished. To write, its constraints and indexes are made first.

    With ``read_only`` the server refuses every write, so an account that may only read will do.
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
    """Write a line for the reader on standard error; what could break the line, or drive a terminal, is escaped."""
    sys.stderr.write(one_line(_masked(text)) + "\n")


def say_text(text: str) -> None:
    """Write a text of several lines on standard error, each as :func:`say` does."""
    for line in text.split("\n"):
        say(line)


def print_line(text: str = "") -> None:
    """Print a line on standard output; what could break the line, or drive a terminal, is escaped."""
    typer.echo(one_line(_masked(text)), file=_results())


def print_text(text: str) -> None:
    """Print a text of several lines on standard output, each as :func:`print_line` does."""
    for line in text.split("\n"):
        print_line(line)


def console(stderr: bool = False, width: int | None = None) -> Console:
    """Return a console that takes text as it is; ``width`` is for where no terminal gives one."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else width
    made = Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
    # Before it is laid out: a secret that a cell breaks into lines would no longer be found.
    made.render_str = _masking(made.render_str)  # type: ignore[method-assign]
    return made


def _masking(render: Callable[..., Any]) -> Callable[..., Any]:
    return lambda text, *given, **named: render(_masked(text), *given, **named)


_told_fields: set[tuple[str, str]] = set()


def print_problems(problems: Problems) -> None:
    """Report what was left out of an input, and what is worth knowing about the rest, on standard error."""
    from graphkit.files.problems import SHOWN
    from graphkit.records.words import counted

    for problem in problems.left_out[:SHOWN]:
        say(f"left out: {problem}")
    if (rest := len(problems.left_out) + problems.beyond - SHOWN) > 0:
        say(f"left out: ... and {rest} more")
    for what, count in problems.noted.items():
        first = problems.notes[what][0]
        say(f"note: {what} ({counted(count, 'record')}, the first: {first.where} {first.record})")
    # Several runs read the same questions: once is enough.
    for sentence in problems.unknown_fields(_told_fields):
        say(f"note: {sentence}")
