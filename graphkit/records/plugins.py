"""Entry points of installed packages: found by group and name, and imported with clear errors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.records.references import imported

# importlib.metadata takes as long to import as a small run takes to score.
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by their casefolded names.

    Those of graphkit come first, and no other package can replace them.
    """
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=group), key=lambda point: not point.value.startswith("graphkit."))
    found: dict[str, EntryPoint] = {}
    for point in points:
        found.setdefault(point.name.casefold(), point)
    return found


def described(point: EntryPoint) -> str:
    """Return an entry point as messages show it."""
    package = f" of {point.dist.name}" if point.dist is not None else ""
    return f"the entry point {point.name!r}{package} ({point.value})"


def load(point: EntryPoint, error_class: type[InputError]) -> Any:
    """Import the object that an entry point names.

    Raises
    ------
    InputError
        The object can't be imported. The error is of the given class.
    """
    try:
        return imported(point.module, point.attr, f"Correct {described(point)}.", here=False)
    except InputError as error:
        raise error_class(error.what, where=error.where, remedy=error.remedy) from None
