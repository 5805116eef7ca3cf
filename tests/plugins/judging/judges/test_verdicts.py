"""Asking a judge: what comes of a verdict that can't be used, and what is kept of it."""

from __future__ import annotations

from typing import Any

import pytest

from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.contract import Opinion
from graphkit.plugins.judging.judges.prompts import TRUNCATED
from graphkit.plugins.judging.judges.verdict_request import ask
from graphkit.plugins.judging.llm.requests import ModelError, Usage
from tests.helpers.judging import Scripted, judged, materials, reasons, values

GOLD = materials("It calls.", {"api:a.py": "x" * 30, "api:b.py": "y" * 30}, gold_answer="yes", context_tokens=12)
SCALE = GRADERS["scale"]
GOOD = {"reasoning": "r", "score": 7}


def opinion(text: str, **more: Any) -> Opinion:
    """Return an opinion of a model."""
    usage = Usage(input_tokens=10, output_tokens=2, cache_read_tokens=5)
    return Opinion(**{"text": text, "model": "m", "stop_reason": "end_turn", "usage": usage, "cost": 0.25, **more})


def test_a_verdict() -> None:
    """One that can be used is kept with what it took, and with what the judge wasn't shown."""
    done = judged(SCALE, GOLD, opinion('{"reasoning": "r", "score": 7}', attempts=2))
    assert values(done.findings) == {"ScaleGrade": 7.0}
    said = done.verdict
    assert said is not None
    assert (said.run, said.question, said.grader, said.judge, said.model) == ("r", "q", "scale", "scripted", "m")
    assert (said.grade, said.label, said.explanation, said.confidence) == (None, None, "r", None)
    assert (said.failure, said.reason, said.verdict, said.stop_reason) == (None, None, GOOD, "end_turn")
    assert (said.attempts, said.prompt_tokens, said.output_tokens, said.cost, said.cached) == (2, 15, 2, 0.25, False)
    assert said.left_out == ("api:b.py",)
    assert len(said.prompt_hash) == 64


@pytest.mark.parametrize(
    ("first", "label", "words"),
    [
        (opinion("no JSON"), "unreadable", "invalid JSON: it doesn't begin with a JSON value"),
        (opinion(""), "unreadable", "invalid JSON: it is empty"),
        (opinion('{"reasoning": "r"}'), "unreadable", "score: Field required"),
        (opinion('{"reasoning": "r", "score": "7"}'), "unreadable", "score: Input should be a valid integer"),
        (opinion('{"reasoning": "r'), "unreadable", "invalid JSON: it ends too early"),
        (opinion("{'score': 7}"), "unreadable", "invalid JSON: a name in double quotes is missing at character 2"),
        (opinion("[" * 100_000), "unreadable", "invalid JSON: it is nested too deeply"),
        (opinion('{"reasoning": "\\ud800", "score": 7}'), "unreadable", "invalid JSON: it holds half a character"),
        (opinion('{"reasoning": "r", "score": 1, "score": 9}'), "unreadable", "the field 'score' stands twice"),
        (opinion('{"reasoning": "r", "score": 11}'), "out_of_range", "score: Input should be less than or equal to 10"),
        (opinion('{"reasoning": "r", "sco', stop_reason="max_tokens"), "truncated", TRUNCATED),
        (opinion('{"reasoning": "r", "score": 7}', stop_reason="max_tokens"), "truncated", TRUNCATED),
        (opinion("", stop_reason="refusal"), "refused", "refused"),
    ],
)
def test_a_verdict_that_can_not_be_used(first: Opinion, label: str, words: str) -> None:
    """It is asked for once more with the reason; then it counts, and what both took is added up.

    The second time again nothing: it is kept as a failure with its label, and gives no value.
    """
    done = judged(SCALE, GOLD, first, opinion('{"reasoning": "r", "score": 7}'))
    assert values(done.findings) == {"ScaleGrade": 7.0}
    assert done.verdict is not None
    assert (done.verdict.failure, done.verdict.attempts, done.verdict.prompt_tokens, done.verdict.cost) == (
        None,
        2,
        30,
        0.5,
    )

    done = judged(SCALE, GOLD, first, first)
    assert done.verdict is not None
    assert (done.verdict.failure, done.verdict.verdict, done.verdict.attempts) == (label, None, 2)
    assert words in str(done.verdict.reason)
    assert reasons(done.findings) == {"ScaleGrade": f"{label}: {done.verdict.reason}"}


