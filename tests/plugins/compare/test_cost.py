"""Whether the dearer of two runs pays: paired differences of quality, tokens, latency and cost, and the frontier."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy
import pytest
from scipy import stats

from graphkit.analysis.paired import Draws, compare_pairs
from graphkit.plugins.compare.compared_runs import RunUsage
from graphkit.plugins.compare.cost_comparison import CostComparison, FigureDifference, compare_cost
from graphkit.records.structs import AnswerStruct
from tests.helpers.cli import Graph, Row, inside, write_lines
from tests.helpers.clustered import clustered_runs
from tests.helpers.costs import spending

DRAWS = Draws(2_000, 1)


def answer(question: str, **fields: object) -> AnswerStruct:
    """Return a record of a run."""
    return AnswerStruct(run="r", question_id=question, **fields)  # type: ignore[arg-type]


def test_what_a_record_does_not_state_is_unknown() -> None:
    """Tokens need both parts, 0 is a value, and neither failed nor foreign questions count."""
    records = [
        answer("q1", prompt_tokens=100, output_tokens=20, latency_ms=5.0),
        answer("q2", prompt_tokens=100, cost=0.0),
        answer("q3", latency_ms=7.0, error={"type": "Boom", "message": ""}),
        answer("other", latency_ms=9.0),
    ]
    found = RunUsage.of_records(records, {"q1", "q2", "q3"})
    assert found == ({"cost": {"q2": 0.0}, "tokens": {"q1": 120.0}, "latency": {"q1": 5.0}}, {"q1", "q2"})


def compared(gain: float, extra: float, measure: str = "EdgeRecall", noise: float = 0.1) -> CostComparison:
    """Return the comparison of 60 questions whose quality and tokens differ by so much, with noise."""
    random = numpy.random.default_rng(41)
    names = [f"q{number}" for number in range(60)]
    base, tokens = random.uniform(0.3, 0.6, 60), random.uniform(900, 1100, 60)
    better = base + gain + random.normal(0, noise, 60)
    dearer = tokens + extra + random.normal(0, 10, 60)
    quality = compare_pairs(measure, [*base], [*better], resamples=2_000)
    usage = tuple(
        RunUsage({"cost": {}, "tokens": dict(zip(names, map(float, some), strict=True)), "latency": {}}, names)
        for some in (tokens, dearer)
    )
    return compare_cost(spending("with", "without", (usage[0], usage[1])), quality, DRAWS)


def test_differences_are_those_of_scipy() -> None:
    """The difference in tokens is paired: its interval is at least Student's of the differences."""
    found = {one.name: one for one in compared(0.1, -500).figures}
    result = found["tokens"].result
    assert result is not None
    random = numpy.random.default_rng(41)
    random.uniform(0.3, 0.6, 60)
    tokens = random.uniform(900, 1100, 60)
    random.normal(0, 0.1, 60)
    dearer = tokens - 500 + random.normal(0, 10, 60)
    student = stats.ttest_rel(dearer, tokens).confidence_interval()
    assert result.low is not None
    assert result.high is not None
    assert result.low <= student.low + 1e-9
    assert result.high >= student.high - 1e-9
    assert result.high - result.low < 1.1 * (student.high - student.low)
    assert found["cost"].result is None
    assert found["cost"].reason == "not logged by with and without"


def of_tokens(first: list[float], second: list[float]) -> FigureDifference:
    """Return the comparison of the tokens of two runs."""
    usage = [
        RunUsage({"cost": {}, "tokens": {f"q{n}": one for n, one in enumerate(some)}, "latency": {}}, ())
        for some in (first, second)
    ]
    quality = compare_pairs("EdgeRecall", [0.5] * 30, [0.5, 0.9] * 15, resamples=99)
    return compare_cost(spending("a", "b", (usage[0], usage[1])), quality, Draws(499, 1)).figures[1]


def test_the_ratio_is_that_of_the_logarithms() -> None:
    """Student's t of the logarithms bounds the ratio of a typical question; median and p95 stand beside the mean."""
    random = numpy.random.default_rng(5)
    first = [*random.lognormal(6, 1.5, 40)]
    second = [one * factor for one, factor in zip(first, random.lognormal(-0.5, 0.6, 40), strict=True)]
    found = of_tokens(first, second)
    logs = numpy.log(second) - numpy.log(first)
    student = stats.ttest_1samp(logs, 0).confidence_interval()
    assert found.ratio is not None
    assert found.ratio.delta == pytest.approx(logs.mean())
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low <= student.low + 1e-9
    assert found.ratio.high >= student.high - 1e-9
    assert found.price == -1
    ratio = found.as_json(("a", "b"))["ratio"]
    assert ratio["value"] == pytest.approx(stats.gmean(second) / stats.gmean(first))
    assert ratio["low"] < ratio["value"] < ratio["high"] < 1
    assert f"by a factor of {ratio['value']:.2f} [" in found.sentence
    # Of 40 values the 20th is the median, and 13 of 40 halves or fewer lie below in 1.9%, 14 in 4.0%: ranks 14 and 27.
    median, ordered = found.quantiles["median"][0], sorted(first)
    assert (median.value, median.low, median.high) == (ordered[19], ordered[13], ordered[26])
    # .95^40 = .129: the largest of 40 bounds the 95th percentile too rarely, so nothing does.
    p95 = found.quantiles["p95"][0]
    assert (p95.value, p95.high) == (ordered[37], None)
    assert "; median " in found.sentence
    assert "; p95 " in found.sentence


