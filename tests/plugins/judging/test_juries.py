"""Several judges as one jury: the majority or the mean, the agreement, and what is missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.plugins.judging.grading.juries import choices_of, combined_score, file_of_jury
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.own_rubric import load_rubric
from graphkit.records.scores import Score
from tests.helpers import engines
from tests.helpers.api import Api, Reply, Response, served
from tests.helpers.chat import OWN
from tests.helpers.cli import Done, Graph, inside
from tests.helpers.grading import RIGHT, WRONG, scores_beside, shown, to_grade, verdicts_beside
from tests.helpers.pages import Page
from tests.helpers.properties import examples


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two answers, one record that failed, and a question without a record."""
    return to_grade(tmp_path)


#: What each model says of the answers to q1 and q2.
SAID = {"a": (RIGHT, RIGHT), "b": (RIGHT, WRONG), "c": (WRONG, WRONG)}


def judging(said: Mapping[str, tuple[str | None, str | None]]) -> Callable[[Api, dict[str, Any]], Reply | Response]:
    """Return a server whose models reply as they are told, or fail."""

    def script(api: Api, body: dict[str, Any]) -> Reply | Response:
        reply = said[body["model"]]["users" in shown(body)]
        if reply is None:
            return Response(400, OWN.refusal(400, "bad", "no")[1], {"x-should-retry": "false"})
        return OWN.message(reply, 100, 20)

    return script


def grade(run: Path, api: Api, *models: str, code: int = 0, more: tuple[object, ...] = ()) -> Done:
    """Have a jury of models grade a run by the rubric."""
    words = [word for model in models for word in ("--model", f"ollama:{model}")]
    options = ("--base-url", f"{api.url}/v1", "--no-store", "-g", "rubric", *more)
    return inside("grade", run, *words, *options, cwd=run.parents[2], code=code)


def of_jury(run: Path, *models: str) -> dict[str, Score]:
    """Return a jury's scores by RubricGrade by question."""
    path = file_of_jury(run, [f"ollama:{model}" for model in models])
    return {one.question: one for one in read_scores([path], Problems()) if one.measure == "RubricGrade"}


def test_a_majority_of_models(run: Path) -> None:
    """q1 is right by two of three, q2 wrong by two of three; each member's scores and verdicts are kept as its own."""
    with served(judging(SAID)) as api:
        done = grade(run, api, "a", "b", "c")
        asked = len(api.requests)
        grade(run, api, "a", "b", "c")
        assert (asked, len(api.requests)) == (6, 6)
    found = of_jury(run, "c", "b", "a")
    assert (found["q1"].value, found["q1"].grade, found["q1"].label) == (1.0, "fully_correct", None)
    assert (found["q2"].value, found["q2"].grade, found["q2"].label) == (0.0, "wrong", "hallucination")
    assert found["q1"].explanation == "fully_correct (ollama:a, ollama:b); wrong (ollama:c)"
    assert {one.grader for one in found.values()} == {"jury(ollama:a,ollama:b,ollama:c)"}
    assert found["q3"].reason == "failed: timed out"
    for model, (first, second) in SAID.items():
        assert verdicts_beside(run, "ollama", model)["q1", "rubric"].grade == json.loads(first)["grade"]
        assert scores_beside(run, "ollama", model)["q2", "RubricGrade"].value == float(second == RIGHT)
    assert "grading: 6 verdicts" in done.out
    # Right, right, wrong and right, wrong, wrong: 8 of 12 ordered pairs differ (8/2 of 6 values: 2/3), by chance
    # 2*3*3 of 6*5 (3/5): 1 - (2/3)/(3/5) = -1/9.
    assert "-0.111" in done.out


def test_a_member_that_fails(run: Path) -> None:
    """Two of three suffice if they agree (q1); q2 has one voice each, which is no majority."""
    with served(judging({**SAID, "c": (None, None)})) as api:
        done = grade(run, api, "a", "b", "c", code=2)
    assert "every verdict of ollama:c failed" in done.err
    assert "no verdict of ollama:c on q1 by rubric: " in done.err
    found = of_jury(run, "a", "b", "c")
    assert (found["q1"].value, found["q1"].reason) == (1.0, None)
    assert str(found["q1"].explanation).endswith("; 1 judge without a value")
    assert found["q2"].value is None
    assert str(found["q2"].reason).startswith("the judges have no majority: ")


