"""The readers that entry points name, and the one that recognises a file.

Every reader, also each of graphkit's own, is registered in the entry-point group ``graphkit.readers``:
``pipeline = "my_package.reader:PipelineReader"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import msgspec

from graphkit.errors import InputError, did_you_mean
from graphkit.files.decoding import UNDECODED
from graphkit.files.intake import is_pipe
from graphkit.files.jsonl import read_lines
from graphkit.readers.logged import Reader, UnreadableLogError, UnrecognisedLogError, Values
from graphkit.readers.refused_forms import refuse_form
from graphkit.readers.unrecognised import REMEDY, described
from graphkit.records import plugins

GROUP = "graphkit.readers"
REFUSALS = "graphkit.refusals"

#: The least share of its first values, or of its lines, by which a file has a format.
KNOWN_BY = 0.5

#: The format of graphkit's own records.
_OWN = "graphkit"

_USAGE = 'An entry point names a class: pipeline = "my_package.reader:PipelineReader".'
_REINSTALL = "Install graphkit again: its own formats aren't registered."


@cache
def installed() -> dict[str, EntryPoint]:
    """Return the entry points by name, without importing any reader. graphkit's own come first and keep their names."""
    found: dict[str, EntryPoint] = {}
    points = entry_points(group=GROUP)
    for point in sorted(points, key=lambda one: (not one.value.startswith("graphkit."), one.name, one.value)):
        found.setdefault(point.name, point)
    return found


def formats() -> list[str]:
    """Return the names of the formats whose plug-in is there, without importing any reader."""
    return [name for name, point in installed().items() if plugins.lacking(point) is None]


def reader_of(name: str) -> Reader:
    """Return the reader with this name.

    Raises
    ------
    UnreadableLogError
        There is no such reader, or it can't be loaded.
    """
    point = installed().get(name)
    if point is None:
        known = f"{did_you_mean(name, formats())}There are: {', '.join(formats())}, and auto."
        raise UnreadableLogError(f"there is no format {name!r}", remedy=known if installed() else _REINSTALL)
    return _loaded(point)


def readers() -> tuple[list[Reader], list[str]]:
    """Return the readers that can be loaded, in the order of recognition, and why each other one can't."""
    found, problems = [], []
    absent = {missing for point in installed().values() if (missing := plugins.lacking(point)) is not None}
    problems += [f"formats are ignored: they need the plug-in {name}, which isn't there" for name in sorted(absent)]
    for name in formats():
        try:
            found.append(_loaded(installed()[name]))
        except UnreadableLogError as error:
            problems.append(f"a format is ignored: {error.sentence}")
    return sorted(found, key=lambda reader: (-reader.priority, reader.name)), problems


def unpacked(path: Path) -> Values:
    """Return the values of an archive, as the first reader that knows archives finds them.

    Raises
    ------
    UnreadableLogError
        No reader does.
    """
    found = next((values for reader in readers()[0] if (values := reader.unpacked(path)) is not None), None)
    if found is None:
        raise UnreadableLogError("no format is read from archives", where=str(path), remedy="Unpack it.")
    return found


def refuse_other(path: Path) -> list[str]:
    """Raise the InputError of the first plug-in that knows what a file is which no reader knows.

    They are functions of the path, registered in the entry-point group ``graphkit.refusals``. Return a sentence on each
    entry point that can't be used so.
    """
    refusals, errors = plugins.load_all(REFUSALS, plugins.called_with(1))
    for refuse in refusals.values():
        refuse(path)
    return [f"a refusal is ignored: {error.sentence}" for error in errors if error.where is not None]


