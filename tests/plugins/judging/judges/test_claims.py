"""The claims matrix: what a judge lists, checked against the texts, and every measure that follows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.measures.case import Case
from graphkit.measures.owners import NO_GOLD_CLAIMS
from graphkit.measures.unscored import NO_RETRIEVAL
from graphkit.plugins.judging.judges.claims import (
    CLAIMS,
    MEASURES,
    NO_CITATIONS,
    NO_CLAIM_AT_IT,
    NOT_RETRIEVED,
    NOT_SHOWN,
    NOT_SUPPORTED,
)
from graphkit.plugins.judging.judges.contract import Reading
from graphkit.plugins.judging.judges.forms import NO_GOLD_ANSWER
from graphkit.plugins.judging.judges.gold_claims import AGAINST_GOLD, NO_CLAIMS
from graphkit.plugins.judging.judges.materials import Materials, materials_of
from tests.helpers.cases import answer, question, unlogged
from tests.helpers.judging import judged, materials, read, reasons, values
from tests.helpers.properties import examples

CHUNKS = {
    "api:auth.py#login": "def login():\n    find_customer()",
    "api:db.py#find_customer": "SELECT id FROM customers",
    "web:x.ts": "export const x = 1",
}
WALK = [("api:auth.py#login", "CALLS", "api:db.py#find_customer")]
ANSWER = "login calls find_customer [api:auth.py#login]. It reads customers [web:x.ts]. It caches."


def claim(text: str, sentence: str = "s1", support: str = "DIRECT", *evidence: Any, **more: Any) -> dict[str, Any]:
    """Return a claim; evidence is (chunk, quote) or (chunk, quote, alone)."""
    listed = [{"chunk": one[0], "quote": one[1], "alone": one[2] if len(one) > 2 else True} for one in evidence]
    said = {"text": text, "sentence": sentence, "hedged": False, "support": support, "evidence": listed}
    return {**said, "together": False, "edge": None, "gold": None, **more}


def reading(shown: Materials, *claims: dict[str, Any], gold: list[dict[str, Any]] | None = None) -> Reading:
    """Return what a verdict with these claims is worth."""
    return read(CLAIMS, shown, {"claims": list(claims), "gold_claims": gold or []})


#: The measures that compare the texts of both answers, whatever was retrieved.
BY_ANSWER = {"ClaimPrecision", "ClaimRecall", "ClaimF1"}

CALLS = claim("login calls find_customer", "s1", "DIRECT", ("c1", "find_customer()"), gold="SUPPORTED")
READS = claim("find_customer reads customers", "s2", "INFERRED", ("c2", "FROM customers"), gold="NOT_MENTIONED")
CACHES = claim("it caches", "s3", "UNSUPPORTED", gold="NOT_MENTIONED")


def test_worked_case() -> None:
    """Three claims and two citations, worked by hand.

    Supported are the first two of three: groundedness 2/3, hallucination 1/3. The citation of the first sentence is
    where its evidence is: correct and needed; that of the second is a chunk without evidence: 1 of 2 correct, 1 of 2
    needed. Of the three claims one is supported by its citations: 1/3. The gold claims are supported by c1 and by
    nothing: recall 1/2; the relevant chunk is at rank 1: precision 1, and of three chunks it is one.

    Right is one of three claims, stated one of two of the gold answer: 2 (1/3 x 1/2) / (1/3 + 1/2) = 2/5. The one that
    a chunk supports is stated. Of the false claims one rests on c2, which is irrelevant, and one on nothing.
    """
    shown = materials(ANSWER, CHUNKS, WALK, gold_answer="login reads customers")
    gold = [{"text": "a", "chunks": ["c1"], "stated": True}, {"text": "b", "chunks": [], "stated": False}]
    found = reading(shown, CALLS, READS, CACHES, gold=gold)
    assert values(found.findings) == {
        "Groundedness": pytest.approx(2 / 3),
        "HallucinationRate": pytest.approx(1 / 3),
        "Faithfulness": pytest.approx(2 / 3),
        "Attribution": 0.5,
        "CitationRecall": pytest.approx(1 / 3),
        "CitationPrecision": 0.5,
        "ContextPrecision": 1.0,
        "ContextRecall": 0.5,
        "ClaimPrecision": pytest.approx(1 / 3),
        "ClaimRecall": 0.5,
        "ClaimF1": pytest.approx(2 / 5),
        "ContextUtilization": 1.0,
        "NoiseSensitivity": 0.0,
        "NoiseSensitivity(chunks='irrelevant')": pytest.approx(1 / 3),
        "Fabrication": pytest.approx(1 / 3),
        "SelfKnowledge": 0.0,
        "ChunkPrecision": pytest.approx(1 / 3),
    }
    assert [(one.sentence, one.support, one.cited, one.cited_support) for one in found.claims] == [
        (1, "DIRECT", (0,), True),
        (2, "INFERRED", (1,), False),
        (3, "UNSUPPORTED", (), None),
    ]
    assert [(one.correct, one.needed, one.reason, one.chunks) for one in found.citations] == [
        (True, True, None, ("api:auth.py#login",)),
        (False, False, NOT_SUPPORTED, ("web:x.ts",)),
    ]
    assert not found.notes


def test_a_quote_that_does_not_occur() -> None:
    """Its claim is unsupported where nothing else is left, with what was said; another quote that occurs is enough."""
    shown = materials(ANSWER, CHUNKS)
    found = reading(shown, claim("x", "s1", "DIRECT", ("c1", "FIND_customer()")))
    [one] = found.claims
    assert (one.support, one.cited_support) == ("UNSUPPORTED", False)
    assert [part.occurs for part in one.evidence] == [False]
    assert one.mismatch == "the quote 'FIND_customer()' doesn't occur in api:auth.py#login"
    assert found.notes[0] == f"'x': {one.mismatch}"
    assert values(found.findings)["Groundedness"] == 0.0

    [one] = reading(shown, claim("x", "s1", "DIRECT", ("c2", "nowhere"), ("c1", "def  login():"))).claims
    assert (one.support, one.cited_support, [part.occurs for part in one.evidence]) == ("DIRECT", True, [False, True])
    assert one.mismatch is not None


def test_keys_that_are_not_there() -> None:
    """A chunk, an edge or a sentence that isn't there counts for nothing, and is reported."""
    shown = materials(ANSWER, CHUNKS, WALK)
    [one] = reading(shown, claim("x", "s9", "DIRECT", ("c9", "find_customer()"), edge="e9")).claims
    assert (one.support, one.sentence, one.evidence, one.edge, one.cited) == ("UNSUPPORTED", None, (), None, ())
    assert one.mismatch == "there is no sentence s9; there is no chunk c9; there is no edge e9"


