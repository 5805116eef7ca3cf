"""Verdicts in files beside their run: each model of a judge has its own files, and verdicts of other prompts stay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphkit.files.grades_beside import SCORES, file_beside, graded_files, grades_folder, of_scores
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores, write_scores
from graphkit.measures.integration import NO_ANSWER
from graphkit.plugins.judging.grading.verdict_job import Graded, RunToGrade
from graphkit.plugins.judging.judge_versions import JudgeVersion
from graphkit.plugins.judging.judges.catalogue import GRADERS
from graphkit.plugins.judging.judges.contract import Grader
from graphkit.plugins.judging.verdict_files import VERDICTS, read_verdicts, write_verdicts
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.scores import Score, answer_hash
from graphkit.records.unanswered import is_failure
from graphkit.records.words import counted


def keep_beside(
    run_file: Path,
    run: RunToGrade,
    graded: Graded,
    graders: Sequence[Grader],
    notify: Callable[[str], None],
    only: Collection[str] | None = None,
) -> Graded:
    """Keep scores and verdicts in files beside a run, and return everything that the files now hold.

    Earlier verdicts of the same judge by other graders stay, unless their answers changed, and so do those on other
    questions if ``only`` some were judged. A former verdict of the same version on the same answer and gold also stays
    where this grading got none. Each model of a judge has its own files.

    Raises
    ------
    InputError
        A file can't be written, or an existing one can't be read.
    """
    score_file, verdict_file = files_of(run_file, graded)
    check_output(verdict_file, "verdicts", [run_file])
    check_output(score_file, "scores", [run_file])
    asked = {one.name for one in graders}, {name for one in graders for name in one.measures}
    beside = Beside.read(score_file, verdict_file)
    graded, failed = beside.instead_of_failures(graded, graders)
    if failed:
        why = f"{failed[0].question} by {failed[0].grader}: {failed[0].failure}: {failed[0].reason}"
        notify(f"warning: {counted(len(failed), 'verdict')} failed ({why}); the former ones on these answers are kept")
    former = beside.without(*asked, only)
    changed = former.outdated(run)
    if changed and former.scores:
        notify(
            f"note: {counted(len(changed), 'answer')} changed since {graded.judge} judged by other graders: what "
            f"they gave is dropped ({', '.join(dict.fromkeys(one.measure for one in former.scores))})"
        )
    elif not changed:
        graded = former.added_to(graded)
    grades_folder(run_file).mkdir(exist_ok=True)
    # Verdicts are written last: they show which answers the scores belong to, even if the process is killed in between.
    write_scores(score_file, graded.scores)
    if graded.verdicts:
        write_verdicts(verdict_file, graded.verdicts)
    else:
        verdict_file.unlink(missing_ok=True)  # no file is left without a record
    return graded


def with_other_models(run_file: Path, run: RunToGrade, graded: Graded) -> Graded:
    """Return the grades of a judge together with the verdicts and other scores of its other models, from the files.

    The graph keeps the verdicts of a judge as a whole, each model's own, and one score of a judge by a measure.
    """
    own = files_of(run_file, graded)[0]
    for score_file in graded_files(run_file, SCORES):
        verdict_file = of_scores(score_file, VERDICTS)
        if score_file == own or not verdict_file.is_file():
            continue
        said = read_verdicts([verdict_file], Problems("skip"))
        if {one.judge for one in said} == {graded.judge}:
            # Another name of a model may be asked, and the same one replies.
            own_verdicts = {(one.grader, one.model) for one in graded.verdicts}
            kept = tuple(one for one in said if (one.grader, one.model) not in own_verdicts)
            other = Beside(tuple(read_scores([score_file], Problems("skip"))), kept, tuple(said))
            if not other.outdated(run):
                graded = other.without((), {one.measure for one in graded.scores}).added_to(graded)
    return graded


def files_of(run_file: Path, graded: Graded) -> tuple[Path, Path]:
    """Return the files of a judge's scores and verdicts beside a run."""
    scores, verdicts = (
        file_beside(run_file, graded.judge, f"{kind}.jsonl", graded.model) for kind in (SCORES, VERDICTS)
    )
    if graded.model is not None and not scores.exists():
        _rename_former(run_file, graded, scores, verdicts)
    return scores, verdicts