def test_a_failed_verdict_replaces_no_former_one(run: Path) -> None:
    """If a server fails when it is asked again, its earlier grades of the same answers stay, and the jury counts them.

    c called both answers wrong. Now it has no verdict on q1, so that its "wrong" stays there, and calls q2 right: two
    of three then call q2 right (a and c). Another version of the judge (`--context-tokens`) replaces all its grades.
    """
    with served(judging(SAID)) as api:
        grade(run, api, "a", "b", "c")
    no_cache = ("--no-cache",)
    with served(judging({**SAID, "c": (None, RIGHT)})) as api:
        done = grade(run, api, "a", "b", "c", more=no_cache)
    assert "warning: 1 verdict failed (q1 by rubric: no_reply: " in done.err
    assert "no verdict of ollama:c on q1 by rubric: " in done.err
    assert {key[0]: one.value for key, one in scores_beside(run, "ollama", "c").items() if one.number is not None} == {
        "q1": 0.0,
        "q2": 1.0,
    }
    assert verdicts_beside(run, "ollama", "c")["q1", "rubric"].failure is None
    found = of_jury(run, "a", "b", "c")
    assert str(found["q1"].explanation) == "fully_correct (ollama:a, ollama:b); wrong (ollama:c)"
    assert (found["q2"].value, found["q2"].grade) == (1.0, "fully_correct")
    with served(judging({**SAID, "c": (None, None)})) as api:
        grade(run, api, "a", "b", "c", code=2, more=(*no_cache, "--context-tokens", 8000))
    assert {one.number for one in scores_beside(run, "ollama", "c").values()} == {None}


def test_other_grades_of_a_jury_stay(run: Path) -> None:
    """A grading by another grader, or on one question, keeps the jury's other scores; not those that changed since.

    The order of the members doesn't matter. When b alone has found everything wrong, the jury's grades by the rubric
    are no longer those of its members.
    """
    said, scale = {"a": RIGHT, "b": RIGHT}, json.dumps({"reasoning": "r", "score": 4})

    def script(api: Api, body: dict[str, Any]) -> Reply:
        by_scale = "ScaleVerdict" in json.dumps(body)
        return OWN.message(scale if by_scale else said[body["model"]], 100, 20)

    def graded(models: str, grader: str, *more: str) -> str:
        words = [word for model in models for word in ("--model", f"ollama:{model}")]
        options = ("--base-url", f"{api.url}/v1", "--no-store", "--no-cache", "-g", grader, *more)
        return inside("grade", run, *words, *options, cwd=run.parents[2], code=0).err

    def kept() -> dict[tuple[str, str], float | None]:
        path = file_of_jury(run, ["ollama:a", "ollama:b"])
        return {(one.question, one.measure): one.value for one in read_scores([path], Problems())}

    with served(script) as api:
        graded("ab", "rubric")
        graded("ba", "scale")
        both = kept()
        assert (both["q1", "RubricGrade"], both["q2", "RubricGrade"], both["q1", "ScaleGrade"]) == (1.0, 1.0, 4.0)
        assert "dropped" not in graded("ab", "rubric", "--where", 'question == "q1"')
        assert kept() == both
        said["b"] = WRONG
        graded("b", "rubric")
        done = graded("ab", "scale")
    assert "note: 2 scores of jury(ollama:a,ollama:b) dropped, which its members don't give any more (Rubric" in done
    assert {measure for (_, measure), value in kept().items() if value is not None} == {"ScaleGrade"}


def test_too_few_members(run: Path) -> None:
    """One of three isn't half of the jury."""
    with served(judging({**SAID, "b": (RIGHT, None), "c": (WRONG, None)})) as api:
        grade(run, api, "a", "b", "c")
    assert of_jury(run, "a", "b", "c")["q2"].reason == "1 of 3 judges gave a value"


