"""Runs stored in part: which questions a rule selects, what the graph then holds, and that its outputs say so."""

from __future__ import annotations

import json
import random
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.content import graph_content
from graphkit.measures.outcome import Outcome, Stage
from graphkit.plugins.compare.compare_runs import compare_runs
from graphkit.plugins.judging.verdict_nodes import keep_verdicts
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.unanswered import MISSING
from graphkit.scoring.results import Row
from graphkit.scoring.selection import Selection
from tests.helpers.cli import Graph, write_lines
from tests.helpers.cli import inside as command
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT
from tests.helpers.loading import RUN, contents

OTHER = "storefront-bm25"

RIGHT, WRONG = (Outcome(answer, True, Stage("q", "right", "")) for answer in (True, False))
LUCK = Outcome(True, False, Stage("q", "right", ""), missed_edges=2)
UNKNOWN = Outcome(None, None, Stage("q", "undecided", ""))

#: EdgeRecall, Coherence and OffPin. Their targets are 0.8, 0.9 and none (docs/measures.md).
MEASURES = ("EdgeRecall", "Coherence", "OffPin")

#: Each row fails for one reason, or for none; the right answer by a wrong path does for its path.
ROWS = (
    Row("good", (0.9, 1.0, 1.0), ("imports", "hard", "g"), outcome=RIGHT),
    Row("under-target", (0.7, 1.0, 0.0), outcome=RIGHT),
    Row("wrong-answer", (1.0, 1.0, 0.0), outcome=WRONG),
    Row("lucky", (0.85, 0.95, 0.0), outcome=LUCK),
    Row("failed", ("failed: timeout",) * 3, outcome=UNKNOWN, failure="failed: timeout"),
    Row("absent", (MISSING,) * 3, failure=MISSING),
    Row("undecided", ("no gold path", 1.0, 0.0), outcome=UNKNOWN),
    Row("invalid", ("invalid, stale gold: a -CALLS-> b: no such edge",) * 3, outcome=UNKNOWN),
)


def chosen(rule: str | list[str], rows: tuple[Row, ...] = ROWS) -> set[str]:
    """Return the questions that a rule selects."""
    return Selection.parse(rule).chosen(MEASURES, rows, "r", {"invalid"})


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("failures", {"under-target", "wrong-answer", "lucky", "failed", "absent"}),
        ("EdgeRecall<0.9", {"under-target", "lucky"}),
        ("EdgeRecall <= 0.9", {"good", "under-target", "lucky"}),
        ("EdgeRecall==1", {"wrong-answer"}),
        (["EdgeRecall>=1", "EdgeRecall<0.8"], {"wrong-answer", "under-target"}),
        ("sample=9", {row.question for row in ROWS}),
        ("failures and not failed", {"under-target", "wrong-answer", "lucky", "absent"}),
        ("failed or absent", {"failed", "absent"}),
        ("absent", {"absent"}),
        ("invalid", {"invalid"}),
        ("EdgeRecall == none", {"failed", "absent", "undecided", "invalid"}),
        ("answer == 'wrong'", {"wrong-answer"}),
        (
            "answer == 'undecided' and path == 'undecided' and stage == 'undecided'",
            {"undecided", "failed", "absent", "invalid"},
        ),
        ("luck", {"lucky"}),
        ("complete", {"good", "under-target", "wrong-answer"}),
        ("missed > 1", {"lucky"}),
        ("missed == none", {"undecided", "failed", "absent", "invalid"}),
        ("category == 'imports' and run == 'r'", {"good"}),
        ("difficulty in ('hard') or group contains 'G'", {"good"}),
        ("question == 'lucky'", {"lucky"}),
        ("incoherent", {"lucky"}),
        ("off_pin", {"good"}),
    ],
)
def test_rules_select(rule: str | list[str], expected: set[str]) -> None:
    """Failures are failed, wrong or under a target; a filter selects by value; several rules add up."""
    assert chosen(rule) == expected


def test_sample_depends_on_the_ids_alone() -> None:
    """The sample of shuffled rows is that of the rows in order, whatever the values are."""
    rows = [Row(f"q{number}", (number % 2 / 1, 1.0, 0.0)) for number in range(500)]
    whole = chosen("sample=20", tuple(rows))
    random.Random(3).shuffle(rows)
    assert len(whole) == 20
    assert chosen("sample=20", tuple(rows)) == whole
    assert chosen("sample=19", tuple(rows)) < whole


