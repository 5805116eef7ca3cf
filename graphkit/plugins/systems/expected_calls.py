"""The number of calls that a run has yet to make, and what they cost at most."""

from __future__ import annotations

import math
from typing import NamedTuple

from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.plugins.systems.session import Session
from graphkit.records.structs import AnswerStruct


class ExpectedCalls(NamedTuple):
    """The numbers of questions that a run has left and has kept, and the maximum cost of the calls, if known."""

    calls: int
    kept: int
    most_cost: float | None


def expected_calls(session: Session) -> dict[str, ExpectedCalls]:
    """Return the calls that each run has yet to make, by its file as it is; nothing is asked or written.

    A record that can't be read counts as none: the run itself says what is wrong with it. The calls of a condition cost
    what its ``most_cost`` says of each question.
    """
    found = {}
    for system in session.systems:
        whole: dict[str, bool] = {}
        if (path := session.out / f"{system.name}.jsonl").is_file():
            for _, one in RecordReader(path, AnswerStruct, Problems("skip")):
                whole[one.question_id] = one.error is None or not session.retry_failed
        left = [question for question in session.plan.questions if not whole.get(question.id)]
        estimate = getattr(system.call, "most_cost", None)
        costs = [] if estimate is None else [estimate(question, session.prices) for question in left]
        cost = None if estimate is None or None in costs else math.fsum(costs)
        found[system.name] = ExpectedCalls(len(left), len(session.plan.questions) - len(left), cost)
    return found
