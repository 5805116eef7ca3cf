"""``graphkit judge consistency``, ``bias`` and ``drift`` where they have the judge grade again."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.api import Api, Reply, message, served
from tests.helpers.cli import inside
from tests.helpers.grading import RIGHT, WRONG, asks, judging, shown, to_grade


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two answers that nobody has graded."""
    return to_grade(tmp_path)


def graded(run: Path, api: Api, *graders: str) -> None:
    """Have a server's model grade a run, by the rubric unless graders are named."""
    named = [word for grader in graders or ("rubric",) for word in ("-g", grader)]
    options = ["-j", "anthropic", "--model", "claude-haiku-5-5", "--no-store", *named]
    inside("grade", run, *options, cwd=run.parents[2], env=api.env, code=0)


# The lexical judge -------------------------------------------------------------------------------------------------


def test_rules_are_stable(run: Path, tmp_path: Path) -> None:
    """The rule-based judge says the same each time, whatever the order: nothing flips, nothing moves."""
    inside("grade", run, "--no-store", cwd=tmp_path, code=0)
    stable = inside("judge", "consistency", run, "--repeat", 2, "--json", cwd=tmp_path, code=0).objects()
    assert {one["measure"] for one in stable} >= {"RubricGrade", "Groundedness"}
    assert all(one["flips"] == {} for one in stable)
    # Two answers and two questions that nobody judges, graded twice.
    rubric = next(one for one in stable if one["measure"] == "RubricGrade")
    assert (rubric["gradings"], rubric["unscored"], rubric["stable"]["value"]) == (2, 4, 1.0)
    drift = inside("judge", "drift", run, "--json", cwd=tmp_path, code=0).objects()
    assert [one["difference"]["value"] for one in drift if one["measure"] == "RubricGrade"] == [0.0]
    bias = inside("judge", "bias", run, "--json", cwd=tmp_path, code=0).objects()
    assert {one["of"] for one in bias} == {"swapped", "padded"}
    assert "swapped" in inside("judge", "bias", run, cwd=tmp_path, code=0).out


def test_a_rubric_of_ones_own_is_not_asked_again(run: Path, tmp_path: Path) -> None:
    """What no grader of graphkit's gave can't be graded again from here: that is told, with what to do."""
    (tmp_path / "manner").mkdir()
    (tmp_path / "manner" / "prompt.txt").write_text("How is the tone?")
    schema = '{"type": "object", "properties": {"tone": {"type": "number", "minimum": 0, "maximum": 1}}}'
    (tmp_path / "manner" / "schema.json").write_text(schema)
    (tmp_path / "mine_asked_again.py").write_text("def judge(prompt, schema):\n    return {'tone': 0.5}\n")
    inside("grade", run, "-j", "mine_asked_again:judge", "--rubric", "manner", "--no-store", cwd=tmp_path, code=0)
    done = inside("judge", "consistency", run, cwd=tmp_path, code=2)
    assert "gave no measure of graphkit's graders" in done.err
    assert "--graded" in done.err


# A model -----------------------------------------------------------------------------------------------------------


def test_a_model_that_flips(run: Path, tmp_path: Path) -> None:
    """A model that changes its mind on q2 each time flips there: each grading asks anew, by the model that graded.

    The grades of q2 are right, wrong, right; q1 stays. One of two answers is stable.
    """
    turns = itertools.cycle([RIGHT, WRONG])
    with served(judging({})) as api:
        graded(run, api)

    def script(api: Api, body: dict[str, Any]) -> Reply:
        return message(next(turns) if "users" in shown(body) else RIGHT)

    with served(script) as api:
        found = inside("judge", "consistency", run, "--json", cwd=tmp_path, env=api.env, code=0).object()
        assert len(asks(api)) == 3 * 2
        assert {one["model"] for one in asks(api)} == {"claude-haiku-5-5"}
    assert (found["measure"], found["gradings"], found["stable"]["value"]) == ("RubricGrade", 3, 0.5)
    assert found["flips"] == {"q2": ["fully_correct", "wrong", "fully_correct"]}


def test_a_model_that_likes_length(run: Path, tmp_path: Path) -> None:
    """A model that grades down whatever isn't padded is moved by length, and by order not.

    Both answers are wrong (0) as they are and right (1) when padded: a difference of 1, and of 0 when swapped.
    """
    with served(judging({"In other words": RIGHT}, WRONG)) as api:
        graded(run, api)
        before = len(asks(api))
        effects = inside("judge", "bias", run, "--json", cwd=tmp_path, env=api.env, code=0).objects()
        sent = asks(api)[before:]
    # The plain grading, the swapped one and the padded one, of two answers each.
    assert len(sent) == 3 * 2
    assert sum("In other words" in shown(one) for one in sent) == 2
    plain, swapped = (next(shown(one) for one in sent[place : place + 2] if "users" in shown(one)) for place in (0, 2))
    order = [text.index("<answer-") < text.index("<context-") for text in (plain, swapped)]
    assert order == [True, False]
    assert {one["of"]: one["difference"]["value"] for one in effects} == {"swapped": 0.0, "padded": 1.0}


def test_a_model_that_drifts(run: Path, tmp_path: Path) -> None:
    """Graded right once and wrong today: the measure has moved by -1; --model names another one to ask."""
    with served(judging({})) as api:
        graded(run, api)
    with served(judging({}, WRONG)) as api:
        drift = inside("judge", "drift", run, "--json", cwd=tmp_path, env=api.env, code=0).object()
        assert drift["difference"]["value"] == -1.0
        inside("judge", "drift", run, "--model", "another", cwd=tmp_path, env=api.env, code=0)
        assert {one["model"] for one in asks(api)} == {"claude-haiku-5-5", "another"}


def test_only_what_was_asked_is_asked_again(run: Path, tmp_path: Path) -> None:
    """Claims and relevance stand for ``graded`` beside claims: both are asked again, and nothing else."""
    with served(judging({}, "no")) as api:
        options = ["-j", "anthropic", "-g", "claims", "-g", "graded", "--no-store"]
        inside("grade", run, *options, cwd=tmp_path, env=api.env, code=2)
        before = len(asks(api))
        inside("judge", "drift", run, cwd=tmp_path, env=api.env, code=0)
        assert len(asks(api)) == 2 * before


def test_no_key(run: Path, tmp_path: Path) -> None:
    """Asking a model again needs a key; comparing what is there doesn't."""
    with served(judging({})) as api:
        graded(run, api)
    done = inside("judge", "consistency", run, cwd=tmp_path, code=2)
    assert "Set ANTHROPIC_API_KEY" in done.err
    scores = run.with_name("r.grades") / "anthropic.scores.jsonl"
    inside("judge", "consistency", run, "--graded", scores, cwd=tmp_path, code=0)
