"""Grading once more: what the procedures here need of whoever grades."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from graphkit.records.scores import Score

#: What is changed about a grading: nothing; the order of the parts that a prompt shows; the answers, which are padded.
Variant = Literal["same", "swapped", "padded"]


class Regrade(Protocol):
    """Something that has a judge grade answers of a run anew: asked again, and not read from a cache."""

    async def __call__(self, questions: Sequence[str] | None, *, variant: Variant) -> Sequence[Score]:
        """Return the scores of these questions, of all where there is None.

        For ``swapped`` the judge is asked through :class:`graphkit.trust.bias.Swapped`, for ``padded`` the answers are
        those of :func:`graphkit.trust.bias.padded`.
        """
        ...


def by_measure(scores: Iterable[Score]) -> dict[str, dict[str, Score]]:
    """Return scores by measure and question."""
    found: dict[str, dict[str, Score]] = defaultdict(dict)
    for score in scores:
        found[score.measure][score.question] = score
    return dict(found)


def values(scores: Mapping[str, Score]) -> dict[str, float]:
    """Return the values by question, of those that have one."""
    return {question: score.number for question, score in scores.items() if score.number is not None}
