"""The gold that two runs were scored by, question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graphkit.errors import InputError
from graphkit.records.gold import different_gold
from graphkit.records.words import counted


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """The questions whose gold differs between two runs, and how many have known gold on one side only.

    Questions with different gold aren't compared: a difference there may come from the gold.
    """

    removed: dict[str, set[str]]
    unknown: dict[str, int]

    @classmethod
    def hold(
        cls,
        runs: tuple[str, str],
        values: tuple[Mapping[str, dict[str, float]], Mapping[str, dict[str, float]]],
        gold: tuple[Mapping[str, Mapping[str, str | None]], Mapping[str, Mapping[str, str | None]]],
        strict: bool,
    ) -> GoldComparison:
        """Remove the questions with different gold from the values of both runs.

        Raise an InputError if there is one and ``strict`` refuses it, or if nothing is left to compare.
        """
        before, after = values
        removed: dict[str, set[str]] = {}
        unknown: dict[str, set[str]] = {run: set() for run in runs}
        for name in gold[0].keys() & gold[1].keys():
            first, second = gold[0][name], gold[1][name]
            for question in different_gold(first, second):
                if question in before[name] and question in after[name]:
                    removed.setdefault(name, set()).add(question)
                    del before[name][question], after[name][question]
            for question in first.keys() & second.keys():
                if (first[question] is None) != (second[question] is None):
                    unknown[runs[first[question] is not None]].add(question)
        found = cls(removed, {run: len(some) for run, some in unknown.items() if some})
        nothing_left = not any(before[name].keys() & after[name].keys() for name in before)
        if found.different and (strict or nothing_left):
            remedy = "Score both runs by the same gold"
            why = "strict reading refuses" if strict else "leaves nothing to compare"
            raise InputError(
                f"{found.difference(runs)}, which {why}",
                remedy=f"{remedy}, or compare without --strict." if strict else f"{remedy}.",
            )
        return found

    @property
    def different(self) -> tuple[str, ...]:
        """The questions with different gold, by any measure."""
        return tuple(sorted(set().union(*self.removed.values())))

    def left(self, questions: Mapping[str, set[str]]) -> dict[str, set[str]]:
        """Return the questions of each measure without the removed ones."""
        return {name: some - self.removed.get(name, set()) for name, some in questions.items()}

    def difference(self, runs: tuple[str, str]) -> str:
        """Return a sentence on the questions with different gold."""
        count = len(self.different)
        return (
            f"{runs[0]} and {runs[1]} were scored by different gold of {counted(count, 'question')}, such as "
            + repr(self.different[0])
        )

    def warnings(self, runs: tuple[str, str]) -> Iterator[str]:
        """Yield a sentence on different gold, and one on unknown gold for each run."""
        if self.different:
            yield f"{self.difference(runs)}: {'it is' if len(self.different) == 1 else 'they are'} not compared there"
        for run, count in self.unknown.items():
            yield f"the gold that {run} was scored by is unknown for {counted(count, 'question')}: it may differ"
