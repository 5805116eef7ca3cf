"""A system that fails where an honest one scores worst, which fools a gate that looks at answered questions only."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import graphkit
from graphkit import Question
from tests.helpers.datasets import SCORED, STOREFRONT, read_jsonl

System = Callable[[Question], dict[str, Any]]


class IndexUnreachableError(Exception):
    """Raised by the crashing system instead of an answer."""


def worst(run: str = "storefront-graph", share: float = 1 / 3) -> frozenset[str]:
    """Return the share of the storefront's questions with gold that has the lowest EdgeRecall of a run.

    A question on which the run itself failed counts as 0; the earlier of two equal questions comes first.
    """
    rows = graphkit.evaluate(STOREFRONT / "runs" / f"{run}.jsonl", measures=["EdgeRecall"]).rows
    scored = [row for row in rows if row.failure is not None or isinstance(row.values[0], float)]
    recall = {row.question: value if isinstance(value := row.values[0], float) else 0.0 for row in scored}
    return frozenset(sorted(recall, key=lambda question: recall[question])[: round(share * len(recall))])


def crashing(run: str = "storefront-graph", share: float = 1 / 3) -> System:
    """Return a system that repeats the answers of a storefront run, and raises on its worst questions."""
    hard = worst(run, share)
    answers = {record["question_id"]: record for record in read_jsonl(STOREFRONT / "runs" / f"{run}.jsonl")}

    def system(question: Question) -> dict[str, Any]:
        if question.id in hard or "error" in answers[question.id]:
            raise IndexUnreachableError(f"no answer to {question.id}")
        return answers[question.id]

    return system


def answer(question: Question) -> dict[str, Any]:
    """Answer as the default of :func:`crashing` does: ``--system tests.helpers.crashing:answer``."""
    return _default()(question)


@cache
def _default() -> System:
    return crashing()


def crashing_run(folder: Path, run: str = "storefront-graph", share: float = 1 / 3) -> Path:
    """Let the crashing system answer the storefront as ``graphkit run`` does, and return the file of its run.

    The file is ``folder/storefront/runs/RUN-crashing.jsonl``, in a dataset that links to the storefront's files; the
    honest run lies beside it as ``RUN.jsonl``.
    """
    dataset = folder / STOREFRONT.name
    (dataset / "runs").mkdir(parents=True)
    for name in SCORED:
        if name != "runs":
            (dataset / name).symlink_to(STOREFRONT / name)
    (dataset / "runs" / f"{run}.jsonl").symlink_to(STOREFRONT / "runs" / f"{run}.jsonl")
    [summary] = graphkit.run_systems(dataset, {f"{run}-crashing": crashing(run, share)})
    return summary.file
