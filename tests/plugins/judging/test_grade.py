"""``graphkit grade`` with judges that need no network: the lexical one, and a user's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from graphkit.plugins.judging.grading import verdict_store
from tests.helpers import engines
from tests.helpers.cli import Graph, Row, inside, tiny, write_lines
from tests.helpers.datasets import STOREFRONT
from tests.helpers.grading import ASKED, GIVEN, scores_beside, to_grade, verdicts_beside
from tests.helpers.judged import HUMAN_GRADES, RUN


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two answers, one record that failed, and a question without a record."""
    return to_grade(tmp_path)


@pytest.fixture
def graph(graph: Graph) -> Graph:
    """The database of the module, emptied: each test has a run of this name in a place of its own."""
    engines.empty(graph.store)
    return graph


# What a grading leaves ---------------------------------------------------------------------------------------------


def test_files_beside_the_run(run: Path, tmp_path: Path) -> None:
    """Each question has a score of each measure, or why it has none; there are verdicts on what was judged alone.

    Of q1 the answer says what gold and chunk say: every claim is grounded, its one citation is right. q3 failed and q4
    has no record: nobody judges them.
    """
    done = inside("grade", run, "--no-store", cwd=tmp_path, code=0)
    assert "r, judged by lexical" in done.out
    assert "grading: 4 verdicts" in done.out
    assert "the run cost 0.0200 (known for 2 answers)" in done.out
    # By itself each would take 4 calls an answer (claims, citations, context, gold), and took one: 2 * 3 are saved.
    assert "claims were judged once: 6 calls" in done.out
    assert f"kept in {run.with_name('r.grades')}" in done.out
    verdicts = verdicts_beside(run, "lexical")
    assert set(verdicts) == {(question, grader) for question in ("q1", "q2") for grader in ("claims", "rubric")}
    scores = scores_beside(run, "lexical")
    assert {question for question, _ in scores} == {"q1", "q2", "q3", "q4"}
    first = scores["q1", "RubricGrade"]
    assert (first.value, first.grade, first.grader, first.category) == (1.0, "fully_correct", "lexical", "calls")
    assert str(first.version).partition(" prompt ")[2] == verdicts["q1", "rubric"].prompt_hash[:8]
    assert (scores["q1", "Groundedness"].value, scores["q1", "Attribution"].value) == (1.0, 1.0)
    assert scores["q3", "RubricGrade"].reason == "failed: timed out"
    assert scores["q4", "Groundedness"].reason == "the run has no record for this question"
    assert scores["q1", "AggregationScore"].reason == "no required facts"


def test_json(run: Path, tmp_path: Path) -> None:
    """With --json the same stands in one object: means with how many they are of, cost, saving and failures."""
    found = inside("grade", run, "--no-store", "--json", cwd=tmp_path, code=0).object()
    assert (found["run"], found["judge"], found["verdicts"], found["failures"]) == ("r", "lexical", 4, {})
    rubric = found["measures"]["RubricGrade"]
    assert (rubric["scored"], rubric["total"]) == (2, 4)
    assert found["measures"]["AggregationScore"]["mean"] is None
    assert (found["cost"]["cost"], found["cost"]["run_cost"], found["cost"]["share"]) == (0.0, 0.02, 0.0)
    assert found["saving"] == {"calls": 6, "prompt_tokens": None}
    assert found["warning"] is None


def test_in_the_graph(run: Path, tmp_path: Path, graph: Graph) -> None:
    """Scores, verdicts and claims stand beside the answers in the graph, and a second grading replaces them."""
    for _ in range(2):
        inside("grade", run, cwd=tmp_path, env=graph.env, code=0)
        counts = graph.counts()
        claims = sum(len(one.claims) for one in verdicts_beside(run, "lexical").values())
        assert claims > 0
        assert (counts["Answer"], counts["Verdict"], counts["Claim"]) == (3, 4, claims)
    rows = graph.store.read(
        "MATCH (a:Answer)-[:SCORED]->(s:Score {measure: 'RubricGrade'}) RETURN s.question AS q, s.value AS v ORDER BY q"
    )
    assert [(row["q"], row["v"]) for row in rows if row["v"] is not None] == [("q1", 1.0), ("q2", 1.0)]


