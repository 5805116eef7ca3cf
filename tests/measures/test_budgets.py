"""The effort of an answer: what a record states, and how far its walk went, worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.measures.budgets import NO_GOLD_WALKED
from graphkit.measures.edges import NO_PATH
from graphkit.measures.registry import worst_of
from graphkit.measures.unscored import NO_ORDER
from tests.helpers.cases import answer, optional, question, reason, score, unlogged, value
from tests.helpers.cli import inside

AB, BC, CD, BX, XY = (("a", "R", "b"), ("b", "R", "c"), ("c", "R", "d"), ("b", "R", "x"), ("x", "R", "y"))
GOLD = question([AB, BC, optional(*CD)])


@pytest.mark.parametrize(
    ("walks", "hops", "nodes", "repeats", "depth"),
    [
        # It stops at gold.
        ([[AB, BC]], 2, 3, 0, 0),
        # Two edges beside gold behind the last find, and b, x, y: a b c x y.
        ([[AB, BC, BX, XY]], 4, 5, 0, 2),
        # Before the last find they are no stopping.
        ([[AB, BX, XY, BC]], 4, 5, 0, 0),
        # A second walk over a gold edge finds nothing: b-x, x-y, a-b come after b-c.
        ([[AB, BC, BX, XY, AB]], 5, 5, 1, 3),
        # An optional step is gold: behind c-d one edge, which is b-x.
        ([[AB, BC, CD, BX]], 4, 5, 0, 1),
        # Paths one after the other, the common a-b once: a-b, b-x, b-c, x-y, so one edge behind b-c.
        ([[AB, BX], [AB, BC, XY]], 4, 5, 0, 1),
        # b-x is repeated within the first path, which the second one restates: a-b, b-x, b-x, then b-c.
        ([[AB, BX, BX], [BX, BC]], 4, 4, 1, 0),
        # All gold was lost after the first edge.
        ([[AB, BX, XY, BX]], 4, 4, 1, 3),
    ],
)
def test_lengths_of_walks(
    walks: list[list[tuple[str, str, str]]], hops: int, nodes: int, repeats: int, depth: int
) -> None:
    """Edges walked, distinct nodes, edges walked again, and edges after the last new gold edge."""
    run = answer(*walks)
    measures = ("Hops", "VisitedNodes", "RepeatedEdges", "StoppingDepth")
    assert [value(measure, GOLD, run) for measure in measures] == [hops, nodes, repeats, depth]


def test_stopping_depth_compares_edges_as_its_parameters_say() -> None:
    """Another relation isn't gold, unless relations aren't compared; nor is the other direction; no relation is any."""
    walk = answer([AB, ("b", "OTHER", "c"), XY])
    # With the relation the last gold edge is the first of three, else the second.
    assert [value(f"StoppingDepth{one}", GOLD, walk) for one in ("", "(relation=False)")] == [2, 1]
    back = answer([AB, ("c", "R", "b"), XY])
    assert [value(f"StoppingDepth{one}", GOLD, back) for one in ("", "(directed=False)")] == [2, 1]
    assert value("StoppingDepth", GOLD, answer([AB, ("b", None, "c"), XY])) == 1


def test_what_stopping_depth_lacks() -> None:
    """Without gold, an order, or a gold edge there is no last one."""
    assert reason("StoppingDepth", question(), answer([AB])) == NO_PATH
    assert reason("StoppingDepth", GOLD, answer([AB], ordered=False)) == NO_ORDER
    assert reason("StoppingDepth", GOLD, answer([XY])) == NO_GOLD_WALKED
    assert reason("StoppingDepth", GOLD, answer([])) == NO_GOLD_WALKED
    assert value("RepeatedEdges", question(), answer([AB, AB], ordered=False)) == 1


def test_what_a_record_states() -> None:
    """Latency is in seconds, the rest as stated, and 0 is a value."""
    stated = unlogged(latency_ms=1500, cost=0.25, prompt_tokens=700, output_tokens=0, model_calls=3)
    measures = ("Latency", "Cost", "PromptTokens", "OutputTokens", "ModelCalls")
    assert [value(measure, question(), stated) for measure in measures] == [1.5, 0.25, 700, 0, 3]
    for measure in measures:
        assert reason(measure, question(), unlogged()).endswith(" (not logged)")
        assert worst_of(measure) is None
    assert str(score("Cost", question(), None)) == str(score("EdgeRecall", GOLD, None))


def test_a_budget_is_a_gate(tmp_path: Path) -> None:
    """A mean of 2 s passes 2 and fails 1.9; each question has a bound of its own; one that isn't stated fails both."""
    (tmp_path / "questions.jsonl").write_text(
        "".join(json.dumps({"id": name, "question": "?", "paths": [[["a:x", "R", "a:y"]]]}) + "\n" for name in "pq")
    )
    run = tmp_path / "run.jsonl"

    def gate(*bound: str, code: int, latencies: tuple[int | None, int | None] = (1000, 3000)) -> None:
        lines = [{"run": "r", "question_id": name, "latency_ms": ms} for name, ms in zip("pq", latencies, strict=True)]
        run.write_text("".join(json.dumps(line) + "\n" for line in lines))
        inside("evaluate", run, "--dataset", tmp_path, "--no-store", *bound, cwd=tmp_path, code=code)

    gate("--fail-over", "Latency=2", code=0)
    gate("--fail-over", "Latency=1.9", code=1)
    gate("--fail-question", "Latency=3", code=0)
    gate("--fail-question", "Latency=2.9", code=1)
    gate("--fail-over", "Latency=2", latencies=(1000, None), code=1)
