"""Scores in the graph: ``(:Answer)-[:SCORED]->(:Score)``, and the graders of each measure of a run.

A ``(:Run)-[:GRADED]->(:Grading {measure, grader, version, complete})`` stands for all scores of a run by a measure from
one grader. It is incomplete from before the first score is deleted until after the last one is written. Several graders
may score different questions by a measure; the measure is complete if all of them are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import command_text
from graphkit.graph.answered import SCORE, by_run, refuse_outdated, refuse_unknown
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import Reservation, reserved
from graphkit.graph.right_answers import decide
from graphkit.graph.rows import fields_of
from graphkit.graph.stream import TEXT, StreamWriter, Transaction
from graphkit.graph.writing import batched, clear
from graphkit.measures.outcome import OF_WHOLE_ANSWER, RIGHT_ANSWER
from graphkit.measures.registry import worst_of
from graphkit.records.collector import quiet_collector
from graphkit.records.gold import gold_hash_of
from graphkit.records.progress import Progress, quiet
from graphkit.records.scores import GRAPHKIT, Score
from graphkit.records.unanswered import counted_value

#: Questions whose scores one query deletes.
QUESTIONS = 250

#: The fields of a score beside its value.
_BESIDE = (
    *("reason", "grade", "label", "explanation", "confidence", "cost", "prompt_tokens", "output_tokens"),
    "gold_hash",
)

#: Those that a computed score doesn't have.
_GIVEN = frozenset(_BESIDE) - {"reason", "gold_hash"}


@dataclass(frozen=True, slots=True)
class Grading:
    """All scores of a run by one measure from one grader, with the grader's version.

    ``complete`` says whether all scores are there. ``current`` says whether their sources are unchanged: the dataset,
    and for a measure that reads commits the histories of repositories, whose number of changes is ``history`` (else
    None). Scores by other tools belong to the answers and are always current. ``gold_hash`` is that of the questions,
    if the grader names it, and ``principal`` asked those that name nobody (``--as``).
    """

    measure: str
    grader: str | None
    version: str | None
    complete: bool = True
    history: int | None = None
    gold_hash: str | None = None
    principal: str | None = None
    current: bool = True

    @property
    def given_by(self) -> str:
        """The grader and its version, in words."""
        return " ".join(part for part in (self.grader or "nobody named", self.version) if part)

    @classmethod
    def together(cls, gradings: Sequence[Grading]) -> Grading:
        """Return the gradings of one measure by several graders as one grading, complete if each of them is."""
        if len(gradings) == 1:
            return gradings[0]
        return cls(
            gradings[0].measure,
            " and ".join(sorted(one.given_by for one in gradings)),
            None,
            complete=all(one.complete for one in gradings),
            current=all(one.current for one in gradings),
        )

    @property
    def key(self) -> list[str]:
        """Its key among the gradings of a run: measure and grader, which is an empty text if it has no name."""
        return [self.measure, self.grader or ""]


def reservation_of_scores(run: str) -> str:
    """Return the name of the reservation of a run's scores."""
    return f"scores of {run}"


@quiet_collector()
def keep_scores(
    store: Store,
    run: str,
    gradings: Sequence[Grading],
    rows: Iterable[Mapping[str, Any]],
    progress: Progress = quiet,
    *,
    decisions: bool = False,
) -> int:
    """Store scores of a run in the graph, and return how many were stored.

    Raise InputError if the graph doesn't hold the run any more, as after a renaming.

    Parameters
    ----------
    gradings
        The gradings to store. They replace all scores by their measures, from any grader; other measures stay.
    rows
        Scores, each with ``question``, ``measure``, ``grader``, ``value`` (None with a ``reason``), and optionally
        ``grade``, ``label``, ``explanation``, ``confidence``, ``cost``, ``prompt_tokens`` and ``output_tokens``.
        ``counted`` is the value with which a mean counts the question.
    decisions
        Whether the rows hold all decisions whether an answer is right, too.
    """
    measures = [grading.measure for grading in gradings] + ([RIGHT_ANSWER] if decisions else [])
    replaced = {"run": run, "measures": list(dict.fromkeys(measures))}
    with reserved(store, reservation_of_scores(run)) as held:
        require_run(store, run)
        _sweep(store, run, gradings)
        store.write(cypher("load/gradings_incomplete"), replaced)
        _begin(store, run, gradings)
        clear(store, "load/clear_scores", {**replaced, "grader": None, "questions": None})
        store.write(cypher("load/clear_gradings"), {**replaced, "kept": _keys(gradings)})
        return _write(store, run, gradings, rows, held, progress)


