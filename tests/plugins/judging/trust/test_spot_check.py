"""Spot checks: the sample, the comparison with a person, the advice, and the sheet that a person fills."""

from __future__ import annotations

import csv
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.errors import InputError
from graphkit.plugins.judging.trust.advice import advice
from graphkit.plugins.judging.trust.inflation import inflation
from graphkit.plugins.judging.trust.label_scales import RUBRIC, LabelScale, scale_of
from graphkit.plugins.judging.trust.labels import SheetRow, labels_of, read_sheet, rows_of, write_sheet
from graphkit.plugins.judging.trust.spot_check import check, draw
from tests.helpers.datasets import STOREFRONT, read_jsonl
from tests.helpers.judged import HUMAN_GRADES, LENIENT, RUN, VALUES, graded, human_grades, values
from tests.helpers.properties import examples

#: The labels of a scale of 0 to 10, and those that call an answer right.
TENS = tuple(map(str, range(11)))
RIGHT_OF_TEN = TENS[7:]

BINARY = LabelScale({"0": 0.0, "1": 1.0}, frozenset({"1"}))


# The fixture -------------------------------------------------------------------------------------------------------


def test_the_recorded_grades_are_of_the_run() -> None:
    """Each answer of the run is graded once, by a grade of the rubric, and what is fully correct is correct."""
    with HUMAN_GRADES.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    answered = [record["question_id"] for record in read_jsonl(STOREFRONT / "runs" / f"{RUN}.jsonl")]
    assert sorted(row["question_id"] for row in rows) == sorted(answered)
    assert {row["run"] for row in rows} == {RUN}
    assert all(row["grade"] in VALUES and row["note"] for row in rows)
    assert all(row["correct"] == "1" for row in rows if row["grade"] == "fully_correct")
    assert all(row["correct"] == "0" for row in rows if row["grade"] in ("wrong", "unsupported"))


# The sample --------------------------------------------------------------------------------------------------------


def test_a_sample_holds_each_grade_in_its_share() -> None:
    """A sample of 15 out of 39 has this share of each grade's answers, to within one; the same seed draws the same."""
    scores = graded()
    every = Counter(score.grade for score in scores)  # wrong 11, partially 10, fully 7, unsupported 2
    for seed in range(20):
        drawn = draw(scores, 15, seed)
        assert len({score.question for score in drawn}) == 15
        assert drawn == draw(scores[::-1], 15, seed)
        for grade, count in Counter(score.grade for score in drawn).items():
            assert abs(count - every[grade] * 15 / 39) <= 1, (seed, grade)
    assert draw(scores, 15, 1) != draw(scores, 15, 2)
    assert len(draw(scores, 99, 1)) == 39


def test_every_answer_has_the_same_chance() -> None:
    """Over many seeds, each of the 39 answers is drawn about as often as any other."""
    scores, counts = graded(), Counter[str]()
    for seed in range(600):
        counts.update(score.question for score in draw(scores, 10, seed))
    # 600 x 10 / 39 = 154, standard deviation sqrt(600 x 10/39 x 29/39) = 10.7: five of them to each side.
    assert len(counts) == 39
    assert all(abs(count - 154) < 54 for count in counts.values())


def test_what_has_no_value_is_not_drawn() -> None:
    """A verdict that failed can't be checked."""
    scores = values("Correct", {"a": 1.0, "b": None, "c": 0.0})
    assert {score.question for score in draw(scores, 3, 1)} == {"a", "c"}


# The scale ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "judged", "said", "labels", "right"),
    [
        ("tone", [1, 0], [], "01", "1"),
        ("tone", [1, 1], [4.0], "12345", ""),
        ("tone", [2, 4], [], "12345", ""),
        ("tone", [2, 4], [0.0], TENS, RIGHT_OF_TEN),
        ("tone", [2, 4], [0.5], "", ""),
        ("ScaleGrade", [0, 1], [], TENS, RIGHT_OF_TEN),
        ("Correct", [1, 0], [], "01", "1"),
        ("HallucinationRate", [1, 0], [], "01", "0"),
        ("Faithfulness", [1, 0], [0.5], "", ""),
    ],
)
def test_the_grades_that_could_be_given(
    measure: str, judged: list[float], said: list[float], labels: Sequence[str], right: Sequence[str]
) -> None:
    """The declared scale decides, else the grades of judge and person; the scale determines which grade is right."""
    scores = values(measure, {f"q{place}": float(value) for place, value in enumerate(judged)})
    found = scale_of(measure, scores, said)
    assert (found.categories, found.right) == (tuple(labels), frozenset(right))


