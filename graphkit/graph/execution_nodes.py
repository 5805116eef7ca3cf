"""Executions in the graph: what became of the code of answers, test by test, beside them.

    (:Answer)-[:EXECUTED]->(:Execution {status, language, mechanism, code, passed, total})
    (:Execution)-[:RAN]->(:CodeTestResult {name, position, status, message, line, expected, returned, attempts})

All executions of a run are one whole: ``Run.executed`` is false before the first of them is deleted, and true behind
the last one that is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.answered import EXECUTION, refuse_outdated, refuse_unknown
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import reserved
from graphkit.graph.writing import batched, clear
from graphkit.records.executions import Execution

#: Questions whose executions one transaction writes: each has some tests, with the code that they ran.
QUESTIONS = 100

#: The fields that a node keeps of an execution, and of a test.
_KEPT = ("run", "question", "status", "language", "mechanism", "entry_point", "code", "passed", "duration_ms")
_KEPT_OF_TEST = ("name", "status", "message", "line", "duration_ms", "expected", "returned", "printed")


@dataclass(frozen=True, slots=True)
class Executed:
    """All executions of a run.

    ``complete`` says that they are all there, and ``current`` that the dataset is still as it was then.
    """

    executions: int
    complete: bool = True
    current: bool = True


def keep_executions(store: Store, run: str, executions: Iterable[Execution]) -> int:
    """Store the executions of a run that the graph holds, in place of all that it had; return how many were stored.

    Parameters
    ----------
    executions
        Of this run, on each question one at most.
    """
    stored = 0
    with reserved(store, f"executions of {run}") as held:
        store.write(cypher("load/execute"), {"run": run})
        clear(store, "load/clear_executions", {"run": run})
        for batch in batched(executions, QUESTIONS):
            store.write(cypher("load/executions"), {"run": run, "rows": [_row(one) for one in batch]})
            stored += len(batch)
            held.beat()
        held.complete("load/executions_complete", {"run": run, "executions": stored})
    return stored


def clear_executions(store: Store, run: str) -> None:
    """Delete every execution of a run, and first what says that they are there."""
    store.write(cypher("load/forget_executions"), {"run": run})
    clear(store, "load/clear_executions", {"run": run})


def executed(store: Store, run: str) -> Executed | None:
    """Return whether the executions of a run are all there; None where it was never executed."""
    rows = store.read(cypher("read/executed"), {"run": run})
    return Executed(**rows[0]) if rows else None  # type: ignore[arg-type]


def load_executions(store: Store, executions: Sequence[Execution]) -> dict[str, int]:
    """Put recorded executions beside the answers of runs that the graph holds; return how many of each run.

    Earlier executions of the same run are replaced. Everything is checked before anything is written.

    Raises
    ------
    InputError
        As :func:`check_executions` says.
    """
    check_executions(store, executions)
    return {run: keep_executions(store, run, some) for run, some in _by_run(executions).items()}


def check_executions(store: Store, executions: Iterable[Execution]) -> None:
    """Refuse executions that can't stand in the graph.

    Raises
    ------
    InputError
        A run or question isn't in the graph, or an execution is of another answer than the graph holds.
    """
    for run, some in _by_run(executions).items():
        refuse_unknown(store, run, some, EXECUTION)
        refuse_outdated(store, run, some, EXECUTION)


def _by_run(executions: Iterable[Execution]) -> dict[str, list[Execution]]:
    runs: dict[str, list[Execution]] = {}
    for execution in executions:
        runs.setdefault(execution.run, []).append(execution)
    return runs


def _row(execution: Execution) -> dict[str, Any]:
    """Return an execution with its tests, as the load query takes it."""
    mark = {"run": execution.run, "question": execution.question}
    return {
        "question": execution.question,
        "execution": {**{name: getattr(execution, name) for name in _KEPT}, "total": len(execution.tests)},
        "tests": [
            {
                **mark,
                "position": position,
                **{name: getattr(test, name) for name in _KEPT_OF_TEST},
                "attempts": list(test.attempts),
            }
            for position, test in enumerate(execution.tests)
        ],
    }
