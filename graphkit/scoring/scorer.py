"""Scores batches of a run in one process: each question with its record, and what is odd about either."""

from __future__ import annotations

import math
import sys
import traceback
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any

from graphkit.errors import MeasureError
from graphkit.files.normal_forms import GoldSpelling, may_differ, respell, respelled_in_words
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader, note_missing_gold, note_symbol_match
from graphkit.files.spool import TOGETHER, Packer
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.files import SymbolRecall
from graphkit.measures.outcome import Outcome, outcome
from graphkit.records.bounds import over, under
from graphkit.records.commits import CommitGraph
from graphkit.records.gold import as_hash, gold_number
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.usage import figures_of
from graphkit.scoring.batches import Batch
from graphkit.scoring.known_share import GoldSeen
from graphkit.scoring.results import Row, Totals

#: A line with its number.
Numbered = tuple[int, bytes]


#: Makes what somebody wants of a question that was scored, from its case, its values and why it is invalid if it is.
Describe = Callable[[Case, Sequence[float | str], str | None], Any]


@dataclass(frozen=True)
class Job:
    """The files to score and the options of scoring: the same for every process.

    Attributes
    ----------
    invalid
        The questions that aren't scored whatever the run did, and why.
    keep_rows, outcomes
        Whether the values of each question are wanted or the sums are enough, and with them how each question went.
    keep_answers
        Whether the records of the run are wanted as they were read, for who writes them elsewhere.
    describe
        Is called for each question where it was scored, perhaps in another process; what it returns is handed on.
    unordered
        Whether all traversals are sets of edges, whatever the records say.
    versions
        Whether a measure asks for commits, so that it counts how many chunks name none.
    name
        The name that the run goes by, whatever the records say.
    spelling
        How the gold spells ids that aren't ASCII: those of the run are compared as it does.
    hash_gold
        Whether the hash of the gold of all questions is wanted; with ``keep_rows`` it always is.
    wanted
        The ids that are looked for in the gold.
    """

    questions_file: Path
    run_file: Path
    measures: tuple[Measure, ...]
    commits: CommitGraph
    invalid: Mapping[str, str] = field(default_factory=dict)
    keep_rows: bool = False
    outcomes: bool = False
    keep_answers: bool = False
    describe: Describe | None = None
    unordered: bool = False
    versions: bool = False
    name: str | None = None
    spelling: GoldSpelling = field(default_factory=GoldSpelling)
    hash_gold: bool = False
    wanted: frozenset[str] = frozenset()


