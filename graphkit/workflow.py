"""What the command line and a notebook call: open a graph, load, evaluate, ask for failures."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from graphkit.checking import invalid_reasons, stale_gold
from graphkit.commits import CommitGraph
from graphkit.engines.python import score_file
from graphkit.engines.scorer import Job
from graphkit.errors import InputError
from graphkit.graph.catalog import named_query, schema_statements
from graphkit.graph.connection import Store
from graphkit.graph.loading import LoadSummary, Progress, ensure_loaded, load_dataset, quiet
from graphkit.graph.settings import Settings
from graphkit.measures.base import Measure
from graphkit.measures.registry import resolve_measures
from graphkit.results import Evaluation, Row
from graphkit.sources.dataset import Dataset
from graphkit.sources.report import OnError, Report

Engine = Literal["python", "cypher"]


def open_store(
    uri: str | None = None,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    data: str | Path | None = None,
) -> Store:
    """Open the graph database: Neo4j where a URI is given or ``NEO4J_URI`` names one, else the embedded one.

    Parameters
    ----------
    data
        The folder of the embedded database; ``.graphkit`` of the working folder by default.

    Returns
    -------
    Store
        A context manager; its constraints and indexes are made.

    Raises
    ------
    DatabaseError
        The database can't be reached, refuses the credentials, or is older than Neo4j 5.23.
    """
    settings = Settings.resolve(uri, username, password, database, Path(data) if data is not None else None)
    return prepared(Store.open(settings))


def prepared(store: Store) -> Store:
    """Make the constraints and indexes of an open store, and return it; a store that refuses is closed."""
    try:
        store.schema(schema_statements())
    except BaseException:
        store.close()
        raise
    return store


def load(store: Store, dataset: str | Path | Dataset, *, on_error: OnError = "fail") -> LoadSummary:
    """Load a dataset into the graph: commits, compatibility, knowledge graphs, questions with gold paths.

    Loading twice changes nothing. Nothing is written where a record can't be used, unless ``on_error`` is ``"skip"``.

    Raises
    ------
    InputError
        With file, line, record and remedy of what can't be used.
    """
    chosen = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
    return load_dataset(store, chosen, Report(on_error))


def evaluate(
    run: str | Path,
    dataset: str | Path | Dataset | None = None,
    *,
    measures: Sequence[str | Measure] = (),
    k: int | None = None,
    engine: Engine = "python",
    store: Store | None = None,
    on_error: OnError = "fail",
    report: Report | None = None,
    keep_rows: bool = True,
    judge: bool = False,
    progress: Progress = quiet,
) -> Evaluation:
    """Score a run log.

    Parameters
    ----------
    run
        A run log in JSON Lines.
    dataset
        Its dataset; by default the folder whose ``runs/`` holds the log.
    measures
        Names or values; by default those of ``graphkit.measures.registry.DEFAULT_MEASURES``.
    k
        The cut-off of measures that name none; 5 by default.
    engine
        ``"cypher"`` lets the database compute every measure that it can; it needs a store.
    store
        Keeps dataset, run and scores in the graph. Without one, nothing but the files is needed.
    keep_rows
        Keep the value of each question, not only the means; where they are kept, they also go into the store.
    judge
        Also tell of each kept question whether answer and path are right, and at which stage it ended.

    Returns
    -------
    Evaluation
        The summary of each measure, and the value of each question.

    Raises
    ------
    InputError
        A file or record can't be used, or a measure isn't known.
    DatabaseError
        The database doesn't do as asked.
    """
    chosen = resolve_measures(measures, k=k)
    run_file = Path(run)
    source = _dataset(run_file, dataset)
    report = report if report is not None else Report(on_error)
    if engine == "cypher" and store is None:
        raise InputError("the cypher engine needs a store", remedy="Give store=graphkit.open_store().")
    commits, invalid = _context(source, chosen, store, report, progress)
    in_python = chosen if engine == "python" else tuple(measure for measure in chosen if measure.query is None)
    rows: list[Row] = []
    # With Cypher the files are still read through first: what can't be used must be told before it is stored.
    take = rows.extend if keep_rows else None
    job = Job(source.questions_file, run_file, in_python, commits, invalid, keep_rows, judge)
    scored = score_file(job, dataset=source.name, report=report, sink=take)
    result = _with_rows(scored, rows)
    if store is None:
        return result
    from graphkit.graph.runs import load_run
    from graphkit.graph.scores import keep_scores

    load_run(store, source.name, scored.run, run_file, progress)
    if engine == "cypher":
        from graphkit.engines.cypher import score_run

        in_graph = [measure for measure in chosen if measure.query]
        result = _merged(chosen, score_run(store, source.name, scored.run, in_graph, keep_rows), result)
    if keep_rows:
        keep_scores(store, result)
    return result


def _dataset(run_file: Path, dataset: str | Path | Dataset | None) -> Dataset:
    if isinstance(dataset, Dataset):
        return dataset
    if not run_file.exists():
        raise InputError("there is no such file", where=str(run_file), remedy="Check the path and its spelling.")
    return Dataset(dataset) if dataset is not None else Dataset.of_run(run_file)


def _context(
    source: Dataset, measures: Iterable[Measure], store: Store | None, report: Report, progress: Progress
) -> tuple[CommitGraph, dict[str, str]]:
    """Return what is known about commits, as far as a measure asks for it, and why which questions aren't scored.

    Both come from the graph where there is one, which knows them since the dataset was loaded.
    """
    needed = any(measure.needs_commits for measure in measures)
    if store is None:
        rows = source.compatibility(report) if needed or source.graphs else []
        commits = CommitGraph.build(source.commits(report), rows) if needed else CommitGraph()
        return commits, invalid_reasons(stale_gold(source, rows, report))
    loading = Report(report.on_error)
    ensure_loaded(store, source, loading, progress)
    report.merge(loading.without(source.questions_file))
    from graphkit.engines.cypher import commit_graph, invalid_questions

    return commit_graph(store, source.name) if needed else CommitGraph(), invalid_questions(store, source.name)


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


def failures(
    store: Store,
    run: str,
    kind: str,
    *,
    question: str | None = None,
    limit: int = 20,
    other: str | None = None,
) -> list[dict[str, object]]:
    """Return what a run did wrong in one way, such as ``"wrong-turns"``: the rows of the named query.

    Parameters
    ----------
    kind
        The name of a query; ``graphkit queries`` lists them.
    other
        The run to compare with, for ``"found-and-lost"``.

    Raises
    ------
    InputError
        The kind, the run or the question isn't known.
    """
    query = named_query(kind)
    require_run(store, run)
    given: dict[str, object] = {"run": run, "question": question, "limit": limit}
    if any(parameter.name == "other" for parameter in query.parameters):
        if other is None:
            raise InputError(f"{query.name} compares with another run", remedy="Name it by --other RUN.")
        require_run(store, other)
        given["other"] = other
    if question is not None:
        require_question(store, question)
    return store.read(query.text, query.bind(given))


def require_run(store: Store, run: str) -> Mapping[str, Any]:
    """Return what the graph knows of a run, and refuse one that it doesn't hold, or not completely.

    Raises
    ------
    InputError
        With the runs that the graph holds.
    """
    import difflib

    from graphkit.graph.catalog import cypher

    runs = {str(row["id"]): row for row in store.read(cypher("read/runs"))}
    if run in runs and runs[run]["complete"]:
        return runs[run]
    if run in runs:
        raise InputError(
            f"the run {run!r} was not loaded to its end",
            remedy="Run `graphkit evaluate` on its file again: the load goes on where it stopped.",
        )
    close = difflib.get_close_matches(run, runs, n=1)
    hint = f"Did you mean {close[0]}? " if close else ""
    known = f"The graph holds: {', '.join(runs)}." if runs else "The graph holds no run yet."
    raise InputError(
        f"no run is called {run!r}", remedy=f"{hint}{known} `graphkit evaluate RUN.jsonl` scores a run and keeps it."
    )


def run_source(store: Store, run: str) -> tuple[Path, Path]:
    """Return the file that a run of the graph was loaded from, and the folder of its dataset.

    Raises
    ------
    InputError
        The run isn't known, its file is gone, or what it was loaded from has changed.
    """
    from graphkit.graph.catalog import cypher
    from graphkit.graph.runs import questions_of, run_digest

    known = require_run(store, run)
    if not known["file"]:
        raise InputError(
            f"the graph doesn't know the file of the run {run!r}",
            remedy="Name the file; or `graphkit evaluate` it again, which notes where it is.",
        )
    file, dataset = Path(known["file"]), str(known["dataset"])
    if not file.is_file():
        raise InputError(
            f"the file that the run {run!r} was loaded from is gone",
            where=str(file),
            remedy="Put it back, or name the file where it is now.",
        )
    if run_digest(file, questions_of(store, dataset)) != known["digest"]:
        raise InputError(
            f"the run {run!r} is no longer what was loaded: this file, or which questions its dataset has, has changed",
            where=str(file),
            remedy=f"`graphkit evaluate {file}` loads it anew; or name the file, to take it as it is now.",
        )
    [folder] = [row["folder"] for row in store.read(cypher("read/datasets")) if row["name"] == dataset]
    return file, Path(str(folder))


def require_question(store: Store, question: str) -> None:
    """Refuse a question that the graph doesn't hold.

    Raises
    ------
    InputError
        No question has this id.
    """
    from graphkit.graph.catalog import cypher

    if not store.read(cypher("load/known_questions"), {"ids": [question]}):
        raise InputError(
            f"no question has the id {question!r}",
            remedy="`graphkit failures RUN --kind questions-by-score` lists the questions of a run.",
        )
