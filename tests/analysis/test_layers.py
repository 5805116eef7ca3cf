"""Layers, targets, alerts and the diagnosis, worked by hand."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import reduce
from operator import add
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.analysis.config import Config, load_config
from graphkit.analysis.layers import NOT_GRADED, NOT_JUDGED, RULES, score_layers
from graphkit.errors import InputError
from graphkit.measures.registry import lower_is_better
from graphkit.records.bounds import over, under
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.totals import Totals
from tests.helpers import ROOT
from tests.helpers.cli import ANSWERS, QUESTIONS, inside, tiny, write_lines


def _evaluation(rows: tuple[Row, ...] = (), **means: float | None) -> Evaluation:
    names = {name.replace("_", "@"): mean for name, mean in means.items()}
    measures = {name: Summary(mean, 0 if mean is None else 2, 2) for name, mean in names.items()}
    return Evaluation("r", "d", questions=2, failed=0, missing=0, measures=measures, rows=rows)


def test_full_layers_by_hand() -> None:
    """Each layer is its weighted mean, hallucination counts as 1 minus it, and the overall score is their product."""
    card = score_layers(
        _evaluation(
            nDCG_10=0.8,
            Recall_20=0.9,
            RR=0.6,
            CrossRepoPrecision=1.0,
            EdgeRecall=0.4,
            Coherence=0.9,
            Integration=0.8,
            Completeness=1.0,
            FactualCorrectness=0.8,
            Groundedness=1.0,
            HallucinationRate=0.2,
            Attribution=0.6,
        )
    )
    # .30*.8 + .25*.9 + .15*.6 + .15*1 + .15*.4 = .24 + .225 + .09 + .15 + .06 = .765
    # .40*.9 + .35*.8 + .25*1 = .36 + .28 + .25 = .89;  .35*.8 + .35*1 + .15*.8 + .15*.6 = .28 + .35 + .12 + .09 = .84
    assert [layer.score for layer in card.layers] == pytest.approx([0.765, 0.89, 0.84])
    assert card.overall == pytest.approx(0.765 * 0.89 * 0.84)
    assert not card.partial
    # EdgeRecall .4 < .5 and Attribution .6 < .85 are severe; HallucinationRate .2 is not above .2.
    assert [alert.measure for alert in card.alerts] == ["EdgeRecall", "Attribution"]


def test_missing_component_rescales_its_layer() -> None:
    """An unscored component leaves the layer: the other weights are rescaled and their sum is the coverage."""
    card = score_layers(_evaluation(nDCG_10=0.5, Recall_20=None, EdgeRecall=1.0))
    # (.30*.5 + .15*1) / .45 = .30 / .45
    retrieval = card.layers[0]
    assert retrieval.score == pytest.approx(0.3 / 0.45)
    assert retrieval.coverage == pytest.approx(0.45)
    assert card.partial
    assert card.overall == pytest.approx(0.3 / 0.45)


def test_nothing_scored_is_no_score() -> None:
    """A run without a scored measure has no layer and no overall score, not 0."""
    card = score_layers(_evaluation(EdgeRecall=None))
    assert [layer.score for layer in card.layers] == [None, None, None]
    assert card.overall is None
    assert card.alerts == ()
    assert not card.judged


def test_targets_are_strict() -> None:
    """A mean that equals its target hasn't met it, and one that equals the severe bound isn't severe."""
    card = score_layers(_evaluation(EdgeRecall=0.8, RR=0.3))
    components = {one.measure: one for one in card.layers[0].components}
    assert components["EdgeRecall"].met is False
    assert components["RR"].severe is False


#: Every threshold that a file would name as text, with the means of few questions that are equal to it: (n/d, text).
RATIONALS = [(n, d, f"{n / d:.4g}") for d in (1, 2, 4, 5, 8, 10, 20, 25) for n in range(d + 1)]


@pytest.mark.parametrize("questions", [1, 3, 7, 10, 60])
def test_a_mean_equal_to_its_bound_is_on_neither_side(questions: int) -> None:
    """Means of equal values, and of ones and zeros, are equal to the decimal that they stand for."""
    for n, d, text in RATIONALS:
        bound = float(text)
        assert Fraction(n, d) == Fraction(text)
        alike = [n / d] * questions  # n/d each
        right = [1.0] * n + [0.0] * (d - n)  # n of d questions
        for values in (alike, right, alike + right):
            totals = Totals(1)
            for value in values:
                totals.add_values(0, [value])
            mean = totals.summaries(["EdgeRecall"])["EdgeRecall"].mean
            assert mean is not None
            assert not under(mean, bound), (n, d, values)
            assert not over(mean, bound), (n, d, values)


def test_next_to_a_bound_is_beyond_it() -> None:
    """The smallest step that a million questions can make is still seen."""
    assert under(0.8 - 1e-6 / 100, 0.8)
    assert over(0.8 + 1e-6 / 100, 0.8)


def test_a_recall_at_the_severe_bound_is_not_severe() -> None:
    """Recall@20 of 3/5 on each of ten questions is .6, which is not below the severe bound of .6."""
    totals = Totals(1)
    for _ in range(10):
        totals.add_values(0, [3 / 5])
    measures = totals.summaries(["Recall@20"])
    card = score_layers(Evaluation("r", "d", questions=10, failed=0, missing=0, measures=measures))
    assert card.alerts == ()
    # Adding up one by one ends below: 0.6 ten times is 5.999999999999999. (The built-in sum compensates from 3.12 on.)
    assert reduce(add, [3 / 5] * 10) / 10 < 0.6


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_a_mean_does_not_depend_on_batches_or_order(values: list[float], draw: random.Random) -> None:
    """However the values are cut and ordered, the sum is the exact one, rounded once."""
    exact = float(sum(map(Fraction, values))) / len(values)
    for _ in range(3):
        draw.shuffle(values)
        cut = draw.randint(0, len(values))
        one, two = Totals(1), Totals(1)
        one.add_values(0, values[:cut])
        two.add_values(0, values[cut:])
        two.add(one)
        two.questions = len(values)
        assert two.summaries(["RR"])["RR"] == Summary(
            exact, len(values), len(values), exact, exact, worst=0.0, with_failed=exact
        )


@pytest.mark.parametrize(
    ("measure", "values", "total", "expected"),
    [
        # 2 of 4 scored, sum 1.2: the others may be 0 and 0, or 1 and 1.
        ("EdgeRecall", [0.4, 0.8], 4, (0.6, 1.2 / 4, 3.2 / 4)),
        # Less is better of OffPin: its bounds are the same.
        ("OffPin", [1.0], 2, (1.0, 0.5, 1.0)),
        # All are scored: there is nothing that could change the mean.
        ("EdgeRecall", [0.4, 0.8], 2, (0.6, 0.6, 0.6)),
        ("score of another tool", [4.0, 8.0], 2, (6.0, 6.0, 6.0)),
        # Nothing is scored: anything within the bounds.
        ("EdgeRecall", [], 3, (None, 0.0, 1.0)),
        # Unknown bounds allow no word on it.
        ("score of another tool", [4.0], 2, (4.0, None, None)),
        ("EdgeRecall", [], 0, (None, None, None)),
    ],
)
def test_the_means_that_unscored_questions_allow(
    measure: str, values: list[float], total: int, expected: tuple[float | None, ...]
) -> None:
    """Each unscored question may be worth the lowest or the highest value of its measure."""
    totals = Totals(1)
    totals.add_values(0, values)
    totals.questions = total
    found = totals.summaries([measure])[measure]
    assert (found.mean, found.lowest, found.highest) == pytest.approx(expected)
    assert (found.scored, found.total) == (len(values), total)


def test_a_layer_at_its_bound_is_not_below_it() -> None:
    """A layer whose components are all .7 scores .7, so no weakness is named."""
    # .7 times weights that add up to 1: not below .7, although CrossRepoPrecision .7 and EdgeRecall .7 < .8 ask.
    result = _evaluation(nDCG_10=0.7, Recall_20=0.7, RR=0.7, CrossRepoPrecision=0.7, EdgeRecall=0.7)
    assert score_layers(result).findings == ()


def test_diagnosis_names_the_questions_that_show_it_most() -> None:
    """A finding needs its layer below its bound and its measure below its target; the worst questions come first."""
    rows = (Row("q1", (0.5, "failed: x")), Row("q2", (0.1, 0.9)), Row("q3", (0.9, 0.6)), Row("q4", (0.1, 0.2)))
    card = score_layers(_evaluation(rows, EdgeRecall=0.4, CrossRepoPrecision=0.75))
    # retrieval = (.15*.4 + .15*.75) / .30 = .575 < .7; CrossRepoPrecision .75 is not below .7.
    assert [(one.weakness, one.questions) for one in card.findings] == [("missed relationships", ("q2", "q4", "q1"))]


def test_no_diagnosis_of_a_good_layer() -> None:
    """A weak measure in a layer that is good enough is no finding."""
    # (.30*.9 + .15*.7) / .45 = .8333 >= .7, although EdgeRecall .7 is below .8.
    assert score_layers(_evaluation(nDCG_10=0.9, EdgeRecall=0.7)).findings == ()


def test_a_walk_off_the_gold_paths_is_a_weakness() -> None:
    """EdgePrecision below .5 is a finding whatever its layer is; at .5 as much was on the gold paths as off them."""
    rows = (Row("q1", (1.0, 0.06)), Row("q2", (1.0, 0.5)), Row("q3", (1.0, 0.02)))
    # The only scored component is EdgeRecall 1, so the layer is 1 and no other rule of it is asked.
    card = score_layers(_evaluation(rows, EdgeRecall=1.0, EdgePrecision=0.06))
    assert card.layers[0].score == 1.0
    assert [(one.layer, one.measure, one.mean, one.questions) for one in card.findings] == [
        ("retrieval", "EdgePrecision", 0.06, ("q3", "q1"))
    ]
    assert score_layers(_evaluation(EdgeRecall=1.0, EdgePrecision=0.5)).findings == ()
    assert score_layers(_evaluation(EdgeRecall=1.0, EdgePrecision=None)).findings == ()
    # Nor does it need its layer to have a score at all.
    alone = score_layers(_evaluation(EdgePrecision=0.06))
    assert [one.measure for one in alone.findings] == ["EdgePrecision"]
    assert (alone.overall, alone.judged) == (None, True)


def test_the_diagnosis_is_documented() -> None:
    """The page on evaluating has a row for each rule, with its bounds, its weakness and its remedy."""
    text = (ROOT / "docs" / "evaluating.md").read_text("utf-8")
    for rule in RULES:
        when = f"`{rule.measure}` {'>' if lower_is_better(rule.measure) else '<'} {rule.bound:g}"
        layer = "any" if rule.layer_below is None else f"{rule.layer} < {rule.layer_below:g}"
        assert f"| {layer} | {when} | {rule.weakness} | {rule.remedy} |" in text


def test_the_terminal_names_a_walk_off_the_gold_paths(tmp_path: Path) -> None:
    """All gold is found, and three of four walked edges aren't gold: the layer is good, and the walk is noisy."""
    noise = [["a:m.py#w", "CALLS", f"a:m.py#{number}"] for number in range(3)]
    answers = [{**ANSWERS[1], "traversal": [["a:m.py#x", "CALLS", "a:m.py#w"], *noise]}]
    out = inside("evaluate", "--full", tiny(tmp_path, [QUESTIONS[1]], answers), "--no-store", cwd=tmp_path, code=0).out
    assert "retrieval: noisy graph expansion (EdgePrecision 0.2500); most at q2" in out
    assert "remedy: hop limits or pruning of the expansion" in out


