"""Claims of the answer against those of the gold answer: RAGChecker's metrics, and the gold edges of a claim."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import MeasureError
from graphkit.measures.case import Case
from graphkit.measures.owners import NO_GOLD_CLAIMS
from graphkit.measures.registry import lower_is_better, parse_measure
from graphkit.measures.unscored import NO_CHUNK, NO_RETRIEVAL
from graphkit.plugins.judging.judges.claims import CLAIMS, MEASURES
from graphkit.plugins.judging.judges.contract import Reading
from graphkit.plugins.judging.judges.gold_claims import (
    AGAINST_GOLD,
    IRRELEVANT,
    NO_CLAIMS,
    NOTHING_TO_USE,
    RELEVANT,
)
from graphkit.plugins.judging.judges.materials import Materials, materials_of
from graphkit.plugins.judging.verdicts import GoldEdge
from tests.helpers.absent import absent
from tests.helpers.cases import question, unlogged
from tests.helpers.judging import judged, materials, read, reasons, values
from tests.helpers.properties import examples

GOLD = ("SUPPORTED", "CONTRADICTED", "NOT_MENTIONED")


def said(
    labels: Sequence[tuple[str | None, Sequence[int]]], gold: Sequence[tuple[bool, Sequence[int]]]
) -> dict[str, Any]:
    """Return a verdict on claims with what gold says and the chunks that entail them, and on those of gold."""

    def evidence(chunks: Sequence[int]) -> list[dict[str, Any]]:
        return [{"chunk": f"c{place + 1}", "quote": f"text {place}", "alone": True} for place in chunks]

    claims = [
        {
            **{"text": f"claim {number}", "sentence": "s1", "hedged": False, "together": False, "edge": None},
            **{"support": "DIRECT" if chunks else "UNSUPPORTED", "evidence": evidence(chunks), "gold": label},
        }
        for number, (label, chunks) in enumerate(labels)
    ]
    stated = [
        {"text": f"gold {number}", "chunks": [f"c{place + 1}" for place in chunks], "stated": is_stated}
        for number, (is_stated, chunks) in enumerate(gold)
    ]
    return {"claims": claims, "gold_claims": stated}


def shown(chunks: int = 3, **more: Any) -> Materials:
    """Return an answer of one sentence over some chunks, with a gold answer."""
    texts = {f"a:{place}.py": f"text {place}" for place in range(chunks)}
    return materials("It answers.", texts, **{"gold_answer": "gold", **more})


def found(reading: Reading) -> dict[str, float | None]:
    """Return the values of the measures against gold."""
    return {name: value for name, value in values(reading.findings).items() if name in AGAINST_GOLD}


def why(reading: Reading) -> dict[str, str | None]:
    """Return the reasons of those of them without a value."""
    return {name: reason for name, reason in reasons(reading.findings).items() if name in AGAINST_GOLD}


def test_worked_case() -> None:
    """Six claims and four of gold over three chunks, worked by hand; each kind of claim is there once.

    Right are the first two: 2/6; stated are two of four: 1/2; F1 = 2 (1/3 x 1/2) / (5/6) = 2/5. A chunk supports the
    first three claims of gold, of which two are stated: 2/3. They are c1 and c2: 2 of 3 chunks are relevant. The false
    claims: the third rests on c2, relevant; the fourth on c2 and c3, so it counts for the relevant one; the fifth on c3
    alone; the sixth on nothing. Of the right ones the second rests on nothing.
    """
    labels = [
        ("SUPPORTED", [0]),
        ("SUPPORTED", []),
        ("CONTRADICTED", [1]),
        ("NOT_MENTIONED", [1, 2]),
        ("NOT_MENTIONED", [2]),
        ("CONTRADICTED", []),
    ]
    gold = [(True, [0]), (True, [0, 1]), (False, [1]), (False, [])]
    reading = read(CLAIMS, shown(), said(labels, gold))
    assert found(reading) == {
        "ClaimPrecision": pytest.approx(2 / 6),
        "ClaimRecall": 0.5,
        "ClaimF1": pytest.approx(2 / 5),
        "ContextUtilization": pytest.approx(2 / 3),
        RELEVANT: pytest.approx(2 / 6),
        IRRELEVANT: pytest.approx(1 / 6),
        "Fabrication": pytest.approx(1 / 6),
        "SelfKnowledge": pytest.approx(1 / 6),
        "ChunkPrecision": pytest.approx(2 / 3),
    }
    assert [(one.text, one.chunks, one.stated) for one in reading.gold_claims] == [
        ("gold 0", ("a:0.py",), True),
        ("gold 1", ("a:0.py", "a:1.py"), True),
        ("gold 2", ("a:1.py",), False),
        ("gold 3", (), False),
    ]


def ragchecker(
    labels: Sequence[tuple[str | None, Sequence[int]]], gold: Sequence[tuple[bool, Sequence[int]]], chunks: int
) -> dict[str, Fraction | None]:
    """Return RAGChecker's metrics by our names, derived anew over matrices of labels.

    There is a claim of each side and a chunk, so nothing but the context utilisation may have nothing to measure: None.
    """
    right = [label == "SUPPORTED" for label, _ in labels]
    entails = [[place in there for place in range(chunks)] for _, there in labels]
    useful = [[place in there for place in range(chunks)] for _, there in gold]
    columns = [any(row[place] for row in useful) for place in range(chunks)]
    of_relevant = [any(one and other for one, other in zip(row, columns, strict=True)) for row in entails]
    of_others = [any(one and not other for one, other in zip(row, columns, strict=True)) for row in entails]

    def share(*kinds: Sequence[bool]) -> Fraction:
        rows = [all(row) for row in zip(*kinds, strict=True)]
        return Fraction(rows.count(True), len(rows))

    wrong = [not one for one in right]
    unfaithful = [not any(row) for row in entails]
    precision, recall = share(right), Fraction(sum(stated for stated, _ in gold), len(gold))
    recalled = [any(row) for row in useful]
    used = sum(one and stated for one, (stated, _) in zip(recalled, gold, strict=True))
    return {
        "ClaimPrecision": precision,
        "ClaimRecall": recall,
        "ClaimF1": 2 * precision * recall / (precision + recall) if precision and recall else Fraction(0),
        "ContextRecall": Fraction(sum(recalled), len(recalled)),
        "ChunkPrecision": share(columns),
        "ContextUtilization": Fraction(used, sum(recalled)) if any(recalled) else None,
        RELEVANT: share(of_relevant, wrong),
        IRRELEVANT: share(of_others, [not one for one in of_relevant], wrong),
        "Fabrication": share(unfaithful, wrong),
        "SelfKnowledge": share(unfaithful, right),
        "Faithfulness": share([not one for one in unfaithful]),
    }


@st.composite
def matrices(draw: st.DrawFn) -> tuple[Any, Any, int]:
    """Draw the labels of some claims, of some claims of gold, and the number of chunks."""
    chunks = draw(st.integers(1, 5))
    places = st.lists(st.integers(0, chunks - 1), unique=True).map(sorted)
    labels = draw(st.lists(st.tuples(st.sampled_from(GOLD), places), min_size=1, max_size=7))
    return labels, draw(st.lists(st.tuples(st.booleans(), places), min_size=1, max_size=7)), chunks


@examples(1000)
@given(matrices())
def test_every_metric_of_ragchecker(drawn: tuple[Any, Any, int]) -> None:
    """Over random labels each is that of an independent derivation; every claim falls into one kind."""
    labels, gold, chunks = drawn
    worth = values(read(CLAIMS, shown(chunks), said(labels, gold)).findings)
    for measure, value in ragchecker(labels, gold, chunks).items():
        assert worth[measure] == (None if value is None else pytest.approx(float(value), abs=1e-12)), measure
    kinds = [worth[name] or 0.0 for name in ("ClaimPrecision", RELEVANT, IRRELEVANT, "Fabrication")]
    assert sum(map(Fraction, kinds)) == pytest.approx(1)
    unsupported = (worth["Fabrication"] or 0.0) + (worth["SelfKnowledge"] or 0.0)
    assert worth["HallucinationRate"] == pytest.approx(unsupported)


#: RAGChecker's names.
THEIRS = {
    **{"ClaimPrecision": "precision", "ClaimRecall": "recall", "ClaimF1": "f1", "ContextRecall": "claim_recall"},
    **{"ChunkPrecision": "context_precision", "ContextUtilization": "context_utilization"},
    **{RELEVANT: "noise_sensitivity_in_relevant", IRRELEVANT: "noise_sensitivity_in_irrelevant"},
    **{"Fabrication": "hallucination", "SelfKnowledge": "self_knowledge", "Faithfulness": "faithfulness"},
}


def test_the_released_checking_file(published: Path) -> None:
    """Each metric of each answer is that of the file, from its labels alone."""
    file = published / "RAGChecker" / "examples" / "checking_outputs.json"
    if not file.is_file():
        absent("GRAPHKIT_REQUIRE_PUBLISHED", "the published files of RAGChecker")
    labels = {"Entailment": "SUPPORTED", "Contradiction": "CONTRADICTED", "Neutral": "NOT_MENTIONED"}

    def places(row: Sequence[str]) -> list[int]:
        return [place for place, label in enumerate(row) if label == "Entailment"]

    rows = json.loads(file.read_text(encoding="utf-8"))["results"]
    assert len(rows) == 2
    for row in rows:
        pairs = zip(row["answer2response"], row["retrieved2response"], strict=True)
        gold = zip(row["response2answer"], row["retrieved2answer"], strict=True)
        verdict = said(
            [(labels[label], places(chunks)) for label, chunks in pairs],
            [(label == "Entailment", places(chunks)) for label, chunks in gold],
        )
        worth = values(read(CLAIMS, shown(len(row["retrieved_context"])), verdict).findings)
        assert {theirs: worth[ours] for ours, theirs in THEIRS.items()} == pytest.approx(row["metrics"], abs=1e-15)


def test_nothing_to_measure_is_not_scored() -> None:
    """No claim, no claim of gold, no chunk, no chunk of use: each its reason, where RAGChecker has 0."""
    silent = read(CLAIMS, shown(), said([], [(False, [0])]))
    assert why(silent) == dict.fromkeys(
        ("ClaimPrecision", RELEVANT, IRRELEVANT, "Fabrication", "SelfKnowledge"), NO_CLAIMS
    )
    # An answer that says nothing states nothing of gold: that is 0, so that silence passes no gate.
    assert (found(silent)["ClaimRecall"], found(silent)["ClaimF1"]) == (0.0, 0.0)

    goldless = read(CLAIMS, shown(), said([("SUPPORTED", [])], []))
    left = {"ClaimPrecision", "Fabrication", "SelfKnowledge"}
    assert why(goldless) == dict.fromkeys({*AGAINST_GOLD} - left, NO_GOLD_CLAIMS)
    assert found(goldless)["SelfKnowledge"] == 1.0

    bare = read(CLAIMS, shown(0), said([("SUPPORTED", []), ("CONTRADICTED", [])], [(True, [])]))
    assert why(bare) == {
        "ContextUtilization": NOTHING_TO_USE,
        **dict.fromkeys((RELEVANT, IRRELEVANT, "ChunkPrecision"), NO_CHUNK),
    }
    # Without chunks every claim is unsupported, where RAGChecker has 0 for both.
    assert (found(bare)["Fabrication"], found(bare)["SelfKnowledge"]) == (0.5, 0.5)
    assert why(read(CLAIMS, shown(), said([("SUPPORTED", [0])], [(True, [])]))) == {
        "ContextUtilization": NOTHING_TO_USE
    }


def test_a_judge_that_leaves_gold_out() -> None:
    """A verdict without the relation of a claim to gold leaves the measures that need it unscored, and no others."""
    reading = read(CLAIMS, shown(), said([("SUPPORTED", [0]), (None, [1])], [(True, [0])]))
    lack = "the judge doesn't say of 1 claim whether the gold answer supports it"
    known = {"ClaimRecall", "ContextUtilization", "ChunkPrecision"}
    assert why(reading) == dict.fromkeys({*AGAINST_GOLD} - known, lack)
    assert found(reading)["ClaimRecall"] == 1.0
    assert why(read(CLAIMS, shown(), said([(None, [])], [])))["ClaimF1"] == NO_GOLD_CLAIMS


def test_chunks_that_the_judge_did_not_see() -> None:
    """Measures that chunks left out could change aren't scored: those of false and of unsupported claims."""
    room = {"context_tokens": 2}  # six characters: room for one chunk of six
    hidden = shown(2, **room)
    assert hidden.left_out == ("a:1.py",)
    unseen = "the judge wasn't shown 1 of 2 chunks"
    reading = read(CLAIMS, hidden, said([("SUPPORTED", []), ("CONTRADICTED", [])], [(True, [0]), (True, [])]))
    names = ("ContextUtilization", RELEVANT, IRRELEVANT, "Fabrication", "SelfKnowledge", "ChunkPrecision")
    assert why(reading) == dict.fromkeys(names, unseen)
    # All that could change is known: each claim of gold has a chunk, and the false claim a relevant one.
    reading = read(CLAIMS, hidden, said([("SUPPORTED", [0]), ("CONTRADICTED", [0])], [(True, [0])]))
    assert why(reading) == {"ChunkPrecision": unseen}
    assert (found(reading)[RELEVANT], found(reading)[IRRELEVANT], found(reading)["Fabrication"]) == (0.5, 0.0, 0.0)

    case = Case(question(gold_answer="gold"), unlogged(answer="It answers."))
    reading = read(CLAIMS, materials_of(case, "r"), said([("CONTRADICTED", [])], [(True, [])]))
    assert why(reading) == dict.fromkeys({*names} - {"SelfKnowledge"}, NO_RETRIEVAL)


