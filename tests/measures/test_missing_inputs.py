"""What each measure gives where an input is missing: the tables of the definitions, one row a missing input."""

from __future__ import annotations

from typing import Any

import pytest

from graphkit.measures.answer_matching import NO_GOLD_ANSWER
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.budgets import NO_GOLD_WALKED, StatedMeasure
from graphkit.measures.case import Case
from graphkit.measures.coherence import NO_COMMIT, NO_PIN, NOTHING_TOUCHED, NOTHING_VERSIONED
from graphkit.measures.completeness import NO_CONFLICTS, NO_FACTS
from graphkit.measures.edges import NO_BOUNDARY, NO_BOUNDARY_TRAVERSED, NO_PATH
from graphkit.measures.files import NO_FILES, NO_SYMBOLS
from graphkit.measures.integration import NO_ANSWER, NO_IDENTIFIER, NO_SOURCE
from graphkit.measures.ranking import NO_EVIDENCE
from graphkit.measures.registry import MEASURES
from graphkit.measures.repositories import NO_REPOSITORY
from graphkit.measures.seeds import NO_GOLD_SEED, NO_SEEDS, NOTHING_LINKED
from graphkit.measures.seen import NO_GOLD_IDS
from graphkit.measures.tools import NO_CALLS, NONE_MATCHED, NOTHING_CALLED, NOTHING_EXPECTED
from graphkit.measures.unscored import (
    NEITHER_LOGGED,
    NO_CHUNK,
    NO_GOLD,
    NO_ORDER,
    NO_RELEVANT,
    NO_RETRIEVAL,
    NO_TEXT,
    NO_TRAVERSAL,
    NOTHING_TRAVERSED,
)
from graphkit.plugins.overlap.answer_overlap import ExactMatch, JointExactMatch, JointF1, RougeL, TokenF1
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Answer, Commit, Question

FIRST, SECOND = "a:m.py#first", "b:n.py#second"
EDGE = [FIRST, "CALLS", SECOND]

#: A question with every kind of gold.
ASKED: dict[str, Any] = {
    "id": "q",
    "question": "?",
    "paths": [{"steps": [EDGE]}],
    "relevant": [FIRST, SECOND],
    "facts": ["first_one calls second_one"],
    "conflicts": [{"between": ["a:m.py", "b:n.py"], "resolution": "second_one wins"}],
    "expected_files": ["a:m.py", "b:n.py"],
    "expected_symbols": ["first", "second"],
    "expected_output": "second_one",
    "relevant_texts": ["def first_one()"],
    "expected_tool_calls": [{"name": "search", "arguments": {"x": 1}}],
    "commits": {"a": "1", "b": "2"},
    "min_sources": 2,
}

#: A record that logs everything, and has it right.
RECORD: dict[str, Any] = {
    "run": "r",
    "question_id": "q",
    "answer": "first_one calls second_one: second_one",
    "retrieved": [
        {"id": FIRST, "commit": "1", "text": "def first_one(): second_one()"},
        {"id": SECOND, "commit": "2", "text": "def second_one(): pass"},
    ],
    "traversal": [EDGE],
    "seeds": [FIRST],
    "tool_calls": [{"name": "search", "arguments": {"x": 1}, "seen": [FIRST, SECOND]}],
    "latency_ms": 1000,
    "cost": 1,
    "prompt_tokens": 1,
    "output_tokens": 1,
    "model_calls": 1,
}

#: The measures that are computed from a record, by the name of their classes.
OVERLAP: tuple[type[Measure], ...] = (ExactMatch, TokenF1, RougeL, JointExactMatch, JointF1)
COMPUTED = {kind.__name__: kind for kind in (*MEASURES, *OVERLAP) if kind.computed}

