"""Juries: several judges grade a run, and their scores become those of one jury.

Each member's scores and verdicts are kept as if it had graded alone, and so are the jury's scores by other graders and
on other questions, as long as its members still give them. The jury's value of an answer is the majority's if
a measure is a choice (yes or no, or a grade in a word), else the mean. At least half of the members must have a value,
and a majority is more than half of those that have: a tie isn't scored.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphkit.analysis.estimates import Estimate
from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset
from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import SCORES, file_beside, grades_folder, grading_lock
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.files.score_files import read_scores, write_scores
from graphkit.plugins.judging.grading.grade_run import WAITING, GradingOptions, grade, refuse_unread
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions, unfinished
from graphkit.plugins.judging.grading.unfinished import until_kept
from graphkit.plugins.judging.grading.verdict_job import Graded
from graphkit.plugins.judging.grading.verdict_store import files_of
from graphkit.plugins.judging.judges.contract import Grader
from graphkit.plugins.judging.judges.known_judges import backend_of
from graphkit.plugins.judging.trust.agreement import alpha
from graphkit.records.scores import JURY, Score
from graphkit.records.words import counted
from graphkit.scoring.measure_summaries import Summary

#: The built-in measures of yes and no; those of grades in words are known by their scores.
YES_OR_NO = frozenset(("Correct", "Faithful", "Relevant", "Complete", "TrajectoryAccuracy", "CriteriaMet", "Declined"))


@dataclass(frozen=True)
class JuryGraded:
    """The grades of a jury.

    Attributes
    ----------
    members
        What each judge gave, by its name: the judge, or ``PROVIDER:MODEL``.
    scores
        The jury's, one for each question and measure.
    agreement
        Krippendorff's alpha of the members by measure: of categories for choices, of differences for numbers.
    """

    members: Mapping[str, Graded]
    scores: tuple[Score, ...] = field(repr=False)
    agreement: Mapping[str, Estimate]

    @property
    def name(self) -> str:
        """The grader of the jury's scores."""
        return jury_name(self.members)

    def summaries(self) -> dict[str, Summary]:
        """Return the summary of each measure."""
        return replace(next(iter(self.members.values())), scores=self.scores).summaries()

    def as_json(self) -> dict[str, Any]:
        """Return the jury's summaries, each with the agreement, and those of the members."""
        own = replace(next(iter(self.members.values())), judge=self.name, scores=self.scores, verdicts=())
        found = own.as_json()
        del found["verdicts"], found["failures"]
        agreement = {measure: one.as_json() for measure, one in self.agreement.items()}
        members = {name: one.as_json() | {"warning": one.warning} for name, one in self.members.items()}
        return found | {"agreement": agreement, "members": members}


def member_name(judge: JudgeOptions) -> str:
    """Return the name of a member: its judge, with the model of one that asks models."""
    return judge.judge if backend_of(judge.judge) is None else f"{judge.judge}:{judge.model_name}"


def jury_name(members: Iterable[str]) -> str:
    """Return the name of the jury of some members, in any order.

    >>> jury_name(["ollama:m", "lexical"])
    'jury(lexical,ollama:m)'
    """
    return f"{JURY}({','.join(sorted(members))})"


