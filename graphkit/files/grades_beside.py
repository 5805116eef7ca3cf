"""The files beside runs that grade their answers: scores, verdicts and executions, and whose of several count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphkit.files.execution_files import EXECUTIONS
from graphkit.files.person_grades import is_by_person
from graphkit.files.verdict_files import SCORES, VERDICTS, clashing, graded_files


@dataclass(frozen=True)
class GradeFiles:
    """The files of scores, verdicts and executions that count, and notes on those that don't."""

    scores: Sequence[Path]
    verdicts: Sequence[Path]
    executions: Sequence[Path]
    notes: Sequence[str] = ()

    @property
    def all(self) -> list[Path]:
        """All files."""
        return [*self.scores, *self.verdicts, *self.executions]


def grade_files(
    runs: Iterable[Path],
    scores: Sequence[Path] | None = None,
    verdicts: Sequence[Path] | None = None,
    executions: Sequence[Path] | None = None,
    people: bool = True,
) -> GradeFiles:
    """Return the files of each kind: the given ones, else those beside the runs.

    Without ``people``, the grades of a person beside a run aren't among the scores.
    """
    runs, notes = list(runs), list[str]()
    return GradeFiles(
        scores or _scores(runs, notes, people),
        verdicts or _verdicts(runs, notes),
        executions or _executions(runs),
        notes,
    )


def _scores(files: Iterable[Path], notes: list[str], people: bool) -> list[Path]:
    """Return the scores of executions, of a run's only judge and of its only person; several of them become a note."""
    chosen: list[Path] = []
    for file in files:
        executed = {path.name.rpartition(EXECUTIONS)[0] for path in graded_files(file, EXECUTIONS)}
        found = graded_files(file, SCORES)
        chosen += [path for path in found if path.name.rpartition(SCORES)[0] in executed]
        judged = [path for path in found if path not in chosen and not is_by_person(path)]
        persons = [path for path in found if people and is_by_person(path)]
        for who, some in (("judges", judged), ("people", persons)):
            if len(some) == 1:
                chosen += some
            elif some:
                notes.append(f"{len(some)} {who} graded {file}: choose whose scores are shown by --scores {some[0]}")
    return chosen


def _verdicts(files: Iterable[Path], notes: list[str]) -> list[Path]:
    """Return the verdicts of every judge; several models of one judge on the same answers become a note."""
    chosen: list[Path] = []
    for file in files:
        found = graded_files(file, VERDICTS)
        if both := clashing(found):
            choose = f"choose whose verdicts are shown by --verdicts {both[0]}"
            notes.append(f"{len(both)} models of one judge graded {file}: {choose}")
        chosen += [path for path in found if path not in both]
    return chosen


def _executions(files: Iterable[Path]) -> list[Path]:
    return [found for file in files for found in graded_files(file, EXECUTIONS)]