@pytest.mark.parametrize(
    ("said", "expected"), [("DIRECT", "DIRECT"), ("INFERRED", "INFERRED"), ("UNSUPPORTED", "INFERRED")]
)
def test_a_walked_edge_supports(said: str, expected: str) -> None:
    """A claim that rests on an edge that was walked is supported without a quote; it knows whether gold has it."""
    shown = materials(ANSWER, CHUNKS, WALK, gold_path=WALK)
    [one] = reading(shown, claim("x", "s1", said, edge="e1")).claims
    assert one.support == expected
    assert one.edge is not None
    assert (one.edge.source, one.edge.relation, one.edge.target, one.edge.in_gold) == (*WALK[0], True)
    other = materials(ANSWER, CHUNKS, WALK, gold_path=[("a:x", "CALLS", "b:y")])
    [one] = reading(other, claim("x", "s1", said, edge="e1")).claims
    assert one.edge is not None
    assert one.edge.in_gold is False
    [one] = reading(materials(ANSWER, CHUNKS, WALK), claim("x", edge="e1")).claims
    assert one.edge is not None
    assert one.edge.in_gold is None


def test_called_unsupported_with_evidence() -> None:
    """Then the evidence isn't counted, neither for the claim nor for its citation."""
    found = reading(materials(ANSWER, CHUNKS), claim("x", "s1", "UNSUPPORTED", ("c1", "find_customer()")))
    assert (found.claims[0].support, found.claims[0].evidence, found.citations[0].correct) == ("UNSUPPORTED", (), False)
    assert "isn't counted" in found.notes[0]


