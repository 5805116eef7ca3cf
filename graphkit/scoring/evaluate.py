"""Score a run: from its files, and with a store also in the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.jsonl import read_once
from graphkit.files.problems import Problems
from graphkit.files.spool import Spool
from graphkit.measures.base import Measure
from graphkit.measures.registry import require_computed, resolve_measures
from graphkit.records.commits import CommitGraph
from graphkit.records.progress import Progress, quiet
from graphkit.records.structs import AnswerStruct
from graphkit.scoring.evaluate_shards import ShardPlan, opened_shards, score_shards
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.results import Evaluation, Kept
from graphkit.scoring.run_pass import RunPass, invalid_by_files, known_from_files
from graphkit.scoring.run_shards import RunShards
from graphkit.scoring.selection import Selection
from graphkit.shards.executors import opened_executor
from graphkit.shards.locations import Location

if TYPE_CHECKING:
    from graphkit.database.store import Store
    from graphkit.graph.runs import RunPart
    from graphkit.records.scores import Score


DEFAULTS = EvaluationOptions()

STAYS_WHOLE = "the graph holds this run whole, and it stays whole"


def evaluate(
    run: str | Path | Iterable[Any],
    dataset: str | Path | Dataset | None = None,
    options: EvaluationOptions = DEFAULTS,
    *,
    store: Store | None = None,
    scores: Sequence[Score] = (),
    problems: Problems | None = None,
    progress: Progress = quiet,
    executor: Executor | str | None = None,
    out: str | Path | None = None,
    **changes: Any,
) -> Evaluation:
    """Score a run log.

    Parameters
    ----------
    run
        A run log in JSON Lines, or its records: mappings, models, rows of pandas, or a data frame. Records that name no
        run are the run ``"records"``.
    dataset
        Its dataset; by default the folder whose ``runs/`` holds the log. Records in memory need one.
    options
        Measures, engine and other options.
    store
        Keeps dataset, run and scores in the graph. Without a store, graphkit needs only the files.
    scores
        Scores that others gave the answers of this run; those of other runs are ignored. They need ``keep_rows``.
    problems
        Collects what is wrong with the files. By default the warnings of the result name unknown fields.
    executor
        Scores the run in shards, and writes the results to ``out``: any :class:`concurrent.futures.Executor`, or what
        the option ``--on`` accepts, such as ``"processes"`` or ``"dask=tcp://HOST:8786"``.
    out
        The results folder, a path or a URL, which :func:`graphkit.read_results` reads. With it, run and dataset may
        be shards: files, folders, patterns or URLs. Without an executor, this process alone works.
    changes
        Single options by name, such as ``measures=["EdgeRecall"]``, instead of those in ``options``.

    Returns
    -------
    Evaluation
        The summary of each measure, and the value of each question.

    Raises
    ------
    InputError
        A file or record can't be used, or a measure is unknown or not computed from records.
    DatabaseError
        The database refuses.
    """
    options = dataclasses.replace(options, **changes)
    if out is not None or executor is not None:
        if store is not None or scores or isinstance(dataset, Dataset) or not isinstance(run, str | Path):
            raise InputError(
                "scoring in shards takes a run and a dataset by their paths or URLs, and neither a store nor scores",
                remedy="Leave out executor= and out=, or the others.",
            )
        if out is None:
            raise InputError("an executor needs a results folder", remedy='Give out="results".')
        with opened_executor(executor) as opened:
            plan = ShardPlan(Location.of(out), opened)
            with opened_shards(run, dataset, plan) as shards:
                return evaluate_pass(shards, options, problems=problems, progress=progress, plan=plan)
    if isinstance(run, str | Path):
        file = located(run)
        run_pass = RunPass(Dataset.of_run(file, dataset), file)
        return evaluate_pass(run_pass, options, store=store, scores=scores, problems=problems, progress=progress)
    if dataset is None:
        raise InputError("records in memory need a dataset", remedy='Give dataset="my-dataset".')
    from graphkit.files.given_records import file_of
    from graphkit.graph.runs import IN_MEMORY

    with file_of(run) as file:
        origin = options.origin if options.origin is not None else IN_MEMORY
        return evaluate(
            file, dataset, options, store=store, scores=scores, problems=problems, progress=progress, origin=origin
        )


@read_once()
def evaluate_pass(
    run: RunPass | RunShards,
    options: EvaluationOptions,
    *,
    store: Store | None = None,
    scores: Sequence[Score] = (),
    problems: Problems | None = None,
    progress: Progress = quiet,
    plan: ShardPlan | None = None,
) -> Evaluation:
    """Score a run whose first records may have been read before; see :func:`evaluate`.

    One in shards needs a plan, and no store.
    """
    chosen = resolve_measures(options.measures, k=options.k)
    require_computed(chosen)
    if options.name is not None:
        given_run_name(options.name)
    if not options.measures and run.tool_measures:
        chosen += resolve_measures(run.tool_measures)
    if options.engine == "cypher" and store is None:
        raise InputError("the cypher engine needs a store", remedy="Give store=graphkit.open_store().")
    selection = None
    if options.keep:
        selection, chosen = _keeping(options, chosen, scores, store)
        # Outcomes judge paths by the direction of their edges, which measures without direction ignore.
        judged = selection.failures and all(getattr(measure, "directed", True) for measure in chosen)
        options = dataclasses.replace(options, keep_rows=True, outcomes=options.outcomes or judged)
    found = Problems(options.on_error, strict=options.strict) if problems is None else problems
    if isinstance(run, RunShards):
        assert plan is not None
        result = score_shards(run, options, chosen, plan, problems=found, progress=progress)
    elif store is None:
        result = _score(run, options, chosen, known_from_files(run.dataset, chosen, found), found)
        result = result.with_scores(scores)
    else:
        result = _score_in_graph(run, options, chosen, found, store, scores, progress, selection)
    warnings = found.unknown_fields() if problems is None else ()
    return dataclasses.replace(result, failed_as=options.failed_as, warnings=(*result.warnings, *warnings))


def _score(
    run: RunPass,
    options: EvaluationOptions,
    chosen: tuple[Measure, ...],
    context: tuple[CommitGraph, dict[str, str]],
    problems: Problems,
    **more: Any,
) -> Evaluation:
    in_python = chosen if options.engine == "python" else tuple(one for one in chosen if one.query is None)
    return run.score(
        in_python,
        context,
        problems,
        keep_rows=options.keep_rows,
        outcomes=options.outcomes,
        unordered=options.unordered,
        versions=any(measure.needs_commits for measure in chosen),
        name=options.name,
        hash_gold=options.hash_gold,
        **more,
    )


def _score_in_graph(
    run: RunPass,
    options: EvaluationOptions,
    chosen: tuple[Measure, ...],
    problems: Problems,
    store: Store,
    scores: Sequence[Score],
    progress: Progress,
    selection: Selection | None = None,
) -> Evaluation:
    """Score a run, and keep dataset, run and scores in the graph.

    With Cypher, too, it first reads the files to their end: what can't be used is reported before anything is stored.
    """
    from graphkit.graph.datasets import add_questions
    from graphkit.graph.knowledge import history_changes
    from graphkit.graph.runs import IN_MEMORY, RunRecords, is_whole, load_run, order_run
    from graphkit.graph.writing import retried_writes
    from graphkit.scoring.kept_scores import keep_results

    dataset, history, conflicts = run.dataset.name, history_changes(store), store.conflicts
    context = _known_from_graph(run.dataset, chosen, store, problems, progress, partial=selection is not None)
    with Spool(AnswerStruct) as answers:
        records = RunRecords.of_unread_file(store, dataset, run.run_file, answers)
        result = _score(run, options, chosen, context, problems, answers=answers, keep_answers=records.wanted)
        scored = result.with_scores(scores)  # refuses wrong scores before anything is stored
        answers.flush()
        whole = selection is not None and is_whole(store, result.run, records)
        if selection is not None and not whole:
            part = _selected(scored, selection)
            add_questions(store, run.dataset, part.questions, *context, progress)
            records = records.in_part(part, run.run_file, result.run)
        origin = str(options.origin.resolve()) if isinstance(options.origin, Path) else options.origin
        loaded = load_run(
            store, dataset, result.run, run.run_file, progress, records, origin=origin, replace=options.replace
        )
        order_run(store, result.run, options.unordered)
    if options.engine == "cypher":
        from graphkit.scoring.cypher_scoring import score_run

        in_graph = [measure for measure in chosen if measure.query]
        result = _merged(chosen, score_run(store, dataset, result.run, in_graph, options.keep_rows), result)
    result = result.with_scores(scores)
    if whole:
        result = dataclasses.replace(result, warnings=(*result.warnings, STAYS_WHOLE))
    if records.part is not None:
        result = dataclasses.replace(result, kept=Kept(records.part.rule, len(records.part.questions)))
    if options.keep_rows:
        only = None if records.part is None else records.part.questions
        histories = {str(measure): history for measure in chosen if measure.needs_commits}
        keep_results(store, result, histories, only, progress)
    if retried := store.conflicts - conflicts:
        result = dataclasses.replace(result, warnings=(*result.warnings, retried_writes(retried)))
    if loaded.replaced and not options.replace and origin == IN_MEMORY:
        warning = f"these records take the place of others that were the run {result.run!r}; name= gives another name"
        result = dataclasses.replace(result, warnings=(*result.warnings, warning))
    return result


def _keeping(
    options: EvaluationOptions, chosen: tuple[Measure, ...], scores: Sequence[Score], store: Store | None
) -> tuple[Selection, tuple[Measure, ...]]:
    """Return which questions are stored, and the measures with those that decide it.

    Raise InputError if the options don't go together, or a measure is unknown.
    """
    selection = Selection.parse(options.keep)
    if store is None:
        raise InputError("--keep says what to store, and nothing is stored", remedy="Give a store, or leave it out.")
    if options.engine == "cypher":
        raise InputError(
            "--engine cypher computes in the graph, which would hold only the kept questions",
            where=f"--keep {selection}",
            remedy="Leave out --engine cypher: files have the whole run.",
        )
    given = {score.measure for score in scores}
    named = {one.measure: one.measure for one in selection.filters if one.measure in {*given, *map(str, chosen)}}
    for one in selection.filters:
        if one.measure not in named:
            own = resolve_measures([one.measure], k=options.k)
            require_computed(own)
            named[one.measure] = str(own[0])
            chosen = tuple(dict.fromkeys([*chosen, *own]))
    return selection.named(lambda name: named[name]), chosen


def _selected(result: Evaluation, selection: Selection) -> RunPart:
    """Return the part of a run that a rule selects."""
    from graphkit.graph.runs import RunPart

    chooser = selection.chooser(result.measures)
    for row in result.rows:
        chooser.see(row)
    records = result.questions - result.missing
    return RunPart(str(selection), chooser.chosen, result.questions, records, result.failed)


def _known_from_graph(
    dataset: Dataset,
    measures: Sequence[Measure],
    store: Store,
    problems: Problems,
    progress: Progress,
    partial: bool,
) -> tuple[CommitGraph, dict[str, str]]:
    """Load the dataset if needed; return its commits if a measure reads them, and the reason of each unscored question.

    The graph knows both since the dataset was loaded. If it holds only a part of the questions (``partial`` allows
    that), the files tell the reasons, with all commits of the graph.
    """
    from graphkit.graph.datasets import ensure_loaded
    from graphkit.graph.knowledge import commit_graph, invalid_questions

    loading = Problems(problems.on_error, strict=problems.strict)
    partial = ensure_loaded(store, dataset, loading, progress, partial=partial)
    problems.merge(loading.without(dataset.questions_file))
    needed = partial or any(measure.needs_commits for measure in measures)
    commits = commit_graph(store, dataset.name, dataset.artifact_commits()) if needed else CommitGraph()
    commits.files = dataset.known_files()
    if partial:
        return commits, invalid_by_files(dataset, commits)
    return commits, invalid_questions(store, dataset.name)


def _merged(measures: Sequence[Measure], in_cypher: Evaluation, in_python: Evaluation) -> Evaluation:
    """Return one result with the measures in their requested order, from both engines."""
    names = [str(measure) for measure in measures]
    by_question = {row.question: row for row in in_cypher.rows}
    rows = []
    for row in in_python.rows:
        values = dict(zip(in_python.measures, row.values, strict=True))
        values |= dict(zip(in_cypher.measures, by_question[row.question].values, strict=True))
        rows.append(dataclasses.replace(row, values=tuple(values[name] for name in names)))
    both = {**in_python.measures, **in_cypher.measures}
    return dataclasses.replace(in_python, measures={name: both[name] for name in names}, rows=tuple(rows))
