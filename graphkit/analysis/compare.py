"""Two runs compared on the same questions: each measure with its interval and test, by group, and what moved most."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphkit.analysis.comparable import values_of
from graphkit.analysis.paired import (
    RESAMPLES,
    SEED,
    Accuracy,
    PairedResult,
    compare_pairs,
    differences_of,
    holm,
    interval,
)
from graphkit.analysis.scales import Scale, scale_of
from graphkit.database.store import Store
from graphkit.errors import InputError, MeasureError, did_you_mean
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Report
from graphkit.graph.digests import dataset_digest
from graphkit.graph.failures import failures
from graphkit.graph.knowledge import invalid_questions, require_run
from graphkit.graph.queries import cypher
from graphkit.measures.base import Measure
from graphkit.measures.registry import lower_is_better, parse_measure
from graphkit.records.bounds import equal, over, under
from graphkit.records.words import counted
from graphkit.scoring.results import NO_LABEL

if TYPE_CHECKING:
    from graphkit.records.scores import Score

By = Literal["category", "difficulty", "repo", "relation"]

#: A difference is called significant below this corrected p-value.
LEVEL = 0.05

Values = Mapping[str, float]

#: Returns the gold edges of a question that one run walked and another did not.
Edges = Callable[[str, str, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """The measures of both runs over the questions of one group; ``name`` is None for all questions."""

    name: str | None
    results: tuple[PairedResult, ...]


@dataclass(frozen=True, slots=True)
class Mover:
    """A question that moved, with the gold edges that only the second run walked, and those that only the first did."""

    question: str
    measure: str
    first: float
    second: float
    found: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def delta(self) -> float:
        """How far it moved, second minus first."""
        return self.second - self.first


@dataclass(frozen=True)
class RunComparison:
    """Two runs over the same questions; every difference is second minus first.

    Attributes
    ----------
    dataset
        None where grades were compared.
    questions
        How many questions there are: of the dataset, or with a grade of either run.
    left_out, unscored
        For each measure, how many questions only one of the runs was scored on, and how many neither was: they are not
        compared. A measure that has no question in common is in no group.
    warnings
        What else the comparison lacks, in sentences: records, or the newest form of the dataset.
    """

    first: str
    second: str
    dataset: str | None
    groups: tuple[Group, ...]
    movers: tuple[Mover, ...]
    questions: int
    left_out: Mapping[str, int]
    unscored: Mapping[str, int]
    warnings: tuple[str, ...] = ()

    @property
    def overall(self) -> tuple[PairedResult, ...]:
        """The measures over all questions."""
        return self.groups[0].results

    def regressions(self) -> list[PairedResult]:
        """Return the measures on which the second run is significantly worse, over all questions."""
        return [one for one in self.overall if one.p_holm < LEVEL and one.delta * _direction(one.measure) < 0]

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit compare --json`` prints."""
        return {
            "first": self.first,
            "second": self.second,
            "dataset": self.dataset,
            "groups": [
                {"name": group.name, "measures": [dataclasses.asdict(one) for one in group.results]}
                for group in self.groups
            ],
            "movers": [{**dataclasses.asdict(one), "delta": one.delta} for one in self.movers],
            "questions": self.questions,
            "left_out": dict(self.left_out),
            "unscored": dict(self.unscored),
            "warnings": list(self.warnings),
            "regressions": [one.measure for one in self.regressions()],
        }


def compare_runs(
    store: Store,
    first: str,
    second: str,
    *,
    measures: Sequence[str | Measure] = (),
    by: By | None = None,
    engine: Literal["cypher"] | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    movers: int = 5,
) -> RunComparison:
    """Compare two runs that the graph holds, on the questions that both were scored on.

    Parameters
    ----------
    measures
        Names of any scores that the graph holds of both runs, whoever gave them, and of any measure that is computed in
        the graph; by default graphkit's usual ones.
    by
        Also compare within each category, difficulty, gold repository or gold relation; a question may be in several.
    engine
        ``"cypher"`` computes every measure in the graph now; by default the scores are read that it holds.
    movers
        How many of the questions that moved most are shown, by the first measure.

    Raises
    ------
    InputError
        A run isn't known or compared with itself, the runs are of different datasets, or a measure can't be compared:
        it is scored by different versions of a grader, or neither held of both nor computed in the graph.
    """
    dataset = _common_dataset(store, first, second)
    before, after = values_of(store, dataset, (first, second), measures, engine)
    questions = {str(row["question"]) for row in store.read(cypher("read/answers"), {"dataset": dataset, "run": first})}
    members = _members(store, dataset, by) if by is not None else {}
    scales = {name: scale_of(name, [*before[name].values(), *after[name].values()]) for name in before}
    groups = _groups(before, after, scales, members, resamples, seed)
    if not groups[0].results:
        raise InputError("no question was scored in both runs", remedy=f"`graphkit failures {first}` tells why.")
    return RunComparison(
        first=first,
        second=second,
        dataset=dataset,
        groups=groups,
        movers=_movers(first, second, before, after, movers, partial(_edges, store)),
        questions=len(questions),
        left_out=_left_out(before, after),
        unscored=_unscored(before, after, dict.fromkeys(before, questions)),
        warnings=tuple(_warnings(store, dataset, (first, second))),
    )