def _sweep(store: Store, run: str, gradings: Iterable[Grading]) -> None:
    """Delete the measures of which interrupted processes left only a part; the caller holds the run's scores.

    A measure with another complete grading, or a new one, stays, so that its missing part remains visible.
    """
    there = [Grading(**row) for row in store.read(cypher("read/gradings"), {"run": run, "own": GRAPHKIT})]  # type: ignore[arg-type]
    kept = {grading.measure for grading in (*gradings, *(one for one in there if one.complete))}
    left = list(dict.fromkeys(grading.measure for grading in there if grading.measure not in kept))
    if left:
        clear(store, "load/clear_scores", {"run": run, "measures": left, "grader": None, "questions": None})
        store.write(cypher("load/clear_gradings"), {"run": run, "measures": left, "kept": []})


def _keys(gradings: Iterable[Grading]) -> list[list[str]]:
    return [grading.key for grading in gradings]


def _begin(store: Store, run: str, gradings: Iterable[Grading]) -> None:
    """Create gradings, or mark them as incomplete."""
    marks = [
        {
            **fields_of(grading, ("measure", "version", "history", "gold_hash", "principal")),
            "grader": grading.grader or "",
        }
        for grading in gradings
    ]
    store.write(cypher("load/gradings"), {"run": run, "rows": marks})


def _write(
    store: Store,
    run: str,
    gradings: Iterable[Grading],
    rows: Iterable[Mapping[str, Any]],
    held: Reservation,
    progress: Progress = quiet,
    then: Callable[[], None] | None = None,
) -> int:
    """Write scores, do what follows from them, mark their gradings as complete, and return the number of scores."""
    stored = 0
    # Rows of a question mostly come together, so its answer is looked up once.
    by_question = ({"question": name, "scores": list(some)} for name, some in groupby(rows, itemgetter("question")))
    writer = StreamWriter(store, lambda some: _transaction(run, some), _weight)
    for written in writer.write(by_question):
        stored += sum(len(row["scores"]) for row in written)
        progress("scores", sum(one["measure"] != RIGHT_ANSWER for row in written for one in row["scores"]))
        held.beat()
    if then is not None:
        then()
    held.complete("load/gradings_complete", {"run": run, "graders": _keys(gradings)})
    return stored


def _transaction(run: str, rows: Iterable[Mapping[str, Any]]) -> Transaction:
    """Return the transaction that writes some scores: computed ones, which are most, have few properties."""
    parts: dict[str, list[dict[str, Any]]] = {"load/scores": [], "load/given_scores": []}
    for row in rows:
        given = [one for one in row["scores"] if not _GIVEN.isdisjoint(one)]
        computed = row["scores"] if not given else [one for one in row["scores"] if _GIVEN.isdisjoint(one)]
        for part, scores in (("load/scores", computed), ("load/given_scores", given)):
            if scores:
                parts[part].append({"question": row["question"], "scores": scores})
    return Transaction.of(*((cypher(part), {"run": run, "rows": some}) for part, some in parts.items()))


def _weight(row: Mapping[str, Any]) -> int:
    """Return how many rows the scores of a question are, with their texts."""
    texts = sum(len(score.get("explanation") or "") for score in row["scores"])
    return len(row["scores"]) + texts // TEXT


def clear_scores(store: Store, run: str, done: Callable[[int], None] = lambda _: None) -> None:
    """Delete the gradings of a run, then its scores."""
    store.write(cypher("load/clear_gradings"), {"run": run, "measures": None, "kept": []})
    everything = {"run": run, "measures": None, "grader": None, "questions": None}
    clear(store, "load/clear_scores", everything, done)


