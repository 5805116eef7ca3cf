"""Reads the scores that a judge gave a run from the files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.errors import InputError, did_you_mean
from graphkit.files.dataset import Dataset
from graphkit.files.grades_beside import SCORES, graded_files, is_by
from graphkit.files.problems import Problems
from graphkit.files.run_files import read_run
from graphkit.files.score_files import read_scores
from graphkit.plugins.judging.judge_versions import JudgeVersion
from graphkit.records.scores import PERSON, Score
from graphkit.records.structs import QuestionStruct

#: The default measure, if the judge gave it.
FIRST = "RubricGrade"


@dataclass(frozen=True)
class Subject:
    """The scores that one judge gave one run."""

    run: str
    judge: str
    scores: tuple[Score, ...] = field(repr=False)  # by all measures
    ignored: int = 0  # the number of scores of other runs in the files

    def measure(self, name: str | None) -> str:
        """Return the named measure, else the rubric's grade, else the only one.

        Raise an InputError if the judge didn't give it, or gave several.
        """
        given = list(dict.fromkeys(score.measure for score in self.scores))
        if name is None and FIRST in given:
            return FIRST
        if name is None and len(given) == 1:
            return given[0]
        known = {one.lower(): one for one in given}
        if name is not None and name.lower() in known:
            return known[name.lower()]
        what = f"{self.judge} gave no score by {name}" if name else f"{self.judge} gave scores by several measures"
        hint = did_you_mean(name, given) if name else ""
        raise InputError(what, where=self.run, remedy=f"{hint}Name one by --measure: {', '.join(given)}.")

    def by(self, measure: str) -> list[Score]:
        """Return the scores by one measure; raise an InputError if several versions of the judge gave them."""
        scores = [score for score in self.scores if score.measure == measure]
        versions = list(dict.fromkeys(score.version for score in scores if score.number is not None))
        if len(versions) > 1:
            what = f"{self.judge} gave {measure} in several versions: {', '.join(map(str, versions))}"
            raise InputError(what, where=self.run, remedy="Grade the whole run again with one of them.")
        return scores


def subject(
    run_file: Path, run: str, judge: str | None, files: Iterable[Path], problems: Problems, model: str | None = None
) -> Subject:
    """Return the scores of the named judge, else of the only one.

    Raise an InputError if there are no files or no scores of this run, or several judges or models to choose from.

    ``files`` hold scores; by default they are those beside the run. ``model`` is needed if several models of the judge
    gave the same measure.
    """
    read = list(files) or [path for path in graded_files(run_file, SCORES) if not is_by(PERSON, path)]
    if not read:
        remedy = "Grade it first (`graphkit grade`), or name the scores with --scores."
        raise InputError("no judge has graded this run", where=str(run_file), remedy=remedy)
    # Each file separately: two judges may have given the same measure.
    every = [score for path in read for score in read_scores([path], problems)]
    own = [score for score in every if score.run == run and score.judged]
    judges = list(dict.fromkeys(str(score.grader) for score in own))
    if judge is None and len(judges) == 1:
        judge = judges[0]
    if judge not in judges:
        what = f"no score of this run is given by {judge}" if judge else "several judges have graded this run"
        if not judges:
            what = f"no judge's score in {', '.join(map(str, read))} is of the run {run}"
        hint = did_you_mean(judge or "", judges)
        raise InputError(
            what,
            where=str(run_file),
            remedy=f"{hint}Name one by --judge: {', '.join(judges)}." if judges else "Check --scores.",
        )
    chosen = [score for score in own if score.grader == judge]
    if _given_twice(chosen) is not None:
        chosen = _of_model(run_file, judge, chosen, model)
    return Subject(run, judge, tuple(chosen), sum(score.run != run for score in every))


def _given_twice(scores: Iterable[Score]) -> Score | None:
    """Return the first score that repeats an answer and a measure."""
    seen: set[tuple[str, str]] = set()
    for score in scores:
        if (score.question, score.measure) in seen:
            return score
        seen.add((score.question, score.measure))
    return None


def _of_model(run_file: Path, judge: str, scores: Sequence[Score], model: str | None) -> list[Score]:
    """Return the scores of one model of a judge.

    Raise an InputError if the model isn't named, gave no score, or scored an answer twice by one measure.
    """
    by_model: dict[str | None, list[Score]] = {}
    for score in scores:
        version = JudgeVersion.parse(score.version)
        by_model.setdefault(None if version is None else version.judge, []).append(score)
    models = [name for name in by_model if name is not None]
    if len(models) > 1 and model not in models:
        what = f"{judge} gave no scores by the model {model}" if model else f"several models of {judge} graded this run"
        hint = did_you_mean(model or "", models)
        raise InputError(what, where=str(run_file), remedy=f"{hint}Name one by --model: {', '.join(models)}.")
    chosen = by_model[model] if model in by_model else list(scores)
    if (twice := _given_twice(chosen)) is not None:
        what = f"{judge} gave {twice.measure} twice"
        raise InputError(what, where=f"{run_file}: record {twice.question}", remedy="Name one file by --scores.")
    return chosen


def read_answers(run_file: Path, problems: Problems, dataset: Path | None = None) -> tuple[str, dict[str, str | None]]:
    """Return the name of a run and its answers by question, None for a record with an error.

    Raise an InputError if a record can't be used, or the file doesn't hold just one run.
    """
    gold = None if dataset is None else Dataset(dataset).questions_file
    run, answers = read_run(run_file, problems, gold=gold)
    return run, {name: None if one.error is not None else one.answer for name, one in answers.items()}


def read_questions(run_file: Path, dataset: Path | None, problems: Problems) -> Mapping[str, QuestionStruct]:
    """Return the questions of a run's dataset by id."""
    source = Dataset.of_run(run_file, dataset)
    return {question.id: question for _, question in source.questions(problems)}
