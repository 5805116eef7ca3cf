"""Gates on percentiles: which value they take, what counts as the worst one, and what they say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.plugins.limits.percentile_gates import nearest_rank
from tests.helpers.cli import inside, tiny
from tests.helpers.properties import examples


@examples(100)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.fractions(Fraction(1, 10), Fraction(999, 10)))
def test_the_nearest_rank_by_its_definition(values: list[int], percent: Fraction) -> None:
    """It is the smallest of the values such that at least so many percent of them aren't higher, by counting."""
    enough = [one for one in values if 100 * len([each for each in values if each <= one]) >= percent * len(values)]
    assert nearest_rank(values, percent) == min(enough)


def timed(folder: Path, milliseconds: list[float | None], name: str = "r") -> Path:
    """Return a run of as many questions as times; None is a failed one."""
    gold = [["a:m.py#x", "CALLS", "a:m.py#y"]]
    questions = [{"id": f"q{number:02}", "question": "?", "paths": [gold]} for number in range(len(milliseconds))]
    answers: list[dict[str, Any]] = []
    for question, time in zip(questions, milliseconds, strict=True):
        about = {"run": name, "question_id": question["id"], "traversal": gold}
        answers.append(about | ({"error": "lost"} if time is None else {"latency_ms": time}))
    return tiny(folder, questions, answers)


#: 20 questions of 100, 200, ... 2,000 ms. 95 % of 20 are 19, so the 19th value is the percentile: 1.9 s. The 10th is
#: the median, 1.0 s, and 99.9 % need all 20: 2.0 s.
TIMES: list[float | None] = [100.0 * number for number in range(1, 21)]


@pytest.mark.parametrize(
    ("option", "gate", "code", "reported"),
    [
        ("--fail-over", "latency_p95=1.9s", 0, ""),
        ("--fail-over", "latency_p95=1800ms", 1, "r: Latency_p95 of 20 values is 1.9000, over 1.8; above it: q19 2.00"),
        ("--fail-over", "Latency_p50=1", 0, ""),
        ("--fail-over", "LATENCY_P50=0.01 min", 1, "p50 of 20 values is 1.0000, over 0.6; above it: q19 2.0000, "
         "q18 1.9000, q17 1.8000, q16 1.7000, q15 1.6000 and 5 more"),
        ("--fail-over", "latency_ms_p99.9=2000", 0, ""),
        ("--fail-over", "latency_ms_p99.9=1999", 1, "Latency_p99.9 of 20 values is 2.0000, over 1.999"),
        ("--fail-over", "Latency_p99.999999=1", 1, "Latency_p99.999999 of 20 values is 2.0000, over 1"),
        ("--fail-under", "Latency_p10=200ms", 0, ""),
        ("--fail-under", "Latency_p10=0.25", 1, "Latency_p10 of 20 values is 0.2000, under 0.25; below it: q00 0.1000"),
        ("--fail-under", "EdgeRecall_p10=1", 0, ""),
        ("--fail-over", "Latency=1.05s", 0, ""),
        ("--fail-over", "latency_ms=1049", 1, "r: Latency is 1.0500, over 1.049"),
        ("--fail-question", "Latency=2s", 0, ""),
        ("--fail-question", "Latency=1999ms", 1, "q19: 2.0000, over 1.999"),
    ],
)  # fmt: skip
def test_percentile(tmp_path: Path, option: str, gate: str, code: int, reported: str) -> None:
    """A percentile beyond its bound ends with 1, and names the questions beyond it; its bound may have a unit."""
    run = timed(tmp_path, TIMES)
    done = inside("evaluate", "--no-store", "--json", option, gate, run, cwd=tmp_path, code=code)
    assert reported in done.err


def test_json_names_the_percentile(tmp_path: Path) -> None:
    """The outcome in JSON has the measure, the percentile, its value and the questions beyond it."""
    done = inside(
        *("evaluate", "--no-store", "--json", "--fail-over", "latency_p90=2s", timed(tmp_path, TIMES)), cwd=tmp_path
    )
    [gate] = done.object()["gates"]
    # 90 % of 20 are 18: the 18th value, 1.8 s. Two are slower.
    assert gate | {"what": ""} == {
        "name": "fail-over Latency_p90=2",
        "gate": "fail-over",
        "run": "r",
        "measure": "Latency",
        "percentile": 90.0,
        "bound": 2.0,
        "value": 1.8,
        "interval": None,
        "n": 20,
        "left_out": 0,
        "beyond": ["q19", "q18"],
        "passed": True,
        "what": "",
        "margin": pytest.approx(0.2),
        "could_be": 1.8,
    }


