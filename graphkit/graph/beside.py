"""Kinds of records about the answers of a run that lie in files beside it, such as the verdicts of judges.

Plug-ins add them (entry points of ``graphkit.beside``). The name of an entry point is the ending of its files:
``verdicts`` reads ``RUN.grades/NAME.verdicts.jsonl``. Scores are the core's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.grades_beside import SCORES, graded_files, holds, is_by, of_scores
from graphkit.files.problems import Problems
from graphkit.graph.answered import Kind
from graphkit.measures.case import Case
from graphkit.measures.outcome import Decision
from graphkit.records.plugins import Expected, installed, load, load_all
from graphkit.records.scores import EXECUTION, JURY, PERSON, AboutAnswer, Score
from graphkit.records.usage import Spread

GROUP = "graphkit.beside"

Of = TypeVar("Of", bound=AboutAnswer)


class KindBeside(ABC, Generic[Of]):
    """A kind of records that lie beside a run: how they are read, loaded, and shown.

    Attributes
    ----------
    record
        The class of its records.
    kind
        Its words in messages.
    letter
        The letter of its blocks in a page, whose script reads them.
    counted_as
        What a page says of the answers that have one, such as ``judged``.
    only_one
        Whether an answer has at most one.
    vocabulary
        What the page's script needs to know of the kind, if a run has records of it.
    failures
        The kinds of failures of which :meth:`rows` gives the rows.
    counts
        What gives the rows of the kinds of failures that count over answers, each with its records.
    sentences
        What makes a sentence of a row, by the kind of failures.
    """

    record: ClassVar[type]
    kind: ClassVar[Kind]
    letter: ClassVar[str]
    counted_as: ClassVar[str]
    only_one: ClassVar[bool] = False
    vocabulary: ClassVar[Mapping[str, Any]] = {}
    failures: ClassVar[tuple[str, ...]] = ()
    counts: ClassVar[Mapping[str, Callable[[Sequence[tuple[Case, Sequence[Any]]]], list[dict[str, Any]]]]] = {}
    sentences: ClassVar[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {}

    @abstractmethod
    def read(self, files: Iterable[Path], problems: Problems) -> list[Of]:
        """Return the records of some files.

        Raises
        ------
        InputError
            A file or a record is unusable and not skipped.
        """

    def clashing(self, files: Sequence[Path]) -> list[Path]:
        """Return the files beside a run of which a person has to choose, since they say different things of answers."""
        return []

    def author(self, record: Of) -> str:
        """Return who gave a record; those of one answer are in the order of their authors."""
        return ""

    @abstractmethod
    def decision(self, record: Of) -> Decision:
        """Return what a record says about the whole answer."""

    @abstractmethod
    def check(self, store: Store, records: Sequence[Of]) -> None:
        """Raise InputError if the graph lacks a run, a question or an answer of the records, or an answer changed."""

    @abstractmethod
    def load(self, store: Store, records: Sequence[Of]) -> dict[str, int]:
        """Check records and store them in the graph, instead of earlier ones; return how many of each run."""

    def rows(self, failures: str, case: Case, records: Sequence[Of]) -> Iterable[dict[str, Any]]:
        """Return the rows of a kind of failures for one answer, as the named query does for a run in the graph."""
        return ()

    def claims(self, records: Sequence[Of]) -> list[dict[str, Any]]:
        """Return the claims of an answer that records found, as the query ``read/question_claims`` does."""
        return []

    def warnings(
        self, scores: Sequence[Score], records: Iterable[Of], answered_by: str | None = None
    ) -> tuple[str, ...]:
        """Return warnings about who gave the scores and records of a run that the model ``answered_by`` answered."""
        return ()

    @abstractmethod
    def stranger(self, record: Of) -> str:
        """Return the message on a record whose question isn't in the dataset."""

    @abstractmethod
    def shown(self, records: Sequence[Of]) -> Any:
        """Return the records on one answer as the page's script reads them."""

    @abstractmethod
    def overview(self, records: Mapping[str, Sequence[Of]], cost: Spread | None, link: Callable[[str], Any]) -> Any:
        """Return what a page says of the records of a run by question; ``link`` links to a question by its id."""

    def listed(self, records: Sequence[Sequence[Of]]) -> Mapping[str, Any]:
        """Return what the page's table says of a run's records, given those of each question."""
        return {}


#: What an entry point names.
_KIND = Expected(
    "an instance of graphkit.graph.beside.KindBeside with record, kind, letter and counted_as",
    lambda found: (
        isinstance(found, KindBeside)
        and all(hasattr(found, name) for name in ("record", "kind", "letter", "counted_as"))
    ),
)


