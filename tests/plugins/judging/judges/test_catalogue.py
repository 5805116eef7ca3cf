"""The graders: the form of each verdict, and what it is worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from graphkit.errors import InputError
from graphkit.measures.owners import NEITHER
from graphkit.measures.registry import parse_measure
from graphkit.plugins.judging.judges import prompts
from graphkit.plugins.judging.judges.catalogue import GRADERS, graders_named, known_graders
from graphkit.plugins.judging.judges.contract import UnusableVerdictError
from graphkit.plugins.judging.judges.forms import NO_GOLD_ANSWER
from graphkit.plugins.judging.judges.key_terms import BY_KEY_TERMS
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.pairwise import PAIR_GRADERS
from graphkit.plugins.judging.judges.prompts import CRITERIA, HOPS, PARTS, RUBRIC_PART, WALK, prompt_names, text_of
from graphkit.plugins.judging.judges.verdict_request import prompt_of, schema_of
from tests.helpers.judging import judged, materials, read, reasons, values

GOLD = materials("It calls.", gold_answer="yes")
BARE = materials("It calls.")


@pytest.mark.parametrize("name", GRADERS)
def test_every_grader(name: str) -> None:
    """Each has a prompt of its own, and scores measures that are declared.

    It shows a beginning of the parts, so that graders of an answer share them; one without gold shows what it needs.
    """
    grader = GRADERS[name]
    assert grader.name == name
    assert len(text_of(name)) > 100
    if "answer" in grader.shows:
        shared = tuple(part for part in grader.shows if part not in (CRITERIA, RUBRIC_PART))
        assert grader.shows[: len(shared)] == shared == PARTS[: len(shared)]
    else:
        assert "gold_answer" not in grader.shows
        assert tuple(part for part in (*PARTS, WALK, HOPS) if part in grader.shows) == grader.shows
    if grader.instruction is None:  # the measures of a prompt with a schema need no declaration
        assert all(not parse_measure(measure).computed for measure in grader.measures)
    schema = schema_of(grader)
    assert schema["additionalProperties"] is False
    assert sorted(schema["required"]) == sorted(schema["properties"])


def test_prompts() -> None:
    """Each prompt has a grader but those that begin others; one that isn't there is refused with a hint."""
    assert set(prompt_names()) == {*GRADERS, *PAIR_GRADERS, "system", "pairwise_system"}
    assert {one.system for one in (*GRADERS.values(), *PAIR_GRADERS.values())} == {"system", "pairwise_system"}
    with pytest.raises(InputError, match="Did you mean rubric"):
        text_of("rubrik")
    with pytest.raises(InputError, match="no prompt"):
        text_of("../system")


def test_a_prompt_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt file that begins with a JSON Schema is a grader: nothing else has to be written."""
    monkeypatch.setattr(prompts, "_FOLDER", tmp_path)
    (tmp_path / "system.txt").write_text("You judge.")
    schema = '{"type": "object", "properties": {"reason": {"type": "string"}, "calm": {"type": "boolean"}}}'
    (tmp_path / "tone.txt").write_text(f"{schema}\n---\nIs the tone calm?\n")
    tone = known_graders()["tone"]
    assert (tone.measures, text_of("tone")) == (("tone",), "Is the tone calm?")
    assert prompt_of(tone, GOLD).text.endswith("Is the tone calm?")
    done = judged(tone, GOLD, {"reason": "r", "calm": True})
    assert [(one.measure, one.value, one.explanation) for one in done.findings] == [("tone", 1.0, "r")]


def test_digest_of_a_prompt() -> None:
    """It tells our words apart, not the text under judgement."""
    rubric = prompt_of(GRADERS["rubric"], GOLD)
    assert rubric.digest == prompt_of(GRADERS["rubric"], BARE).digest
    assert len({prompt_of(grader, GOLD).digest for grader in GRADERS.values()}) == len(GRADERS)
    assert rubric.text.startswith(text_of("system"))
    assert rubric.text.endswith(text_of("rubric"))


def test_parts_that_are_absent() -> None:
    """Without gold answer, facts and conflicts there are no such parts; context and edges are there, and empty."""
    assert [name for name, _ in prompt_of(GRADERS["claims"], BARE).parts] == ["question", "answer", "context", "edges"]
    assert [name for name, _ in prompt_of(GRADERS["scale"], GOLD).parts] == ["question", "gold_answer", "answer"]


def test_graders_by_name() -> None:
    """Each once, in order; beside the claims only the relevance is asked for; a name that isn't there is refused."""

    def names(*wanted: str) -> list[str]:
        return [one.name for one in graders_named(wanted)]

    assert names("scale", "rubric", "rubric") == ["rubric", "scale"]
    assert names("graded") == ["graded"]
    assert names("graded", "claims") == ["claims", "relevance"]
    assert names("graded", "relevance") == ["graded"]
    with pytest.raises(InputError, match="Did you mean rubric"):
        graders_named(["rubrics"])


