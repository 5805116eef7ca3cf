"""Running sums of a run, from which its means are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import mul

from graphkit.measures.base import Unscored
from graphkit.records.bounds import exact_parts
from graphkit.records.gold import GoldSum
from graphkit.records.usage import Tally
from graphkit.scoring.further_measures import RECORDS
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.reason_counts import Doubts, Left, apart_from_failures, bounded, count_reasons, listed
from graphkit.scoring.relation_counts import RelationCounts


class Totals:
    """Running sums of each measure, from which the means are computed.

    The sums are exact, in parts, so that a mean doesn't depend on the batches.

    Parameters
    ----------
    apart
        The reasons of questions that are counted separately.
    """

    def __init__(self, count: int, apart: Iterable[str] = ()) -> None:
        self.apart = frozenset(apart)
        self.parts: list[list[float]] = [[] for _ in range(count)]
        #: The sums of the squares, from which an interval without rows follows.
        self.squares: list[list[float]] = [[] for _ in range(count)]
        self.scored = [0] * count
        self.reasons: list[Counter[str]] = [Counter() for _ in range(count)]
        self.left = [Left()] * count
        self.questions = self.failed = self.missing = self.no_answer = 0
        self.without_commit = self.commit_of_artifact = 0
        self.edges = self.edges_without_relation = self.directionless = self.unversioned = 0
        #: By how much strict comparison of relations changes the sum of each measure, in exact parts.
        self.strict: list[list[float]] = [[] for _ in range(count)]
        #: How many retrieved ids are finer or coarser than relevant ones, in questions without a hit; and an example.
        self.cut: Counter[str] = Counter()
        self.cut_example = ""
        self.efficiency = Tally()
        self.gold = GoldSum()
        self.doubts = Doubts()

    def add_values(self, index: int, values: Sequence[float]) -> None:
        """Add the values of some scored questions, by the measure of that index."""
        self.parts[index] = exact_parts([*values, *self.parts[index]])
        self.squares[index] = exact_parts([*map(mul, values, values), *self.squares[index]])
        self.scored[index] += len(values)

    def add_unscored(self, index: int, values: Iterable[float | str | Unscored]) -> None:
        """Count the reasons of questions without a value by the measure of that index."""
        found, left = count_reasons(values)
        self.left[index] = self.left[index].plus(left)
        for reason in self.apart & found.keys():
            del found[reason]
        self.reasons[index] = bounded(self.reasons[index] + found)

    def add_reasons(self, index: int, found: Counter[str]) -> None:
        """Count reasons by the measure of that index, without those of failed and missing questions."""
        apart = Counter({reason: count for reason, count in found.items() if reason not in self.apart})
        self.reasons[index] = bounded(self.reasons[index] + apart_from_failures(apart)[0])

    def count_without_commit(self, lacking: int, of_artifact: int) -> None:
        """Count chunks without a commit, and those of them that get the commit of their artifact."""
        self.without_commit += lacking
        self.commit_of_artifact += of_artifact

    def count_relations(self, edges: int, without: int, directionless: int = 0, unversioned: int = 0) -> None:
        """Count edges compared with gold that names relations, and those without one, a direction, or a commit."""
        self.edges += edges
        self.edges_without_relation += without
        self.directionless += directionless
        self.unversioned += unversioned

    def count_cut(self, how: str, example: str) -> None:
        """Count a retrieved id that is cut otherwise than a relevant one, and keep the first example by its text."""
        self.cut[how] += 1
        self.cut_example = min(self.cut_example or example, example)

    def cut_sentences(self) -> list[str]:
        """Return a sentence on the retrieved ids that are cut otherwise than relevant ones; empty if there are none."""
        counts = ", ".join(f"{count} {how}" for how, count in sorted(self.cut.items()))
        among = f"in the first {RECORDS:,} records " if self.questions > RECORDS else ""
        what = (
            f"{among}no equal id, but {counts} ({self.cut_example}); -m \"nDCG(match='containment')@10\" counts these"
        )
        return [what] if self.cut else []

    def add_strict(self, index: int, value: float, strict: float) -> None:
        """Note the value of a question under strict comparison of relations, beside its value."""
        self.strict[index] = exact_parts([strict, -value, *self.strict[index]])

    @property
    def relations(self) -> RelationCounts:
        """The number of edges that were compared without their relation, direction or commit."""
        return RelationCounts(self.edges, self.edges_without_relation, self.directionless, self.unversioned)

    def add(self, other: Totals) -> None:
        """Add the sums of another part of the run."""
        self.parts = [exact_parts(first + second) for first, second in zip(self.parts, other.parts, strict=True)]
        self.squares = [exact_parts(one + two) for one, two in zip(self.squares, other.squares, strict=True)]
        self.scored = [first + second for first, second in zip(self.scored, other.scored, strict=True)]
        self.reasons = [bounded(first + second) for first, second in zip(self.reasons, other.reasons, strict=True)]
        self.left = [first.plus(second) for first, second in zip(self.left, other.left, strict=True)]
        self.questions += other.questions
        self.failed += other.failed
        self.missing += other.missing
        self.no_answer += other.no_answer
        self.count_without_commit(other.without_commit, other.commit_of_artifact)
        self.count_relations(other.edges, other.edges_without_relation, other.directionless, other.unversioned)
        self.strict = [exact_parts(first + second) for first, second in zip(self.strict, other.strict, strict=True)]
        self.cut.update(other.cut)
        self.cut_example = min(filter(None, (self.cut_example, other.cut_example)), default="")
        self.efficiency.merge(other.efficiency)
        self.gold.merge(other.gold)
        self.doubts.merge(other.doubts)

    def summaries(self, names: Sequence[str]) -> dict[str, Summary]:
        """Return the summary of each measure."""
        stricter = self.relations.stricter
        columns = zip(names, self.parts, self.scored, self.left, self.strict, strict=True)
        return {
            name: Summary.of(name, parts, scored, self.questions, left, strict=strict if stricter else ())
            for name, parts, scored, left, strict in columns
        }

    def unscored(self, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """Return the reasons of unscored questions for each measure, with their number, the most frequent first."""
        return listed(dict(zip(names, self.reasons, strict=True)))
