"""Converts rows of public data sets to the questions of a dataset folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain, count
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.atomic import write_records
from graphkit.files.dataset_settings import repository_setting, set_repositories
from graphkit.files.jsonl import find_file
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import parse_record
from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.given_graphs import GivenGraphs
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError
from graphkit.records.models import Question

_RENAMED = "an earlier row has the same id and other content: the id of this question gets the suffix ~ and a number"


def gold_questions(
    form: GoldFormat, files: Iterable[Path], problems: Problems, graphs: GivenGraphs | None = None
) -> Iterator[Question]:
    """Yield the questions of some files of a public data set.

    Paths with unnamed nodes are looked up in the ``graphs``, or in the graph that a row has itself.

    Unusable rows, doubts and unused fields are added to the problems.

    Raise InputError if a file can't be read at all.
    """
    ids = _Ids()
    for path in files:
        for row in form.rows(path, problems):
            row.graphs = graphs.of if graphs is not None else None
            question = _question(form, row, problems)
            if question is None:
                continue
            if first := ids.repeated(question.id, row):
                problems.add(Problem(row.where, f"the id is already used by {first}", question.id))
                continue
            if suffix := ids.reserve(question.id):
                row = row.renamed(suffix)
                question = _question(form, row, problems)
                assert question is not None
                row.notes.append(_RENAMED)
            for note in row.notes:
                problems.note(Problem(row.where, note, question.id))
            for name in row.unused():
                problems.ignore(f"{path}:{row.number}", name)
            yield question


def _question(form: GoldFormat, row: GoldRow, problems: Problems) -> Question | None:
    """Return the question of a row, or add an unusable row to the problems."""
    try:
        fields = form.question(row)
    except UnusableRowError as error:
        problems.add(Problem(row.where, error.what, row.record, error.remedy))
        return None
    given = {name: value for name, value in fields.items() if value is not None}
    # parse_record checks this question like any other, with the same messages.
    return parse_record(Question, json.dumps(given).encode(), row.where, problems)


class _Ids:
    """The ids of the questions so far, and the contents of their rows."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._rows: dict[str, dict[bytes, str]] = {}

    def repeated(self, name: str, row: GoldRow) -> str | None:
        """Return the place of an earlier row with the same id and content, or else remember this row."""
        first = self._rows.setdefault(name, {}).setdefault(row.digest(), row.where)
        return first if first != row.where else None

    def reserve(self, name: str) -> str:
        """Reserve an id, and return the suffix that makes it unique: an empty one, or ``~2`` and so on."""
        numbered = (f"~{number}" for number in count(max(2, len(self._rows[name]))))
        suffix = next(one for one in chain([""], numbered) if name + one not in self._taken)
        self._taken.add(name + suffix)
        return suffix


def import_gold(
    form: GoldFormat, files: Iterable[Path], folder: Path, problems: Problems, graph: Path | None = None
) -> int:
    """Write the questions of some files to a dataset folder, and return their number. On an error, write no file.

    ``graph`` is a file of edges, or of rows with a graph for each question (see :class:`GivenGraphs`).

    Raise InputError if the folder already has questions, or can't be written, a file can't be read; or rows are
    unusable and not skipped.
    """
    if found := find_file(folder, "questions"):
        remedy = "Name another folder, or move that file away."
        raise InputError("the folder already has questions, which aren't overwritten", where=str(found), remedy=remedy)
    with nullcontext() if graph is None else GivenGraphs(graph) as graphs:
        return _written(form, files, folder, problems, graphs)


def _written(
    form: GoldFormat, files: Iterable[Path], folder: Path, problems: Problems, graphs: GivenGraphs | None
) -> int:
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder can't be created: {error.strerror}", where=str(folder)) from None
    written = 0

    def counted() -> Iterator[Question]:
        nonlocal written
        for question in gold_questions(form, files, problems, graphs):
            written += 1
            yield question
        problems.raise_if_refused(usable=written)

    try:
        write_records(folder / "questions.jsonl", counted())
        if not form.repositories and repository_setting(folder) is None:
            # A title may contain a colon.
            set_repositories(folder, "none")
    except BaseException:
        if made:
            folder.rmdir()
        raise
    return written
