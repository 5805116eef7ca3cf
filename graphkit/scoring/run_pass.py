"""A run with its dataset: scored in one pass, or read as a whole for what works on each of its answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.jsonl import is_array, open_binary
from graphkit.files.normal_forms import GoldSpelling
from graphkit.files.problems import Problems
from graphkit.files.run_files import RunSource, read_run
from graphkit.files.spool import Spool
from graphkit.files.stale_gold import checked_gold, invalid_reason
from graphkit.measures.answer_matching import NO_GOLD_ANSWER
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.completeness import NO_FACTS
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.judged import DECLINED
from graphkit.measures.owners import NEITHER
from graphkit.measures.ranking import EXACT, RankingMeasure
from graphkit.records.commits import CommitGraph, Declines
from graphkit.records.scores import GRAPHKIT, JURY, Score
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.scoring.file_scoring import Descriptions, score_file
from graphkit.scoring.further_measures import FirstRecords, further_measures
from graphkit.scoring.known_share import GoldSeen, known_share
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.results import Evaluation
from graphkit.scoring.scorer import Job


def job_options(options: EvaluationOptions, measures: Sequence[Measure]) -> dict[str, Any]:
    """Return the fields of a :class:`graphkit.scoring.scorer.Job` that the options and all measures decide."""
    return {
        "outcomes": options.outcomes,
        "unordered": options.unordered,
        "undirected": options.undirected,
        "name": options.name,
        "only": options.where,
        **warned_of(measures),
    }


def warned_of(measures: Sequence[Measure]) -> dict[str, Any]:
    """Return the fields of a :class:`graphkit.scoring.scorer.Job` by which it warns of what the measures read."""
    return {
        "versions": any(measure.needs_commits for measure in measures),
        "relations": any(measure.compares_relations for measure in measures),
        # Where containment is asked for, too, its values say more than a note.
        "granularity": {one.match for one in measures if isinstance(one, RankingMeasure) and not one.level} == {EXACT},
        "declined": any(measure.reads_declined for measure in measures),
    }


@dataclass
class RunPass:
    """A run log with its dataset; the first records are read once for all that depends on them.

    ``source`` names the user's file, if the log isn't it.
    """

    dataset: Dataset
    run_file: Path
    source: RunSource | None = None

    @cached_property
    def first(self) -> FirstRecords | None:
        """The first records of the run; None for a pipe."""
        return FirstRecords.read(self.dataset, self.run_file)

    @property
    def name(self) -> str | None:
        """The name of the run by its first record; None for a pipe, or without a usable record."""
        return self.first.answers[0].run if self.first is not None and self.first.answers else None

    def has_more_than(self, count: int) -> bool:
        """Return whether so many questions are passed for certain: by the lines of their file, if it is JSON Lines."""
        file = self.dataset.questions_file
        if not file.is_file() or file.stat().st_size <= count or is_array(file):
            return False
        with open_binary(file) as stream:
            lines = 0
            while lines <= count and (block := stream.read(1 << 20)):
                lines += block.count(b"\n{")
        return lines > count

    @cached_property
    def further_measures(self) -> tuple[str, ...]:
        """The measures beside the usual ones by default; see :mod:`graphkit.scoring.further_measures`."""
        return further_measures(self.dataset, self.first)

    def score_by(
        self,
        options: EvaluationOptions,
        measures: tuple[Measure, ...],
        known: tuple[CommitGraph, dict[str, str]],
        problems: Problems,
        **more: Any,
    ) -> Evaluation:
        """Score the run as the options say, without the measures that the database computes; see :meth:`score`."""
        in_python = measures if options.engine == "python" else tuple(one for one in measures if one.query is None)
        return self.score(
            in_python,
            known,
            problems,
            keep_rows=options.keep_rows,
            **job_options(options, measures),
            hash_gold=options.hash_gold,
            **more,
        )

    def score(
        self,
        measures: tuple[Measure, ...],
        context: tuple[CommitGraph, dict[str, str]],
        problems: Problems,
        *,
        answers: Spool[AnswerStruct] | None = None,
        descriptions: Descriptions | None = None,
        **options: Any,
    ) -> Evaluation:
        """Score the run, and find out how much of it the dataset knows.

        Parameters
        ----------
        context
            The known commits, and the reason of each question that isn't scored.
        answers, descriptions
            As in :func:`graphkit.scoring.file_scoring.score_file`.
        options
            Further fields of :class:`graphkit.scoring.scorer.Job`.
        """
        commits, invalid = context
        job = Job(
            self.dataset.questions_file,
            self.run_file,
            measures,
            commits,
            invalid,
            spelling=GoldSpelling(self.dataset.questions_file),
            wanted=frozenset(self.first.ids() if self.first is not None else ()),
            first=frozenset(self.first.questions() if self.first is not None else ()),
            **options,
        )
        gold = GoldSeen()
        result = score_file(
            job, dataset=self.dataset.name, problems=problems, answers=answers, descriptions=descriptions, gold=gold
        )
        known = known_share(self.dataset, self.run_file, self.first, gold, source=self.source)
        return dataclasses.replace(result, known=known)


def reads_commits(dataset: Dataset, measures: Iterable[Measure]) -> bool:
    """Return whether measures need the commits: those of versions do, and those of edges if gold paths have some."""
    return any(one.needs_commits or (one.compares_edges and dataset.has_sides) for one in measures)


def known_from_files(
    dataset: Dataset, measures: Iterable[Measure], problems: Problems, declines: Declines = MappingProxyType({})
) -> tuple[CommitGraph, dict[str, str]]:
    """Return the commits in a dataset's files if a measure reads them, and the reason of each unscored question.

    ``declines`` are what judges say of answers (:func:`judged_declines`).
    """
    measures = [*measures]
    needed = reads_commits(dataset, measures)
    commits = dataset.commit_graph(problems) if needed or dataset.graphs else CommitGraph(places=dataset.places())
    commits.access, commits.declines = dataset.access, declines
    if any(one.needs_graph for one in measures):
        commits.edges = dataset.knowledge_edges()
    return commits, invalid_by_files(dataset, commits, problems)


def invalid_by_files(dataset: Dataset, commits: CommitGraph, problems: Problems | None = None) -> dict[str, str]:
    """Return the questions with stale gold, which no run is scored on, and why.

    The commits learn which gold edges the knowledge graphs lack. Without ``problems``, those of the files are reported
    elsewhere.
    """
    gold = checked_gold(dataset, commits, Problems("skip") if problems is None else problems)
    commits.absent = gold.absent.of
    return {name: reason for name, reasons in gold.stale.items() if (reason := invalid_reason(reasons))}


def _no_answer(question: QuestionStruct) -> bool:
    return not (question.gold_answer or "").strip()


#: Reasons that the text of a question's gold decides, whichever measures are computed.
_DECIDED: Mapping[str, Callable[[QuestionStruct], bool]] = {
    NO_GOLD_ANSWER: _no_answer,
    NO_FACTS: lambda question: not question.facts,
    NEITHER: lambda question: _no_answer(question) and not question.facts,
}


def reasons_of_gold(dataset: Dataset, scores: Iterable[Score]) -> list[tuple[str, str]]:
    """Return each question with a reason that scores give and its gold confirms.

    The questions are read only if a score of others has such a reason.
    """
    claimed = {(one.question, one.reason) for one in scores if one.reason in _DECIDED and one.grader != GRAPHKIT}
    if not claimed:
        return []
    return [
        (question.id, reason)
        for question in dataset.every_question()
        for reason, holds in _DECIDED.items()
        if (question.id, reason) in claimed and holds(question)
    ]


def judged_declines(scores: Iterable[Score]) -> Declines:
    """Return what judges say of whether answers decline, for :class:`graphkit.records.commits.CommitGraph`.

    A jury's score takes the place of those of its members.
    """
    said: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        if score.measure == DECLINED and score.number is not None:
            said.setdefault((score.run, score.question), []).append(score)
    return {
        answer: [
            (bool(one.number), one.answer_hash)
            for one in [one for one in some if str(one.grader).startswith(JURY)] or some
        ]
        for answer, some in said.items()
    }


@dataclass(frozen=True)
class ReadRun:
    """A run with the questions of its dataset in their order, and its records: for grading and execution.

    ``invalid`` maps questions with stale gold to the reason.
    """

    run: str
    questions: Mapping[str, QuestionStruct] = field(repr=False)
    answers: Mapping[str, AnswerStruct] = field(repr=False)
    invalid: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, run_file: Path, source: Dataset, problems: Problems, name: str | None = None) -> Self:
        """Read a run and its questions; ``name`` replaces the name in its records.

        Raises
        ------
        InputError
            A record can't be used, or the file holds records of several runs, or none.
        """
        if name is not None:
            given_run_name(name)
        _, invalid = known_from_files(source, (), problems)
        questions = {question.id: question for _, question in source.questions(problems)}
        run, answers = read_run(run_file, problems, questions, name, source.questions_file)
        return cls(run, questions, answers, invalid)

    def only(self, questions: Iterable[str]) -> Self:
        """Return the run with some of its questions."""
        chosen = set(questions)
        return dataclasses.replace(
            self, questions={name: one for name, one in self.questions.items() if name in chosen}
        )

    def case(self, question: str) -> Case:
        """Return a question with the record of the run."""
        return Case(self.questions[question], self.answers.get(question))

    def lacking(self, question: str) -> str | None:
        """Return why an answer can't be judged or run: its gold is stale, or there is none; None if it can."""
        return self.invalid.get(question) or lacking_answer(self.case(question))


def lacking_answer(case: Case) -> str | None:
    """Return why there is no answer to judge or run: no record, an error, or no text; None if there is one."""
    if case.answer is None or case.failure is not None:
        return case.failure
    return NO_ANSWER if case.answer.answer is None else None
