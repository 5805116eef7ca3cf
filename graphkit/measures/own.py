"""Users' measures: found as ``my_module:MyMeasure`` or by an entry point, and checked before use."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import sys
from typing import TYPE_CHECKING

from graphkit.errors import InputError, MeasureError
from graphkit.measures.base import LAYERS, Measure
from graphkit.records.plugins import described, load
from graphkit.records.references import imported

# importlib.metadata is imported only for a name that isn't graphkit's: it costs as much as a small run.
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The group of entry points that name measures: ``Terseness = "my_package.measures:Terseness"``.
GROUP = "graphkit.measures"

USAGE = "A measure of your own is written my_module:MyMeasure, with parameters my_module:MyMeasure(weight=2)."

_NAME = re.compile(r"[^\W\d]\w*\Z")


def checked(kind: object, where: str) -> type[Measure]:
    """Check and return a user's measure class.

    Raise MeasureError if it isn't a subclass of :class:`graphkit.Measure`, lacks ``value``, has an unknown layer,
    impossible bounds, or a parameter called ``name``.
    """
    if not inspect.isclass(kind) or not issubclass(kind, Measure):
        what = f"is no measure: it is a {type(kind).__name__}"
        if inspect.isclass(kind):
            what = "is a class, but no measure"
        raise MeasureError(what, where=where, remedy="A measure is a subclass of graphkit.Measure.")
    if inspect.isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise MeasureError(f"the measure doesn't define {missing}", where=where, remedy="def value(self, case): ...")
    if kind.layer not in LAYERS:
        raise MeasureError(f"no layer is called {kind.layer!r}", where=where, remedy=f"There are: {', '.join(LAYERS)}.")
    if dataclasses.is_dataclass(kind) and any(field.name == "name" for field in dataclasses.fields(kind)):
        what = "a parameter of the measure is called 'name', which is already the name of the measure itself"
        raise MeasureError(what, where=where, remedy="Give the parameter another name.")
    bounds = [bound for bound in (kind.lowest, kind.highest) if bound is not None]
    if not all(isinstance(bound, int | float) and math.isfinite(bound) for bound in bounds) or (
        len(bounds) == 2 and bounds[0] >= bounds[1]
    ):
        what = f"lowest {kind.lowest!r} and highest {kind.highest!r} are no bounds"
        raise MeasureError(what, where=where, remedy="Give two numbers, the lower one first; None where there is none.")
    return kind


def checked_name(name: str, where: str) -> str:
    """Check and return a name that a measure's text may begin with.

    Raise MeasureError if it holds other characters than letters, digits and underscores.
    """
    if not _NAME.match(name):
        raise MeasureError(
            f"{name!r} can't be the name of a measure", where=where, remedy="Use letters, digits and underscores."
        )
    return name


def import_kind(text: str) -> type[Measure]:
    """Import the measure that ``my_module:MyMeasure`` names; modules of the working folder are found as well.

    Raise MeasureError if the module can't be imported, or holds no such measure.
    """
    module, _, path = text.partition(":")
    try:
        kind = imported(module, path, USAGE)
    except InputError as error:
        raise MeasureError(error.what, where=error.where, remedy=error.remedy) from None
    return checked(kind, text)


def loaded_kind(text: str) -> type[Measure] | None:
    """Return the measure that ``my_module:MyMeasure`` names if its module is already imported, else None.

    Texts from data use this function: no file may decide which modules are imported.
    """
    module, _, path = text.partition(":")
    found = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if inspect.isclass(found) and issubclass(found, Measure) else None


def load_installed(point: EntryPoint) -> type[Measure]:
    """Import the measure of an entry point; one of another package is named after the entry point.

    Raise MeasureError if it can't be imported, or is no measure.
    """
    where = described(point)
    kind = checked(load(point, MeasureError), where)
    if kind.is_custom():
        kind.name = checked_name(point.name, where)
    return kind
