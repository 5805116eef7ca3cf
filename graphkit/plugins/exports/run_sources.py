"""Reads the run of an export: from a run file, which is scored now, a results folder, or the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.analysis.evaluation_plan import EvaluationPlan
from graphkit.analysis.explanations import explanations_in_graph, why
from graphkit.analysis.file_failures import RunOnFiles
from graphkit.errors import InputError, did_you_mean
from graphkit.files.problems import Problems
from graphkit.files.run_files import RunSource
from graphkit.graph.known_names import kept_in_words, require_run
from graphkit.graph.queries import cypher
from graphkit.graph.score_nodes import gradings
from graphkit.measures.case import Case
from graphkit.measures.registry import computed_as
from graphkit.plugins.exports.exported_run import ExportedRun, TraceIds, questions_to_explain, with_explanations
from graphkit.records.progress import Progress, quiet
from graphkit.records.scores import Score
from graphkit.records.words import counted
from graphkit.scoring.options import EvaluationOptions
from graphkit.scoring.results_folder import read_results

if TYPE_CHECKING:
    from graphkit.database.store import Store

#: Why scores of a results folder have neither ids of spans nor sentences on failures.
NO_RECORDS = "a results folder holds no records: no ids of spans, and no sentence on the edge that broke"


def export_of_file(
    run: Path,
    dataset: Path | None = None,
    *,
    measures: Sequence[str] = (),
    scores: Sequence[Score] = (),
    problems: Problems | None = None,
    progress: Progress = quiet,
) -> ExportedRun:
    """Score a run file, and return its scores.

    Parameters
    ----------
    dataset
        By default the folder whose ``runs/`` holds the file.
    measures
        By default those that ``graphkit evaluate`` computes.
    scores
        Scores by others, which come with those of graphkit.

    Raises
    ------
    InputError
        A file or a record can't be used.
    """
    if run.exists() and not run.is_file():
        raise InputError("an export reads the run twice, and a pipe can't be", where=str(run), remedy="Name a file.")
    found = problems if problems is not None else Problems()
    options = EvaluationOptions(measures=measures, on_error=found.on_error, strict=found.strict)
    plan = EvaluationPlan(options, scores=scores)
    evaluated = plan.evaluate([RunSource(run, run)], dataset, progress=progress, on_problems=found.merge)
    [result] = evaluated.results
    records = RunOnFiles.read(run, dataset, Problems("skip"))
    ids = {question: _ids_of(case) for question, case in records.cases.items()}
    exported = tuple(with_explanations(result.records(), ids, partial(why, records)))
    return ExportedRun(result.run, result.dataset, exported, result.gold_hash)


def _ids_of(case: Case) -> TraceIds:
    answer = case.answer
    return TraceIds() if answer is None else TraceIds(answer.trace_id, answer.span_id, answer.response_id)


def export_of_folder(folder: str | Path, *, measures: Sequence[str] = ()) -> ExportedRun:
    """Return the scores in a results folder, which have neither ids of spans nor sentences on failures.

    Raises
    ------
    InputError
        There are no results, or none by a measure.
    """
    result = read_results(folder).evaluation()
    chosen = _chosen(measures, result.measures)
    scores = (score for score in result.records() if score.measure in chosen)
    exported = tuple(with_explanations(scores, {}, None))
    return ExportedRun(result.run, result.dataset, exported, result.gold_hash, (NO_RECORDS,))


def export_of_graph(store: Store, run: str, *, measures: Sequence[str] = ()) -> ExportedRun:
    """Return the scores that the graph holds of a run, whoever gave them.

    Raises
    ------
    InputError
        The run is unknown, or the graph holds none of its scores by a measure.
    """
    known = require_run(store, run)
    versions = {name: one for name, one in gradings(store, run).items() if one.complete}
    if not versions:
        what = f"the graph holds no scores of the run {run!r}"
        raise InputError(what, remedy="`graphkit evaluate` its file, which keeps the scores; or export the file.")
    chosen = _chosen(measures, versions)
    ids = {
        str(row["question"]): TraceIds(*(None if row[name] is None else str(row[name]) for name in _IDS))
        for row in store.read(cypher("read/trace_ids"), {"run": run})
    }
    scores = [score for name in chosen for score in _scores(store, run, name, versions[name].version)]
    explained = explanations_in_graph(store, run, questions_to_explain(scores))
    exported = tuple(with_explanations(scores, ids, explained.get))
    kept, old = kept_in_words(known), [name for name in chosen if not versions[name].current]
    notes = [kept] if kept is not None else []
    if old:
        notes.append(f"the dataset has changed since {counted(len(old), 'measure')} scored the run: {', '.join(old)}")
    return ExportedRun(run, str(known["dataset"]), exported, notes=tuple(notes))


_IDS = ("trace_id", "span_id", "response_id")


def _scores(store: Store, run: str, measure: str, version: str | None) -> Iterator[Score]:
    for row in store.read(cypher("read/scores_in_full"), {"run": run, "measure": measure}):
        k = None if row["k"] is None else int(str(row["k"]))
        own = {"run": run, "measure": measure, "version": version, "computed": computed_as(measure, k)}
        fields: dict[str, Any] = {**{name: value for name, value in row.items() if name != "k"}, **own}
        yield Score.model_construct(**fields)  # it was validated when it was loaded


def _chosen(measures: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return the measures to export: those that were asked for, or all that are known."""
    names = list(known)
    for measure in measures:
        if measure not in names:
            remedy = f"{did_you_mean(measure, names)}There are: {', '.join(names)}."
            raise InputError(f"no score is by a measure called {measure!r}", remedy=remedy)
    return list(dict.fromkeys(measures)) or names
