"""Scores beside the paths: ``(:Measurement {run, question, measure, value, reason})``, for queries that join both.

``Run.measures`` names the measures whose scores are all there: a name is taken off before the first deletion.
"""

from __future__ import annotations

from graphkit.database.store import Store
from graphkit.graph.claims import claim
from graphkit.graph.datasets import BATCH, batched, clear
from graphkit.graph.queries import cypher
from graphkit.scoring.results import Evaluation


def keep_scores(store: Store, result: Evaluation) -> int:
    """Store the value of each measure and question of a result with rows, and return how many were stored.

    Earlier values of the same run and measures are replaced; those of other measures stay.
    """
    names = list(result.measures)
    rows = (
        {
            "question": row.question,
            "measure": name,
            "value": None if isinstance(value, str) else value,
            "reason": value if isinstance(value, str) else None,
        }
        for row in result.rows
        for name, value in zip(names, row.values, strict=True)
    )
    stored = 0
    with claim(store, f"scores of {result.run}") as held:
        marked = {"run": result.run, "measures": names}
        store.write(cypher("load/scores_change"), marked)
        clear(store, "load/clear_measurements", marked)
        for batch in batched(rows, BATCH):
            store.write(cypher("load/measurements"), {"run": result.run, "rows": batch})
            stored += len(batch)
            held.beat()
        held.complete("load/scores_complete", marked)
    return stored
