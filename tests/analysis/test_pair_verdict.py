"""One verdict on two runs: by corrected p-value and interval, over the questions of both, the same at every door."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphkit
from benchmarks.false_alarms import KINDS, WORLDS, shares
from graphkit.analysis.config import COMPARED, WEIGHTS, Config, family_of
from graphkit.analysis.pair_verdict import PairVerdict, judged, mirrored, sure
from graphkit.analysis.paired import Draws, compare_pairs, randomisation_p, signs_bound
from graphkit.analysis.standings import incomparable, leading, ranked, standings
from graphkit.measures.registry import DEFAULT_MEASURES
from graphkit.plugins.agents.workspace import Workspace
from graphkit.plugins.compare.compared_runs import RunUsage
from graphkit.plugins.compare.cost_comparison import compare_cost
from graphkit.plugins.compare.result_pairs import compare_results
from graphkit.plugins.compare.verdict_notes import CAUTION, legend, why_unclear
from tests.analysis.test_standings import Values, result
from tests.helpers import ROOT
from tests.helpers.cli import Row, inside, write_lines
from tests.helpers.costs import spending
from tests.helpers.datasets import scored_copy
from tests.helpers.suites import one_fast

WALK = [["a:m.py#x", "CALLS", "a:m.py#y"]]


def few_wins(folder: Path) -> tuple[Path, Path]:
    """Write two runs over twenty questions: the second walks the gold edge of five more, and fifteen are ties."""
    names = [f"q{number:02}" for number in range(20)]
    write_lines(folder / "questions.jsonl", [{"id": one, "question": "?", "paths": [WALK]} for one in names])

    def rows(run: str, walked: int) -> list[Row]:
        return [
            {"run": run, "question_id": one, "traversal": WALK if number < walked else []}
            for number, one in enumerate(names)
        ]

    first, second = (write_lines(folder / "runs" / f"{run}.jsonl", rows(run, n)) for run, n in (("r", 0), ("s", 5)))
    return first, second


def evaluated(first: Path, second: Path, folder: Path, *options: str) -> str:
    """Return the last line of ``evaluate``."""
    return inside("evaluate", first, second, "--no-store", *options, cwd=folder, code=0).out.splitlines()[-1]


def with_output(first: Path, second: Path, folder: Path) -> str:
    """Return the last line of ``evaluate --out``, which kept rows where nothing else did."""
    return evaluated(first, second, folder, "--out", str(folder / "r.md"))


def compared(first: Path, second: Path, folder: Path) -> str:
    """Return the verdict of ``compare``, without the counts of measures."""
    return inside("compare", first, second, cwd=folder, code=0).out.splitlines()[-1].partition(";")[0]


def in_full(first: Path, second: Path, folder: Path) -> str:
    """Return the verdict of ``compare --full``."""
    lines = inside("compare", first, second, "--full", cwd=folder, code=0).out.splitlines()
    found = next(line for line in lines if " differ: " in line or " beats " in line)
    return found.removesuffix(".").partition(";")[0]


def as_json(first: Path, second: Path, folder: Path) -> str:
    """Return the verdict of ``compare --json``."""
    return str(inside("compare", first, second, "--json", cwd=folder, code=0).object()["verdict"]["sentence"])


def commented(first: Path, second: Path, folder: Path) -> str:
    """Return the verdict of a comment on a pull request, without its code style."""
    done = inside("compare", first, second, "--format", "github", cwd=folder, code=0).out
    return done.splitlines()[3].replace("`", "").removesuffix(".").partition(";")[0]


def in_notebook(first: Path, second: Path, folder: Path) -> str:
    """Return the verdict of a board in a notebook."""
    return graphkit.board([graphkit.evaluate(one) for one in (first, second)]).verdict.partition("].")[0] + "]"


def on_page(first: Path, second: Path, folder: Path) -> str:
    """Return the verdict of the page, without its tags."""
    page = graphkit.write_report([first, second], folder / "page.html")
    text = Path(page if isinstance(page, str | Path) else folder / "page.html").read_text()
    shown = text.split('class="verdict-line">')[1:]
    line = next(one.partition("</p>")[0] for one in shown)
    for tag in ("<bdi>", "</bdi>", "<b>", "</b>"):
        line = line.replace(tag, "")
    return line.replace("&#39;", "'").strip().removesuffix(".")


def by_agent(first: Path, second: Path, folder: Path) -> str:
    """Return the verdict that an agent is given."""
    one, two = (str(file.relative_to(folder)) for file in (first, second))
    return str(json.loads(Workspace(folder, None).compare(one, two))["verdict"])


DOORS: Sequence[Callable[[Path, Path, Path], str]] = (
    evaluated,
    with_output,
    compared,
    in_full,
    as_json,
    commented,
    in_notebook,
    on_page,
    by_agent,
)


@one_fast("door", DOORS, "commands, a page and an agent for each", 0, 7, 8, ids=lambda door: door.__name__)
def test_five_wins_and_fifteen_ties_are_unclear_at_every_door(
    door: Callable[[Path, Path, Path], str], tmp_path: Path
) -> None:
    """The interval of .25 excludes 0, but of 32 patterns of signs two are as extreme: p is .06, so nobody won.

    No ranking is logged, so EdgeRecall is the first measure in the order of the weights that both have a value of.
    """
    told = door(*few_wins(tmp_path), tmp_path)
    assert told.startswith("s and r don't clearly differ: EdgeRecall 0.25 to 0.00, +0.25 [+0.0")


@one_fast("door", DOORS, "commands, a page and an agent for each", 0, 2, 7, ids=lambda door: door.__name__)
@one_fast(
    ("second", "expected"),
    [
        ("graph-v2", "storefront-graph-v2 and storefront-graph don't clearly differ: nDCG@10 0.62 to 0.47, +0.15 ["),
        ("bm25", "storefront-graph beats storefront-bm25: nDCG@10 0.47 to 0.36, +0.11 ["),
    ],
    "commands, a page and an agent for each",
    1,
)
def test_every_door_has_one_verdict(
    door: Callable[[Path, Path, Path], str], second: str, expected: str, tmp_path: Path
) -> None:
    """The runs of the storefront have the verdict that one function gives, whichever output says it.

    The page says once how all their names begin.
    """
    expected = expected.replace("storefront-", "") if door is on_page else expected
    kept = ("questions", "access", "commits", "compatibility", "artifacts", "edges")
    for file in (f"{one}.jsonl" for one in kept):
        source = ROOT / "fixtures/storefront" / file
        if source.exists():
            (tmp_path / file).write_bytes(source.read_bytes())
    (tmp_path / "runs").mkdir()
    files = []
    for name in (second, "graph"):  # what the first run of a comparison fails on isn't compared
        files.append(tmp_path / "runs" / f"storefront-{name}.jsonl")
        files[-1].write_bytes((ROOT / f"fixtures/storefront/runs/storefront-{name}.jsonl").read_bytes())
    assert door(files[0], files[1], tmp_path).startswith(expected)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("pallets", {("bm25", "ppr"): "ppr beats bm25", ("bm25", "bm25-expand"): None}),
        ("traced_packages", {("agent", "ppr"): "ppr and agent don't clearly differ", ("bm25", "ppr"): None}),
    ],
)
def test_real_runs_have_one_verdict(
    data: str, expected: dict[tuple[str, str], str | None], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Terminal, page, notebook and agent agree on pairs of real runs; where a claim is given, it is theirs."""
    folder = scored_copy(request.getfixturevalue(data), tmp_path)
    for names, claim in expected.items():
        first, second = (next((folder / "runs").glob(f"{name}.jsonl*")) for name in names)
        told = evaluated(first, second, folder)
        assert claim is None or told.startswith(f"{claim}: nDCG@10 ")
        one, two = (str(file.relative_to(folder)) for file in (first, second))
        assert json.loads(Workspace(folder, None).compare(one, two))["verdict"] == told
        assert on_page(first, second, tmp_path) == told
        assert in_notebook(first, second, folder) == told


