"""One run evaluated for two principals: what is stored says for whom, and the scores of one aren't the other's."""

from __future__ import annotations

from pathlib import Path

import graphkit
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.graph.score_nodes import outdated_scores
from graphkit.scoring.results_folder import read_results
from tests.helpers.datasets import write_jsonl

THROUGH = [["web:a.ts", "CALLS", "hr:p.py"]]


def world(folder: Path) -> Path:
    """Write one question whose path only the staff may read, and a run that walks it; return the file of the run."""
    rules = [{"principal": "web-team", "allow": ["web:*"]}, {"principal": "staff", "allow": ["*"]}]
    write_jsonl(folder / "access.jsonl", rules)
    write_jsonl(folder / "questions.jsonl", [{"id": "q", "question": "How?", "paths": [{"steps": THROUGH}]}])
    return write_jsonl(folder / "runs" / "r.jsonl", [{"run": "r", "question_id": "q", "traversal": THROUGH}])


def evaluated(run: Path, principal: str | None, *measures: str, **more: object) -> graphkit.Evaluation:
    """Return the result of the run for a principal."""
    dataset = Dataset(run.parent.parent, principal=principal)
    return graphkit.evaluate(run, dataset=dataset, measures=measures, **more)  # type: ignore[arg-type]


def test_results_say_for_whom(tmp_path: Path) -> None:
    """Results in memory, as JSON and in a folder name who asked, and nobody where nobody did."""
    run = world(tmp_path / "world")
    for principal in ("web-team", "staff", None):
        out = tmp_path / f"out-{principal}"
        for found in (evaluated(run, principal, "EdgeRecall"), evaluated(run, principal, "EdgeRecall", out=out)):
            assert found.principal == found.as_json().get("principal") == principal
        assert read_results(out).evaluation().principal == principal
    # The gold of two principals differs even where both may read all of it.
    hashes = {evaluated(run, principal, "EdgeRecall").gold_hash for principal in ("web-team", "staff", None)}
    assert len(hashes) == 3


def test_the_graph_says_for_whom(store: Store, tmp_path: Path) -> None:
    """The second principal's scores replace the first's by their measures; the others are named as the first's."""
    run = world(tmp_path / "world")
    for engine in ("python", "cypher"):
        first = evaluated(run, "web-team", "EdgeRecall", "WalkViolation", store=store, engine=engine)
        assert (first.principal, first.measures["WalkViolation"].mean) == ("web-team", 1.0)
        assert outdated_scores(store) == []
        second = evaluated(run, "staff", "EdgeRecall", store=store, engine=engine)
        assert second.measures["EdgeRecall"].mean == 1.0
        rows = store.read(
            "MATCH (g:Grading {run: 'r'}) WHERE g.measure IN ['EdgeRecall', 'WalkViolation'] "
            "RETURN g.measure AS measure, g.principal AS principal ORDER BY measure"
        )
        assert [(row["measure"], row["principal"]) for row in rows] == [
            ("EdgeRecall", "staff"),
            ("WalkViolation", "web-team"),
        ]
        [told] = outdated_scores(store)
        assert told.startswith("the scores of r are by earlier gold, some by that of web-team: ")
