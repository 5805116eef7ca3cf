"""Scores batches of a run in one process, and reports oddities of questions and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.files.normal_forms import BACKSLASH, GoldSpelling, respell, respelled_in_words
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import RecordReader, note_missing_gold, note_symbol_match
from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.containment import otherwise_cut
from graphkit.measures.files import SymbolRecall
from graphkit.measures.missed import aligned_with_gold
from graphkit.measures.outcome import missed_without_direction, outcome, right_answer
from graphkit.measures.owners import of_rightly_declined, text_of
from graphkit.measures.seeds import lost_at_start
from graphkit.measures.sided_case import sided
from graphkit.records.access_rules import no_rule
from graphkit.records.commits import CommitGraph
from graphkit.records.gold import as_hash, gold_number
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.usage import figures_of
from graphkit.records.words import shortened
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.custom_measures import blame, checked_values
from graphkit.scoring.known_share import GoldSeen
from graphkit.scoring.results import Row
from graphkit.scoring.totals import Totals

#: Describes a scored question from its case, its values, and the reason if the question is invalid.
Describe = Callable[[Case, Sequence[float | str], str | None], Any]

#: Observes a scored question by its case, its values, and the reason if the question is invalid.
Observer = Callable[[Case, Sequence[float | Unscored], str | None], None]


@dataclass(frozen=True)
class Job:
    """The files to score and the options of scoring: the same for every process.

    Attributes
    ----------
    invalid
        The questions that no run is scored on, and the reason of each.
    keep_rows, outcomes
        Whether the values of each question are kept, and with them its outcome; otherwise only the sums are kept.
    detailed
        The measures of which rows hold details; None for those that count questions, whose gates name what they found.
        If it isn't None, or with outcomes, rows also hold the decision whether the answer is right.
    keep_answers
        Whether the records of the run are kept as they were read.
    describe
        Describes each scored question, perhaps in another process; the caller gets its result.
    unordered
        Whether all traversals are sets of edges, whatever the records say.
    undirected
        Whether rows hold the edges that are missed in both directions. With these, or with outcomes, they also hold
        the edges that were missed since the question wasn't linked to the start of a path.
    versions
        Whether to count chunks without a commit, since a measure reads commits.
    relations
        Whether to count edges without a relation, since a measure compares relations, be it in the database.
    granularity
        Whether to count retrieved ids that are finer or coarser than relevant ones, where none is relevant, in the
        first records.
    declined
        Whether a measure reads which records decline to answer, be it in the database.
    name
        The name of the run, whatever the records say.
    spelling
        The gold's spelling of ids that aren't ASCII.
    hash_gold
        Whether to hash the gold of all questions; with ``keep_rows`` it is always hashed.
    wanted, first
        The ids to look for in the gold, and the questions of the first records.
    only
        The questions that are scored; by default all. The others are read, and looked at for ``wanted``.
    """

    questions_file: Path
    run_file: Path
    measures: tuple[Measure, ...]
    commits: CommitGraph
    invalid: Mapping[str, str] = field(default_factory=dict)
    keep_rows: bool = False
    outcomes: bool = False
    detailed: tuple[Measure, ...] | None = None
    keep_answers: bool = False
    describe: Describe | None = None
    unordered: bool = False
    undirected: bool = False
    versions: bool = False
    relations: bool = False
    granularity: bool = False
    declined: bool = False
    name: str | None = None
    spelling: GoldSpelling = field(default_factory=GoldSpelling)
    hash_gold: bool = False
    wanted: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    only: ChosenQuestions | None = None

    def picks(self, question: str) -> bool:
        """Return whether a question is scored."""
        return self.only is None or question in self.only.ids

    @property
    def decides(self) -> bool:
        """Whether rows say if the answer is right."""
        return self.outcomes or self.detailed is not None


class Scorer:
    """Scores batches of one run; each process has its own.

    Parameters
    ----------
    hash
        Hashes ids in the same way in every process.
    """

    def __init__(
        self,
        job: Job,
        hash: Callable[[str], int] = hash,  # noqa: A002 - it takes the place of Python's own
    ) -> None:
        self.job = job
        self.measures = job.measures
        #: The indexes of the user's own measures, whose values are checked.
        self.custom = [index for index, measure in enumerate(job.measures) if measure.is_custom()]
        self.hash = hash
        self.problems = Problems()
        self.questions = RecordReader(job.questions_file, QuestionStruct, self.problems)
        self.answers = RecordReader(job.run_file, AnswerStruct, self.problems, job.questions_file)
        self._silent = Problems()
        #: The wanted ids that no question had so far.
        self.wanted = set(job.wanted)
        # Most runs need few of these, and each costs every question a little.
        self.typed = job.relations or any(one.compares_relations for one in job.measures)
        self.comparing = [(index, one) for index, one in enumerate(job.measures) if one.compares_edges]
        detailed = job.detailed if job.detailed is not None else [one for one in job.measures if one.counts_questions]
        own = [one for one in detailed if type(one).details is not Measure.details and not one.is_custom()]
        self.detailed = [(str(one), one) for one in own]
        needed: dict[Observer, bool] = {
            self._compare_strictly: self.typed or bool(self.comparing),
            self._count_granularity: job.granularity,
            self._note_symbol_match: any(isinstance(measure, SymbolRecall) for measure in job.measures),
            self._look_for_wanted: bool(job.wanted),
            self._count_versions: job.versions,
            self._hash_gold: job.hash_gold or job.keep_rows,
            self._describe: job.describe is not None,
            self._keep_row: job.keep_rows,
        }
        self.observers = [observer for observer, is_needed in needed.items() if is_needed]
        self.begin()

    def begin(self) -> None:
        """Start anew: drop totals, rows and problems."""
        self.totals = Totals(len(self.measures), self.job.invalid.values())
        self.values: list[list[float | Unscored]] = []
        self.names: list[str] = []
        self.about: list[tuple[Any, ...]] = []  # the other fields of the rows
        self.described: list[tuple[str, Any]] = []
        self.doubted: list[tuple[int, Sequence[str]]] = []  # doubts, and the place of their row
        self.strict: tuple[tuple[str, float], ...] = ()
        self.runs: set[str] = set()
        self.gold = GoldSeen()
        self.gold_number = 0
        self.problems = self.questions.problems = self.answers.problems = Problems()

    def answer(self, number: int, line: bytes) -> AnswerStruct | None:
        """Return the record of a line, with the name of the run and the gold's spelling of ids."""
        found = self.answers.parse(number, line)
        if found is not None:
            self.admit(number, line, found)
        return found

    def admit(self, number: int, line: bytes, found: AnswerStruct) -> None:
        """Give the record of a line the name of the run and the gold's spelling of ids."""
        self.runs.add(found.run)
        if not line.isascii() or BACKSLASH in line:
            self._respell(found, number)
        if self.job.name is not None:
            found.run = self.job.name

    def question_again(self, number: int, line: bytes) -> QuestionStruct:
        """Return the question of a line that was read before, when its problems were reported."""
        with self._silenced():
            found = self.questions.parse(number, line)
        assert found is not None
        return found

    def answer_again(self, number: int, line: bytes) -> AnswerStruct | None:
        """Return the record of a line whose problems and whose run are reported elsewhere."""
        runs = {*self.runs}
        with self._silenced():
            found = self.answer(number, line)
        self.runs = runs
        return found

    @contextmanager
    def _silenced(self) -> Iterator[None]:
        former = self.problems, self.questions.problems, self.answers.problems
        self.problems = self.questions.problems = self.answers.problems = self._silent
        yield
        self.problems, self.questions.problems, self.answers.problems = former

    def _respell(self, answer: AnswerStruct, number: int) -> None:
        if changed := respell(answer, self.job.spelling):
            where = f"{self.answers.path}:{number}"
            self.problems.note(Problem(where, respelled_in_words(changed), record=answer.question_id))

    def score(self, question: QuestionStruct, answer: AnswerStruct | None, number: int = 0) -> bool:
        """Score one question; :meth:`take_rows` adds its values to the totals. Return whether it is to be scored."""
        job, totals = self.job, self.totals
        question = job.commits.access.gold_for(question)
        if question.principal is not None and question.principal not in job.commits.access.rules:
            what = no_rule(question.principal)
            self.problems.note(Problem(str(self.questions.path), what, record=question.id))
        case = Case(question, answer, job.commits, job.unordered)
        if not job.picks(question.id):
            self._look_for_wanted(case)
            return False
        if not (question.relevant or question.paths):
            note_missing_gold(question, self.questions.path, self.problems)
        answered = False
        if answer is None:
            totals.missing += 1
        else:
            answered = answer.error is None
            if not answered:
                totals.failed += 1
            else:
                if answer.retrieved:
                    case.read_ranking()
                if answer.traversal:
                    case.read_traversal()
                if (answer.retrieved and case.repeats) or (answer.traversal and case.irregular):
                    self._note(case, number)
            doubts = answer.doubts
            if (job.declined or question.answerable is False) and (doubt := case.decline_doubt) is not None:
                doubts = [*doubts, doubt]
            if doubts:
                totals.doubts.add(doubts)
                self.doubted.append((len(self.names), doubts))
            if (
                answer.latency_ms is not None
                or answer.prompt_tokens is not None
                or answer.output_tokens is not None
                or answer.model_calls is not None
                or answer.cost is not None
            ):
                totals.efficiency.add(figures_of(answer))
        invalid = job.invalid.get(question.id) if job.invalid else None
        if answered and invalid is None and answer is not None and answer.traversal and case.directionless:
            totals.directionless += case.directionless
        try:
            if invalid is not None:
                values: list[float | Unscored] = [Unscored(invalid)] * len(self.measures)
            elif answered:
                values = [measure.value(case) for measure in self.measures]
                if question.answerable is False and case.declined:
                    values = [of_rightly_declined(value) for value in values]
            else:
                totals.no_answer += 1
                values = [measure.score(case) for measure in self.measures]
        except Exception:
            blamed = blame(case, [self.measures[index] for index in self.custom])
            if blamed is None:
                raise
            raise blamed from None
        self.values.append(values)
        self.names.append(question.id)
        for observe in self.observers:
            observe(case, values, invalid)
        return True

    def _compare_strictly(self, case: Case, values: Sequence[float | Unscored], invalid: str | None) -> None:
        """Count edges without a relation or a commit, and note what each measure would be if these matched nothing."""
        self.strict = ()
        if invalid is not None or case.failure is not None:
            return
        edges, without = case.without_relation if self.typed else (0, 0)
        bare = sided(case).bare
        self.totals.count_relations(edges, without, unversioned=bare)
        if not (without or bare):
            return
        found = []
        for index, measure in self.comparing:
            value = values[index]
            strict = value if isinstance(value, Unscored) else measure.value(case.strict)
            if isinstance(value, float | int) and isinstance(strict, float | int) and value != strict:
                self.totals.add_strict(index, value, strict)
                found.append((str(measure), float(strict)))
        self.strict = tuple(found)

    def _count_granularity(self, case: Case, _: object, invalid: str | None) -> None:
        of_first = case.question.id in self.job.first
        if of_first and invalid is None and case.failure is None and case.gains and not case.hits:
            for how, name in otherwise_cut(case):
                if how != "unknown":
                    self.totals.count_cut(how, shortened(name))

    def _note_symbol_match(self, case: Case, *_: object) -> None:
        if case.question.symbol_match is not None:
            note_symbol_match(case.question, self.questions.path, self.problems)

    def _look_for_wanted(self, case: Case, *_: object) -> None:
        question, wanted = case.question, self.wanted
        if not wanted:
            return
        found = wanted.intersection(question.relevant)
        for evidence in question.evidence_sets:
            found |= wanted.intersection(evidence)
        for path in (*question.paths, *question.withheld):
            found |= wanted.intersection([step.source for step in path.steps])
            found |= wanted.intersection([step.target for step in path.steps])
        wanted -= found
        self.gold.ids |= found
        if question.expected_files:
            self.gold.expects_files = True

    def _count_versions(self, case: Case, *_: object) -> None:
        if case.failure is None and case.chunks:
            self.totals.count_without_commit(*case.without_commit)

    def _hash_gold(self, case: Case, *_: object) -> None:
        self.gold_number = gold_number(case.question)
        self.totals.gold.add(case.question.id, self.gold_number)

    def _describe(self, case: Case, values: Sequence[float | Unscored], invalid: str | None) -> None:
        assert self.job.describe is not None
        self.described.append((case.question.id, self.job.describe(case, _plain(values), invalid)))

    def _keep_row(self, case: Case, _: Sequence[float | Unscored], invalid: str | None) -> None:
        question = case.question
        labels = (question.category, question.difficulty, question.group, question.split)
        decision = right_answer(case) if self.job.decides else None
        judged = outcome(case, invalid, decision) if self.job.outcomes else None
        details = None
        if self.detailed and invalid is None and case.failure is None:
            details = {name: found for name, one in self.detailed if (found := one.details(case))}
        latency = None if case.answer is None else case.answer.latency_ms
        gold_hash = as_hash(self.gold_number)
        missed = missed_without_direction(case, invalid) if self.job.undirected else None
        paths = invalid is None and (self.job.outcomes or self.job.undirected)
        lost = lost_at_start(aligned_with_gold(case) if self.job.undirected else case) if paths else ()
        about = (labels, judged, gold_hash, case.failure, question.k, self.strict, latency, decision, details, missed)
        self.about.append((*about, lost))

    def take_rows(self) -> list[Row]:
        """Add the values since the last call to the totals, and return the rows if the job keeps them."""
        totals = self.totals
        totals.questions += len(self.names)
        for index in self.custom:
            checked_values(self.measures[index], self.names, self.values, index)
        for index, column in enumerate(zip(*self.values, strict=True)):
            if Unscored not in map(type, column):
                totals.add_values(index, column)
            else:
                totals.add_values(index, [value for value in column if type(value) is not Unscored])
                totals.add_unscored(index, column)
        rows = [
            Row(name, _plain(values), *about)
            for name, values, about in zip(self.names, self.values, self.about, strict=False)
        ]
        self.values, self.names, self.about, self.doubted = [], [], [], []
        return rows

    def _note(self, case: Case, number: int) -> None:
        """Report the oddities of a record that can still be scored."""
        where = f"{self.answers.path}:{number}"
        if case.repeats and len(sided(case).versions) < len(case.chunks):
            what = "the ranking holds an id more than once; each counts at its first rank"
            self.problems.note(Problem(where, what, record=case.question.id))
        for path, what in case.misplaced:
            record = f"{case.question.id}, path {path}"
            self.problems.note(Problem(where, f"{what} in a retrieved path", record=record))


def _plain(values: Sequence[float | Unscored]) -> tuple[float | str, ...]:
    return tuple([text_of(value) if isinstance(value, Unscored) else value for value in values])