def test_rules_and_a_model(run: Path) -> None:
    """A judge that asks no model sits beside models; the mean counts where a measure is a number."""
    with served(judging({"a": (json.dumps({"reasoning": "r", "score": 4}),) * 2})) as api:
        words = ("-j", "lexical", "--model", "ollama:a", "--base-url", f"{api.url}/v1", "-g", "scale")
        # One --judge and one --model are one judge, as before: the rules take no model.
        alone = inside("grade", run, *words, "--no-store", cwd=run.parents[2], code=2)
        assert "asks no model" in alone.err
        inside("grade", run, *words, "--model", "ollama:b", "--no-store", "--dry-run", cwd=run.parents[2], code=0)
        (run.parents[2] / "mine.py").write_text("def two(prompt, schema): return {'reasoning': 'r', 'score': 2}\n")
        more = ("-j", "mine:two", "--no-store", "--json")
        found = inside("grade", run, *words, *more, cwd=run.parents[2], code=0).object()
    assert found["judge"] == "jury(lexical,mine:two,ollama:a)"
    # The rules give q1 8 for the gold answer and 2 for its support: 10; (10 + 2 + 4) / 3.
    path = file_of_jury(run, ["lexical", "mine:two", "ollama:a"])
    scores = {one.question: one.value for one in read_scores([path], Problems())}
    assert scores["q1"] == pytest.approx(16 / 3)
    assert set(found["members"]) == {"lexical", "mine:two", "ollama:a"}
    assert found["agreement"]["ScaleGrade"]["n"] == 2


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("-j", "lexical", "-j", "lexical"), "lexical is named twice"),
        (("-j", "anthropic", "-j", "lexical", "--batch"), "a jury is asked at once"),
        (("-j", "lexical", "-j", "nobody"), "no judge is called 'nobody'"),
        (("-j", "lexical", "--model", "x", "--model", "y"), "asks no model"),
    ],
)
def test_juries_that_are_refused(run: Path, words: tuple[str, ...], what: str) -> None:
    """A judge twice, batches, an unknown judge, and models of nobody; nothing is graded."""
    assert what in inside("grade", run, *words, "--no-store", cwd=run.parents[2], code=2).err
    assert not run.with_name("r.grades").exists()


def test_in_the_graph(run: Path, tmp_path: Path, graph: Graph) -> None:
    """The graph holds the jury's scores: two of three find everything wrong, the rules, asked last, find q1 right."""
    engines.empty(graph.store)
    verdict = f"def no(prompt, schema): return {json.loads(WRONG)!r}\n"
    (tmp_path / "strict.py").write_text(f"{verdict}also = lambda *given: no(*given)\n")
    words = ("-j", "strict:no", "-j", "strict:also", "-j", "lexical", "-g", "rubric")
    inside("grade", run, *words, cwd=tmp_path, env=graph.env, code=0)
    rows = graph.store.read(
        "MATCH (s:Score {measure: 'RubricGrade'}) WHERE s.run = 'r' RETURN s.question AS q, s.value AS v ORDER BY q"
    )
    assert {row["q"]: row["v"] for row in rows} == {"q1": 0.0, "q2": 0.0, "q3": None, "q4": None}
    assert scores_beside(run, "lexical")["q1", "RubricGrade"].value == 1.0


def test_one_limit_for_all_members(run: Path) -> None:
    """Members share --max-cost: what the first spends is missing to the second.

    A reply costs 100 x 10 / 10**6 + 20,000 x 100 / 10**6 = 2.001. Alone each member stays below the limit with its two.
    """
    prices = run.parents[2] / "prices.toml"
    prices.write_text("[models.a]\nprompt = 10\noutput = 100\n[models.b]\nprompt = 10\noutput = 100\n")
    more = ("--max-cost", "5", "--prices", prices, "--concurrency", "1", "--no-cache")

    def script(api: Api, body: dict[str, Any]) -> Reply:
        return OWN.message(RIGHT, 100, 20_000)

    with served(script) as api:
        words = ("--base-url", f"{api.url}/v1", "--no-store", "-g", "rubric", *more)
        for model in ("a", "b"):
            inside("grade", run, "--model", f"ollama:{model}", *words, cwd=run.parents[2], code=0)
        assert len(api.requests) == 4
        done = grade(run, api, "a", "b", code=1, more=more)
        assert [one["model"] for one in api.requests[4:]] in (["a", "a"], ["a", "a", "b"])
    assert "stopped at --max-cost 5" in done.err
    assert of_jury(run, "a", "b")["q2"].value == 1.0  # half of the jury


