"""Measures of the ranking: the worked case, the edges of the domain, and trec_eval as an independent peer."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytrec_eval

import graphkit
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.ranking import AP, RR, Acc, AnswerContainment, P, Recall, Rprec, Success, nDCG
from graphkit.records.models import Answer, Question
from tests.helpers.cases import answer, question, ranking, reason, relevant, value
from tests.helpers.datasets import read_jsonl

ALL: tuple[Measure, ...] = (Success(5), Recall(5), P(5), RR(), nDCG(5), Acc(5), Rprec(), AP())

#: nDCG of the worked case: gains at ranks 2 and 4, over the best order's ranks 1 and 2.
WORKED_NDCG = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))


def scores(question: Question, answer: Answer) -> list[float]:
    """Return Success@5, Recall@5, P@5, RR, nDCG@5, Acc@5, Rprec and AP."""
    return [value(measure, question, answer) for measure in ALL]


def test_worked_case() -> None:
    """Relevant doc-3 and doc-9 at ranks 2 and 4 of five."""
    asked = relevant(["doc-3", "doc-9"])
    found = scores(asked, ranking("doc-7", "doc-3", "doc-1", "doc-9", "doc-2"))
    # Of the first two ids one is relevant: Rprec = 1/2. The precision is 1/2 at rank 2 and 2/4 at rank 4: AP = 1/2.
    assert found == pytest.approx([1.0, 1.0, 2 / 5, 0.5, WORKED_NDCG, 1.0, 1 / 2, 1 / 2])
    # (0.63093 + 0.43068) / 1.63093, as the definition works it out.
    assert found[4] == pytest.approx(0.65092, abs=5e-6)


def test_nothing_retrieved_is_zero() -> None:
    """An empty ranking scores 0 in each measure."""
    assert scores(relevant(["a"]), ranking()) == [0.0] * len(ALL)


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_no_relevant_ids_is_unscored(measure: Measure) -> None:
    """Without relevance judgements nothing can be scored, and the reason says so."""
    assert reason(measure, question(), ranking("a")) == "no relevant ids"


def test_gains_that_are_all_zero() -> None:
    """An ideal of 0 gives nDCG 0; the other measures aren't scored without a relevant id."""
    asked = relevant({"a": 0, "b": 0})
    assert value("nDCG@5", asked, ranking("a", "b")) == 0.0
    others = [measure for measure in ALL if measure != nDCG(5)]
    assert [reason(measure, asked, ranking("a")) for measure in others] == ["no relevant ids"] * 7


@pytest.mark.parametrize("gain", [0, -1, -0.5])
def test_an_id_with_gain_zero_or_less_is_not_relevant(gain: float) -> None:
    """An id with a gain of 0 or less is ignored beside a positive one; alone it gives nDCG 0."""
    assert scores(relevant({"a": gain, "b": 2}), ranking("a", "b")) == scores(relevant({"b": 2}), ranking("a", "b"))
    assert value("RR", relevant({"a": gain, "b": 2}), ranking("a", "b")) == 0.5
    assert value("nDCG@5", relevant({"a": gain}), ranking("a")) == 0.0
    assert reason("Recall@5", relevant({"a": gain}), ranking("a")) == "no relevant ids"


def test_duplicates_count_at_their_first_rank() -> None:
    """A repeat of a relevant id keeps its place in the ranking and adds nothing."""
    asked = relevant(["a", "b"])
    run = ranking("a", "a", "x", "b", "b")
    # a at rank 1, b at rank 4: DCG = 1 + 1/log2(5), the ideal is 1 + 1/log2(3).
    ideal = 1 + 1 / math.log2(3)
    ndcg = (1 + 1 / math.log2(5)) / ideal
    # Both are in the top 5, one of them in the top 2; the precision is 1/1 at rank 1 and 2/4 at rank 4.
    assert scores(asked, run) == pytest.approx([1.0, 1.0, 2 / 5, 1.0, ndcg, 1.0, 1 / 2, (1 + 2 / 4) / 2])
    assert value("Recall@3", asked, run) == 0.5


