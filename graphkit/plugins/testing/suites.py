"""A suite: the questions of a dataset with the answers to judge, the thresholds, and the record of what was decided."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from graphkit import __version__
from graphkit.analysis.evaluation_plan import EvaluationPlan
from graphkit.analysis.layers import Scorecard, score_layers
from graphkit.errors import one_line
from graphkit.files.dataset import Dataset
from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import SCORES, graded_files
from graphkit.files.problems import Problems
from graphkit.graph.digests import content_digest, dataset_digest
from graphkit.measures.registry import require_computed
from graphkit.plugins.judging.verdict_files import VERDICTS
from graphkit.plugins.testing.node_names import safe
from graphkit.plugins.testing.question_verdicts import question_verdicts
from graphkit.plugins.testing.recorded_answers import Again, SystemUnderTest
from graphkit.plugins.testing.recorded_grades import AskedJudge, scores_beside
from graphkit.plugins.testing.thresholds import GivenThresholds, Threshold
from graphkit.plugins.testing.verdict_record import FAILED, PASSED, SKIPPED, RecordedVerdicts
from graphkit.records.option_values import FigureName, PercentileName, measures_of
from graphkit.records.words import counted
from graphkit.scoring.results import Evaluation

#: The form of the record; another one is made anew.
FORMAT = 1


def _from_root(root: Path, path: Path) -> str:
    """Return a path from pytest's root folder on, or as a whole if it lies elsewhere."""
    whole, start = path.resolve(), root.resolve()
    return (whole.relative_to(start) if whole.is_relative_to(start) else whole).as_posix()


@dataclass(frozen=True)
class GivenRun:
    """A run that is on the disk already."""

    file: Path

    def key(self, root: Path) -> list[str]:
        """Return the text that distinguishes it from other runs."""
        return [_from_root(root, self.file)]

    def run_file(self, folder: Path) -> Path:
        """Return its file."""
        return self.file

    def answer(
        self,
        dataset: Dataset,
        wanted: Collection[str] | None,
        folder: Path,
        again: Again,
        notify: Callable[[str], None],
    ) -> int:
        """Ask nothing."""
        return 0


