"""Keep the results of a run in the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from graphkit import __version__
from graphkit.database.store import Store
from graphkit.graph.score_nodes import Grading, gradings_of, keep_scores, rows_of
from graphkit.records.progress import Progress, expect, quiet
from graphkit.records.scores import GRAPHKIT
from graphkit.scoring.results import Evaluation, Row


def keep_results(
    store: Store,
    result: Evaluation,
    histories: Mapping[str, int],
    only: Set[str] | None = None,
    progress: Progress = quiet,
    rows: Iterable[Row] | None = None,
) -> None:
    """Keep the scores of a result in the graph, computed and given ones.

    Parameters
    ----------
    histories
        For each measure that reads commits, how often the histories had changed before it was computed.
    only
        The questions of which scores are kept; by default all.
    rows
        The rows of the result, if it doesn't hold them itself.
    """
    given = {score.measure for score in result.given}
    given_scores = [score for score in result.given if only is None or score.question in only]
    computed = [(place, name) for place, name in enumerate(result.measures) if name not in given]

    def given_rows() -> Iterator[Mapping[str, object]]:
        for row in result.rows if rows is None else rows:
            if only is not None and row.question not in only:
                continue
            score = {"question": row.question, "grader": GRAPHKIT, "gold_hash": row.gold_hash}
            for place, name in computed:
                value = row.values[place]
                yield {**score, "measure": name, "reason" if isinstance(value, str) else "value": value}
        yield from rows_of(given_scores)

    gradings = [
        Grading(name, GRAPHKIT, __version__, history=histories.get(name), gold_hash=result.gold_hash)
        for _, name in computed
    ]
    kept = result.questions if only is None else len(only)
    expect(progress, "scores", kept * len(computed) + len(given_scores))
    keep_scores(store, result.run, gradings + gradings_of(given_scores), given_rows(), progress)
