"""The board: each measure of each run against its target, in the layers of the configuration."""

from __future__ import annotations

import pytest

from graphkit.analysis.board import Board, board
from graphkit.analysis.config import Config
from graphkit.analysis.layers import score_layers
from graphkit.records.unanswered import failed
from graphkit.scoring.results import Evaluation
from tests.analysis.test_standings import result

CONFIG = Config(
    weights={
        "retrieval": {"EdgeRecall": 0.6, "RR": 0.4},
        "reasoning": {"Coherence": 0.4, "Integration": 0.6},
        "generation": {"FactualCorrectness": 1.0},
    }
)


def _board(*results: Evaluation) -> Board:
    return board(results, [score_layers(one, CONFIG) for one in results], CONFIG)


def test_layers_hold_what_was_scored() -> None:
    """Retrieval is whole (.6 * .5 + .4 * 1 = .7), reasoning rests on 40% of its weights, generation on none."""
    found = _board(result("a", EdgeRecall=[1.0, 0.0], RR=[1.0, 1.0], Coherence=[1.0, 1.0], Integration=["no", "no"]))
    retrieval, reasoning, generation = found.layers
    assert retrieval.scores == pytest.approx((0.7,))
    assert not retrieval.partial(0)
    assert reasoning.scores + reasoning.coverage == pytest.approx((1.0, 0.4))
    assert reasoning.partial(0)
    assert ([row.measure for row in reasoning.rows], reasoning.unscored) == (["Coherence"], ("Integration",))
    assert generation.note.startswith("not scored: its measures come from a judge")
    assert (generation.rows, generation.scores) == ((), (None,))
    # .7 * 1 without the layer generation.
    assert found.overall == pytest.approx((0.7,))
    assert found.partial == (True,)
    assert found.measures == ["EdgeRecall", "RR", "Coherence"]


def test_a_cell_has_its_interval_and_its_target() -> None:
    """The target of EdgeRecall is .8 and its severe threshold .5: .4 is severe, .6 missed, .9 met.

    Thirty equal values have the score interval of a share of 30 * (1.96 / 2.0452)^2 = 27.55 items, and say that nothing
    shows how far others may lie. If a run failed on 5 of 25, they count as 0: 20 of 25 are
    .8, which meets the target, and no question is left out, as those without a traversal are.
    """
    values = [[share] * 30 for share in (0.4, 0.6, 0.9)]
    found = _board(*(result(str(number), EdgeRecall=some) for number, some in enumerate(values)))
    row = found.layers[0].rows[0]
    assert [cell.state for cell in row.cells] == ["severe", "missed", "met"]
    # z^2 / n = .1394: for .9 the middle is (.9 + .0697) / 1.1394 = .8511, and the reach .1158.
    expected = [(0.2404, 0.5841), (0.4159, 0.7596), (0.7353, 0.9669)]
    assert [(cell.low, cell.high) for cell in row.cells] == [pytest.approx(one, abs=1e-3) for one in expected]
    assert {cell.caution for cell in row.cells} == {"all values are equal, so nothing shows how far others may lie"}
    assert (row.target, row.lower, row.lowest, row.highest, row.place(0.8)) == (0.8, False, 0.0, 1.0, 0.8)
    [cell] = _board(result("f", EdgeRecall=[1.0] * 20 + [failed("boom")] * 5)).layers[0].rows[0].cells
    assert (cell.value, cell.whole, cell.state, cell.counts) == (0.8, True, "met", "20/25, 5 failed as 0")
    [cell] = _board(result("u", EdgeRecall=[1.0] * 20 + ["no traversal"] * 5)).layers[0].rows[0].cells
    assert (cell.value, cell.whole) == (1.0, False)


def test_twelve_right_of_twelve_are_no_certainty() -> None:
    """The interval of 12 values of 1 isn't [1, 1], and the cell says why it may be wide of the mark."""
    [cell] = _board(result("a", EdgeRecall=[1.0] * 12)).layers[0].rows[0].cells
    # n = 12 * (1.96 / t(11; .975) = 2.20099)^2 = 9.516; n / (n + 1.96^2) = .7124.
    assert (cell.low, cell.high) == pytest.approx((0.7124, 1.0), abs=1e-3)
    assert cell.caution == "all values are equal, so nothing shows how far others may lie"
    few, enough = (_board(result("a", EdgeRecall=[0.0, *[1.0] * count])).layers[0].rows[0].cells[0] for count in (8, 9))
    assert few.caution == "the interval may be too narrow: 9 questions, fewer than 10"
    assert enough.caution is None


def test_measures_without_a_weight_follow() -> None:
    """BoundaryRecall is shown, the others are folded; one without a bound has the scale of its values."""
    found = _board(result("a", EdgeRecall=[1.0, 1.0], BoundaryRecall=[0.5, 0.5], own=[2.0, 6.0]))
    assert [row.measure for row in found.others] == ["BoundaryRecall"]
    [own] = found.more
    assert (own.measure, own.cells[0].value, own.cells[0].state) == ("own", 4.0, "")
    # Student's t of two values, 4 -+ 12.7 * 2, is the wider interval.
    assert own.lowest < 2 < 6 < own.highest
    assert own.place(own.highest + 1) == 1.0