async def _asked(*script: Any) -> list[Any]:
    judge = Scripted(*script)
    await ask(SCALE, GOLD, judge)
    return judge.asked


def test_what_is_asked_again() -> None:
    """The same prompt, with the earlier opinion and why it can't be used."""
    import asyncio

    first, second = asyncio.run(_asked("no JSON", GOOD))
    assert first.unusable == ()
    [(text, reason)] = second.unusable
    assert text == "no JSON"
    assert "invalid JSON" in reason
    assert (second.parts, second.instruction, second.digest) == (first.parts, first.instruction, first.digest)


def test_verdicts_on_what_is_not_there() -> None:
    """One that fits its form and speaks of what isn't there is out of range."""
    shown = materials("x.", facts=["at 19"])
    wrong = {"facts": [{"fact": "f2", "addressed": False, "quote": None}]}
    done = judged(GRADERS["completeness"], shown, wrong, wrong)
    assert done.verdict is not None
    assert done.verdict.failure == "out_of_range"
    assert "there is no f2" in str(done.verdict.reason)


@pytest.mark.parametrize("label", ["no_reply", "over_budget"])
def test_no_reply(label: str) -> None:
    """A judge that gives none isn't asked again; the failure is kept with its label and the attempts."""
    done = judged(SCALE, GOLD, ModelError("529 overloaded", label, attempts=4))
    assert done.verdict is not None
    assert (done.verdict.failure, done.verdict.reason, done.verdict.attempts) == (label, "529 overloaded", 4)
    assert reasons(done.findings) == {"ScaleGrade": f"{label}: 529 overloaded"}
    assert done.verdict.cost is None
    # A request that wasn't sent cost nothing.
    unsent = judged(SCALE, GOLD, ModelError("not sent", label, attempts=0)).verdict
    assert unsent is not None
    assert (unsent.attempts, unsent.cost) == (0, 0.0)
    # After a first opinion that couldn't be used, that one's cost stays.
    done = judged(SCALE, GOLD, opinion("no JSON"), ModelError("529", label, attempts=3))
    assert done.verdict is not None
    assert (done.verdict.failure, done.verdict.attempts, done.verdict.cost) == (label, 4, 0.25)


def test_what_it_took() -> None:
    """A cost that isn't known of one try isn't known of both; cached is what cost nothing in any of them."""
    done = judged(SCALE, GOLD, opinion("no JSON", cost=None), opinion('{"reasoning": "r", "score": 7}', cached=True))
    assert done.verdict is not None
    assert (done.verdict.cost, done.verdict.cached) == (None, False)
    done = judged(SCALE, GOLD, GOOD)
    assert done.verdict is not None
    assert (done.verdict.prompt_tokens, done.verdict.output_tokens, done.verdict.cost) == (None, None, None)


def test_what_a_verdict_comes_to() -> None:
    """A verdict that says one thing of the whole answer says it in the record, too; one of several things doesn't."""
    graded = {"reasoning": "r", "grade": "wrong", "failure": "wrong_chunk", "confidence": 0.75}
    said = judged(GRADERS["rubric"], GOLD, graded).verdict
    assert said is not None
    assert (said.grade, said.label, said.explanation, said.confidence) == ("wrong", "wrong_chunk", "r", 0.75)
    mark = {"reason": "r", "value": 1}
    four = dict.fromkeys(("correctness", "faithfulness", "relevance", "completeness"), mark)
    said = judged(GRADERS["binary"], GOLD, four).verdict
    assert said is not None
    assert (said.grade, said.explanation) == (None, None)


def test_fenced_json() -> None:
    """A verdict between fences is read; one with words around it isn't."""
    assert values(judged(SCALE, GOLD, '```json\n{"reasoning": "r", "score": 7}\n```').findings) == {"ScaleGrade": 7.0}
    wordy = 'Here: {"reasoning": "r", "score": 7}'
    assert reasons(judged(SCALE, GOLD, wordy, wordy).findings)
