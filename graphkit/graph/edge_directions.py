"""Directions of edges whose log has lost them: retrieved paths and traversed edges have that which gold has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.graph.writing import batched
from graphkit.records.structs import GoldPathStruct, QuestionStruct, StepStruct

#: Questions whose paths are aligned together.
QUESTIONS = 250


def directing_gold(store: Store, dataset: str, questions: Iterable[str]) -> dict[str, QuestionStruct]:
    """Return the questions of a dataset with the edges of their gold, which tell the directions that a log has lost."""
    rows: Any = store.read(cypher("load/gold_ends"), {"dataset": dataset, "questions": sorted(questions)})
    return {
        str(row["question"]): QuestionStruct(
            id=str(row["question"]),
            question="",
            paths=[GoldPathStruct(steps=[StepStruct(source, target) for source, target in row["ends"]])],
        )
        for row in rows
    }


def align_runs(store: Store, dataset: str) -> None:
    """Align the paths of a dataset's runs with its gold, which may have changed."""
    for row in store.read(cypher("load/directionless_runs"), {"dataset": dataset}):
        run = str(row["run"])
        questions = (str(one["question"]) for one in store.read(cypher("load/run_answers"), {"run": run}))
        align_paths(store, run, questions)


def align_paths(store: Store, run: str, questions: Iterable[str]) -> None:
    """Align paths and edges of a run with gold; see :func:`graphkit.measures.case.aligned`, which does it in Python."""
    for some in batched(sorted(questions), QUESTIONS):
        store.write(cypher("load/align_paths"), {"run": run, "questions": some})
