"""Score a run: from its files, and with a store also in the graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.jsonl import read_once
from graphkit.files.problems import Problems
from graphkit.files.run_files import RunSource
from graphkit.measures.base import Measure
from graphkit.measures.registry import require_computed, resolve_measures
from graphkit.records.progress import Progress, quiet
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.clustered_intervals import ClusteredMeans
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.question_clusters import QuestionClusters
from graphkit.scoring.results import Evaluation
from graphkit.scoring.run_pass import RunPass, judged_declines, known_from_files, reasons_of_gold

if TYPE_CHECKING:
    from graphkit.database.store import Store
    from graphkit.records.scores import Score
    from graphkit.scoring.run_shards import RunShards
    from graphkit.scoring.selection import Selection

DEFAULTS = EvaluationOptions()

#: What a command calls records in memory, once they are written.
WRITTEN = Path("RUN.jsonl")


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
        Scores the run in shards: any :class:`concurrent.futures.Executor`, or what the option ``--on`` accepts, such as
        ``"processes"`` or ``"dask=tcp://HOST:8786"``.
    out
        A results folder to write, a path or a URL, which :func:`graphkit.read_results` reads. With it or an executor,
        run and dataset may be shards: files, folders, patterns or URLs. Without an executor, this process alone works.
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
    with ExitStack() as stack:
        source = None
        if not isinstance(run, str | Path):
            if dataset is None:
                raise InputError("records in memory need a dataset", remedy='Give dataset="my-dataset".')
            from graphkit.files.given_records import file_of
            from graphkit.graph.runs import IN_MEMORY

            if options.origin is None:
                options = dataclasses.replace(options, origin=IN_MEMORY)
            run = stack.enter_context(file_of(run))
            source = RunSource(WRITTEN, run)
        if out is None and executor is None:
            file = located(run)
            run_pass = RunPass(Dataset.of_run(file, dataset), file, source)
            return evaluate_pass(run_pass, options, store=store, scores=scores, problems=problems, progress=progress)
        from graphkit.scoring.run_shards import opened_plan, opened_shards

        found = Problems(options.on_error, strict=options.strict) if problems is None else problems
        plan = stack.enter_context(opened_plan(executor, out, whole=out is None and store is None))
        place = run if options.origin is None else plan.published(Path(run))
        shards = stack.enter_context(opened_shards(place, dataset, plan, source=source))
        result = evaluate_pass(shards, options, store=store, scores=scores, problems=found, progress=progress)
        shards.finish()
    unknown = found.unknown_fields() if problems is None else ()
    return dataclasses.replace(result, warnings=(*result.warnings, *unknown))


@read_once()
def evaluate_pass(
    run: RunPass | RunShards,
    options: EvaluationOptions,
    *,
    store: Store | None = None,
    scores: Sequence[Score] = (),
    problems: Problems | None = None,
    progress: Progress = quiet,
) -> Evaluation:
    """Score a run whose first records may have been read before; see :func:`evaluate`."""
    chosen = () if options.only_given else resolve_measures(options.measures, k=options.k)
    require_computed(chosen)
    if options.name is not None:
        given_run_name(options.name)
    if not (options.measures or options.only_given) and run.further_measures:
        chosen += resolve_measures(run.further_measures)
    if options.engine == "cypher" and store is None:
        raise InputError("the cypher engine needs a store", remedy="Give store=graphkit.open_store().")
    if options.engine == "cypher" and not isinstance(run, RunPass):
        what = "the cypher engine computes in the database, and not in shards"
        raise InputError(what, remedy="Leave out the engine, or the executor and the results folder.")
    selection = None
    if options.keep:
        selection, chosen = _keeping(options, chosen, scores, store)
        # Outcomes judge paths by the direction of their edges, which measures without direction ignore.
        decided = selection.by_outcome and all(getattr(measure, "directed", True) for measure in chosen)
        options = dataclasses.replace(options, keep_rows=True, outcomes=options.outcomes or decided)
    if options.where is not None:
        if store is not None:
            what = "the graph holds scores of whole runs, and --where scores a part of one"
            raise InputError(what, remedy="Leave out the store: --no-store.")
        chosen_questions = ChosenQuestions.of(run.dataset, options.where)
        scores = [one for one in scores if one.question in chosen_questions.ids]
        options = dataclasses.replace(options, where=chosen_questions)
    judged = None
    in_graph = options.engine == "cypher" and any(measure.reads_declined for measure in chosen)  # reads kept decisions
    if in_graph or options.cluster is not None or options.slices is not None:
        options = dataclasses.replace(options, keep_rows=True)
    if scores or options.cluster is not None or options.slices is not None:
        judged = partial(_judged, run.dataset, scores, options)
    found = Problems(options.on_error, strict=options.strict) if problems is None else problems
    declines = judged_declines(scores)
    if store is not None:
        from graphkit.scoring.graph_scoring import GraphScoring

        result = GraphScoring(store, options, chosen, found, progress, judged, selection, declines).score(run)
    elif not isinstance(run, RunPass):
        from graphkit.scoring.evaluate_shards import score_shards

        known = known_from_files(run.dataset, chosen, found, declines)
        result = score_shards(run, options, chosen, problems=found, progress=progress, known=known, judged=judged)
    else:
        result = run.score_by(options, chosen, known_from_files(run.dataset, chosen, found, declines), found)
        result = dataclasses.replace(result, failed_as=options.failed_as)
        result = result if judged is None else judged(result)
    warnings = found.unknown_fields() if problems is None else ()
    return dataclasses.replace(result, warnings=(*result.warnings, *warnings), places=run.dataset.places())


def _judged(dataset: Dataset, scores: Sequence[Score], options: EvaluationOptions, result: Evaluation) -> Evaluation:
    """Return a result with the scores that others gave, the slices of its questions, and intervals over clusters."""
    result = result.with_scores(scores, reasons_of_gold(dataset, scores))
    if options.slices is not None:
        from graphkit.scoring.slices import Slices

        slices = Slices.of_dataset(options.slices, dataset)
        asked = {row.question: slices.of[row.question] for row in result.rows}
        result = dataclasses.replace(result, slices=dataclasses.replace(slices, of=asked))
    if options.cluster is None:
        return result
    clusters = QuestionClusters.of_dataset(options.cluster, dataset)
    return dataclasses.replace(result, clustered=ClusteredMeans.of(clusters, result.measures, result.held_values))


def _keeping(
    options: EvaluationOptions, chosen: tuple[Measure, ...], scores: Sequence[Score], store: Store | None
) -> tuple[Selection, tuple[Measure, ...]]:
    """Return which questions are stored, and the measures with those that decide it.

    Raise InputError if the options don't go together, or a measure is unknown.
    """
    from graphkit.scoring.selection import Selection

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
    named = {name: name for name in selection.measures if name in {*given, *map(str, chosen)}}
    for name in selection.measures:
        if name not in named:
            own = resolve_measures([name], k=options.k)
            require_computed(own)
            named[name] = str(own[0])
            chosen = tuple(dict.fromkeys([*chosen, *own]))
    return selection.named(lambda name: named[name]), chosen