def grade_by_jury(
    run: str | Path,
    dataset: str | Path | Dataset | None,
    judges: Sequence[JudgeOptions],
    options: GradingOptions,
    *,
    store: Store | None = None,
    problems: Problems | None = None,
    notify: Callable[[str], None] = lambda _: None,
    **changes: Any,
) -> JuryGraded:
    """Have several judges grade a run, and keep the scores of each and those of the jury.

    The parameters are those of :func:`graphkit.plugins.judging.grading.grade_run.grade`; all members share the limit of
    the cost.

    Raises
    ------
    InputError
        There is one judge, or one twice; batches are asked for; or a judge can't grade.
    """
    names = [member_name(one) for one in judges]
    if len(names) < 2 or len({*names}) < len(names):
        twice = next((name for name in names if names.count(name) > 1), None)
        what = "a jury has at least two judges" if twice is None else f"{twice} is named twice"
        raise InputError(what, remedy="Name each judge once, by --judge NAME or --model PROVIDER:NAME.")
    options = replace(options, **changes, forgets=False)
    if options.batch:
        raise InputError("a jury is asked at once", remedy="Leave --batch out, or grade with each judge alone first.")
    for judge in judges:
        refuse_unread(options, judge)
    run_file, options = located(run), replace(options, budget=_shared_budget(judges))
    problems, members = problems if problems is not None else Problems(), dict[str, Graded]()
    with ExitStack() as stack:
        for judge in judges if options.keep else ():
            stack.enter_context(until_kept(unfinished(judge, run_file), None))
        for name, judge in zip(names, judges, strict=True):
            notify(f"note: {name} judges ({len(members) + 1} of {len(names)})")
            # What is wrong with the files was reported for the first judge.
            about = problems if not members else Problems(problems.on_error)
            members[name] = grade(run, dataset, options, judge=judge, store=store, problems=about, notify=notify)
        # A member's former grade stays where it failed now, and counts for the jury, too.
        given = {name: _as_kept(run_file, one) for name, one in members.items()} if options.keep else members
        found = replace(_combined(given, options.chosen), members=members)
        if options.keep:
            with locked(grading_lock(run_file), lambda: notify(WAITING)):
                _keep(run_file, found, notify)
    if store is not None:
        _into_graph(store, run_file, found)
    return found


def _shared_budget(judges: Sequence[JudgeOptions]) -> Any:
    limits = [one for one in judges if one.max_cost is not None]
    if not limits:
        return None
    from graphkit.plugins.judging.llm.budget import Budget
    from graphkit.plugins.judging.llm.prices import PriceTable

    prices = PriceTable.read(limits[0].prices)
    return Budget(limits[0].max_cost or 0.0, prices, [one.model_name for one in limits])


def file_of_jury(run_file: Path, members: Iterable[str]) -> Path:
    """Return the file of a jury's scores beside a run."""
    return file_beside(run_file, JURY, f"{SCORES}.jsonl", ",".join(sorted(members)))


def _keep(run_file: Path, found: JuryGraded, notify: Callable[[str], None]) -> None:
    """Write the jury's scores, with those by other graders and on other questions that its members still give."""
    path = file_of_jury(run_file, found.members)
    check_output(path, "scores", [run_file])
    former = read_scores([path], Problems()) if path.exists() else []
    now = {(one.question, one.measure) for one in found.scores}
    others = [one for one in former if (one.question, one.measure) not in now]
    kept = [one for one in others if one in _still_given(run_file, found)] if others else []
    if dropped := [one for one in others if one not in kept]:
        notify(
            f"note: {counted(len(dropped), 'score')} of {found.name} dropped, which its members don't give any more "
            f"({', '.join(dict.fromkeys(one.measure for one in dropped))}): grade by the jury again"
        )
    grades_folder(run_file).mkdir(exist_ok=True)
    write_scores(path, (*found.scores, *kept))


def _as_kept(run_file: Path, graded: Graded) -> Graded:
    """Return a member's grading with the scores that its file keeps of the same answers by the same measures."""
    now = {(one.question, one.measure) for one in graded.scores}
    kept = read_scores([files_of(run_file, graded)[0]], Problems("skip"))
    return replace(graded, scores=tuple(one for one in kept if (one.question, one.measure) in now))


def _still_given(run_file: Path, found: JuryGraded) -> list[Score]:
    """Return the jury's scores by all grades that its members keep, as a choice and as a mean."""
    by_answer: dict[tuple[str, str], dict[str, Score]] = {}
    for name, graded in found.members.items():
        for score in read_scores([files_of(run_file, graded)[0]], Problems("skip")):
            by_answer.setdefault((score.question, score.measure), {})[name] = score
    return [
        combined_score(given, found.name, choice, len(found.members))
        for given in by_answer.values()
        for choice in (True, False)
    ]


def _into_graph(store: Store, run_file: Path, found: JuryGraded) -> None:
    from graphkit.graph.runs import stored_part
    from graphkit.graph.score_nodes import load_scores

    part = stored_part(store, next(iter(found.members.values())).run, run_file)
    load_scores(store, [one for one in found.scores if part is None or one.question in part])


