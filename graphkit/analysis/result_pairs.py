"""Compares two runs by their results: scored from files, so without a database."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar, Unpack

from graphkit.analysis.changed_gold import GoldOfBoth, with_questions
from graphkit.analysis.evaluation_plan import refuse_one_name
from graphkit.analysis.gold_comparisons import GoldComparison
from graphkit.analysis.lost_measures import LostMeasure
from graphkit.analysis.run_comparisons import Mover, RunComparison, worst_repetitions
from graphkit.analysis.run_facts import RunFacts
from graphkit.analysis.run_pairs import (
    By,
    PairingOptions,
    Pairs,
    refuse_itself,
    refuse_repositories,
    relations_warning,
    unanswered_warning,
    unlogged_warning,
)
from graphkit.analysis.scales import scale_of
from graphkit.errors import InputError
from graphkit.files.assets import command_text, dataset_option
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.files.run_files import repeated_files
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.matching import Edge, is_walked
from graphkit.measures.registry import compares_relations
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.repetition_names import repeated_name
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.unanswered import is_unlogged
from graphkit.records.words import NO_LABEL, counted
from graphkit.scoring.evaluate import evaluate_pass
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.question_clusters import ClusterBy, QuestionClusters
from graphkit.scoring.repeated_systems import RepeatedSystem, pooled
from graphkit.scoring.results import LABELS, Evaluation, Row
from graphkit.scoring.results_folder import read_results
from graphkit.scoring.run_pass import RunPass, invalid_by_files

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
    options
        See :class:`~graphkit.analysis.run_pairs.PairingOptions`.

    Raises
    ------
    InputError
        A file can't be used, a measure isn't computed from records, the runs are of different datasets, or there is
        nothing to compare.
    """
    of_baseline = dataset if baseline_dataset is None else baseline_dataset
    before = ComparedRuns.of(first, of_baseline)
    after = ComparedRuns.of(second, dataset)
    gold = None
    if before.dataset.folder.resolve() != after.dataset.folder.resolve():
        if baseline_dataset is None:
            raise InputError(
                f"the runs answer different questions: {first} is of the dataset {before.dataset.name!r}, "
                f"{second} of {after.dataset.name!r}",
                remedy="Compare runs over the same dataset, or name it by --dataset, and that of the first by "
                "--baseline-dataset.",
            )
        gold = GoldOfBoth.read(before.dataset, after.dataset)
    how = EvaluationOptions(measures=measures, on_error=problems.on_error, strict=problems.strict)
    own_name = None
    if baseline_dataset is not None and before.name is not None and before.name == after.name:
        own_name = f"{before.name} (baseline)"
    else:
        refuse_one_name((one.file, one.name) for one in (before, after))
    expect(progress, "runs scored", len(before.files) + len(after.files))

    def scored(one: ComparedRuns, name: str | None = None) -> tuple[Evaluation, RepeatedSystem | None]:
        results = []
        for run in one.passes():
            of_run = Problems(problems.on_error, strict=problems.strict)
            own = how if one.repeated else dataclasses.replace(how, name=name)
            results.append(evaluate_pass(run, own, problems=of_run))
            problems.merge(of_run)
            progress("runs scored", 1)
        if not one.repeated:
            return results[0], None
        system = name or one.name or ""
        whole = pooled(system, results, baseline=one is before)
        return whole, RepeatedSystem(system, tuple(results), whole)

    change = None
    with ExitStack() as stack:
        differing = [] if gold is None else gold.differing()
        own = after.dataset
        one, other = (
            command_text("failures", some.file, options=dataset_option(some.file, some.dataset.folder))
            for some in (before, after)
        )
        if gold is not None and differing:
            if gold_changed:
                copy = stack.enter_context(with_questions(before.dataset, gold.by_later(differing)))
                before = before.asked(copy)
            else:
                copy = stack.enter_context(with_questions(after.dataset, gold.by_baseline(differing)))
                after = after.asked(copy)
        (old, old_system), (new, new_system) = scored(before, own_name), scored(after)
        systems = [one for one in (old_system, new_system) if one is not None]
        if gold is not None:
            old, new = _by_one_gold(old, new, differing, own, gold_changed)
            changes = [gold.change(_answers(file, differing), gold_changed) for file in after.files]
            change = max(changes, key=lambda one: len(one.missed))  # that no repetition may miss
        source = before.dataset
        by, cluster = options.get("by"), options.get("cluster")
        members = _members_by_gold(source, by, problems) if by in ("repo", "relation") else None
        clusters = None if cluster is None else QuestionClusters.of_dataset(cluster, source)
        compared = compare_results(
            old,
            new,
            members=members,
            clusters=clusters,
            strict=problems.strict,
            baseline=True,
            commands=(one, other),
            systems=systems,
            **options,
        )
        repetitions = () if new_system is None else zip(after.files, new_system.repetitions, strict=True)
        columns = {str(file): {name: one.held_values(name) for name in one.measures} for file, one in repetitions}
        headline = None if compared.headline is None else compared.headline.measure
        compared = dataclasses.replace(
            compared, gold_change=change, repetition_of=worst_repetitions(compared.losses, headline, columns)
        )
        files = [*before.files, *after.files]
        if not all(file.is_file() for file in files):  # a pipe can't be read again
            return compared
        wanted = {mover.question for mover in compared.movers}
        questions = {one.id: one for one in _records(after.dataset.questions_file, QuestionStruct) if one.id in wanted}
    answers = [[_answers(file, wanted) for file in some.files] for some in (before, after)]
    movers = tuple(_with_edges(one, questions[one.question], *answers) for one in compared.movers)
    return dataclasses.replace(compared, movers=movers)


