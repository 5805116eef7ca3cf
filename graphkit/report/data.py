"""The data of a page: the dataset and its runs, with their scores and the details of their questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from markupsafe import Markup
from msgspec import Struct

from graphkit.analysis.broken_edges import QuestionEdges
from graphkit.analysis.config import Config
from graphkit.analysis.layers import Scorecard
from graphkit.files.dataset import Dataset
from graphkit.files.problems import OnError
from graphkit.files.spool import Spool
from graphkit.graph.beside import kinds_beside
from graphkit.measures.base import Measure
from graphkit.measures.outcome import STAGES
from graphkit.records.ids import Places
from graphkit.records.scores import AboutAnswer, Score
from graphkit.records.unanswered import FailedAs
from graphkit.report.escaping import question_link, visible
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.results import Evaluation

Outcome = Literal["right", "wrong", "undecided"]

#: A section of the page that a plug-in adds: a function of the page's data that returns its HTML, empty for none.
Section = Callable[["ReportData"], Markup]


def letter_of(number: int) -> str:
    """Return the letter of a run: A for the first; behind Z, its number from 1.

    >>> letter_of(0), letter_of(26)
    ('A', '27')
    """
    return chr(ord("A") + number) if number < 26 else str(number + 1)


class DetailsBlock(Struct):
    """The details of some questions as JSON, and the number of the block within its run."""

    number: int
    json: str


#: What the row of a question in the table holds beside its id and text.
LISTED = ("category", "difficulty", "split", "session")

#: The row of a question before any run described it.
UNLISTED = dict.fromkeys(("id", "text", *LISTED), "")


class QuestionOutcome(Struct):
    """The outcome of a run on one question.

    ``flags`` are those of :data:`graphkit.report.question.FLAGS` that hold, ``found`` and ``required`` count the
    required edges, ``block`` is the number of the block with the question's details, and ``cause`` the kind of the
    first cause (:data:`graphkit.analysis.causes.CAUSES`), empty without one.
    """

    block: int = -1
    flags: list[str] = []
    found: int = 0
    required: int = 0
    answer: Outcome = "undecided"
    path: Outcome = "undecided"
    stage: str = STAGES[-1]
    cause: str = ""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Options of a page: what it shows beyond the defaults, and how it reads its files.

    Attributes
    ----------
    dataset
        The dataset of all runs; by default each run's own.
    folders
        The dataset of a run file, if it isn't the folder whose ``runs/`` holds the file.
    names
        The names of the runs, in their order, if their records don't name them.
    title
        The heading; by default the dataset's name.
    measures
        Measures to show in addition to those of every page.
    scores
        Scores of these runs by other tools, shown like graphkit's own.
    beside
        What plug-ins show of these answers below each: verdicts of judges claim by claim, and executions of their code
        with the failing test first.
    answered_by
        The model behind a run, by its file; by default as `graphkit run` noted, else as the verdicts name it. The page
        warns of a judge of the same family.
    failed_as
        How targets and thresholds count the questions that a run failed on or has no record for.
    unordered, undirected
        Whether to read traversals as sets of edges, and whether to compare edges without their direction.
    strict
        Whether to refuse records with fields that graphkit doesn't know.
    sections
        Further sections, behind the trade-offs.
    where
        The questions to show, by a filter on the dataset (:mod:`graphkit.scoring.chosen_questions`); by default all.
    """

    dataset: Path | None = None
    folders: Mapping[Path, Path] = field(default_factory=dict)
    names: Sequence[str | None] = ()
    title: str | None = None
    config: Config = field(default_factory=Config)
    measures: Sequence[str] = ()
    scores: Sequence[Score] = ()
    beside: Sequence[AboutAnswer] = ()
    answered_by: Mapping[Path, str] = field(default_factory=dict)
    on_error: OnError = "fail"
    strict: bool = False
    unordered: bool = False
    undirected: bool = False
    failed_as: FailedAs = "worst"
    sections: Sequence[Section] = ()
    where: str | ChosenQuestions | None = None


@dataclass
class RunData:
    """One run: its scores, its outcome, values and required edges by question, and blocks with the questions' details.

    ``source`` names its file in commands to copy, and ``options`` its dataset, if the file doesn't lie beside it.
    ``columns`` holds its packed column of each question's spine, and ``texts`` the texts in which the questions of
    a block of details are found, compressed, by its number. ``beside`` holds the records of each kind,
    by question, and ``warnings`` those about them and, under ``scores``, about scores.
    """

    details: Spool[DetailsBlock]
    source: str = ""
    options: str = ""
    evaluation: Evaluation = field(init=False)
    card: Scorecard = field(init=False)
    values: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    outcomes: list[QuestionOutcome] = field(default_factory=list)
    edges: list[QuestionEdges | None] = field(default_factory=list)
    columns: dict[int, bytes] = field(default_factory=dict)
    texts: dict[int, bytes] = field(default_factory=dict)
    answer_hashes: dict[str, str] = field(default_factory=dict)
    beside: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    warnings: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def overview(self, name: str) -> Any:
        """Return what the page says of the records of a kind; None without any."""
        if not self.beside.get(name):
            return None
        link = partial(question_link, self.evaluation.run)
        return kinds_beside()[name].overview(self.beside[name], self.evaluation.efficiency.get("cost"), link)


@dataclass
class ReportData:
    """The dataset and its runs, completely read.

    ``backbones`` holds the packed gold side of each question's spine, ``asked`` the measures that someone named, and
    ``places`` the repositories of nodes.
    """

    title: str
    dataset: Dataset
    measures: tuple[Measure, ...]
    runs: list[RunData]
    config: Config
    unordered: bool = False
    undirected: bool = False
    sections: Sequence[Section] = ()
    questions: list[dict[str, str]] = field(default_factory=list)
    backbones: dict[int, bytes] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    places: Places = field(default_factory=Places)

    def escaped_ids(self) -> dict[int, str]:
        """Return by place the ids that the page shows with escapes, as commands and files of rows need them."""
        ids = {visible(row.question): row.question for row in self.runs[0].evaluation.rows}
        places = enumerate(question["id"] for question in self.questions)
        return {place: ids[shown] for place, shown in places if ids.get(shown, shown) != shown}
