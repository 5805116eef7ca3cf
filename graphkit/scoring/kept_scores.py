"""Keep the results of a run in the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from graphkit import __version__
from graphkit.database.store import Store
from graphkit.graph.right_answers import decision_row
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
    graders = {score.measure: score.grader or None for score in result.given}
    given = set(graders)
    given_scores = [score for score in result.given if only is None or score.question in only]
    computed = [(place, name) for place, name in enumerate(result.measures) if name not in given]
    places = {name: place for place, name in enumerate(result.measures) if name in given}
    counts: dict[tuple[str, str], tuple[float | None, float | str]] = {}

    def every_row() -> Iterator[Mapping[str, object]]:
        for row, counted in result.counted_rows(rows):
            if only is not None and row.question not in only:
                continue
            score = {"question": row.question, "grader": GRAPHKIT, "gold_hash": row.gold_hash}
            details = row.details or {}
            for place, name in computed:
                value = row.values[place]
                kind = "reason" if isinstance(value, str) else "value"
                one: dict[str, object] = {**score, "measure": name, kind: value, "counted": counted[place]}
                one.update(details.get(name, {}))
                yield one
            if row.by_text is not None and row.decision is not None:
                yield decision_row(row.question, row.by_text, row.decision)
            for name, place in places.items():
                counts[row.question, name] = counted[place], row.values[place]
        for given_score, of_given in zip(given_scores, rows_of(given_scores), strict=True):
            number, _ = counts.pop((given_score.question, given_score.measure), (None, ""))
            yield {**of_given, "counted": number}
        # A question without a given score may count as the worst value, as one that the run failed on.
        for (question, name), (number, reason) in counts.items():
            if number is not None:
                of_none = {"question": question, "measure": name, "grader": graders[name], "reason": reason}
                yield {**of_none, "counted": number}

    gradings = [
        Grading(name, GRAPHKIT, __version__, history=histories.get(name), gold_hash=result.gold_hash)
        for _, name in computed
    ]
    kept = result.questions if only is None else len(only)
    expect(progress, "scores", kept * len(result.measures))
    gradings += gradings_of(given_scores)
    keep_scores(store, result.run, gradings, every_row(), progress, decisions=True)