def test_a_constant_factor_is_clear_and_no_certainty() -> None:
    """Twice as many tokens on each question are clearly more, but the interval isn't the factor itself."""
    found = of_tokens([100.0] * 20, [200.0] * 20)
    assert found.price == 1
    assert found.ratio is not None
    assert found.ratio.low is not None
    # The ratio of the largest and the smallest is 2: the interval of equal differences is 3 / 20 of that wide.
    assert found.ratio.low == pytest.approx(math.log(2) * (1 - 1.5 / 20), abs=1e-4)


def test_a_mean_against_the_typical_question_decides_nothing() -> None:
    """The second run takes a tenth less on all questions but one, which takes a hundred times as much: unclear."""
    found = of_tokens([100.0 + number for number in range(30)], [90.0 + number for number in range(29)] + [12_900.0])
    assert found.result is not None
    assert found.result.delta > 0
    assert found.price == 0


def test_a_zero_has_no_ratio() -> None:
    """Where one run states 0 the difference decides, with a caution; 0 in both is no difference."""
    random = numpy.random.default_rng(6)
    some = [*random.uniform(10, 20, 30)]
    found = of_tokens([0.0, *some], [1.0, *(2 * one for one in some)])
    assert found.ratio is None
    assert found.result is not None
    assert "a figure of 0 has no ratio" in str(found.result.caution)
    assert found.price == 1
    both = of_tokens([0.0, *some], [0.0, *(2 * one for one in some)])
    assert both.ratio is not None
    assert both.ratio.ties == 1


@pytest.mark.slow("a simulation")
def test_heavy_tails_are_held() -> None:
    """Of 200 samples of 20 questions with lognormal ratios, whose mean difference few questions make, 93% hold."""
    random, held = numpy.random.default_rng(8), 0
    for _ in range(200):
        first = random.lognormal(5, 1.5, 20)
        ratio = of_tokens([*first], [*(first * random.lognormal(0.3, 1.0, 20))]).ratio
        assert ratio is not None
        assert ratio.low is not None
        assert ratio.high is not None
        held += ratio.low <= 0.3 <= ratio.high
    assert held >= 186


@pytest.mark.parametrize(
    ("gain", "extra", "measure", "beaten", "expected"),
    [
        (0.2, 500, "EdgeRecall", (), "without is better (EdgeRecall +0."),
        (-0.2, 500, "EdgeRecall", ("without",), "without doesn't pay: it takes 50"),
        (0.2, 500, "HallucinationRate", ("without",), "without doesn't pay: it takes 50"),
        (-0.2, -500, "EdgeRecall", (), "with is better (EdgeRecall +0."),
        (0.2, -500, "EdgeRecall", ("with",), "with doesn't pay: it takes 50"),
        (0.0, 500, "EdgeRecall", None, "nothing shows that without pays: it takes 50"),
        (0.2, 0, "EdgeRecall", None, "without pays: it is better (EdgeRecall +0."),
        (0.0, 0, "EdgeRecall", None, "without and with don't clearly differ, neither in quality"),
    ],
)
def test_whether_the_dearer_run_pays(
    gain: float, extra: float, measure: str, beaten: tuple[str, ...] | None, expected: str
) -> None:
    """It pays if it is clearly better; the frontier names the run that the other one beats on both."""
    found = compared(gain, extra, measure)
    assert found.sentence.startswith(expected)
    if beaten is not None:
        assert found.figures[1].beaten == beaten


def test_zeros_do_not_decide() -> None:
    """Tokens that are 0 everywhere, as of systems without a model, leave the decision to the latency."""
    quality = compare_pairs("EdgeRecall", [0.5] * 30, [0.5, 0.9] * 15)
    names = [f"q{number}" for number in range(30)]
    usage = [
        RunUsage(
            {"cost": {}, "tokens": dict.fromkeys(names, 0.0), "latency": {one: base + len(one) for one in names}}, names
        )
        for base in (10.0, 20.0)
    ]
    found = compare_cost(spending("a", "b", (usage[0], usage[1])), quality, DRAWS)
    assert "10.0 ms more latency a question than a: neither dominates the other" in found.sentence