@dataclass
class Suite:
    """The tests of a dataset and a run.

    Attributes
    ----------
    root
        pytest's root folder: a record is found again wherever it lies.
    records
        The folder with the records of all suites.
    judge
        The judge of a system's answers; None for none.
    notify
        Called with each note before something that takes a while.
    verdicts
        What was decided; None before :meth:`decide`.
    note
        A sentence on the answers: how many were asked now, and how many were recorded before.
    """

    dataset: Dataset
    root: Path
    answers: SystemUnderTest | GivenRun
    given: GivenThresholds
    records: Path
    judge: AskedJudge | None = None
    notify: Callable[[str], None] = field(default=lambda _: None, repr=False)
    verdicts: RecordedVerdicts | None = None
    note: str = ""
    _decided: tuple[Evaluation, Scorecard] | None = field(default=None, repr=False)

    @cached_property
    def plan(self) -> EvaluationPlan:
        """The plan of the evaluation, without scores by a judge."""
        return self.given.plan()

    @property
    def _needs_rows(self) -> bool:
        """Whether a gate is on a percentile or on a figure of the whole run, which means don't tell."""
        return any(isinstance(one, PercentileName | FigureName) for one in self.plan.gated.values())

    @cached_property
    def thresholds(self) -> list[Threshold]:
        """The thresholds, each a test.

        Raises
        ------
        InputError
            One is of a measure that a judge gives, and none does.
        """
        gated = {one for name in self.plan.gated.values() for one in measures_of(name)}
        judged = [one for one in self.plan.measures if str(one) in gated and not one.computed]
        if judged and self.judge is None:
            given = {score.measure for score in scores_beside(self.answers.run_file(self.folder))[0]}
            require_computed([one for one in judged if str(one) not in given])
        return self.given.tests(self.plan)

    @cached_property
    def questions(self) -> list[tuple[int, str]]:
        """The line and the id of each question.

        Raises
        ------
        InputError
            A question can't be used.
        """
        problems = Problems()
        found = [(line, question.id) for line, question in self.dataset.questions(problems)]
        problems.raise_if_refused(len(found))
        return found

    @cached_property
    def folder(self) -> Path:
        """The folder of its record, whose name tells the dataset and the run, and distinguishes all others."""
        key = json.dumps([FORMAT, _from_root(self.root, self.dataset.folder), *self.answers.key(self.root)])
        name = self.answers.run_file(Path()).name.partition(".jsonl")[0]
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        return self.records / f"{safe(self.dataset.name)[:40]}-{safe(name)[:40]}-{digest}".replace("/", "_")

    def decide(self, wanted: Collection[str] | None, again: Again) -> None:
        """Decide all tests by the record, after asking and scoring what it lacks.

        Parameters
        ----------
        wanted
            The ids of the questions whose tests run; None if the thresholds need all.

        Raises
        ------
        InputError
            A file or a record can't be used.
        """
        with locked(self.folder / "lock"):
            self._decide(wanted, again)
        assert self.verdicts is not None
        result = self.verdicts.summary.evaluation(self.given.failed_as)
        self._decided = result, score_layers(result, self.plan.config)

    def _decide(self, wanted: Collection[str] | None, again: Again) -> None:
        names = json.dumps([[*map(str, self.plan.measures)], self.judge.key if self.judge is not None else None])
        file = self.folder / f"verdicts-{blake2b(names.encode(), digest_size=4).hexdigest()}.json"
        data = dataset_digest(self.dataset, version="")
        run = self.answers.run_file(self.folder)
        if run.is_file() and not again.every and not again.failed:
            self.verdicts = RecordedVerdicts.read(file, self._key(data, run))
            if self.verdicts is not None and (isinstance(self.answers, GivenRun) or not self.verdicts.summary.missing):
                self.note = f"{counted(self.verdicts.summary.questions, 'question')}, all from the record"
                return
        asked = self.answers.answer(self.dataset, wanted, self.folder, again, self.notify)
        if self.judge is not None:
            self.judge.grade(run, self.dataset, f"{data} {content_digest(run)}", self.notify)
        key = self._key(data, run)
        self.verdicts = RecordedVerdicts.read(file, key)
        if self.verdicts is None:
            plan = self.given.plan(*scores_beside(run))
            more = {"intervals": self.given.sure, "rows": self._needs_rows}
            self.verdicts = question_verdicts(run, self.dataset, plan, key, **more)
            self.verdicts.write(file)
        self.note = f"{counted(self.verdicts.summary.questions, 'question')}, {asked} asked now"

    def _key(self, data: str, run: Path) -> str:
        """Return the digest of what verdicts follow from, the digest of the dataset's files among it."""
        beside = (path for kind in (VERDICTS, SCORES) for path in graded_files(run, kind))
        graded = [[path.name, content_digest(path)] for path in beside]
        parts = [__version__, data, content_digest(run), graded, [*map(str, self.plan.measures)], str(run)]
        parts += [["intervals", self.given.failed_as]] if self.given.sure else []
        parts += ["rows"] if self._needs_rows else []
        return blake2b(json.dumps(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def verdict(self, question: str) -> tuple[str, str]:
        """Return the outcome of a question's test, and its message."""
        assert self.verdicts is not None
        return self.verdicts.questions[question]

    def held(self, threshold: Threshold) -> tuple[str, str]:
        """Return the outcome of a threshold's test, and its message, which ends with the first question that failed."""
        assert self._decided is not None
        outcomes = threshold.check(*self._decided)
        if not outcomes:
            return SKIPPED, "the measure was scored on no question"
        if broken := [one_line(str(one)) for one in outcomes if not one.passed]:
            return FAILED, "\n".join([*broken, *self._first_failed()])
        return PASSED, ""

    def _first_failed(self) -> list[str]:
        assert self.verdicts is not None
        failed = [text for outcome, text in self.verdicts.questions.values() if outcome == FAILED]
        if not failed:
            return []
        return [f"{counted(len(failed), 'question')} failed; the first:", failed[0]]
