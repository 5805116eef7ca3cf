"""The stage that a question failed at, and right answers by wrong paths."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.outcome import (
    NOT_IN_GRAPH,
    NOT_RETRIEVED,
    NOT_USED,
    RIGHT,
    UNDECIDABLE,
    UNDECIDED,
    WRONG,
    Decision,
    TwoByTwo,
    outcome,
    right_answer,
    stage_counts,
    stage_of,
    two_by_two,
)
from graphkit.measures.unscored import NO_RETRIEVAL, NO_TRAVERSAL
from graphkit.records.models import Answer, Question
from graphkit.records.unanswered import MISSING
from tests.helpers.cases import Triple, answer, either, optional, question, ranking, unlogged
from tests.helpers.datasets import SHOP_QUESTIONS, STOREFRONT, read_jsonl

STEP: Triple = ("api:auth.py#find_customer", "QUERIES", "schema:customers.sql#customers")
OTHER: Triple = ("api:auth.py#find_customer", "CALLS", "api:cache.py#remembered")
NODES = {"api:auth.py#find_customer", "schema:customers.sql#customers"}
FACT = "status 409"
FILES = ["api/auth.py", "schema/customers.sql"]


def asked(**fields: Any) -> Question:
    """Return a question with one step, one fact and two expected files."""
    return question([STEP], **{"facts": [FACT], "expected_files": FILES, **fields})


@pytest.mark.parametrize(
    ("given", "known", "name", "missing"),
    [
        # Right, whatever the way there was.
        (ranking(answer="409"), NODES, RIGHT, ()),
        (ranking(answer="409"), set(), RIGHT, ()),
        # The table is not in the graph; without knowledge of the graph it is merely not retrieved.
        (ranking(answer="?"), {STEP[0]}, NOT_IN_GRAPH, (STEP[2],)),
        (ranking(STEP[0], answer="?"), None, NOT_RETRIEVED, ("schema/customers.sql",)),
        (ranking(STEP[0], answer="?"), NODES, NOT_RETRIEVED, ("schema/customers.sql",)),
        # Retrieved as chunks, or walked, or half and half; nothing of it named.
        (ranking(*NODES, answer="?"), NODES, NOT_USED, tuple(FILES)),
        (answer([STEP], answer="?"), NODES, NOT_USED, tuple(FILES)),
        # One source named is enough to be used.
        (ranking(*NODES, answer="customers, 404"), NODES, WRONG, ()),
        (answer([STEP], answer="customers, 404"), NODES, WRONG, ()),
    ],
)
def test_stages(given: Answer, known: set[str] | None, name: str, missing: tuple[str, ...]) -> None:
    """Each stage by the smallest record that ends there."""
    stage = stage_of(Case(asked(), given), known)
    assert (stage.question, stage.name, stage.missing) == ("q", name, missing)
    assert stage.reason


def test_alternatives_and_optional_steps_need_not_be_in_the_graph() -> None:
    """One of two alternatives is enough, without its optional step; the reported ids are those of the nearer one."""
    gold = either("g", [STEP, optional("x:a", None, "x:b")], [OTHER])
    case = Case(question(*gold, facts=[FACT]), ranking(answer="?"))
    assert stage_of(case, NODES).name == NOT_RETRIEVED
    assert stage_of(case, {OTHER[0], OTHER[2]}).name == NOT_RETRIEVED
    stage = stage_of(case, {OTHER[2]})
    assert (stage.name, stage.missing) == (NOT_IN_GRAPH, (OTHER[0],))


def test_expected_ids_where_no_files_are() -> None:
    """Without expected files, the relevant ids count, else the gold nodes; a gain of 0 isn't relevant."""
    by_ids = asked(expected_files=[], relevant={"api:x.py": 1, "api:y.py": 0})
    assert stage_of(Case(by_ids, ranking(answer="?"))).missing == ("api:x.py",)
    assert stage_of(Case(by_ids, ranking("api:x.py", answer="?"))).name == NOT_USED
    by_nodes = asked(expected_files=[])
    assert stage_of(Case(by_nodes, ranking(STEP[0], answer="?"))).missing == (STEP[2],)


def test_a_wrong_answer_isnt_called_undecided() -> None:
    """The answer lacks the fact, so it is wrong; no retrieval is logged, so the stage alone is undecided."""
    wanted = question([("a:m.py#x", "CALLS", "a:m.py#y")], facts=[{"text": "retries three times"}])
    judged = outcome(Case(wanted, unlogged(answer="It gives up.")))
    assert (judged.answer, judged.stage.name) == (False, "undecided")
    assert judged.ended == "wrong answer, the stage at which it failed is undecided"