def rubric(grade: str, failure: str | None = None, confidence: Any = 0.8) -> dict[str, Any]:
    """Return a verdict of the rubric."""
    return {"reasoning": "r", "grade": grade, "failure": failure, "confidence": confidence}


@pytest.mark.parametrize(
    ("grade", "failure", "value", "label", "notes"),
    [
        ("fully_correct", None, 1.0, None, 0),
        ("fully_correct", "hallucination", 1.0, None, 1),
        ("partially_correct", "missing_evidence", 0.5, "missing_evidence", 0),
        ("unsupported", "hallucination", 0.0, "hallucination", 0),
        ("wrong", "wrong_chunk", 0.0, "wrong_chunk", 0),
        ("wrong", "bad mood", 0.0, "grading_error", 1),
        ("wrong", None, 0.0, "grading_error", 1),
    ],
)
def test_rubric(grade: str, failure: str | None, value: float, label: str | None, notes: int) -> None:
    """Four grades with their values; a label outside the set becomes a grading error."""
    found = read(GRADERS["rubric"], GOLD, rubric(grade, failure))
    [one] = found.findings
    assert (one.measure, one.value, one.grade, one.label, one.confidence) == ("RubricGrade", value, grade, label, 0.8)
    assert (one.explanation, len(found.notes)) == ("r", notes)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rubric", rubric("good")),
        ("rubric", rubric("wrong", confidence=1.1)),
        ("rubric", rubric("wrong", confidence="0.5")),
        ("rubric", {**rubric("wrong"), "more": 1}),
        ("rubric", {"grade": "wrong"}),
        ("scale", {"reasoning": "r", "score": 11}),
        ("scale", {"reasoning": "r", "score": -1}),
        ("scale", {"reasoning": "r", "score": 7.5}),
        ("scale", {"reasoning": "r", "score": "7"}),
        ("scale", {"reasoning": "r", "score": True}),
        ("relevance", {"answer_relevance": {"reason": "r", "score": 1.01}}),
        ("completeness", {"facts": [{"fact": "f1", "addressed": 1, "quote": None}]}),
        ("claims", {"claims": []}),
    ],
)
def test_what_does_not_fit_the_form(name: str, said: dict[str, Any]) -> None:
    """Other grades, numbers out of range, of another type, more than was asked for, or less."""
    with pytest.raises(ValidationError):
        GRADERS[name].verdict.model_validate_json(json.dumps(said))


def test_binary() -> None:
    """Each mark is a measure with its reason; without gold there is nothing to compare with, whatever was said."""
    mark = {"reason": "r", "value": 1}
    said = {"correctness": {"reason": "no", "value": 0}, "faithfulness": mark, "relevance": mark, "completeness": mark}
    found = read(GRADERS["binary"], GOLD, said)
    assert values(found.findings) == {"Correct": 0.0, "Faithful": 1.0, "Relevant": 1.0, "Complete": 1.0}
    assert found.findings[0].explanation == "no"
    assert reasons(read(GRADERS["binary"], BARE, said).findings) == {"Correct": NO_GOLD_ANSWER, "Complete": NEITHER}
    with_facts = materials("x.", facts=["y"])
    assert reasons(read(GRADERS["binary"], with_facts, said).findings) == {"Correct": NO_GOLD_ANSWER}
    with pytest.raises(UnusableVerdictError, match="no score for Correct"):
        read(GRADERS["binary"], GOLD, {**said, "correctness": None})