def compare_grades(
    files: Iterable[str | Path],
    first: str,
    second: str,
    *,
    measures: Sequence[str] = (),
    by: By | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    movers: int = 5,
    report: Report | None = None,
) -> RunComparison:
    """Compare two runs by their grades in graded files, whoever graded them, on the questions graded in both.

    Raises
    ------
    InputError
        A file or grade can't be used, a run or measure isn't graded, or the two runs were graded by different versions.
    """
    from graphkit.analysis.summaries import grade_scales
    from graphkit.files.scores import read_scores

    _refuse_itself(first, second)
    if by in ("repo", "relation"):
        raise InputError(f"grades don't tell the {by} of a question", remedy="Compare by category or difficulty.")
    every = read_scores(files, report if report is not None else Report())
    for run in (first, second):
        _require(run, {grade.run for grade in every}, "no run that is graded is called")
    grades = [grade for grade in every if grade.run in (first, second)]
    names = list(dict.fromkeys(grade.measure for grade in grades))
    for name in measures:
        _require(name, names, "no grade is by a measure called")
        with contextlib.suppress(MeasureError):  # of the user's own it is imported, so that its direction is known
            parse_measure(name)
    chosen = list(dict.fromkeys(measures)) or names
    before, after = ({name: _graded(grades, run, name) for name in chosen} for run in (first, second))
    for name in chosen:
        versions = {grade.version for grade in grades if grade.measure == name}
        if len(versions) > 1:
            told = ", ".join(sorted("none" if one is None else str(one) for one in versions))
            raise InputError(
                f"the grades by {name} are of different versions: {told}", remedy="Grade both runs by the same version."
            )
    members: dict[str, set[str]] = {}
    for grade in grades if by is not None else ():
        members.setdefault(getattr(grade, str(by)) or NO_LABEL, set()).add(grade.question)
    asked = {name: {grade.question for grade in grades if grade.measure == name} for name in chosen}
    groups = _groups(before, after, grade_scales(every), dict(sorted(members.items())), resamples, seed)
    if not groups[0].results:
        raise InputError("no question was graded in both runs")
    return RunComparison(
        first=first,
        second=second,
        dataset=None,
        groups=groups,
        movers=_movers(first, second, before, after, movers),
        questions=len({grade.question for grade in grades}),
        left_out=_left_out(before, after),
        unscored=_unscored(before, after, asked),
    )


def _require(name: str, known: Iterable[str], what: str) -> None:
    names = sorted(known)
    if name not in names:
        raise InputError(f"{what} {name!r}", remedy=f"{did_you_mean(name, names)}There are: {', '.join(names)}.")


def _graded(grades: Iterable[Score], run: str, measure: str) -> dict[str, float]:
    found = {one.question: one.number for one in grades if one.run == run and one.measure == measure}
    return {question: value for question, value in found.items() if value is not None}


def _refuse_itself(first: str, second: str) -> None:
    if first == second:
        raise InputError(f"{first!r} is compared with itself: every difference would be 0", remedy="Name two runs.")


def _direction(measure: str) -> int:
    return -1 if lower_is_better(measure) else 1


def _common_dataset(store: Store, first: str, second: str) -> str:
    require_run(store, first)
    require_run(store, second)
    _refuse_itself(first, second)
    datasets = {str(row["id"]): str(row["dataset"]) for row in store.read(cypher("read/runs"))}
    if datasets[first] != datasets[second]:
        raise InputError(
            f"the runs answer different questions: {first} is of the dataset {datasets[first]!r}, "
            f"{second} of {datasets[second]!r}",
            remedy="Compare runs over the same dataset.",
        )
    return datasets[first]


def _warnings(store: Store, dataset: str, runs: Iterable[str]) -> Iterator[str]:
    """Yield what the comparison lacks: records of either run, questions without valid gold, changes of the dataset."""
    for run in runs:
        rows = store.read(cypher("read/answers"), {"dataset": dataset, "run": run})
        missing, failed = (sum(bool(row[kind]) for row in rows) for kind in ("missing", "failed"))
        whole = f" of {counted(len(rows), 'question')}"
        told = [f"has no record for {missing}{whole}"] if missing else []
        told += [f"failed on {failed}{'' if missing else whole}"] if failed else []
        if told:
            yield f"{run} {' and '.join(told)}: not compared"
    if stale := invalid_questions(store, dataset):
        yield f"the gold of {counted(len(stale), 'question')} is stale: not compared"
    for row in store.read(cypher("read/datasets")):
        with contextlib.suppress(InputError, OSError):  # the folder may be gone, or on another machine
            if row["name"] == dataset and row["digest"] != dataset_digest(Dataset(str(row["folder"]))):
                yield (
                    f"{row['folder']} has changed since it was loaded: both runs are scored by what the graph holds "
                    "(`graphkit load` brings it up to date)"
                )


