"""Questions without an answer, explained: causes, named queries and stages, from files as from the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphkit
from graphkit.analysis.file_failures import RunOnFiles, file_failures
from graphkit.database.store import Store
from graphkit.measures.case import Case
from graphkit.measures.judged import TESTED
from graphkit.measures.outcome import NOT_USED, RIGHT, UNDECIDED, WRONG
from graphkit.measures.owners import RIGHTLY_DECLINED
from graphkit.records.scores import Score
from graphkit.report.map_view import edge_statuses
from graphkit.report.spine import Spine, backbone_of, column_of, packed
from graphkit.report.spine_lanes import stories
from graphkit.report.spine_view import fragment
from tests.helpers.datasets import write_jsonl
from tests.plugins.abstention.worlds import ABSENT, LOGIN, QUESTIONS, record, small_world

KINDS = ("over-refusals", "answered-unanswerable", "invented-edges")

#: What is said of each question of the small world.
SAID = {
    "second": "declined, though the path was walked: walked the required step",
    "no-path": "declined, as the question has no answer",
    "false-premise": "took the false premise: walked `web:login.ts -CALLS-> db:users.sql`, "
    "which the question lists as absent",
}


@pytest.fixture
def stored(store: Store, tmp_path: Path) -> tuple[Store, Path]:
    """A store that holds the small world and its run, with scores, and the file of the run."""
    file = small_world(tmp_path / "world")
    graphkit.evaluate(file, store=store)
    return store, file


def test_rows_and_causes_are_those_of_the_graph(stored: tuple[Store, Path]) -> None:
    """Each named query has the rows worked by hand, from both sources, and so has each explanation."""
    store, file = stored
    edge = dict(zip(("source", "relation", "target"), ABSENT, strict=True))
    expected = {
        "over-refusals": [{"question": "second", "said_by": "record", "walked": 1, "retrieved": 0}],
        "answered-unanswerable": [
            {"question": "false-premise", "why_not": "false premise", "said_by": "record", "walked": 2, "retrieved": 0}
        ],
        "invented-edges": [{"question": "false-premise", **edge, "listed": True, "declined": False}],
    }
    for kind in KINDS:
        assert list(graphkit.failures(store, "mixed", kind)) == expected[kind]
        assert list(file_failures(file, kind)) == expected[kind]
    for question in (one["id"] for one in QUESTIONS):
        here, there = graphkit.why(file, question), graphkit.why("mixed", question, store=store)
        assert (here.sentence(), here.verdict, here.wrong) == (there.sentence(), there.verdict, there.wrong)
        if question in SAID:
            assert (here.cause or here.verdict.partition(" (")[0]) == SAID[question]


def test_a_walk_before_declining_is_told(tmp_path: Path) -> None:
    """A run that declined rightly shows how far it walked, and one that answered on nothing has that as its cause."""
    write_jsonl(tmp_path / "questions.jsonl", QUESTIONS)
    records = [
        record("no-path", traversal=[LOGIN], answer="No.", abstained=True),
        record("unsure", answer="In the cache."),
    ]
    file = write_jsonl(tmp_path / "runs" / "mixed.jsonl", records)
    told = graphkit.why(file, "no-path")
    assert not told.wrong
    assert told.verdict.startswith("declined, as the question has no answer; it walked 1 edge before")
    assert graphkit.why(file, "unsure").cause == "answered, though nothing was retrieved"


def test_right_is_to_decline(tmp_path: Path) -> None:
    """The outcome of each question: declining is the right answer where there is none, and wrong elsewhere."""
    result = graphkit.evaluate(small_world(tmp_path / "world"), outcomes=True)
    found = {row.question: (row.outcome.answer, row.outcome.stage.name) for row in result.rows if row.outcome}
    assert found == {
        "plain": (True, RIGHT),
        "second": (False, NOT_USED),
        "no-path": (True, RIGHT),
        "false-premise": (False, WRONG),
        "unsure": (None, UNDECIDED),
        "failing": (None, UNDECIDED),
    }


def test_the_generation_layer_counts_decisions(tmp_path: Path) -> None:
    """Where others gave FactualCorrectness, to decline rightly is 1 in it, and to answer without an answer 0."""
    file = small_world(tmp_path / "world")
    given = {"run": "mixed", "question": "plain", "grader": "tests"}
    scores = [Score.model_validate({**given, "measure": one, "value": 1.0}) for one in (TESTED, "Groundedness")]
    result = graphkit.evaluate(file, outcomes=True, scores=scores)
    places = {name: place for place, name in enumerate(result.measures)}
    found = {row.question: [row.values[places[name]] for name in (TESTED, "Groundedness")] for row in result.rows}
    assert found["plain"] == [1.0, 1.0]
    assert found["second"] == [0.0, "no score was given"]  # declined, though it has an answer
    assert found["no-path"] == [1.0, RIGHTLY_DECLINED]
    assert found["false-premise"] == [0.0, "no score was given"]
    # Of the four known ones two are right; failing counts as the worst value.
    assert result.measures[TESTED].mean == 2 / 4


def test_the_spine_shows_what_was_walked(tmp_path: Path) -> None:
    """The spine says that there is no answer, who declined, and how much was walked; an absent edge is invented."""
    cases = RunOnFiles.read(small_world(tmp_path / "world")).cases
    backbone = packed(backbone_of(cases["false-premise"]))
    declined = Case(cases["false-premise"].question, cases["no-path"].answer)
    columns = [packed(column_of(one)) for one in (cases["false-premise"], declined)]
    spine = Spine.unpacked(backbone, columns, ("bold", "shy"), (False, True), (False, False))
    assert [one.walk for one in stories(spine)] == ["bad", "good"]
    html = str(fragment(spine, "false-premise"))
    assert "The question has no answer (false premise)." in html
    assert "declined, as the question has no answer" in html
    assert 'bold</bdi> +2, </span><span data-run="1"><bdi>shy</bdi> +0</span>' in html
    statuses, _, _ = edge_statuses(cases["false-premise"])
    # Of the two edges that bold walked, the question lists one.
    assert statuses == {tuple(ABSENT): "invented", tuple(LOGIN): "extra"}