def test_another_file_of_a_name_is_refused_before_anybody_is_asked(
    run: Path, tmp_path: Path, any_graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that the graph holds from another file is refused before grading; by another name it is graded."""
    inside("grade", run, cwd=tmp_path, env=any_graph.env, code=0)
    other = write_lines(run.with_name("other.jsonl"), [{**json.loads(run.read_text().splitlines()[0]), "answer": "b"}])
    refused = inside("grade", other, cwd=tmp_path, env=any_graph.env, code=2)
    assert f"{other}: the graph holds another run 'r', from {run}" in refused.err
    assert not other.with_name("other.grades").exists()
    named = inside("grade", other, "--run", "second", "--json", cwd=tmp_path, env=any_graph.env, code=0).object()
    assert named["run"] == "second"
    assert {score.run for score in scores_beside(other, "lexical").values()} == {"second"}
    held = any_graph.store.read("MATCH (v:Verdict {question: 'q1'}) RETURN DISTINCT v.run AS run ORDER BY run")
    assert held == [{"run": "r"}, {"run": "second"}]


def test_left_out_also_on_the_way_to_the_graph(tmp_path: Path, graph: Graph) -> None:
    """With --on-error skip a record that can't be used is reported once, and the others are graded and kept."""
    run = to_grade(tmp_path, [*GIVEN, {"run": "r", "question_id": "nowhere", "answer": "?"}])
    assert "nowhere" in inside("grade", run, cwd=tmp_path, env=graph.env, code=2).err
    assert not run.with_name("r.grades").exists()
    done = inside("grade", run, "--on-error", "skip", cwd=tmp_path, env=graph.env, code=0)
    assert done.err.count("nowhere") == 1
    assert len(verdicts_beside(run, "lexical")) == 4
    assert graph.counts()["Verdict"] == 4


def test_other_graders_stay_in_the_graph(run: Path, tmp_path: Path, graph: Graph) -> None:
    """Graded by one grader and then by another, the graph holds what both gave, as the files do."""
    for grader in ("rubric", "scale"):
        inside("grade", run, "-g", grader, cwd=tmp_path, env=graph.env, code=0)
    rows = graph.store.read("MATCH (v:Verdict {judge: 'lexical'}) RETURN v.grader AS g, count(*) AS n ORDER BY g")
    assert [(row["g"], row["n"]) for row in rows] == [("rubric", 2), ("scale", 2)]
    rows = graph.store.read("MATCH (s:Score) WHERE s.measure = 'RubricGrade' RETURN count(*) AS n")
    assert rows[0]["n"] == 4


def test_no_verdict_stays_in_the_graph_where_none_is_given(run: Path, tmp_path: Path, graph: Graph) -> None:
    """Without gold answers the rubric asks nothing: its former verdicts leave the graph, as they leave the files."""
    inside("grade", run, "-g", "rubric", cwd=tmp_path, env=graph.env, code=0)
    assert graph.counts()["Verdict"] == 2
    questions = [{name: text for name, text in one.items() if name != "gold_answer"} for one in ASKED]
    to_grade(tmp_path, questions=questions)
    inside("grade", run, "-g", "rubric", cwd=tmp_path, env=graph.env, code=0)
    assert verdicts_beside(run, "lexical") == {}
    assert "Verdict" not in graph.counts()


def test_grades_of_former_answers_stay_out_of_the_graph(run: Path, tmp_path: Path, graph: Graph) -> None:
    """Scores and verdicts of changed answers aren't stored beside the new answers."""
    inside("grade", run, "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    to_grade(tmp_path, [{**GIVEN[0], "answer": "Nobody does."}, *GIVEN[1:]])
    inside("evaluate", run, "-m", "EdgeRecall", cwd=tmp_path, env=graph.env, code=0)
    files = sorted(run.with_name("r.grades").iterdir())
    done = inside("load-scores", *files, cwd=tmp_path, env=graph.env, code=2)
    assert "1 verdict of lexical on r is on another answer than the graph holds, such as on 'q1'" in done.err
    assert graph.store.read("MATCH (s:Score {measure: 'RubricGrade'}) RETURN count(s) AS n") == [{"n": 0}]


def test_stale_gold_is_not_judged(tmp_path: Path) -> None:
    """A question whose gold path has an edge unknown to the knowledge graph isn't judged, and says why."""
    stale: Row = {**ASKED[0], "paths": [[["a:m.py#x", "CALLS", "a:m.py#gone"]]]}
    edges: list[Row] = [{"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"}]
    run = tiny(tmp_path, [stale, ASKED[1]], GIVEN[:2], edges=edges)
    inside("grade", run, "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    assert set(verdicts_beside(run, "lexical")) == {("q2", "rubric")}
    score = scores_beside(run, "lexical")["q1", "RubricGrade"]
    assert score.value is None
    assert "a:m.py#gone" in str(score.reason)


# Merging -----------------------------------------------------------------------------------------------------------


def test_other_graders_stay(run: Path, tmp_path: Path) -> None:
    """Graded by one grader and then by another, both stand in the files; by the same again, it is replaced."""
    for grader in ("rubric", "scale", "scale"):
        inside("grade", run, "-g", grader, "--no-store", cwd=tmp_path, code=0)
    assert len(scores_beside(run, "lexical")) == 8
    assert {grader for _, grader in verdicts_beside(run, "lexical")} == {"rubric", "scale"}


def change(file: Path, number: int, **fields: object) -> None:
    """Change a record of a run's file, or add one; None takes a field away."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    if number < len(lines):
        lines[number] |= fields
    else:
        lines.append(fields)
    write_lines(file, [{name: one for name, one in line.items() if one is not None} for line in lines])


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        (0, {"answer": "Shop calls Billing."}),
        (2, {"error": None, "answer": "Reports reads payments."}),
        (3, {"run": "r", "question_id": "q4", "answer": "Shop calls Orders."}),
        (1, {"answer": None, "error": "lost"}),
    ],
    ids=["another answer", "answered now", "a record now", "failed now"],
)
def test_changed_answers_are_not_mixed(number: int, fields: Row, run: Path, tmp_path: Path) -> None:
    """If an answer changed since another grader judged it, what that one gave is dropped, and that is reported."""
    inside("grade", run, "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    change(run, number, **fields)
    done = inside("grade", run, "-g", "scale", "--no-store", cwd=tmp_path, code=0)
    assert "note: 1 answer changed since lexical judged by other graders" in done.err
    assert "RubricGrade" in done.err
    assert {measure for _, measure in scores_beside(run, "lexical")} == {"ScaleGrade"}


def test_changed_answer_that_no_judge_was_asked_about(tmp_path: Path) -> None:
    """Key terms gave a score without a verdict: that its answer changed is seen by what the rubric said of it."""
    asked = {**ASKED[0], "facts": [{"text": "Orders calls Billing."}]}
    run = to_grade(tmp_path, GIVEN[:1], [asked])
    inside("grade", run, "-g", "completeness", "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    assert scores_beside(run, "lexical")["q1", "JudgedCompleteness"].value == 1.0
    assert set(verdicts_beside(run, "lexical")) == {("q1", "rubric")}
    change(run, 0, answer="Nobody does.")
    done = inside("grade", run, "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    assert "what they gave is dropped (JudgedCompleteness)" in done.err
    assert set(scores_beside(run, "lexical")) == {("q1", "RubricGrade")}
    change(run, 0, answer="Somebody does.")
    assert "dropped" not in inside("grade", run, "-g", "rubric", "--no-store", cwd=tmp_path, code=0).err


@pytest.mark.parametrize("dies_at", ["write_scores", "write_verdicts"])
def test_killed_between_the_files(dies_at: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ended before the one or the other file is written, the next grading still sees whose answers have changed."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    inside("grade", run, "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    change(run, 0, answer="Shop calls Billing.")
    with monkeypatch.context() as patch:
        patch.setattr(verdict_store, dies_at, die)
        inside("grade", run, "-g", "scale", "--no-store", cwd=tmp_path, code=130)
    inside("grade", run, "-g", "scale", "--no-store", cwd=tmp_path, code=0)
    assert {measure for _, measure in scores_beside(run, "lexical")} == {"ScaleGrade"}


def test_run_of_another_name_is_not_mixed(run: Path, tmp_path: Path) -> None:
    """If the file holds another run than the one that was graded, the former grades are dropped."""
    inside("grade", run, "-g", "rubric", "--no-store", cwd=tmp_path, code=0)
    for number in range(3):
        change(run, number, run="other")
    done = inside("grade", run, "-g", "scale", "--no-store", cwd=tmp_path, code=0)
    assert "note: 4 answers changed" in done.err
    assert {score.run for score in scores_beside(run, "lexical").values()} == {"other"}


def test_nothing_to_judge(tmp_path: Path) -> None:
    """A run of failures alone is graded, twice, by no verdict at all: each score has its reason."""
    run = to_grade(tmp_path, GIVEN[2:])
    for grader in ("rubric", "scale"):
        inside("grade", run, "-g", grader, "--no-store", cwd=tmp_path, code=0)
    assert verdicts_beside(run, "lexical") == {}
    assert len(scores_beside(run, "lexical")) == 8


# Options -----------------------------------------------------------------------------------------------------------


def test_context_tokens(run: Path, tmp_path: Path) -> None:
    """With room for no chunk, each is named as left out, and nothing that it could have raised is scored.

    The text of q1's chunk has 32 characters: 11 tokens of three.
    """
    inside("grade", run, "-g", "claims", "--context-tokens", 10, "--no-store", cwd=tmp_path, code=0)
    assert verdicts_beside(run, "lexical")["q1", "claims"].left_out == ("orders/api.py",)
    score = scores_beside(run, "lexical")["q1", "Groundedness"]
    assert (score.value, score.reason) == (None, "the judge wasn't shown 1 of 1 chunk")
    inside("grade", run, "-g", "claims", "--context-tokens", 11, "--no-store", cwd=tmp_path, code=0)
    assert verdicts_beside(run, "lexical")["q1", "claims"].left_out == ()


def test_citations(tmp_path: Path) -> None:
    """A pattern of one's own finds citations of another form by its group."""
    answers = [{**GIVEN[0], "answer": "Orders calls Billing (see orders/api.py)."}]
    run = to_grade(tmp_path, answers)
    inside("grade", run, "-g", "claims", "--no-store", cwd=tmp_path, code=0)
    assert verdicts_beside(run, "lexical")["q1", "claims"].citations == ()
    pattern = r"\(see (?P<target>[^)]+)\)"
    inside("grade", run, "-g", "claims", "--citations", pattern, "--no-store", cwd=tmp_path, code=0)
    [citation] = verdicts_beside(run, "lexical")["q1", "claims"].citations
    assert (citation.target, citation.correct) == ("orders/api.py", True)


RUBRIC = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "tone": {"type": "number", "minimum": 0, "maximum": 1},
        "polite": {"type": "boolean"},
    },
}
JUDGE = """
asked = []

def judge(prompt, schema):
    asked.append(prompt)
    return {"reasoning": "so", "tone": 0.25 if "users" in prompt else 2, "polite": True}

def broken(prompt, schema):
    raise RuntimeError("no luck")
"""


def test_rubric_and_judge_of_ones_own(run: Path, tmp_path: Path) -> None:
    """A user's function judges by a user's rubric; what is out of its bounds is asked for twice and is no score."""
    (tmp_path / "mine_to_grade.py").write_text(JUDGE)
    (tmp_path / "manner").mkdir()
    (tmp_path / "manner" / "prompt.txt").write_text("How is the tone?")
    (tmp_path / "manner" / "schema.json").write_text(json.dumps(RUBRIC))
    options = ["-j", "mine_to_grade:judge", "--rubric", "manner", "--no-store"]
    done = inside("grade", run, *options, cwd=tmp_path, code=0)
    assert "no verdict on q1 by manner: out_of_range" in done.err
    judge = "mine_to_grade:judge"
    scores, verdicts = scores_beside(run, judge), verdicts_beside(run, judge)
    assert {measure for _, measure in scores} == {"manner.tone", "manner.polite"}
    assert (scores["q2", "manner.tone"].value, scores["q2", "manner.polite"].number) == (0.25, 1.0)
    assert scores["q1", "manner.tone"].value is None
    assert (verdicts["q1", "manner"].failure, verdicts["q1", "manner"].attempts) == ("out_of_range", 2)


def test_judge_that_always_fails(run: Path, tmp_path: Path) -> None:
    """If no verdict at all can be had the command ends with 2, after the failures are kept with their reason."""
    (tmp_path / "mine_that_fails.py").write_text(JUDGE)
    done = inside("grade", run, "-j", "mine_that_fails:broken", "-g", "rubric", "--no-store", cwd=tmp_path, code=2)
    assert "raised RuntimeError: no luck" in done.err
    assert "every verdict failed" in done.err
    verdicts = verdicts_beside(run, "mine_that_fails:broken")
    assert {one.failure for one in verdicts.values()} == {"no_reply"}
    assert all(score.value is None for score in scores_beside(run, "mine_that_fails:broken").values())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-g", "rubrik"], "Did you mean rubric"),
        (["-j", "lexikal"], "Did you mean lexical"),
        (["--model", "m"], "--model: the judge 'lexical' asks no model"),
        (["--max-cost", "1"], "--max-cost: the judge 'lexical' asks no model"),
        (["--cache", "c"], "--cache: the judge 'lexical' asks no model"),
        (["--cache", "c", "--no-cache"], "--no-cache keeps none"),
        (["--batch"], "--batch asks a model"),
        (["--dry-run"], "--dry-run counts what a model is asked"),
        (["-j", "anthropic", "--batch", "--replay"], "--replay asks nobody"),
        (["-j", "anthropic", "--effort", "some"], "low, medium, high"),
        (["-j", "anthropic", "--no-cache", "--batch"], "--no-cache forbids it"),
        (["-j", "anthropic", "--no-cache", "--replay"], "--no-cache forbids it"),
        (["-j", "anthropic", "--replay"], "no file of recorded replies"),
        (["-j", "no_such_module:judge"], "no_such_module"),
        (["--rubric", "nowhere"], "there is no such folder"),
        (["--rubric", "a/same", "--rubric", "b/same"], "two rubrics are called 'same'"),
        (["--citations", "("], "the pattern of citations isn't a regular expression"),
    ],
)
def test_what_can_not_be_done_is_reported(options: list[str], words: str, run: Path, tmp_path: Path) -> None:
    """Options that contradict each other or name nothing end with 2, a message, and no file."""
    for name in "ab":
        (tmp_path / name / "same").mkdir(parents=True)
        (tmp_path / name / "same" / "prompt.txt").write_text("How is the tone?")
        (tmp_path / name / "same" / "schema.json").write_text(json.dumps(RUBRIC))
    done = inside("grade", run, *options, "--no-store", cwd=tmp_path, code=2)
    assert words in done.err
    assert not run.with_name("r.grades").exists()


