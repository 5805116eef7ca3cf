"""The means of compared runs, in one table: with intervals, the best one, and which runs clearly beat which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from graphkit.analysis.pair_verdict import UNCLEAR, WORSE, family_in_words, in_family, judged
from graphkit.analysis.paired import Draws, PairedResult
from graphkit.analysis.power import LEVEL
from graphkit.measures.registry import bounds_of, lower_is_better, worst_of
from graphkit.plugins.compare.compared_runs import ComparedRun
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.records.bounds import equal
from graphkit.records.option_values import By
from graphkit.records.words import counted, short_shas
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.clustered_intervals import clustered_mean_interval
from graphkit.scoring.intervals import mean_interval
from graphkit.scoring.slices import overlap_in_words

#: The marks of a run that is clearly better or worse than the baseline.
BETTER_MARK, WORSE_MARK = "*", "†"


@dataclass(frozen=True, slots=True)
class RunMean:
    """The mean of one run by one measure, over the questions that all runs are compared on.

    Attributes
    ----------
    mean, low, high
        The mean and its 95% interval; None if there is none.
    scored
        How many questions the run has a value on, compared or not.
    worst
        On how many of the compared questions its value is the worst one, since it failed or didn't log.
    best
        Whether no run has a better mean.
    better_than, worse_than
        The places of the runs that it is clearly better and worse than.
    """

    run: str
    mean: float | None
    low: float | None
    high: float | None
    scored: int
    worst: int
    best: bool
    better_than: tuple[int, ...]
    worse_than: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MeasureMeans:
    """The means of all runs by one measure, how many questions they are over, and of how many that is."""

    measure: str
    compared: int
    questions: int
    runs: tuple[RunMean, ...]


@dataclass(frozen=True, slots=True)
class MeansOfGroup:
    """The means over one group of questions; ``name`` is None for all of them."""

    name: str | None
    rows: tuple[MeasureMeans, ...]


@dataclass(frozen=True, slots=True)
class _Column:
    """The values of a run by one measure, and those with the worst value where it failed or didn't log."""

    own: Mapping[str, float]
    held: Mapping[str, float]
    absent: bool