def test_joint_support() -> None:
    """Two chunks together: the citations of both support the claim, each is needed, and neither alone is enough."""
    text = "login reads customers [api:auth.py#login][api:db.py#find_customer][web:x.ts]."
    both = claim(
        "x", "s1", "INFERRED", ("c1", "find_customer()", False), ("c2", "FROM customers", False), together=True
    )
    found = reading(materials(text, CHUNKS), both)
    assert found.claims[0].cited_support is True
    assert [(one.correct, one.needed) for one in found.citations] == [(True, True), (True, True), (False, False)]
    # Attribution and CitationPrecision 2 of 3.
    assert values(found.findings)["CitationPrecision"] == pytest.approx(2 / 3)
    assert values(found.findings)["CitationRecall"] == 1.0

    one_of_two = "login reads customers [api:auth.py#login]."
    found = reading(materials(one_of_two, CHUNKS), both)
    assert (found.claims[0].cited_support, found.citations[0].correct, found.citations[0].needed) == (
        False,
        True,
        False,
    )

    # Without `together`, chunks that don't support it alone support nothing that is cited.
    found = reading(materials(text, CHUNKS), {**both, "together": False})
    assert found.claims[0].cited_support is False

    # So does a chunk of it that isn't there.
    gone = claim("x", "s1", "INFERRED", ("c9", "nowhere", False), ("c2", "FROM customers", False), together=True)
    assert reading(materials(text, CHUNKS), gone).claims[0].cited_support is False

    # A quote of the set that doesn't occur breaks the set; what is left still supports the claim as such.
    broken = claim("x", "s1", "INFERRED", ("c1", "nowhere", False), ("c2", "FROM customers", False), together=True)
    found = reading(materials(text, CHUNKS), broken)
    assert (found.claims[0].support, found.claims[0].cited_support) == ("INFERRED", False)


def test_leaving_one_out() -> None:
    """Two citations that each support the claim alone are both needed; one that adds nothing isn't."""
    text = "login calls [api:auth.py#login] [api:db.py#find_customer] [web:x.ts]."
    found = reading(materials(text, CHUNKS), claim("x", "s1", "DIRECT", ("c1", "def login"), ("c2", "SELECT id")))
    assert [one.needed for one in found.citations] == [True, True, False]


def test_citations_that_nothing_was_retrieved_for() -> None:
    """They are wrong for that reason, and the claim isn't supported by them."""
    found = reading(materials("x [api:other.py#f].", CHUNKS), claim("x", "s1", "DIRECT", ("c1", "def login")))
    [one] = found.citations
    assert (one.target, one.chunks, one.correct, one.needed, one.reason) == (
        "api:other.py#f",
        (),
        False,
        False,
        NOT_RETRIEVED,
    )
    assert values(found.findings)["CitationRecall"] == 0.0


def test_hedged_statements() -> None:
    """They are no claims, and a citation at one is neither right nor wrong; without any claim nothing is scored."""
    found = reading(materials("It may call x [web:x.ts].", CHUNKS), claim("x", "s1", "UNSUPPORTED", hedged=True))
    assert found.claims == ()
    assert (found.citations[0].correct, found.citations[0].needed, found.citations[0].reason) == (
        None,
        None,
        NO_CLAIM_AT_IT,
    )
    assert reasons(found.findings)["Groundedness"] == NO_CLAIMS
    assert reasons(found.findings)["Attribution"] == "no citation stands at a claim"
    assert found.notes == ("1 hedged statement not counted as claims",)


