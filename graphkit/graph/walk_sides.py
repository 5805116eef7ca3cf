"""Sides of retrieved paths: how they are compared with gold paths that have commits of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphkit.database.store import Store
from graphkit.graph import rows as to_rows
from graphkit.graph.knowledge import commit_graph, known_places
from graphkit.graph.queries import cypher
from graphkit.graph.writing import batched
from graphkit.measures.case import Case
from graphkit.records.structs import AnswerStruct, GoldPathStruct, QuestionStruct, StepStruct, TraversalStepStruct

#: Questions whose paths are read together.
QUESTIONS = 250


def align_sides(store: Store, dataset: str, run: str | None = None) -> None:
    """Store how the paths of a dataset's runs, or of one run, are compared with gold on several sides.

    It follows from gold, from the commits that the dataset knows, and from the paths: whoever has changed one of these
    calls it. Without such gold it only looks for it.
    """
    gold = {str(row["question"]): _question(row) for row in store.read(cypher("load/sided_gold"), {"dataset": dataset})}
    if run is None:
        store.write(cypher("load/clear_sides"), {"dataset": dataset, "questions": sorted(gold)})
    if not gold:
        return
    commits = commit_graph(store, dataset)
    commits.places = known_places(store, dataset)
    runs = [str(row["id"]) for row in store.read(cypher("read/runs")) if row["dataset"] == dataset]
    for name in runs if run is None else [run]:
        for questions in batched(sorted(gold), QUESTIONS):
            rows = []
            for row in store.read(cypher("load/open_sides"), {"run": name, "questions": questions}):
                question = gold[str(row["question"])]
                lists = to_rows.sided_walks(Case(question, _answer(name, row), commits), dataset)
                for walk, properties in zip(row["walks"], lists, strict=True):  # type: ignore[call-overload]
                    rows.append({"question": question.id, "index": walk["index"], **properties})
            store.write(cypher("load/path_sides"), {"run": name, "rows": rows})


def _question(row: Mapping[str, Any]) -> QuestionStruct:
    paths = []
    for path in row["gold"]:
        parts = zip(path["sources"], path["targets"], path["relations"], strict=True)
        steps = [StepStruct(source, target, relation or None) for source, target, relation in parts]
        paths.append(GoldPathStruct(steps=steps, commits=dict(zip(path["repos"], path["names"], strict=True))))
    pins = dict(zip(row["repositories"] or (), row["shas"] or (), strict=True))
    return QuestionStruct(str(row["question"]), "", commits=pins, paths=paths)


def _answer(run: str, row: Mapping[str, Any]) -> AnswerStruct:
    steps = []
    for number, walk in enumerate(row["walks"]):
        names = ("sources", "targets", "relations", "source_commits", "target_commits")
        lost = walk["undirected"] or [False] * len(walk["sources"])
        parts = zip(*(walk[name] for name in names), lost, strict=True)
        for position, (source, target, relation, here, there, undirected) in enumerate(parts):
            steps.append(
                TraversalStepStruct(
                    source,
                    target,
                    relation or None,
                    path=number,
                    position=position,
                    source_commit=here or None,
                    target_commit=there or None,
                    directed=not undirected,
                )
            )
    return AnswerStruct(run, str(row["question"]), traversal=steps, ordered=row["ordered"])
