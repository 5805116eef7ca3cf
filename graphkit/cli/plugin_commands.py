"""The commands that plug-ins add, by the entry points of ``graphkit.commands``: ``NAME = "module:function"``.

A command of a plug-in is a function declared by :func:`graphkit.cli.base.command`, or a group of these; a name with a
dot, such as ``import.scores``, adds to a group of the core.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError

# importlib.metadata takes as long to import as a small run takes to score.
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "graphkit.commands"


@cache
def plugin_commands(group: str = "") -> dict[str, EntryPoint]:
    """Return the entry points of the commands that plug-ins add to graphkit, or to one of its groups, by name."""
    from graphkit.records.plugins import installed

    begin = f"{group}." if group else ""
    found = {name.removeprefix(begin): point for name, point in installed(GROUP).items() if name.startswith(begin)}
    return {name: point for name, point in found.items() if "." not in name}


def plugin_command(name: str, group: str = "") -> Any:
    """Return the command or group of a plug-in.

    Raises
    ------
    KeyError
        No plug-in adds a command of this name.
    InputError
        The plug-in, or one that it needs, isn't there; its command can't be imported, or isn't one.
    """
    from graphkit.records.plugins import described, load

    point = plugin_commands(group)[name]
    words = f"`graphkit {group} {name}`" if group else f"`graphkit {name}`"
    found = load(point, InputError, words)
    if not callable(found):
        remedy = "Name a function, or a group of commands, in the entry point."
        raise InputError(f"{words} is no command", where=described(point), remedy=remedy)
    return found


def section_of(point: EntryPoint) -> str:
    """Return the section of the help in which a command of a plug-in stands.

    It is the ``SECTION`` of the plug-in's folder or of another package's module, else one by the plug-in's name.
    """
    from graphkit.records.plugins import plugin_of

    return str(_stated(point, "SECTION", plugin_of(point)))


def _stated(point: EntryPoint, name: str, default: object) -> object:
    return getattr(import_module(".".join(point.module.split(".")[:3])), name, default)


def usable_commands(group: str = "") -> list[str]:
    """Return the names of the commands of plug-ins that are there and can be imported.

    They are in the order of their names, but those of a plug-in that states ``FIRST = True`` come first.
    """
    found, points = [], plugin_commands(group)
    for name in points:
        with suppress(InputError):
            plugin_command(name, group)
            found.append(name)
    return sorted(found, key=lambda name: not _stated(points[name], "FIRST", False))