@pytest.mark.parametrize(
    ("failed", "missing", "invalid", "reported"),
    [
        (0, 0, 0, ""),
        (1, 0, 0, "of 4 questions 1 failed"),
        (2, 1, 0, "of 4 questions 2 failed, 1 has no record"),
        (0, 2, 1, "of 4 questions 2 have no record, 1 is invalid for stale gold"),
        (0, 0, 2, "of 4 questions 2 are invalid for stale gold"),
    ],
)
def test_what_was_not_scored_is_reported(failed: int, missing: int, invalid: int, reported: str) -> None:
    """A scorecard says how many questions failed, have no record or are invalid, each where there is one."""
    stale = {f"q{number}": "stale" for number in range(invalid)}
    measures = {"EdgeRecall": Summary(0.9, 1, 4)}
    card = score_layers(Evaluation("r", "d", 4, failed, missing, measures, invalid=stale))
    assert card.unscored == reported
    assert card.judged


def test_the_terminal_tells_first_what_was_not_scored(tmp_path: Path) -> None:
    """Failed and missing questions come before low scores: the only scored one of three has EdgeRecall 0."""
    questions = [QUESTIONS[0], QUESTIONS[1], {**QUESTIONS[1], "id": "q3"}]
    answers = [{**ANSWERS[0], "traversal": []}, {"run": "r", "question_id": "q2", "error": "timed out"}]
    out = inside("evaluate", "--full", tiny(tmp_path, questions, answers), "--no-store", cwd=tmp_path, code=0).out
    first = "NOT SCORED r: of 3 questions 1 failed, 1 has no record"
    assert 0 <= out.index(first) < out.index("SEVERE r: EdgeRecall is 0.0000")
    assert NOT_JUDGED not in out