@pytest.mark.parametrize("rule", ["", "failure", "sample=0", "sample=-1", "sample=x", "EdgeRecall<", "<0.5", "A<nan"])
def test_unclear_rules_are_refused(rule: str) -> None:
    """A rule that selects nothing clear is refused, with the three forms."""
    with pytest.raises(InputError, match="sample=N"):
        Selection.parse([rule])


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("sample=-1", "sample=N stands alone, with N of at least 1"),
        ("sample=2 and failed", "sample=N stands alone, with N of at least 1"),
        ("failed == true", "a flag stands alone, as in failed or not failed"),
        ("EdgeRecall=1", "= is written == here (character 11 of the filter)"),
        ("failure or luck", "did you mean failures?"),
        ("categroy == 'imports'", "did you mean category?"),
        ("EdgeRecall", "EdgeRecall is a number: compare it, as in EdgeRecall < 0.5"),
        ("EdgeRecall < '1'", "write it without quotes"),
        ("any(failed)", "any(...) asks several runs"),
        ("failed and turn", "turn is known in the page only (character 12 of the filter)"),
        ("text contains 'x'", "Name the question's id"),
        ("cause == 'failed'", "`graphkit why RUN QUESTION` names it"),
        ("answer == 'correct'", 'answer is never "correct": it is "right", "wrong" or "undecided"'),
        ("path != 'worng'", 'did you mean "wrong"?'),
        ("stage == 'not retreived'", 'did you mean "not retrieved"?'),
        ("difficulty in ('easy', 'Hard')", 'did you mean "hard"?'),
    ],
)
def test_unclear_filters_say_what_is_wrong(rule: str, words: str) -> None:
    """A filter that can't be used is refused before anything is scored, with what is wrong and where."""
    with pytest.raises(InputError, match=re.escape(words)):
        Selection.parse(rule)