#: What they give the record that has it right: 1, but for P (two of five ranks are relevant), the measures of which
#: less is better, and UsedShare: of the ids, the answer names neither "first" nor "second" as a whole word. The answer
#: is a sentence: of its 4 tokens for SQuAD (signs left out) gold's one occurs, 2 / 5; for ROUGE, which separates words
#: by signs, gold's two of 7, 4 / 9. Both
#: facts are retrieved, so that JointF1 is TokenF1. The walk is the one gold edge between two nodes.
RIGHT = dict.fromkeys(COMPUTED, 1.0) | {
    "P": 0.4,
    "Incoherent": 0.0,
    "OffPin": 0.0,
    "Redundancy": 0.0,
    "UsedShare": 0.0,
    "ExactMatch": 0.0,
    "TokenF1": 2 / 5,
    "RougeL": 4 / 9,
    "JointExactMatch": 0.0,
    "JointF1": 2 / 5,
    "VisitedNodes": 2.0,
    "RepeatedEdges": 0.0,
    "StoppingDepth": 0.0,
}

JOINT = ("JointExactMatch", "JointF1")
RETRIEVED = ("RetrievedF1", "RetrievedPrecision", "RetrievedRecall")
RANKED = ("Success", "Acc", "Recall", "P", "Rprec", "RR", "AP", "nDCG", *RETRIEVED, *JOINT)
PATHS = ("PathExact", "PathInOrder", "PathPrefix")
LENGTHS = ("Hops", "VisitedNodes", "RepeatedEdges", "StoppingDepth")
WALKED = ("EdgeRecall", "EdgeF1", "BoundaryRecall", *PATHS)
CALLS = ("ToolRecall", "ToolPrecision", "ToolExact", "ToolInOrder", "ArgumentMatch")
SEEDS = ("SeedRecall", "SeedPrecision", "SeedReciprocalRank")
IN_TEXTS = ("AnswerContainment", "EvidenceRecall")
GOLD_ANSWERS = ("AnswerHit", "AnswerF1", "ExactMatch", "TokenF1", "RougeL", *JOINT)
TEXTS = ("Completeness", "ConflictResolution", *GOLD_ANSWERS)

Expected = dict[str, float | str]


def every(names: tuple[str, ...], value: float | str) -> Expected:
    """Return one value or reason for several measures."""
    return dict.fromkeys(names, value)


#: Without gold: the column "no gold" of the tables. Each reason lies in the question.
OF_QUESTION: dict[tuple[str, ...], Expected] = {
    ("paths",): {
        **every(("EdgeRecall", "EdgeF1", *PATHS), NO_GOLD),
        **every(("EdgePrecision", "StoppingDepth"), NO_PATH),
        **every(SEEDS, NO_GOLD_SEED),
        **every(("BoundaryRecall", "BoundaryPrecision"), NO_BOUNDARY),
    },
    ("relevant",): every(RANKED, NO_RELEVANT),
    ("paths", "relevant"): {
        **every(("EdgeRecall", "EdgeF1", *PATHS), NO_GOLD),
        **every(("EdgePrecision", "StoppingDepth"), NO_PATH),
        **every(SEEDS, NO_GOLD_SEED),
        **every(("BoundaryRecall", "BoundaryPrecision"), NO_BOUNDARY),
        **every(RANKED, NO_RELEVANT),
        **every(("CrossRepoPrecision", "CrossRepoRecall"), NO_REPOSITORY),
        "StepsToGold": NO_GOLD_IDS,
    },
    ("facts",): {"Completeness": NO_FACTS},
    ("conflicts",): {"ConflictResolution": NO_CONFLICTS},
    ("expected_files",): every(("FilePrecision", "FileRecall"), NO_FILES),
    ("expected_symbols",): {"SymbolRecall": NO_SYMBOLS},
    ("expected_output",): {
        "AnswerContainment": "no expected answer span",
        **every(GOLD_ANSWERS, NO_GOLD_ANSWER),
    },
    ("relevant_texts",): {"EvidenceRecall": NO_EVIDENCE},
    ("expected_tool_calls",): every(CALLS, NOTHING_EXPECTED),
}

