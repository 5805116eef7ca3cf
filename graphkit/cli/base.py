"""The parts that all commands share: their decorator, output, database and error messages."""

from __future__ import annotations

import inspect
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_args, get_type_hints

import typer
from typer.core import TyperGroup
from typer.models import ArgumentInfo, ParameterInfo

from graphkit.cli.plugin_commands import plugin_command, plugin_commands, usable_commands
from graphkit.cli.terminal import folded, masked, width_of
from graphkit.cli.terminal import say as say
from graphkit.cli.terminal import say_text as say_text
from graphkit.errors import GraphkitError, InputError, one_line
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.database.settings import Settings
    from graphkit.database.store import Store
    from graphkit.files.outputs import Kind
    from graphkit.files.problems import Problems
    from graphkit.records.plugins import Expected

#: What typer raises for a mistake in words that it parses: the class above this one has no public name.
MISTAKES: tuple[Any, ...] = typer.BadParameter.__bases__

#: Characters that JSON may contain as they are, but that control a terminal or end a line for some readers.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))}


@dataclass(frozen=True)
class Declared:
    """An option or argument of a command, as the default of a parameter or of a field of its option group.

    ``writes`` is the kind of the file that the value names as an output, or None. Before a command runs,
    :func:`graphkit.files.outputs.check_output` checks such files. The command gets ``--force`` if ``replaces`` is true:
    then a file of another kind may be replaced. An argument that may be a whole text is ``long``.
    """

    info: ParameterInfo
    default: Any
    writes: Kind | None = None
    replaces: bool = True
    long: bool = False

    def parameter(self, name: str, kind: Any) -> inspect.Parameter:
        """Return the parameter of a command, as typer reads it."""
        default = False if kind is bool and self.default is None else self.default
        annotation = Annotated[kind, self.info]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def option(
    text: str,
    help: str,  # noqa: A002
    *,
    default: Any = None,
    required: bool = False,
    writes: Kind | None = None,
    replaces: bool = True,
    **settings: Any,
) -> Any:
    """Declare an option by its names and the placeholder of its value, such as ``--out -o FILE``.

    Its type is the annotation of the parameter or field whose default it is. A flag is False by default, any other
    option None.
    """
    names = [word for word in text.split() if word.startswith("-")]
    metavar = next((word for word in text.split() if not word.startswith("-")), None)
    info = typer.Option(*names, metavar=metavar, help=help, **settings)
    return Declared(info, inspect.Parameter.empty if required else default, writes, replaces)


def argument(
    metavar: str,
    help: str,  # noqa: A002
    *,
    default: Any = inspect.Parameter.empty,
    long: bool = False,
    **settings: Any,
) -> Any:
    """Declare an argument by its placeholder; without a default it is required. A ``long`` one may be a whole text."""
    return Declared(typer.Argument(metavar=metavar, help=help, **settings), default, long=long)


@dataclass(frozen=True)
class Added:
    """The options that plug-ins add to a command: the default of a parameter that gets them, by their names.

    Each is an entry point of a group: a dataclass whose fields are declared as a command's own options are.
    """

    group: str

    def families(self, protocol: type) -> tuple[dict[str, Any], list[InputError]]:
        """Return the dataclasses by the names of their entry points, and why each other one can't be used."""
        from graphkit.records.plugins import load_all

        return load_all(self.group, options_of(protocol), "it may be an option that")


def options_of(protocol: type) -> Expected:
    """Return what plug-ins add to a command: a dataclass of options with the methods of a protocol."""
    from graphkit.records.plugins import Expected

    methods = [name for name in vars(protocol) if not name.startswith("_")]

    def fits(found: Any) -> bool:
        if not isinstance(found, type) or not is_dataclass(found):
            return False
        declared = all(isinstance(getattr(found, one.name, None), Declared) for one in fields(found))
        return declared and all(callable(getattr(found, name, None)) for name in methods)

    return Expected(f"a dataclass of options with {' and '.join(methods)}", fits)


def added(group: str) -> Any:
    """Declare the parameter of a command that gets the options of plug-ins, by the group of their entry points."""
    return Added(group)


@dataclass(frozen=True)
class JsonOptions:
    """The options of every command."""

    as_json: bool = option("--json", "Print JSON on standard output.")
    lift_limits: bool = option("--no-input-limits", "Read inputs of any compression, size and slowness.")


@dataclass(frozen=True)
class HomeOptions(JsonOptions):
    """The options of a command that uses graphkit's own folder."""

    data: str | None = option("--data DIR", "Use the embedded database in DIR. [default: .graphkit]")


