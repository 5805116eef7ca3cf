"""Grading as a function: order, how many at once, what ends it, and what its costs stand beside."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.judging.grading.grade_run import GradingOptions, grade
from graphkit.plugins.judging.grading.verdict_job import Graded, GradingJob, RunToGrade
from graphkit.plugins.judging.judges.catalogue import GRADERS, graders_named
from graphkit.plugins.judging.judges.contract import Opinion
from graphkit.plugins.judging.judges.lexical import LexicalJudge
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.llm.requests import Usage
from graphkit.scoring.evaluate import evaluate
from graphkit.scoring.results import NOT_GIVEN
from tests.helpers.datasets import STOREFRONT
from tests.helpers.grading import ASKED, GIVEN, RIGHT, many, to_grade


class Slow:
    """A judge that takes a while, longer for the first questions, and keeps who was judged when."""

    name = "slow"
    version = "7"

    def __init__(self, refuse_at: int = 10**9) -> None:
        self.inside: list[str] = []
        self.most = 0
        self.asked = 0
        self.ended: list[str] = []
        self.refuse_at = refuse_at

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return the grade of a right answer."""
        answer = next(text for name, text in prompt.parts if name == "answer")
        assert answer not in self.inside, "two graders of one answer at a time"
        self.asked += 1
        if self.asked == self.refuse_at:
            raise InputError("no judge any more")
        self.inside.append(answer)
        self.most = max(self.most, len(self.inside))
        await asyncio.sleep(0.02 if "q0 " in answer or "q1 " in answer else 0.005)
        self.inside.remove(answer)
        self.ended.append(answer)
        return Opinion(RIGHT if "grade" in schema["properties"] else "no")


def read(run: Path) -> RunToGrade:
    """Return a run read for grading."""
    return RunToGrade.read(run, Dataset.of_run(run), Problems())


def test_order_and_how_many_at_once(tmp_path: Path) -> None:
    """Three answers are judged at a time, each by one grader after the other; the result has the questions' order."""
    reported: Counter[str] = Counter()
    judge = Slow()

    def progress(kind: str, count: int) -> None:
        reported[kind] += count

    job = GradingJob(judge, graders_named(["rubric", "scale"]), concurrency=3, progress=progress)
    graded = asyncio.run(job.grade(read(many(tmp_path, 8))))
    assert judge.most == 3
    names = [f"q{number}" for number in range(8)]
    assert [score.question for score in graded.scores] == [name for name in names for _ in range(2)]
    assert [verdict.question for verdict in graded.verdicts] == [name for name in names for _ in range(2)]
    assert reported == {"answers": 8, "verdicts": 16}
    # q0 and q1 take four times as long as the others.
    assert "q0 " not in judge.ended[0]
    # By the rubric each is right, by the scale none could be had: it was asked for twice.
    assert (len(graded.failed), judge.asked) == (8, 24)
    assert {score.version for score in graded.scores if score.measure == "RubricGrade"} == {
        f"7 prompt {graded.verdicts[0].prompt_hash[:8]}"
    }


def test_what_can_not_go_on_ends_all(tmp_path: Path) -> None:
    """An error that no other answer can escape ends the grading: nobody is asked after it."""
    judge = Slow(refuse_at=5)

    async def work() -> int:
        with pytest.raises(InputError, match="no judge any more"):
            await GradingJob(judge, graders_named(["rubric"]), concurrency=3).grade(run)
        asked = judge.asked
        await asyncio.sleep(0.1)
        return asked

    run = read(many(tmp_path, 30))
    assert asyncio.run(work()) == judge.asked <= 7


def test_as_a_function(tmp_path: Path) -> None:
    """It accepts a judge or its name, also within a running event loop, and writes files only on request."""
    run = to_grade(tmp_path)
    options = GradingOptions(["rubric"])

    async def notebook() -> Graded:
        return grade(run, judge=Slow(), options=options)

    graded = asyncio.run(notebook())
    assert (graded.run, graded.judge, len(graded.verdicts)) == ("r", "slow", 2)
    assert graded.summaries()["RubricGrade"].mean == 1.0
    assert not run.with_name("r.grades").exists()
    grade(run, options=options, keep=True)
    assert run.with_name("r.grades").is_dir()
    with pytest.raises(InputError, match="batches ask a model"):
        grade(run, judge=Slow(), batch=True)
    with pytest.raises(InputError, match="no grader is named"):
        grade(run, options=GradingOptions([]))