def test_flags_need_the_measures_that_decide_them() -> None:
    """The flag of conflicting commits is Coherence below 1, which is then computed; names of measures are renamed."""
    rule = Selection.parse(["incoherent and Recall < 0.5", "failures", "sample=2"])
    assert rule.measures == ("Coherence", "Recall")
    renamed = rule.named(lambda name: f"{name}@5" if name == "Recall" else name)
    assert renamed.texts == ["failures", "sample=2", "incoherent and Recall@5 < 0.5"]
    assert Selection.parse(renamed.texts).texts == renamed.texts


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A copy of the storefront dataset with its runs."""
    return shutil.copytree(STOREFRONT, tmp_path / "shop")


def run_of(shop: Path, name: str = RUN) -> Path:
    """Return the log of a run."""
    return shop / "runs" / f"{name}.jsonl"


def test_part_of_a_run_is_stored(store: Store, shop: Path) -> None:
    """Only the selected questions are there, with gold and scores; figures and counts are those of the whole run."""
    whole = graphkit.evaluate(run_of(shop), measures=["EdgeRecall"])
    part = graphkit.evaluate(run_of(shop), measures=["EdgeRecall"], store=store, keep="EdgeRecall<0.5")
    assert part.measures == whole.measures
    low = {row.question for row in whole.rows if isinstance(row.values[0], float) and row.values[0] < 0.5}
    assert 0 < len(low) < SHOP_QUESTIONS
    for found in (
        "MATCH (q:Question) RETURN q.id AS id",
        "MATCH (a:Answer) RETURN a.question AS id",
        "MATCH (s:Score) RETURN s.question AS id",
        "MATCH (:Run)-[:KEPT]->(q) RETURN q.id AS id",
    ):
        assert {row["id"] for row in store.read(found)} == low, found
    [run] = store.read("MATCH (r:Run) RETURN r.kept_questions AS kept, r.kept_of AS of, r.kept AS rule")
    assert (run["kept"], run["of"], run["rule"]) == (len(low), SHOP_QUESTIONS, "EdgeRecall<0.5")
    words = f"the graph stores {len(low)} of {SHOP_QUESTIONS} questions of the run {RUN} (EdgeRecall<0.5)"
    assert graph_content(store).partial[1:] == [words]
    assert graphkit.failures(store, RUN, "failed-questions").kept == words
    assert words in graphkit.why(RUN, sorted(low)[0], store=store).lines()[-2]
    other = next(row.question for row in whole.rows if row.question not in low)
    with pytest.raises(InputError):  # the question isn't in the graph at all
        graphkit.why(RUN, other, store=store)


def test_a_filter_over_fields_and_measures_is_stored(store: Store, shop: Path) -> None:
    """The graph holds the questions of which a filter holds, by values, fields and flags, and states the filter.

    By the whole run they are those of a category whose EdgeRecall is below 0.5, and the failed ones.
    """
    whole = graphkit.evaluate(run_of(shop), measures=["EdgeRecall"])
    category = next(row.labels[0] for row in whole.rows if isinstance(row.values[0], float) and row.values[0] < 0.5)
    rule = f'traversal_accuracy < 0.5 and category == "{category}" or failed'
    graphkit.evaluate(run_of(shop), measures=["EdgeRecall"], store=store, keep=rule)
    expected = {
        row.question
        for row in whole.rows
        if row.failure is not None
        or (isinstance(row.values[0], float) and row.values[0] < 0.5 and row.labels[0] == category)
    }
    kept = {row["id"] for row in store.read("MATCH (:Run)-[:KEPT]->(q) RETURN q.id AS id")}
    assert kept == expected
    assert len(expected) > 2
    [run] = store.read("MATCH (r:Run) RETURN r.kept AS rule")
    assert run["rule"] == f'EdgeRecall < 0.5 and category == "{category}" or failed'


@pytest.mark.slow("the storefront is scored and loaded twice")
def test_same_part_is_unchanged(store: Store, shop: Path) -> None:
    """Evaluating again with the same rule changes nothing."""
    for _ in range(2):
        graphkit.evaluate(run_of(shop), store=store, keep="failures")
        held = contents(store)
    assert contents(store) == held


def test_part_becomes_whole(store: Store, shop: Path) -> None:
    """Without the rule, dataset and run are completed: the graph then is what a plain evaluation makes."""
    graphkit.evaluate(run_of(shop), store=store, keep=["failures", "sample=3"])
    graphkit.evaluate(run_of(shop), store=store)
    completed = contents(store)
    store.write("MATCH (n) DETACH DELETE n")
    graphkit.evaluate(run_of(shop), store=store)
    assert completed == contents(store)


@pytest.mark.slow("the storefront is scored and loaded twice")
def test_whole_run_stays_whole(store: Store, shop: Path) -> None:
    """What is stored whole isn't cut down, and the result says so."""
    graphkit.evaluate(run_of(shop), store=store)
    held = contents(store)
    found = graphkit.evaluate(run_of(shop), store=store, keep="failures")
    assert contents(store) == held
    assert any("stays whole" in warning for warning in found.warnings)


def test_other_questions_are_not_missing(store: Store, shop: Path) -> None:
    """In a whole dataset, questions of the run that aren't stored don't count as missing, and none is explained."""
    graphkit.load(store, shop)
    found = graphkit.evaluate(run_of(shop), store=store, keep="sample=4")
    assert graphkit.failures(store, RUN, "failed-questions") == []
    assert len(graphkit.failures(store, RUN, "questions-by-score")) <= 4
    kept = {row["id"] for row in store.read("MATCH (:Run)-[:KEPT]->(q) RETURN q.id AS id")}
    other = next(row.question for row in found.rows if row.question not in kept)
    for asked in (
        lambda: graphkit.why(RUN, other, store=store),
        lambda: graphkit.failures(store, RUN, "missed-edges", question=other),
    ):
        with pytest.raises(InputError, match="isn't among them"):
            asked()


def test_comparison_covers_common_questions(store: Store, shop: Path) -> None:
    """Two runs in part are compared on the questions that both store, and the comparison says so."""
    graphkit.evaluate(run_of(shop), store=store, keep="sample=10")
    graphkit.evaluate(run_of(shop, OTHER), store=store)
    found = compare_runs(store, RUN, OTHER, measures=["EdgeRecall"])
    assert found.questions == 10
    assert any(f"the graph stores 10 of {SHOP_QUESTIONS} questions" in warning for warning in found.warnings)