def test_edges_of_every_measure() -> None:
    """No claims, no citations, no gold answer, no claims of it: not scored, each with its reason."""
    empty = judged(CLAIMS, materials(" ", CHUNKS))  # an empty script: asking would fail
    assert empty.verdict is None
    assert reasons(empty.findings) == {
        **dict.fromkeys(("Groundedness", "HallucinationRate", "Faithfulness", "CitationRecall"), NO_CLAIMS),
        **dict.fromkeys(("Attribution", "CitationPrecision"), NO_CITATIONS),
        **dict.fromkeys(("ContextPrecision", "ContextRecall", *AGAINST_GOLD), NO_GOLD_ANSWER),
    }
    # What was retrieved can still be compared with a gold answer.
    said = {"claims": [], "gold_claims": [{"text": "a", "chunks": ["c1"], "stated": False}]}
    assert values(judged(CLAIMS, materials(" ", CHUNKS, gold_answer="y"), said).findings)["ContextRecall"] == 1.0

    plain = reading(materials("It calls.", CHUNKS), claim("x", "s1", "DIRECT", ("c1", "def login")))
    assert reasons(plain.findings) == {
        "Attribution": NO_CITATIONS,
        "CitationPrecision": NO_CITATIONS,
        **dict.fromkeys(("ContextPrecision", "ContextRecall", *AGAINST_GOLD), NO_GOLD_ANSWER),
    }
    assert values(plain.findings)["CitationRecall"] == 0.0  # a claim without citations isn't supported by any

    silent = reading(materials("It calls.", CHUNKS, gold_answer="yes"), claim("x"))
    assert reasons(silent.findings)["ContextRecall"] == NO_GOLD_CLAIMS
    # Nothing relevant among what was retrieved: precision and recall 0.
    lost = reading(
        materials("It calls.", CHUNKS, gold_answer="yes"), gold=[{"text": "a", "chunks": ["c8"], "stated": True}]
    )
    assert values(lost.findings)["ContextPrecision"] == 0.0
    assert values(lost.findings)["ContextRecall"] == 0.0
    assert lost.notes[-1] == "'a': there is no chunk c8"


def test_context_precision() -> None:
    """Relevant at ranks 1 and 3: (1/1 + 2/3) / 2 = 5/6; the gold claims are all supported: recall 1."""
    gold = [{"text": "a", "chunks": ["c3"], "stated": True}, {"text": "b", "chunks": ["c1", "c3"], "stated": True}]
    found = reading(materials("x.", CHUNKS, gold_answer="y"), claim("x"), gold=gold)
    assert values(found.findings)["ContextPrecision"] == pytest.approx(5 / 6)
    assert values(found.findings)["ContextRecall"] == 1.0


def test_chunks_left_out() -> None:
    """Claims that a hidden chunk might support lower nothing: the measure isn't scored, and says why.

    A token is three characters: 10 tokens are room for 30. The first chunk has 32, the second 24; the third has 18, and
    room for 6 is left.
    """
    shown = materials(ANSWER, CHUNKS, context_tokens=10, gold_answer="y")
    assert shown.left_out == ("api:auth.py#login", "web:x.ts")
    unseen = "the judge wasn't shown 2 of 3 chunks"
    gold = [{"text": "a", "chunks": [], "stated": True}]
    found = reading(shown, claim("x", "s1", "UNSUPPORTED", gold="NOT_MENTIONED"), gold=gold)
    assert reasons(found.findings) == dict.fromkeys({*MEASURES} - BY_ANSWER - {"SelfKnowledge"}, unseen)
    assert [one.reason for one in found.citations] == [NOT_SHOWN, NO_CLAIM_AT_IT]

    # Where the chunks that were shown support all claims, nothing could be lowered.
    found = reading(shown, claim("x", "s3", "DIRECT", ("c1", "FROM customers")), gold=[{**gold[0], "chunks": ["c1"]}])
    scored = values(found.findings)
    assert (scored["Groundedness"], scored["HallucinationRate"], scored["ContextRecall"]) == (1.0, 0.0, 1.0)
    assert reasons(found.findings)["ContextPrecision"] == unseen


