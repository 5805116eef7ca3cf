"""The commands that plug-ins add, by the entry points of ``graphkit.commands``: ``NAME = "module:function"``.

A command of a plug-in is a function declared by :func:`graphkit.cli.base.command`, or a group of these; a name with a
dot, such as ``import.scores``, adds to a group of the core.
"""

from __future__ import annotations

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


def plugin_of(point: EntryPoint) -> str:
    """Return the name of the plug-in that adds a command.

    >>> from importlib.metadata import EntryPoint
    >>> plugin_of(EntryPoint("mcp", "graphkit.plugins.agents.commands:mcp", "graphkit.commands"))
    'agents'
    """
    parts = point.module.split(".")
    return parts[2] if parts[:2] == ["graphkit", "plugins"] else parts[0]


def lacking(point: EntryPoint) -> str | None:
    """Return the name of a plug-in without which an entry point can't be used, and which isn't there; None if all are.

    That is the plug-in of the entry point, or one that it needs: their folders may have been removed.
    """
    if not _found(point.module):
        return plugin_of(point)
    if not point.module.startswith("graphkit.plugins."):
        return None
    needs: tuple[str, ...] = getattr(import_module(f"graphkit.plugins.{plugin_of(point)}"), "NEEDS", ())
    return next((name for name in needs if not _found(f"graphkit.plugins.{name}")), None)


def _found(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def plugin_command(name: str, group: str = "") -> Any:
    """Return the command or group of a plug-in.

    Raises
    ------
    KeyError
        No plug-in adds a command of this name.
    InputError
        The plug-in, or one that it needs, isn't there; or its command can't be imported.
    """
    point = plugin_commands(group)[name]
    if (missing := lacking(point)) is not None:
        words = f"{group} {name}" if group else name
        what = f"`graphkit {words}` needs the plug-in {missing}, which isn't there"
        raise InputError(what, remedy="Install graphkit-eval again.")
    from graphkit.records.plugins import load

    return load(point, InputError)