#: What the record lacks: None if the field is absent or null, else what stands there instead.
OF_RECORD: list[tuple[dict[str, Any], Expected]] = [
    # Nothing retrieved: 0 in the table, but for Coherence; no commit is there to compare.
    (
        {"retrieved": []},
        {
            **every(
                (
                    *RANKED,
                    "Integration",
                    "AnswerContainment",
                    "EvidenceRecall",
                    "FilePrecision",
                    "FileRecall",
                    "SymbolRecall",
                ),
                0.0,
            ),
            "Coherence": NO_CHUNK,
            **every(("Incoherent", "OffPin"), NOTHING_VERSIONED),
        },
    ),
    # Nothing traversed: 0, but for the precision of nothing.
    (
        {"traversal": []},
        {
            **every((*WALKED, "Hops", "VisitedNodes"), 0.0),
            "EdgePrecision": NOTHING_TRAVERSED,
            "BoundaryPrecision": NO_BOUNDARY_TRAVERSED,
            "StoppingDepth": NO_GOLD_WALKED,
        },
    ),
    # Neither: no repository was retrieved, either.
    (
        {"retrieved": [], "traversal": []},
        {
            **every(
                (
                    *RANKED,
                    "Integration",
                    "AnswerContainment",
                    "EvidenceRecall",
                    "FilePrecision",
                    "FileRecall",
                    "SymbolRecall",
                ),
                0.0,
            ),
            "Coherence": NO_CHUNK,
            **every(("Incoherent", "OffPin"), NOTHING_TOUCHED),
            **every((*WALKED, "Hops", "VisitedNodes"), 0.0),
            "StoppingDepth": NO_GOLD_WALKED,
            "EdgePrecision": NOTHING_TRAVERSED,
            "BoundaryPrecision": NO_BOUNDARY_TRAVERSED,
            **every(("CrossRepoPrecision", "CrossRepoRecall"), 0.0),
        },
    ),
    # Not logged: no value.
    (
        {"retrieved": None},
        {
            **every(
                (*RANKED, "Integration", *IN_TEXTS, "FilePrecision", "FileRecall"),
                NO_RETRIEVAL,
            ),
            **every(("SymbolRecall", "Coherence"), NO_RETRIEVAL),
            **every(("Incoherent", "OffPin"), NOTHING_VERSIONED),
        },
    ),
    ({"traversal": None}, every((*WALKED, *LENGTHS, "EdgePrecision", "BoundaryPrecision"), NO_TRAVERSAL)),
    (
        {"retrieved": None, "traversal": None},
        {
            **every(
                (*RANKED, "Integration", *IN_TEXTS, "FilePrecision", "FileRecall"),
                NO_RETRIEVAL,
            ),
            **every(("SymbolRecall", "Coherence"), NO_RETRIEVAL),
            **every((*WALKED, *LENGTHS, "EdgePrecision", "BoundaryPrecision"), NO_TRAVERSAL),
            **every(("CrossRepoPrecision", "CrossRepoRecall", "Incoherent", "OffPin"), NEITHER_LOGGED),
        },
    ),
    ({"answer": None}, every((*TEXTS, "Integration", "UsedShare"), NO_ANSWER)),
    ({"answer": ""}, every((*TEXTS, "Integration"), 0.0)),
    ({"tool_calls": None}, every((*CALLS, "StepsToGold", "Redundancy", "UsedShare"), NO_CALLS)),
    ({"seeds": None}, every(SEEDS, NO_SEEDS)),
    ({"seeds": []}, {**every(SEEDS, 0.0), "SeedPrecision": NOTHING_LINKED}),
    (
        {"tool_calls": []},
        {
            **every(("ToolRecall", "ToolExact", "ToolInOrder"), 0.0),
            **every(("ToolPrecision", "Redundancy", "UsedShare"), NOTHING_CALLED),
            "ArgumentMatch": NONE_MATCHED,
            "StepsToGold": "0 of 2 gold ids were seen by the calls",
        },
    ),
    ({"ordered": False}, every((*PATHS, "StoppingDepth"), NO_ORDER)),
    # Chunks without a text are nothing to take identifiers or a span from.
    (
        {"retrieved": [{"id": FIRST, "commit": "1"}, {"id": SECOND, "commit": "2"}]},
        every(("Integration", *IN_TEXTS), NO_TEXT),
    ),
    (
        {"retrieved": [{"id": FIRST, "text": "def first_one(): 1"}, {"id": SECOND, "text": "def second_one(): 1"}]},
        {"Coherence": NO_COMMIT, **every(("Incoherent", "OffPin"), NOTHING_VERSIONED)},
    ),
    # Prose defines no identifier, and holds the expected span.
    (
        {"retrieved": [{"id": "a:m.py", "commit": "1", "text": "The second_one is called by the first."}]},
        {
            # Neither the relevant ids nor their symbols are there, and one of two files.
            **every(RANKED, 0.0),
            "EvidenceRecall": 0.0,
            "Integration": NO_IDENTIFIER,
            "FileRecall": 0.5,
            "SymbolRecall": 0.0,
        },
    ),
]
OF_RECORD += [({kind.field: None}, {kind.__name__: kind.unlogged}) for kind in StatedMeasure.__subclasses__()]


