"""Directions of edges whose log has lost them: retrieved paths and traversed edges have that which gold has."""

from __future__ import annotations

from collections.abc import Iterable

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.graph.writing import batched

#: Questions whose paths are aligned together.
QUESTIONS = 250


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
