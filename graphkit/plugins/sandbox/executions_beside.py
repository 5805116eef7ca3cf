"""Executions of answers' code as a kind of records that lie beside a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.files.problems import Problems
from graphkit.graph.answered import Kind
from graphkit.graph.beside import KindBeside
from graphkit.measures.outcome import Decision, grade_of
from graphkit.plugins.sandbox.execution_failures import SENTENCES
from graphkit.plugins.sandbox.execution_files import read_executions
from graphkit.plugins.sandbox.execution_view import WORDS, executed, overview
from graphkit.plugins.sandbox.executions import Execution
from graphkit.records.scores import EXECUTION
from graphkit.records.usage import Spread


class ExecutionsBeside(KindBeside[Execution]):
    """The executions of answers' code: ``RUN.grades/execution.executions.jsonl``. An answer has at most one."""

    record = Execution
    kind = Kind("execution", "of", "executed")
    letter = "x"
    counted_as = "executed"
    only_one = True
    vocabulary = {"statuses": WORDS}
    sentences = SENTENCES

    def read(self, files: Iterable[Path], problems: Problems) -> list[Execution]:
        """Return the executions of some files, at most one of an answer."""
        return read_executions(files, problems)

    def decision(self, record: Execution) -> Decision:
        """Return what the tests of an answer's code say about it."""
        return grade_of("FactualCorrectness", float(record.status == "success"), EXECUTION)

    def check(self, store: Store, records: Sequence[Execution]) -> None:
        """Check that the graph can hold executions."""
        from graphkit.plugins.sandbox.execution_nodes import check_executions

        check_executions(store, records)

    def load(self, store: Store, records: Sequence[Execution]) -> dict[str, int]:
        """Store executions test by test, instead of earlier ones of the same runs."""
        from graphkit.plugins.sandbox.execution_nodes import load_executions

        return load_executions(store, records)

    def stranger(self, record: Execution) -> str:
        """Return the message on an execution whose question isn't in the dataset."""
        return f"the execution of {record.question!r} is of a question that isn't in the dataset"

    def shown(self, records: Sequence[Execution]) -> dict[str, Any]:
        """Return the only execution of an answer, the failing test first."""
        [execution] = records
        return executed(execution)

    def overview(
        self, records: Mapping[str, Sequence[Execution]], cost: Spread | None, link: Callable[[str], Any]
    ) -> dict[str, Any] | None:
        """Return how many answers passed their tests, and how the others ended, with links to their questions."""
        found = overview({question: one for question, [one] in records.items()})
        for status in found["statuses"] if found is not None else ():
            status["questions"] = [link(question) for question in status["questions"]]
        return found

    def listed(self, records: Sequence[Sequence[Execution]]) -> Mapping[str, Any]:
        """Return the status and the passed tests of each question's execution; None where none was executed."""
        return {
            "executions": [
                {"status": some[0].status, "passed": some[0].passed, "total": len(some[0].tests)} if some else None
                for some in records
            ]
        }


#: The kind, as the entry point names it.
EXECUTIONS_BESIDE = ExecutionsBeside()