def test_failures_are_infinitely_slow(tmp_path: Path) -> None:
    """A failed question counts as slower than any, so 2 of 20 break the 95th percentile and not the 90th."""
    run = timed(tmp_path, [*TIMES[:18], None, None])
    arguments = ("evaluate", "--no-store", "--json", "--fail-over")
    inside(*arguments, "latency_p90=1.8", run, cwd=tmp_path, code=0)
    done = inside(*arguments, "latency_p95=1000", run, cwd=tmp_path, code=1)
    assert "Latency_p95 of 20 values (2 failed, missing or not logged as infinite) is infinite, over 1000" in done.err
    assert "above it" not in done.err  # nothing is slower than that
    [gate] = done.object()["gates"]
    assert gate["value"] is None
    # Where failures don't count, 18 values are left, of which 95 % are 17.1: the 18th.
    done = inside(*arguments, "latency_p95=1.7", "--missing-as", "unscored", run, cwd=tmp_path, code=1)
    assert "Latency_p95 of 18 values is 1.8000, over 1.7" in done.err
    # Nor does failing help a lower bound: the median of the answered is 0.9, of all with infinite ones 1.0.
    done = inside("evaluate", "--no-store", "--json", "--fail-under", "Latency_p50=0.95", run, cwd=tmp_path, code=1)
    assert "Latency_p50 of 20 values (2 failed, missing or not logged as infinite) is 0.9000, under 0.95" in done.err


def test_a_measure_with_a_worst_value(tmp_path: Path) -> None:
    """A failed question counts as 0 by EdgeRecall, so the 10th percentile of 20 with 2 failures is 0."""
    run = timed(tmp_path, [*TIMES[:18], None, None])
    arguments = ("evaluate", "--no-store", "--json", "--fail-under")
    done = inside(*arguments, "EdgeRecall_p10=0.5", run, cwd=tmp_path, code=1)
    assert "EdgeRecall_p10 of 20 values (2 failed, missing or not logged as 0.0000) is 0.0000, under 0.5" in done.err
    inside(*arguments, "EdgeRecall_p11=0.5", run, cwd=tmp_path, code=0)  # 11 % of 20 are 2.2: the third value, 1


def test_nothing_logged_fails(tmp_path: Path) -> None:
    """A run that never states its latency has no percentile of it, which fails the gate."""
    run = tiny(tmp_path)
    done = inside("evaluate", "--no-store", "--json", "--fail-over", "latency_p95=2s", run, cwd=tmp_path, code=1)
    assert "Latency was never logged (the record doesn't state its latency)" in done.err


def test_in_shards(tmp_path: Path) -> None:
    """Shards give the same sentence: the percentile isn't one of percentiles."""
    run = timed(tmp_path, TIMES)
    arguments = ("evaluate", "--no-store", "--json", "--fail-over", "latency_p95=1.8", run)
    whole = inside(*arguments, cwd=tmp_path, code=1).object()["gates"]
    folder = inside(*arguments, "--out", tmp_path / "results", cwd=tmp_path, code=1).object()["gates"]
    assert whole == folder


def test_repetitions_count_singly(tmp_path: Path) -> None:
    """Of a repeated system all answers count: a mean of each question's repetitions would hide the slow ones."""
    gold = [["a:m.py#x", "CALLS", "a:m.py#y"]]
    questions = [{"id": f"q{number}", "question": "?", "paths": [gold]} for number in range(2)]
    times = {"r@1": (100, 100), "r@2": (3900, 100)}  # the means of the questions are 2 s and .1 s
    runs = []
    for name, of_run in times.items():
        answers = [
            {"run": name, "question_id": one["id"], "traversal": gold, "latency_ms": time}
            for one, time in zip(questions, of_run, strict=True)
        ]
        runs.append(tiny(tmp_path, questions, answers).rename(tmp_path / "runs" / f"{name}.jsonl"))
    done = inside(*("evaluate", "--no-store", "--json", "--fail-over", "latency_p95=3s", *runs), cwd=tmp_path, code=1)
    assert "r: Latency_p95 of 4 values is 3.9000, over 3" in done.err  # 95 % of 4 are 3.8: the fourth


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("--fail-over", "Hops_p95=2s"), "Hops isn't measured in time"),
        (("--fail-under", "EdgeRecall=1s"), "EdgeRecall isn't measured in time"),
        (("--fail-over", "latency_p95=soon"), "takes MEASURE=VALUE with a number, of Latency also 900ms or 2min"),
        (("--fail-over", "latency_p0=1"), "latency_p0 is no percentile: p0 doesn't lie between p0 and p100"),
        (("--fail-over", "latency_p101=1"), "latency_p101 is no percentile: p101 doesn't lie between p0 and p100"),
        (("--fail-under", "EdgeF1_p100=1"), "EdgeF1_p100 is no percentile: p100 doesn't lie between p0 and p100"),
        (("--fail-over", "latncy_p95=1"), "no measure is called 'latncy'"),
        (("--fail-question", "latency_p95=1"), "a percentile is bounded by --fail-under or --fail-over"),
        (("--min-scored", "latency_p95=1"), "a percentile is bounded by --fail-under or --fail-over"),
        (("--fail-over", "latency_p95=1", "--sure"), "without --sure and --pass-k"),
    ],
)
def test_mistakes(tmp_path: Path, arguments: tuple[str, ...], reported: str) -> None:
    """A bound that means nothing is refused before anything is scored."""
    assert reported in inside("evaluate", "--no-store", *arguments, tiny(tmp_path), cwd=tmp_path, code=2).err
