"""A measure is a value: it prints to the text that it is parsed from, and wrong texts are errors."""

from __future__ import annotations

import dataclasses
import math
import pickle
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError, MeasureError
from graphkit.measures.base import LAYERS, Measure
from graphkit.measures.budgets import StatedMeasure
from graphkit.measures.edges import EdgeRecall
from graphkit.measures.files import SymbolRecall
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.ranking import AP, RR, Acc, AnswerContainment, P, Recall, Rprec, Success, nDCG
from graphkit.measures.registry import (
    DEFAULT_MEASURES,
    MEASURES,
    known_measure,
    measure_class,
    measure_kinds,
    parse_measure,
    require_computed,
    resolve_measures,
)
from graphkit.measures.seeds import NO_SEEDS
from graphkit.measures.tools import NO_CALLS
from graphkit.measures.unscored import NEITHER_LOGGED, NO_RETRIEVAL, NO_TRAVERSAL
from graphkit.plugins.abstention.decision_measures import ANSWERED, HAS_ANSWER, NO_CONFIDENCE, NONE_ABSENT
from graphkit.plugins.cypher.query_measures import NO_QUERY, NOT_RUN
from graphkit.plugins.overlap.answer_overlap import ExactMatch, RougeL, TokenF1
from graphkit.plugins.overlap.span_measures import TEXTS_ALONE
from tests.helpers import ROOT
from tests.helpers.cases import question, reason, unlogged, value

#: All measures of graphkit, also those of its plug-ins.
OWN = tuple(kind for kind in measure_kinds()[0] if not kind.is_custom())

#: The measures of a walk's length, and those that a record states.
LENGTHS = ("Hops", "VisitedNodes", "RepeatedEdges", "StoppingDepth")
STATED = ("Latency", "Cost", "PromptTokens", "OutputTokens", "ModelCalls")

#: Values that a parameter may have, by its name; by its type where it isn't listed.
CHOICES: dict[str, st.SearchStrategy[Any]] = {
    "k": st.none() | st.integers(1, 10**6),
    "where": st.sampled_from(["retrieved", "answer"]),
    "level": st.none() | st.sampled_from(["file", "module", "symbol"]),
    "match": st.sampled_from(["exact", "containment"]),
    "chunks": st.sampled_from(["relevant", "irrelevant"]),
    "across": st.sampled_from(["path", "turns"]),
    "threshold": st.floats(0, 1, exclude_min=True),
}


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    """Draw a measure with any parameters."""
    kind = draw(st.sampled_from(OWN))
    return kind(**{field.name: draw(CHOICES.get(field.name, st.booleans())) for field in dataclasses.fields(kind)})


@given(measures())
def test_text_round_trip(measure: Measure) -> None:
    """Parsing what a measure prints gives an equal measure, which prints the same."""
    text = str(measure)
    assert parse_measure(text) == measure
    assert str(parse_measure(text)) == text
    assert hash(parse_measure(text)) == hash(measure)
    assert pickle.loads(pickle.dumps(measure)) == measure


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.__name__)
def test_each_measure_says_what_it_is(kind: type[Measure]) -> None:
    """Each has a definition, a source and a layer, is found by its name, and can't be changed."""
    measure = parse_measure(kind.__name__)
    assert measure == kind()
    assert str(measure) == kind.__name__
    assert kind.definition
    assert kind.source
    assert kind.layer in {"retrieval", "reasoning", "generation"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        measure.new = 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ndcg@10", nDCG(10)),
        ("nDCG@10", nDCG(10)),
        ("NDCG @ 10", nDCG(10)),
        ("hit@5", Success(5)),
        ("Hits@10", Success(10)),
        ("hit_rate@5", Success(5)),
        ("mrr", RR()),
        ("MRR", RR()),
        ("MAP", AP()),
        ("average_precision", AP()),
        ("R_Precision", Rprec()),
        ("acc@3", Acc(3)),
        ("exact_match", ExactMatch()),
        ("EM", ExactMatch()),
        ("rougeL", RougeL()),
        ("squad_f1(yes_no=True)", TokenF1(yes_no=True)),
        ("precision@3", P(3)),
        ("traversal_accuracy", EdgeRecall()),
        ("Traversal_Accuracy(static=True)", EdgeRecall(static=True)),
        (" EdgeRecall( relation = False ) ", EdgeRecall(relation=False)),
        ("EdgeRecall(static=True, relation=False)", EdgeRecall(relation=False, static=True)),
        ("EdgeRecall(relation=True)", EdgeRecall()),
        ("EdgeRecall()", EdgeRecall()),
        ("recall(k=7)", Recall(7)),
        ("SymbolRecall(where='answer')", SymbolRecall(where="answer")),
        ("AnswerContainment(exact=True)@2", AnswerContainment(k=2, exact=True)),
    ],
)
def test_aliases_case_and_spaces(text: str, expected: Measure) -> None:
    """Names count without regard to case, aliases are names, and spaces don't matter."""
    assert parse_measure(text) == expected
    assert parse_measure(str(expected)) == expected


