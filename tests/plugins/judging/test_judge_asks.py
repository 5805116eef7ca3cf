"""``graphkit judge consistency``, ``bias`` and ``drift`` where they have the judge grade again."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.api import Api, Reply, message, served
from tests.helpers.cli import inside
from tests.helpers.grading import RIGHT, WRONG, asks, judging, shown, to_grade, verdict_on


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
    """Grades that no grader of graphkit gave can't be graded again: the message gives the remedy."""
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
        inside("judge", "drift", run, cwd=tmp_path, env=api.env, code=2)
        assert len(asks(api)) == 2 * before


@pytest.mark.parametrize("command", ["consistency", "bias", "drift"])
def test_a_judge_that_gives_no_verdict_any_more(command: str, run: Path, tmp_path: Path) -> None:
    """The command says why, as a grading does, and fails: its figures are of nothing."""
    with served(judging({})) as api:
        graded(run, api)
    with served(judging({}, "no")) as api:
        done = inside("judge", command, run, cwd=tmp_path, env=api.env, code=2)
    assert "no verdict on q1 by rubric: unreadable" in done.err
    assert "every verdict failed" in done.err


def test_no_key(run: Path, tmp_path: Path) -> None:
    """Asking a model again needs a key; comparing what is there doesn't."""
    with served(judging({})) as api:
        graded(run, api)
    done = inside("judge", "consistency", run, cwd=tmp_path, code=2)
    assert "Set ANTHROPIC_API_KEY" in done.err
    scores = run.with_name("r.grades") / "anthropic.claude-haiku-5-5.scores.jsonl"
    inside("judge", "consistency", run, "--graded", scores, cwd=tmp_path, code=0)


# As the grading did ------------------------------------------------------------------------------------------------


def test_the_settings_of_the_grading_are_asked_with_again(run: Path, tmp_path: Path) -> None:
    """Effort, context and citations are those of the grading, each command alike; options name others.

    The one chunk of each answer has more than 3 x 5 characters, so a context of 5 tokens shows none.
    """
    pattern = r"\((?P<target>[^()]+)\)"
    options = ["--effort", "low", "--context-tokens", 5, "--citations", pattern]
    with served(lambda _, body: message(verdict_on(body))) as api:
        known = ["-j", "anthropic", "--model", "claude-haiku-5-5", "-g", "claims", "--no-store"]
        inside("grade", run, *known, *options, cwd=tmp_path, env=api.env, code=0)
        [before] = {json.dumps(one["output_config"]) for one in asks(api)}
        for command in ("consistency", "bias", "drift"):
            inside("judge", command, run, cwd=tmp_path, env=api.env, code=0)
        assert {json.dumps(one["output_config"]) for one in asks(api)} == {before}
        assert json.loads(before)["effort"] == "low"
        assert not any("def pay()" in shown(one) for one in asks(api))
        drift = inside("judge", "drift", run, "--json", cwd=tmp_path, env=api.env, code=0).objects()
        assert all(first == second and f"citations={json.dumps(pattern)}" in first for first, second in versions(drift))
        other = ("--effort", "high", "--context-tokens", 500, "--citations", r"<(?P<target>\w+)>", "--json")
        drift = inside("judge", "drift", run, *other, cwd=tmp_path, env=api.env, code=0).objects()
        assert {second.partition(" effort=")[2] for _, second in versions(drift)} == {
            r'high context-tokens=500 citations="<(?P<target>\\w+)>"'
        }
        assert any("def pay()" in shown(one) for one in asks(api))


def versions(effects: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return who gave the two gradings of each effect."""
    return [(str(one["versions"][0]), str(one["versions"][1])) for one in effects]


def test_measures_of_other_settings_are_each_asked_with_their_own(run: Path, tmp_path: Path) -> None:
    """The rubric was asked with low effort and the scale with high: both are asked so again."""
    scale = json.dumps({"reasoning": "So.", "score": 7})
    with served(lambda _, body: message(scale if "score" in forms(body) else RIGHT)) as api:
        known = ["-j", "anthropic", "--model", "claude-haiku-5-5", "--no-store"]
        for grader, effort in (("rubric", "low"), ("scale", "high")):
            inside("grade", run, *known, "-g", grader, "--effort", effort, cwd=tmp_path, env=api.env, code=0)
        before = len(asks(api))
        inside("judge", "drift", run, cwd=tmp_path, env=api.env, code=0)
        again = {("score" in forms(one), one["output_config"]["effort"]) for one in asks(api)[before:]}
    assert again == {(False, "low"), (True, "high")}


def forms(body: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of the verdict that a request asks for."""
    found: dict[str, Any] = body["output_config"]["format"]["schema"]["properties"]
    return found


@pytest.mark.parametrize(("command", "unpaid"), [("consistency", 4), ("bias", 4), ("drift", 0)])
def test_all_gradings_of_a_command_share_one_limit(command: str, unpaid: int, run: Path, tmp_path: Path) -> None:
    """Two verdicts are paid for, and those of the other gradings aren't asked for: the command ends with 1.

    A verdict costs 100 x 10 / 1e6 + 4000 x 100 / 1e6 = 0.401 and can cost 4096 x 100 / 1e6 = 0.41 and its prompt. Of 1,
    two fit: 0.802 are spent then. Three gradings of two answers are six verdicts.
    """
    (tmp_path / "prices.toml").write_text("[models.m]\nprompt = 10\noutput = 100\n")
    with served(lambda api, body: message(RIGHT, 100, 4000)) as api:
        known = ["-j", "anthropic", "--model", "m", "-g", "rubric", "--no-store"]
        inside("grade", run, *known, cwd=tmp_path, env=api.env, code=0)
        before = len(asks(api))
        limited = ("judge", command, run, "--max-cost", 1, "--prices", "prices.toml")
        done = inside(*limited, cwd=tmp_path, env=api.env, code=1 if unpaid else 0)
        assert len(asks(api)) - before == 2
        assert ("stopped at --max-cost 1: 4 verdicts not asked for" in done.err) is bool(unpaid)
        assert "RubricGrade" in done.out
        unpriced = inside("judge", command, run, "--max-cost", 1, cwd=tmp_path, env=api.env, code=2)
        assert "the price of 'm' is unknown" in unpriced.err
        assert len(asks(api)) - before == 2


def test_rules_cost_nothing_to_limit(run: Path, tmp_path: Path) -> None:
    """The options of a model are refused where the judge asks none."""
    inside("grade", run, "--no-store", cwd=tmp_path, code=0)
    done = inside("judge", "drift", run, "--max-cost", 1, "--effort", "low", cwd=tmp_path, code=2)
    assert "--effort, --max-cost: the judge 'lexical' asks no model" in done.err
