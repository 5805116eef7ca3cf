"""Verdicts, with their claims and citations, and executions of a run in the graph.

Plug-ins write them. Here is what happens to them when the run is cleared, loaded again or renamed, also without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphkit.database.store import Store
from graphkit.graph.queries import cypher
from graphkit.graph.rows import digest
from graphkit.graph.writing import clear

#: The parts of verdicts, in the order in which they are deleted.
VERDICT_PARTS = ("verdicts", "claims", "citations")


def judges_of_run(store: Store, run: str) -> list[str]:
    """Return the judges that gave verdicts on a run, also incomplete ones."""
    return [str(row["judge"]) for row in store.read(cypher("read/judgings"), {"run": run})]


def reservation_of_verdicts(run: str, judge: str) -> str:
    """Return the name of the reservation of a judge's verdicts on a run."""
    return f"verdicts of {judge} on {run}"


def reservation_of_executions(run: str) -> str:
    """Return the name of the reservation of a run's executions."""
    return f"executions of {run}"


def part_key(run: str, question: str, judge: str, model: str, grader: str, position: int) -> str:
    """Return the key of a claim or a citation, at its position in the verdict."""
    return f"{verdict_key(run, question, judge, model, grader)}/{position}"


def verdict_key(run: str, question: str, judge: str, model: str, grader: str) -> str:
    """Return how the keys of the claims and citations of a verdict begin; ``model`` is empty if a judge has none."""
    return digest({"run": run, "question": question, "judge": judge, "model": model, "grader": grader})


def clear_verdicts(store: Store, run: str, judge: str | None = None, questions: Sequence[str] | None = None) -> None:
    """Delete the verdicts on a run with their claims and citations: those of a judge, or on questions, else all."""
    for part in VERDICT_PARTS:
        clear(store, f"load/clear_{part}", {"run": run, "judge": judge, "questions": questions})


def clear_given(store: Store, run: str, questions: Sequence[str] | None = None) -> None:
    """Delete what others gave a run, or some questions of it; if all of it, it is marked as deleted before."""
    if questions is None:
        store.write(cypher("load/clear_judgings"), {"run": run})
    clear_verdicts(store, run, questions=questions)
    if questions is None:
        store.write(cypher("load/forget_executions"), {"run": run})
    clear(store, "load/clear_executions", {"run": run, "questions": questions})


def links_of_given(store: Store, run: str) -> Iterator[tuple[str, str]]:
    """Yield the parts that are linked to answers that were loaded again, each by the name of its author."""
    for judge in judges_of_run(store, run):
        yield from ((part, judge) for part in (*VERDICT_PARTS, "evidence", "targets"))
    if store.read(cypher("read/executed"), {"run": run}):
        yield "executions", ""
