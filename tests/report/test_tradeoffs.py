"""Quality against latency, tokens and cost: what is drawn, what is said of runs without figures, and who is beaten."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from graphkit.analysis.board import BoardCell, BoardRow
from graphkit.records.usage import Figures, summarised
from graphkit.report import PageOptions, write_report
from graphkit.report.tradeoffs import DOT, HEIGHT, LEFT, RIGHT, WIDTH, Dot, tradeoffs
from graphkit.scoring.results import Evaluation
from tests.helpers import cli
from tests.helpers.datasets import write_jsonl
from tests.helpers.pages import HOSTILE, Page


def _quality(*values: float | None, lower: bool = False) -> BoardRow:
    cells = tuple(BoardCell(value, value, value, "", True, "") for value in values)
    return BoardRow("EdgeRecall", None, lower, 0.0, 1.0, cells)


def _run(*records: Figures, failed: int = 0) -> Evaluation:
    return Evaluation("r", "d", len(records), failed, 0, {}, efficiency=summarised(records))


def _latency(value: float | None) -> Evaluation:
    return _run(Figures(value, None, None, None, None))


def _dots(qualities: list[float | None], latencies: list[float], lower: bool = False) -> tuple[Dot, ...]:
    found = tradeoffs(_quality(*qualities, lower=lower), [_latency(one) for one in latencies])
    assert found is not None
    [panel] = found.panels
    return panel.dots


def test_the_figures_of_a_question() -> None:
    """Latency is the median of 10, 20 and 90, tokens are both means together, 20 + 4, and cost is 0.4 / 2."""
    one = _run(Figures(10, 1, 10, 4, 0.1), Figures(20, 1, 30, 4, 0.3), Figures(90, 1, None, None, None))
    found = tradeoffs(_quality(0.5, 0.5), [one, _run(Figures(5, 1, 7, None, None))])
    assert found is not None
    assert [(figure.name, figure.values, figure.known) for figure in found.figures] == [
        ("latency", (20.0, 5.0), (3, 1)),
        # The other run states its prompts alone, which aren't its tokens.
        ("tokens", (24.0, None), (2, 0)),
        ("cost", (0.2, None), (2, 0)),
    ]
    # One dot is no comparison: only the latency, which both runs state, is drawn.
    assert [panel.figure.name for panel in found.panels] == ["latency"]
    assert found.names == "latency, tokens and cost"


def test_a_run_is_beaten_by_one_that_is_as_good_for_less() -> None:
    """The first is the fastest, the second the best; the third is worse than the second and slower, the fourth its twin
    in quality and slower. A fifth one equal to the second in both is not beaten.
    """
    dots = _dots([0.2, 0.8, 0.5, 0.8, 0.8], [10, 20, 30, 40, 20])
    assert [dot.beaten for dot in dots] == [False, False, True, True, False]
    # If lower is better, the first beats all but those as good, which are none.
    assert [dot.beaten for dot in _dots([0.2, 0.8], [10, 20], lower=True)] == [False, True]


def test_scales() -> None:
    """Values from 0.36 to 146 ms lie on a logarithmic scale, those from 10 to 18 on one from 0 in steps of 10."""
    results = [_latency(0.36), _latency(146)]
    found = tradeoffs(_quality(0.0, 0.54), results)
    assert found is not None
    # 0.54 on a scale of at most four steps: 0.1 would take six, so 0.2.
    assert found.up.ticks == (0.0, 0.2, 0.4, 0.6)
    [panel] = found.panels
    assert (panel.across.logarithmic, panel.across.ticks) == (True, (1.0, 10.0, 100.0))
    assert 0 < panel.dots[0].x < panel.across.at(1.0) < panel.across.at(100.0) < panel.dots[1].x < 100
    # Up is 0: a quality of 0 lies on the ground, 0.54 of 0.6 a tenth below the top.
    assert [round(dot.y, 6) for dot in panel.dots] == [100.0, 10.0]
    found = tradeoffs(_quality(0.5, 0.5), [_latency(10), _latency(18)])
    assert found is not None
    assert (found.panels[0].across.ticks, found.panels[0].dots[0].x) == ((0.0, 10.0, 20.0), 50.0)
    free = tradeoffs(_quality(0.5, 0.5), [_latency(0), _latency(0)])
    assert free is not None
    assert [dot.x for dot in free.panels[0].dots] == [0.0, 0.0]


def test_letters_stand_apart() -> None:
    """Labels of dots near one another overlap neither each other nor another dot, and stay within the panel.

    On the logarithmic scale of the first case both dots are a pixel apart, as in the second all are: they share one.
    """
    cases: list[tuple[list[float | None], list[float], list[tuple[int, ...]]]] = [
        ([0.41, 0.4, 0.0], [0.79, 0.82, 9], [(0, 1), (2,)]),
        ([0.5] * 4, [10] * 4, [(0, 1, 2, 3)]),
        ([0.5] * 5, [10, 11, 12, 13, 14], [(0,), (1,), (2,), (3,), (4,)]),
        ([0.9, 0.8, 0.7, 0.6], [20, 20, 20, 20], [(0,), (1,), (2,), (3,)]),
    ]
    for qualities, latencies, groups in cases:
        found = tradeoffs(_quality(*qualities), [_latency(one) for one in latencies])
        assert found is not None
        [panel] = found.panels
        assert [label.runs for label in panel.labels] == groups
        rooms: list[tuple[float, float, float]] = []
        for label in panel.labels:
            x, y = label.x * WIDTH / 100 + label.dx, label.y * HEIGHT / 100 + label.dy
            half = (11 * len(label.runs) - 3) / 2
            assert -LEFT <= x - half < x + half <= WIDTH + RIGHT
            others = [dot for dot in panel.dots if dot.run not in label.runs]
            for dot in others:
                across, up = abs(x - dot.x * WIDTH / 100), abs(y - dot.y * HEIGHT / 100)
                assert across >= half + DOT or up >= 5 + DOT
            assert all(abs(x - left) >= half + wide or abs(y - top) >= 10 for left, top, wide in rooms)
            rooms.append((x, y, half))


def test_nothing_is_drawn_without_two_runs_and_a_figure() -> None:
    """One run has nothing to be compared with, and without a figure or a measure of all runs there is no chart."""
    both = [_latency(1), _latency(2)]
    assert tradeoffs(_quality(0.5), both[:1]) is None
    assert tradeoffs(_quality(0.5, 0.5), [_latency(None)] * 2) is None
    assert tradeoffs(_quality(0.5, None), both) is None
    assert tradeoffs(None, both) is None


def _page(folder: Path, *runs: list[dict[str, Any]], **options: Any) -> Page:
    write_jsonl(folder / "questions.jsonl", cli.QUESTIONS)
    files = [write_jsonl(folder / "runs" / f"{number}.jsonl", rows) for number, rows in enumerate(runs)]
    return Page(write_report(files, folder / "r.html", PageOptions(**options)).read_text("utf-8"))


def _records(name: str, *figures: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**one, "run": name, **own} for one, own in zip(cli.ANSWERS, figures, strict=True)]


def test_the_page_names_what_is_not_stated(tmp_path: Path) -> None:
    """Run b states no latency, no run a cost, and c failed on one of two questions."""
    stated = {"latency_ms": 4.0, "prompt_tokens": 100, "output_tokens": 20}
    page = _page(
        tmp_path,
        _records("a", stated, stated),
        _records("b", *[{"prompt_tokens": 10, "output_tokens": 1}] * 2),
        _records("c", stated, {**stated, "error": "broken"}),
    )
    text = " ".join(page.text.split())
    assert "Quality against latency and tokens" in text
    assert "Latency and tokens are per answered question; a failed one counts in nDCG@10 alone." in text
    assert "† not every question states it. b states no latency. No run states cost." in text
    assert "A a 0.69 4.00 120 B b 0.69 – 11.0 C c 0.19 4.00† 120†" in text
    assert ("span", {"class": "dim", "title": "over 1 of 2 questions"}) in page.elements
    assert sum(tag == "figure" and "role" not in one for tag, one in page.elements) == 2


def test_failures_that_count_nowhere(tmp_path: Path) -> None:
    """With ``failed_as="unscored"`` a failed question counts in neither, so nothing is said of it."""
    rows = [_records(name, {"latency_ms": 1.0}, {"latency_ms": 1.0, "error": "broken"}) for name in "ab"]
    text = " ".join(_page(tmp_path, *rows, failed_as="unscored").text.split())
    assert "Latency is per answered question." in text
    assert "counts in nDCG@10 alone" not in text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_in_the_chart(tmp_path: Path, name: str) -> None:
    """The name of a run is text in titles, labels and cells."""
    rows = [_records(one, {"latency_ms": 1.0}, {"latency_ms": 2.0}) for one in (name, "b")]
    page = _page(tmp_path, *rows)
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert len(page.scripts) == len(_page(tmp_path / "other", *(_records(one, {}, {}) for one in "ab")).scripts)


def test_no_figure_is_changed_by_the_order_of_runs() -> None:
    """The same runs in another order have the same places."""
    quality = _quality(0.2, 0.8, 0.5)
    results = [_latency(one) for one in (10, 20, 30)]
    found = tradeoffs(quality, results)
    turned = tradeoffs(dataclasses.replace(quality, cells=quality.cells[::-1]), results[::-1])
    assert found is not None
    assert turned is not None
    places = [(dot.x, dot.y, dot.beaten) for dot in found.panels[0].dots]
    assert places == [(dot.x, dot.y, dot.beaten) for dot in turned.panels[0].dots][::-1]
