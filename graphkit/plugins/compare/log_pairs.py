"""Compares two run logs, or the repetitions of two systems: scored from files, so without a database."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, TypeVar, Unpack

from graphkit.analysis.evaluation_plan import refuse_one_name
from graphkit.analysis.explanations import Explanation, why
from graphkit.analysis.file_failures import RunOnFiles
from graphkit.errors import InputError
from graphkit.files.assets import command_text, dataset_option
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge
from graphkit.plugins.compare.changed_gold import GoldDifference, GoldOfBoth, is_walked, with_questions
from graphkit.plugins.compare.compared_runs import (
    ComparisonSource,
    RunUsage,
)
from graphkit.plugins.compare.repeated_logs import repeated_files, repeated_name
from graphkit.plugins.compare.result_pairs import results_source
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.plugins.compare.run_pairs import PairingOptions, compare
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.evaluate import evaluate_pass
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.repeated_systems import RepeatedSystem, pooled
from graphkit.scoring.results import LABELS, Evaluation
from graphkit.scoring.run_pass import RunPass, invalid_by_files
from graphkit.scoring.slices import Slices

#: Why a baseline lacks a question whose gold has other names in the later dataset.
NOT_MAPPED = "its gold names what the other dataset doesn't hold, and no rename is recorded"

_Record = TypeVar("_Record", QuestionStruct, AnswerStruct)


def compare_files(
    first: str | Path,
    second: str | Path,
    dataset: str | Path | None = None,
    *,
    measures: Sequence[str | Measure],
    problems: Problems,
    baseline_dataset: str | Path | None = None,
    gold_changed: bool = False,
    progress: Progress = quiet,
    known: ScoredOnce | None = None,
    where: ChosenQuestions | None = None,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Score two run logs, and compare them on the questions that both were asked and scored on.

    Parameters
    ----------
    dataset
        Their dataset; by default the folder whose ``runs/`` holds each.
    baseline_dataset
        What the first run was asked, and by which gold; by default that of the second.
    gold_changed
        Where the gold differs, score both by that of the second run, and not by that of the first.
    known
        The logs of earlier comparisons by the same measures, which aren't read and scored again.
    where
        Compare on these questions alone.
    options
        See :class:`~graphkit.plugins.compare.run_pairs.PairingOptions`.

    Raises
    ------
    InputError
        A file can't be used, a measure isn't computed from records, the runs are of different datasets, or there is
        nothing to compare.
    """
    known, baseline = ScoredOnce() if known is None else known, not options.get("symmetric")
    before = known.logs(first, dataset if baseline_dataset is None else baseline_dataset)
    after = known.logs(second, dataset)
    if (two := before.dataset.folder.resolve() != after.dataset.folder.resolve()) and baseline_dataset is None:
        raise InputError(
            f"the runs answer different questions: {first} is of the dataset {before.dataset.name!r}, "
            f"{second} of {after.dataset.name!r}",
            remedy="Compare runs over the same dataset, or name it by --dataset, and that of the first by "
            "--baseline-dataset.",
        )
    gold = GoldOfBoth.read(before.dataset, after.dataset) if two else None
    how = EvaluationOptions(measures=measures, on_error=problems.on_error, strict=problems.strict, where=where)
    own_name = None
    if baseline_dataset is not None and before.name is not None and before.name == after.name:
        own_name = f"{before.name} (baseline)"
    else:
        refuse_one_name((one.file, one.name) for one in (before, after))
    differing = [] if gold is None else [one for one in gold.differing() if where is None or one in where.ids]
    with _asked_by_one_gold(before, after, gold, differing, gold_changed) as (old_asked, new_asked):
        old = known.scored(old_asked, how, problems, progress, name=own_name, baseline=baseline)
        new = known.scored(new_asked, how, problems, progress)
        if gold is not None:
            one_gold = _by_one_gold(old.result, new.result, differing, after.dataset, gold_changed)
            old, new = (some._replace(result=one) for some, one in zip((old, new), one_gold, strict=True))
        source = _logs_source((old_asked, new_asked), (old, new), options)
        source = dataclasses.replace(
            source,
            first=dataclasses.replace(source.first, usage=partial(before.usage, where)),
            second=dataclasses.replace(source.second, usage=partial(after.usage, where), explain=after.explainer()),
            commands=(before.failures, after.failures),
            gold_change=None if gold is None else _gold_change(gold, after, differing, gold_changed),
        )
        return compare(source, strict=problems.strict, **options)