def test_chunks_that_were_not_logged() -> None:
    """If the record doesn't say what was retrieved, no claim is unsupported by it and no citation wrong."""
    case = Case(question(gold_answer="login reads customers"), unlogged(answer=ANSWER))
    gold = [{"text": "a", "chunks": [], "stated": True}]
    found = reading(materials_of(case, "r"), CACHES, gold=gold)
    unknown = {*MEASURES} - BY_ANSWER - {"SelfKnowledge", "CitationRecall"}
    assert reasons(found.findings) == dict.fromkeys(unknown, NO_RETRIEVAL)
    assert {(one.correct, one.reason) for one in found.citations} == {(None, NO_RETRIEVAL)}
    # It retrieved nothing, and says so: the claim is made up, and both citations are.
    case = Case(question(gold_answer="login reads customers"), answer(answer=ANSWER))
    found = reading(materials_of(case, "r"), CACHES, gold=gold)
    assert values(found.findings)["Groundedness"] == 0.0
    assert values(found.findings)["Attribution"] == 0.0


def test_a_chunk_without_text_was_not_shown() -> None:
    """A record that logs ids only lets nobody say that a claim is unsupported."""
    shown = materials("It calls.", {"api:a.py": None})
    assert (shown.chunks, shown.left_out) == ((), ("api:a.py",))
    assert reasons(reading(shown, claim("x", "s1", "UNSUPPORTED")).findings)["Groundedness"] == (
        "the judge wasn't shown 1 of 1 chunk"
    )


def test_a_claim_that_is_listed_twice() -> None:
    """It counts once in its sentence, as it was said first, so that repeating changes no share."""
    shown = materials("It calls. It calls.", CHUNKS)
    first, again = claim("It calls", "s1", "DIRECT", ("c1", "def login")), claim("it  calls", "s1", "UNSUPPORTED")
    found = reading(shown, first, again, claim("it calls", "s2", "UNSUPPORTED"))
    assert [(one.text, one.sentence, one.support) for one in found.claims] == [
        ("It calls", 1, "DIRECT"),
        ("it calls", 2, "UNSUPPORTED"),
    ]
    assert found.notes == (
        "1 claim listed again in the same sentence, counted once",
        "1 claim made again in another sentence, counted once but for citations",
    )
    assert values(found.findings)["Groundedness"] == 1.0


@examples(50)
@given(repeats=st.integers(0, 6))
def test_repeating_a_true_claim_raises_no_share(repeats: int) -> None:
    """One of two claims is right and supported, however often the answer makes it: each share is 1/2.

    CitationRecall is about sentences, none of which has a citation.
    """
    shown = materials("It calls. It flies. " + "It calls. " * repeats, CHUNKS, gold_answer="It calls.")
    places = [f"s{number}" for number in (1, *range(3, 3 + repeats))]
    calls = [claim("It calls", place, "DIRECT", ("c1", "def login"), gold="SUPPORTED") for place in places]
    found = values(reading(shown, *calls, claim("It flies", "s2", "UNSUPPORTED", gold="NOT_MENTIONED")).findings)
    shares = ("Groundedness", "HallucinationRate", "ClaimPrecision", "Fabrication")
    assert [found[name] for name in shares] == [0.5] * 4