def priced(folder: Path) -> tuple[Path, Path]:
    """Return two runs that log tokens and latency; the first lacks tokens of a question, the second fails on one."""
    files = clustered_runs(folder)
    for file, tokens, latency in zip(files, (100, 400), (5.0, 25.0), strict=True):
        rows: list[Row] = [json.loads(line) for line in file.read_text().splitlines()]
        for number, row in enumerate(rows):
            row |= {"prompt_tokens": tokens + number, "output_tokens": 10, "latency_ms": latency + number}
        if tokens == 100:
            del rows[0]["output_tokens"]
        else:
            rows[1] = {"run": "two", "question_id": rows[1]["question_id"], "error": "boom", "latency_ms": 1.0}
        write_lines(file, rows)
    return files


ASKED = ("-m", "EdgeRecall", "--cost")


def test_every_output_of_a_comparison_of_costs(graph: Graph, tmp_path: Path) -> None:
    """Files and graph give tokens over 14 questions, latency over 15, and no cost; each output has the sentence."""
    files = priced(tmp_path)
    inside("evaluate", *files, "-m", "EdgeRecall", cwd=tmp_path, env=graph.env, code=0)
    found = inside("compare", *files, *ASKED, "--json", cwd=tmp_path, code=0).object()["cost"]
    of_graph = inside("compare", "one", "two", *ASKED, "--json", cwd=tmp_path, env=graph.env, code=0).object()["cost"]
    assert found == of_graph
    figures = {one["figure"]: one for one in found["figures"]}
    assert (figures["cost"]["difference"], figures["cost"]["reason"]) == (None, "not logged by one and two")
    assert figures["cost"]["logged"] == {"one": 0, "two": 0}
    # Each of 16 questions costs 300 tokens and 20 ms more; one lacks tokens in one run, another failed in the other.
    tokens, latency = figures["tokens"]["difference"], figures["latency"]["difference"]
    assert (tokens["delta"], tokens["questions"]) == (300.0, 14)
    assert (latency["delta"], latency["questions"]) == (20.0, 15)
    assert figures["tokens"]["logged"] == {"one": 15, "two": 15}
    brief = inside("compare", *files, *ASKED, cwd=tmp_path, code=0).out
    assert f"cost      {found['sentence']}" in brief
    assert "cost: not logged by one and two" in brief
    assert "frontier: by the means, neither run is dominated on quality and tokens, latency" in brief
    full = inside("compare", *files, *ASKED, "--full", cwd=tmp_path, code=0).out
    assert found["sentence"] in full
    assert "not logged" in full
    comment = inside("compare", *files, *ASKED, "--format", "github", cwd=tmp_path, code=0).out
    assert "more tokens" in comment
    assert inside("compare", *files, "-m", "EdgeRecall", "--json", cwd=tmp_path, code=0).object()["cost"] is None


def test_costs_are_clustered_with_the_questions(tmp_path: Path) -> None:
    """With clusters the figures, too, take the questions of a repository as dependent."""
    found = inside("compare", *priced(tmp_path), *ASKED, "--cluster", "repo", "--json", cwd=tmp_path, code=0).object()
    assert [one["difference"]["clusters"] for one in found["cost"]["figures"] if one["difference"]] == [7, 7]


def test_without_records_there_is_no_cost(tmp_path: Path) -> None:
    """Scores and results folders hold no usage of single questions: --cost is refused there."""
    files = priced(tmp_path)
    for file in files:
        out = ("--out", tmp_path / f"{file.stem}-results")
        inside("evaluate", file, "-m", "EdgeRecall", "--no-store", *out, cwd=tmp_path, code=0)
    refused = inside("compare", "one-results", "two-results", *ASKED, cwd=tmp_path, code=2)
    assert "--cost needs the records of both runs, and results folders hold none" in refused.err
    rows = [{"run": run, "question": "a0", "measure": "EdgeRecall", "value": 1.0} for run in ("one", "two")]
    write_lines(tmp_path / "scores.jsonl", rows)
    refused = inside("compare", "one", "two", "--scores", "scores.jsonl", *ASKED, cwd=tmp_path, code=2)
    assert "--cost needs the records of both runs, and scores hold none" in refused.err


def test_the_comment_has_room_for_everything(tmp_path: Path) -> None:
    """With clusters, a plan, costs and gates a comment still has at most 60 lines, and each of their sentences."""
    asked = ("compare", *priced(tmp_path), "--cost", "--plan", "0.05", "--cluster", "repo", "--format", "github")
    lines = inside(*asked, "--max-failed", "5", cwd=tmp_path, code=0).out.splitlines()
    assert len(lines) <= 60
    text = "\n".join(lines)
    for words in ("clustered by repo", "needs", "frontier", "not logged by", "graphkit why"):
        assert words in text, words