def test_reasons_count_their_nouns() -> None:
    """The verb of a reason agrees with the number of its ids or nodes."""
    for ids, reported in ((["x"], "1 of 1 relevant id is"), (["x", "y"], "2 of 2 relevant ids are")):
        wanted = asked(expected_files=[], relevant=dict.fromkeys(ids, 1))
        assert stage_of(Case(wanted, ranking(answer="?"))).reason == f"{reported} neither retrieved nor traversed"
    for known, reported in (({STEP[0]}, "1 required gold node is"), (set[str](), "2 required gold nodes are")):
        assert stage_of(Case(asked(), ranking(answer="?")), known).reason == f"{reported} not in the graph"


@pytest.mark.parametrize(
    ("wanted", "given", "reason"),
    [
        (asked(), None, MISSING),
        (asked(), answer(error="timeout"), "failed: timeout"),
        (asked(), answer([STEP]), NO_ANSWER),  # walked all of it, and logged no answer
        (asked(facts=[]), answer([STEP], answer="customers"), UNDECIDABLE),
        (
            question(facts=[FACT]),
            answer(answer="404"),
            "the answer is wrong, and no file, id or step is expected",
        ),
    ],
)
def test_undecided(wanted: Question, given: Answer | None, reason: str) -> None:
    """A question is undecided, with the reason, if its record doesn't decide it."""
    stage = stage_of(Case(wanted, given))
    assert (stage.name, stage.reason) == (UNDECIDED, reason)


def test_right_answer_by_expected_output() -> None:
    """Facts decide; without them the expected output does, without regard to case and white space."""
    wanted = question(expected_output="TAX = 19")
    assert right_answer(Case(wanted, answer(answer="so tax  =\n19 it is"))) == Decision(True, "expected output")
    assert right_answer(Case(wanted, answer(answer="TAX = 20"))) == Decision(False, "expected output")
    assert right_answer(Case(wanted, answer())) == Decision(None, NO_ANSWER)
    assert right_answer(Case(wanted, None)) == Decision(None, MISSING)
    both = question(expected_output="TAX", facts=[FACT])
    assert right_answer(Case(both, answer(answer="TAX"))) == Decision(False, "facts")


def test_an_answer_that_declines_first_is_no_right_one() -> None:
    """Words decline alike whether the question has an answer, so that "I don't know" before each wins nothing."""
    wanted = question(expected_output="TAX = 19")
    for said, right in (("I don't know. TAX = 19.", False), ("I don't know who says so, but TAX = 19.", True)):
        assert right_answer(Case(wanted, answer(answer=said))).right is right
        # What declines is right where there is no answer.
        assert right_answer(Case(question(answerable=False), answer(answer=said))).right is not right


def test_two_by_two() -> None:
    """One question in each cell, and three undecided: no fact, no gold, no record."""
    right, wrong = {"answer": "409"}, {"answer": "404"}
    cases = [
        Case(asked(id="a"), answer([STEP], **right)),
        Case(asked(id="b"), answer([OTHER], **right)),
        Case(asked(id="c"), answer([STEP], **wrong)),
        Case(asked(id="d"), answer([OTHER], **wrong)),
        Case(asked(id="e", facts=[]), answer([STEP], **right)),
        Case(question(id="f", facts=[FACT]), answer(**right)),
        Case(asked(id="g"), None),
    ]
    found = two_by_two(map(outcome, cases))
    assert (found.sound, found.luck, found.misread, found.lost) == (("a",), ("b",), ("c",), ("d",))
    assert set(found.undecided) == {"e", "f", "g"}
    assert found.undecided["g"] == MISSING
    assert found.counts == {"sound": 1, "luck": 1, "misread": 1, "lost": 1, "undecided": 3}
    assert two_by_two([]) == TwoByTwo()


@cache
def storefront(run_name: str) -> dict[str, Case]:
    """Return the cases of a run of the storefront."""
    answers = {one["question_id"]: one for one in read_jsonl(STOREFRONT / "runs" / f"{run_name}.jsonl")}
    questions = [Question.model_validate(one) for one in read_jsonl(STOREFRONT / "questions.jsonl")]
    return {one.id: Case(one, Answer.model_validate(answers[one.id])) for one in questions}