def test_the_terminal_tells_how_answers_are_judged(tmp_path: Path) -> None:
    """Without a judge's scores generation has none, and the command that gives them is named; with one it isn't."""
    run = tiny(tmp_path)
    reported = f"generation: {NOT_GRADED}"
    assert reported in inside("evaluate", "--full", run, "--no-store", cwd=tmp_path, code=0).out
    line = {"run": "r", "question": "q1", "measure": "Groundedness", "value": 1}
    scores = write_lines(tmp_path / "s.jsonl", [line])
    assert reported not in inside("evaluate", "--full", run, "--no-store", "--scores", scores, cwd=tmp_path, code=0).out


def test_a_run_of_failures_is_not_judged(tmp_path: Path) -> None:
    """If every question failed nothing is called good: the terminal says so first, and the severe gate fails."""
    failures = [{"run": "r", "question_id": one["id"], "error": "timed out"} for one in QUESTIONS]
    run = tiny(tmp_path, answers=failures)
    done = inside("evaluate", "--full", run, "--no-store", "--fail-on-severe", cwd=tmp_path, code=1)
    assert done.out.index("NOT SCORED r: of 2 questions 2 failed") < done.out.index(f"NOT SCORED r: {NOT_JUDGED}")
    assert f"gate failed: r: {NOT_JUDGED}" in done.err


