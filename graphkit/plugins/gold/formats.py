"""The formats of published gold: their base class, and the installed ones by name."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.assets import command_text
from graphkit.files.problems import Problems
from graphkit.plugins.gold.public_rows import GoldRow, read_rows
from graphkit.records.plugins import described, installed, load

#: The group of entry points that name formats: ``my-set = "my_package.my_set:MySet"``.
GROUP = "graphkit.gold"

#: Names of fields in which logs keep what a system did.
_LOGGED = re.compile(
    r"pred|retriev|respon|model_|output|generat|travers|actual|visited|hypothes|trace|steps\Z|run\Z", re.IGNORECASE
)


class GoldFormat(ABC):
    """Converts the rows of a public data set to questions.

    Attributes
    ----------
    name, title
        The name on the command line, which is that of the entry point too; and a title.
    told_by
        The fields by which a row of JSON is known.
    lacks
        One sentence for each thing that the format doesn't contain.
    lines
        Whether a file consists of lines of text. Other files are JSON, JSON Lines or Parquet.
    member
        The field that lists the rows, if a file may be one object.
    graphs
        Whether nodes that the rows don't name are looked up in a graph.
    repositories
        Whether the part of an id before its colon is a repository.
    """

    name: str
    title: str
    told_by: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    lines: bool = False
    member: str | None = None
    graphs: bool = False
    repositories: bool = False

    def rows(self, path: Path, problems: Problems) -> Iterator[GoldRow]:
        """Yield the rows of a file, one for each question; a format whose file has them otherwise overrides it.

        Raise InputError if the file can't be read at all.
        """
        return read_rows(path, self.lines, problems, self.member)

    @abstractmethod
    def question(self, row: GoldRow) -> dict[str, Any]:
        """Return the question of a row, with the fields of ``questions.jsonl``.

        Raises
        ------
        UnusableRowError
            The row lacks a field, or no question can be made from it.
        """


def gold_formats() -> tuple[list[GoldFormat], list[InputError]]:
    """Return every installed format, and an error for each that can't be used."""
    formats, errors = [], []
    for point in installed(GROUP).values():
        try:
            formats.append(_format(point))
        except InputError as error:
            errors.append(error)
    return formats, errors


def refuse_gold(path: Path) -> None:
    """Raise InputError if a file is a public data set, which holds gold and nothing of a system."""
    best: GoldFormat | None = None
    for form in gold_formats()[0]:
        if not form.told_by or form.lines or (best is not None and len(form.told_by) <= len(best.told_by)):
            continue
        with suppress(InputError):
            names = next((row.names() for row in form.rows(path, Problems("skip"))), ())
            if set(form.told_by) <= {*names} and not any(map(_LOGGED.search, names)):
                best = form
    if best is not None:
        command = command_text(f"import gold {best.name}", path, options=" -o DATASET")
        what = f"this is gold of a public data set, rather than what a system did ({best.title})"
        raise InputError(what, where=str(path), remedy=f"Make a dataset of it: {command}")


def gold_format(name: str) -> GoldFormat:
    """Return the format with a name.

    Raise InputError if no format has this name, or it can't be used.
    """
    known = installed(GROUP)
    if name.casefold() not in known:
        remedy = f"{did_you_mean(name, known)}There are: {', '.join(known)}."
        raise InputError(f"no format of gold is called {name!r}", remedy=remedy)
    return _format(known[name.casefold()])


def _format(point: EntryPoint) -> GoldFormat:
    kind = load(point, InputError)
    if not inspect.isclass(kind) or not issubclass(kind, GoldFormat) or inspect.isabstract(kind):
        remedy = "Name a class that extends graphkit.plugins.gold.formats.GoldFormat and defines question()."
        raise InputError("this isn't a format of gold", where=described(point), remedy=remedy)
    if getattr(kind, "name", None) != point.name or not getattr(kind, "title", ""):
        remedy = f"Set name = {point.name!r} and a title in the class."
        raise InputError("the format lacks its name or its title", where=described(point), remedy=remedy)
    return kind()