def test_where_citations_stand() -> None:
    """Before and right after a full stop they belong to the sentence; on the next line to the next one."""
    text = "A one [1]. B two. [2] C three.\n[3] D four."
    shown = materials(text, CHUNKS, citations=list(CHUNKS))
    found = reading(shown, *(claim(str(n), f"s{n}", "UNSUPPORTED") for n in range(1, 5)))
    assert [one.text for one in shown.sentences] == ["A one [1].", "B two. [2]", "C three.", "[3] D four."]
    assert [one.cited for one in found.claims] == [(0,), (1,), (), (2,)]


def test_citations_of_the_whole_answer() -> None:
    """Citations that the record lists without a mark in the text count for each claim."""
    shown = materials("A one. B two.", CHUNKS, citations=["api:auth.py#login"])
    found = reading(shown, claim("a", "s1", "UNSUPPORTED"), claim("b", "s2", "DIRECT", ("c1", "def login")))
    assert [one.cited for one in found.claims] == [(0,), (0,)]
    assert [one.cited_support for one in found.claims] == [False, True]
    assert found.citations[0].correct is True


def test_gold_of_a_claim() -> None:
    """It is kept where there is a gold answer, and nothing where there is none, whatever was said."""
    said = claim("x", gold="CONTRADICTED")
    assert reading(materials("x.", CHUNKS, gold_answer="y"), said).claims[0].gold == "CONTRADICTED"
    assert reading(materials("x.", CHUNKS), said).claims[0].gold is None


keys = st.sampled_from(["c1", "c2", "c3", "c9"])
quotes = st.sampled_from(["def login", "FROM customers", "export", "nowhere", ""])
evidence = st.fixed_dictionaries({"chunk": keys, "quote": quotes, "alone": st.booleans()})
claims = st.fixed_dictionaries(
    {
        "text": st.sampled_from(["x", "y", "X "]),
        "sentence": st.sampled_from(["s1", "s2", "s3", "s9"]),
        "hedged": st.booleans(),
        "support": st.sampled_from(["DIRECT", "INFERRED", "UNSUPPORTED"]),
        "evidence": st.lists(evidence, max_size=3),
        "together": st.booleans(),
        "edge": st.sampled_from([None, "e1", "e9"]),
        "gold": st.sampled_from([None, "SUPPORTED"]),
    }
)
gold_claims = st.fixed_dictionaries(
    {"text": st.just("g"), "chunks": st.lists(keys, max_size=3), "stated": st.booleans()}
)


@examples(150)
@given(st.lists(claims, max_size=5), st.lists(gold_claims, max_size=3), st.sampled_from([10, 1000]))
def test_bounds(listed: list[Any], gold: list[Any], tokens: int) -> None:
    """Whatever a judge lists: each measure once, in its bounds or with a reason; what is supported has support."""
    shown = materials(ANSWER, CHUNKS, WALK, gold_answer="y", context_tokens=tokens)
    said = json.dumps({"claims": listed, "gold_claims": gold})
    found = CLAIMS.read(CLAIMS.verdict.model_validate_json(said), shown)
    assert sorted(one.measure for one in found.findings) == sorted(MEASURES)
    for one in found.findings:
        assert (one.value is None) == (one.reason is not None)
        assert one.value is None or 0 <= one.value <= 1
    worth = values(found.findings)
    if worth["Groundedness"] is not None and worth["HallucinationRate"] is not None:
        assert worth["Groundedness"] + worth["HallucinationRate"] == pytest.approx(1)
    if worth["CitationPrecision"] is not None and worth["Attribution"] is not None:
        assert worth["CitationPrecision"] <= worth["Attribution"]  # what is needed supports a claim
    for stated in found.claims:
        rests = stated.edge is not None or any(part.occurs for part in stated.evidence)
        assert rests or stated.support == "UNSUPPORTED"
        assert not stated.cited_support or any(part.occurs for part in stated.evidence)
    distinct = {(one["sentence"], one["text"].strip().casefold()) for one in listed if not one["hedged"]}
    assert len(found.claims) == len(distinct)
