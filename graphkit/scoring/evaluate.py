"""Scoring a run: from its files, and where a store is given kept in the graph, or computed there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.jsonl import read_once
from graphkit.files.normal_forms import GoldSpelling
from graphkit.files.problems import OnError, Problems
from graphkit.files.spool import Spool
from graphkit.files.stale_gold import invalid_reason, stale_gold
from graphkit.graph.datasets import ensure_loaded
from graphkit.graph.writing import Progress, quiet
from graphkit.measures.base import Measure
from graphkit.measures.registry import require_computed, resolve_measures
from graphkit.records.commits import CommitGraph
from graphkit.records.structs import AnswerStruct
from graphkit.records.unanswered import FailedAs
from graphkit.scoring.file_scoring import score_file
from graphkit.scoring.first_records import FirstRecords
from graphkit.scoring.known_share import GoldSeen, known_share
from graphkit.scoring.logged_tools import tool_measures
from graphkit.scoring.results import Evaluation, Row
from graphkit.scoring.scorer import Job

if TYPE_CHECKING:
    from graphkit.graph.score_nodes import Grading
    from graphkit.records.scores import Score

Engine = Literal["python", "cypher"]


@read_once()
def evaluate(
    run: str | Path | Iterable[Any],
    dataset: str | Path | Dataset | None = None,
    *,
    measures: Sequence[str | Measure] = (),
    k: int | None = None,
    engine: Engine = "python",
    store: Store | None = None,
    on_error: OnError = "fail",
    strict: bool = False,
    problems: Problems | None = None,
    keep_rows: bool = True,
    outcomes: bool = False,
    scores: Sequence[Score] = (),
    unordered: bool = False,
    name: str | None = None,
    replace: bool = False,
    origin: str | Path | None = None,
    failed_as: FailedAs = "worst",
    hash_gold: bool = True,
    progress: Progress = quiet,
) -> Evaluation:
    """Score a run log.

    Parameters
    ----------
    run
        A run log in JSON Lines, or its records: mappings, models, rows of pandas, or a data frame. Records that name no
        run are the run ``"records"``.
    dataset
        Its dataset; by default the folder whose ``runs/`` holds the log. Records in memory need one.
    measures
        Names or values; by default those of ``graphkit.measures.registry.DEFAULT_MEASURES``, and where the run logs its
        calls of tools those of :func:`graphkit.scoring.logged_tools.tool_measures`.
    k
        The cut-off of measures that name none; 5 by default.
    engine
        ``"cypher"`` lets the database compute every measure that it can; it needs a store.
    store
        Keeps dataset, run and scores in the graph. Without one, nothing but the files is needed.
    strict
        Refuse fields that graphkit doesn't know. Else the warnings of the result tell them, or the ``problems`` that
        were given.
    keep_rows
        Keep the value of each question, not only the means; where they are kept, they also go into the store.
    outcomes
        Also tell of each kept question whether answer and path are right, and at which stage it ended.
    scores
        What others gave the answers of this run; those of other runs are left alone. Needs ``keep_rows``.
    unordered
        Take each traversal as a set of edges, as where a record says ``"ordered": false``: what compares its order is
        not scored.
    name
        The name that the run goes by, whatever its records say.
    replace
        Take the place of a run of this name that the store holds of another file. Without it such a run is refused; one
        of the same file, or with the same content, isn't another. Records in memory replace each other with a warning.
    origin
        What a run log was made of that won't stay, a path or a text; by default the log itself.
    failed_as
        How gates, targets and thresholds count the questions that the run failed on or has no record for: each as the
        worst value of its measure, or not at all (``"unscored"``). The means themselves are over the scored questions.

    hash_gold
        Whether the result has the hash of its gold, which costs a tenth of the time; with rows it always has.

    Returns
    -------
    Evaluation
        The summary of each measure, and the value of each question.

    Raises
    ------
    InputError
        A file or record can't be used, or a measure isn't known, or isn't computed from records.
    DatabaseError
        The database doesn't do as asked.
    """
    if not isinstance(run, str | Path):
        if dataset is None:
            raise InputError("records in memory need a dataset", remedy='Give dataset="my-dataset".')
        from graphkit.files.given_records import file_of
        from graphkit.graph.runs import IN_MEMORY

        with file_of(run) as file:
            return evaluate(
                file,
                dataset,
                measures=measures,
                k=k,
                engine=engine,
                store=store,
                on_error=on_error,
                strict=strict,
                problems=problems,
                keep_rows=keep_rows,
                outcomes=outcomes,
                scores=scores,
                unordered=unordered,
                name=name,
                replace=replace,
                origin=origin if origin is not None else IN_MEMORY,
                failed_as=failed_as,
                hash_gold=hash_gold,
                progress=progress,
            )
    chosen = resolve_measures(measures, k=k)
    require_computed(chosen)
    run_file = Path(run)
    if name is not None:
        given_run_name(name)
    source = Dataset.of_run(run_file, dataset)
    first = FirstRecords.read(source, run_file)
    if not measures:
        chosen += resolve_measures(called) if (called := tool_measures(source, run_file, first)) else ()
    told_by_caller = problems is not None
    problems = problems if problems is not None else Problems(on_error, strict=strict)
    if engine == "cypher" and store is None:
        raise InputError("the cypher engine needs a store", remedy="Give store=graphkit.open_store().")
    history = _history(store)
    commits, invalid = _context(source, chosen, store, problems, progress)
    in_python = chosen if engine == "python" else tuple(measure for measure in chosen if measure.query is None)
    rows: list[Row] = []
    # With Cypher the files are still read through first: what can't be used must be told before it is stored.
    take = rows.extend if keep_rows else None
    job = Job(
        source.questions_file,
        run_file,
        in_python,
        commits,
        invalid,
        keep_rows,
        outcomes,
        unordered=unordered,
        versions=any(measure.needs_commits for measure in chosen),
        name=name,
        spelling=GoldSpelling(source.questions_file),
        hash_gold=hash_gold,
        wanted=frozenset(first.ids() if first is not None else ()),
    )
    gold = GoldSeen()
    if store is None:
        result = _with_rows(score_file(job, dataset=source.name, problems=problems, sink=take, gold=gold), rows)
        known = known_share(source, run_file, first, gold)
        result = dataclasses.replace(result, known=known, failed_as=failed_as).with_scores(scores)
        return _warned(result, problems, told_by_caller)
    from graphkit.graph.runs import IN_MEMORY, RunRecords, load_run, order_run
    from graphkit.graph.score_nodes import keep_scores

    with Spool(AnswerStruct) as answers:
        # Nothing of a run is written before all of it was read: until then its records are put aside.
        records = RunRecords.of_unread_file(store, source.name, run_file, answers)
        job = dataclasses.replace(job, keep_answers=records.wanted)
        scored = score_file(job, dataset=source.name, problems=problems, sink=take, answers=answers, gold=gold)
        result = _with_rows(scored, rows)
        result.with_scores(scores)  # refused before anything is stored
        answers.flush()
        told = str(origin.resolve()) if isinstance(origin, Path) else origin
        loaded = load_run(store, source.name, scored.run, run_file, progress, records, origin=told, replace=replace)
        order_run(store, scored.run, unordered)
    if engine == "cypher":
        from graphkit.scoring.cypher_scoring import score_run

        in_graph = [measure for measure in chosen if measure.query]
        result = _merged(chosen, score_run(store, source.name, scored.run, in_graph, keep_rows), result)
    known = known_share(source, run_file, first, gold)
    result = dataclasses.replace(result, known=known, failed_as=failed_as).with_scores(scores)
    if keep_rows:
        by_commits = {str(measure): history for measure in chosen if measure.needs_commits}
        keep_scores(store, result.run, *_kept(result, by_commits))
    if loaded.replaced and not replace and origin == IN_MEMORY:
        warning = f"these records take the place of others that were the run {result.run!r}; name= gives another name"
        result = dataclasses.replace(result, warnings=(*result.warnings, warning))
    return _warned(result, problems, told_by_caller)


def _warned(result: Evaluation, problems: Problems, told_by_caller: bool) -> Evaluation:
    """Return the result with warnings of the fields that aren't known, where nobody else tells them."""
    if told_by_caller:
        return result
    return dataclasses.replace(result, warnings=(*result.warnings, *problems.unknown_fields()))