def test_unused_grades_count() -> None:
    """AC1 and AC2 of twelve answers on a scale of 1 to 5 of which 1 never occurs, by hand and by irrCAC 0.4.4.

    Eight agree, three are a step apart and one two: observed 8/12, and (8 + 3 x .75 + .5) / 12 with linear weights. Of
    24 grades 4 are 2, 7 are 3, 7 are 4 and 6 are 5: the sum of p (1 - p) is (4 x 20 + 2 x 7 x 17 + 6 x 18) / 576 =
    426 / 576. Chance is 1 / (5 - 1) of it, and 15 / (5 x 4) of it with weights that add up to 15. Of four grades only,
    AC1 would be .5576; of eleven, .6400.
    """
    person = dict(enumerate("223344455532"))
    judge = dict(enumerate("233345454534"))
    scores = values("tone", {f"q{place}": float(grade) for place, grade in judge.items()})
    found = check(scores, {f"q{place}": grade for place, grade in person.items()})
    assert found.scale.categories == tuple("12345")
    one, two = 426 / 576 / 4, 426 / 576 * 15 / 20
    assert found.figures["ac1"].value == pytest.approx((8 / 12 - one) / (1 - one))
    assert found.figures["ac2"].value == pytest.approx((10.75 / 12 - two) / (1 - two))
    assert found.figures["ac1"].value == pytest.approx(0.59105, abs=5e-6)
    assert found.figures["ac2"].value == pytest.approx(0.76608, abs=5e-6)


# The comparison ----------------------------------------------------------------------------------------------------


def test_a_check_of_the_rubric() -> None:
    """Five of 39 differ: figures, confusion and the worst disagreements."""
    said = {"explanation": "names the setting", "confidence": 0.9}
    scores = [one.model_copy(update=said if one.question == "sf-03" else {}) for one in graded(LENIENT)]
    found = check(scores, human_grades(), notes={"sf-03": "60 minutes"})
    assert (found.labelled, found.judged, found.judge, found.version) == (39, 39, "lexical", "1")
    assert found.figures["agreement"].value == pytest.approx(34 / 39)
    # Fully correct: 12 by the person, of which the judge misses sf-06; it gives this grade to three of the other 27.
    assert found.figures["sensitivity"].value == pytest.approx(11 / 12)
    assert found.figures["specificity"].value == pytest.approx(24 / 27)
    assert found.confusion["wrong"] == {"wrong": 10, "unsupported": 0, "partially_correct": 1, "fully_correct": 2}
    assert found.confusion["fully_correct"]["wrong"] == 1
    # wrong to fully correct is three steps, to partially correct two, partially to fully one.
    worst = [(one.question, one.distance) for one in found.disagreements]
    assert worst == [("sf-03", 3), ("sf-06", 3), ("sf-18", 3), ("sf-29", 2), ("sf-10", 1)]
    first = found.disagreements[0]
    assert (first.note, first.explanation, first.confidence) == ("60 minutes", "names the setting", 0.9)
    assert found.gated is found.figures["weighted_kappa"]
    assert found.advice == ()  # 87% agree


def test_means_and_inflation() -> None:
    """The judge's mean is above the person's by what it gave too much, over the answers that both graded."""
    found = check(graded(LENIENT), human_grades()).inflation
    # Too much: 1 + 1 + .5 + .5, too little: 1; over 39.
    assert found.person == pytest.approx((12 + 12 * 0.5) / 39)
    assert found.excess.value == pytest.approx(2 / 39)
    assert found.judge == pytest.approx(18 / 39 + 2 / 39)
    assert found.excess.low is not None
    assert found.excess.low < 2 / 39
    assert found.calibrated.estimate.value == pytest.approx(18 / 39)  # nothing is left that nobody graded
    assert found.corrected_accuracy is not None
    # 14 of 39 pass; (14/39 + 24/27 - 1) / (11/12 + 24/27 - 1) = 12/39: everything is labelled, so it is exact.
    assert found.corrected_accuracy.estimate.value == pytest.approx(12 / 39)


