"""What a comparison sees of two runs: questions by measures, with reasons and facts, wherever these come from.

Results (:mod:`graphkit.plugins.compare.result_pairs`), score files and the graph each make a :class:`ComparisonSource`;
whatever compares sees nothing else.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphkit.analysis.run_differences import Values
from graphkit.analysis.scales import Scale, scale_of
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import records_of
from graphkit.plugins.compare.changed_gold import GoldDifference
from graphkit.records.gold import different_gold
from graphkit.records.structs import AnswerStruct
from graphkit.records.unanswered import NOT_LOGGED, FailedAs
from graphkit.records.usage import Spread
from graphkit.records.words import counted
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.question_clusters import ClusterBy, QuestionClusters
from graphkit.scoring.relation_counts import RelationCounts

if TYPE_CHECKING:
    from graphkit.analysis.explanations import Explanation


Golds = Mapping[str, Mapping[str, str | None]]

#: Returns for some questions the gold edges that only the second and that only the first run traversed.
Edges = Callable[[Sequence[str]], Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]]

#: The figures of what a run took and their units, the one that decides first: money, else tokens, else time.
FIGURES: Mapping[str, str] = {"cost": "", "tokens": "", "latency": " ms"}


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts about a compared run beside its values.

    Attributes
    ----------
    failed
        The questions with valid gold that it failed on or has no record for, with the reason; None if only the run's
        record has it.
    unscored
        For each measure, the reasons of questions without a value, with their number, without failed questions.
    usage
        Latency, model calls, tokens and cost; None if they aren't known, and ``unknown`` then says why.
    """

    failed: Mapping[str, str | None] = field(default_factory=dict)
    unscored: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    usage: Mapping[str, Spread] | None = None
    unknown: str = "no record of the run was read"


class RunUsage(NamedTuple):
    """The latency, tokens and cost of each answer, by figure and question, and which questions were answered."""

    figures: Mapping[str, Mapping[str, float]]
    answered: Collection[str]

    @classmethod
    def of_files(cls, files: Iterable[tuple[Path, Dataset]], only: ChosenQuestions | None = None) -> RunUsage:
        """Return the usage of a run, or of the repetitions of a system, of which each file is one.

        ``only`` some questions count, or all.
        """
        return cls.mean(
            cls.of_records(
                (answer for _, answer in records_of(file, Problems("skip"), questions=dataset.questions_file)),
                only.ids if only is not None else {question.id for question in dataset.every_question()},
            )
            for file, dataset in files
        )

    @classmethod
    def of_records(cls, records: Iterable[AnswerStruct], questions: Collection[str]) -> RunUsage:
        """Return latency, tokens and cost of each answered question, as far as its record states them.

        Tokens are those of prompt and output together, and known only if both are.
        """
        found: dict[str, dict[str, float]] = {name: {} for name in FIGURES}
        answered = set()
        for record in records:
            if record.error is not None or record.question_id not in questions:
                continue
            answered.add(record.question_id)
            both = record.prompt_tokens, record.output_tokens
            tokens = None if both[0] is None or both[1] is None else both[0] + both[1]
            for name, value in (("cost", record.cost), ("tokens", tokens), ("latency", record.latency_ms)):
                if value is not None:
                    found[name].setdefault(record.question_id, float(value))
        return cls(found, answered)

    @classmethod
    def mean(cls, repetitions: Iterable[RunUsage]) -> RunUsage:
        """Return the usage of a system: of each question the mean over the repetitions that answered it.

        A figure that one of these doesn't state isn't known of the question.
        """
        every = [*repetitions]
        if len(every) == 1:
            return every[0]
        answered = set[str]().union(*(one.answered for one in every))
        found: dict[str, dict[str, float]] = {name: {} for name in FIGURES}
        for name, values in found.items():
            for question in answered:
                stated = [one.figures[name].get(question) for one in every if question in one.answered]
                known = [value for value in stated if value is not None]
                if len(known) == len(stated):
                    values[question] = math.fsum(known) / len(known)
        return cls(found, answered)


