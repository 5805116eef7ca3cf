"""What a page contains, in words, and the file that it gets if the user names none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from graphkit.files.outputs import kind_of
from graphkit.graph.beside import kinds_beside
from graphkit.records.words import counted
from graphkit.report.data import ReportData, RunData
from graphkit.scoring.chosen_questions import ChosenQuestions


class ShownAnswer(NamedTuple):
    """An answer that a page shows: the hashes of the answer and of its question's gold, and the question's labels."""

    answer_hash: str | None
    gold_hash: str | None
    category: str | None
    difficulty: str | None
    group: str | None


class PageContents(NamedTuple):
    """The content of a written page: its dataset, runs and questions, and how many answers were judged, say.

    ``beside`` counts the answers by what their records say of them, and ``chosen`` picks the questions.
    ``files`` are those of the runs, in their order. ``answers`` are those of each run by question; None for a question
    to which the run has no answer.
    """

    dataset: str
    runs: tuple[str, ...]
    questions: int
    beside: Mapping[str, int]
    files: tuple[Path, ...]
    answers: Mapping[str, Mapping[str, ShownAnswer | None]]
    chosen: ChosenQuestions | None = None

    @classmethod
    def of(cls, files: Iterable[Path], data: ReportData) -> PageContents:
        """Return the content of the data of a page, made from the files of its runs."""
        return cls(
            data.dataset.name,
            tuple(run.evaluation.run for run in data.runs),
            len(data.questions),
            {kind.counted_as: sum(len(run.beside[name]) for run in data.runs) for name, kind in kinds_beside().items()},
            tuple(files),
            {run.evaluation.run: _answers(run) for run in data.runs},
            data.runs[0].evaluation.chosen,
        )

    def lines(self) -> list[str]:
        """Return the content in one or two lines."""
        runs = ", ".join(self.runs[:4]) + (f" and {len(self.runs) - 4} more" if len(self.runs) > 4 else "")
        over = f"over {counted(self.questions, 'question')} of {self.dataset}"
        part = "" if self.chosen is None else f" (of {self.chosen.total}: {self.chosen.filter})"
        first = f"{counted(len(self.runs), 'run')} ({runs}) {over}{part}"
        graded = [f"{number} {what}" for what, number in self.beside.items() if number]
        second = f"with scores, each traversal over its gold path, and {' and '.join(graded)} answers"
        return [first, second if graded else "with scores, and each traversal over its gold path"]


def _answers(run: RunData) -> dict[str, ShownAnswer | None]:
    return {
        row.question: None
        if row.failure is not None
        else ShownAnswer(run.answer_hashes.get(row.question), row.gold_hash, *row.labels[:3])
        for row in run.evaluation.rows
    }


def free_page(runs: Sequence[str], dataset: str, kind: str = "report") -> Path:
    """Return the file in the working folder for a page of some runs, or of another kind.

    The name is that of the run, or of the dataset if there are several runs. An earlier page is replaced; if anything
    else has the name, a number is added.

    >>> free_page(["storefront/bm25"], "data").name, free_page(["a", "b"], "data").name
    ('report-storefront-bm25.html', 'report-data.html')
    """
    stem = f"{kind}-" + re.sub(r"[^\w.-]", "-", runs[0] if len(runs) == 1 else dataset)[:100]
    names = (Path(f"{stem}{'' if number == 1 else f'-{number}'}.html") for number in count(1))
    return next(path for path in names if _is_ours(path))


def _is_ours(path: Path) -> bool:
    """Tell whether a page may be written to a path: nothing is there, or an earlier page."""
    if not path.is_file():
        return not path.exists() and not path.is_symlink()
    return kind_of(path) == "a page"