def test_canonical_texts() -> None:
    """A measure prints its name, the parameters that aren't the default, and its cut-off."""
    assert str(parse_measure("hit@5")) == "Success@5"
    assert str(parse_measure("mrr")) == "RR"
    assert str(EdgeRecall(relation=False, static=True)) == "EdgeRecall(relation=False, static=True)"
    assert str(AnswerContainment(k=3, exact=True)) == "AnswerContainment(exact=True)@3"


def test_no_private_name_of_a_measure_is_used_elsewhere() -> None:
    """Scoring a run calls the public methods of a measure, which a user's measure may define."""
    assert "value" in Measure.__abstractmethods__
    private = re.compile(r"\b(?:measure|scorer)\._[a-z]")
    found = [path.name for path in (ROOT / "graphkit").rglob("*.py") if private.search(path.read_text("utf-8"))]
    assert found == []


def test_bounds_direction_and_thresholds_fit_together() -> None:
    """The lowest value is below the highest; both thresholds lie between, the severe one on the worse side."""
    with_target = 0
    for kind in OWN:
        # A confidence is on a scale of the system's own; effort has no end, and F1 as published exceeds 1 for a line
        # with several answers.
        lowest = -math.inf if kind.lowest is None else kind.lowest
        highest = math.inf if kind.highest is None else kind.highest
        assert (kind.lowest is None) == (kind.__name__ == "Confidence")
        assert (kind.highest is None) == (
            kind.__name__ in ("StepsToGold", "AnswerF1", "InventedEdges", "Confidence", *LENGTHS, *STATED)
        )
        assert lowest < highest
        for bound in (kind.target, kind.severe):
            assert bound is None or lowest <= bound <= highest
        if kind.target is not None and kind.severe is not None:
            assert (kind.severe < kind.target) == kind.higher_is_better, kind.__name__
            with_target += 1
    # Of the table of thresholds all but ConflictResolution have both, and of seeds recall and reciprocal rank.
    assert with_target == 14


@pytest.mark.parametrize(
    ("text", "target", "severe"),
    [
        ("nDCG@10", 0.75, 0.5),
        ("nDCG@5", None, None),
        ("nDCG", None, None),
        ("Recall@20", 0.85, 0.6),
        ("Recall@10", None, None),
        ("RR", 0.6, 0.3),
        ("EdgeRecall", 0.8, 0.5),
        ("EdgeRecall(relation=False)", None, None),
        ("Coherence", 0.9, 0.7),
        ("ConflictResolution", 0.6, None),
        ("ConflictResolution(threshold=0.5)", None, None),
        ("HallucinationRate", 0.1, 0.2),
        ("Attribution", 0.95, 0.85),
        ("EdgePrecision", None, None),
    ],
)
def test_thresholds_belong_to_a_measure_with_its_parameters(
    text: str, target: float | None, severe: float | None
) -> None:
    """The targets of the definitions are those of nDCG@10 and Recall@20; another cut-off or parameter has none."""
    thresholds = parse_measure(text).thresholds()
    assert (thresholds.target, thresholds.severe) == (target, severe)


def test_lower_is_better_for_these() -> None:
    """Only these of graphkit's measures are better when lower."""
    assert [kind.__name__ for kind in MEASURES if not kind.higher_is_better] == [
        "Incoherent",
        "OffPin",
        "StepsToGold",
        "Redundancy",
        *LENGTHS,
        *STATED,
        "HallucinationRate",
        *("NoiseSensitivity", "Fabrication", "SelfKnowledge"),
    ]


