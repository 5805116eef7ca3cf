"""The protocol for grading answers again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from graphkit.records.scores import Score

#: The variation of a grading: none, the parts of the prompt in reverse order, or padded answers.
Variant = Literal["same", "swapped", "padded"]


class Rejudge(Protocol):
    """A function that has a judge grade answers of a run again, without a cache."""

    async def __call__(self, questions: Sequence[str] | None, *, variant: Variant) -> Sequence[Score]:
        """Return the scores of these questions; None means all.

        ``swapped`` asks the judge through :class:`graphkit.plugins.judging.trust.bias.Swapped`, ``padded`` changes the
        answers by :func:`graphkit.plugins.judging.trust.bias.padded`.
        """
        ...


def by_measure(scores: Iterable[Score]) -> dict[str, dict[str, Score]]:
    """Return scores by measure and question."""
    found: dict[str, dict[str, Score]] = defaultdict(dict)
    for score in scores:
        found[score.measure][score.question] = score
    return dict(found)


def values(scores: Mapping[str, Score]) -> dict[str, float]:
    """Return the values by question, without missing ones."""
    return {question: score.number for question, score in scores.items() if score.number is not None}