@dataclass(frozen=True)
class RunMeans:
    """The means of two or more runs, whose ``pairs`` are compared; a pair stands under the places of its runs.

    A mean is over the questions that every run has a value on. As in ``with_failed``, failures count as the worst value
    where another run was scored, and what a baseline lacks is left out. A run that never has a value by a measure has
    no mean, and leaves the others theirs.
    """

    pairs: Mapping[tuple[int, int], RunComparison]
    draws: Draws
    part: ChosenQuestions | None = None
    groups: tuple[MeansOfGroup, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls, pairs: Mapping[tuple[int, int], RunComparison], draws: Draws, part: ChosenQuestions | None = None
    ) -> RunMeans:
        """Return the means of compared runs, perhaps on a ``part`` of the questions."""
        found = cls(pairs, draws, part)
        return cls(pairs, draws, part, (*found._groups(),))

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, in the order that was given."""
        found: dict[int, str] = {}
        for (first, second), pair in self.pairs.items():
            found.setdefault(first, pair.first)
            found.setdefault(second, pair.second)
        return tuple(name for _, name in sorted(found.items()))

    @property
    def any_pair(self) -> RunComparison:
        """A comparison, for what all of them share."""
        return next(iter(self.pairs.values()))

    @property
    def baseline(self) -> str | None:
        """The run that each other one is compared with, if there is one."""
        return self.runs[0] if self.any_pair.source.baseline else None

    @property
    def by(self) -> By | None:
        """The field or the property of gold that groups the questions; None without groups."""
        return self.any_pair.by

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the runs as headers: without a baseline with the letter by which marks name them."""
        if self.baseline is not None:
            return self.runs
        return tuple(f"{name} ({letter(place)})" for place, name in enumerate(self.runs))

    @property
    def correction(self) -> str:
        """The measures and pairs over which p-values are corrected, in words, and the measure that is tested alone."""
        measures = family_in_words(max(in_family(one.with_failed) for one in self.pairs.values()))
        pairs = self._pairs_of_runs
        alone = (
            "" if (one := self.any_pair.primary) is None else f", {one} {'over the pairs alone' if pairs else 'not'}"
        )
        return f"{measures}{f' and {pairs}' if pairs else ''}{alone}"

    @property
    def correction_of_verdict(self) -> str:
        """The comparisons over which the p-values of the deciding measure are corrected, in words."""
        return self.correction if self.any_pair.primary is None else self._pairs_of_runs

    @property
    def _pairs_of_runs(self) -> str:
        return f"{counted(len(self.pairs), 'pair')} of runs" if len(self.pairs) > 1 else ""

    def marks(self, one: RunMean) -> str:
        """Return the mark of a mean: that of a clear difference from the baseline, or the letters of beaten runs."""
        if self.baseline is not None:
            return BETTER_MARK if 0 in one.better_than else WORSE_MARK if 0 in one.worse_than else ""
        return ",".join(map(letter, one.better_than))

    def suffix(self, one: RunMean) -> str:
        """Return the mark as a terminal shows it behind a mean."""
        marks = self.marks(one)
        return marks if self.baseline is not None or not marks else f" > {marks}"

    @property
    def legend(self) -> str:
        """A sentence on the marks."""
        what = f"p < {LEVEL}, corrected over {self.correction}, and a 95% interval of the difference without 0"
        if self.baseline is not None:
            return f"{BETTER_MARK} better and {WORSE_MARK} worse than {self.baseline} ({what})"
        return f"letters name the runs that a run is better than ({what})"

    @cached_property
    def overlap(self) -> str:
        """A sentence on groups that share questions; an empty text if they partition them."""
        members = self._members()
        return "" if self.by is None else overlap_in_words(self.by, Counter(chain(*members.values())))

    def title(self, group: MeansOfGroup) -> str:
        """Return the name of a group with what it is by."""
        return "all questions" if group.name is None else f"{self.by}: {short_shas(group.name)}"

    def notes(self, bold: bool = True) -> list[str]:
        """Return what a reader has to know of the table, a sentence each; the best means may be ``bold``."""
        from graphkit import __version__

        one = self.any_pair
        of = "" if one.dataset is None else f" of {one.dataset}"
        found = [
            f"Means over the n of {counted(self.questions, 'question')}{of} that every run is compared on, with 95% "
            "intervals",
            self._failures(),
            "Bold: the best mean, whether or not it differs clearly from the others" if bold else "",
            f"{self.legend[0].upper()}{self.legend[1:]}, by the paired randomisation test",
        ]
        if self.part is not None:
            found.insert(1, f"Compared {self.part}")
        if self.by is not None:
            found.append("In a group, p-values are corrected over its measures and the pairs, not over the groups")
        some = [self.overlap, "" if one.clusters is None else one.clusters.sentence]
        found += [f"{sentence[:1].upper()}{sentence[1:]}" for sentence in some]
        found += [*self._counts()]
        drawn = f"{self.draws.resamples} resamples with seed {self.draws.seed}"
        return [*(sentence for sentence in found if sentence), f"{drawn}, graphkit {__version__}"]

    @property
    def questions(self) -> int:
        """The number of questions, without those with stale gold."""
        return max(one.asked for one in self.pairs.values())

    def warnings(self) -> list[str]:
        """Return what limits the comparisons, a sentence each."""
        found = [line for one in self.pairs.values() for line in (*one.scope(), *one.warnings, *one.lost_in_words())]
        return list(dict.fromkeys(found))

    def _failures(self) -> str:
        """Return how failures count."""
        left = "" if self.baseline is None else f"; what {self.baseline} lacks is left out"
        rules = {
            "worst": "A failed, missing or unlogged question counts as the worst value",
            "failed": "A failed or missing question counts as the worst value",
            "unscored": "Failed questions are left out",
        }
        return f"{rules[self.any_pair.failed_as]}{left}"

    def _counts(self) -> Iterator[str]:
        """Yield which runs were scored on fewer questions than there are, and which values are the worst one."""
        rows = self.groups[0].rows
        scored = {row.measure: [f"{one.run} {one.scored}" for one in row.runs] for row in rows}
        if any(one.scored < row.questions for row in rows for one in row.runs):
            yield f"Questions scored, of {self.questions}: {_shared(scored)}"
        worst = {row.measure: [f"{one.run} {one.worst}" for one in row.runs if one.worst] for row in rows}
        if any(worst.values()):
            yield f"Questions counted as the worst value: {_shared(worst)}"

    def as_json(self) -> dict[str, Any]:
        """Return the runs, and their means by group and measure."""

        def names(places: Iterable[int]) -> list[str]:
            return [self.runs[place] for place in places]

        return {
            "runs": list(self.runs),
            "against": self.baseline,
            "correction": self.correction,
            **({} if self.part is None else {"where": self.part.as_json()}),
            "overlap": self.overlap or None,
            "means": [
                {
                    "group": group.name,
                    "measure": row.measure,
                    "run": one.run,
                    **{name: getattr(one, name) for name in ("mean", "low", "high")},
                    **{"compared": row.compared, "scored": one.scored, "worst": one.worst, "questions": row.questions},
                    **{"best": one.best, "better_than": names(one.better_than), "worse_than": names(one.worse_than)},
                }
                for group in self.groups
                for row in group.rows
                for one in row.runs
            ],
        }

    def _members(self) -> dict[str, set[str]]:
        """Return the questions of each group, those with stale gold left out."""
        found: dict[str, set[str]] = {}
        for pair in self.pairs.values():
            for name, some in pair.source.members.items():
                found.setdefault(name, set()).update(some - pair.source.stale)
        return found

    def _groups(self) -> Iterator[MeansOfGroup]:
        """Yield the means over all questions, and of each group with a compared question."""
        measures = dict.fromkeys(name for pair in self.pairs.values() for name in pair.source.first.values)
        columns = {name: [*self._columns(name)] for name in measures}
        results = {place: {one.measure: one for one in pair.with_failed} for place, pair in self.pairs.items()}
        yield MeansOfGroup(None, tuple(self._row(name, columns[name], results) for name in measures))
        if self.by is None:
            return
        grouped = {
            place: {group.name: {one.measure: one for one in group.results} for group in pair.groups_with_failed()}
            for place, pair in self.pairs.items()
        }
        for group, members in self._members().items():
            of_group = {place: some.get(group, {}) for place, some in grouped.items()}
            rows = tuple(self._row(name, columns[name], of_group, members) for name in measures)
            if any(row.compared for row in rows):
                yield MeansOfGroup(group, rows)

    def _sides(self, place: int) -> list[tuple[ComparedRun, bool]]:
        """Return a run as each of its pairs sees it, and whether it is the baseline there."""
        return [
            (pair.source.sides[both.index(place)], pair.source.baseline and both[0] == place)
            for both, pair in self.pairs.items()
            if place in both
        ]

    def _columns(self, measure: str) -> Iterator[_Column]:
        """Yield the values of each run by a measure."""
        sides = [self._sides(place) for place in range(len(self.runs))]
        columns = [_own(measure, some) for some in sides]
        failed_as, worst = self.any_pair.failed_as, worst_of(measure)
        typed = any(column and measure not in some[0][0].untyped for some, column in zip(sides, columns, strict=True))
        for place, (some, own) in enumerate(zip(sides, columns, strict=True)):
            run, baseline = some[0]
            others = set[str]().union(*(one.keys() for other, one in enumerate(columns) if other != place))
            failed: Set[str] = frozenset() if baseline or failed_as == "unscored" else run.failed
            silent: Set[str] = run.unlogged.get(measure, frozenset()) if own and failed_as == "worst" else frozenset()
            gone = (failed | (frozenset() if baseline else silent)) & others
            held = own if worst is None else {**own, **dict.fromkeys(gone, worst)}
            absent = (typed and measure in run.untyped) or (not own and bool(others - failed or not held))
            yield _Column(own, {} if absent else held, absent)

    def _row(
        self,
        measure: str,
        columns: list[_Column],
        results: Mapping[tuple[int, int], Mapping[str, PairedResult]],
        members: Set[str] | None = None,
    ) -> MeasureMeans:
        present = [one.held.keys() for one in columns if not one.absent]
        both = set(present[0]).intersection(*present[1:]) if present else set[str]()
        compared = sorted(both if members is None else both & members)
        values = [[one.held[question] for question in compared] if not one.absent else [] for one in columns]
        means = [math.fsum(some) / len(some) if some else None for some in values]
        sign, known = -1 if lower_is_better(measure) else 1, [one for one in means if one is not None]
        best = max((sign * one for one in known), default=None)
        beaten: dict[int, tuple[list[int], list[int]]] = {place: ([], []) for place in range(len(columns))}
        for (first, second), found in results.items():
            if measure in found and (verdict := judged(found[measure])) != UNCLEAR:
                winner, loser = (first, second) if verdict == WORSE else (second, first)
                beaten[winner][0].append(loser)
                beaten[loser][1].append(winner)
        runs = []
        for place, (column, some, mean) in enumerate(zip(columns, values, means, strict=True)):
            low, high = self._interval(measure, compared, some) or (None, None)
            runs.append(
                RunMean(
                    self.runs[place],
                    mean,
                    low,
                    high,
                    len(column.own if members is None else column.own.keys() & members),
                    sum(question not in column.own for question in compared) if some else 0,
                    mean is not None and best is not None and len(known) > 1 and equal(sign * mean, best),
                    tuple(sorted(beaten[place][0])) if mean is not None else (),
                    tuple(sorted(beaten[place][1])) if mean is not None else (),
                )
            )
        total = self.questions if members is None else len(members)
        return MeasureMeans(measure, len(compared), total, tuple(runs))

    def _interval(self, measure: str, questions: list[str], values: list[float]) -> tuple[float, float] | None:
        clusters = self.any_pair.clusters
        if not values:
            return None
        if clusters is None:
            return mean_interval(values, *bounds_of(measure), **self.draws._asdict())
        codes = clusters.codes(questions)
        return clustered_mean_interval(values, codes, *bounds_of(measure), **self.draws._asdict())