def test_both_agree_or_nobody_wins() -> None:
    """A winner needs a corrected p-value below .05 and an interval that excludes 0."""
    won = compare_pairs("EdgeRecall", [0.0] * 20, [1.0] * 8 + [0.0] * 12)  # p is 2/2^8 = .008
    assert (sure(won), judged(won), sure(mirrored(won))) == (1, "better", -1)
    of_seven = dataclasses.replace(won, p_corrected=7 * 2 / 256)  # .055
    assert judged(of_seven) == "unclear"
    assert why_unclear([of_seven] * 7)[0].startswith(
        "unclear after correction over 7 measures that differ, though the interval excludes 0: EdgeRecall"
    )
    few = compare_pairs("EdgeRecall", [0.0] * 20, [1.0] * 5 + [0.0] * 15)
    assert why_unclear([few]) == [
        "unclear by the randomisation test, though the interval excludes 0: EdgeRecall (p 0.06)"
    ]
    assert legend([few]) == CAUTION


def test_words_do_not_depend_on_the_order() -> None:
    """The better run is named first, whichever is the baseline; equal runs are named by the alphabet."""
    one = compare_pairs("HallucinationRate", [0.0] * 20, [1.0] * 10 + [0.0] * 10)
    told = PairVerdict.of("a", "b", one, 20)
    assert told.sentence() == PairVerdict.of("b", "a", mirrored(one), 20).sentence()
    assert (told.winner, told.claim()) == ("a", "a beats b")
    none = compare_pairs("EdgeRecall", [0.5] * 20, [0.5] * 20, span=1.0)
    assert PairVerdict.of("b", "a", none, 20).claim() == "a and b don't clearly differ"
    assert PairVerdict.of("b", "a", None, 20).sentence() == "a and b can't be compared: no question was scored in both"
    single = PairVerdict.of("a", "b", compare_pairs("EdgeRecall", [0.0], [1.0]), 2)
    assert single.sentence() == (
        "nothing shows whether b and a differ (too few questions for an interval: 1 question): "
        "EdgeRecall 1.00 to 0.00, +1.00 over 1 of 2 questions"
    )


