"""The page of commands: what their declarations say of each, with one example of ``examples.txt``."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from graphkit.cli.app import SECTIONS, app
from graphkit.cli.base import HomeOptions, JsonOptions, StoreOptions
from graphkit.cli.options import AutoLogOptions
from graphkit.cli.plugin_commands import plugin_commands, section_of, usable_commands
from graphkit.readers.known_formats import formats
from graphkit.records.plugins import plugin_of

HERE = Path(__file__).parent

#: The titles of the sections of ``graphkit --help``.
TITLES = {
    "start": "Start",
    "score": "Score",
    "understand": "Understand",
    "compare": "Compare",
    "gold": "Gold",
    "graph": "The graph",
    "more": "More",
}

#: The name under which the page has the commands of all formats, which take the same options.
ANY_FORMAT = "FORMAT"

#: The names of the shared options, and what is said of them instead, the most first.
SHARED = {
    "the options of [every command](#options-of-every-command) and of the graph": StoreOptions,
    "the options of [every command](#options-of-every-command), and `--data`": HomeOptions,
    "the options of [every command](#options-of-every-command)": JsonOptions,
}


@dataclass(frozen=True)
class Example:
    """An example of a command, and where more is said of it."""

    line: str
    more: str = ""


@dataclass(frozen=True)
class ShownCommand:
    """A command of the page: its words, as which it is declared, and its example."""

    words: tuple[str, ...]
    command: Any
    examples: list[Example] = field(default_factory=list)


def shown_commands() -> Iterator[tuple[str, list[ShownCommand]]]:
    """Yield the title of each section with its commands: those of the core by what a person wants, then plug-ins'."""
    root: Any = typer.main.get_command(app)
    found = examples(root)
    sections = dict[str, list[tuple[str, ...]]]()
    for section, names in SECTIONS.items():
        sections[TITLES[section]] = [(name,) for name in names]
    core = [name for names in SECTIONS.values() for name in names]
    # A plug-in may add to a group of another one, as `gold from-cypher` does.
    for group in ((), *((name,) for name in dict.fromkeys([*core, *usable_commands("")]))):
        for name in usable_commands(" ".join(group)):
            point = plugin_commands(" ".join(group))[name]
            title = TITLES.get(section_of(point), f"Plug-in {plugin_of(point)}")
            shown = sections.setdefault(title, [])
            shown.insert(shown.index(group) + 1 if group in shown else len(shown), (*group, name))
    for title, named in sections.items():
        commands = [one for words in named for one in _within(_found(root, words), words)]
        yield title, [ShownCommand(words, one, found.get(words, [])) for words, one in commands]


def _found(root: Any, words: tuple[str, ...]) -> Any:
    """Return the command or group of these words."""
    for word in words:
        root = root.get_command(typer.Context(root), word)
    return root


def _within(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a command, or those of a group, of which the formats of logs are one."""
    if not hasattr(command, "list_commands"):
        yield words, command
        return
    context = typer.Context(command)
    alike = set(formats()) if words == ("import",) else set()
    for name in command.list_commands(context):
        if name not in alike and name not in plugin_commands(" ".join(words)):
            shown = ANY_FORMAT if words == ("import",) and name == "auto" else name
            yield from _within(command.get_command(context, name), (*words, shown))


def examples(root: Any) -> dict[tuple[str, ...], list[Example]]:
    """Return the examples by the words of their commands.

    Each is a line of ``examples.txt``: a command, and after two spaces and a ``#`` the links to where more is said.
    """
    found: dict[tuple[str, ...], list[Example]] = {}
    for line in (HERE / "examples.txt").read_text(encoding="utf-8").splitlines():
        text, _, more = line.partition("  # ")
        found.setdefault(words_of(root, text), []).append(Example(text.strip(), more.strip()))
    return found


def words_of(root: Any, text: str) -> tuple[str, ...]:
    """Return the words of the command that a line calls, as the page has them."""
    command, words = root, list[str]()
    for word in shlex.split(text)[1:]:
        if not hasattr(command, "list_commands"):
            break
        command = command.get_command(typer.Context(command), word)
        words.append(word)
    return ("import", ANY_FORMAT) if words[:1] == ["import"] and words[1] in {"auto", *formats()} else tuple(words)


def commands_page() -> str:
    """Return the page of commands."""
    lines = [(HERE / "commands-head.txt").read_text(encoding="utf-8")]
    for title, commands in shown_commands():
        lines += [f"## {title}", ""]
        for one in commands:
            lines += [*_section(one), ""]
    return "\n".join(lines).rstrip() + "\n"


def _section(shown: ShownCommand) -> list[str]:
    command = shown.command
    given = [one for one in command.params if one.param_type_name == "argument"]
    usage = " ".join(one.metavar if one.required else f"[{one.metavar.strip('[]')}]" for one in given)
    about, alone = (command.help or "").replace("``", "`"), set[str]()
    if shown.words == ("import", ANY_FORMAT):
        names = ", ".join(f"[`{name}`](importing/{name}.md)" for name in sorted(formats()))
        about = f"Make a run from logs. `auto` recognises the format of each file; the formats are {names}."
        alone = {name for one in vars(AutoLogOptions).values() for name in _names(one)}
    shared, note = _shared({name for one in command.params for name in one.opts})
    rows = [
        _row(one, " With `auto` alone." if alone & {*one.opts} else "")
        for one in command.params
        if not set(one.opts) & shared
    ]
    table = ["| | |", "|---|---|", *rows, ""] if rows else []
    lines = [f"### graphkit {' '.join(shown.words)} {usage}".rstrip(), "", *about.split("\n"), "", *table]
    for example in shown.examples:
        lines += [f"    {example.line}", ""]
    more = " ".join(f"More: {example.more}." for example in shown.examples if example.more)
    return [*lines, f"It takes {note}. {more}".rstrip()]


def _shared(names: set[str]) -> tuple[set[str], str]:
    """Return the shared options of a command, and what is said instead of them."""
    for note, family in SHARED.items():
        options = {name for base in family.__mro__ for one in vars(base).values() for name in _names(one)}
        if options <= names:
            return {*options, "--help"}, note
    raise ValueError(names)


def _names(declared: Any) -> tuple[str, ...]:
    info = getattr(declared, "info", None)
    names = (info.default, *(info.param_decls or ())) if info is not None else ()
    return tuple(name for name in names if isinstance(name, str) and name.startswith("--"))


def _row(parameter: Any, note: str) -> str:
    """Return the row of an option or argument: its names, its help, its default where the help has none, and a note."""
    if parameter.param_type_name == "argument":
        name = f"`{parameter.metavar}`"
    else:
        names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
        value = "" if parameter.is_flag else parameter.metavar or "|".join(_choices(parameter)) or "VALUE"
        name = f"{names} {value}".rstrip()
    text = " ".join((parameter.help or "").split())
    default = parameter.default
    if default not in (None, False, "", ()) and not callable(default) and "[default" not in text:
        text += f" [default: {', '.join(map(str, default)) if isinstance(default, list | tuple) else default}]"
    return f"| {_cell(name)} | {_cell(text + note)} |"


def _choices(parameter: Any) -> tuple[str, ...]:
    return tuple(map(str, parameter.type_descriptor.choices or ()))


def _cell(text: str) -> str:
    """Return a text as a cell of a table; outside of code nothing of it is markup."""
    parts = text.split("`")
    parts[::2] = [one.replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[") for one in parts[::2]]
    return "`".join(parts).replace("|", "\\|")