@cache
def kinds_beside() -> dict[str, KindBeside[Any]]:
    """Return the kinds whose plug-ins are there, by their names, in the order of their letters."""
    found, _ = load_all(GROUP, _KIND)
    return dict(sorted(found.items(), key=lambda item: item[1].letter))


def kind_beside(name: str) -> KindBeside[Any]:
    """Return a kind by its name; raise InputError if its plug-in isn't there, or it is none."""
    kind: KindBeside[Any] = load(installed(GROUP)[name], InputError, f"a file of {name}", _KIND)
    return kind


def kind_of_file(path: Path) -> str | None:
    """Return the name of the kind whose records a file holds by its name; None if these are scores."""
    return next((name for name in installed(GROUP) if holds(path, f".{name}")), None)


def of_each_kind(records: Iterable[AboutAnswer]) -> dict[str, list[Any]]:
    """Return records by the names of their kinds."""
    given = list(records)
    return {name: [one for one in given if isinstance(one, kind.record)] for name, kind in kinds_beside().items()}


@dataclass(frozen=True)
class GradeFiles:
    """The files of scores and of each kind that count, and notes on those that don't."""

    scores: Sequence[Path] = ()
    beside: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def all(self) -> list[Path]:
        """All files."""
        return [*self.scores, *chain.from_iterable(self.beside.values())]


def grade_files(
    runs: Iterable[Path],
    scores: Sequence[Path] | None = None,
    given: Mapping[str, Any] | None = None,
    people: bool = True,
) -> GradeFiles:
    """Return the files of scores and of each kind: the given ones, else those beside the runs.

    Parameters
    ----------
    given
        The files of each kind by its name, if any.
    people
        Whether the grades of a person beside a run are among the scores.

    Raises
    ------
    InputError
        The plug-in of a given file isn't there.
    """
    runs, given, notes = list(runs), given or {}, list[str]()
    chosen = scores or _scores(runs, notes, people)
    for name in installed(GROUP):
        if given.get(name):
            kind_beside(name)
    beside = {name: given.get(name) or _files(name, kind, runs, notes) for name, kind in kinds_beside().items()}
    return GradeFiles(chosen, beside, [*notes, *unread_beside(runs)])


def unread_beside(runs: Iterable[Path]) -> list[str]:
    """Return sentences on the files beside runs whose plug-in isn't there."""
    missing = [name for name in installed(GROUP) if name not in kinds_beside()]
    return [
        f"{path}: {_why_missing(name)}" for run in runs for name in missing for path in graded_files(run, f".{name}")
    ]


def _why_missing(name: str) -> str:
    try:
        kind_beside(name)
    except InputError as error:
        return error.sentence
    return ""


def _scores(files: Iterable[Path], notes: list[str], people: bool) -> list[Path]:
    """Return the scores of executions, of a run's only judge and of its only person; several of them become a note.

    An only jury speaks for the other judges.
    """
    chosen: list[Path] = []
    for file in files:
        found = graded_files(file, SCORES)
        chosen += [path for path in found if is_by(EXECUTION, path)]
        persons = [path for path in found if is_by(PERSON, path)]
        judged = [path for path in found if path not in chosen and path not in persons]
        juries = [path for path in judged if is_by(JURY, path)]
        if len(juries) == 1 < len(judged):
            notes.append(f"{len(judged) - 1} judges and a jury graded {file}: the jury's scores are shown")
        for who, some in (("judges", juries if len(juries) == 1 else judged), ("people", persons if people else [])):
            if len(some) == 1:
                chosen += some
            elif some:
                notes.append(f"{len(some)} {who} graded {file}: choose whose scores are shown by --scores {some[0]}")
    return chosen


def _files(name: str, kind: KindBeside[Any], runs: Iterable[Path], notes: list[str]) -> list[Path]:
    """Return the files of a kind beside runs; those that clash become a note."""
    chosen: list[Path] = []
    for run in runs:
        found = graded_files(run, f".{name}")
        if both := kind.clashing(found):
            choose = f"choose whose {name} are shown by --{name} {both[0]}"
            notes.append(f"{len(both)} models of one judge graded {run}: {choose}")
        chosen += [path for path in found if path not in both]
    return chosen


def beside_scores(name: str, score_files: Iterable[Path], run: str) -> Iterator[Any]:
    """Yield the records of a kind on a run in the files that belong to files of scores."""
    files = [file for scores in score_files if (file := of_scores(scores, f".{name}")).is_file()]
    yield from (one for one in kind_beside(name).read(files, Problems("skip")) if one.run == run)
