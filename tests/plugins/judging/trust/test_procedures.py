"""Consistency, bias, drift and families: each over scores worked out by hand, and by a judge that grades anew."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphkit.files.run_files import answering_model
from graphkit.plugins.judging.judges.contract import Opinion
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import Prompt
from graphkit.plugins.judging.model_families import family_of, self_evaluation, self_evaluations
from graphkit.plugins.judging.trust.bias import Swapped, bias, padded, swapped
from graphkit.plugins.judging.trust.consistency import compare_repeats, consistency
from graphkit.plugins.judging.trust.effects import between_judges, drift, effects
from graphkit.plugins.judging.trust.rejudge_contract import Variant
from graphkit.records.scores import Score
from tests.helpers.judged import graded, values

QUESTIONS = [f"q{number}" for number in range(12)]


class Grader:
    """Grades anew: what it gives depends on the variant and on how often it was asked."""

    def __init__(self, **given: Sequence[Mapping[str, float | None]]) -> None:
        self.given = {variant: itertools.cycle(some) for variant, some in given.items()}
        self.asked: list[tuple[str, Sequence[str] | None]] = []

    async def __call__(self, questions: Sequence[str] | None, *, variant: Variant) -> Sequence[Score]:
        self.asked.append((variant, questions))
        numbers = next(self.given[variant])
        return values("Correct", {q: numbers[q] for q in questions or numbers})


# Consistency -------------------------------------------------------------------------------------------------------


def test_stable_and_flipping_grades() -> None:
    """One of four answers flips; one was graded only once, and counts as unscored."""
    gradings = [
        values("Correct", {"a": 1.0, "b": 0.0, "c": 1.0, "d": 1.0}),
        values("Correct", {"a": 1.0, "b": 0.0, "c": 0.0, "d": None}),
        values("Correct", {"a": 1.0, "b": 0.0, "c": 1.0, "d": None}),
    ]
    [found] = compare_repeats(gradings)
    assert found.stable.value == pytest.approx(2 / 3)  # a and b of a, b, c
    assert found.flips == (("c", ("1", "0", "1")),)
    assert (found.gradings, found.unscored) == (3, 2)
    # Of 9 grades 5 are 1, 4 are 0: expected 2 x 5 x 4 / (9 x 8) = 5/9; observed: c differs in 4 of its 6 ordered
    # pairs, each over 2, of 9: 2/9. alpha = 1 - (2/9) / (5/9).
    assert found.alpha.value == pytest.approx(1 - 2 / 5)


def test_the_widest_flip_comes_first() -> None:
    """A grade that goes from wrong to right is reported before one that moves a step."""
    [found] = compare_repeats([graded(), graded({"sf-02": "partially_correct", "sf-09": "wrong"})])
    assert [question for question, _ in found.flips] == ["sf-09", "sf-02"]
    assert found.stable.value == pytest.approx(37 / 39)


def test_consistency_asks_again() -> None:
    """The same grading is asked for as often as was said, and a judge that never changes is wholly stable."""
    same = dict(zip(QUESTIONS, itertools.cycle([1.0, 0.0]), strict=False))
    judge = Grader(same=[same])
    [found] = asyncio.run(consistency(judge, 4))
    assert judge.asked == [("same", None)] * 4
    assert (found.stable.value, found.alpha.value, found.flips) == (1.0, 1.0, ())
    assert found.stable.low is not None
    assert found.stable.low < 0.8  # twelve answers are no certainty


# Bias and drift ----------------------------------------------------------------------------------------------------


def test_bias_of_each_variant() -> None:
    """A judge that padding moves up on most answers, and order on none."""
    plain: dict[str, float | None] = {q: number / 20 for number, q in enumerate(QUESTIONS)}
    longer: dict[str, float | None] = {q: (number + 2 + number % 2) / 20 for number, q in enumerate(QUESTIONS)}
    judge = Grader(same=[plain], swapped=[plain], padded=[longer])
    order, length = asyncio.run(bias(judge))
    assert [variant for variant, _ in judge.asked] == ["same", "swapped", "padded"]
    assert (order.of, order.difference.value, order.shows) == ("swapped", 0.0, False)
    # Of twelve answers a share of 1 - .025^(1/12) = .2646 may move, by 1 at most.
    assert (order.difference.low, order.difference.high) == pytest.approx((-0.2646, 0.2646), abs=1e-4)
    assert order.difference.reason == "all differences are equal, so nothing shows how far others may lie"
    # Twelve answers, +2/20 and +3/20 in turn: 2.5/20.
    assert length.difference.value == pytest.approx(0.125)
    assert length.shows
    assert length.difference.reason == "the interval may be too narrow: 12 questions, fewer than 20"
    assert length.changed.value == 1.0
    given = values("Correct", plain)
    assert asyncio.run(bias(judge, ["padded"], plain=given))[0].difference.value == pytest.approx(0.125)


def test_what_only_one_grading_scored_is_reported() -> None:
    """Pairs need both values; the others are counted."""
    [found] = effects("x", values("Correct", {"a": 1.0, "b": 0.0, "c": None}), values("Correct", {"a": 0.0, "c": 1.0}))
    assert (found.first, found.second, found.unpaired) == (1.0, 0.0, 2)
    assert found.difference.low is None
    assert found.difference.reason
    [nothing] = effects("x", values("Correct", {"a": None}), values("Correct", {"a": 1.0}))
    assert (nothing.first, nothing.difference.value) == (None, None)


def test_drift_asks_for_what_is_recorded() -> None:
    """The recorded questions are judged anew, and the change is reported with its versions."""
    recorded = values("Correct", dict.fromkeys(QUESTIONS[:6], 1.0), version="old")
    judge = Grader(same=[dict(zip(QUESTIONS, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0], strict=False))])
    [found] = asyncio.run(drift(recorded, judge))
    assert judge.asked == [("same", QUESTIONS[:6])]
    assert found.difference.value == pytest.approx(-2 / 6)
    assert found.changed.value == pytest.approx(2 / 6)
    assert found.versions == ("lexical old", "lexical 1")


class Recorder:
    """A judge that keeps what it was shown."""

    name = "recorder"
    version = "7"

    def __init__(self) -> None:
        self.shown: list[Prompt] = []

    async def judge(self, prompt: Prompt, schema: Mapping[str, Any]) -> Opinion:
        self.shown.append(prompt)
        return Opinion("{}")


def test_swapped_order() -> None:
    """The question stays first, all that is compared comes in the opposite order, and the judge is the same by name."""
    parts = tuple((name, name.upper()) for name in ("question", "gold_answer", "answer", "context"))
    prompt = Prompt("rubric", "0", "system", parts, "grade it", Materials("r", "q", "?", "!"))
    inner = Recorder()
    judge = Swapped(inner)
    asyncio.run(judge.judge(prompt, {}))
    assert [name for name, _ in inner.shown[0].parts] == ["question", "context", "answer", "gold_answer"]
    assert dict(inner.shown[0].parts) == dict(parts)
    assert (judge.name, judge.version) == ("recorder", "7")
    assert swapped(swapped(prompt)) == prompt


def test_padding_adds_no_word_of_content() -> None:
    """A padded answer is the answer twice; an empty one stays empty."""
    text = "`a` calls `b` [1]. So c."
    assert set(padded(text).split()) - set(text.split()) == {"In", "other", "words:"}
    assert padded(text).count(text) == 2
    assert padded(" ") == " "


# Families ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-haiku-4-5-20251001", "Claude"),
        ("eu.anthropic.claude-sonnet-4-5-v1:0", "Claude"),
        ("gpt-5-mini", "GPT"),
        ("azure/gpt4o", "GPT"),
        ("o3-mini", "GPT"),
        ("models/gemini-2.5-pro", "Gemini"),
        ("meta-llama/Llama-3.3-70B", "Llama"),
        ("mistral-large", "Mistral"),
        ("Qwen/Qwen2.5-72B", "Qwen"),
        ("deepseek-r1", "DeepSeek"),
        ("lexical", None),
        ("commander", None),
        ("philosophy", None),
        ("", None),
    ],
)
def test_families(model: str, family: str | None) -> None:
    """A word of the model's name shows its family, whoever serves it; a word that only begins alike doesn't."""
    assert family_of(model) == family


def test_self_evaluation_is_warned_of(tmp_path: Path) -> None:
    """One family is a warning; two, or one that isn't known, are none."""
    warning = self_evaluation("claude-opus-4-5", "claude-haiku-4-5")
    assert warning is not None
    assert "one family (Claude: claude-opus-4-5 judges claude-haiku-4-5)" in warning
    assert self_evaluation("claude-opus-4-5", "gpt-5") is None
    assert self_evaluation("lexical", "bm25") is None
    # The remedy is a command that a reader can type.
    assert "`graphkit judge bias RUN.jsonl --against FILE`" in warning
    # Version and name of one judge are one warning; another family is another.
    both = self_evaluations(["claude-opus-4-5", "anthropic/claude", "gpt-5", "lexical"], ["claude-haiku-4-5", "o3"])
    assert [text.partition("(")[2].partition(":")[0] for text in both] == ["Claude", "GPT"]
    run = tmp_path / "r.jsonl"
    assert answering_model(run) is None
    run.with_suffix(".made-by").write_text("baseline with claude-haiku-4-5\n")
    assert family_of(answering_model(run)) == "Claude"
    assert answering_model(run, "gpt-5") == "gpt-5"
    # A run that was compressed afterwards was still made by the same.
    assert answering_model(tmp_path / "r.jsonl.gz") == answering_model(run)


def test_two_judges_on_the_same_answers() -> None:
    """The difference between two judges is paired by question and named by both."""
    one = values("Correct", {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0})
    two = values("Correct", {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0}, judge="other")
    [found] = between_judges(one, two)
    assert (found.of, found.difference.value) == ("lexical against other", -0.5)
