"""Entry points of installed packages: found by group and name, and imported with clear errors."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from graphkit.errors import InputError
from graphkit.records.references import imported
from graphkit.records.words import counted

# importlib.metadata takes as long to import as a small run takes to score.
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Expected(NamedTuple):
    """The kind of object that the entry points of a group must name: its words in messages, and a check."""

    words: str
    fits: Callable[[Any], bool]


def called_with(count: int) -> Expected:
    """Return what can be called with a number of arguments.

    >>> called_with(2).fits(divmod), called_with(2).fits(abs), called_with(2).fits("text")
    (True, False, False)
    """

    def fits(found: Any) -> bool:
        with suppress(TypeError, ValueError):  # of some builtins the arguments aren't known
            inspect.signature(found).bind(*[None] * count)
            return True
        return False

    return Expected(f"a function of {counted(count, 'argument')}", fits)


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by their casefolded names.

    Those of graphkit come first, and no other package can replace them.
    """
    return all_installed().get(group, {})


@cache
def all_installed() -> dict[str, dict[str, EntryPoint]]:
    """Return the entry points of all groups: each look reads the files of all installed packages."""
    from importlib.metadata import EntryPoint, entry_points

    every, found = entry_points(), defaultdict[str, dict[str, EntryPoint]](dict)
    for group in every.groups:
        for point in sorted(every.select(group=group), key=lambda point: not point.value.startswith("graphkit.")):
            found[group].setdefault(point.name.casefold(), point)
    return found


def described(point: EntryPoint) -> str:
    """Return an entry point as messages show it."""
    return f"the entry point {point.name!r}{f' of {point.dist.name}' if point.dist else ''} ({point.value})"


def plugin_of(point: EntryPoint) -> str:
    """Return the name of the plug-in, or else of the package, that an entry point is in.

    >>> from importlib.metadata import EntryPoint
    >>> plugin_of(EntryPoint("mcp", "graphkit.plugins.agents.commands:mcp", "graphkit.commands"))
    'agents'
    """
    parts = point.module.split(".")
    return parts[2] if parts[:2] == ["graphkit", "plugins"] else parts[0]


def lacking(point: EntryPoint) -> str | None:
    """Return the name of a plug-in of graphkit without which an entry point can't be used, and which isn't there.

    That is the plug-in of the entry point, or one that it needs: their folders may have been removed. None if all are
    there, or the entry point is of another package.
    """
    if not point.value.startswith("graphkit.plugins."):
        return None
    plugin = plugin_of(point)
    if not _found(point.module):
        return plugin
    needs: tuple[str, ...] = getattr(import_module(f"graphkit.plugins.{plugin}"), "NEEDS", ())
    return next((name for name in needs if not _found(f"graphkit.plugins.{name}")), None)


def _found(module: str) -> bool:
    from importlib.util import find_spec

    with suppress(ModuleNotFoundError):
        return find_spec(module) is not None
    return False


def load(point: EntryPoint, error_class: type[InputError], what: str = "", expected: Expected | None = None) -> Any:
    """Import the object that an entry point names. ``what`` is what a user calls it.

    Raises
    ------
    InputError
        The object can't be imported, isn't what is expected, or its plug-in isn't there. The error is of the given
        class.
    """
    if (missing := lacking(point)) is not None:
        needing = f"{what or described(point)} needs the plug-in {missing}, which isn't there"
        raise error_class(needing, remedy="Install graphkit-eval again.")
    try:  # the value may be malformed, which the attributes of an entry point don't survive
        one = imported(*point.value.replace(" ", "").partition(":")[::2], "Correct or remove its package.", here=False)
        if expected is not None and not expected.fits(one):
            raise InputError(f"this isn't {expected.words}", remedy="Name such a one, or remove its package.")
    except InputError as error:
        raise error_class(error.what, where=described(point), remedy=error.remedy) from None
    return one


def load_all(group: str, expected: Expected, what: str = "") -> tuple[dict[str, Any], list[InputError]]:
    """Return what the entry points of a group name, and why each other one can't be used.

    ``what`` begins the sentences on those that need a plug-in which isn't there.
    """
    found, errors = dict[str, Any](), list[InputError]()
    for name, point in installed(group).items():
        try:
            found[name] = load(point, InputError, what, expected)
        except InputError as error:
            errors.append(error)
    return found, errors