def _rename_former(run_file: Path, graded: Graded, scores: Path, verdicts: Path) -> None:
    """Rename the files of a judge that are named without its model, if all their records are of this model."""
    former_scores, former_verdicts = (
        file_beside(run_file, graded.judge, f"{kind}.jsonl") for kind in (SCORES, VERDICTS)
    )
    if not former_scores.is_file():
        return
    versions = [JudgeVersion.parse(one.version) for one in read_scores([former_scores], Problems("skip"))]
    if all(version is not None and version.judge == graded.model for version in versions):
        former_scores.rename(scores)
        if former_verdicts.is_file():
            former_verdicts.rename(verdicts)


@dataclass(frozen=True)
class Beside:
    """The former verdicts of a judge on a run, as the files beside it hold them.

    Attributes
    ----------
    every
        All verdicts in the file. They show which answers the scores belong to, even those that key terms gave without a
        verdict.
    """

    scores: tuple[Score, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    every: tuple[Verdict, ...] = ()

    @classmethod
    def read(cls, score_file: Path, verdict_file: Path) -> Beside:
        """Read the files; without scores, return no verdicts either."""
        if not score_file.exists():
            return cls()
        said = tuple(read_verdicts([verdict_file], Problems())) if verdict_file.exists() else ()
        return cls(tuple(read_scores([score_file], Problems())), said, said)

    def without(
        self, graders: Collection[str], measures: Collection[str], only: Collection[str] | None = None
    ) -> Beside:
        """Return the grades by other graders and measures, and on other questions if ``only`` some were judged."""
        return replace(
            self,
            scores=tuple(one for one in self.scores if one.measure not in measures or _is_other(one, only)),
            verdicts=tuple(one for one in self.verdicts if one.grader not in graders or _is_other(one, only)),
        )

    def instead_of_failures(self, graded: Graded, graders: Sequence[Grader]) -> tuple[Graded, list[Verdict]]:
        """Return a grading with former verdicts and their scores in place of failed ones, and these."""
        measures = {one.name: one.measures for one in graders}
        scores = {_version(one): one for one in self.scores}
        usable = {_about(one): one for one in self.verdicts if one.failure is None}
        now = {(one.question, one.measure): _version(one) for one in graded.scores}
        back: dict[tuple[str, str], Score] = {}
        lost = []
        for failed in graded.failed:
            # The tests of code may decide one of the measures.
            every = [at for name in measures[failed.grader] if (at := (failed.question, name)) in now]
            if _about(failed) in usable and all(now[at] in scores for at in every):
                lost.append(failed)
                back |= {at: scores[now[at]] for at in every}
        kept = {_about(one): usable[_about(one)].model_copy(update={"cached": True}) for one in lost}
        verdicts = tuple(kept.get(_about(one), one) for one in graded.verdicts)
        return replace(
            graded,
            scores=tuple(back.get((one.question, one.measure), one) for one in graded.scores),
            verdicts=verdicts,
        ), lost

    def outdated(self, run: RunToGrade) -> set[str]:
        """Return the questions whose answers changed since."""
        changed = {one.question for one in self.every if not _is_about(one, run)}
        return changed | {one.question for one in self.scores if _is_outdated(one, run)}

    def added_to(self, graded: Graded) -> Graded:
        """Return a grading with the former scores and verdicts."""
        return replace(graded, scores=(*graded.scores, *self.scores), verdicts=(*graded.verdicts, *self.verdicts))


def _version(score: Score) -> tuple[object, ...]:
    """Return what a score is about, and by which version of the judge and of gold."""
    return score.question, score.measure, score.version, score.gold_hash


def _about(verdict: Verdict) -> tuple[object, ...]:
    """Return what a verdict is about, and by which prompt."""
    return verdict.question, verdict.grader, verdict.prompt_hash, verdict.answer_hash


def _is_other(grade: Score | Verdict, only: Collection[str] | None) -> bool:
    return only is not None and grade.question not in only


def _is_about(verdict: Verdict, run: RunToGrade) -> bool:
    """Return whether a verdict is about the current answer of the run."""
    answer = run.answers.get(verdict.question)
    return verdict.run == run.run and answer is not None and verdict.answer_hash == answer_hash(answer.answer or "")


def _is_outdated(score: Score, run: RunToGrade) -> bool:
    """Return whether a score assumes an answer and the run has none, or the other way round."""
    if score.run != run.run or score.question not in run.questions:
        return True
    lacking = run.lacking(score.question)
    if lacking is not None:
        return score.reason not in (lacking, *(run.unscored_by(grader, score.question) for grader in GRADERS.values()))
    return score.reason == NO_ANSWER or is_failure(score.reason)
