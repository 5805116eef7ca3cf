"""The scale of labels that a person may give, by the scores of a judge."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from graphkit.analysis import scales
from graphkit.errors import InputError
from graphkit.measures.registry import lower_is_better
from graphkit.records.scores import GRADES, Score

#: The grades of the rubric with their values, lowest first.
RUBRIC = dict(reversed(GRADES.items()))

#: A person's words for right and wrong.
_YES = frozenset({"1", "1.0", "y", "yes", "true", "right"})
_NO = frozenset({"0", "0.0", "n", "no", "false", "wrong"})

#: Numbers from 0 to 1 agree up to this distance.
NEAR = 0.1


@dataclass(frozen=True, slots=True)
class LabelScale:
    """The labels of a measure, lowest first."""

    labels: dict[str, float]  # with their values; empty if any number from 0 to 1 is allowed
    right: frozenset[str] = frozenset()  # the labels of a right answer
    lower: bool = False  # whether lower values are better

    @property
    def categories(self) -> tuple[str, ...]:
        """The labels, lowest first."""
        return tuple(self.labels)

    @property
    def ordered(self) -> bool:
        """Whether labels can be closer to some labels than to others."""
        return len(self.labels) > 2

    @property
    def numeric(self) -> bool:
        """Whether the labels are whole grades instead of words."""
        return bool(self.labels) and all(label.isdigit() for label in self.labels)

    @property
    def highest(self) -> float:
        """The highest value."""
        return max(self.labels.values(), default=1.0)

    @property
    def lowest(self) -> float:
        """The lowest value."""
        return min(self.labels.values(), default=0.0)

    def label_of(self, score: Score) -> str | None:
        """Return the label of a score; None if it has no value."""
        if score.number is None:
            return None
        if score.grade is not None and score.grade in self.labels:
            return score.grade
        return _number_text(score.number)

    def value(self, label: str) -> float:
        """Return the value of a label."""
        return self.labels[label] if label in self.labels else float(label)

    def read(self, text: str) -> str | None:
        """Return the label that a person means, or None; an unambiguous beginning of a label is enough."""
        text = _plain(text)
        if not text:
            return None
        number = _number(text)
        if not self.labels:
            return _number_text(number) if number is not None and 0 <= number <= 1 else None
        if tuple(self.labels) == ("0", "1"):
            return "1" if text in _YES else "0" if text in _NO else None
        if number is not None and _number_text(number) in self.labels:
            return _number_text(number)
        words = {label: _plain(label) for label in self.labels if not label.isdigit()}
        same = [label for label, word in words.items() if word == text]
        begun = same or [label for label, word in words.items() if word.startswith(text)]
        return begun[0] if len(begun) == 1 else None

    @property
    def choices(self) -> str:
        """The allowed labels, in words."""
        if not self.labels:
            return "a number from 0 to 1"
        if tuple(self.labels) == ("0", "1"):
            return "y or n"
        if self.numeric:
            return f"{self.categories[0]} to {self.categories[-1]}"
        return ", ".join(reversed(self.categories))


def scale_of(
    measure: str, scores: Iterable[Score], person_grades: Iterable[float] = (), grades: range | None = None
) -> LabelScale:
    """Return the scale of a measure: of its grades in words if it has them, else of its values.

    ``person_grades`` also decide the scale. ``grades`` are the whole grades of the scale, if the user names them.
    """
    given = [score for score in scores if score.number is not None]
    words = {score.grade: float(score.number or 0.0) for score in given if score.grade is not None}
    lower = lower_is_better(measure)
    if grades is not None or any(score.grade is None for score in given):
        words = {}  # values without words have no scale of words
    if words and words.keys() <= RUBRIC.keys():
        return LabelScale(RUBRIC, frozenset({"fully_correct"}))
    if len(words) > 1:
        known = dict(sorted(words.items(), key=lambda item: item[1]))
        best = min(known.values()) if lower else max(known.values())
        return LabelScale(known, frozenset(label for label, value in known.items() if value == best), lower)
    values = [score.number for score in given if score.number is not None]
    found = grades or scales.grades_of(measure, [*values, *(person_grades if values else ())])
    if found is None:
        return LabelScale({}, lower=lower)
    labels = {str(value): float(value) for value in found}
    right = scales.right_on(measure, found)
    called = () if right is None else (label for label, value in labels.items() if right.is_right(value))
    return LabelScale(labels, frozenset(called), lower)


def persons_scale(
    measure: str, scores: Iterable[Score], person_grades: Iterable[float] = (), grades: range | None = None
) -> LabelScale:
    """Return the scale of a measure for a person's grades; the parameters are those of :func:`scale_of`.

    Raise an InputError if a value isn't on the scale that the user names, or values are numbers outside 0 to 1 without
    a known scale.
    """
    given = [score for score in scores if score.number is not None]
    scale = scale_of(measure, given, person_grades, grades)
    for score in given:
        number = score.number or 0.0
        if grades is not None and number not in grades:
            what = f"{score.given_by} gave {number:g} by {measure}, which isn't on the scale {scale.choices}"
            raise InputError(what, where=f"{score.run}: record {score.question}", remedy="Name another by --scale.")
        if not scale.labels and not 0 <= number <= 1:
            what = (
                f"{measure} has the value {number:g}: it is neither from 0 to 1, nor a whole number from 0 to 10 only"
            )
            remedy = (
                "Name the scale of whole grades by --scale, bring the scores to 0 to 1, or give each a grade in words."
            )
            raise InputError(what, where=score.run, remedy=remedy)
    return scale


def numbers_in(texts: Iterable[str]) -> list[float]:
    """Return the numbers among some grades of a person.

    >>> numbers_in(["4", "y", "0,5", "nan"])
    [4.0, 0.5]
    """
    found = (_number(text) for text in texts)
    return [number for number in found if number is not None]


def _plain(text: str) -> str:
    return text.strip().lower().replace(" ", "_")


def _number(text: str) -> float | None:
    """Return the number that a person wrote with a decimal point or comma."""
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number_text(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