def test_a_claim_that_rests_on_an_edge_alone() -> None:
    """It is false by no chunk, and not made up either."""
    one = {**said([("CONTRADICTED", [])], [(True, [0])])["claims"][0], "edge": "e1"}
    walked = shown(1, walk=[("a:x", "R", "a:y")])
    reading = read(CLAIMS, walked, {"claims": [one], "gold_claims": said([], [(True, [0])])["gold_claims"]})
    assert (found(reading)[RELEVANT], found(reading)[IRRELEVANT], found(reading)["Fabrication"]) == (0.0, 0.0, 0.0)


def test_a_quote_that_does_not_occur_is_no_noise() -> None:
    """A chunk counts as noise if the quote from it occurs."""
    one = said([("CONTRADICTED", [0, 1])], [(True, [0])])
    one["claims"][0]["evidence"][0]["quote"] = "nowhere"
    reading = read(CLAIMS, shown(2), one)
    assert (found(reading)[RELEVANT], found(reading)[IRRELEVANT]) == (0.0, 1.0)


def test_an_empty_answer_states_nothing() -> None:
    """A judge that calls a claim stated by an empty answer isn't believed, and that is noted."""
    graded = judged(CLAIMS, materials(" ", {"a:0.py": "text 0"}, gold_answer="g"), said([], [(True, [0])]))
    assert values(graded.findings)["ClaimRecall"] == 0.0
    assert graded.verdict is not None
    assert [one.stated for one in graded.verdict.gold_claims] == [False]
    assert "called stated, but the answer is empty" in graded.verdict.notes[0]