def test_config_overrides_and_keeps(tmp_path: Path) -> None:
    """A file changes what it names, by any alias, and leaves the rest."""
    path = tmp_path / "graphkit.toml"
    path.write_text('[weights.retrieval]\n"ndcg@10" = 0.5\nmrr = 0.5\n[targets]\nEdgeRecall = 0.9\n')
    config = load_config(path)
    assert config.weights["retrieval"] == {"nDCG@10": 0.5, "RR": 0.5}
    assert config.weights["reasoning"] == Config().weights["reasoning"]
    assert (config.thresholds("EdgeRecall").target, config.thresholds("RR").target) == (0.9, 0.6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[weights.retrieval]\nRR = 0.5\n", "add up to 0.5, not to 1"),
        ("[weights.retrieval]\nRRR = 1.0\n", "no measure is called 'RRR'"),
        ("[weights.retreival]\nRR = 1.0\n", "Did you mean retrieval?"),
        ("[weights.generation]\nGroundednes = 1.0\n", "Did you mean Groundedness?"),
        ("[targets]\nRR = 2\n", "a number from 0 to 1"),
        ("[target]\nRR = 0.5\n", "Did you mean targets?"),
        ("[weights\n", "not valid TOML"),
        ("weights = 3\n", "must be a table"),
    ],
)
def test_bad_config_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """A mistake in the file is reported with the file and, for a name, the closest one."""
    path = tmp_path / "graphkit.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_config(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
