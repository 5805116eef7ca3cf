"""Evidence sets, any one of which suffices: cases worked by hand by KILT's rule, the best of the sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphkit.files.known_ids import gold_ids
from graphkit.measures.ranking import RetrievedF1, Rprec
from graphkit.measures.registry import parse_measure
from graphkit.plugins.compare.gold_renames import renamed
from graphkit.records.structs import QuestionStruct
from tests.helpers.cases import question, ranking, reason, relevant, unlogged, value
from tests.helpers.gold_rows import mistake, one

#: Either both of a and b suffice, or c alone.
ASKED = question(evidence_sets=[["a", "b"], ["c"]], relevant=["a", "b", "c"])


@pytest.mark.parametrize(
    ("run", "best"),
    [
        (["a", "x", "b"], 1 / 2),  # R = 2 for the first set: a; R = 1 for the second: none
        (["x", "a", "c"], 1 / 2),
        (["b", "a"], 1.0),
        (["c", "x", "y"], 1.0),  # the second set is complete at R = 1
        (["x", "c"], 0.0),  # of the second set none is in the top 1, of the first none in the top 2
        ([], 0.0),
    ],
)
def test_r_precision_is_that_of_the_best_set(run: list[str], best: float) -> None:
    """R is the size of the set."""
    assert value("Rprec(sets=True)", ASKED, ranking(*run)) == best


def test_other_measures_take_the_best_set() -> None:
    """Each set in turn is what is relevant; the union is judged without sets."""
    run = ranking("x", "a", "c")
    # {a, b}: a at rank 2 of 3; {c}: rank 3.
    assert value("Recall(sets=True)@3", ASKED, run) == 1.0
    assert value("Recall(sets=True)@2", ASKED, run) == 1 / 2
    assert value("Acc(sets=True)@3", ASKED, run) == 1.0
    assert value("Acc(sets=True)@2", ASKED, run) == 0.0
    assert value("Success(sets=True)@2", ASKED, run) == 1.0
    assert value("RR(sets=True)", ASKED, run) == 1 / 2
    assert value("AP(sets=True)", ASKED, run) == 1 / 3  # {a, b}: (1/2) / 2; {c}: 1/3
    assert value("Recall@3", ASKED, run) == 2 / 3
    assert value("Rprec", ASKED, run) == 2 / 3


def test_sets_have_levels() -> None:
    """A set is what its ids are at a level; ids without the level leave it."""
    asked = question(evidence_sets=[["r:a.py#f", "r:b.py#g"], ["r:c.py#h"]])
    assert value("Rprec(sets=True, level='file')", asked, ranking("r:b.py#x", "r:a.py#y")) == 1.0
    assert value("Rprec(sets=True, level='symbol')", asked, ranking("r:b.py#x", "r:a.py#f")) == 1 / 2
    assert reason("Rprec(sets=True, level='symbol')", question(evidence_sets=[["r:a.py"]]), ranking()) == (
        "no relevant ids"
    )


def test_without_sets_the_relevant_ids_are_one() -> None:
    """Measures by sets judge any question; what isn't logged is unscored."""
    assert value("Rprec(sets=True)", relevant(["a", "b"]), ranking("a")) == 1 / 2
    assert reason("Rprec(sets=True)", question(), ranking("a")) == "no relevant ids"
    assert "not logged" in reason("Rprec(sets=True)", ASKED, unlogged())
    assert reason("Rprec", question(evidence_sets=[["a"]]), ranking("a")) == "no relevant ids"


def test_sets_are_read_and_printed() -> None:
    """Only Python computes them."""
    assert str(Rprec(sets=True)) == "Rprec(sets=True)"
    assert parse_measure("rprec(sets=True)") == Rprec(sets=True)
    assert Rprec(sets=True).query is None


def test_ids_of_sets_are_gold() -> None:
    """They are known ids, and get new names with the rest of the gold."""
    assert [*gold_ids(QuestionStruct("q", "?", evidence_sets=[["r:a.py"], ["r:b.py#f"]]))] == ["r:a.py", "r:b.py#f"]
    assert renamed({"evidence_sets": [["r:a.py", "r:c.py"], ["r:b.py"]]}, {"r:a.py": "r:z.py"}) == {
        "evidence_sets": [["r:z.py", "r:c.py"], ["r:b.py"]]
    }


@pytest.mark.parametrize(
    ("run", "f1", "exact"),
    [
        (["a", "b"], 1.0, 1.0),
        (["b", "a", "b"], 1.0, 1.0),  # a repeat counts once
        (["a", "x", "y"], 2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2), 0.0),
        (["a"], 2 * 1 * (1 / 2) / (1 + 1 / 2), 0.0),
        (["x"], 0.0, 0.0),
        ([], 0.0, 0.0),
    ],
)
def test_f1_of_what_was_retrieved(run: list[str], f1: float, exact: float) -> None:
    """Relevant are a and b; the order doesn't count."""
    asked = relevant(["a", "b"])
    assert value("RetrievedF1", asked, ranking(*run)) == pytest.approx(f1)
    assert value("RetrievedF1(exact=True)", asked, ranking(*run)) == exact
    assert str(RetrievedF1(exact=True)) == "RetrievedF1(exact=True)"


KILT: dict[str, Any] = {
    "id": "k1",
    "input": "Who?",
    "output": [
        {"answer": "Ann", "provenance": [{"wikipedia_id": "12"}, {"wikipedia_id": "12"}, {"wikipedia_id": "7"}]},
        {"answer": "Ann Lee", "provenance": [{"wikipedia_id": "9", "title": "Lee"}]},
        {"provenance": [{"wikipedia_id": "9"}]},
        {"answer": "A. Lee"},
    ],
    "meta": {},
}


def test_kilt_is_imported_as_sets(tmp_path: Path) -> None:
    """Each output's pages are a set, repeated pages and sets once; an output without a provenance has none."""
    asked, problems = one("kilt", tmp_path, KILT)
    assert (asked.evidence_sets, asked.gold_answer) == ((("12", "7"), ("9",)), "Ann")
    assert asked.relevant == {"12": 1, "7": 1, "9": 1}
    assert problems.noted == {}
    asked, problems = one("kilt", tmp_path, KILT | {"output": [{"answer": "Ann"}]})
    assert (asked.evidence_sets, len(problems.noted)) == ((), 1)
    assert "the field 'output' must be a list" in mistake("kilt", tmp_path, KILT | {"output": []})
