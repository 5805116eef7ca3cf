"""Check records about the answers of a run: the graph must hold their questions and exactly these answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.knowledge import question_ids
from graphkit.graph.known_names import kept_in_words, kept_questions, require_run
from graphkit.graph.queries import cypher
from graphkit.graph.writing import batched
from graphkit.records.scores import AboutAnswer, answer_hash
from graphkit.records.words import counted

#: Answers whose texts one query reads.
ANSWERS = 100


_OfRun = TypeVar("_OfRun", bound=AboutAnswer)


@dataclass(frozen=True, slots=True)
class Kind:
    """Words for a kind of record, such as a verdict ``on`` an answer of a run that was ``graded``."""

    noun: str
    of: str
    done: str


SCORE = Kind("score", "of", "graded")


def refuse_unknown(store: Store, run: str, records: Iterable[AboutAnswer], kind: Kind) -> set[str]:
    """Check that the graph holds the run and the questions of records, and return the questions of the dataset.

    Raise InputError if the run isn't in the graph, or a question isn't in its dataset.
    """
    about = require_run(store, run)
    dataset = about["dataset"]
    known = question_ids(store, dataset) if about["kept"] is None else kept_questions(store, run)
    strangers = [one.question for one in records if one.question not in known]
    if strangers and about["kept"] is not None:
        raise InputError(
            f"{counted(len(strangers), kind.noun)} {kind.of} {run} are of questions that the graph doesn't store, such "
            f"as {strangers[0]!r}: {kept_in_words(about)}",
            remedy="Leave them out, or `graphkit evaluate` the run's file without --keep first.",
        )
    if strangers:
        raise InputError(
            f"{counted(len(strangers), kind.noun)} {kind.of} {run} are of questions that the dataset {dataset!r} "
            f"doesn't hold, such as {strangers[0]!r}",
            remedy="Correct the ids, or remove these records.",
        )
    return known


def refuse_outdated(store: Store, run: str, records: Iterable[AboutAnswer], kind: Kind, by: str | None = None) -> None:
    """Check that records with a hash are about the answers that the graph holds.

    Raise InputError if a record is about another answer, as after a new run.

    ``by`` is the author of the records, for the message.
    """
    hashed = [one for one in records if one.answer_hash is not None]
    there: dict[str, str] = {}
    for batch in batched(dict.fromkeys(one.question for one in hashed), ANSWERS):
        rows = store.read(cypher("read/answer_texts"), {"run": run, "questions": batch})
        there |= {str(row["question"]): answer_hash(str(row["answer"])) for row in rows}
    outdated = [one.question for one in hashed if there.get(one.question) != one.answer_hash]
    if outdated:
        by_whom = f" of {by}" if by else ""
        one = len(outdated) == 1
        what = f"is {kind.of} another answer" if one else f"are {kind.of} other answers"
        raise InputError(
            f"{counted(len(outdated), kind.noun)}{by_whom} {kind.of} {run} {what} than the graph holds, "
            f"such as {kind.of} {outdated[0]!r}",
            remedy=f"Have the run {kind.done} again, or `graphkit evaluate` the one that was {kind.done}.",
        )


def by_run(records: Iterable[_OfRun]) -> dict[str, list[_OfRun]]:
    """Return records by their run."""
    runs: dict[str, list[_OfRun]] = {}
    for record in records:
        runs.setdefault(record.run, []).append(record)
    return runs