def test_k_larger_than_the_ranking() -> None:
    """A k beyond the ranking leaves recall at 1, and precision still divides by k."""
    asked, run = relevant(["a"]), ranking("x", "a")
    assert value("Recall@50", asked, run) == 1.0
    assert value("P@50", asked, run) == 1 / 50
    assert value("Success@50", asked, run) == 1.0
    assert value("nDCG@50", asked, run) == pytest.approx(1 / math.log2(3))


def test_k_cuts_the_ideal_too() -> None:
    """At k = 1, one relevant id on top is ideal, however many there are."""
    asked, run = relevant(["a", "b", "c"]), ranking("a", "x", "b")
    assert value("nDCG@1", asked, run) == 1.0
    assert value("Recall@1", asked, run) == pytest.approx(1 / 3)


def test_rank_just_inside_and_outside_of_k() -> None:
    """Rank k counts, rank k + 1 doesn't."""
    asked, run = relevant(["a"]), ranking("x", "y", "a")
    assert [value(f"{name}@3", asked, run) for name in ("Success", "Recall", "P")] == [1.0, 1.0, 1 / 3]
    assert [value(f"{name}@2", asked, run) for name in ("Success", "Recall", "P", "nDCG")] == [0.0] * 4
    assert value("RR", asked, run) == pytest.approx(1 / 3)


def test_the_questions_own_k_comes_first() -> None:
    """k is the question's, else the measure's, else 5."""
    run = ranking("x", "a", "y", "z", "w", "b")
    assert value("P@4", relevant(["a"], k=2), run) == 1 / 2
    assert value("P@4", relevant(["a"]), run) == 1 / 4
    assert value(P(), relevant(["a", "b"]), run) == 1 / 5


def test_accuracy_needs_all_relevant_ids_in_the_top_k() -> None:
    """Acc@k is 0 until the last relevant id is in the top k, and always if k is smaller than their number."""
    asked, run = relevant(["a", "b", "c"]), ranking("a", "c", "x", "b")
    assert [value(f"Acc@{k}", asked, run) for k in (1, 2, 3, 4, 50)] == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert value("Acc@2", asked, ranking("a", "b", "c")) == 0.0
    # An id that is judged as not relevant need not be there; the question's own k comes first.
    assert value("Acc@1", relevant({"a": 2.0, "b": 0.0}), ranking("a")) == 1.0
    assert value("Acc@4", relevant(["a", "b", "c"], k=3), run) == 0.0


def test_r_precision_cuts_at_the_number_of_relevant_ids() -> None:
    """The top 3 hold two of three relevant ids; a ranking of a single id is divided by 3, too."""
    asked = relevant(["a", "b", "c"])
    assert value("Rprec", asked, ranking("a", "x", "c", "b")) == 2 / 3
    assert value("Rprec", asked, ranking("b")) == 1 / 3
    assert value("Rprec", asked, ranking("c", "a", "b", "x")) == 1.0
    # Neither the question's k nor an id that isn't relevant moves the cut.
    assert value("Rprec", relevant({"a": 1.0, "b": 3.0, "z": 0.0}, k=1), ranking("a", "z", "b")) == 1 / 2


def test_average_precision_by_hand() -> None:
    """Relevant ids at ranks 1, 3 and 6, and one that wasn't retrieved: (1/1 + 2/3 + 3/6 + 0) / 4 = 13/24."""
    asked, run = relevant(["a", "b", "c", "d"]), ranking("a", "x", "b", "y", "z", "c")
    assert value("AP", asked, run) == pytest.approx(13 / 24)
    # Gains don't matter, only which of them are positive; the whole ranking counts, whatever the question's k.
    graded = relevant({"a": 1.0, "b": 3.0, "c": 0.5, "d": 2.0, "x": 0.0}, k=1)
    assert value("map", graded, run) == pytest.approx(13 / 24)
    assert value("AP", relevant(["a", "b"]), ranking("b", "a", "x")) == 1.0