def test_judged_measures_are_declared_and_not_computed() -> None:
    """A judged measure is declared with its layer and parses; computing it is an error with a remedy.

    What graphkit computes itself is found in the same list.
    """
    judged = [kind for kind in MEASURES if not kind.computed]
    assert {layer: [kind.__name__ for kind in judged if kind.layer == layer] for layer in LAYERS} == {
        "retrieval": [
            "ContextPrecision",
            "ContextRecall",
            "ChunkPrecision",
            "ContextRelevance",
            "EdgeRelevance",
            "FactsInContext",
            "PathEfficiency",
            "TrajectoryAccuracy",
        ],
        "reasoning": [
            "AggregationCompleteness",
            "AggregationAccuracy",
            "AggregationScore",
            "JudgedIntegration",
            "JudgedCompleteness",
            "JudgedConflictResolution",
        ],
        "generation": [
            "FactualCorrectness",
            "Groundedness",
            "HallucinationRate",
            "Attribution",
            "CitationRecall",
            "CitationPrecision",
            "RubricGrade",
            "Correct",
            "Faithful",
            "Relevant",
            "Complete",
            "Faithfulness",
            "AnswerRelevance",
            "ScaleGrade",
            *("ClaimPrecision", "ClaimRecall", "ClaimF1", "ContextUtilization", "NoiseSensitivity"),
            *("Fabrication", "SelfKnowledge", "CriteriaScore", "CriteriaMet"),
            *("Declined", "PersonGrade"),
        ],
    }
    assert {kind.__name__: kind.highest for kind in judged if kind.highest != 1} == {"ScaleGrade": 10}
    for kind in judged:
        assert kind.engines() == (("person",) if kind.__name__ == "PersonGrade" else ("judge",))
        with pytest.raises(MeasureError, match="isn't computed from records"):
            require_computed([kind()])
    assert parse_measure("hallucination_rate") == parse_measure("HallucinationRate")
    require_computed(resolve_measures())
    assert parse_measure("EdgeRecall").engines() == ("python", "cypher")
    assert parse_measure("Integration").engines() == ("python",)


def test_a_measure_of_another_tool_is_not_known() -> None:
    """An unknown text has no kind; a known measure with wrong parameters has its kind."""
    assert measure_class("answer relevance (0..10)") is None
    assert measure_class("") is None
    assert measure_class("OffPin(unheard=3)") is parse_measure("OffPin").__class__
    assert known_measure("OffPin(unheard=3)") is None
    assert known_measure("ndcg@10") == nDCG(10)


def test_no_two_measures_share_a_name() -> None:
    """No alias is the name of another measure."""
    names = [name.casefold() for kind in OWN for name in (kind.__name__, *kind.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("EdgeRecal", "EdgeRecall"),  # the closest name is suggested
        ("ndgc@10", "nDCG"),
        ("", "no measure is called ''"),
        pytest.param(f"nDCG@{'9' * 5000}", "no measure is called 'nDCG@999", id="digits"),
        ("!!", "no measure"),
        ("nDCG@ten", "no measure"),
        ("nDCG@0", "k must be a whole number of at least 1"),
        ("nDCG@-3", "k must be a whole number of at least 1"),
        ("nDCG(k=2.5)", "k must be a whole number of at least 1"),
        ("nDCG(k=True)", "k must be a whole number of at least 1"),
        ("EdgeRecall@5", "EdgeRecall has no parameter 'k'"),
        ("EdgeRecall(relations=False)", "has no parameter 'relations'"),
        ("EdgeRecall(relation=0)", "relation must be a bool, not 0"),
        ("EdgeRecall(relation='no')", "relation must be a bool"),
        ("EdgeRecall(False)", "can't be read"),
        ("EdgeRecall(relation=)", "can't be read"),
        ("EdgeRecall(relation=open('x'))", "can't be read"),
        ("EdgeRecall(**{'relation': False})", "has no parameter"),
        ("SymbolRecall(where='elsewhere')", 'where must be "retrieved" or "answer"'),
    ],
)
def test_what_cannot_be_parsed_is_reported(text: str, message: str) -> None:
    """Each mistake is a MeasureError, which is an InputError."""
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)
    assert message in str(caught.value)
    assert isinstance(caught.value, InputError)


def test_an_unknown_name_points_to_the_list() -> None:
    """The remedy names the command that lists all measures."""
    with pytest.raises(MeasureError, match="graphkit measures"):
        parse_measure("quality")


def test_resolving_gives_each_measure_once_with_its_cut_off() -> None:
    """Aliases of one measure count once, in the order of the first; a missing k is the given one, else 5."""
    assert resolve_measures(["mrr", nDCG(10), "RR", "ndcg@10"]) == (RR(), nDCG(10))
    assert resolve_measures(["nDCG", "P@3"]) == (nDCG(5), P(3))
    assert resolve_measures(["nDCG", "P@3"], k=7) == (nDCG(7), P(3))
    assert [str(one) for one in resolve_measures()] == list(DEFAULT_MEASURES)


