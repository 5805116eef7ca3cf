"""The runs on which both engines are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import graphkit
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.graph.queries import schema_statements
from graphkit.graph.runs import load_run
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.registry import MEASURES, resolve_measures
from graphkit.plugins.judging.verdict_nodes import keep_verdicts
from graphkit.plugins.sandbox.execution_nodes import keep_executions
from graphkit.records.models import Answer, Question
from graphkit.records.structs import QuestionStruct, struct_of
from tests.helpers import FAST, engines, executions
from tests.helpers.datasets import read_jsonl
from tests.helpers.verdicts import plausible

SEEDS = (2,) if FAST else (1, 2)


def enough(count: int) -> int:
    """Return the part of a number found in three datasets that those compared here must have."""
    return count * (1 + len(SEEDS)) // 3


#: Every measure that has a Cypher form, in each form that its parameters give it.
MEASURED: tuple[Measure, ...] = resolve_measures(
    [
        *(kind.__name__ for kind in MEASURES if kind.query is not None),
        *(f"{name}(relation=False)" for name in ("EdgeRecall", "EdgePrecision", "EdgeF1")),
        *(f"{name}(relation=False)" for name in ("BoundaryRecall", "BoundaryPrecision")),
        *(f"{name}(relation=False)" for name in ("PathExact", "PathInOrder", "PathPrefix", "StoppingDepth")),
        *(f"{name}(directed=False)" for name in ("EdgeRecall", "EdgePrecision", "EdgeF1")),
        *(f"{name}(directed=False)" for name in ("BoundaryRecall", "BoundaryPrecision")),
        *(f"{name}(directed=False)" for name in ("PathExact", "PathInOrder", "PathPrefix", "StoppingDepth")),
        *(f"{name}(directed=False, relation=False)" for name in ("EdgeRecall", "EdgeF1", "PathExact", "PathPrefix")),
        "EdgeRecall(static=True)",
        'RepeatedEdges(across="turns")',
        "EdgeRecall(relation=False, static=True)",
        *(f"{name}@{k}" for name in ("Success", "Acc", "Recall", "P", "nDCG") for k in (1, 3, 10)),
    ]
)


@dataclass(frozen=True)
class Run:
    """A run of a dataset: its file, and its name in the graph."""

    dataset: Path
    file: Path

    @property
    def name(self) -> str:
        """The name of the run in the records of the file."""
        return str(read_jsonl(self.file)[0]["run"])

    def cases(self) -> list[Case]:
        """Return a case for each question, read by the models."""
        return list(_cases(self))


@cache
def _cases(run: Run) -> tuple[Case, ...]:
    questions = [Question.model_validate(one) for one in read_jsonl(run.dataset / "questions.jsonl")]
    answers = {one.question_id: one for one in map(Answer.model_validate, read_jsonl(run.file))}
    commits = Dataset(run.dataset).commit_graph(Problems())
    gold_for = commits.access.gold_for
    asked = (gold_for(struct_of(QuestionStruct, one)) if one.principal else one for one in questions)
    return tuple(Case(question, answers.get(question.id), commits) for question in asked)


def loaded(settings: Settings, runs: list[Run]) -> Iterator[Store]:
    """Yield a store that holds every dataset and run, with verdicts on each, and executions."""
    with Store.open(settings) as store:
        engines.empty(store)
        store.schema(schema_statements())
        for dataset in dict.fromkeys(run.dataset for run in runs):
            graphkit.load(store, dataset)
        for run in runs:
            load_run(store, run.dataset.name, run.name, run.file)
            keep_verdicts(store, run.name, "lexical", plausible(run.file))
            keep_executions(store, run.name, executions.plausible(run.file))
        yield store


#: The values of each question of a run, in the order of the measures.
Values = dict[str, tuple[float | str, ...]]


def values(result: graphkit.Evaluation) -> Values:
    """Return the values of each question of a result."""
    return {row.question: row.values for row in result.rows}
