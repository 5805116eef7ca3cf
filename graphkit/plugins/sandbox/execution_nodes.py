"""Executions in the graph: the results of the code of answers, test by test.

    (:Answer)-[:EXECUTED]->(:Execution {status, language, mechanism, code, passed, total})
    (:Execution)-[:RAN]->(:CodeTestResult {name, position, status, message, line, expected, returned, attempts,
                                                      decided_by})

``Run.executed`` is false from before the first execution of a run is deleted until after the last one is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.answered import Kind, by_run, refuse_outdated, refuse_unknown
from graphkit.graph.given_parts import reservation_of_executions
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.right_answers import decide
from graphkit.graph.rows import fields_of
from graphkit.graph.writing import batched, clear
from graphkit.plugins.sandbox.executions import Execution

#: Its words in messages.
EXECUTION = Kind("execution", "of", "executed")

#: Questions whose executions one transaction writes.
QUESTIONS = 100

#: The fields of an execution and of a test that their nodes keep.
_KEPT = ("run", "question", "status", "language", "mechanism", "entry_point", "code", "passed", "duration_ms")
_KEPT_OF_TEST = ("name", "status", "message", "line", "duration_ms", "expected", "returned", "printed", "decided_by")


@dataclass(frozen=True, slots=True)
class Executed:
    """All executions of a run: whether the graph holds all of them, and whether the dataset is unchanged since."""

    executions: int
    complete: bool = True
    current: bool = True


def keep_executions(store: Store, run: str, executions: Iterable[Execution]) -> int:
    """Replace all executions of a run in the graph, at most one per question, and return how many were stored.

    Raise InputError if the graph doesn't hold the run any more, as after a renaming.
    """
    stored = 0
    with reserved(store, reservation_of_executions(run)) as held:
        require_run(store, run)
        store.write(cypher("load/execute"), {"run": run})
        clear(store, "load/clear_executions", {"run": run, "questions": None})
        for batch in batched(executions, QUESTIONS):
            store.write(cypher("load/executions"), {"run": run, "rows": [_row(one) for one in batch]})
            stored += len(batch)
            held.beat()
        decide(store, run)
        held.complete("load/executions_complete", {"run": run, "executions": stored})
    return stored


def executed(store: Store, run: str) -> Executed | None:
    """Return whether all executions of a run are there; None if it was never executed."""
    rows = store.read(cypher("read/executed"), {"run": run})
    return Executed(**rows[0]) if rows else None  # type: ignore[arg-type]


def load_executions(store: Store, executions: Sequence[Execution]) -> dict[str, int]:
    """Store recorded executions of runs in the graph, and return how many of each run.

    They replace earlier executions of the same run. All records are checked before any is written.

    Raises
    ------
    InputError
        See :func:`check_executions`.
    """
    check_executions(store, executions)
    return {run: keep_executions(store, run, some) for run, some in by_run(executions).items()}


def check_executions(store: Store, executions: Iterable[Execution]) -> None:
    """Check that the graph can hold these executions.

    Raise InputError if a run or question isn't in the graph, or an execution is of an answer that the graph doesn't
    hold.
    """
    for run, some in by_run(executions).items():
        refuse_unknown(store, run, some, EXECUTION)
        refuse_outdated(store, run, some, EXECUTION)


def _row(execution: Execution) -> dict[str, Any]:
    """Return the row of an execution with its tests."""
    mark = {"run": execution.run, "question": execution.question}
    return {
        "question": execution.question,
        "execution": {**fields_of(execution, _KEPT), "total": len(execution.tests)},
        "tests": [
            {**mark, "position": position, **fields_of(test, _KEPT_OF_TEST), "attempts": list(test.attempts)}
            for position, test in enumerate(execution.tests)
        ],
    }
