"""The shape of two runs that every comparison sees, made by hand: what is compared, left out, lost and read late."""

from __future__ import annotations

import dataclasses
from itertools import permutations

import pytest

from graphkit import evaluate
from graphkit.analysis.paired import Draws
from graphkit.analysis.run_differences import result_differences
from graphkit.analysis.run_gates import RunGates
from graphkit.analysis.standings import shared_by
from graphkit.errors import InputError
from graphkit.plugins.compare.compared_runs import ComparedRun, ComparisonSource, RunFacts, RunUsage
from graphkit.plugins.compare.result_pairs import compare_results
from graphkit.plugins.compare.run_pairs import compare
from graphkit.records.unanswered import FailedAs
from graphkit.scoring.results import Evaluation
from tests.helpers import ROOT
from tests.helpers.suites import one_fast

ASKED = {"q1", "q2", "q3"}


def usage() -> RunUsage:
    """Return what a run without answers took."""
    return RunUsage({name: {} for name in ("cost", "tokens", "latency")}, ())


#: By EdgeRecall the second run gains a half on q1, loses a half on q2, and failed on q3.
FIRST = ComparedRun("main", {"EdgeRecall": {"q1": 0.5, "q2": 1.0, "q3": 0.75}, "RR": {"q1": 1.0}}, usage=usage)
SECOND = ComparedRun(
    "mine",
    {"EdgeRecall": {"q1": 1.0, "q2": 0.5}, "RR": {}},
    RunFacts({"q3": None}, {"RR": {"no ranking": 1, "no relevant id": 2}}),
    usage=usage,
)
SOURCE = ComparisonSource(FIRST, SECOND, 3, {"EdgeRecall": ASKED, "RR": ASKED})


def test_a_source_is_all_that_a_comparison_needs() -> None:
    """Over q1 and q2 the difference is (.5 - .5) / 2 = 0; with q3 as 0 it is (.5 - .5 - .75) / 3 = -.25."""
    found = compare(SOURCE, resamples=100)
    assert [(one.measure, one.delta, one.questions) for one in found.overall] == [("EdgeRecall", 0.0, 2)]
    assert [(one.measure, one.delta, one.questions) for one in found.with_failed] == [("EdgeRecall", -0.25, 3)]
    assert (found.first, found.second, found.failed, found.failed_alone) == ("main", "mine", (0, 1), (0, 1))
    assert [(one.question, one.second - one.first) for one in found.losses] == [("q2", -0.5)]
    assert found.unscored == {"RR": 2}


def test_a_lost_measure_has_its_most_frequent_reason() -> None:
    """Two of three questions have no relevant id; relations that were never logged have no reason."""
    assert [(one.measure, one.reason) for one in compare(SOURCE, resamples=100).lost] == [("RR", "no relevant id")]
    untyped = dataclasses.replace(SECOND, untyped={"EdgeRecall"}, reasons=lambda measure: {"unused": 1})
    found = compare(dataclasses.replace(SOURCE, second=untyped), resamples=100).lost
    assert [(one.measure, one.untyped, one.reason) for one in found] == [
        ("EdgeRecall", True, None),
        ("RR", False, "unused"),
    ]


def test_other_gold_is_left_out() -> None:
    """q1 was scored by other gold: by EdgeRecall q2 alone is compared, and the source stays as it was."""
    first, second = (
        dataclasses.replace(run, gold={"EdgeRecall": {"q1": gold, "q2": "same"}})
        for run, gold in ((FIRST, "old"), (SECOND, "new"))
    )
    source = dataclasses.replace(SOURCE, first=first, second=second)
    found = compare(source, resamples=100)
    assert (found.different_gold, [(one.delta, one.questions) for one in found.overall]) == (("q1",), [(-0.5, 1)])
    assert source.first.values["EdgeRecall"]["q1"] == 0.5
    with pytest.raises(InputError, match="different gold of 1 question, such as 'q1', which strict reading refuses"):
        compare(source, strict=True, resamples=100)


def test_what_takes_reading_is_read_when_it_is_asked_for() -> None:
    """Facts, usage and explanations are functions of a run: without them there is none, and nothing is read."""
    read: list[str] = []

    def facts(measures: object) -> RunFacts:
        read.append("facts")
        return RunFacts({"q3": "time-out"})

    found = compare(dataclasses.replace(SOURCE, second=dataclasses.replace(SECOND, read_facts=facts)), resamples=100)
    assert (read, found.explainer) == ([], None)
    assert found.with_facts().facts[1].failed == {"q3": "time-out"}
    assert read == ["facts"]
    cost = found.with_cost(Draws(100, 1)).cost
    assert cost is not None
    assert {one.reason for one in cost.figures} == {"not logged by main and mine"}


def test_gates_have_the_names_of_results() -> None:
    """Texts of the user become names, and the share of the other measures stands before those of single ones."""
    gates = RunGates(under=[("recall", 0.5)], min_scored=[("recall", 0.9), (None, 0.8)])
    assert gates.texts == ["recall"]
    named = gates.named({"recall": "EdgeRecall"})
    assert (named.under, [*named.shares.items()]) == ([("EdgeRecall", 0.5)], [(None, 0.8), ("EdgeRecall", 0.9)])
    assert (named.asked, RunGates(min_scored=[]).asked) == (True, False)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Evaluation]:
    """Two runs, the first without two of its answers, and the second once more with other gold of a question."""
    shop = ROOT / "fixtures" / "storefront"
    short = tmp_path_factory.mktemp("runs") / "short.jsonl"
    lines = (shop / "runs" / "storefront-bm25.jsonl").read_text().splitlines(keepends=True)
    short.write_text("".join(lines[:-2]))
    one, other = evaluate(short, shop), evaluate(shop / "runs" / "storefront-graph.jsonl")
    rows = (dataclasses.replace(other.rows[0], gold_hash="0" * 16), *other.rows[1:])
    return [one, other, dataclasses.replace(other, run="other", rows=rows)]


@one_fast("failed_as", ["worst", "failed", "unscored"], "all pairs of runs for each", 0)
def test_standings_show_the_same(failed_as: FailedAs, results: list[Evaluation]) -> None:
    """The differences of the page and of evaluate are those of a comparison, with failures and other gold."""
    for first, second in permutations(results, 2):
        names = shared_by([first, second])
        compared = compare_results(first, second, measures=names, resamples=99, failed_as=failed_as, family=names[:2])
        expected = [dataclasses.replace(one, accuracy=None) for one in compared.with_failed]
        assert expected
        assert result_differences(first, second, names, resamples=99, failed_as=failed_as, family=names[:2]) == expected
    assert result_differences(results[0], results[0], names) == []