def test_graded_gains_are_linear() -> None:
    """A gain of 3 weighs three times a gain of 1: gains are linear."""
    asked = relevant({"a": 1, "b": 3})
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert value("nDCG@5", asked, ranking("a", "b")) == pytest.approx(expected)


def test_the_rank_field_orders() -> None:
    """If the ranks and the list differ in order, the ranks count."""
    run = answer(retrieved=[{"id": "x", "rank": 3}, {"id": "a", "rank": 1}, {"id": "y", "rank": 2}])
    assert value("RR", relevant(["a"]), run) == 1.0
    assert [chunk.id for chunk in Case(relevant(["a"]), run).chunks] == ["a", "y", "x"]


def test_a_rank_that_one_chunk_lacks_leaves_the_order() -> None:
    """If a chunk has no rank, the order of the list counts."""
    run = answer(retrieved=[{"id": "x", "rank": 3}, {"id": "a"}])
    assert value("RR", relevant(["a"]), run) == 0.5


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_missing_and_failed_records_are_unscored(measure: Measure) -> None:
    """A missing or failed record is unscored, never 0."""
    asked = relevant(["a"])
    assert reason(measure, asked, None) == "the run has no record for this question"
    assert reason(measure, asked, ranking("a", error="boom")) == "failed: boom"


# The answer span ---------------------------------------------------------------------------------------------------


def documents(*texts: str | None) -> Answer:
    """Return a record whose chunks hold these texts, best first."""
    return answer(retrieved=[{"id": f"d{number}", "text": text} for number, text in enumerate(texts)])


def test_containment_ignores_case_space_and_unicode_form() -> None:
    """Case, runs of white space and Unicode composition don't matter."""
    # "é" as one code point in the span; in the text "e" with a combining accent, and a no-break space.
    asked = question(expected_output="Café  au lait")
    run = documents("We drink CAFE\u0301\u00a0au\n\tLAIT here.")
    assert value("AnswerContainment@5", asked, run) == 1.0
    assert value("AnswerContainment(exact=True)@5", asked, run) == 0.0


def test_containment_folds_letters_that_fold_into_several() -> None:
    """The capital of "ΐ" is written as a letter with a mark behind it, and folding takes "ΐ" apart the other way."""
    asked = question(expected_output="τέλος Μαΐου")
    # U+0399 U+0308 U+0301 is NFKC as U+03AA U+0301, which folds into U+03CA U+0301; "ΐ" folds into three characters.
    run = answer(retrieved=[{"id": "a", "text": "ΤΈΛΟΣ ΜΑ\u0399\u0308\u0301ΟΥ 2026"}])
    assert value("AnswerContainment@1", asked, run) == 1.0


def test_containment_folds_ligatures_and_sharp_s() -> None:
    """NFKC opens the ligature in "ofﬁce", and case folding makes "ß" into "ss"."""
    assert value("AnswerContainment@1", question(expected_output="OFFICE STRASSE"), documents("oﬃce straße")) == 1.0


def test_containment_exact() -> None:
    """With ``exact``, the span must occur literally in the text."""
    asked = question(expected_output="x = 1")
    assert value(AnswerContainment(k=1, exact=True), asked, documents("let x = 1;")) == 1.0
    assert value(AnswerContainment(k=1, exact=True), asked, documents("let X = 1;")) == 0.0


def test_containment_looks_at_the_top_k_only() -> None:
    """A span at rank 2 is in the top 2, not in the top 1."""
    asked, run = question(expected_output="here"), documents("there is none", "right here")
    assert value("AnswerContainment@2", question(expected_output="right"), run) == 1.0
    assert value("AnswerContainment@1", question(expected_output="right"), run) == 0.0
    # "there" holds "here": a span is text, not a word.
    assert value("AnswerContainment@1", asked, run) == 1.0