def _left_out(before: Mapping[str, Values], after: Mapping[str, Values]) -> dict[str, int]:
    return {name: count for name in before if (count := len(before[name].keys() ^ after[name].keys()))}


def _unscored(
    before: Mapping[str, Values], after: Mapping[str, Values], asked: Mapping[str, set[str]]
) -> dict[str, int]:
    counts = {name: len(asked[name] - before[name].keys() - after[name].keys()) for name in before}
    return {name: count for name, count in counts.items() if count}


def _groups(
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    scales: Mapping[str, Scale | None],
    members: Mapping[str, set[str]],
    resamples: int,
    seed: int,
) -> tuple[Group, ...]:
    """Compare over all questions, and within each group that has something to compare."""
    groups = [Group(name, _results(before, after, scales, some, resamples, seed)) for name, some in members.items()]
    overall = Group(None, _results(before, after, scales, None, resamples, seed))
    return overall, *(group for group in groups if group.results)


def _results(
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    scales: Mapping[str, Scale | None],
    members: set[str] | None,
    resamples: int,
    seed: int,
) -> tuple[PairedResult, ...]:
    """Compare each measure over the questions that both runs were scored on; Holm's correction is over the measures."""
    results = []
    for name, values in before.items():
        both = sorted(values.keys() & after[name].keys() & (members if members is not None else values.keys()))
        if both:
            pairs = [values[question] for question in both], [after[name][question] for question in both]
            result = compare_pairs(name, *pairs, resamples=resamples, seed=seed)
            if (scale := scales[name]) is not None:
                result = dataclasses.replace(result, accuracy=_accuracy(*pairs, scale, result, resamples, seed))
            results.append(result)
    corrected = holm([result.p_value for result in results])
    return tuple(
        dataclasses.replace(result, p_holm=p_value) for result, p_value in zip(results, corrected, strict=True)
    )


def _members(store: Store, dataset: str, by: By) -> dict[str, set[str]]:
    """Return the questions of each group, in the order of the groups' names."""
    members: dict[str, set[str]] = {}
    for row in store.read(cypher("read/question_groups"), {"dataset": dataset}):
        value: Any = row[{"repo": "repositories", "relation": "relations"}.get(by, by)]
        for name in (value or [None]) if isinstance(value, list) else [value]:
            members.setdefault(str(name) if name else NO_LABEL, set()).add(str(row["question"]))
    return dict(sorted(members.items()))


def _movers(
    first: str,
    second: str,
    before: Mapping[str, Values],
    after: Mapping[str, Values],
    count: int,
    edges: Edges = lambda run, other, question: (),
) -> tuple[Mover, ...]:
    name = next(iter(before))
    both = before[name].keys() & after[name].keys()
    moved = [question for question in both if not equal(before[name][question], after[name][question])]
    moved.sort(key=lambda question: (-abs(after[name][question] - before[name][question]), question))
    return tuple(
        Mover(
            question,
            name,
            before[name][question],
            after[name][question],
            found=edges(second, first, question),
            lost=edges(first, second, question),
        )
        for question in moved[:count]
    )


def _edges(store: Store, run: str, other: str, question: str) -> tuple[str, ...]:
    """Return the gold edges of a question that one run walked and the other did not, each once."""
    rows = failures(store, run, "found-and-lost", question=question, other=other, limit=100)
    return tuple(dict.fromkeys(f"{row['source']} -{row['relation'] or ''}-> {row['target']}" for row in rows))


def _accuracy(
    first: Sequence[float], second: Sequence[float], scale: Scale, result: PairedResult, resamples: int, seed: int
) -> Accuracy:
    """Return the shares of right answers, and their difference with the interval of right and wrong, not of grades."""
    one, two = ([1.0 if scale.is_right(value) else 0.0 for value in values] for values in (first, second))
    count = len(first)
    # Of the counts: a difference of rounded shares would fall short of 5 points where it is 5.
    points = 100 * (sum(two) - sum(one)) / count
    if (one, two) == (first, second):
        bounds = result.low, result.high
    else:
        bounds = interval(differences_of(one, two), resamples=resamples, seed=seed)
    low, high = (None if bound is None else 100 * bound for bound in bounds)
    return Accuracy(sum(one) / count, sum(two) / count, points, low, high, reading(points, low, high))


def reading(points: float, low: float | None, high: float | None) -> str:
    """Return how a difference of accuracy, in percentage points, reads; one whose 95% interval holds 0 is neutral.

    >>> reading(5.0, 1.0, 9.0), reading(5.0, -1.0, 11.0)
    ('strong', 'neutral: the interval holds 0')
    """
    if -1 < points < 1:
        return "neutral"
    if low is None or high is None:
        return "neutral: too few questions for an interval"
    if not (over(low, 0) or under(high, 0)):
        return "neutral: the interval holds 0"
    if points > 0:
        return "strong" if points >= 5 else "moderate"
    return "slight regression" if points > -5 else "significant regression"
