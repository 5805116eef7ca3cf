"""Executes the code of a run on the tests of its questions, and keeps the results beside its file and in the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.files.assets import located
from graphkit.files.dataset import Dataset
from graphkit.files.grades_beside import SCORES, file_beside, grades_folder
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problem, Problems
from graphkit.files.score_files import write_scores
from graphkit.graph.runs import refuse_other_run
from graphkit.measures.judged import TESTED
from graphkit.plugins.sandbox.execution_files import EXECUTIONS, write_executions
from graphkit.plugins.sandbox.executions import Execution
from graphkit.plugins.sandbox.questions import mistakes_in_tests
from graphkit.plugins.sandbox.running import Unexecuted, execute_all
from graphkit.plugins.sandbox.sandbox import Sandbox
from graphkit.records.gold import gold_hash
from graphkit.records.scores import EXECUTION, Score
from graphkit.records.structs import QuestionStruct
from graphkit.records.words import counted
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.run_pass import ReadRun

#: The version of the comparison of values that gives the scores. In 2 the answer's own word decides no test.
VERSION = "2"


@dataclass(frozen=True)
class ExecutedRun:
    """The result of executing the code of a run.

    Attributes
    ----------
    scores
        One for each question with tests, in their order; its value is None with a reason if nothing could be run.
    executions
        The result of each answer's code; a missing answer has none.
    """

    run: str
    scores: tuple[Score, ...] = field(repr=False)
    executions: tuple[Execution, ...] = field(repr=False)

    @property
    def summary(self) -> Summary:
        """The summary of the pass rates."""
        values = (score.reason if score.number is None else score.number for score in self.scores)
        return Summary.of_values(TESTED, values)

    @property
    def by_status(self) -> dict[str, int]:
        """The number of answers by status, the most frequent first."""
        return dict(Counter(one.status for one in self.executions).most_common())

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON; the code itself stays in the files of the run."""
        return {
            "measures": {TESTED: asdict(self.summary)},
            "by_status": self.by_status,
            "unscored": {score.question: score.reason for score in self.scores if score.value is None},
            "executions": [one.model_dump(mode="json", exclude={"code"}) for one in self.executions],
        }


def execute(
    run: str | Path,
    dataset: str | Path | Dataset | None = None,
    *,
    sandbox: Sandbox,
    store: Store | None = None,
    keep: bool = False,
    name: str | None = None,
    problems: Problems | None = None,
    progress: Callable[[int], None] = lambda _: None,
    trust_own_methods: bool = False,
) -> ExecutedRun:
    """Run the code of a run's answers on the tests of their questions.

    Parameters
    ----------
    sandbox
        Where the code runs, see :func:`graphkit.plugins.sandbox.sandbox.open_sandbox`.
    store
        Keeps scores and executions in the graph, beside the answers. A missing dataset or run is loaded.
    keep
        Keep them in files beside the run; those of an earlier execution are replaced.
    name
        The name of the run, whatever its records say.
    progress
        Called with the number of tests after each answer.
    trust_own_methods
        Count a test as passed, too, that nothing but methods of the answer's own decides, such as its ``equals``.
        Without it such a test is ``unproven``.

    Raises
    ------
    InputError
        A file can't be used, no question has tests, or the store holds another run of the name.
    SandboxError
        The sandbox broke.
    """
    run_file = located(run)
    source = Dataset.of_run(run_file, dataset)
    problems = problems if problems is not None else Problems()
    read = ReadRun.read(run_file, source, problems, name)
    if store is not None:
        refuse_other_run(store, source.name, read.run, run_file)
    tested = _tested(read, source, problems)
    lacking = {name: reason for name in tested if (reason := read.lacking(name)) is not None}
    wanted = [(one, read.answers[name].answer or "") for name, one in tested.items() if name not in lacking]
    found = execute_all(wanted, read.run, sandbox, progress, trust_own_methods=trust_own_methods)
    # Without a sandbox, code may have had access to more, so such scores have their own version.
    version = f"{VERSION}, without a sandbox" if sandbox.wall.name == "none" else VERSION
    if trust_own_methods:
        version += ", trusting own methods"
    scores = tuple(_score(read, name, lacking.get(name) or found[name], version) for name in tested)
    executed = ExecutedRun(read.run, scores, tuple(one for one in found.values() if isinstance(one, Execution)))
    if keep:
        _keep_beside(run_file, executed)
    if store is not None:
        _into_graph(store, run_file, source, executed, problems)
    return executed