@dataclass
class Part:
    """The result of a batch.

    Attributes
    ----------
    answers
        The run's records in their order, packed, and how many: where the job keeps them.
    names, described
        The ids of the batch's questions in their order, and what was made of those scored: where the job describes.
    gold
        Which of the wanted ids the gold of these questions holds.
    """

    totals: Totals
    rows: list[Row]
    lonely_questions: dict[str, Numbered]
    answers_without_question: list[tuple[str, Numbered]]
    problems: Problems
    hashes: bytes
    runs: set[str] = field(default_factory=set)
    answers: list[tuple[bytes, int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    described: list[tuple[str, Any]] = field(default_factory=list)
    gold: GoldSeen = field(default_factory=GoldSeen)


class Scorer:
    """Scores batches of one run; each process has its own.

    Parameters
    ----------
    hash
        Tells ids apart, in the same way in every process.
    """

    def __init__(
        self,
        job: Job,
        hash: Callable[[str], int] = hash,  # noqa: A002 - it takes the place of Python's own
    ) -> None:
        self.job = job
        self.measures = job.measures
        #: Where the measures of the user's own are: what they return is checked.
        self.own = [index for index, measure in enumerate(job.measures) if measure.is_custom()]
        self.compares_symbols = any(isinstance(measure, SymbolRecall) for measure in job.measures)
        self.hash = hash
        self.problems = Problems()
        self.questions = RecordReader(job.questions_file, QuestionStruct, self.problems)
        self.answers = RecordReader(job.run_file, AnswerStruct, self.problems, job.questions_file)
        self.packer = Packer(AnswerStruct) if job.keep_answers else None
        self.hash_gold = job.hash_gold or job.keep_rows
        #: The wanted ids that no question had so far.
        self.wanted = set(job.wanted)
        self.begin()

    def answer(self, number: int, line: bytes) -> AnswerStruct | None:
        """Return the record of a line by the name that the run goes by, and note which run it says it is of."""
        found = self.answers.parse(number, line)
        if found is not None:
            self.runs.add(found.run)
            if may_differ(line) and (changed := respell(found, self.job.spelling)):
                where = f"{self.answers.path}:{number}"
                self.problems.note(Problem(where, respelled_in_words(changed), record=found.question_id))
            if self.job.name is not None:
                found.run = self.job.name
        return found

    def begin(self) -> None:
        """Forget what was scored so far: totals, rows and problems start anew."""
        self.totals = Totals(len(self.measures), self.job.invalid.values())
        self.values: list[list[float | Unscored]] = []
        self.names: list[str] = []
        self.about: list[tuple[tuple[str | None, ...], Outcome | None, str, str | None]] = []
        self.described: list[tuple[str, Any]] = []
        self.runs: set[str] = set()
        self.gold = GoldSeen()
        self.problems = self.questions.problems = self.answers.problems = Problems()

    def score(self, question: QuestionStruct, answer: AnswerStruct | None, number: int = 0) -> None:
        """Score one question; :meth:`settle` brings the values into the totals and the rows."""
        job = self.job
        case = Case(question, answer, job.commits, job.unordered)
        if not question.relevant:
            note_missing_gold(question, self.questions.path, self.problems)
        if question.symbol_match is not None and self.compares_symbols:
            note_symbol_match(question, self.questions.path, self.problems)
        if self.wanted:
            self._look_for_wanted(question)
        answered = answer is not None and answer.error is None
        if answer is not None:
            if answered:
                if (answer.retrieved and case.repeats) or (answer.traversal and case.irregular):
                    self._note(case, number)
                if job.versions and answer.retrieved:
                    self.totals.count_without_commit(*case.without_commit)
            else:
                self.totals.failed += 1
            if answer.doubts:
                self.totals.doubts.add(answer.doubts)
            if _figures(answer) != _NO_FIGURES:
                self.totals.efficiency.add(figures_of(answer))
        else:
            self.totals.missing += 1
        invalid = job.invalid.get(question.id) if job.invalid else None
        if invalid is not None:
            self.values.append([Unscored(invalid)] * len(self.measures))
        else:
            try:
                if answered:
                    self.values.append([measure.value(case) for measure in self.measures])
                else:
                    self.totals.no_answer += 1
                    self.values.append([measure.score(case) for measure in self.measures])
            except Exception:
                blamed = self._blamed(case)
                if blamed is None:
                    raise
                raise blamed from None
        self.names.append(question.id)
        gold = 0
        if self.hash_gold:
            gold = gold_number(question)
            self.totals.gold.add(question.id, gold)
        if job.describe is not None:
            self.described.append((question.id, job.describe(case, _plain(self.values[-1]), invalid)))
        if job.keep_rows:
            labels = (question.category, question.difficulty, question.group)
            self.about.append((labels, outcome(case, invalid) if job.outcomes else None, as_hash(gold), case.failure))

    def _look_for_wanted(self, question: QuestionStruct) -> None:
        """Note which of the wanted ids the gold of a question holds."""
        found = self.wanted.intersection(question.relevant)
        for path in question.paths:
            found |= self.wanted.intersection([step.source for step in path.steps])
            found |= self.wanted.intersection([step.target for step in path.steps])
        self.wanted -= found
        self.gold.ids |= found
        if question.expected_files:
            self.gold.expects_files = True

    def take_rows(self) -> list[Row]:
        """Bring the values since the last call into the totals, and return the rows where they are wanted."""
        totals = self.totals
        totals.questions += len(self.names)
        for index in self.own:
            self._check(index)
        for index, column in enumerate(zip(*self.values, strict=True)):
            if Unscored not in map(type, column):
                totals.take(index, column)
            else:
                totals.take(index, [value for value in column if type(value) is not Unscored])
                totals.leave_out(index, column)
        rows = [
            Row(name, _plain(values), *about)
            for name, values, about in zip(self.names, self.values, self.about, strict=False)
        ]
        self.values, self.names, self.about = [], [], []
        return rows

    def _blamed(self, case: Case) -> MeasureError | None:
        """Return what to tell where a measure raised: of the user's own, where and on which question; of ours nothing.

        The measures are asked again one by one, so that nothing is kept of them while all goes well.
        """
        for index in self.own:
            try:
                self.measures[index].score(case)
            except Exception as again:
                frames = traceback.extract_tb(again.__traceback__)
                home = getattr(sys.modules.get(type(self.measures[index]).__module__), "__file__", None)
                frame = next((frame for frame in reversed(frames) if frame.filename == home), frames[-1])
                raised = f"{type(again).__name__}: {again}" if str(again) else type(again).__name__
                return MeasureError(
                    f"{self.measures[index]} raised {raised}",
                    where=f"{frame.filename}:{frame.lineno}: question {case.question.id}",
                    remedy="Correct the measure; where it has no value, it returns graphkit.Unscored(reason).",
                )
        return None

    def _check(self, index: int) -> None:
        """Make numbers of what a measure of the user's own returned, or refuse it with the question."""
        measure = self.measures[index]
        for name, values in zip(self.names, self.values, strict=True):
            value = values[index]
            if isinstance(value, Unscored):
                continue
            lowest, highest = measure.lowest, measure.highest
            number = _number(value)
            if number is None:
                wrong, remedy = "no finite number", "It returns a number, or graphkit.Unscored(reason)."
            elif (lowest is not None and under(number, lowest)) or (highest is not None and over(number, highest)):
                wrong = f"not within its bounds, {lowest} to {highest}"
                remedy = "Set `lowest` and `highest` of the class, None where there is no bound."
            else:
                values[index] = number
                continue
            raise MeasureError(f"{measure} returned {value!r}, {wrong}", where=f"question {name}", remedy=remedy)

    def _note(self, case: Case, number: int) -> None:
        """Report what is odd about a record, yet doesn't keep it from being scored."""
        where = f"{self.answers.path}:{number}"
        if case.repeats:
            what = "the ranking holds an id more than once; each counts at its first rank"
            self.problems.note(Problem(where, what, record=case.question.id))
        for path, what in case.misplaced:
            record = f"{case.question.id}, path {path}"
            self.problems.note(Problem(where, f"{what} in a retrieved path", record=record))

    def batch(self, batch: Batch) -> Part:
        """Score the questions and answers of a batch that belong together, and hand back those that found no partner.

        The two files are read side by side, so that records are let go as soon as both are there.
        """
        self.begin()
        packer = self.packer
        packed: list[tuple[bytes, int]] = []
        waiting: list[AnswerStruct] = []
        taken: dict[str, int] = {}
        questions: dict[str, tuple[int, QuestionStruct, bytes]] = {}
        answers: dict[str, tuple[int, AnswerStruct, bytes]] = {}
        second_answers: list[tuple[str, Numbered]] = []
        parse_question, parse_answer = self.questions.parse, self.answer
        lines = zip_longest(batch.questions, batch.answers, fillvalue=b"")
        for offset, (question_line, answer_line) in enumerate(lines):
            place = batch.question_start + offset
            question = parse_question(place, question_line)
            if question is not None and (first := taken.setdefault(question.id, place)) != place:
                what = f"the id is already taken by line {first}"
                self.problems.add(Problem(f"{self.questions.path}:{place}", what, record=question.id))
                question = None
            answer = parse_answer(batch.answer_start + offset, answer_line)
            if answer is not None and packer is not None:
                waiting.append(answer)
                if len(waiting) == TOGETHER:
                    packed.append((packer.pack(waiting), len(waiting)))
                    waiting = []
            if question is not None:
                name = question.id
                if answer is not None and answer.question_id == name and name not in answers:
                    self.score(question, answer, batch.answer_start + offset)
                    continue
                if name in answers:
                    number, partner, _ = answers.pop(name)
                    self.score(question, partner, number)
                else:
                    questions[name] = (batch.question_start + offset, question, question_line)
            if answer is not None:
                name = answer.question_id
                number = batch.answer_start + offset
                if name in questions:
                    self.score(questions.pop(name)[1], answer, number)
                elif name in answers:
                    second_answers.append((name, (number, answer_line)))
                else:
                    answers[name] = (number, answer, answer_line)
        lonely_questions = {name: (number, line) for name, (number, _, line) in questions.items()}
        answers_without_question = [
            (name, (number, line)) for name, (number, _, line) in answers.items()
        ] + second_answers
        hashes = array("q", map(self.hash, taken)).tobytes()
        if packer is not None and waiting:
            packed.append((packer.pack(waiting), len(waiting)))
        rows = self.take_rows()
        return Part(
            totals=self.totals,
            rows=rows,
            lonely_questions=lonely_questions,
            answers_without_question=answers_without_question,
            problems=self.problems,
            hashes=hashes,
            runs=self.runs,
            answers=packed,
            names=list(taken) if self.job.describe is not None else [],
            described=self.described,
            gold=self.gold,
        )


def _plain(values: Sequence[float | Unscored]) -> tuple[float | str, ...]:
    return tuple([value.reason if isinstance(value, Unscored) else value for value in values])


def _number(value: object) -> float | None:
    """Return a value as a float, also one of numpy's; None where it is no finite number."""
    try:
        number = float(value) if not isinstance(value, str | bytes) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


_figures = attrgetter("latency_ms", "model_calls", "prompt_tokens", "output_tokens", "cost")
_NO_FIGURES = (None,) * 5