class LostMeasure(NamedTuple):
    """A measure by which the first run was scored and the second never: nothing shows that it isn't worse.

    Attributes
    ----------
    scored
        The number of questions that the first run was scored on.
    reason
        Why the second run was scored on none, where that is known.
    untyped
        Whether the second run was scored, but without the relations that only the first run logged.
    """

    measure: str
    scored: int
    reason: str | None = None
    untyped: bool = False

    def in_words(self, first: str, second: str) -> str:
        """Return which run was scored by it, and why the other wasn't.

        >>> LostMeasure("PathExact", 12, "its order isn't known").in_words("main", "mine")
        "PathExact is lost: main was scored on 12 questions, mine on none (its order isn't known)"
        """
        if self.untyped:
            what = f"{second} never logged relations, and {first} did; `--untyped` compares both without them"
            return f"{self.measure} is lost: {what}"
        why = "" if self.reason is None else f" ({self.reason.removesuffix(NOT_LOGGED)})"
        return (
            f"{self.measure} is lost: {first} was scored on {counted(self.scored, 'question')}, {second} on none{why}"
        )


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run, or the repetitions of one system, as a comparison sees it.

    Attributes
    ----------
    values, gold
        By measure and question the values, and the gold that they were given for; None if that isn't known.
    facts
        Among others, the questions that it failed on or has no record for.
    unlogged
        By measure the questions whose record doesn't log what it needs.
    strict
        The values that differ where edges without a relation match nothing.
    untyped
        The measures whose relations it never logs.
    most_failed
        How many questions it failed on in the repetition that failed on most; None if that isn't known.
    sentence
        If it stands for repetitions, returns a sentence on these, with the spread of a measure.
    repetitions
        Their values by measure and question, by what commands call each.
    reasons
        Returns why questions have no value by a measure, with their number, if the facts don't hold it.
    read_facts
        Returns the facts with those that take time to read, given the measures.
    usage
        Returns what its answers took; None if its records aren't at hand.
    explain
        Returns the explanation of a question of a repetition (an empty text if there is none); None as for usage.
    """

    name: str
    values: Values
    facts: RunFacts = RunFacts()
    gold: Golds = field(default_factory=dict)
    unlogged: Mapping[str, Set[str]] = field(default_factory=dict)
    strict: Values = field(default_factory=dict)
    untyped: Set[str] = frozenset()
    most_failed: int | None = None
    sentence: Callable[[str | None], str] | None = None
    repetitions: Mapping[str, Values] = field(default_factory=dict)
    reasons: Callable[[str], Mapping[str, int]] | None = None
    read_facts: Callable[[Iterable[str]], RunFacts] | None = None
    usage: Callable[[], RunUsage] | None = None
    explain: Callable[[str, str], Explanation] | None = None

    @property
    def failed(self) -> Set[str]:
        """The questions with valid gold that it failed on or has no record for."""
        return self.facts.failed.keys()

    def reason(self, measure: str) -> str | None:
        """Return the most frequent reason why questions have no value by a measure, if one is known."""
        counts = self.facts.unscored.get(measure, {}) if self.reasons is None else self.reasons(measure)
        return max(counts, key=lambda one: counts[one], default=None)

    def without(self, questions: Mapping[str, Set[str]]) -> ComparedRun:
        """Return the run without its values of some questions, by measure."""
        kept = {
            name: {one: value for one, value in column.items() if one not in questions[name]}
            for name, column in self.values.items()
            if name in questions
        }
        return dataclasses.replace(self, values={**self.values, **kept})


@dataclass(frozen=True, slots=True)
class ComparisonSource:
    """Two runs over the same questions, as a comparison sees them.

    Attributes
    ----------
    questions
        The number of questions in all.
    asked
        Those that each measure could have been scored on.
    dataset
        None if scores from files are compared.
    baseline
        Whether the first run is a baseline: what it lacks is left out, and never its worst value.
    members
        The questions of each group, if groups are compared.
    clusters
        Those that count as independent; None if each question does.
    scales
        Those of the measures; by default what the values of both runs show.
    stale
        The questions with stale gold.
    lost
        Measures of the first run that the second doesn't hold at all, beside those without a value.
    apart
        By measure, the values of questions that only the second run was asked.
    commands
        A command for each run that shows why its questions have no value, if there is one.
    """

    first: ComparedRun
    second: ComparedRun
    questions: int
    asked: Mapping[str, Set[str]]
    dataset: str | None = None
    baseline: bool = True
    members: Mapping[str, Set[str]] = field(default_factory=dict)
    clusters: QuestionClusters | None = None
    scales: Mapping[str, Scale | None] | None = None
    stale: Set[str] = frozenset()
    warnings: tuple[str, ...] = ()
    lost: tuple[LostMeasure, ...] = ()
    apart: Mapping[str, Sequence[float]] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    gold_change: GoldDifference | None = None
    edges: Edges | None = None
    commands: tuple[str, str] | None = None

    def without_baseline(self) -> ComparisonSource:
        """Return the source with both runs alike: edges without a relation match nothing in either."""
        if not self.baseline:
            return self
        strict = {name: {**column, **self.first.strict.get(name, {})} for name, column in self.first.values.items()}
        return dataclasses.replace(
            self, first=dataclasses.replace(self.first, values=strict, strict={}), baseline=False
        )

    @property
    def sides(self) -> tuple[ComparedRun, ComparedRun]:
        """Both runs."""
        return self.first, self.second

    @property
    def runs(self) -> tuple[str, str]:
        """The names of both."""
        return self.first.name, self.second.name

    def scale(self, measure: str) -> Scale | None:
        """Return the scale of a measure."""
        if self.scales is not None:
            return self.scales[measure]
        return scale_of(measure, [*self.first.values[measure].values(), *self.second.values[measure].values()])

    def by_one_gold(self, strict: bool) -> tuple[ComparisonSource, GoldComparison]:
        """Return the runs without the questions that they were scored on by different gold, and what these are.

        Raises
        ------
        InputError
            There is one and ``strict`` refuses it, or nothing is left to compare.
        """
        first, second = self.first, self.second
        removed: dict[str, set[str]] = {}
        unknown: dict[str, set[str]] = {run: set() for run in self.runs}
        for name in first.gold.keys() & second.gold.keys():
            old, new = first.gold[name], second.gold[name]
            for question in different_gold(old, new):
                if question in first.values[name] and question in second.values[name]:
                    removed.setdefault(name, set()).add(question)
            for question in old.keys() & new.keys():
                if (old[question] is None) != (new[question] is None):
                    unknown[self.runs[old[question] is not None]].add(question)
        found = GoldComparison(self.runs, removed, {run: len(some) for run, some in unknown.items() if some})
        if not removed:
            return self, found
        asked = {name: some - removed.get(name, set()) for name, some in self.asked.items()}
        kept = dataclasses.replace(self, first=first.without(removed), second=second.without(removed), asked=asked)
        nothing_left = not any(
            kept.first.values[name].keys() & kept.second.values[name].keys() for name in first.values
        )
        if strict or nothing_left:
            remedy = "Score both runs by the same gold"
            why = "strict reading refuses" if strict else "leaves nothing to compare"
            raise InputError(
                f"{found.difference}, which {why}",
                remedy=f"{remedy}, or compare without --strict." if strict else f"{remedy}.",
            )
        return kept, found


@dataclass(frozen=True, slots=True)
class GoldComparison:
    """The questions whose gold differs between two runs, and how many have known gold on one side only.

    Questions with different gold aren't compared: a difference there may come from the gold.
    """

    runs: tuple[str, str]
    removed: Mapping[str, Set[str]]
    unknown: Mapping[str, int]

    @property
    def different(self) -> tuple[str, ...]:
        """The questions with different gold, by any measure."""
        return tuple(sorted(set[str]().union(*self.removed.values())))

    @property
    def difference(self) -> str:
        """A sentence on the questions with different gold."""
        count = len(self.different)
        return (
            f"{self.runs[0]} and {self.runs[1]} were scored by different gold of {counted(count, 'question')}, such as "
            + repr(self.different[0])
        )

    @property
    def warnings(self) -> Iterator[str]:
        """A sentence on different gold, and one on unknown gold for each run."""
        if self.different:
            yield f"{self.difference}: {'it is' if len(self.different) == 1 else 'they are'} not compared there"
        for run, count in self.unknown.items():
            yield f"the gold that {run} was scored by is unknown for {counted(count, 'question')}: it may differ"


def refuse_itself(first: str, second: str) -> None:
    """Refuse to compare a run with itself."""
    if first == second:
        raise InputError(f"{first!r} is compared with itself: every difference would be 0", remedy="Name two runs.")


def refuse_repositories(what: str, cluster: ClusterBy | None) -> None:
    """Refuse to cluster by repositories or sessions what doesn't hold those of its questions."""
    if cluster in ("repo", "repo-set", "session"):
        raise InputError(
            f"--cluster {cluster}: {what} don't say the {'session' if cluster == 'session' else 'repositories'} of a "
            "question",
            remedy="Compare the run files or runs in the graph, or cluster by category or group.",
        )


