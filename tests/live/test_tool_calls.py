"""The measures of tool calls beside agentevals and pydantic-evals, on random trajectories: equal where alike."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphkit.measures.base import Unscored
from graphkit.measures.tools import NOTHING_CALLED
from graphkit.records.models import Answer, Question
from tests.helpers.cases import question, score, unlogged, value
from tests.live.small_graph import library

pytestmark = pytest.mark.filterwarnings("default")

Call = dict[str, Any]

#: No true or false: Python's == takes them for 1 and 0, JSON doesn't.
VALUES = (1, 1.0, 2, "a", None, [1, "b"], {"c": 1, "d": [2]}, {"d": [2.0], "c": 1})


def trajectories(seed: int, count: int = 400) -> Iterator[tuple[list[Call], list[Call]]]:
    """Draw expected and made calls, which are often the same ones, shuffled and changed."""
    draw = random.Random(seed)

    def one() -> Call:
        names = draw.sample("pq", draw.randint(0, 2))
        failed = {"failed": True} if draw.random() < 0.2 else {}
        return {"name": draw.choice("rst"), "arguments": {name: draw.choice(VALUES) for name in names}, **failed}

    for _ in range(count):
        expected = [one() for _ in range(draw.randint(1, 6))]
        made = [one() for _ in range(draw.randint(0, 6))]
        if draw.random() < 0.6:
            made = [dict(call) for call in expected]
            if draw.random() < 0.5:
                draw.shuffle(made)
            for _ in range(draw.randint(0, 2)):
                if made and draw.random() < 0.5:
                    made.pop(draw.randrange(len(made)))
                else:
                    made.insert(draw.randint(0, len(made)), one())
        yield [{name: one for name, one in call.items() if name != "failed"} for call in expected], made


def records(expected: list[Call], made: list[Call]) -> tuple[Question, Answer]:
    """Return what graphkit has of a trajectory and what it should be."""
    return question(expected_tool_calls=expected), unlogged(tool_calls=made)


# agentevals ----------------------------------------------------------------------------------------------------------


def messages(calls: list[Call]) -> list[dict[str, Any]]:
    """Return calls as a conversation of one call a message."""
    found: list[dict[str, Any]] = []
    for number, call in enumerate(calls):
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        written = {"id": f"c{number}", "type": "function", "function": function}
        found.append({"role": "assistant", "content": "", "tool_calls": [written]})
        found.append({"role": "tool", "tool_call_id": f"c{number}", "content": "ok"})
    return [*found, {"role": "assistant", "content": "done"}]


@pytest.mark.parametrize("arguments", [False, True])
def test_trajectory_match_of_agentevals(arguments: bool) -> None:
    """Superset is a recall of 1, subset a precision of 1, unordered both, and strict the exact calls in order.

    Without a call there is no precision; agentevals takes that for a subset.
    """
    library("agentevals")
    from agentevals.trajectory.match import create_trajectory_match_evaluator

    match = {
        mode: create_trajectory_match_evaluator(
            trajectory_match_mode=mode, tool_args_match_mode="exact" if arguments else "ignore"
        )
        for mode in ("superset", "subset", "unordered", "strict")
    }
    reported = dict.fromkeys(match, 0)
    for expected, made in trajectories(7):
        said = {
            mode: bool(asked(outputs=messages(made), reference_outputs=messages(expected))["score"])
            for mode, asked in match.items()
        }
        case = records(expected, made)
        recall = value(f"ToolRecall(arguments={arguments})", *case)
        precision = score(f"ToolPrecision(arguments={arguments})", *case)
        within = precision == 1 or precision == Unscored(NOTHING_CALLED)
        exact = value(f"ToolExact(arguments={arguments})", *case)
        assert said == {
            "superset": recall == 1,
            "subset": within,
            "unordered": recall == 1 and within,
            "strict": exact == 1,
        }
        for mode, yes in said.items():
            reported[mode] += yes
    # Each mode said both often enough for agreement to mean something.
    assert all(20 <= count <= 380 for count in reported.values()), reported


# pydantic-evals ------------------------------------------------------------------------------------------------------


def context(made: list[Call]) -> Any:
    """Return what pydantic-evals has of a run: a span a call, in the order of their times."""
    from pydantic_evals.evaluators import EvaluatorContext
    from pydantic_evals.otel.span_tree import SpanNode, SpanTree

    began = datetime(2026, 1, 1, tzinfo=UTC)
    spans = [
        SpanNode(
            name=f"execute_tool {call['name']}",
            trace_id=1,
            span_id=number,
            parent_span_id=None,
            start_timestamp=began + timedelta(seconds=number),
            end_timestamp=began + timedelta(seconds=number + 1),
            attributes={
                "gen_ai.tool.name": call["name"],
                "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
            },
            status="error" if call.get("failed") else "unset",
        )
        for number, call in enumerate(made, 1)
    ]
    tree = SpanTree()
    tree.add_spans(spans)
    return EvaluatorContext(
        name="q",
        inputs="?",
        metadata=None,
        expected_output=None,
        output="",
        duration=1.0,
        _span_tree=tree,
        attributes={},
        metrics={},
    )


def harmonic(one: float, two: float) -> float:
    """Return the harmonic mean of two shares."""
    return 2 * one * two / (one + two) if one + two else 0.0


@pytest.mark.parametrize("failed", [False, True])
def test_trajectory_match_and_tool_correctness_of_pydantic_evals(failed: bool) -> None:
    """Its values are exactness, and the harmonic means of recall and precision, in any order and in order."""
    library("pydantic_evals")
    from pydantic_evals.evaluators import ToolCorrectness, TrajectoryMatch

    partial = 0
    for expected, made in trajectories(11):
        names = [call["name"] for call in expected]
        said = {
            order: TrajectoryMatch(expected_trajectory=names, order=order, include_failed=failed)
            .evaluate(context(made))
            .value
            for order in ("exact", "any_order", "in_order")
        }
        case = records(expected, made)
        count = sum(failed or not call.get("failed") for call in made)
        recall = value(f"ToolRecall(failed={failed})", *case)
        precision = value(f"ToolPrecision(failed={failed})", *case) if count else 0.0
        in_order = value(f"ToolInOrder(failed={failed})", *case)
        assert said["exact"] == value(f"ToolExact(failed={failed})", *case)
        assert said["any_order"] == pytest.approx(harmonic(recall, precision), abs=1e-12)
        in_order_precision = in_order * len(expected) / count if count else 0.0
        assert said["in_order"] == pytest.approx(harmonic(in_order, in_order_precision), abs=1e-12)
        for extra in (False, True):
            correct = ToolCorrectness(expected_tools=names, allow_extra=extra, include_failed=failed)
            fits = recall == 1 and (extra or precision == 1)
            assert correct.evaluate(context(made)).value == fits
        partial += 0 < in_order < recall < 1
    assert partial > 20


def test_argument_correctness_of_pydantic_evals() -> None:
    """All expected arguments of one call are equal exactly if the library says so (subset)."""
    library("pydantic_evals")
    from pydantic_evals.evaluators import ArgumentCorrectness

    yes = asked = 0
    for expected, made in trajectories(13, 2000):
        wanted = expected[0]
        there = [call for call in made if call["name"] == wanted["name"]][:1]
        if not wanted["arguments"] or not there:
            continue
        said = ArgumentCorrectness(wanted["name"], wanted["arguments"], include_failed=True).evaluate(context(there))
        assert said.value == (value("ArgumentMatch", *records([wanted], there)) == 1)
        asked += 1
        yes += bool(said.value)
    assert 50 < yes < asked - 50
