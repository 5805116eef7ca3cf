"""The grades of recorded answers: a judge is asked once for each answer, and its scores lie beside the answers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.dataset import Dataset
from graphkit.files.grades_beside import SCORES, graded_files
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores
from graphkit.plugins.judging.grading.grade_run import GradingOptions, grade
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions
from graphkit.plugins.judging.judges.contract import Judge
from graphkit.plugins.judging.judges.known_judges import backend_of
from graphkit.records.scores import Score


@dataclass(frozen=True)
class AskedJudge:
    """A judge of recorded answers, by its name, its options or itself, and its graders."""

    judge: JudgeOptions | Judge
    options: GradingOptions

    @property
    def key(self) -> list[str]:
        """The texts that distinguish its verdicts from those of other judges."""
        graders = [json.dumps([*self.options.graders, *map(str, self.options.rubrics)])]
        if isinstance(self.judge, JudgeOptions):
            return [self.judge.judge, str(self.judge.model), str(self.judge.effort), *graders]
        return [self.judge.name, str(self.judge.version), *graders]

    def grade(self, run_file: Path, dataset: Dataset, content: str, notify: Callable[[str], None]) -> None:
        """Have the judge grade the answers, unless it graded these by this gold before; ``content`` is their digest.

        Raises
        ------
        InputError
            The judge can't be asked, or a file can't be written.
        """
        note = run_file.with_name("graded.json")
        key = blake2b(json.dumps([content, *self.key]).encode(), digest_size=16).hexdigest()
        if note.is_file() and note.read_text(encoding="utf-8") == key:
            return
        judge = self.judge
        if isinstance(judge, JudgeOptions) and judge.cache is None and backend_of(judge.judge) is not None:
            judge = dataclasses.replace(judge, cache=run_file.with_name("replies.sqlite"))
        graded = grade(run_file, dataset, self.options, judge=judge, keep=True, notify=notify)
        if graded.failed:
            # Nothing is noted: the next test run asks for these verdicts again, and only for these.
            note.unlink(missing_ok=True)
            return
        with written(note) as temporary:
            temporary.write_text(key, encoding="utf-8")


def scores_beside(run_file: Path) -> tuple[list[Score], list[Path]]:
    """Return the scores beside a run, and their files. A measure that two files give is left out: who is right?

    Raises
    ------
    InputError
        A file can't be used.
    """
    files = graded_files(run_file, SCORES)
    by_file = {file: read_scores([file], Problems()) for file in files}
    owners: dict[str, set[Path]] = {}
    for file, scores in by_file.items():
        for score in scores:
            owners.setdefault(score.measure, set()).add(file)
    return [one for scores in by_file.values() for one in scores if len(owners[one.measure]) == 1], files


def asked_judge(given: object, graders: Iterable[str] | None) -> AskedJudge:
    """Return the judge of a mark: its name, :class:`graphkit.JudgeOptions`, or an object that judges.

    Raises
    ------
    InputError
        No judge or grader has this name.
    """
    options = GradingOptions() if graders is None else GradingOptions(graders=tuple(graders))
    _ = options.chosen
    if isinstance(given, str):
        given = JudgeOptions(given)
    if isinstance(given, JudgeOptions):
        if ":" not in given.judge:
            backend_of(given.judge)  # refuses an unknown name
        return AskedJudge(given, options)
    if not callable(getattr(given, "judge", None)):
        what = f"a value of type {type(given).__name__} is no judge"
        raise InputError(what, remedy='Give its name, such as "lexical", graphkit.JudgeOptions, or an object.')
    return AskedJudge(given, options)  # type: ignore[arg-type]