def choices_of(graders: Iterable[Grader]) -> set[str]:
    """Return the measures of some graders that are yes or no."""
    found = set[str]()
    for grader in graders:
        if grader.rubric is None:
            found |= YES_OR_NO.intersection(grader.measures)
            continue
        scored = [
            one.annotation for one in grader.verdict.model_fields.values() if one.annotation in (float, int, bool)
        ]
        found |= {name for name, kind in zip(grader.measures, scored, strict=True) if kind is bool}
    return found


def _combined(members: Mapping[str, Graded], graders: Sequence[Grader]) -> JuryGraded:
    asked = {measure for grader in graders for measure in grader.measures}
    by_answer: dict[tuple[str, str], dict[str, Score]] = {}
    for name, graded in members.items():
        for score in graded.scores:
            if score.measure in asked:
                by_answer.setdefault((score.question, score.measure), {})[name] = score
    choices = choices_of(graders)
    choices |= {measure for (_, measure), given in by_answer.items() if any(one.grade for one in given.values())}
    scores = tuple(
        combined_score(given, jury_name(members), measure in choices, len(members))
        for (_, measure), given in by_answer.items()
    )
    agreement = {}
    for measure in dict.fromkeys(measure for _, measure in by_answer):
        rows = [given for (_, of), given in by_answer.items() if of == measure]
        ratings = [[_rating(given.get(name), measure in choices) for name in members] for given in rows]
        agreement[measure] = alpha(ratings, "nominal" if measure in choices else "interval")
    return JuryGraded(members, scores, agreement)


def _rating(score: Score | None, choice: bool) -> str | float | None:
    """Return what a member says of an answer: a category, or a number; None if nothing."""
    if score is None or score.number is None:
        return None
    return (score.grade or f"{score.number:g}") if choice else score.number


def combined_score(given: Mapping[str, Score], jury: str, choice: bool, members: int) -> Score:
    """Return the jury's score of an answer by a measure from those of its members.

    Parameters
    ----------
    choice
        Whether the majority decides; else the mean counts.
    members
        How many judges the jury has, with those that have no score.
    """
    first, there = given[min(given)], {name: given[name] for name in sorted(given) if given[name].number is not None}
    versions = "\n".join(f"{name} {given[name].version}" for name in sorted(given))
    about = {
        **dict.fromkeys(("value", "reason", "grade", "label", "explanation", "confidence")),
        **dict.fromkeys(("cost", "prompt_tokens", "output_tokens")),
        "grader": jury,
        "version": f"jury of {members} {hashlib.sha256(versions.encode()).hexdigest()[:8]}",
    }
    reasons = list(dict.fromkeys(given[name].reason for name in sorted(given) if given[name].number is None))
    if 2 * len(there) < members or not there:
        reason = reasons[0] if len(reasons) == 1 and not there else f"{len(there)} of {members} judges gave a value"
        return first.model_copy(update=about | {"reason": reason})
    by_word: dict[str, list[str]] = {}
    for name, one in there.items():
        by_word.setdefault(str(_rating(one, choice)) if choice else f"{one.number or 0.0:.3g}", []).append(name)
    said = "; ".join(f"{word} ({', '.join(names)})" for word, names in by_word.items())
    absent = f"; {counted(members - len(there), 'judge')} without a value" if len(there) < members else ""
    about["explanation"] = said + absent
    if not choice:
        mean = math.fsum(one.number or 0.0 for one in there.values()) / len(there)
        return first.model_copy(update=about | {"value": mean})
    names = max(by_word.values(), key=len)
    if 2 * len(names) <= len(there):
        return first.model_copy(update=about | {"reason": f"the judges have no majority: {said}"})
    chosen = there[names[0]]
    [(label, votes)] = Counter(there[name].label for name in names).most_common(1)
    return first.model_copy(
        update=about
        | {"value": chosen.value, "grade": chosen.grade, "label": label if 2 * votes > len(names) else None}
    )
