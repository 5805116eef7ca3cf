"""What a page is drawn from: the dataset and its runs, with their scores and the details of their questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from graphkit.analysis.config import Config
from graphkit.analysis.layers import Scorecard
from graphkit.files.dataset import Dataset
from graphkit.files.problems import OnError
from graphkit.files.spool import Spool
from graphkit.measures.base import Measure
from graphkit.records.executions import Execution
from graphkit.records.scores import Score
from graphkit.records.unanswered import FailedAs
from graphkit.records.verdicts import Verdict
from graphkit.scoring.results import Evaluation


class DetailsBlock(Struct):
    """The details of some questions, as the JSON that stands in the page, and the number of the block in its run."""

    number: int
    json: str


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What a page shows beside what every page shows, and how its files are read.

    Attributes
    ----------
    dataset
        The dataset of all runs; by default each one's own.
    folders
        The dataset of a run, where it isn't the folder whose ``runs/`` holds it.
    names
        The names that the runs go by, in their order, where their records don't say it; by default as these say.
    title
        The heading; by default the dataset's name.
    measures
        What is shown beside the measures that every page has.
    scores
        What others gave the answers of these runs: shown as graphkit's own.
    verdicts
        What judges said of these answers: shown claim by claim, beside each answer.
    executions
        What became of the code of these answers: shown beside each answer, its failing test first.
    answered_by
        The model behind a run, where more is known than the verdicts say: a judge of its family is warned of.
    failed_as
        How targets and thresholds count the questions that a run failed on or has no record for.
    unordered, undirected
        Whether traversals are sets of edges, and whether edges are compared without their direction.
    strict
        Whether fields that graphkit doesn't know refuse the runs and their dataset.
    """

    dataset: Path | None = None
    folders: Mapping[Path, Path] = field(default_factory=dict)
    names: Sequence[str | None] = ()
    title: str | None = None
    config: Config = field(default_factory=Config)
    measures: Sequence[str] = ()
    scores: Sequence[Score] = ()
    verdicts: Sequence[Verdict] = ()
    executions: Sequence[Execution] = ()
    answered_by: Mapping[Path, str] = field(default_factory=dict)
    on_error: OnError = "fail"
    strict: bool = False
    unordered: bool = False
    undirected: bool = False
    failed_as: FailedAs = "worst"


@dataclass
class RunData:
    """One run: its scores, the details of its questions, and in which block each one's are."""

    details: Spool[DetailsBlock]
    evaluation: Evaluation = field(init=False)
    card: Scorecard = field(init=False)
    values: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    blocks: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    edges_found: list[tuple[int, int]] = field(default_factory=list)
    judged: list[tuple[str, str, str]] = field(default_factory=list)
    verdicts: dict[str, list[Verdict]] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    code_warnings: tuple[str, ...] = ()


@dataclass
class ReportData:
    """The dataset and its runs, each read to its end."""

    title: str
    dataset: Dataset
    measures: tuple[Measure, ...]
    runs: list[RunData]
    config: Config
    unordered: bool = False
    undirected: bool = False
    questions: list[list[Any]] = field(default_factory=list)