def known_of(stack: str) -> set[str]:
    """Return the artifacts of a stack."""
    return {one["id"] for one in read_jsonl(STOREFRONT / f"artifacts-{stack}.jsonl")}


@pytest.mark.parametrize(
    ("run_name", "question_id", "name"),
    [
        ("storefront-graph", "sf-02", RIGHT),
        ("storefront-graph-v2", "sf-17", RIGHT),
        # 20 percent of another branch in place of 19.
        ("storefront-graph", "sf-17", WRONG),
        # It walked from signIn to login, and the answer tells of listProducts, send and apiUrl.
        ("storefront-graph-v2", "sf-01", NOT_USED),
        # It ends in schema and never sees infra.
        ("storefront-graph", "sf-15", NOT_RETRIEVED),
        # Its budget was exceeded.
        ("storefront-graph", "sf-08", UNDECIDED),
    ],
)
def test_storefront(run_name: str, question_id: str, name: str) -> None:
    """Questions of real runs whose outcome the fixture describes; every gold node is in their stack's graph."""
    case = storefront(run_name)[question_id]
    assert stage_of(case, known_of(case.question.stack or "")).name == name


def test_storefront_in_the_wrong_graph() -> None:
    """sf-10 is about main, whose checkout the graph of 1.x does not hold."""
    case = storefront("storefront-graph")["sf-10"]
    stage = stage_of(case, known_of("stack-1"))
    assert stage.name == NOT_IN_GRAPH
    assert "api:api/checkout.py#create_checkout" in stage.missing


def test_storefront_two_by_two() -> None:
    """Flat retrieval traverses nothing, so a right answer is luck. The fixture calls sf-02, 17 and 22 of v2 right."""
    flat = two_by_two(map(outcome, storefront("storefront-bm25").values()))
    # find_order and the word orders occur in the answer to sf-22.
    assert (flat.sound, flat.luck, flat.misread) == ((), ("sf-22",), ())
    walked = two_by_two(map(outcome, storefront("storefront-graph-v2").values()))
    assert {"sf-02", "sf-17", "sf-22"} <= set(walked.sound)
    assert sum(walked.counts.values()) == SHOP_QUESTIONS
    undecided = set(two_by_two(map(outcome, storefront("storefront-graph").values())).undecided)
    # Two failed, and three have no answer, so that there is no path to take.
    assert undecided == {"sf-01", "sf-08", "sf-31", "sf-32", "sf-33"}


def test_invalid_question_is_not_in_the_graph() -> None:
    """Stale gold decides no path; a right answer hasn't failed, and any other question failed at the graph."""
    right = outcome(Case(asked(), answer([STEP], answer="409")), "stale")
    assert (right.answer, right.path, right.stage.name, right.undecided) == (True, None, RIGHT, "stale")
    for case in (Case(asked(), answer([STEP], answer="404")), Case(asked(), None)):
        assert outcome(case, "stale").stage.name == NOT_IN_GRAPH
    counts = stage_counts([right, outcome(Case(asked(), None), "stale"), outcome(Case(asked(), None))])
    assert {name: count for name, count in counts.items() if count} == {RIGHT: 1, NOT_IN_GRAPH: 1, UNDECIDED: 1}


def test_what_was_not_logged_is_undecided() -> None:
    """A missing item is undecided if a part wasn't logged; if nothing is missing, the stage is known."""
    chunk = {"retrieved": [STEP[0]]}
    for given, reason in (({}, NO_RETRIEVAL), (chunk, NO_TRAVERSAL), ({"traversal": []}, NO_RETRIEVAL)):
        stage = stage_of(Case(asked(), unlogged(answer="?", **given)))
        assert (stage.name, stage.reason) == (UNDECIDED, reason)
    # Both files are there by the chunks, and the answer names the table: what was walked changes nothing.
    assert stage_of(Case(asked(), unlogged(retrieved=sorted(NODES), answer="customers, 404"))).name == WRONG
    # The answer names nothing of them; a node that was walked may have a name that it does.
    assert stage_of(Case(asked(), unlogged(retrieved=sorted(NODES), answer="?"))).name == UNDECIDED


def test_a_path_that_was_not_logged_is_undecided() -> None:
    """A right answer by an unknown traversal isn't luck."""
    reported = outcome(Case(asked(), unlogged(retrieved=[], answer="409")))
    assert (reported.answer, reported.path, reported.undecided) == (True, None, NO_TRAVERSAL)