def test_graded() -> None:
    """Four shares; those against the gold answer only where there is one."""
    scores = {"faithfulness": 0.5, "answer_relevance": 1, "context_precision": 0.25, "context_recall": 0}
    said: dict[str, Any] = {name: {"reason": "r", "score": score} for name, score in scores.items()}
    assert values(read(GRADERS["graded"], GOLD, said).findings) == {
        "Faithfulness": 0.5,
        "AnswerRelevance": 1.0,
        "ContextPrecision": 0.25,
        "ContextRecall": 0.0,
    }
    assert reasons(read(GRADERS["graded"], BARE, said).findings) == dict.fromkeys(
        ("ContextPrecision", "ContextRecall"), NO_GOLD_ANSWER
    )
    with pytest.raises(UnusableVerdictError, match="ContextRecall"):
        read(GRADERS["graded"], GOLD, {**said, "context_recall": None})
    one = {"answer_relevance": said["answer_relevance"]}
    assert values(read(GRADERS["relevance"], BARE, one).findings) == {"AnswerRelevance": 1.0}


def test_chunks_left_out() -> None:
    """No grader scores a value that a hidden chunk could have raised; a full value stays."""
    shown = materials("x.", {"api:a.py": "y" * 99}, gold_answer="z", facts=["a_b"], context_tokens=5)
    unseen = "the judge wasn't shown 1 of 1 chunk"
    assert shown.left_out == ("api:a.py",)
    [one] = read(GRADERS["rubric"], shown, rubric("unsupported", "hallucination")).findings
    assert (one.value, one.reason, one.grade) == (None, unseen, "unsupported")
    assert values(read(GRADERS["rubric"], shown, rubric("wrong", "wrong_chunk")).findings) == {"RubricGrade": 0.0}
    no, yes = {"reason": "r", "value": 0}, {"reason": "r", "value": 1}
    marks = {"correctness": no, "faithfulness": no, "relevance": no, "completeness": no}
    assert reasons(read(GRADERS["binary"], shown, marks).findings) == {"Faithful": unseen}
    assert values(read(GRADERS["binary"], shown, {**marks, "faithfulness": yes}).findings)["Faithful"] == 1.0
    keys = ("faithfulness", "answer_relevance", "context_precision", "context_recall")
    scores = {key: {"reason": "r", "score": 0.5} for key in keys}
    assert set(reasons(read(GRADERS["graded"], shown, scores).findings)) == {
        "Faithfulness",
        "ContextPrecision",
        "ContextRecall",
    }
    components = {"components": [component("f1")], "errors": [error("INVENTED_STEP")]}
    assert set(reasons(read(GRADERS["aggregation"], shown, components).findings)) == {
        "AggregationAccuracy",
        "AggregationScore",
        "FactualCorrectness",
    }


def test_scale() -> None:
    """The number as it is."""
    assert values(read(GRADERS["scale"], GOLD, {"reasoning": "r", "score": 7}).findings) == {"ScaleGrade": 7.0}


def test_what_can_not_be_judged() -> None:
    """Without anything to compare with no judge is asked, and each measure says why."""
    for name, reason in {
        "rubric": NEITHER,
        "scale": NO_GOLD_ANSWER,
        "aggregation": "no required facts",
        "completeness": "no required facts",
        "conflicts": "no annotated conflicts",
    }.items():
        done = judged(GRADERS[name], BARE)  # an empty script: asking would fail
        assert done.verdict is None
        assert reasons(done.findings) == dict.fromkeys(GRADERS[name].measures, reason)


FACTS = materials(
    "charge writes it.", facts=[{"text": "charge_card pays", "repo": "orders"}, "the bill_table", "at 19"]
)


def component(key: str, addressed: bool = True, attributed: bool = True) -> dict[str, Any]:
    """Return what a verdict says of a component."""
    said = {"component": key, "reason": "r", "role": addressed}
    return {**said, "addressed": addressed, "attributed": attributed and addressed}