@dataclass(frozen=True)
class StoreOptions(HomeOptions):
    """The options of a command that opens the database."""

    uri: str | None = option("--neo4j-uri URI", "Use this Neo4j server instead. [env: NEO4J_URI]")
    username: str | None = option("--neo4j-username NAME", "Log in as NAME. [env: NEO4J_USERNAME] [default: neo4j]")
    password: str | None = option(
        "--neo4j-password SECRET", "Log in with SECRET; better use the variable. [env: NEO4J_PASSWORD]"
    )
    database: str | None = option(
        "--neo4j-database NAME", "Use the database NAME. [env: NEO4J_DATABASE] [default: neo4j]"
    )


#: Of each command that reads records.
AS = option("--as NAME", "Let this principal of access.jsonl ask the questions that name none.")
FORCE = option("--force", "Replace a file of another kind, but never one that the command reads.")

#: The shared options of the running command, and where it prints results; each call sets them anew.
_shared = JsonOptions(as_json=False, lift_limits=False)
_results: TextIO | None = None


def command(
    *, home: bool = False, graph: bool = False, asks: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare a command: add the shared options, and turn each parameter typed by a dataclass into its options.

    The other parameters, and the fields of such a dataclass, have a declaration as default: see :func:`option` and
    :func:`argument`. Files that the command writes are checked before it runs.

    Parameters
    ----------
    home, graph
        Whether the command uses graphkit's own folder, or the database.
    asks
        Whether a principal may ask its questions, though it can't skip records.
    """
    shared = StoreOptions if graph else HomeOptions if home else JsonOptions

    def declare(function: Callable[..., None]) -> Callable[..., None]:
        known = _Parameters(function, shared, asks)

        def run(**given: Any) -> None:
            global _shared, _results
            known.check(given)
            _shared, _results = _filled(shared, given), None
            principal = given.pop("principal", None)
            filled = known.filled(given)
            from graphkit.files.intake import lifted
            from graphkit.files.problems import offering

            _note_other_package()
            for one in known.absent:
                if one.where is not None:  # a plug-in that isn't there has no entry point to repair
                    say(f"note: ignored: {one.sentence}")
            _reported_fields.clear()
            alone = _results_alone() if as_json() else nullcontext()
            asked: AbstractContextManager[Mapping[str, bool]] = nullcontext({})
            if principal is not None:
                from graphkit.files.dataset import asking

                asked = asking(principal)
            offered = offering(skips="on_error" in known.declared, maps="map" in known.declared)
            with alone, lifted(_shared.lift_limits), offered, asked as opened:
                function(**filled)
                if not all(opened.values()):
                    say("note: --as was not used: a run in the graph has the gold that `graphkit load --as` gave it")

        parameters = [one.parameter(name, kind) for name, (one, kind) in known.declared.items()]
        run.options = known.groups  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.outputs, run.absent = known.outputs, known.absent  # type: ignore[attr-defined]
        return run

    return declare


class _Parameters:
    """The parameters of a command: its own, and those of its groups of options, also of plug-ins.

    Attributes
    ----------
    declared
        The declaration and the type of each, by name.
    outputs, arguments
        Those that name files to write, and those that are no options.
    absent
        Why options of plug-ins aren't there, of a plug-in that lacks or of an entry point that can't be used.
    """

    def __init__(self, function: Callable[..., None], shared: type[JsonOptions], asks: bool) -> None:
        self.declared: dict[str, tuple[Declared, Any]] = {}
        self._families: dict[str, Any] = {}
        self._added: dict[str, dict[str, Any]] = {}
        self.absent: list[InputError] = []
        for one in inspect.signature(function, eval_str=True).parameters.values():
            if isinstance(one.default, Added):
                self._added[one.name], errors = one.default.families(get_args(one.annotation)[1])
                self.absent += errors
                for family in self._added[one.name].values():
                    self.declared |= _fields(family)
            elif is_dataclass(one.annotation):
                self._families[one.name] = one.annotation
                self.declared |= _fields(one.annotation)
            else:
                self.declared[one.name] = (one.default, one.annotation)
        self.outputs = {name: one for name, (one, _) in self.declared.items() if one.writes is not None}
        self.arguments = {name for name, (one, _) in self.declared.items() if isinstance(one.info, ArgumentInfo)}
        self._forced = any(one.replaces for one in self.outputs.values()) and "force" not in self.declared
        if self._forced:
            self.declared["force"] = (FORCE, bool)
        if asks or "on_error" in self.declared:
            self.declared["principal"] = (AS, str | None)
        self.declared |= _fields(shared)

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse values that nothing could use."""
        for name, value in given.items():
            _check_given(self.declared[name][0], value, name in self.arguments)

    def filled(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the values of the function's parameters; refuse outputs that would replace anything else."""
        force = bool(given.pop("force") if self._forced else given.get("force"))
        for name in given.keys() - self.outputs:
            given[name] = _addressed(given[name], name in self.arguments)
        if self.outputs:
            reads = [one for name in given.keys() - self.outputs for one in _paths(given[name], name in self.arguments)]
            _check_outputs(self.outputs, given, reads, force)
        return self.groups(given) | given

    def groups(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the groups of options that parsed words give, and take their values out of ``given``."""
        added = {
            name: {point: _filled(family, given) for point, family in some.items()}
            for name, some in self._added.items()
        }
        return {name: _filled(family, given) for name, family in self._families.items()} | added


def _check_given(declared: Declared, value: Any, is_argument: bool) -> None:
    """Refuse a value that nothing could use: too long, without end, or a path that leads nowhere."""
    from graphkit.files.jsonl import is_file_name
    from graphkit.files.outputs import check_path
    from graphkit.records.option_values import LONGEST_ARGUMENT, LONGEST_TEXT, check_given

    names = [name for name in (declared.info.default, *(declared.info.param_decls or ())) if isinstance(name, str)]
    longest = LONGEST_ARGUMENT if is_argument and not declared.long else LONGEST_TEXT
    check_given(next(iter(names), str(declared.info.metavar)), value, longest)
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, Path) or (is_argument and isinstance(one, str) and is_file_name(one)):
            check_path(Path(one))


def _note_other_package() -> None:
    from graphkit.files.other_package import unreported_package

    if other := unreported_package():
        say(
            f"note: {other} is another project, and its files mix with those of graphkit-eval in the folder graphkit: "
            "pip uninstall graphkit, then install graphkit-eval again"
        )


def _fields(family: Any) -> dict[str, tuple[Declared, Any]]:
    """Return the declaration and the type of each field of an option group."""
    kinds = get_type_hints(family)
    return {one.name: (getattr(family, one.name), kinds[one.name]) for one in fields(family)}


def _filled(family: Any, given: dict[str, Any]) -> Any:
    """Return an instance of a dataclass, with the values of its fields taken out of ``given``."""
    return family(**{one.name: given.pop(one.name) for one in fields(family)})


def _check_outputs(
    outputs: Mapping[str, Declared], given: Mapping[str, Any], reads: Collection[Path], force: bool
) -> None:
    """Refuse outputs that would replace an input of the command, each other, or files of another kind."""
    from graphkit.files.outputs import check_output, check_outputs_differ

    named = [(path, one) for name, one in outputs.items() for path in _paths(given[name])]
    for path, one in named:
        if one.writes is not None:
            check_output(path, one.writes, reads, force=force and one.replaces)
    check_outputs_differ(path for path, _ in named)


def _paths(value: Any, text: bool = False) -> Iterator[Path]:
    """Yield the paths in the value of a parameter; with ``text``, strings are paths too, as in arguments."""
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, Path) or (text and isinstance(one, str) and one):
            yield Path(one)


def _addressed(value: Any, text: bool) -> Any:
    """Return the value of a parameter with the places of bundled datasets; with ``text``, strings are paths too."""
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):  # a named tuple is a value of its own
        return [_addressed(one, text) for one in value]
    from graphkit.files.assets import bundled, located

    if isinstance(value, Path):
        return located(value)
    if text and isinstance(value, str) and (found := bundled(value)) is not None:
        return str(found)
    return value


@contextmanager
def _results_alone() -> Iterator[None]:
    """Keep standard output for JSON: whatever else prints there, such as a user's measure, goes to standard error."""
    global _results
    _results = sys.stdout
    with redirect_stdout(sys.stderr):
        yield


class Commands(TyperGroup):
    """A group of commands that prints graphkit's own errors as messages, with their exit code."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with the whole first paragraph of their help."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _first_paragraph(one)) for name, one in found if one is not None and not one.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; turn an error of graphkit into its message on standard error and its exit code."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # here, where a full disk can still be reported, and not at the interpreter's exit
        except MISTAKES as error:
            absent = getattr(error.ctx and error.ctx.command.callback, "absent", [])
            if absent and hasattr(error, "possibilities"):  # no such option
                error.message += f"; {absent[0].sentence}"
            raise
        except GraphkitError as error:
            _print_error(error)
            raise typer.Exit(error.exit_code) from None
        except OSError as error:
            raise typer.Exit(refused_by_system(error)) from None


class ExtendedCommands(Commands):
    """A group of the core, to which plug-ins add commands by entry points ``GROUP.NAME``."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands; of plug-ins, those that can be used."""
        return [*dict.fromkeys([*super().list_commands(ctx), *usable_commands(self.name or "")])]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a command, or None if there is none of this name."""
        if name not in self.commands and name in plugin_commands(self.name or ""):
            return made_command(name, plugin_command(name, self.name or ""))
        return super().get_command(ctx, name)


def _first_paragraph(command: Any) -> str:
    text = command.short_help or inspect.cleandoc(command.help or "").partition("\n\n")[0]
    return " ".join(text.split())


def _print_error(error: GraphkitError) -> None:
    for line in f"error: {masked(str(error))}".split("\n"):
        for part in folded(line, width_of(sys.stderr)):
            sys.stderr.write(f"{part}\n")


def group(text: str, kind: type[Commands] = Commands) -> typer.Typer:
    """Return a group of commands with its help text."""
    made = typer.Typer(cls=kind, no_args_is_help=True, add_completion=False, rich_markup_mode=None, help=text)
    made.callback(help=text)(lambda: None)  # without it, a group of one command would be that command
    return made


def made_command(name: str, function: Callable[..., None], **texts: str) -> Any:
    """Return the command of a function, with ``help`` and ``short_help`` if they aren't in its docstring."""
    one = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    one.command(name, **texts)(function)  # type: ignore[arg-type]
    return typer.main.get_command(one)


def made_group(name: str, commands: typer.Typer) -> Any:
    """Return a group of commands under a name."""
    made = typer.main.get_command(commands)
    made.name = name
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
    stream.write(masked(text).translate(_ESCAPED) + "\n")


def present(text: str | Sequence[str] | Callable[[], object], *facts: Any) -> None:
    """Print a result: with ``--json`` its facts, one a line; else a line, several lines, or what a function prints."""
    if as_json():
        for one in facts:
            print_json(one)
    elif callable(text):
        text()
    else:
        for line in [text] if isinstance(text, str) else text:
            print_line(line)


def hand_over() -> None:
    """Write out the printed results, for a reader who waits for them while the command goes on."""
    (_results or sys.stdout).flush()


def stop_event() -> threading.Event:
    """Return an event that Ctrl-C and SIGTERM set from now on, instead of ending the process."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a script ignores the first
        signal.signal(number, lambda number, frame: stop.set())
    return stop


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

    given = vars(_shared) | {"data": Path(folder) if (folder := getattr(_shared, "data", None)) else None}
    return Settings.resolve(**{name: given.get(name) for name in ("uri", "username", "password", "database", "data")})


def open_graph(read_only: bool = False, *, silent: bool = False) -> AbstractContextManager[Store]:
    """Open the database, and report unfinished loads; before writing, create its constraints and indexes.

    Parameters
    ----------
    read_only
        Let the server refuse every write, so that an account with read access is enough.
    silent
        Show no progress, as in a thread beside other work.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.database.settings import hide_password
    from graphkit.database.store import Store
    from graphkit.graph.opening import prepared
    from graphkit.graph.reservations import unfinished_loads
    from graphkit.graph.schema_version import database_form

    chosen = settings()
    where = f"opening {hide_password(chosen.uri)}" if chosen.uri else f"starting the database in {chosen.data}"
    shown = nullcontext if silent else shown_progress
    with shown(where):
        store = prepared(Store.open(chosen, read_only=read_only, waiting=shown), read_only=read_only)
    for load in unfinished_loads(store):
        say(f"note: {load}")
    if read_only and (form := database_form(store)) is not None and form.is_newer:
        say(f"note: the database is in another form: {form}")
    return store


def open_in_browser(address: str) -> None:
    """Open an address in the user's browser; say so if there is none."""
    import webbrowser

    if not webbrowser.open(address):
        say("note: no browser could be opened; open the address yourself")


def print_line(text: str = "", *, fold: bool = True) -> None:
    """Print a line on standard output; escape what could break the line or control a terminal.

    In a terminal, a line that is too long is broken at spaces, unless ``fold`` is false.
    """
    stream = _results or sys.stdout
    for line in folded(one_line(masked(text)), width_of(stream) if fold else None):
        typer.echo(line, file=stream)


def print_text(text: str) -> None:
    """Print several lines on standard output, each as :func:`print_line` does, but none of them broken."""
    for line in text.split("\n"):
        print_line(line, fold=False)


def print_drawn(lines: Iterable[str]) -> None:
    """Print lines on standard output as they are: their parts were escaped and masked before they were drawn."""
    for line in lines:
        typer.echo(line, file=_results or sys.stdout)


#: The unknown fields that this command has reported already: several runs read the same questions.
_reported_fields: set[tuple[str, str]] = set()


def print_problems(problems: Problems) -> None:
    """Print on standard error which records of an input were skipped, and the notes about the others."""
    from graphkit.files.problems import SHOWN

    for problem in problems.skipped[:SHOWN]:
        say(f"skipped: {problem}")
    if (rest := len(problems.skipped) + problems.beyond - SHOWN) > 0:
        say(f"skipped: ... and {rest} more")
    for what, count in problems.noted.items():
        first = problems.notes[what][0]
        say(f"note: {what} ({counted(count, 'record')}, the first: {first.where} {first.record})")
    for sentence in problems.unknown_fields(_reported_fields):
        say(f"note: {sentence}")