def test_the_weights_say_what_decides() -> None:
    """Of the defaults the heaviest measure of the first layer decides; measures that someone chose keep their order."""
    assert Config().deciding(DEFAULT_MEASURES)[:3] == ["nDCG@10", "Recall@20", "EdgeRecall"]
    edges = Config(weights={**WEIGHTS, "retrieval": {"nDCG@10": 0.4, "EdgeRecall": 0.6}})
    assert edges.deciding(DEFAULT_MEASURES)[0] == "EdgeRecall"
    assert Config().deciding(["EdgeRecall", "nDCG@10"]) == ["EdgeRecall", "nDCG@10"]
    assert (family_of(DEFAULT_MEASURES), family_of(["RR"])) == (list(COMPARED), ["RR"])


def test_means_of_different_questions_name_no_winner() -> None:
    """One run is right on its only two questions, the other on 7 of its 12: their common questions are two ties."""
    other: Values = [1.0] * 7 + [0.0] * 5
    lucky: Values = [1.0, 1.0] + ["not logged"] * 10
    found = leading([result("lucky", EdgeRecall=lucky), result("other", EdgeRecall=other)])
    assert found is not None
    assert found.verdict.winner is None
    assert found.verdict.sentence().endswith("EdgeRecall 1.00 to 1.00, +0.00 over 2 of 12 questions")
    apart = [
        result("a", EdgeRecall=[1.0, 1.0, "no", "no"]),
        result("b", EdgeRecall=["no", "no", 0.0, 0.0]),
    ]
    assert leading(apart) is None
    assert ranked(apart) is None
    assert incomparable(apart) == "2 runs can't be compared: no question has a value in all of them"
    assert str(standings(apart, ["EdgeRecall"]).verdict()) == f"{incomparable(apart)}."


VALUES = st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0, "not logged"])] * 2), min_size=2, max_size=30)


@settings(deadline=None, max_examples=25)
@given(VALUES)
def test_no_door_says_more_than_the_function(pairs: list[tuple[float | str, float | str]]) -> None:
    """Page, terminal, comparison and cost name a winner only if both p-value and interval show it."""
    runs = [result(name, EdgeRecall=[*column]) for name, column in zip("ab", zip(*pairs, strict=True), strict=True)]
    both = [(one, two) for one, two in pairs if isinstance(one, float) and isinstance(two, float)]
    found = leading(runs)
    if not both:
        assert found is None
        return
    direct = compare_pairs("EdgeRecall", [one for one, _ in both], [two for _, two in both], span=1.0)
    winner = {1: "b", -1: "a", 0: None}[sure(direct)]
    assert found is not None
    assert found.verdict.winner == winner
    other = compare_results(*runs, measures=["EdgeRecall"])
    assert other.pair.sentence() == found.verdict.sentence()
    assert standings(runs, ["EdgeRecall"]).pair(0, 1).sentence() == found.verdict.sentence()
    usage = RunUsage({name: {f"q{n}": 1.0 for n in range(len(pairs))} for name in ("cost", "tokens", "latency")}, ())
    paid = compare_cost(spending("a", "b", (usage, usage)), other.headline, Draws(200, 1)).sentence
    assert (" pays: it is better" in paid) == (winner is not None)
    assert ("beats" in found.verdict.claim()) == (winner is not None)
    assert [one.measure for one in other.regressions()] == (["EdgeRecall"] if winner == "a" else [])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.25, 1.0]), min_size=1, max_size=12))
def test_the_bound_is_at_least_the_exact_p_value(differences: list[float]) -> None:
    """All patterns of signs are tried, and the bound by the normal distribution isn't below their share."""
    values = numpy.array(differences)
    assert signs_bound(float(values.sum()), float((values**2).sum())) >= randomisation_p(values) - 1e-12


def test_the_correction_covers_all_pairs_of_runs() -> None:
    """Of two runs 8 wins in 20 are clear (p .008); of four, six pairs make it .047, and of five, ten .078."""
    wins: Values = [1.0] * 8 + [0.0] * 12
    ties: Values = [0.0] * 20
    for others, kind in ((0, "better"), (2, "better"), (3, "unclear")):
        runs = [result("a", EdgeRecall=ties), result("b", EdgeRecall=wins)]
        runs += [result(f"c{number}", EdgeRecall=ties) for number in range(others)]
        one = standings(runs, ["EdgeRecall"]).difference(0, 1, "EdgeRecall")
        assert one is not None
        # With several runs the bound by the normal distribution may be the smaller one; here it is the larger.
        assert one.p_corrected == pytest.approx(2 / 256 * {0: 1, 2: 6, 3: 10}[others])
        assert judged(one) == kind
        best = leading(runs)
        assert best is not None
        assert (best.verdict.winner == "b") == (kind == "better")


@one_fast("world", [*WORLDS], "a simulation", 0)
def test_equal_runs_are_rarely_told_apart(world: str) -> None:
    """Ten equal runs: each pair alone raises false alarms in far over 5%, the correction in at most 1 of 20."""
    found = shares(WORLDS[world], 10, samples=20)
    before, after = found[KINDS[2]]
    assert before > 0.2
    assert after <= 0.05