def error(kind: str, key: str | None = None, what: str = "w") -> dict[str, Any]:
    """Return an error."""
    return {"kind": kind, "component": key, "what": what}


@pytest.mark.parametrize(
    ("components", "errors", "completeness", "accuracy"),
    [
        ([component("f1"), component("f2"), component("f3")], [], 1.0, 1.0),
        # One isn't addressed: an omission, listed or not, 1 - 0.15; 2 of 3.
        ([component("f1"), component("f2"), component("f3", False)], [], 2 / 3, 0.85),
        ([component("f1"), component("f2"), component("f3", False)], [error("OMITTED_COMPONENT", "f3")], 2 / 3, 0.85),
        # In the wrong service, listed or not.
        ([component("f1", attributed=False), component("f2"), component("f3")], [], 1.0, 0.85),
        (
            [component("f1", attributed=False), component("f2"), component("f3")],
            [error("MISATTRIBUTION", "f1"), error("INVENTED_STEP", None, "a"), error("INVENTED_STEP", None, "b")],
            1.0,
            0.55,
        ),
        # The same error twice is one.
        ([component("f1"), component("f2"), component("f3")], [error("INCORRECT_ORDER")] * 2, 1.0, 0.85),
        # Seven errors and more leave nothing: 1 - 7 x 0.15 < 0.
        (
            [component("f1"), component("f2"), component("f3")],
            [error("INVENTED_STEP", None, str(n)) for n in range(7)],
            1.0,
            0.0,
        ),
    ],
)
def test_aggregation(components: list[Any], errors: list[Any], completeness: float, accuracy: float) -> None:
    """Completeness, accuracy of 0.15 an error, and their mean; FactualCorrectness is the accuracy."""
    found = read(GRADERS["aggregation"], FACTS, {"components": components, "errors": errors})
    assert values(found.findings) == pytest.approx(
        {
            "AggregationCompleteness": completeness,
            "AggregationAccuracy": accuracy,
            "AggregationScore": (completeness + accuracy) / 2,
            "FactualCorrectness": accuracy,
        }
    )


@pytest.mark.parametrize(
    ("components", "errors", "message"),
    [
        ([component("f1"), component("f2")], [], "f3 is missing"),
        ([component("f1")], [], "f2, f3 are missing"),
        ([component("f1"), component("f2"), component("f3"), component("f3")], [], "f3 is listed twice"),
        ([component("f1"), component("f2"), component("f3"), component("f4")], [], "there is no f4"),
        ([component("f1"), component("f2"), component("f3")], [error("INVENTED_STEP", "f9")], "about f9"),
        ([component("f1"), component("f2"), component("f3")], [error("OMITTED_COMPONENT", "f2")], "both addressed and"),
    ],
)
def test_aggregation_that_can_not_be_used(components: list[Any], errors: list[Any], message: str) -> None:
    """A component that isn't there, is missing, is listed twice, or is said to be there and not there."""
    with pytest.raises(UnusableVerdictError, match=message):
        read(GRADERS["aggregation"], FACTS, {"components": components, "errors": errors})


def parts(whole: str, part: str, verb: str, *said: tuple[str, bool, str | None]) -> dict[str, list[Any]]:
    """Return an opinion on each part of an answer: its key, whether it is there, and the quote that shows it."""
    return {whole: [{part: key, verb: found, "quote": quote} for key, found, quote in said]}


def check_settled(grader: str, shown: Materials) -> None:
    """Check that key terms alone find everything, so that no judge is asked."""
    settled = judged(GRADERS[grader], shown)
    assert settled.verdict is None
    assert [(one.value, one.explanation) for one in settled.findings] == [(1.0, BY_KEY_TERMS)]