def test_no_such_run(tmp_path: Path) -> None:
    """A run that isn't there is reported as such."""
    assert "no such file" in inside("grade", "absent.jsonl", "--no-store", cwd=tmp_path, code=2).err


def test_kappa_gate(tmp_path: Path) -> None:
    """--min-kappa looks at the lower end of the interval of kappa with a person, as `judge spot-check` kept it."""
    for name in ("questions.jsonl", "access.jsonl"):
        shutil.copy(STOREFRONT / name, tmp_path)
    (tmp_path / "runs").mkdir()
    run = Path(shutil.copy(STOREFRONT / "runs" / f"{RUN}.jsonl", tmp_path / "runs"))
    options = ["grade", run, "-g", "rubric", "--no-store"]
    inside(*options, cwd=tmp_path, code=0)
    checked = inside("judge", "spot-check", run, "--csv", HUMAN_GRADES, "--json", cwd=tmp_path, code=0).object()
    low = checked["weighted_kappa"]["low"]
    inside(*options, "--min-kappa", low - 0.01, cwd=tmp_path, code=0)
    assert "kappa" in inside(*options, "--min-kappa", low + 0.01, cwd=tmp_path, code=1).err


def test_kappa_gate_without_a_check(run: Path, tmp_path: Path) -> None:
    """--min-kappa refuses to pass on a judge that no person has checked; what was graded is kept."""
    done = inside("grade", run, "--min-kappa", 0.6, "--no-store", cwd=tmp_path, code=1)
    assert "gate failed" in done.err
    assert len(verdicts_beside(run, "lexical")) == 4


def test_where_judges_some_questions_and_keeps_the_grades_of_others(run: Path, tmp_path: Path) -> None:
    """Only the picked questions are judged, and what was given to the others before stays."""
    inside("grade", run, "--no-store", "--where", "question == 'q2'", cwd=tmp_path, code=0)
    assert {question for question, _ in scores_beside(run, "lexical")} == {"q2"}
    inside("grade", run, "--no-store", "--where", "not question == 'q2'", cwd=tmp_path, code=0)
    assert {question for question, _ in verdicts_beside(run, "lexical")} == {"q1", "q2"}
    parts = scores_beside(run, "lexical")
    inside("grade", run, "--no-store", cwd=tmp_path, code=0)
    assert parts == scores_beside(run, "lexical")
    assert "is known once" in inside("grade", run, "--no-store", "--where", "RR > 0", cwd=tmp_path, code=2).err