#: What each computed measure says of a record that has only an answer; those that aren't here don't ask for more.
UNLOGGED = {
    **dict.fromkeys(("Success", "Acc", "Recall", "P", "Rprec", "RR"), NO_RETRIEVAL),
    **dict.fromkeys(("AP", "nDCG", "RetrievedF1", "AnswerContainment", "EvidenceRecall"), NO_RETRIEVAL),
    **dict.fromkeys(("RetrievedPrecision", "RetrievedRecall", "JointExactMatch", "JointF1"), NO_RETRIEVAL),
    **dict.fromkeys(("EdgeRecall", "EdgePrecision", "EdgeF1", "BoundaryRecall", "BoundaryPrecision"), NO_TRAVERSAL),
    **dict.fromkeys(("PathExact", "PathInOrder", "PathPrefix"), NO_TRAVERSAL),
    **dict.fromkeys(("FilePrecision", "FileRecall", "SymbolRecall", "Integration", "Coherence"), NO_RETRIEVAL),
    **dict.fromkeys(("CrossRepoPrecision", "CrossRepoRecall", "Incoherent", "OffPin"), NEITHER_LOGGED),
    **dict.fromkeys(("ToolRecall", "ToolPrecision", "ToolExact", "ToolInOrder", "ArgumentMatch"), NO_CALLS),
    **dict.fromkeys(("StepsToGold", "Redundancy", "UsedShare"), NO_CALLS),
    **dict.fromkeys(("SeedRecall", "SeedPrecision", "SeedReciprocalRank"), NO_SEEDS),
    **dict.fromkeys(("ResultAccuracy", "PSJS"), NO_QUERY),
    **{"Executable": NOT_RUN, "Confidence": NO_CONFIDENCE},
    **dict.fromkeys(LENGTHS, NO_TRAVERSAL),
    **{"SpanRecall": NO_RETRIEVAL, "ContextViolation": NO_RETRIEVAL, "WalkViolation": NO_TRAVERSAL},
    **{"AbstentionPrecision": ANSWERED, "AbstentionRecall": HAS_ANSWER, "InventedEdges": NONE_ABSENT},
    **dict.fromkeys(("SpanPrecision", "SpanIoU"), TEXTS_ALONE),
    **{kind.__name__: kind.unlogged for kind in StatedMeasure.__subclasses__()},
}

#: A question that every measure has something to compare with.
ASKED = question(
    [("a:m.py#f", "CALLS", "b:n.py")],
    relevant=["a:m.py#f"],
    expected_files=["a/m.py"],
    expected_symbols=["f"],
    expected_output="f",
    relevant_texts=["f"],
    facts=["`f`"],
    conflicts=[{"resolution": "`f`"}],
    commits={"a": "1"},
    expected_tool_calls=[{"name": "read", "arguments": {"path": "m.py"}}],
    principal="p",
)


@pytest.mark.parametrize("kind", [kind for kind in OWN if kind.computed], ids=lambda kind: kind.__name__)
def test_what_was_not_logged_is_not_scored(kind: type[Measure]) -> None:
    """A record with an answer only is scored by exactly those measures that need nothing else."""
    record = unlogged(answer="f")
    if kind.__name__ in UNLOGGED:
        assert reason(kind(), ASKED, record) == UNLOGGED[kind.__name__]
    else:
        # The key term of fact and resolution, f, occurs; it is a right answer, no refusal, and too short for a name.
        assert value(kind(), ASKED, record) == (1.0 if kind.higher_is_better else 0.0)


def test_half_of_what_was_seen_is_logged() -> None:
    """The logged part gives the repositories; if it names none, the measures aren't scored.

    Of the gold repositories a and b the walk and the chunk each touch a alone: recall 1/2, precision 1. Evidence files
    that the run names make up for the chunks.
    """
    walked, seen = {"traversal": [["a:m.py#f", "CALLS", "a:x.py"]]}, {"retrieved": ["a:m.py#f"]}
    for part in (walked, seen, {**walked, "retrieved": []}, {**seen, "traversal": []}):
        assert value("CrossRepoRecall", ASKED, unlogged(**part)) == 0.5
        assert value("CrossRepoPrecision", ASKED, unlogged(**part)) == 1.0
    for empty in (unlogged(retrieved=[]), unlogged(traversal=[])):
        assert reason("CrossRepoRecall", ASKED, empty) == NEITHER_LOGGED
        assert reason("CrossRepoPrecision", ASKED, empty) == NEITHER_LOGGED
    assert value("CrossRepoRecall", ASKED, unlogged(retrieved=[], traversal=[])) == 0.0
    assert value("FileRecall", ASKED, unlogged(evidence_files=["a/m.py"])) == 1.0


def test_a_symbol_in_an_answer_that_was_not_logged() -> None:
    """Without an answer, its measures aren't scored."""
    assert reason("SymbolRecall(where='answer')", ASKED, unlogged(retrieved=["a:m.py#f"])) == NO_ANSWER