def _kept(result: Evaluation, by_commits: Mapping[str, int]) -> tuple[list[Grading], Iterator[Mapping[str, object]]]:
    """Return who gave the scores of a result, and the scores as the graph keeps them.

    ``by_commits`` holds the measures that ask for commits, with how often the histories had changed before.
    """
    from graphkit import __version__
    from graphkit.graph.score_nodes import Grading, gradings_of, rows_of
    from graphkit.records.scores import GRAPHKIT

    given = {score.measure for score in result.given}
    own = [(place, name) for place, name in enumerate(result.measures) if name not in given]

    def rows() -> Iterator[Mapping[str, object]]:
        for row in result.rows:
            for place, name in own:
                value = row.values[place]
                kept = {"reason": value} if isinstance(value, str) else {"value": value}
                yield {
                    "question": row.question,
                    "measure": name,
                    "grader": GRAPHKIT,
                    "gold_hash": row.gold_hash,
                    **kept,
                }
        yield from rows_of(result.given)

    gradings = [
        Grading(name, GRAPHKIT, __version__, history=by_commits.get(name), gold_hash=result.gold_hash)
        for _, name in own
    ]
    return gradings + gradings_of(result.given), rows()


def _history(store: Store | None) -> int:
    if store is None:
        return 0
    from graphkit.graph.knowledge import history_changes

    return history_changes(store)