def test_the_parameter() -> None:
    """The kind of chunks is checked, and its default isn't printed; the names are those of the grader."""
    assert str(parse_measure("NoiseSensitivity(chunks='relevant')")) == RELEVANT
    assert str(parse_measure('noise_sensitivity(chunks="irrelevant")')) == IRRELEVANT
    assert lower_is_better(IRRELEVANT)
    with pytest.raises(MeasureError, match='chunks must be "relevant" or "irrelevant"'):
        parse_measure("NoiseSensitivity(chunks='all')")
    assert {str(parse_measure(one)) for one in MEASURES} == {*MEASURES}


# Gold edges of a claim ------------------------------------------------------------------------------------------------

PATH = [("web:x.ts#submit", "CALLS", "api:auth.py#login"), ("api:auth.py#login", "QUERIES", "db:s.sql#customers")]


def edges_of(text: str, chunks: Sequence[int] = (), **more: Any) -> tuple[list[str], str | None]:
    """Return the targets of the gold edges that a claim goes with, and what names them."""
    sources = {"api:auth.py#login": "SELECT * FROM customers", "web:x.ts#submit": "nothing"}
    given = materials("It answers.", sources, gold_answer="g", gold_path=PATH, **more)
    claim = {"text": text, "chunks": [f"c{place + 1}" for place in chunks], "stated": False}
    [one] = read(CLAIMS, given, {"claims": [], "gold_claims": [claim]}).gold_claims
    return [edge.target for edge in one.edges], one.named_in


