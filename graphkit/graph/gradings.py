"""Scores in the graph: ``(:Answer)-[:SCORED]->(:Score)``, and for each measure of a run who gave them.

A ``(:Run)-[:GRADED]->(:Grading {measure, grader, version, complete})`` stands for all scores of a run by a measure. It
is marked as incomplete before the first score is deleted, and as complete behind the last one that is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.knowledge import require_run
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.rows import answer_key
from graphkit.graph.writing import batched, clear
from graphkit.records.scores import Score
from graphkit.records.words import counted

#: Questions whose scores one transaction writes.
QUESTIONS = 250


@dataclass(frozen=True, slots=True)
class Grading:
    """All scores of a run by one measure: who gave them, in which version.

    ``complete`` says that they are all there, and ``current`` that what they were computed by is still as it was then:
    the dataset, and for a measure that asks for commits the histories of repositories. ``history`` is how often these
    had changed; None where a measure doesn't ask.
    """

    measure: str
    grader: str | None
    version: str | None
    complete: bool = True
    history: int | None = None
    current: bool = True

    @property
    def given_by(self) -> str:
        """Who gave them, in words."""
        return " ".join(part for part in (self.grader or "nobody named", self.version) if part)


def keep_scores(store: Store, run: str, gradings: Sequence[Grading], rows: Iterable[Mapping[str, Any]]) -> int:
    """Store scores of a run that the graph holds, and return how many were stored.

    Parameters
    ----------
    gradings
        The measures that are replaced; scores by other measures stay.
    rows
        Each with ``question``, ``measure``, ``value`` (None with a ``reason``), and where there are any ``grade``,
        ``label``, ``explanation``, ``confidence``, ``cost``, ``prompt_tokens`` and ``output_tokens``.
    """
    names = [grading.measure for grading in gradings]
    marks = [
        # One key of two names, as an answer's.
        {
            "key": answer_key(run, grading.measure),
            "measure": grading.measure,
            "grader": grading.grader,
            "version": grading.version,
            "history": grading.history,
        }
        for grading in gradings
    ]
    stored = 0
    with reserved(store, f"scores of {run}") as held:
        store.write(cypher("load/gradings"), {"run": run, "rows": marks})
        clear(store, "load/clear_scores", {"run": run, "measures": names})
        # Those of a question together, as they mostly come: its answer is looked up once.
        by_question = ({"question": name, "scores": list(some)} for name, some in groupby(rows, itemgetter("question")))
        for batch in batched(by_question, QUESTIONS):
            store.write(cypher("load/scores"), {"run": run, "rows": batch})
            stored += sum(len(row["scores"]) for row in batch)
            held.beat()
        held.complete("load/gradings_complete", {"run": run, "measures": names})
    return stored


def clear_scores(store: Store, run: str) -> None:
    """Delete every score of a run, and first what says that they are there."""
    store.write(cypher("load/clear_gradings"), {"run": run})
    clear(store, "load/clear_scores", {"run": run, "measures": None})


def gradings(store: Store, run: str) -> dict[str, Grading]:
    """Return by which measures a run is scored, complete or not."""
    return {
        str(row["measure"]): Grading(**row)  # type: ignore[arg-type]
        for row in store.read(cypher("read/gradings"), {"run": run})
    }


def held_values(store: Store, run: str, measure: str) -> dict[str, float]:
    """Return the values that the graph holds of a run by a measure, by question; what isn't scored is left out."""
    (row,) = store.read(cypher("read/scores"), {"run": run, "measure": measure})
    return dict(zip(row["questions"], row["values"], strict=True))  # type: ignore[call-overload]


def gradings_of(scores: Iterable[Score]) -> list[Grading]:
    """Return who gave the scores of one run, a grading a measure.

    Raises
    ------
    InputError
        The scores by a measure were given by several graders, or in several versions.
    """
    firsts: dict[str, Score] = {}
    for score in scores:
        first = firsts.setdefault(score.measure, score)
        if first.given_by != score.given_by:
            raise InputError(
                f"the scores of {score.run} by {score.measure} are by {first.given_by} and by {score.given_by}",
                remedy="Give the measures other names, or have one grader give them all.",
            )
    return [
        Grading(name, score.grader, None if score.version is None else str(score.version))
        for name, score in firsts.items()
    ]


def rows_of(scores: Iterable[Score]) -> Iterator[dict[str, Any]]:
    """Yield scores as the graph keeps them."""
    for score in scores:
        yield {
            "question": score.question,
            "measure": score.measure,
            "value": score.number,
            **{name: getattr(score, name) for name in _BESIDE},
        }


_BESIDE = ("reason", "grade", "label", "explanation", "confidence", "cost", "prompt_tokens", "output_tokens")


def load_scores(store: Store, scores: Sequence[Score]) -> dict[str, int]:
    """Put scores that others gave beside the answers of runs that the graph holds; return how many of each run.

    Earlier scores of the same run and measure are replaced. Everything is checked before anything is written.

    Raises
    ------
    InputError
        A run or question isn't in the graph, or a measure has several graders.
    """
    runs: dict[str, list[Score]] = {}
    for score in scores:
        runs.setdefault(score.run, []).append(score)
    for run, some in runs.items():
        dataset = require_run(store, run)["dataset"]
        known = {row["id"] for row in store.read(cypher("load/dataset_questions"), {"dataset": dataset})}
        refuse_unknown(some, known, f"the dataset {dataset!r}")
        gradings_of(some)
    return {run: keep_scores(store, run, gradings_of(some), rows_of(some)) for run, some in runs.items()}


def refuse_unknown(scores: Iterable[Score], known: Collection[object], where: str) -> None:
    """Refuse scores of questions that aren't known."""
    strangers = [score for score in scores if score.question not in known]
    if strangers:
        first = strangers[0]
        raise InputError(
            f"{counted(len(strangers), 'score')} of {first.run} are of questions that {where} doesn't hold, "
            f"such as {first.question!r}",
            remedy="Correct the ids, or leave these out.",
        )