@pytest.mark.slow("the storefront is scored and loaded twice")
def test_verdicts_outlast_another_part(store: Store, shop: Path) -> None:
    """Verdicts stay when other questions of the same answers are stored, and are linked to their answers again."""
    graphkit.evaluate(run_of(shop), store=store, keep="sample=5")
    question = str(store.read("MATCH (a:Answer) RETURN a.question AS id ORDER BY id LIMIT 1")[0]["id"])
    verdict = Verdict(run=RUN, question=question, grader="rubric", judge="me", model=None, prompt_hash="0")
    keep_verdicts(store, RUN, "me", [verdict])
    graphkit.evaluate(run_of(shop), store=store)
    linked = store.read("MATCH (a:Answer)-[:JUDGED]->(v:Verdict) RETURN a.question AS id, v.judge AS judge")
    assert linked == [{"id": question, "judge": "me"}]


def test_engine_in_the_graph_is_refused(store: Store, shop: Path) -> None:
    """The graph can't compute the means of a run of which it stores a part."""
    with pytest.raises(InputError, match="only the kept questions"):
        graphkit.evaluate(run_of(shop), store=store, engine="cypher", keep="failures")


def test_commands_say_that_a_run_is_in_part(graph: Graph, shop: Path) -> None:
    """Each command that reads the graph names the part on standard error, and its JSON holds it."""
    run, ask = run_of(shop), partial(command, cwd=shop.parent, env=graph.env)
    made = ask("evaluate", run, "--keep", "sample=3", "--json", code=0)
    assert made.object()["kept"] == {"rule": "sample=3", "questions": 3}
    assert made.object()["questions"] == SHOP_QUESTIONS
    words = f"the graph stores 3 of {SHOP_QUESTIONS} questions of the run {RUN} (sample=3)"
    for asked in (["failures", RUN], ["query", "missed-edges", "-p", f"run={RUN}"], ["query", "-e", "RETURN 1"]):
        assert words in ask(*asked, code=0).err
    rows = ask("failures", RUN, "--kind", "questions-by-score", "--json", code=0).out.splitlines()
    assert [json.loads(row)["kept"] for row in rows] == [words] * len(rows)
    assert words in ask("db", "status", code=0).out
    assert words in " ".join(ask("report", RUN, "-o", "page.html", code=0).err.split())
    refused = ask("evaluate", run, "--keep", "failures", "--no-store", code=2)
    assert "--no-store stores nothing" in refused.err
    ask("evaluate", run_of(shop, OTHER), code=0)
    gated = ask("compare", OTHER, RUN, "--fail-on-drop", "0", code=2)
    assert "a gate holds for whole runs" in gated.err


def test_paths_without_direction_are_no_failures(store: Store, tmp_path: Path) -> None:
    """Measures that ignore direction find the edge of q1, walked backwards: only q2, which failed, is kept then."""
    edge = {"source": "web:a.py", "relation": "CALLS", "target": "api:b.py"}
    back = {"source": "api:b.py", "relation": "CALLS", "target": "web:a.py"}
    questions = [{"id": name, "question": "What calls b?", "paths": [{"steps": [edge]}]} for name in ("q1", "q2")]
    answers: list[dict[str, Any] | str | bytes] = [
        {"run": "r", "question_id": "q1", "traversal": [{"path": 0, "position": 0, **back}]},
        {"run": "r", "question_id": "q2", "error": "timeout"},
    ]
    folder = tmp_path / "calls"
    write_lines(folder / "questions.jsonl", questions)
    run = write_lines(folder / "runs" / "r.jsonl", answers)
    for measure, expected in (("EdgeRecall(directed=False)", {"q2"}), ("EdgeRecall", {"q1", "q2"})):
        kept = graphkit.evaluate(run, measures=[measure], store=store, keep="failures", replace=True).kept
        assert kept is not None
        found = store.read("MATCH (:Run {id: 'r'})-[:KEPT]->(q:Question) RETURN q.id AS id")
        assert {row["id"] for row in found} == expected