def clear_computed(store: Store, run: str) -> None:
    """Delete the scores of a run that graphkit computed, with their gradings."""
    own = [name for name, one in gradings(store, run).items() if one.grader == GRAPHKIT]
    store.write(cypher("load/clear_gradings"), {"run": run, "measures": own, "kept": []})
    clear(store, "load/clear_scores", {"run": run, "measures": own, "grader": GRAPHKIT, "questions": None})


def gradings(store: Store, run: str) -> dict[str, Grading]:
    """Return the gradings of a run by measure, incomplete ones included; those of several graders as one."""
    rows = store.read(cypher("read/gradings"), {"run": run, "own": GRAPHKIT})
    each = (Grading(**row) for row in rows)  # type: ignore[arg-type]
    return {name: Grading.together(list(some)) for name, some in groupby(each, attrgetter("measure"))}


def held_values(store: Store, run: str, measure: str) -> tuple[dict[str, float], dict[str, str | None]]:
    """Return the values of a run by a measure, by question, and the gold hash of each if known.

    Questions that aren't scored are missing.
    """
    (row,) = store.read(cypher("read/scores"), {"run": run, "measure": measure})
    questions: list[str] = list(row["questions"])  # type: ignore[call-overload]
    gold = (one or None for one in row["gold"])  # type: ignore[attr-defined]
    return dict(zip(questions, row["values"], strict=True)), dict(zip(questions, gold, strict=True))  # type: ignore[call-overload]


def outdated_scores(store: Store, dataset: str | None = None) -> list[str]:
    """Return a sentence on each run whose computed scores another ``evaluate`` changes or completes.

    They are by earlier gold than the dataset has, or of a graphkit that kept neither the values that count nor who
    decides whether an answer is right.
    """
    asked = {"dataset": dataset, "decision": RIGHT_ANSWER, "grader": GRAPHKIT}
    found = []
    for row in store.read(cypher("read/outdated_scores"), asked):
        again = f"`{command_text('evaluate', Path(str(row['file'])))}`" if row["file"] else "evaluating it again"
        why = (
            f"are by earlier gold{_for(row['principals'])}"
            if row["earlier"]
            else "lack the values that count and their paths"
        )
        found.append(f"the scores of {row['id']} {why}: {again} renews them")
    return found


def _for(principals: Any) -> str:
    return f", some by that of {' and '.join(principals)}" if principals else ""


def gradings_of(scores: Iterable[Score]) -> list[Grading]:
    """Return the gradings of the scores of one run, one per measure and grader.

    Raise InputError if a question has several scores by a measure, or a grader has several versions.
    """
    graders: dict[tuple[str, str | None], Score] = {}
    questions: dict[tuple[str, str], Score] = {}
    for score in scores:
        if score.measure == RIGHT_ANSWER:
            raise InputError(
                f"{RIGHT_ANSWER} is graphkit's own decision, which {score.given_by} gives for {score.question!r}",
                remedy="Name the measure Correct, or PersonGrade if a person gave it: graphkit decides by them.",
            )
        same = questions.setdefault((score.measure, score.question), score)
        if same is not score:
            raise InputError(
                f"the scores of {score.run} by {score.measure} of {score.question!r} are by {same.given_by} "
                f"and by {score.given_by}",
                remedy="Remove all but one of them, or give the measures other names.",
            )
        first = graders.setdefault((score.measure, score.grader or None), score)
        if first.given_by != score.given_by:
            raise InputError(
                f"the scores of {score.run} by {score.measure} are by {first.given_by} and by {score.given_by}",
                remedy="Give the measures other names, or score all questions with one version of the grader.",
            )
    gold: dict[tuple[str, str | None], list[tuple[str, str | None]]] = {}
    for (measure, question), score in questions.items():
        gold.setdefault((measure, score.grader or None), []).append((question, score.gold_hash))
    return [
        Grading(
            measure,
            grader,
            None if score.version is None else str(score.version),
            gold_hash=gold_hash_of(gold[measure, grader]),
        )
        for (measure, grader), score in graders.items()
    ]