class Paid(LexicalJudge):
    """The lexical judge as if each of its opinions were paid."""

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return its opinion, for 0.5 and 100 tokens."""
        said = await super().judge(prompt, schema)
        return dataclasses.replace(said, cost=0.5, usage=Usage(100, 10))


def test_costs_stand_once() -> None:
    """Whatever the grader, the costs beside the scores add up to what the verdicts cost."""
    run = read(STOREFRONT / "runs" / "storefront-graph-v2.jsonl")
    for grader in GRADERS.values():
        graded = asyncio.run(GradingJob(Paid(), [grader]).grade(run))
        assert math.fsum(score.cost or 0 for score in graded.scores) == 0.5 * len(graded.verdicts), grader.name
        assert len(graded.scores) == len(run.questions) * len(grader.measures), grader.name


def test_saving() -> None:
    """Each verdict on claims saves three calls with a prompt of its length; a failure saves nothing."""
    run = read(STOREFRONT / "runs" / "storefront-graph-v2.jsonl")
    graded = asyncio.run(GradingJob(Paid(), graders_named(["claims", "rubric"])).grade(run))
    claims = sum(verdict.grader == "claims" for verdict in graded.verdicts)
    assert claims > 0
    assert (graded.saving.calls, graded.saving.prompt_tokens) == (3 * claims, 300 * claims)
    failed = [verdict.model_copy(update={"failure": "refused"}) for verdict in graded.verdicts]
    assert dataclasses.replace(graded, verdicts=tuple(failed)).saving.calls == 0


def test_lacking(tmp_path: Path) -> None:
    """The reason why there is nothing to judge names a failed and a missing record."""
    run = read(to_grade(tmp_path, GIVEN, ASKED))
    assert [run.lacking(name) for name in run.questions] == [
        None,
        None,
        "failed: timed out",
        "the run has no record for this question",
    ]


def test_what_tests_say_no_judge_says(tmp_path: Path) -> None:
    """No judge gives FactualCorrectness to a question with tests, whatever its answer, but all other measures.

    q1 is judged, q2 has no required facts, q3 failed and q4 has no record: with tests or without, each has its three
    scores of the aggregation. Without tests each has a fourth one, with a value or the reason why it has none.
    """
    facts = {"facts": ["Orders calls Billing"]}
    tests = {"entry_point": "add", "test_cases": [{"name": "adds", "inputs": [1, 2], "expected": 3}]}
    asked = [{**one, **(facts if one["id"] != "q2" else {})} for one in ASKED]
    tested = [{**one, **(tests if one["id"] != "q4" else {})} for one in asked]
    others = ["AggregationCompleteness", "AggregationAccuracy", "AggregationScore"]
    for folder, questions, expected in (("without", asked, 4), ("with", tested, 1)):
        run = to_grade(tmp_path / folder, questions=questions)
        graded = grade(run, options=GradingOptions(["aggregation"]))
        measures = {name: [one.measure for one in graded.scores if one.question == name] for name in ("q1", "q2", "q3")}
        assert measures == {name: [*others, *(["FactualCorrectness"] * (expected == 4))] for name in measures}
        correct = graded.summaries()["FactualCorrectness"]
        assert (correct.scored, correct.total) == (expected == 4, expected)
        result = evaluate(run, measures=["EdgeRecall"], scores=graded.scores)
        given = {row.question: row.values[-1] for row in result.rows}
        assert list(result.measures)[-1] == "FactualCorrectness"
        assert given["q1"] == (NOT_GIVEN if expected == 1 else 1.0)


class Unreadable(Slow):
    """A judge that says nothing that can be used."""

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        """Return no JSON."""
        return Opinion("no")


def test_a_failed_verdict_says_nothing_of_tests(tmp_path: Path) -> None:
    """If the verdict can't be used, the score that tests give isn't reported as failed either."""
    tests = {"test_cases": [{"name": "adds", "assertion": "1"}], "facts": ["Orders calls Billing"]}
    run = to_grade(tmp_path, GIVEN[:1], [{**ASKED[0], **tests}])
    graded = grade(run, judge=Unreadable(), options=GradingOptions(["aggregation"]))
    assert [verdict.failure for verdict in graded.verdicts] == ["unreadable"]
    assert len(graded.scores) == 3
    assert "FactualCorrectness" not in {score.measure for score in graded.scores}