def recognised(values: Iterable[Any], lines: Iterable[str], where: str) -> tuple[Reader, str]:
    """Return the reader that recognises the largest share of a file's first values, and how it was chosen.

    Parameters
    ----------
    values
        JSON values. For a file that isn't JSON, its whole text, which is read only if no reader knows the lines.
    lines
        The first lines of a file that isn't JSON.

    Raises
    ------
    UnrecognisedLogError
        No reader recognises any of them.
    """
    known, problems = readers()
    seen: list[Any] = []
    shares = _shares([reader for reader in known if reader.lines], lines)
    form = "text" if shares else "JSON"
    if max(shares.values(), default=0.0) < KNOWN_BY:
        shares |= _shares([reader for reader in known if not reader.lines], _kept(values, seen))
    best = max(shares.values(), default=0.0)
    if best == 0 or (best < KNOWN_BY and _knows_the_empty(known, shares, best, seen)):
        for value in seen:
            refuse_form(value, where)
        raise UnrecognisedLogError(
            f"no format is recognised in it: it is {form}, and {described(seen)}",
            where=where,
            remedy=REMEDY if known else _REINSTALL,
            details=problems,
        )
    chosen, *others = [reader for reader in known if shares.get(reader.name) == best]
    if best < 1 and others and chosen.name == _OWN:  # a failed request beside a tool's log looks like an own record
        chosen, *others = *others, chosen
    part = "" if best == 1 else f" by {best:.0%} of its first values"
    names = " or ".join(reader.name for reader in others)
    also = f"; it could be {names} too, and the more specific format is used" if others else ""
    ignored = "".join(f"; {problem}" for problem in problems)
    return chosen, f"recognised{part} as {chosen.name}{also}{ignored}"


def unnamed_format(path: Path) -> str | None:
    """Return the format of a log that is given as a run: its first record is foreign, and a reader recognises it.

    None for any other file, for a pipe, which is read once, and for what can't be read: scoring says why.
    """
    if not path.is_file() or is_pipe(path):
        return None
    from graphkit.readers.own_records import OwnRecordsReader

    try:
        value = msgspec.json.decode(next((line for _, line in read_lines(path)), b"null"))
        if not OwnRecordsReader.is_foreign(value):
            return None
        return recognised([value], [], str(path))[0].name
    except (InputError, *UNDECODED):
        return None


def _knows_the_empty(readers: Sequence[Reader], shares: dict[str, float], best: float, values: Sequence[Any]) -> bool:
    """Return whether the format of a few values is that of the shortest: the name of an empty list is no evidence."""
    reader = next(reader for reader in readers if shares.get(reader.name) == best)
    known = [len(str(value)) for value in values if reader.recognises(value)]
    others = [len(str(value)) for value in values if not reader.recognises(value)]
    return bool(known and others) and max(known) < min(others)


@cache
def _loaded(point: EntryPoint) -> Reader:
    where = plugins.described(point)
    kind = plugins.load(point, UnreadableLogError, f"the format {point.name}")
    if not isinstance(kind, type) or not issubclass(kind, Reader):
        raise UnreadableLogError("it isn't a subclass of graphkit.readers.logged.Reader", where=where, remedy=_USAGE)
    if missing := ", ".join(sorted(getattr(kind, "__abstractmethods__", ()))):
        raise UnreadableLogError(f"the reader doesn't define {missing}", where=where, remedy="See docs/own-reader.md.")
    if getattr(kind, "name", None) != point.name or not getattr(kind, "title", None):
        what = f"the reader needs a title, and the name of its entry point: name = {point.name!r}"
        raise UnreadableLogError(what, where=where, remedy="See docs/own-reader.md.")
    return kind()


def _kept(values: Iterable[Any], kept: list[Any]) -> Iterator[Any]:
    for value in values:
        kept.append(value)
        yield value


def _shares(readers: Sequence[Reader], values: Iterable[Any]) -> dict[str, float]:
    """Return the share of values that each reader recognises; nothing for a file without such values."""
    counts = dict.fromkeys((reader.name for reader in readers), 0)
    seen = 0
    for value in values:
        seen += 1
        for reader in readers:
            counts[reader.name] += bool(reader.recognises(value))
    return {name: count / seen for name, count in counts.items()} if seen else {}
