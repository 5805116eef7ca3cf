"""Follow-ups: what earlier turns of a session walked, worked by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphkit.errors import MeasureError
from graphkit.measures.base import Unscored
from graphkit.measures.budgets import UNKNOWN_BEFORE
from graphkit.measures.registry import parse_measure
from graphkit.measures.unscored import NO_EARLIER_TURN, NO_GOLD, NO_TRAVERSAL
from tests.helpers.cases import Triple, answer, optional, question, reason, score, unlogged, value
from tests.helpers.properties import examples

AB, BC, CD = ("a", "R", "b"), ("b", "R", "c"), ("c", "R", "d")
ACROSS = 'RepeatedEdges(across="turns")'


def walked(*turns: tuple[int, Triple]) -> list[dict[str, Any]]:
    """Return edges that earlier turns walked, as records hold them."""
    steps = [{"source": edge[0], "relation": edge[1], "target": edge[2], "path": turn} for turn, edge in turns]
    return [{name: one for name, one in step.items() if one is not None} for step in steps]


def follow_up(*steps: Any, since: int | None = 1, turn: int = 3) -> Any:
    """Return the question of a later turn whose gold path begins in an earlier one."""
    return question({"steps": list(steps), "from_turn": since}, session="s", turn=turn)


def test_edges_are_repeated_across_turns() -> None:
    """Turn 3 walks a-b, b-c, c-d, c-d, and a-b and b-c were walked before: 4 edges, of which c-d alone is new."""
    run = answer([AB, BC, CD, CD], walked_before=walked((1, AB), (2, AB), (2, BC)))
    assert [value(one, follow_up(AB), run) for one in (ACROSS, "RepeatedEdges", "Hops")] == [3, 1, 4]
    assert value(ACROSS, follow_up(AB), answer([AB], walked_before=[])) == 0
    # Another relation is another edge, and so is none.
    assert (
        value(ACROSS, follow_up(AB), answer([AB], walked_before=walked((1, ("a", "S", "b")), (1, ("a", None, "b")))))
        == 0
    )


def test_edges_repeated_across_turns_need_earlier_turns() -> None:
    """Without an earlier turn there is nothing to repeat; unknown walks aren't none."""
    for first in (question([AB]), question([AB], session="s"), question([AB], session="s", turn=1)):
        assert reason(ACROSS, first, answer([AB, AB], walked_before=[])) == NO_EARLIER_TURN
        assert score(ACROSS, first, None) == Unscored(NO_EARLIER_TURN)
    assert reason(ACROSS, follow_up(AB), answer([AB])) == UNKNOWN_BEFORE
    assert reason(ACROSS, follow_up(AB), unlogged(walked_before=[])) == NO_TRAVERSAL
    with pytest.raises(MeasureError, match='across must be "path" or "turns"'):
        parse_measure('RepeatedEdges(across="runs")')


def test_a_gold_path_begins_where_an_earlier_turn_ended() -> None:
    """Gold a-b, b-c, c-d from turn 1: a-b was walked in turn 1, so b-c and c-d are left to walk.

    Turn 3 walks c-d: 1 of 2, the path isn't whole, and its first step left, b-c, is missing. With b-c both are walked.
    """
    gold, before = follow_up(AB, BC, CD), walked((1, AB))
    measures = ("EdgeRecall", "PathExact", "PathPrefix", "PathInOrder", "EdgePrecision")
    assert [value(one, gold, answer([CD], walked_before=before)) for one in measures] == [0.5, 0, 0, 0, 1]
    assert [value(one, gold, answer([BC, CD], walked_before=before)) for one in measures] == [1, 1, 1, 1, 1]
    # To walk it again is no mistake, and not to know what was walked excuses nothing.
    assert [value(one, gold, answer([AB, BC, CD], walked_before=before)) for one in measures] == [1, 1, 1, 1, 1]
    assert value("EdgeRecall", gold, answer([BC, CD])) == pytest.approx(2 / 3)
    # Gold says from where: in turn 2 a-b was not walked. A path that begins in this turn asks for all.
    assert value("EdgeRecall", follow_up(AB, BC, CD, since=2), answer([BC, CD], walked_before=before)) == pytest.approx(
        2 / 3
    )
    assert value("EdgeRecall", follow_up(AB, BC, CD, since=None), answer([CD], walked_before=before)) == pytest.approx(
        1 / 3
    )
    # A log without relations shows the edge as well.
    assert value("EdgeRecall", gold, answer([BC, CD], walked_before=walked((2, ("a", None, "b"))))) == 1


def test_a_path_that_was_walked_before_asks_for_nothing() -> None:
    """There is no step to score then, as for a path whose steps are all optional."""
    gold, before = follow_up(AB, since=1), walked((2, AB))
    assert reason("EdgeRecall", gold, answer([], walked_before=before)) == NO_GOLD
    assert reason("PathExact", gold, answer([], walked_before=before)) == NO_GOLD
    assert value("EdgePrecision", gold, answer([AB, CD], walked_before=before)) == 0.5


EDGES = st.sampled_from([AB, BC, CD, ("b", "R", "x"), ("x", None, "c")])


@given(
    st.lists(EDGES, min_size=1, max_size=4),
    st.lists(EDGES, max_size=4),
    st.lists(st.tuples(st.sampled_from([1, 2]), EDGES), max_size=4),
    st.sampled_from([1, 2]),
)
@examples(100)
def test_a_step_that_was_walked_before_is_an_optional_step(
    steps: list[Triple], walk: list[Triple], turns: list[tuple[int, Triple]], since: int
) -> None:
    """Every measure gives what it gives for a question whose gold marks these steps as optional by hand."""
    had = {edge for turn, edge in turns if turn >= since}
    run = answer(walk, walked_before=walked(*turns))
    by_hand = question([optional(*step) if step in had else step for step in steps])
    for measure in ("EdgeRecall", "EdgePrecision", "PathExact", "PathPrefix", "PathInOrder", "StoppingDepth"):
        assert score(measure, follow_up(*steps, since=since), run) == score(measure, by_hand, run)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"turn": 2}, "a turn needs the session"),
        (
            {"session": "s", "turn": 2, "paths": [{"steps": [AB], "from_turn": 2}]},
            "it is 2, and the question is turn 2",
        ),
        ({"session": "s", "paths": [{"steps": [AB], "from_turn": 1}]}, "the question has no turn"),
        ({"session": "s", "turn": 0}, "greater than or equal to 1"),
    ],
)
def test_a_turn_has_its_place(fields: dict[str, Any], said: str) -> None:
    """A turn without a session, or gold that begins in no earlier turn, is refused."""
    with pytest.raises((ValidationError, ValueError, AssertionError), match=said):
        question(**fields) if "paths" not in fields else question(*fields.pop("paths"), **fields)