def test_containment_takes_the_gold_answer_where_there_is_no_span() -> None:
    """expected_output comes first, then the gold answer."""
    run = documents("the answer is blue")
    assert value("AnswerContainment@5", question(gold_answer="Blue"), run) == 1.0
    assert value("AnswerContainment@5", question(gold_answer="Blue", expected_output="green"), run) == 0.0


@pytest.mark.parametrize("fields", [{}, {"gold_answer": ""}, {"expected_output": " \n"}])
def test_containment_without_a_span_is_unscored(fields: dict[str, str]) -> None:
    """An empty span isn't scored, since every text would contain it."""
    assert reason("AnswerContainment@5", question(**fields), documents("text")) == "no expected answer span"


def test_containment_without_text() -> None:
    """Chunks without text aren't scored; some with text are; without chunks the value is 0."""
    asked = question(expected_output="x")
    assert reason("AnswerContainment@5", asked, documents(None, None)) == "the retrieved chunks carry no text"
    assert value("AnswerContainment@5", asked, documents(None, "x")) == 1.0
    assert value("AnswerContainment@5", asked, ranking()) == 0.0


# trec_eval as a peer -----------------------------------------------------------------------------------------------

CUTS = (1, 5, 10, 20)


def peers(questions: list[Question], answers: list[Answer]) -> Iterator[tuple[str, str, float, float]]:
    """Yield (question, measure, trec_eval's value, ours) for each measure of trec_eval."""
    qrels = {one.id: {node: int(gain) for node, gain in one.relevant.items()} for one in questions}
    # trec_eval ranks by score, not by order.
    run = {
        one.question_id: {chunk.id: float(-rank) for rank, chunk in enumerate(Case(questions[0], one).chunks)}
        for one in answers
    }
    names = {f"{trec}_{k}": f"{ours}@{k}" for k in CUTS for trec, ours in
             (("ndcg_cut", "nDCG"), ("recall", "Recall"), ("P", "P"), ("success", "Success"))}  # fmt: skip
    wanted = {f"{family}.{','.join(map(str, CUTS))}" for family in ("ndcg_cut", "recall", "P", "success")}
    whole = {"recip_rank": "RR", "Rprec": "Rprec", "map": "AP"}
    found = pytrec_eval.RelevanceEvaluator(qrels, wanted | whole.keys()).evaluate(run)
    by_id = {one.id: one for one in questions}
    for one in answers:
        theirs = found[one.question_id]
        for trec, ours in {**names, **whole}.items():
            yield one.question_id, ours, theirs[trec], value(ours, by_id[one.question_id], one)


def test_agrees_with_trec_eval_on_random_rankings() -> None:
    """300 seeded rankings without ties, with graded gains, zeros, -1 as TREC files have, and ids not retrieved."""
    draw = random.Random(20)
    ids = [f"d{number}" for number in range(40)]
    questions, answers = [], []
    for number in range(300):
        judged = draw.sample(ids, draw.randint(1, 12))
        gains = {node: float(draw.randint(-1, 3)) for node in judged} | {draw.choice(judged): 2.0}
        questions.append(relevant(gains, id=f"q{number}"))
        answers.append(ranking(*draw.sample(ids, draw.randint(1, 30)), question_id=f"q{number}"))
    compared = list(peers(questions, answers))
    assert len(compared) == 300 * (4 * len(CUTS) + 3)
    assert [one for one in compared if abs(one[2] - one[3]) > 1e-9] == []


@pytest.mark.parametrize("name", ["bm25", "bm25-expand", "mixed-versions", "ppr"])
def test_agrees_with_trec_eval_on_pallets(pallets: Path, name: str) -> None:
    """The four runs over the 40 questions of the pallets data."""
    questions = [graphkit.Question.model_validate(one) for one in read_jsonl(pallets / "questions.jsonl")]
    answers = [graphkit.Answer.model_validate(one) for one in read_jsonl(pallets / "runs" / f"{name}.jsonl")]
    compared = list(peers(questions, answers))
    assert len(compared) == 40 * (4 * len(CUTS) + 3)
    assert [one for one in compared if abs(one[2] - one[3]) > 1e-9] == []