@contextmanager
def _asked_by_one_gold(
    before: RunLogs, after: RunLogs, gold: GoldOfBoth | None, differing: Collection[str], gold_changed: bool
) -> Iterator[tuple[RunLogs, RunLogs]]:
    """Yield both sides with datasets of one gold: the questions with differing gold are replaced in one of them."""
    if gold is None or not differing:
        yield before, after
    elif gold_changed:
        with with_questions(before.dataset, gold.by_later(differing)) as copy:
            yield before.asked(copy), after
    else:
        with with_questions(after.dataset, gold.by_baseline(differing)) as copy:
            yield before, after.asked(copy)


class ScoredLogs(NamedTuple):
    """The result of a run log, or of the repetitions of a system, and these."""

    result: Evaluation
    system: RepeatedSystem | None = None


@dataclasses.dataclass(frozen=True)
class RunLogs:
    """One side of a comparison: a run log, or those of the repetitions of one system."""

    dataset: Dataset
    files: tuple[Path, ...]
    name: str | None

    @classmethod
    def of(cls, given: str | Path, dataset: str | Path | Dataset | None) -> RunLogs:
        """Return the runs of a file, or of a pattern that names the repetitions of one system.

        Raises
        ------
        InputError
            A file can't be used, or the pattern names other runs.
        """
        files = tuple(repeated_files(given))
        passes = [RunPass(Dataset.of_run(file, dataset), file) for file in files]
        if len(files) == 1:
            return cls(passes[0].dataset, files, passes[0].name)
        system = repeated_name([one.name or str(one.run_file) for one in passes], str(given))
        if len({one.dataset.folder.resolve() for one in passes}) > 1:
            raise InputError("the runs lie in several datasets", where=str(given), remedy="Name it by --dataset.")
        return cls(passes[0].dataset, files, system)

    @property
    def file(self) -> Path:
        """The first file."""
        return self.files[0]

    @property
    def readable(self) -> bool:
        """Whether each file can be read again, which a pipe can't."""
        return all(file.is_file() for file in self.files)

    @property
    def failures(self) -> str:
        """The command that shows its failures."""
        return command_text("failures", self.file, options=dataset_option(self.file, self.dataset.folder))

    def asked(self, dataset: Dataset) -> RunLogs:
        """Return the runs with another dataset."""
        return dataclasses.replace(self, dataset=dataset)

    def scored(
        self,
        how: EvaluationOptions,
        problems: Problems,
        progress: Progress,
        *,
        name: str | None = None,
        baseline: bool = False,
    ) -> ScoredLogs:
        """Score each file."""
        expect(progress, "runs scored", len(self.files))
        results = []
        for file in self.files:
            of_run = Problems(problems.on_error, strict=problems.strict)
            own = how if len(self.files) > 1 else dataclasses.replace(how, name=name)
            results.append(evaluate_pass(RunPass(self.dataset, file), own, problems=of_run))
            problems.merge(of_run)
            progress("runs scored", 1)
        if len(results) == 1:
            return ScoredLogs(results[0])
        system = name or self.name or ""
        whole = pooled(system, results, baseline=baseline)
        return ScoredLogs(whole, RepeatedSystem(system, tuple(results), whole))

    def usage(self, where: ChosenQuestions | None = None) -> RunUsage:
        """Read what the answers took, those to some questions or all."""
        return RunUsage.of_files(((file, self.dataset) for file in self.files), where)

    def explainer(self) -> Callable[[str, str], Explanation] | None:
        """Return the function that explains a question of a file; None for a pipe."""
        if not self.readable:
            return None

        @cache
        def runs() -> dict[str, RunOnFiles]:
            return {str(file): RunOnFiles.read(file, self.dataset.folder, Problems("skip")) for file in self.files}

        return lambda file, question: why(runs()[file or str(self.file)], question)

    def answers(self, questions: Collection[str]) -> list[dict[str, AnswerStruct]]:
        """Return by file the records of some questions; none of a pipe."""
        return [_answers(file, questions) for file in self.files]


@dataclasses.dataclass(frozen=True)
class ScoredOnce:
    """Logs that several comparisons by the same measures share: each is opened and scored once, as a pipe has to be."""

    opened: dict[tuple[str, str], RunLogs] = dataclasses.field(default_factory=dict)
    results: dict[tuple[object, ...], ScoredLogs] = dataclasses.field(default_factory=dict)

    def logs(self, given: str | Path, dataset: str | Path | None) -> RunLogs:
        """Return one side of a comparison."""
        key = (str(given), str(dataset))
        if key not in self.opened:
            self.opened[key] = RunLogs.of(given, dataset)
        return self.opened[key]

    def scored(
        self,
        logs: RunLogs,
        how: EvaluationOptions,
        problems: Problems,
        progress: Progress,
        *,
        name: str | None = None,
        baseline: bool = False,
    ) -> ScoredLogs:
        """Return the scored logs; a problem of theirs is reported once."""
        key = (logs.files, logs.dataset.folder, name, baseline)
        if key not in self.results:
            self.results[key] = logs.scored(how, problems, progress, name=name, baseline=baseline)
        return self.results[key]