def test_gold_edges_that_a_claim_goes_with() -> None:
    """Its text names both ends as whole words, by their symbols; else one chunk does, whose id counts."""
    assert edges_of("submit calls login.") == (["api:auth.py#login"], "claim")
    assert edges_of("submit reaches customers through login") == (["db:s.sql#customers", "api:auth.py#login"], "claim")
    assert edges_of("submit reaches customers") == ([], None)  # no edge joins them
    assert edges_of("submitted by login") == ([], None)
    # The first chunk is login's and names customers; the second names one end only.
    assert edges_of("it reads them", [0]) == (["db:s.sql#customers"], "chunk")
    assert edges_of("it reads them", [1]) == ([], None)
    # What the text names goes before its chunks.
    assert edges_of("submit calls login.", [0]) == (["api:auth.py#login"], "claim")


def test_titles_are_names() -> None:
    """Nodes without a path are named by their ids, whatever their length; numbers aren't names."""
    path = [("Oslo", "IN", "Norway"), ("1905", "YEAR", "Norway")]
    given = materials("It answers.", {}, gold_answer="g", gold_path=path)
    claims: list[Any] = [
        {"text": text, "chunks": [], "stated": False} for text in ("Oslo lies in Norway", "In 1905 Norway voted")
    ]
    named = read(CLAIMS, given, {"claims": [], "gold_claims": claims}).gold_claims
    assert [one.edges for one in named] == [(GoldEdge(source="Oslo", relation="IN", target="Norway"),), ()]
