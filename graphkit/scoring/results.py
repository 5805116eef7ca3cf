"""The result of an evaluation: the summary of each measure, and on request the value of each question."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from graphkit.errors import InputError, did_you_mean
from graphkit.measures.judged import TESTED
from graphkit.measures.matching import Edge
from graphkit.measures.outcome import ABSTENTION, Decision, Outcome, decided, grade_of
from graphkit.measures.owners import RIGHTLY_DECLINED, Owner, confirmed, known_reasons, owner_of
from graphkit.measures.registry import bounds_of, measure_class
from graphkit.measures.seeds import BY_BOUNDARY, LostEdge, not_linked_as_json
from graphkit.records.ids import Places
from graphkit.records.notebook_html import block
from graphkit.records.option_values import By
from graphkit.records.unanswered import CountedAs, counted_value
from graphkit.records.usage import Spread
from graphkit.records.words import NO_LABEL, counted, shown
from graphkit.scoring.intervals import mean_interval, moment_interval
from graphkit.scoring.measure_summaries import Summary, scored_in_words
from graphkit.scoring.measured import COLUMNS, Measured, on_targets, own_thresholds
from graphkit.scoring.question_result import QuestionResult
from graphkit.scoring.reason_counts import count_reasons, listed
from graphkit.scoring.relation_counts import NEVER_LOGGED, RelationCounts
from graphkit.scoring.score_intervals import share_in_words

if TYPE_CHECKING:
    import pandas

    from graphkit.records.scores import Score
    from graphkit.scoring.chosen_questions import ChosenQuestions
    from graphkit.scoring.clustered_intervals import ClusteredMeans
    from graphkit.scoring.known_share import KnownShare
    from graphkit.scoring.slices import Slices


Label = Literal["category", "difficulty", "group", "split"]

#: The labels by which questions are grouped, in the order of a row's labels.
LABELS: tuple[Label, ...] = ("category", "difficulty", "group", "split")

#: The details of each measure that has some (:meth:`graphkit.measures.base.Measure.details`).
Details = Mapping[str, Mapping[str, Sequence[str]]]

#: How many measures the short text of a result names.
SHOWN_IN_REPR = 4

#: The reason of a question without a given score by a measure of others.
NOT_GIVEN = "no score was given"


#: Up to so many questions, a result holds its rows even if nothing needs them but what is printed.
ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Row:
    """The values of one question, in the order of the measures: a number, or the reason for no number.

    ``labels`` are its category, difficulty, group and split. ``outcome`` is the outcome, if requested, and
    ``gold_hash`` the hash of its gold. ``failure`` is the reason why the run gave no answer; None if it gave one.
    ``k`` is the question's own cut-off of rankings, if it has one. ``strict`` holds the values by measure that
    differ where traversed edges without a relation match no gold edge that has one. ``latency_ms`` is what the
    record states; results folders don't hold it. ``by_text`` is what the text of the answer decides, and ``grades``
    what grades of the whole answer say. ``details`` are those of the measures that have some. ``missed`` are the
    required edges that were walked in neither direction, where edges are compared without theirs, so that there is
    no outcome. ``unlinked`` are the edges that were missed since the question wasn't linked to the start of a path.
    """

    question: str
    values: tuple[float | str, ...]
    labels: tuple[str | None, ...] = (None, None, None, None)
    outcome: Outcome | None = None
    gold_hash: str | None = None
    failure: str | None = None
    k: int | None = None
    strict: tuple[tuple[str, float], ...] = ()
    latency_ms: float | None = field(default=None, compare=False)
    by_text: Decision | None = field(default=None, compare=False)
    details: Details | None = field(default=None, compare=False)
    missed: tuple[Edge, ...] | None = field(default=None, compare=False)
    unlinked: tuple[LostEdge, ...] = field(default=(), compare=False)
    grades: tuple[Decision, ...] = field(default=(), compare=False)

    @property
    def decision(self) -> Decision | None:
        """Whether the answer is right; None if nothing is known of it."""
        return None if self.by_text is None else decided(self.by_text, self.grades)

    def graded(self, grades: Iterable[Decision]) -> Row:
        """Return the row with more grades of the whole answer, and with the outcome that they decide."""
        row = dataclasses.replace(self, grades=(*self.grades, *(one for one in grades if one.right is not None)))
        if row.outcome is None or row.decision is None or not row.grades:
            return row
        return dataclasses.replace(row, outcome=row.outcome.graded(row.decision))


@dataclass(frozen=True, slots=True)
class Kept:
    """The rule by which the graph stores only some questions of a run, and how many it stores."""

    rule: str
    questions: int


def _decided_by_abstention(values: Mapping[str, dict[str, float | str]], question: str, right: bool) -> None:
    """Give a question that declining decides its values by measures of others, as far as they have no number."""
    for measure, column in values.items():
        given = column.get(question, NOT_GIVEN)
        if measure == TESTED and isinstance(given, str):
            column[question] = float(right)
        elif right and isinstance(given, str) and owner_of(given) is Owner.NOTHING:
            column[question] = RIGHTLY_DECLINED


@dataclass(frozen=True)
class Evaluation:
    """The scores of one run.

    Attributes
    ----------
    questions
        The number of questions of the dataset, with those that failed or have no record.
    failed, missing
        The number of records with an error, and of questions without a record.
    invalid
        The questions that aren't scored because their gold is stale, with the reasons.
    efficiency
        Latency, model calls, tokens and cost over the records that state them.
    unscored
        For each measure, the reasons of questions without a value, with their number. Failed, missing and invalid
        questions aren't among them.
    measures
        The summary of each measure, by its text.
    rows
        The values of each question, if requested.
    given
        The scores that others gave; their values are among the rows, and their means among the measures.
    warnings
        Warnings: doubts in the records, doubtful scores by others, and fields that graphkit doesn't know.
    known
        The share of the run's ids and edges that the dataset knows; None for a run from a pipe.
    without_commit
        The number of retrieved chunks without a commit, and of those that get the commit of their artifact in the
        dataset's graph; None if no measure reads commits.
    gold_hash
        The hash of the gold (:mod:`graphkit.records.gold`). Results with different gold can't be compared.
    principal
        Who asked the questions that name nobody (``--as``); None for nobody.
    failed_as
        How gates, targets and thresholds count failed and missing questions: each as the worst value of its measure, or
        not at all; or whether every unscored question counts as 0.
    unanswered
        The number of failed or missing questions with valid gold.
    kept
        The part of the run that the store holds; None for the whole run, or without a store. It changes no figure.
    groups
        The summaries by label, for a result without rows.
    ended
        The number of questions by right or wrong answer and path, and by stage, for a result without rows.
    relations
        How many edges were compared without their relation.
    clustered
        The means with intervals over clusters of questions, if requested.
    slices
        The slices of questions by their gold, if requested.
    intervals, squares
        Of a result without rows: the intervals of the held values that were kept, and the sums of the squares of the
        values, from which the others follow.
    places
        The repositories and the names of the nodes of the dataset.
    chosen
        The questions that were picked before they were scored, all figures being of them; None for all.
    """

    run: str
    dataset: str
    questions: int
    failed: int
    missing: int
    measures: dict[str, Summary]
    rows: tuple[Row, ...] = field(default=(), repr=False)
    invalid: Mapping[str, str] = field(default_factory=dict, repr=False)
    efficiency: Mapping[str, Spread] = field(default_factory=dict, repr=False)
    given: tuple[Score, ...] = field(default=(), repr=False)
    warnings: tuple[str, ...] = ()
    known: KnownShare | None = field(default=None, repr=False)
    unscored: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    without_commit: tuple[int, int] | None = field(default=None, repr=False)
    gold_hash: str | None = None
    principal: str | None = None
    failed_as: CountedAs = "worst"
    unanswered: int = 0
    kept: Kept | None = None
    groups: Mapping[str, Mapping[str, Mapping[str, Summary]]] = field(default_factory=dict, repr=False)
    ended: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    relations: RelationCounts = field(default=RelationCounts(), repr=False)
    clustered: ClusteredMeans | None = field(default=None, repr=False)
    slices: Slices | None = field(default=None, repr=False)
    intervals: Mapping[str, tuple[float, float] | None] = field(default_factory=dict, repr=False)
    squares: Mapping[str, float] = field(default_factory=dict, repr=False)
    places: Places = field(default_factory=Places, repr=False, compare=False)
    chosen: ChosenQuestions | None = field(default=None, repr=False)

    def with_scores(self, scores: Iterable[Score], of_gold: Iterable[tuple[str, str]] = ()) -> Evaluation:
        """Return the result with scores that others gave this run; later steps treat them like its own.

        Where declining, or not to decline, decides whether the answer is right, FactualCorrectness says so.

        ``of_gold`` are reasons that the gold confirms (:func:`graphkit.scoring.run_pass.reasons_of_gold`).

        Raises
        ------
        InputError
            A question is unknown, or the result has the measure already.
        """
        given = [score for score in scores if score.run == self.run]
        if not given:
            return self
        said = [(row.question, value) for row in self.rows for value in row.values if isinstance(value, str)]
        stated = known_reasons([*said, *self.invalid.items(), *of_gold])
        own = tuple(confirmed(given, stated))
        values: dict[str, dict[str, float | str]] = {}
        known = {row.question for row in self.rows}
        for score in own:
            if score.measure in self.measures:
                raise InputError(
                    f"{score.measure} is computed, and given by {score.given_by} as well",
                    remedy="Leave it out of the file, or choose other measures by -m.",
                )
            if score.question not in known:
                what = f"the score of {score.question!r} by {score.measure} is of a question that isn't in the dataset"
                raise InputError(what, remedy="Correct its id, or leave it out.")
            reason = score.reason or NOT_GIVEN
            values.setdefault(score.measure, {})[score.question] = reason if score.number is None else score.number
        for row in self.rows:
            if row.by_text is not None and row.by_text.by == ABSTENTION:
                _decided_by_abstention(values, row.question, bool(row.by_text.right))
        gold = {row.question: row.gold_hash for row in self.rows}
        other = {
            score.question for score in own if score.gold_hash and gold[score.question] not in (None, score.gold_hash)
        }
        warnings = self.warnings
        if other:
            graders = " and ".join(sorted({score.given_by for score in own if score.question in other}))
            what = (
                f"{counted(len(other), 'question')}, such as {min(other)!r}, had other gold when {graders} scored them"
            )
            warnings = (*warnings, what)
        grades: dict[str, list[Decision]] = {}
        for score in own:
            grades.setdefault(score.question, []).append(grade_of(score.measure, score.number, score.grader))
        rows = tuple(
            dataclasses.replace(
                row.graded(grades[row.question]) if row.question in grades else row,
                values=(
                    *row.values,
                    *(column.get(row.question, row.failure or NOT_GIVEN) for column in values.values()),
                ),
            )
            for row in self.rows
        )
        reasons = {name: count_reasons(column.values())[0] for name, column in values.items()}
        result = dataclasses.replace(
            self,
            rows=rows,
            given=(*self.given, *own),
            unscored={**self.unscored, **listed(reasons)},
            warnings=warnings,
        )
        return dataclasses.replace(
            result, measures=self.measures | result._summaries([*self.measures, *values], values)
        )

    def with_grades(self, grades: Mapping[str, Sequence[Decision]]) -> Evaluation:
        """Return the result with grades of whole answers that the graph holds from others."""
        if not grades:
            return self
        rows = (row.graded(grades[row.question]) if row.question in grades else row for row in self.rows)
        return dataclasses.replace(self, rows=tuple(rows))

    def with_warning(self, warning: str) -> Evaluation:
        """Return the result with one more warning."""
        return dataclasses.replace(self, warnings=(*self.warnings, warning))

    def known_efficiency(self) -> dict[str, Spread]:
        """Return the efficiency figures that some record states."""
        return {name: cost for name, cost in self.efficiency.items() if cost.total is not None}

    def borrowed_commits(self) -> str:
        """Return a sentence on chunks that get the commit of their artifact; an empty text if there are none."""
        if self.without_commit is None or not self.without_commit[1]:
            return ""
        lacking, taken = self.without_commit
        chunks = f"{taken} of {counted(lacking, 'chunk')} without a commit"
        return f"{chunks} {'takes that of its' if taken == 1 else 'take that of their'} artifact in the dataset's graph"

    def share_of(self, measure: str) -> str:
        """Return on how many questions something happened that a measure counts, with the upper bound of their share.

        The text is empty for a measure of anything else, and where it has no value.
        """
        kind, held = measure_class(measure), self.held(measure)
        if kind is None or not kind.counts_questions or held is None:
            return ""
        items = self.measures[measure].held_on(self.failed_as)
        return share_in_words(round(held * items), items)

    def shares(self) -> str:
        """Return :meth:`share_of` each measure that has one, with its name; an empty text if none has."""
        return "; ".join(f"{name} {share}" for name in self.measures if (share := self.share_of(name)))

    def reasons(self, hidden: Collection[str] = ()) -> list[str]:
        """Return the reasons of unscored questions, each with its measures but the hidden ones, most frequent first."""
        found: dict[str, dict[str, int]] = {}
        for name, reasons in self.unscored.items():
            for reason, count in reasons.items() if name not in hidden else ():
                found.setdefault(reason, {})[name] = count
        by_count = sorted(found.items(), key=lambda each: -sum(each[1].values()))
        return [
            f"not scored, since {reason}: {', '.join(f'{name} ({count})' for name, count in counts.items())}"
            for reason, counts in by_count
        ]

    def outcomes(self) -> list[Outcome]:
        """Return the outcome of each question, if requested."""
        return [row.outcome for row in self.rows if row.outcome is not None]

    def outcomes_as_json(self) -> dict[str, Any]:
        """Return the questions by right or wrong answer and path, and the number that ended at each stage.

        Where a question wasn't linked to the start of a path, it also has the number of such questions by boundary.
        """
        from graphkit.measures.outcome import stage_counts, two_by_two

        if not self.rows:
            return {name: dict(sorted(of.items()) if name in BY_BOUNDARY else of) for name, of in self.ended.items()}
        done = self.outcomes()
        found = {"two_by_two": dataclasses.asdict(two_by_two(done)), "stages": stage_counts(done)} if done else {}
        return found | not_linked_as_json(row.unlinked for row in self.rows)

    def grouped(self, by: By) -> dict[str, dict[str, Summary]]:
        """Return the summary of each measure within each group of questions, sorted by its name.

        Questions without one are the group ``"(none)"``. The result is empty if no question has one.

        Raises
        ------
        InputError
            The groups follow from the gold (:mod:`graphkit.scoring.slices`), and the run was evaluated without them.
        """
        if not self.rows:
            return {name: dict(group) for name, group in self.groups.get(by, {}).items()}
        members = {name: [*map(self._rows.__getitem__, some)] for name, some in self.members(by).items()}
        if set(members) <= {NO_LABEL}:
            return {}
        names = [*self.measures]
        return {
            label: {name: one.within(self.measures[name]) for name, one in self._summaries(names, names, rows).items()}
            for label, rows in members.items()
        }

    @cached_property
    def _rows(self) -> dict[str, Row]:
        return {row.question: row for row in self.rows}

    def members(self, by: By) -> dict[str, list[str]]:
        """Return the questions of each group in the order of the rows; see :meth:`grouped`."""
        found: dict[str, list[str]] = {}
        if by in LABELS:
            place = LABELS.index(by)
            for row in self.rows:
                found.setdefault(row.labels[place] or NO_LABEL, []).append(row.question)
            return dict(sorted(found.items()))
        if self.slices is None or self.slices.by != by:
            what = f"the result of {self.run} doesn't say the {by} of a question"
            raise InputError(what, remedy=f"Evaluate the run's file with --by {by}.")
        found = {name: [] for name in self.slices.members()}
        for row in self.rows:
            for name in self.slices.of[row.question]:
                found[name].append(row.question)
        return found

    def _summaries(
        self, columns: Sequence[str], measures: Iterable[str], rows: Sequence[Row] | None = None
    ) -> dict[str, Summary]:
        """Return the summaries of some measures over some rows, by default all, whose values have these columns."""
        found = {}
        for name in measures:
            place, strict = columns.index(name), self.strict_values(name)
            values = {row.question: row.values[place] for row in (self.rows if rows is None else rows)}
            more = (strict[one] - was for one, was in values.items() if one in strict and isinstance(was, float))
            found[name] = Summary.of_values(name, values.values(), strict=more)
        return found

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit evaluate --json`` prints."""
        return {
            "run": self.run,
            "dataset": self.dataset,
            "gold_hash": self.gold_hash,
            **({} if self.principal is None else {"principal": self.principal}),
            "questions": self.questions,
            **({} if self.chosen is None else {"where": self.chosen.as_json()}),
            "failed": self.failed,
            "missing": self.missing,
            "failed_as": self.failed_as,
            "invalid": len(self.invalid),
            **({"stale": dict(self.invalid)} if self.invalid else {}),
            "measures": {
                name: one | {"held": (at := self.held(name)), "interval": None if at is None else self.interval(name)}
                for name, one in _as_json(self.measures).items()
            },
            **({"with_unscored": self._with_unscored()} if self.failed_as == "zero" else {}),
            "efficiency": {name: dataclasses.asdict(cost) for name, cost in self.known_efficiency().items()},
            "unscored": {name: dict(reasons) for name, reasons in self.unscored.items()},
            "warnings": list(self.warnings),
            **({"relations": self.relations.as_json()} if self.relations.sentences else {}),
            **({"clustered": self.clustered.as_json()} if self.clustered is not None else {}),
            **({"slices": self.slices.as_json()} if self.slices is not None else {}),
            **({"kept": dataclasses.asdict(self.kept)} if self.kept is not None else {}),
            **({"known": self.known.as_json()} if self.known is not None else {}),
            **(
                {"without_commit": {"chunks": self.without_commit[0], "commit_of_artifact": self.without_commit[1]}}
                if self.without_commit is not None
                else {}
            ),
        }

    def groups_as_json(self) -> dict[str, Any]:
        """Return the summaries by those of category, difficulty and group that questions have, and by the slices."""
        kinds: list[By] = [*LABELS, *([self.slices.by] if self.slices is not None else [])]
        found = {by: self.grouped(by) for by in kinds}
        return {by: {name: _as_json(group) for name, group in groups.items()} for by, groups in found.items() if groups}

    def records(self) -> Iterator[Score]:
        """Yield one score per question and measure, with its value or its reason, given ones too."""
        from graphkit import __version__
        from graphkit.measures.registry import computed_as
        from graphkit.records.scores import GRAPHKIT, Score

        given = {(score.question, score.measure): score for score in self.given}
        strict = {name: self.strict_values(name) for name in self.measures}
        for row in self.rows:
            for name, value in zip(self.measures, row.values, strict=True):
                score = given.get((row.question, name))
                # The values of a result were validated when they were read.
                yield score or Score.model_construct(
                    run=self.run,
                    question=row.question,
                    measure=name,
                    value=None if isinstance(value, str) else value,
                    reason=value if isinstance(value, str) else None,
                    grader=GRAPHKIT,
                    version=__version__,
                    gold_hash=row.gold_hash,
                    computed=computed_as(name, row.k),
                    strict_value=strict[name].get(row.question),
                    untyped=True if self.refused(name) else None,
                )

    def to_pandas(self) -> pandas.DataFrame:
        """Return a table with one row per question and one column per measure; unscored is NaN.

        Raises
        ------
        InputError
            pandas isn't installed.
        """
        try:
            import pandas
        except ImportError:
            remedy = "pip install 'graphkit-eval[pandas]', or use records()."
            raise InputError("a table needs pandas", remedy=remedy) from None
        return pandas.DataFrame(
            [[math.nan if isinstance(value, str) else value for value in row.values] for row in self.rows],
            columns=list(self.measures),
            index=pandas.Index([row.question for row in self.rows], name="question"),
        )

    def question(self, question: str) -> QuestionResult:
        """Return the result of one question.

        Raises
        ------
        InputError
            The question is unknown, which the message answers with the closest id, or the result holds no rows.
        """
        row = next((row for row in self.rows if row.question == question), None)
        if row is None:
            hint = did_you_mean(question, [one.question for one in self.rows])
            remedy = f"{hint}The result has {counted(len(self.rows), 'question')}."
            if not self.rows:
                remedy = "The result holds no rows: evaluate with keep_rows=True."
            raise InputError(f"no question has the id {question!r}", remedy=remedy)
        labels: dict[str, str] = {
            name: value for name, value in zip(LABELS, row.labels, strict=True) if value is not None
        }
        values = dict(zip(self.measures, row.values, strict=True))
        invalid = self.invalid.get(question)
        return QuestionResult(self.run, question, values, row.failure, invalid, labels)

    def held(self, measure: str) -> float | None:
        """Return the value that targets, severe thresholds and layers check: :meth:`Summary.held`.

        None if nothing was scored, or if the run never logs the relations that the measure compares.
        """
        summary = self.measures.get(measure)
        return None if summary is None or self.refused(measure) else summary.held(self.failed_as)

    def refused(self, measure: str) -> str:
        """Return why a gate on a measure fails whatever its value; an empty text if it doesn't."""
        never = any(score.untyped for score in self.given if score.measure == measure)
        return NEVER_LOGGED if never else self.relations.refused(measure)

    def sample(self, measure: str) -> list[float]:
        """Return the values that the held value of a measure is the mean of; nothing without rows."""
        return [*self.held_values(measure).values()]

    def held_values(self, measure: str) -> dict[str, float]:
        """Return the values of :meth:`sample` by question."""
        place, worst = [*self.measures].index(measure), self.measures[measure].counted_worst
        counted = ((row.question, counted_value(row.values[place], worst, self.failed_as)) for row in self.rows)
        return {question: value for question, value in counted if value is not None} | self.strict_values(measure)

    def counted_rows(self, rows: Iterable[Row] | None = None) -> Iterator[tuple[Row, tuple[float | None, ...]]]:
        """Yield rows, by default the result's own, with the values that the held means are of.

        A value is None where the mean leaves the question out, or there is no held mean.
        """
        worst = [one.counted_worst for one in self.measures.values()]
        names, how = [*self.measures], self.failed_as
        refused = [place for place, name in enumerate(names) if self.refused(name)]
        strict = {
            names.index(name): found
            for name in {score.measure for score in self.given}
            if (found := self.strict_values(name))
        }
        for row in self.rows if rows is None else rows:
            values = [
                counted_value(value, least, how) if isinstance(value, str) else value
                for value, least in zip(row.values, worst, strict=True)
            ]
            for name, value in row.strict if self.relations.stricter else ():
                values[names.index(name)] = value
            for place, of_given in strict.items():
                values[place] = of_given.get(row.question, values[place])
            for place in refused:
                values[place] = None
            yield row, tuple(values)

    def strict_values(self, measure: str) -> dict[str, float]:
        """Return the values of questions that differ at gates: in a run that logs some relations, the strict ones."""
        given = [score for score in self.given if score.measure == measure]
        if given:
            return {score.question: score.strict_value for score in given if score.strict_value is not None}
        if not self.relations.stricter:
            return {}
        return {row.question: value for row in self.rows for name, value in row.strict if name == measure}

    def interval(self, measure: str) -> tuple[float, float] | None:
        """Return the 95% interval of the held value of a measure: over clusters if the result has them.

        It is None if the values are too few, or weren't kept.
        """
        if self.clustered is not None:
            return self.clustered.interval(measure)
        if measure not in self._intervals:
            if not self.rows:
                kept = measure in self.intervals
                return self.intervals[measure] if kept else self._moment_interval(measure)
            sample = self.sample(measure) if self.measures[measure].scored else []
            self._intervals[measure] = mean_interval(sample, *bounds_of(measure)) if len(sample) > 1 else None
        return self._intervals[measure]

    def _moment_interval(self, measure: str) -> tuple[float, float] | None:
        """Return the interval of a held value without rows, by the sum of the squares of its values.

        There is none if edges without a relation count otherwise at gates: the squares are of the usual values.
        """
        summary, how = self.measures[measure], self.failed_as
        held, worst = summary.held(how), summary.as_worst(how)
        count = summary.scored + (summary.zeros(how) or worst)
        if measure not in self.squares or held is None or summary.strict is not None or count < 2:
            return None
        squares = self.squares[measure] + (summary.worst or 0.0) ** 2 * worst
        variance = max(0.0, squares - count * held**2) / (count - 1) / count
        return moment_interval(held, variance, count, *bounds_of(measure))

    def interval_in_words(self, measure: str) -> str:
        """Return the interval of the held value as `` [low, high]``; an empty text if it has none."""
        found = self.interval(measure)
        return "" if found is None else f" [{found[0]:.4f}, {found[1]:.4f}]"

    @cached_property
    def _intervals(self) -> dict[str, tuple[float, float] | None]:
        return {}

    def _column(self, measure: str) -> list[float | str]:
        """Return the values of a measure, with 0 for the unscored ones that count as 0."""
        place = [*self.measures].index(measure)
        values = [row.values[place] for row in self.rows]
        if not self.measures[measure].zeros(self.failed_as):
            return values
        return [0.0 if isinstance(value, str) else value for value in values]

    def with_zeros(self) -> Evaluation:
        """Return the result with the values that means rest on: 0 for each unscored question that counts as 0."""
        if self.failed_as != "zero":
            return self
        columns = zip(*map(self._column, self.measures), strict=True)
        rows = (dataclasses.replace(row, values=values) for row, values in zip(self.rows, columns, strict=True))
        return dataclasses.replace(self, rows=tuple(rows))

    def _with_unscored(self) -> dict[str, float | None]:
        """Return the means over all questions, of the measures of which some questions count as 0."""
        means = self.measures.items()
        return {name: one.held(self.failed_as) for name, one in means if one.zeros(self.failed_as)}

    @property
    def verdict(self) -> str:
        """A sentence: how the run stands against the targets of its measures, and how many questions it failed on."""
        against = on_targets(self._measured(samples=False)) or f"{counted(len(self.measures), 'measure')} scored"
        failed = f", {self.failed} failed, {self.missing} missing" if self.failed or self.missing else ""
        return f"{self.run}: {against}; {counted(self.questions, 'question')}{failed}"

    def _measured(self, samples: bool = True) -> list[Measured]:
        return [
            Measured(
                name,
                summary.held(self.failed_as),
                scored_in_words(summary, self.failed_as),
                self.sample(name) if samples and self.clustered is None else (),
                own_thresholds(name),
                None if self.clustered is None else self.clustered.interval(name),
            )
            for name, summary in self.measures.items()
        ]

    def __repr__(self) -> str:
        first = [*self.measures.items()][:SHOWN_IN_REPR]
        means = ", ".join(f"{name} {shown(one.held(self.failed_as))}" for name, one in first)
        more = len(self.measures) - SHOWN_IN_REPR
        return f"<Evaluation of {self.verdict}; {means}{f', and {more} more' if more > 0 else ''}>"

    def _repr_html_(self) -> str:
        """Draw the result in a notebook: the verdict, then each measure with its interval and target."""
        notes = self.warnings if self.clustered is None else (self.clustered.sentence, *self.warnings)
        return block(self.verdict, COLUMNS, [one.row() for one in self._measured()], notes)


def _as_json(measures: Mapping[str, Summary]) -> dict[str, Any]:
    return {name: dataclasses.asdict(summary) for name, summary in measures.items()}
