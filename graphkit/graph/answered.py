"""What may be put beside the answers of a run: records of questions that the graph holds, and of these very answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.knowledge import question_ids
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import cypher
from graphkit.graph.writing import batched
from graphkit.records.verdicts import answer_hash
from graphkit.records.words import counted

#: Answers whose texts are read at once.
ANSWERS = 100


class OfQuestion(Protocol):
    """A record that is of a question."""

    @property
    def question(self) -> str:
        """Return the id of the question."""
        ...


class OfAnswer(OfQuestion, Protocol):
    """A record that tells which answer it is of, by ``answer_hash``; None where it doesn't."""

    @property
    def answer_hash(self) -> str | None:
        """Return the digest of the answer."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """What records are called: a verdict ``on`` an answer, of a run that was ``graded``."""

    noun: str
    of: str
    done: str


SCORE = Kind("score", "of", "graded")
VERDICT = Kind("verdict", "on", "graded")
EXECUTION = Kind("execution", "of", "executed")


def refuse_unknown(store: Store, run: str, records: Iterable[OfQuestion], kind: Kind) -> set[str]:
    """Refuse records of a run or of questions that the graph doesn't hold; return the questions that it holds.

    Raises
    ------
    InputError
        The run isn't in the graph, or a question isn't one of its dataset.
    """
    dataset = require_run(store, run)["dataset"]
    known = question_ids(store, dataset)
    strangers = [one.question for one in records if one.question not in known]
    if strangers:
        raise InputError(
            f"{counted(len(strangers), kind.noun)} {kind.of} {run} are of questions that the dataset {dataset!r} "
            f"doesn't hold, such as {strangers[0]!r}",
            remedy="Correct the ids, or leave these out.",
        )
    return known


def refuse_outdated(store: Store, run: str, records: Iterable[OfAnswer], kind: Kind, by: str | None = None) -> None:
    """Refuse records of other answers than the graph holds, as far as they tell which they are of.

    Parameters
    ----------
    by
        Whose records they are, for the message.

    Raises
    ------
    InputError
        Such as for a run that has answered anew since.
    """
    told = [one for one in records if one.answer_hash is not None]
    there: dict[str, str] = {}
    for batch in batched(dict.fromkeys(one.question for one in told), ANSWERS):
        rows = store.read(cypher("read/answer_texts"), {"run": run, "questions": batch})
        there |= {str(row["question"]): answer_hash(str(row["answer"])) for row in rows}
    outdated = [one.question for one in told if there.get(one.question) != one.answer_hash]
    if outdated:
        whose = f" of {by}" if by else ""
        one = len(outdated) == 1
        what = f"is {kind.of} another answer" if one else f"are {kind.of} other answers"
        raise InputError(
            f"{counted(len(outdated), kind.noun)}{whose} {kind.of} {run} {what} than the graph holds, "
            f"such as {kind.of} {outdated[0]!r}",
            remedy=f"Have the run {kind.done} again, or `graphkit evaluate` the one that was {kind.done}.",
        )