def test_completeness_by_a_judge() -> None:
    """Finds of key terms stay; of the rest, quotes from the answer count; if all is found, no judge is asked.

    The answer names charge_card; the bill table it says in other words, and of 19 nothing: 2 of 3.
    """
    shown = materials("charge_card fills the table of bills.", facts=["charge_card pays", "bill_table", "at 19"])
    quotes = (("f1", False, None), ("f2", True, "fills the  table of bills"), ("f3", True, "19 percent"))
    said = parts("facts", "fact", "addressed", *quotes)
    found = read(GRADERS["completeness"], shown, said)
    assert values(found.findings) == {"JudgedCompleteness": pytest.approx(2 / 3)}
    assert found.notes == ("f3: the answer has no words '19 percent'",)
    with pytest.raises(UnusableVerdictError, match="f3 is missing"):
        read(GRADERS["completeness"], shown, {"facts": said["facts"][:2]})
    check_settled("completeness", materials("charge_card.", facts=["charge_card pays"]))


def test_conflicts_by_a_judge() -> None:
    """Conflicts of which nobody says what is right are left out; one counts by its quote, or by key terms.

    k1 by key terms (14), k2 by a quote, k3 without a quote, k4 has no resolution: 2 of 3; with a gold answer k4 is
    judged too: 3 of 4.
    """
    conflicts = [
        {"resolution": "14 days"},
        {"resolution": "main_branch counts"},
        {"resolution": "v2_api is used"},
        {"between": ["a", "b"]},
    ]
    quotes = (("k1", False, None), ("k2", True, "the main branch"), ("k3", True, None), ("k4", True, "14 days"))
    said = parts("conflicts", "conflict", "resolved", *quotes)
    text = "It is 14 days by the main branch."
    shown = materials(text, conflicts=conflicts)
    found = read(GRADERS["conflicts"], shown, said)
    assert values(found.findings) == {"JudgedConflictResolution": pytest.approx(2 / 3)}
    assert found.notes == ("k3: no words of the answer are quoted",)
    with_gold = read(GRADERS["conflicts"], materials(text, conflicts=conflicts, gold_answer="14"), said)
    assert values(with_gold.findings) == {"JudgedConflictResolution": 0.75}
    nobody = judged(GRADERS["conflicts"], materials(text, conflicts=[{"between": ["a", "b"]}]))
    assert reasons(nobody.findings) == {"JudgedConflictResolution": "no annotated conflict says what resolves it"}
    check_settled("conflicts", materials(text, conflicts=["14 days"]))


def test_integration_by_a_judge() -> None:
    """Two chunks of one file are one source; found by its identifier is a.py, by a quote b.py: 2 of 3 expected."""
    chunks = {"api:a.py#load_rows": "def load_rows(): ...", "api:b.py": "# rows are cached", "api:b.py#x": "x = 1"}
    shown = materials("load_rows keeps the rows cached.", chunks, min_sources=3)
    said = parts("chunks", "chunk", "used", ("c1", False, None), ("c2", True, "rows cached"), ("c3", True, "x is 1"))
    found = read(GRADERS["integration"], shown, said)
    assert values(found.findings) == {"JudgedIntegration": pytest.approx(2 / 3)}
    assert found.notes == ("c3: the answer has no words 'x is 1'",)
    with pytest.raises(UnusableVerdictError, match="there is no c4"):
        read(
            GRADERS["integration"], shown, {"chunks": [*said["chunks"], {"chunk": "c4", "used": False, "quote": None}]}
        )
    # One source expected and found by its identifier: settled. Nothing retrieved: 0, and no judge is asked.
    check_settled("integration", materials("load_rows.", chunks, min_sources=1))
    assert values(judged(GRADERS["integration"], materials("x.")).findings) == {"JudgedIntegration": 0.0}
    # Where chunks weren't shown, less than all isn't known to be so; where none was, there is nothing to ask.
    none_shown = judged(GRADERS["integration"], materials("x.", {"api:c.py": "y" * 400}, context_tokens=50))
    assert reasons(none_shown.findings) == {"JudgedIntegration": "the judge wasn't shown 1 of 1 chunk"}
    hidden = materials("load_rows.", {**chunks, "api:c.py": "y" * 400}, min_sources=3, context_tokens=50)
    assert reasons(read(GRADERS["integration"], hidden, said).findings) == {
        "JudgedIntegration": "the judge wasn't shown 1 of 4 chunks"
    }