def rows_of(scores: Iterable[Score]) -> Iterator[dict[str, Any]]:
    """Yield the rows of scores."""
    for score in scores:
        yield {
            "question": score.question,
            "measure": score.measure,
            "grader": score.grader or None,
            "value": score.number,
            **fields_of(score, _BESIDE),
        }


def load_scores(store: Store, scores: Sequence[Score]) -> dict[str, int]:
    """Store scores by other tools in the graph, and return how many of each run.

    By each measure, they replace earlier scores of the same run and grader, and those of other graders for the same
    questions. All records are checked before any is written.

    Raises
    ------
    InputError
        A run or question isn't in the graph, a score is of another answer than the graph holds, a question has several
        scores by a measure, or a grader several versions.
    """
    runs = by_run(scores)
    known: dict[str, set[str]] = {}
    for run, some in runs.items():
        known[run] = refuse_unknown(store, run, some, SCORE)
        refuse_outdated(store, run, some, SCORE)
        gradings_of(some)
    return {run: _load(store, run, some, known[run]) for run, some in runs.items()}


def _load(store: Store, run: str, scores: Sequence[Score], known: Set[str]) -> int:
    gradings = gradings_of(scores)
    with reserved(store, reservation_of_scores(run)) as held:
        require_run(store, run)
        _sweep(store, run, gradings)
        # Gradings of other graders stay complete; the measure is incomplete as long as one grading is.
        _begin(store, run, gradings)
        _clear_replaced(store, run, gradings, scores, known)
        graded = any(score.measure in OF_WHOLE_ANSWER for score in scores)
        then = (lambda: decide(store, run)) if graded else None
        return _write(store, run, gradings, _counted_rows(scores), held, then=then)


def _counted_rows(scores: Sequence[Score]) -> Iterator[dict[str, Any]]:
    """Yield the rows of scores of a run, with the values that the means over them count."""
    worst = {score.measure: worst_of(score.measure) for score in scores if score.number is not None}
    untyped = {score.measure for score in scores if score.untyped}
    for score, row in zip(scores, rows_of(scores), strict=True):
        value = counted_value(score.reason if score.number is None else score.number, worst.get(score.measure))
        row["counted"] = value if score.strict_value is None else score.strict_value
        yield row if score.measure not in untyped else {**row, "counted": None}


def _clear_replaced(
    store: Store, run: str, gradings: Iterable[Grading], scores: Iterable[Score], known: Set[str]
) -> None:
    """Delete the scores that new ones replace, and the gradings that are empty then."""
    scored: dict[str, set[str]] = {}
    for score in scores:
        scored.setdefault(score.measure, set()).add(score.question)
    own = {(grading.measure, grading.grader or "") for grading in gradings}
    whole: dict[str, list[str]] = {}
    for row in store.read(cypher("read/graded_questions"), {"run": run, "measures": list(scored)}):
        measure, grader, theirs = str(row["measure"]), str(row["grader"]), list(row["questions"])  # type: ignore[call-overload]
        same = [question for question in theirs if question in scored[measure]]
        if (measure, grader) in own or len(same) == len(theirs):
            whole.setdefault(grader, []).append(measure)
            continue
        for batch in batched(same, QUESTIONS):
            few = {"run": run, "measures": [measure], "grader": grader, "questions": batch}
            clear(store, "load/clear_scores", few)
        scored[measure].update(theirs)
    for grader, measures in whole.items():
        clear(store, "load/clear_scores", {"run": run, "measures": measures, "grader": grader, "questions": None})
    # If every question has a score, an interrupted load left nothing missing.
    full = [measure for measure, questions in scored.items() if questions >= known]
    emptied = {"run": run, "measures": list(scored), "full": full, "kept": _keys(gradings)}
    store.write(cypher("load/clear_empty_gradings"), emptied)