def scored(question: dict[str, Any], record: dict[str, Any]) -> dict[str, float | Unscored]:
    """Return the value, or the reason, of every computed measure."""
    commits = CommitGraph.build([Commit(repo="a", sha="1"), Commit(repo="b", sha="2")], [])
    case = Case(Question.model_validate(question), Answer.model_validate(record), commits)
    return {name: kind().score(case) for name, kind in COMPUTED.items()}


def plain(found: dict[str, float | Unscored]) -> Expected:
    """Return the reasons as texts."""
    return {name: one.reason if isinstance(one, Unscored) else one for name, one in found.items()}


def test_a_record_that_has_all_right_has_every_value() -> None:
    """With every input, each measure has the value of its definition."""
    assert plain(scored(ASKED, RECORD)) == RIGHT


@pytest.mark.parametrize("absent", OF_QUESTION, ids=" ".join)
def test_without_gold_a_measure_is_not_scored(absent: tuple[str, ...]) -> None:
    """Only the measures of the missing gold lose their value, for a reason of the question, also of a failed record."""
    question = {name: value for name, value in ASKED.items() if name not in absent}
    expected = OF_QUESTION[absent]
    found = scored(question, RECORD)
    assert plain(found) == RIGHT | expected
    failed = scored(question, {"run": "r", "question_id": "q", "error": "timeout"})
    for outcomes in (found, failed):
        assert {name for name, one in outcomes.items() if isinstance(one, Unscored) and one.of_question} == {*expected}
    assert plain(failed) == dict.fromkeys(COMPUTED, "failed: timeout") | expected


def test_a_question_that_pins_or_expects_nothing_is_not_scored_by_it() -> None:
    """Without pins OffPin, with no expected source Integration has no value: reasons of the question."""
    free = scored({**ASKED, "commits": {}, "min_sources": 0}, RECORD)
    assert (free["OffPin"], free["Integration"]) == (Unscored(NO_PIN), Unscored(NO_SOURCE))
    assert all(isinstance(one := free[name], Unscored) and one.of_question for name in ("OffPin", "Integration"))


@pytest.mark.parametrize(("instead", "expected"), OF_RECORD, ids=[str(one)[:40] for one, _ in OF_RECORD])
def test_what_a_record_lacks_changes_only_the_measures_that_need_it(
    instead: dict[str, Any], expected: Expected
) -> None:
    """Every other measure keeps its value, and no reason lies in the question."""
    record = {name: value for name, value in {**RECORD, **instead}.items() if value is not None}
    found = scored(ASKED, record)
    assert plain(found) == RIGHT | expected
    assert not [name for name, one in found.items() if isinstance(one, Unscored) and one.of_question]
    null = {**RECORD, **instead}
    assert plain(scored(ASKED, null)) == plain(found)