def test_a_spot_check_of_a_jury(run: Path) -> None:
    """The jury is checked by a person's grades like any judge."""
    with served(judging(SAID)) as api:
        grade(run, api, "a", "b", "c")
    sheet = run.parents[2] / "sheet.csv"
    words = ("judge", "spot-check", run, "-j", "jury(ollama:a,ollama:b,ollama:c)", "--csv", sheet)
    inside(*words, cwd=run.parents[2], code=0)
    rows = sheet.read_text().splitlines()
    assert len(rows) == 3


def test_a_jury_is_not_asked_as_one(run: Path) -> None:
    """Commands that ask a judge again say that a jury is several judges; nothing is taken for a module."""
    with served(judging(SAID)) as api:
        grade(run, api, "a", "b")
        asked = len(api.requests)
        of = ("-j", "jury(ollama:a,ollama:b)")
        for command in ("consistency", "bias", "drift"):
            said = inside("judge", command, run, *of, cwd=run.parents[2], code=2).err
            assert "jury(ollama:a,ollama:b) is several judges, which aren't asked as one" in said
        assert "is several judges" in inside("grade", run, *of, "--no-store", cwd=run.parents[2], code=2).err
        assert len(api.requests) == asked


def test_the_page_shows_a_jury(run: Path) -> None:
    """A jury beside its members decides what the page shows; two juries are chosen from."""
    with served(judging(SAID)) as api:
        grade(run, api, "a", "b", "c")
        words = ("report", run, "-o", "page.html", "--force")
        assert "3 judges and a jury graded" in inside(*words, cwd=run.parents[2], code=0).err
        # By the jury q1 is right and q2 wrong; by a both are right, by c both wrong, and q3 failed and q4 is missing.
        shown = Page((run.parents[2] / "page.html").read_text()).json("summary")
        place = [one["name"] for one in shown["measures"]].index("RubricGrade")
        assert shown["runs"][0]["values"][place] == [1.0, 0.0, None, None]
        grade(run, api, "a", "b")
        assert "5 judges graded" in inside(*words, cwd=run.parents[2], code=0).err


def test_which_measures_are_voted_on(tmp_path: Path) -> None:
    """Yes and no are, numbers aren't; of a user's rubric, its booleans."""
    folder = tmp_path / "tone"
    folder.mkdir()
    (folder / "prompt.txt").write_text("Is it kind?")
    fields = {"kind": {"type": "boolean"}, "warmth": {"type": "number"}, "reason": {"type": "string"}}
    (folder / "schema.json").write_text(json.dumps({"type": "object", "properties": fields}))
    chosen = [load_rubric(folder), GRADERS["binary"], GRADERS["claims"], GRADERS["criteria"]]
    assert choices_of(chosen) == {"tone.kind", "Correct", "Faithful", "Relevant", "Complete", "CriteriaMet"}


_VOTES = st.lists(st.sampled_from([0.0, 1.0, None]), min_size=2, max_size=7)


@examples(200)
@given(_VOTES)
def test_votes_by_an_independent_count(votes: list[float | None]) -> None:
    """The majority of those who voted counts if half of all did; else nothing does. The mean needs half of all, too."""
    members = {f"j{place}": score(value) for place, value in enumerate(votes)}
    there = [value for value in votes if value is not None]
    count = Counter(there)
    enough = len(there) >= len(votes) / 2 and bool(there)
    winner = next((value for value, n in count.items() if enough and n > len(there) / 2), None)
    assert combined_score(members, "jury", True, len(votes)).value == winner
    mean = combined_score(members, "jury", False, len(votes)).value
    assert mean == (pytest.approx(count[1.0] / len(there)) if enough else None)


def score(value: float | None) -> Score:
    """Return a score of an answer, or why there is none."""
    reason = "no_reply: gone" if value is None else None
    return Score(run="r", question="q", measure="Correct", value=value, reason=reason, grader="j")