def test_calibration_uses_what_nobody_looked_at() -> None:
    """With half of the answers labelled, the calibrated mean uses the judge's grades of the other half."""
    person = human_grades()
    labels = {question: person[question] for question in list(person)[::2]}
    found = inflation(scale_of("RubricGrade", graded()), human_grades(), labels)
    assert 0 < found.calibrated.trust <= 1
    assert found.excess.value == 0.0
    # A judge that is always right: trust is near 1 / (1 + 15/15), so part of the other half counts.
    assert found.calibrated.estimate.value != pytest.approx(found.person or 0.0)


def test_numbers_have_no_kappa() -> None:
    """For numbers between 0 and 1, agreement is closeness, alpha that of intervals, and there is no kappa."""
    found = check(
        values("Faithfulness", {"a": 0.5, "b": 0.9, "c": 0.25, "d": 1.0}), {"a": "0.55", "b": "0.8", "c": "0.75"}
    )
    assert found.figures["agreement"].value == pytest.approx(2 / 3)  # .05 and .1 apart agree, .5 doesn't
    assert found.figures["kappa"].value is None
    assert "numbers" in str(found.figures["kappa"].reason)
    assert found.figures["alpha"].value is not None
    # Around the means .55 and .7: -.05, .35, -.3 and -.15, .1, .05; by ranks 2, 3, 1 and 1, 3, 2.
    assert found.figures["pearson"].value == pytest.approx(0.0275 / math.sqrt(0.215 * 0.035))
    assert found.figures["spearman"].value == pytest.approx(1 / 2)
    assert [one.question for one in found.disagreements] == ["c"]
    assert "sensitivity" not in found.figures
    assert found.confusion == {}


def test_only_numbers_have_a_correlation() -> None:
    """Whole grades correlate, words and right or wrong don't; a person who gives one number leaves it unknown."""
    person = {"a": "3", "b": "5", "c": "4"}
    figures = check(values("tone", {"a": 2.0, "b": 4.0, "c": 3.0}), person).figures
    assert (figures["pearson"].value, figures["spearman"].value) == pytest.approx((1.0, 1.0))
    for found in (check(graded(LENIENT), human_grades()), check(values("Correct", {"a": 1.0, "b": 0.0}), {"a": "1"})):
        assert not found.figures.keys() & {"pearson", "spearman"}
    constant = check(values("tone", {"a": 2.0, "b": 4.0, "c": 3.0}), dict.fromkeys(person, "4")).as_json()
    for name in ("pearson", "spearman"):
        assert constant[name]["value"] is None
        assert constant[name]["reason"] == "a rater gave only 4, and what doesn't vary has no correlation"


def test_numbers_beyond_a_share_are_refused() -> None:
    """Values of 3.5 and 80 are on no scale that a person could be asked on: they would be clipped to 1, and aren't."""
    with pytest.raises(InputError, match=r"mine has the value 3\.5: it is neither from 0 to 1"):
        check(values("mine", {"a": 3.5, "b": 80.0}), {"a": "1"})


def test_nothing_in_common() -> None:
    """Labels of answers that the judge didn't grade give no figure, and no made-up one."""
    found = check(values("Correct", {"a": 1.0, "b": 0.0}), {"z": "1"})
    assert found.labelled == 0
    assert all(one.value is None and one.reason for one in found.figures.values())
    assert found.inflation.calibrated.estimate.value is None
    assert found.as_json()["kappa"]["value"] is None


def test_labels_still_needed() -> None:
    """More labels are needed for a narrower interval, and the count is of all labels."""
    wide = check(graded(LENIENT), human_grades(), width=0.4).needed
    narrow = check(graded(LENIENT), human_grades(), width=0.1).needed
    for name in ("agreement", "weighted_kappa"):
        one, two = wide[name], narrow[name]
        assert one is not None
        assert two is not None
        assert one < two
        assert two > 39


# Advice ------------------------------------------------------------------------------------------------------------