def _tested(read: ReadRun, source: Dataset, problems: Problems) -> dict[str, QuestionStruct]:
    """Return the questions with usable tests; add those with unusable tests to the problems."""
    tested = [one for one in read.questions.values() if one.test_cases]
    if not tested:
        raise InputError(
            "no question carries test_cases, so there is nothing to execute",
            where=str(source.questions_file),
            remedy="See docs/execution.md for how a question says what its code has to do.",
        )
    wrong = {one.id: what[0] for one in tested if (what := mistakes_in_tests(one))}
    for name, mistake in wrong.items():
        problems.add(Problem(str(source.questions_file), mistake, name, "See docs/execution.md."))
    problems.raise_if_refused()
    return {one.id: one for one in tested if one.id not in wrong}


def _score(run: ReadRun, question: str, found: Execution | Unexecuted | str, version: str) -> Score:
    """Return the score of one answer, or the reason why its code wasn't run."""
    about = run.questions[question]
    score = Score(
        run=run.run,
        question=question,
        measure=TESTED,
        value=None,
        grader=EXECUTION,
        version=version,
        category=about.category,
        difficulty=about.difficulty,
        group=about.group,
        gold_hash=gold_hash(about),
    )
    if not isinstance(found, Execution):
        reason = found if isinstance(found, str) else found.reason
        return score.model_copy(update={"reason": reason})
    explanation = f"{found.passed} of {counted(len(found.tests), 'test')} passed"
    if (failing := found.failing) is not None:
        explanation += f"; {failing.name}: {failing.message or failing.status}"
    elif own := [f"{one.name}: {one.decided_by}" for one in found.tests if one.decided_by is not None]:
        explanation += f"; {own[0]}"
    of_code = {
        "value": found.passed / len(found.tests),
        "grade": found.status,
        "label": None if found.status == "success" else found.status,
        "explanation": explanation,
    }
    return score.model_copy(update=of_code)


def _keep_beside(run_file: Path, executed: ExecutedRun) -> None:
    """Keep executions and scores in files beside a run.

    Raises
    ------
    InputError
        A file can't be written.
    """
    score_file, execution_file = (file_beside(run_file, EXECUTION, f"{kind}.jsonl") for kind in (SCORES, EXECUTIONS))
    check_output(score_file, "scores", [run_file])
    check_output(execution_file, "executions", [run_file])
    grades_folder(run_file).mkdir(exist_ok=True)
    write_scores(score_file, executed.scores)
    if executed.executions:
        write_executions(execution_file, executed.executions)
    else:
        execution_file.unlink(missing_ok=True)  # no file is left without a record


def _into_graph(store: Store, run_file: Path, source: Dataset, executed: ExecutedRun, problems: Problems) -> None:
    """Put scores and executions beside the answers in the graph; load the run first if it is missing.

    A run that the graph stores in part stays so, and gets those of its stored questions; files have them all.
    """
    from graphkit.graph.runs import stored_part
    from graphkit.graph.score_nodes import load_scores
    from graphkit.plugins.sandbox.execution_nodes import keep_executions
    from graphkit.scoring.evaluate import evaluate

    part = stored_part(store, executed.run, run_file)
    if part is None:
        # Problems of the files were reported when they were read.
        evaluate(
            run_file,
            source,
            measures=["EdgeRecall"],
            store=store,
            on_error=problems.on_error,
            keep_rows=False,
            name=executed.run,
        )
    load_scores(store, [score for score in executed.scores if part is None or score.question in part])
    kept = [one for one in executed.executions if part is None or one.question in part]
    keep_executions(store, executed.run, kept)