@dataclasses.dataclass(frozen=True)
class ComparedRuns:
    """One side of a comparison: a run log, or those of the repetitions of one system."""

    dataset: Dataset
    files: tuple[Path, ...]
    name: str | None

    @classmethod
    def of(cls, given: str | Path, dataset: str | Path | Dataset | None) -> ComparedRuns:
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
    def repeated(self) -> bool:
        """Whether several runs repeat one system."""
        return len(self.files) > 1

    def asked(self, dataset: Dataset) -> ComparedRuns:
        """Return the runs with another dataset."""
        return dataclasses.replace(self, dataset=dataset)

    def passes(self) -> list[RunPass]:
        """Return a pass over each file."""
        return [RunPass(self.dataset, file) for file in self.files]


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


def compare_folders(
    first: str | Path,
    second: str | Path,
    *,
    measures: Sequence[str],
    problems: Problems,
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Compare the results in two folders that ``graphkit evaluate --out FOLDER`` wrote.

    Raises
    ------
    InputError
        A folder holds no results or was changed, or there is nothing to compare.
    """
    if options.get("by") in ("repo", "relation"):
        what = f"results don't say the {options['by']} of a question"
        raise InputError(what, remedy="Compare by category, difficulty or group.")
    refuse_repositories("results", options.get("cluster"))
    results = [read_results(folder).evaluation() for folder in (first, second)]
    return compare_results(*results, measures=measures, strict=problems.strict, baseline=True, **options)


def compare_results(
    first: Evaluation,
    second: Evaluation,
    *,
    measures: Iterable[str] = (),
    members: Mapping[str, set[str]] | None = None,
    clusters: QuestionClusters | None = None,
    strict: bool = False,
    baseline: bool = False,
    commands: tuple[str, str] | None = None,
    systems: Sequence[RepeatedSystem] = (),
    **options: Unpack[PairingOptions],
) -> RunComparison:
    """Compare two results that hold their rows, by some of their measures or by all that both hold.

    ``members`` are the questions of each group; by default those of each category or difficulty, if ``by`` says so.
    ``clusters`` are those that count as independent; by default the labels of the rows, if ``cluster`` says so.
    ``baseline`` says that the first run is a baseline: what it lacks is left out, and never its worst value.
    ``commands`` show for each run why its questions have no value, if anything can. ``systems`` are those of the
    results that stand for several repetitions.

    Raises
    ------
    InputError
        The results are of one run, the gold differs and ``strict`` refuses that, or no question was scored in both and
        no measure is lost.
    """
    refuse_itself(first.run, second.run)
    chosen = list(measures)
    names = chosen or [name for name in first.measures if name in second.measures]
    before, after = (_values(result, names) for result in (first, second))
    hashes = [{row.question: row.gold_hash for row in result.rows} for result in (first, second)]
    old, new = (
        {name: {question: gold[question] for question in column} for name, column in values.items()}
        for values, gold in zip((before, after), hashes, strict=True)
    )
    check = GoldComparison.hold((first.run, second.run), (before, after), (old, new), strict)
    failed = _failed(first), _failed(second)
    scales = {name: scale_of(name, [*before[name].values(), *after[name].values()]) for name in names}
    cluster = options.get("cluster")
    if clusters is None and cluster is not None:
        clusters = _clusters(first, cluster)
    unlogged = _unlogged(first, names), _unlogged(second, names)
    strict_before, strict_after = ({name: one.strict_values(name) for name in names} for one in (first, second))
    if not baseline:
        before = {name: {**column, **strict_before[name]} for name, column in before.items()}
        strict_before = {}
    relations = first.relations, second.relations
    runs = first.run, second.run
    old_untyped, new_untyped = ({name for name in names if one.refused(name)} for one in (first, second))
    pairs = Pairs(
        runs,
        before,
        after,
        failed,
        scales,
        options,
        clusters,
        unlogged,
        (strict_before, strict_after),
        relations,
        baseline,
        untyped=(old_untyped, new_untyped),
    )
    questions = {row.question for row in first.rows}
    by = options.get("by")
    if members is None:
        members = _members(first, by) if by is not None else {}
    compared = pairs.compared(
        check,
        members,
        dict.fromkeys(before, questions),
        len(questions),
        dataset=second.dataset,
        warnings=_warnings((first, second), pairs, systems),
        stale={*first.invalid, *second.invalid},
        lost=[] if chosen else [*_not_held(first, second)],
        facts=(_facts(first, names), _facts(second, names)),
        apart=_apart(second, names, questions),
        commands=commands,
    )
    deciding = compared.headline.measure if compared.headline is not None else None
    most = [max(one.unanswered for one in _repetitions(result, systems)) for result in (first, second)]
    return dataclasses.replace(
        compared,
        categories=_categories(first),
        repeated={one.name: one.sentence(deciding) for one in systems},
        most_failed=(most[0], most[1]),
    )


def _repetitions(result: Evaluation, systems: Iterable[RepeatedSystem]) -> Sequence[Evaluation]:
    return next((one.repetitions for one in systems if one.name == result.run), (result,))


def _categories(result: Evaluation) -> dict[str, str]:
    place = [*LABELS].index("category")
    return {row.question: label for row in result.rows if (label := row.labels[place]) is not None}


def _apart(result: Evaluation, names: Iterable[str], asked: Collection[str]) -> dict[str, list[float]]:
    """Return by measure the values of the questions that the other run wasn't asked, as gates count them."""
    if all(row.question in asked for row in result.rows):
        return {}
    return {
        name: [value for question, value in result.held_values(name).items() if question not in asked]
        for name in names
        if name in result.measures
    }


def _not_held(first: Evaluation, second: Evaluation) -> Iterator[LostMeasure]:
    """Yield the measures by which the first run was scored and that the results of the second don't hold."""
    for name, summary in first.measures.items():
        if name not in second.measures and summary.scored:
            yield LostMeasure(name, summary.scored, "its results don't hold this measure")


def _facts(result: Evaluation, names: Iterable[str]) -> RunFacts:
    failed = {row.question: row.failure for row in result.rows if _is_failed(row, result)}
    unscored = {name: result.unscored[name] for name in names if name in result.unscored}
    return RunFacts(failed, unscored, result.efficiency)


def _values(result: Evaluation, names: Iterable[str]) -> dict[str, dict[str, float]]:
    places = {name: place for place, name in enumerate(result.measures)}
    return {
        name: {row.question: value for row in result.rows if isinstance(value := row.values[places[name]], float | int)}
        for name in names
    }


def _failed(result: Evaluation) -> set[str]:
    """Return the questions with valid gold that a run failed on, or has no record for."""
    return {row.question for row in result.rows if _is_failed(row, result)}


def _unlogged(result: Evaluation, names: Iterable[str]) -> dict[str, set[str]]:
    """Return by measure the questions whose record doesn't log what it needs."""
    places = {name: place for place, name in enumerate(result.measures)}
    return {
        name: {
            row.question
            for row in result.rows
            if isinstance(reason := row.values[places[name]], str) and is_unlogged(reason)
        }
        for name in names
    }


def _is_failed(row: Row, result: Evaluation) -> bool:
    return row.failure is not None and row.question not in result.invalid


def _members(result: Evaluation, by: By) -> dict[str, set[str]]:
    members: dict[str, set[str]] = {}
    place = [*LABELS].index(by)  # type: ignore[arg-type]
    for row in result.rows:
        members.setdefault(row.labels[place] or NO_LABEL, set()).add(row.question)
    return dict(sorted(members.items()))


def _clusters(result: Evaluation, by: ClusterBy) -> QuestionClusters:
    refuse_repositories("results", by)
    place = [*LABELS].index(by)  # type: ignore[arg-type]
    return QuestionClusters.by_label(by, {row.question: row.labels[place] for row in result.rows})


def _members_by_gold(dataset: Dataset, by: By | None, problems: Problems) -> dict[str, set[str]]:
    """Return the questions of each repository or relation of gold; a question may be in several."""
    members: dict[str, set[str]] = {}
    places = dataset.places()
    for question in _records(dataset.questions_file, QuestionStruct):
        steps = [step for path in question.paths for step in path.steps]
        if by == "repo":
            found = places.named(node for step in steps for node in (step.source, step.target))
        else:
            found = {step.relation for step in steps if step.relation}
        for name in found or {NO_LABEL}:
            members.setdefault(name, set()).add(question.id)
    return dict(sorted(members.items()))


def _records(path: Path, kind: type[_Record]) -> Iterator[_Record]:
    """Yield the usable records of a file whose problems were reported before."""
    for _, record in RecordReader(path, kind, Problems("skip")):
        yield record


def _warnings(results: Sequence[Evaluation], pairs: Pairs, systems: Sequence[RepeatedSystem]) -> Iterator[str]:
    for result in results:
        for one in _repetitions(result, systems):
            if result is not results[0] or not pairs.baseline:  # what a baseline lacks is listed by name
                counts = one.missing, one.failed, one.questions
                yield from unanswered_warning(one.run, *counts, pairs.failed_as)
            if any(map(compares_relations, pairs.before)):
                yield from relations_warning(one.run, one.relations)
    yield from unlogged_warning(results[1].run, pairs.unlogged[1], pairs.after, pairs.failed_as)
    if invalid := results[0].invalid:
        yield f"the gold of {counted(len(invalid), 'question')} is stale: not compared"


def _with_edges(mover: Mover, question: QuestionStruct, *answers: Sequence[Mapping[str, AnswerStruct]]) -> Mover:
    """Return a mover with the gold edges that only one of the runs traversed, as the query found-and-lost has them."""
    before, after = ([Case(question, one.get(question.id)) for one in side] for side in answers)
    return dataclasses.replace(mover, found=_only(after, before), lost=_only(before, after))


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