def _context(
    source: Dataset, measures: Sequence[Measure], store: Store | None, problems: Problems, progress: Progress
) -> tuple[CommitGraph, dict[str, str]]:
    """Return what is known about commits, as far as a measure asks for it, and why which questions aren't scored.

    Both come from the graph where there is one, which knows them since the dataset was loaded.
    """
    if store is None:
        return known_from_files(source, measures, problems)
    loading = Problems(problems.on_error, strict=problems.strict)
    ensure_loaded(store, source, loading, progress)
    problems.merge(loading.without(source.questions_file))
    from graphkit.graph.knowledge import commit_graph, invalid_questions

    needed = any(measure.needs_commits for measure in measures)
    commits = commit_graph(store, source.name, source.artifact_commits()) if needed else CommitGraph()
    commits.files = source.known_files()
    return commits, invalid_questions(store, source.name)


def known_from_files(
    source: Dataset, measures: Iterable[Measure], problems: Problems
) -> tuple[CommitGraph, dict[str, str]]:
    """Return what a dataset's files say of commits, as far as a measure asks, and why which questions aren't scored."""
    needed = any(measure.needs_commits for measure in measures)
    commits = source.commit_graph(problems) if needed or source.graphs else CommitGraph(files=source.known_files())
    stale = stale_gold(source, commits, problems)
    return commits, {name: reason for name, reasons in stale.items() if (reason := invalid_reason(reasons))}


def _with_rows(result: Evaluation, rows: Iterable[Row]) -> Evaluation:
    return dataclasses.replace(result, rows=tuple(rows))


def _merged(measures: Sequence[Measure], in_cypher: Evaluation, in_python: Evaluation) -> Evaluation:
    """Return one result with the measures in the order that was asked for, from whichever engine computed them."""
    names = [str(measure) for measure in measures]
    by_question = {row.question: row for row in in_cypher.rows}
    rows = []
    for row in in_python.rows:
        values = dict(zip(in_python.measures, row.values, strict=True))
        values |= dict(zip(in_cypher.measures, by_question[row.question].values, strict=True))
        rows.append(dataclasses.replace(row, values=tuple(values[name] for name in names)))
    both = {**in_python.measures, **in_cypher.measures}
    return dataclasses.replace(in_python, measures={name: both[name] for name in names}, rows=tuple(rows))