def test_advice_by_where_they_disagree() -> None:
    """Too lenient, too strict, a pair that is confused, and one grade for everything each have their own advice."""
    person = ["0"] * 10 + ["1"] * 10
    [lenient] = advice(BINARY, person, ["1"] * 6 + ["0"] * 4 + ["1"] * 10)
    assert lenient.startswith("the judge is too lenient: in 6 of 6 disagreements")
    [strict] = advice(BINARY, person, ["0"] * 14 + ["1"] * 6)
    assert strict.startswith("the judge is too strict: in 4 of 4 disagreements")
    assert advice(BINARY, person, ["1"] * 3 + ["0"] * 7 + ["0"] * 3 + ["1"] * 7) == ()  # as often either way
    same = advice(BINARY, person, ["1"] * 20)
    assert "calls 20 of 20 answers 1" in same[1]
    rubric = LabelScale(RUBRIC, frozenset({"fully_correct"}))
    confused = advice(rubric, ["wrong"] * 5 + ["fully_correct"] * 15, ["unsupported"] * 5 + ["fully_correct"] * 15)
    assert "5 answers that the person calls wrong the judge calls unsupported" in confused[1]
    assert "2 labels show little" in advice(BINARY, ["0", "0"], ["1", "1"])[-1]


def test_lenient_is_lower_where_lower_is_better() -> None:
    """A judge that sees hallucinations in none of three answers that a person finds full of them is lenient."""
    scores = values("HallucinationRate", {"a": 0.1, "b": 0.2, "c": 0.3})
    said = check(scores, {"a": "0.9", "b": "0.9", "c": "0.9"}).advice
    assert said[0].startswith("the judge is too lenient: in 3 of 3 disagreements its grade is the lower one")


def test_advice_comes_below_four_fifths() -> None:
    """At 32 of 39, 82%, there is none, at 31, 79%, there is."""
    wrong = [question for question, grade in human_grades().items() if grade == "wrong"]
    enough = check(graded(dict.fromkeys(wrong[:7], "fully_correct")), human_grades())
    assert enough.figures["agreement"].value == pytest.approx(32 / 39)
    assert enough.advice == ()
    assert check(graded(dict.fromkeys(wrong[:8], "fully_correct")), human_grades()).advice


# Scales ------------------------------------------------------------------------------------------------------------


def test_what_a_person_may_say() -> None:
    """The beginning of a grade, y and n, whole numbers, and shares; nothing that isn't on the scale."""
    rubric = scale_of("RubricGrade", graded())
    assert [rubric.read(text) for text in ("f", "Partially correct", "w", "u", "x", "", "1")] == [
        "fully_correct",
        "partially_correct",
        "wrong",
        "unsupported",
        None,
        None,
        None,
    ]
    binary = scale_of("Correct", values("Correct", {"a": 1.0, "b": 0.0}))
    assert [binary.read(text) for text in ("y", "No", "1", "0", "2", "maybe")] == ["1", "0", "1", "0", None, None]
    points = scale_of("ScaleGrade", values("ScaleGrade", {"a": 7.0, "b": 3.0}))
    assert [points.read(text) for text in ("7", "10", "7.0", "11", "1.5")] == ["7", "10", "7", None, None]
    assert points.right == {"7", "8", "9", "10"}
    share = scale_of("Faithfulness", values("Faithfulness", {"a": 0.3}))
    assert [share.read(text) for text in ("0.5", "1", ".25", "1.5", "nan", "y")] == ["0.5", "1", "0.25"] + [None] * 3


def test_a_word_is_read_however_it_is_written() -> None:
    """Words of a user's own keep their capitals and spaces, and a person need not; a whole word beats a beginning."""
    numbers = {"a": 0.0, "b": 1.0, "c": 2.0}
    words = {"a": "Bad", "b": "Partly good", "c": "Partly"}
    scores = [one.model_copy(update={"grade": words[one.question]}) for one in values("mine", numbers)]
    scale = scale_of("mine", scores)
    said = ("Bad", "bad", "b", "Partly good", "partly", "p", "good")
    assert [scale.read(text) for text in said] == ["Bad", "Bad", "Bad", "Partly good", "Partly", None, None]


def test_values_without_their_words_are_numbers() -> None:
    """If a rubric's grade is missing beside a value, all are numbers: .5 alone can't be distinguished from a word."""
    first, *rest = graded()
    scores = [first.model_copy(update={"grade": None, "value": 0.5}), *rest]
    found = check(scores, {first.question: "0.5"})
    assert found.figures["agreement"].value == 1.0
    assert scale_of("RubricGrade", scores).labels == {}


# The sheet ---------------------------------------------------------------------------------------------------------


