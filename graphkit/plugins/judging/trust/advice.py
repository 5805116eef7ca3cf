"""Advice on how to change a judge, based on its disagreements with a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from graphkit.plugins.judging.trust.label_scales import LabelScale
from graphkit.records.words import counted

#: With fewer labels than these, the advice is to grade more answers.
FEW = 15


def advice(scale: LabelScale, person: Sequence[str], judge: Sequence[str]) -> tuple[str, ...]:
    """Return the suggested changes, most important first, from labels of the same answers."""
    pairs = [(one, two) for one, two in zip(person, judge, strict=True) if one != two]
    higher = sum(scale.categories.index(two) > scale.categories.index(one) for one, two in pairs) if scale.labels else 0
    if not scale.labels:
        higher = sum(float(two) > float(one) for one, two in pairs)
    found = _leaning(higher, len(pairs), scale.lower) + _confused(scale, pairs, len(person)) + _one_grade(judge)
    if len(person) < FEW:
        found.append(f"{counted(len(person), 'label')} show little: grade more answers before you change the judge")
    return tuple(found)


def _leaning(higher: int, apart: int, lower_is_better: bool) -> list[str]:
    """Advise if the judge is mostly too lenient, or mostly too strict."""
    lower = apart - higher
    words = ("lower", "higher") if lower_is_better else ("higher", "lower")
    better, worse = (lower, higher) if lower_is_better else (higher, lower)
    too_lenient = (
        "Let the prompt say what an answer must contain for each grade, and show one that reads well and is wrong"
    )
    too_strict = "Let the prompt say what may be missing or worded differently, and show a plain answer that is right"
    for many, few, kind, word, remedy in (
        (better, worse, "lenient", words[0], too_lenient),
        (worse, better, "strict", words[1], too_strict),
    ):
        if many >= 2 * max(few, 1):
            of = counted(apart, "disagreement")
            return [f"the judge is too {kind}: in {many} of {of} its grade is the {word} one. {remedy}"]
    return []


def _confused(scale: LabelScale, pairs: Sequence[tuple[str, str]], labelled: int) -> list[str]:
    """Advise on the pair of labels that is confused most, unless it is a single case or there are only two labels."""
    counts = Counter(pairs)
    if not scale.ordered or not counts:
        return []
    (one, two), count = max(counts.items(), key=lambda item: (item[1], item[0]))
    if count < 2:
        return [] if labelled < FEW else ["no two labels are confused often: read the disagreements one by one"]
    return [
        f"{counted(count, 'answer')} that the person calls {one} the judge calls {two}: "
        "let the prompt draw the line between the two, with an example on each side"
    ]


def _one_grade(judge: Sequence[str]) -> list[str]:
    """Advise if the judge gives the same label to nearly everything."""
    label, count = Counter(judge).most_common(1)[0]
    if len(judge) < 5 or count < 0.9 * len(judge):
        return []
    return [
        f"the judge calls {count} of {len(judge)} answers {label}: it hardly distinguishes answers; try another model"
    ]