def relations_warning(run: str, relations: RelationCounts) -> Iterator[str]:
    """Yield sentences on the edges of a run that were compared without their relation or direction, if any."""
    yield from (f"{run}: {sentence}" for sentence in relations.sentences)


def unanswered_warning(run: str, missing: int, failed: int, questions: int, failed_as: FailedAs) -> Iterator[str]:
    """Yield a sentence on the questions that a run failed on or has no record for, if there are any."""
    counts = "unscored"
    if failed_as != "unscored":
        counts = "the worst value of its measure, if that has one and the other run was scored"
    whole = f" of {counted(questions, 'question')}"
    parts = [f"has no record for {missing}{whole}"] if missing else []
    parts += [f"failed on {failed}{'' if missing else whole}"] if failed else []
    if parts:
        yield f"{run} {' and '.join(parts)}: each counts as {counts}"


def unlogged_warning(run: ComparedRun, failed_as: FailedAs) -> Iterator[str]:
    """Yield a sentence on the measures whose input a run logs for some questions only, if there are any."""
    parts = [f"{name} ({len(found)})" for name, found in run.unlogged.items() if found and run.values[name]]
    if parts:
        counts = "the worst value, if there is one and the other run was scored" if failed_as == "worst" else "unscored"
        yield f"{run.name} doesn't log for each question what these need: {', '.join(parts)}: each counts as {counts}"