def test_a_sheet_comes_back_as_it_was(tmp_path: Path) -> None:
    """Texts of several lines, quotes and what looks like a formula survive; no cell begins like a formula."""
    rows = [
        SheetRow("r", "q1", "Correct", "", "", '=HYPERLINK("x")', "-1", 'a "quoted"\nline'),
        SheetRow("r", "q2", "Correct", "1", "'=odd", "+", "@x", "plain"),
    ]
    path = tmp_path / "sheet.csv"
    write_sheet(path, rows)
    assert rows_of(read_sheet(path)) == rows
    with path.open(newline="") as stream:
        assert not [cell for row in csv.reader(stream) for cell in row if cell[:1] in ("=", "+", "-", "@")]


@examples(200)
@given(st.lists(st.text(st.characters(codec="utf-8") | st.sampled_from("'=,\"\r\n\u2028\x0b\0"), max_size=8)))
def test_any_text_survives_a_sheet(texts: list[str]) -> None:
    """Whatever an answer holds, the sheet gives it back; otherwise it would count as changed."""
    rows = [SheetRow("r", f"q{number}", "Correct", "", text, answer=text) for number, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder:
        write_sheet(Path(folder) / "sheet.csv", rows)
        assert rows_of(read_sheet(Path(folder) / "sheet.csv")) == rows


def test_a_long_answer_survives_a_sheet(tmp_path: Path) -> None:
    """An answer may be longer than the cells that Python's reader takes by itself."""
    row = SheetRow("r", "q", "Correct", answer="x" * 200_000)
    write_sheet(tmp_path / "sheet.csv", [row])
    assert rows_of(read_sheet(tmp_path / "sheet.csv")) == [row]


def test_labels_of_a_sheet(tmp_path: Path) -> None:
    """Empty grades and other measures and runs are left for later; a changed answer is reported and not used."""
    path = tmp_path / "sheet.csv"
    write_sheet(
        path,
        [
            SheetRow("r", "q1", "Correct", "y", "clear", answer="one\ntwo"),
            SheetRow("r", "q2", "Correct", "", answer="x"),
            SheetRow("r", "q3", "Correct", "n", answer="old"),
            SheetRow("r", "q1", "Relevant", "n"),
            SheetRow("other", "q1", "Correct", "n"),
        ],
    )
    answers: dict[str, str | None] = {"q1": "one\r\ntwo\n", "q2": "x", "q3": "new"}
    found = labels_of(read_sheet(path), "r", "Correct", BINARY, answers)
    assert (found.labels, found.notes, found.changed) == ({"q1": "1"}, {"q1": "clear"}, ("q3",))


def test_a_column_of_the_measures_name(tmp_path: Path) -> None:
    """One sheet holds grades by several measures: each in the column of its name, the rubric's in grade."""
    known = dict.fromkeys(human_grades(), "")
    sheet = read_sheet(HUMAN_GRADES)
    answers: dict[str, str | None] = dict(known)
    correct = labels_of(sheet, RUN, "Correct", BINARY, answers).labels
    assert Counter(correct.values()) == {"0": 26, "1": 13}
    rubric = labels_of(sheet, RUN, "RubricGrade", scale_of("RubricGrade", graded()), answers).labels
    assert rubric == human_grades()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question_id,grade\nq1,maybe\n", r"sheet.csv:2: record q1: 'maybe' is no grade by Correct\n  Give y or n."),
        ("question_id,grade\nq1,y\nq1,n\n", "sheet.csv:3: record q1: the answer is graded twice"),
        ("question_id,grade\nq9,y\n", "sheet.csv:2: record q9: the run has no record of this question"),
        ("id,grade\nq1,y\n", r"sheet.csv:1: there is no column question_id\n.*It names id, grade\."),
        ("id;grade\nq1;y\n", r"there is no column question_id\n.*It names id, grade\."),
        ("question_id|grade\nq1|y\n", r"there is no column question_id\n.*It names question_id\|grade\."),
        ("question,grade\nWho?,y\n", r"record Who\?: the run has no record of this question\n.*column question_id"),
        ("question_id,grade\n\n,y\n", "sheet.csv:3: record : the run has no record"),
        ('question_id,grade\n"q1,y\n', "not a CSV file"),
        ("", "no column question_id"),
    ],
)
def test_mistakes_in_a_sheet(text: str, message: str, tmp_path: Path) -> None:
    """Each mistake is reported with its line and what to do."""
    path = tmp_path / "sheet.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        labels_of(read_sheet(path), "r", "Correct", BINARY, {"q1": "a"})
