"""The inputs of a page: the files of runs that are given by name, and the grades and executions beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.files.execution_files import EXECUTIONS
from graphkit.files.verdict_files import SCORES, VERDICTS, clashing, graded_files
from graphkit.graph.known_names import run_source

if TYPE_CHECKING:
    from graphkit.database.store import Store


@dataclass(frozen=True)
class RunFiles:
    """The files of runs, in order.

    Attributes
    ----------
    names
        The name of each run in the graph; None for a run that is given as a file.
    folders
        The dataset of each run in the graph, by its file.
    """

    files: Sequence[Path]
    names: Sequence[str | None] = ()
    folders: Mapping[Path, Path] = field(default_factory=dict)


def files_of(runs: Iterable[str], named: Iterable[str], store: Store) -> RunFiles:
    """Return the files of runs, some of which are named as in the graph."""
    sources = {run: run_source(store, run) for run in named}
    runs = list(runs)
    return RunFiles(
        [sources[run][0] if run in sources else Path(run) for run in runs],
        [run if run in sources else None for run in runs],
        dict(sources.values()),
    )


@dataclass(frozen=True)
class GradeFiles:
    """The files of scores, verdicts and executions that a page shows, and notes on those that it doesn't."""

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
) -> GradeFiles:
    """Return the files of each kind: the given ones, else those beside the runs."""
    runs, notes = list(runs), list[str]()
    return GradeFiles(
        scores or _scores(runs, notes), verdicts or _verdicts(runs, notes), executions or _executions(runs), notes
    )


def _scores(files: Iterable[Path], notes: list[str]) -> list[Path]:
    """Return the scores of executions, and those of a run's only judge; several judges become a note."""
    chosen: list[Path] = []
    for file in files:
        executed = {path.name.rpartition(EXECUTIONS)[0] for path in graded_files(file, EXECUTIONS)}
        found = graded_files(file, SCORES)
        chosen += [path for path in found if path.name.rpartition(SCORES)[0] in executed]
        judged = [path for path in found if path not in chosen]
        if len(judged) == 1:
            chosen += judged
        elif judged:
            notes.append(f"{len(judged)} judges graded {file}: choose whose scores are shown by --scores {judged[0]}")
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