def _gold_change(gold: GoldOfBoth, after: RunLogs, differing: Collection[str], meant: bool) -> GoldDifference:
    """Return how the gold differs, for the repetition that misses most of it: none may."""
    changes = [gold.change(one, meant) for one in after.answers(differing)]
    return max(changes, key=lambda one: len(one.missed))


def _logs_source(
    logs: tuple[RunLogs, RunLogs],
    scored: tuple[ScoredLogs, ScoredLogs],
    options: PairingOptions,
) -> ComparisonSource:
    """Return scored logs as a comparison sees them, with the edges of moved questions."""
    asked, by, cluster = logs[0].dataset, options.get("by"), options.get("cluster")
    members = None if by is None or by in LABELS else Slices.of_dataset(by, asked).members()
    source = results_source(
        scored[0].result,
        scored[1].result,
        members=members,
        clusters=None if cluster is None else QuestionClusters.of_dataset(cluster, asked),
        baseline=not options.get("symmetric"),
        systems=[one.system for one in scored if one.system is not None],
        **options,
    )
    system = scored[1].system
    repetitions = () if system is None else zip(logs[1].files, system.repetitions, strict=True)
    columns = {str(file): {name: one.held_values(name) for name in one.measures} for file, one in repetitions}
    edges = partial(_edges, *logs) if logs[0].readable and logs[1].readable else None
    return dataclasses.replace(source, second=dataclasses.replace(source.second, repetitions=columns), edges=edges)


def _by_one_gold(
    first: Evaluation, second: Evaluation, differing: Collection[str], dataset: Dataset, gold_changed: bool
) -> tuple[Evaluation, Evaluation]:
    """Return the results of both runs, whose questions have one gold where they differ by names and commits alone.

    A question whose gold names what the other dataset doesn't hold can't be scored in both: the baseline lacks it.
    """
    lost = {*differing} & (first if gold_changed else second).invalid.keys()
    if lost and not gold_changed:  # gold that is stale in its own dataset is another matter
        lost -= invalid_by_files(dataset, dataset.commit_graph(Problems("skip"))).keys()
    hashes = {row.question: row.gold_hash for row in second.rows}
    rows = [
        dataclasses.replace(row, gold_hash=hashes.get(row.question, row.gold_hash))
        if row.question not in lost
        else dataclasses.replace(row, values=(NOT_MAPPED,) * len(row.values), failure=NOT_MAPPED, strict=())
        for row in first.rows
    ]
    invalid = [{one: why for one, why in some.invalid.items() if one not in lost} for some in (first, second)]
    return (
        dataclasses.replace(first, rows=tuple(rows), invalid=invalid[0]),
        dataclasses.replace(second, invalid=invalid[1]),
    )


def _answers(run_file: Path, questions: Collection[str]) -> dict[str, AnswerStruct]:
    """Return the records of some questions; none of a pipe, which can't be read again."""
    if not questions or not run_file.is_file():
        return {}
    return {one.question_id: one for one in _records(run_file, AnswerStruct) if one.question_id in questions}


def _records(path: Path, kind: type[_Record]) -> Iterator[_Record]:
    """Yield the usable records of a file whose problems were reported before."""
    for _, record in RecordReader(path, kind, Problems("skip")):
        yield record


def _edges(
    before: RunLogs, after: RunLogs, questions: Sequence[str]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the gold edges that only one side traversed, as the query found-and-lost has them."""
    found, answers = {}, [side.answers(questions) for side in (before, after)]
    for question in after.dataset.every_question():
        if question.id in questions:
            old, new = ([Case(question, one.get(question.id)) for one in side] for side in answers)
            found[question.id] = _only(new, old), _only(old, new)
    return found


def _only(cases: Sequence[Case], others: Sequence[Case]) -> tuple[str, ...]:
    """Return the gold edges that most of some repetitions walked, and most of the others didn't."""
    cases = [case for case in cases if case.failure is None]
    if not cases or any(other.answer is not None and not other.walk_logged for other in others):
        return ()
    paths = sorted(
        (path.id if path.id is not None else str(index), path.edges) for index, path in enumerate(cases[0].gold)
    )
    edges = [edge for _, some in paths for edge in some]
    found = [edge for edge in edges if _mostly(edge, cases) and not _mostly(edge, others)]
    return tuple(dict.fromkeys(f"{source} -{relation or ''}-> {target}" for source, relation, target in found))


def _mostly(edge: Edge, cases: Sequence[Case]) -> bool:
    return 2 * sum(is_walked(edge, case.walked) for case in cases) > len(cases)
