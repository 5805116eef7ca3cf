"""Evidence sets, any one of which suffices: cases worked by hand by KILT's rule, the best of the sets."""

from __future__ import annotations

import random
import string
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphkit.files.known_ids import gold_ids
from graphkit.measures.answer_matching import NO_GOLD_ANSWER
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.ranking import RetrievedF1, Rprec
from graphkit.measures.registry import parse_measure
from graphkit.measures.unscored import NO_RELEVANT, NO_RETRIEVAL
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


@pytest.mark.parametrize(
    ("text", "facts", "exact", "f1"),
    [
        # The answer and both facts.
        ("The Seine", ["T#0", "U#3"], 1.0, 1.0),
        # Answer: precision 1 / 2, recall 1. Facts: 1 / 3, 1 / 2. Joint: 1 / 6 and 1 / 2, so 2 * 1/12 / (4/6) = 1 / 4.
        ("Seine river", ["T#0", "T#1", "V#0"], 0.0, 1 / 4),
        # A right answer from a wrong place, and a wrong answer from the right places.
        ("Seine", ["V#0"], 0.0, 0.0),
        ("Rhine", ["T#0", "U#3"], 0.0, 0.0),
        # Facts: 2 / 3 and 1, which are the joint ones: 2 * 2/3 / (5/3) = 4 / 5.
        ("Seine", ["T#0", "U#3", "V#0"], 0.0, 4 / 5),
        ("", [], 0.0, 0.0),
    ],
)
def test_joint_measures(text: str, facts: list[str], exact: float, f1: float) -> None:
    """Both the answer and its facts have to be right, and a repeated fact counts once."""
    asked = question(gold_answer="Seine", evidence_sets=[["T#0", "U#3"]], relevant=["T", "U"])
    run = ranking(*facts, *facts[:1], answer=text)
    assert value("JointExactMatch", asked, run) == exact
    assert value("JointF1", asked, run) == pytest.approx(f1)
    # Of several gold answers and sets the best counts.
    either = question(gold_answers=["Oise", "Seine"], evidence_sets=[["W#0"], ["T#0", "U#3"]])
    assert value("joint_f1", either, run) == pytest.approx(f1)
    assert value("joint_em", either, run) == exact


def test_joint_measures_know_why_they_have_no_value() -> None:
    """A reason of the question comes first: without facts or gold answers no record could be scored."""
    facts = {"evidence_sets": [["T#0"]]}
    assert reason("JointF1", question(gold_answer="x"), unlogged()) == NO_RELEVANT
    assert reason("JointF1", question(**facts), unlogged()) == NO_GOLD_ANSWER
    assert reason("JointF1", question(gold_answer="x", **facts), unlogged(answer="x")) == NO_RETRIEVAL
    assert reason("JointF1", question(gold_answer="x", **facts), ranking("T#0")) == NO_ANSWER
    # Longer than 5 words, which is no reason here: HotpotQA compares any answer.
    long = question(gold_answer="from the spring of 1986 to now", **facts)
    assert value("JointExactMatch", long, ranking("T#0", answer="From the spring of 1986 to now.")) == 1.0


WORDS = ("yes", "no", "noanswer", "the", "Seine", "seine", "river", "U.S.", "us", "1,925", "1925")
FACTS = [f"{title}#{number}" for title in "TU" for number in range(3)]


def hotpot(text: str, gold: str, facts: set[str], supporting: set[str]) -> dict[str, float]:
    """Return the metrics of HotpotQA, derived again from their definitions."""

    def normalised(given: str) -> str:
        kept = "".join(sign for sign in given.lower() if sign not in string.punctuation)
        return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))

    have, want = normalised(text), normalised(gold)
    bags = Counter(have.split()), Counter(want.split())
    same = (bags[0] & bags[1]).total()
    if have != want and {have, want} & {"yes", "no", "noanswer"}:
        same = 0
    precision, recall = (same / bag.total() if same else 0.0 for bag in bags)
    both = len(facts & supporting)
    fact_precision = both / len(facts) if facts else 0.0
    fact_recall = both / len(supporting)

    def harmonic(one: float, other: float) -> float:
        return 2 * one * other / (one + other) if one + other > 0 else 0.0

    return {
        "RetrievedF1(sets=True, exact=True)": float(facts == supporting),
        "RetrievedPrecision(sets=True)": fact_precision,
        "RetrievedRecall(sets=True)": fact_recall,
        "RetrievedF1(sets=True)": harmonic(fact_precision, fact_recall),
        "JointExactMatch": float(have == want and facts == supporting),
        "JointF1": harmonic(precision * fact_precision, recall * fact_recall),
    }


def test_equal_to_the_metrics_of_hotpotqa() -> None:
    """On 1,000 random pairs of an answer and its facts; a title names the answer now and then, and means no node."""
    chosen = random.Random(7)
    seen: Counter[str] = Counter()
    for _ in range(1000):
        gold, text = (" ".join(chosen.choices(WORDS, k=chosen.choice((1, 1, 2, 7)))) for _ in range(2))
        text = chosen.choice((text, gold))
        supporting, facts = (chosen.sample(FACTS, chosen.choice(sizes)) for sizes in ((1, 2, 3), (0, 1, 2, 4)))
        facts = chosen.choice((facts, supporting))
        asked = question(gold_answer=gold, evidence_sets=[supporting], relevant=[gold, f"x:{gold}"])
        if {*gold.split()} == {"the"}:
            continue  # nothing is left of the gold answer: not scored
        for measure, expected in hotpot(text, gold, {*facts}, {*supporting}).items():
            found = value(measure, asked, ranking(*facts, answer=text))
            assert found == pytest.approx(expected, abs=1e-12), (measure, text, gold, facts, supporting)
            seen[measure] += 1
            seen[f"{measure}: between"] += 0 < expected < 1
            seen[f"{measure}: one"] += expected == 1
    assert all(seen[measure] > 900 for measure in hotpot("", "x", set(), {"-"}))
    assert seen["JointF1: between"] > 200
    assert min(seen[f"{name}: one"] for name in ("JointF1", "JointExactMatch")) > 100