def letter(place: int) -> str:
    """Return the letter of a run by its place, and two of them beyond the alphabet.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    return ("" if place < 26 else letter(place // 26 - 1)) + chr(ord("a") + place % 26)


def _shared(counts: Mapping[str, Sequence[str]]) -> str:
    """Return counts by measure, those that most measures share last and without their names.

    >>> _shared({"RR": ["a 3"], "P@5": ["a 2"], "AP": ["a 3"]}), _shared({"RR": ["a 3"], "P@5": ["a 3"]})
    ('P@5 a 2; by the other measures a 3', 'a 3')
    """
    measures: dict[str, list[str]] = {}
    for measure, found in counts.items():
        measures.setdefault(", ".join(found) or "none", []).append(measure)
    ranked = sorted(measures, key=lambda text: len(measures[text]))
    parts = [f"{', '.join(measures[text])} {text}" for text in ranked[:-1]]
    return "; ".join([*parts, f"by the other measures {ranked[-1]}" if parts else ranked[-1]])


def _own(measure: str, sides: list[tuple[ComparedRun, bool]]) -> dict[str, float]:
    """Return the values of a run that all of its pairs hold; relations compared strictly."""
    found = [_strict(measure, *side) for side in sides]
    return {one: value for one, value in found[0].items() if all(one in other for other in found[1:])}


def _strict(measure: str, run: ComparedRun, baseline: bool) -> dict[str, float]:
    """Return the values of a run in one pair; those of a baseline without the questions whose strict value differs."""
    values, strict = run.values.get(measure, {}), run.strict.get(measure, {})
    if baseline:
        return {one: value for one, value in values.items() if one not in strict}
    return {**values, **strict}
