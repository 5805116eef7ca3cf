"""``graphkit execute``."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphkit.cli.base import as_json, open_graph, print_json, print_line, print_problems, say, with_graph
from graphkit.cli.options import ON_ERROR, DatasetOption, OnErrorOption, RunNameOption, StrictOption, on_error_value
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.scoring.execute_run import ExecutedRun

# As in the library, and held equal by a test: to read it there would make help slow.
MEMORY = 512


@with_graph
def execute(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN.jsonl...", help="The runs whose code is executed.")],
    dataset: DatasetOption = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Tests that run at the same time. [default: one a processor]"),
    ] = None,
    memory: Annotated[int, typer.Option("--memory", min=64, metavar="MIB", help="Memory of one test.")] = MEMORY,
    unsafe: Annotated[
        bool, typer.Option("--unsafe-no-sandbox", help="Run the code with all that you may do yourself.")
    ] = False,
    run_name: RunNameOption = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Execute without a database.")] = False,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Run the code of answers on the tests of their questions, in a sandbox; results are kept beside the run."""
    from graphkit.cli.progress import shown_progress
    from graphkit.execution.limits import MIB, SandboxLimits
    from graphkit.execution.running import programs
    from graphkit.execution.sandbox import open_sandbox
    from graphkit.files.problems import Problems
    from graphkit.scoring.execute_run import execute as execute_run

    skip = on_error_value(on_error)
    if run_name is not None and len(runs) > 1:
        raise InputError(f"--run names one run, and there are {len(runs)} files", remedy="Execute one after the other.")
    results: list[ExecutedRun] = []
    with (
        open_sandbox(jobs=jobs, limits=SandboxLimits(memory * MIB), programs=programs(), unsafe=unsafe) as sandbox,
        nullcontext() if no_store else open_graph() as store,
        shown_progress("execute") as advance,
    ):
        say(sandbox.description)
        for run in runs:
            problems = Problems(skip, strict=strict)
            results.append(
                execute_run(
                    run,
                    dataset,
                    sandbox=sandbox,
                    store=store,
                    keep=True,
                    name=run_name,
                    problems=problems,
                    progress=lambda count: advance("tests", count),
                )
            )
            print_problems(problems)
    for run, executed in zip(runs, results, strict=True):
        if as_json():
            print_json(_facts(executed, sandbox.wall.name))
        else:
            _show(run, executed)


def _facts(executed: ExecutedRun, mechanism: str) -> dict[str, Any]:
    from graphkit.measures.judged import TESTED

    return {
        "run": executed.run,
        "mechanism": mechanism,
        "measures": {TESTED: dataclasses.asdict(executed.summary)},
        "by_status": executed.by_status,
        "unscored": {score.question: score.reason for score in executed.scores if score.value is None},
        "executions": [one.model_dump(mode="json", exclude={"code"}) for one in executed.executions],
    }


def _show(run: Path, executed: ExecutedRun) -> None:
    from graphkit.cli.tables import print_table
    from graphkit.files.verdict_files import grades_folder
    from graphkit.measures.judged import TESTED
    from graphkit.records.words import counted, shortened, shown

    rows: list[list[object]] = []
    executions = {one.question: one for one in executed.executions}
    for score in executed.scores:
        one = executions.get(score.question)
        if one is None:
            rows.append([score.question, "–", "–", score.reason])
            continue
        failing = one.failing
        what = "" if failing is None else f"{failing.name}: {shortened(failing.message or '', 100)}"
        if failing is not None and failing.status == "refused" and failing.attempts:
            what += f" (tried: {shortened(', '.join(failing.attempts))})"
        rows.append([one.question, one.status, f"{one.passed}/{len(one.tests)}", what])
    print_table(f"{executed.run}, executed", ("question", "status", "passed", "first failing test"), rows)
    summary = executed.summary
    statuses = ", ".join(f"{count} {status}" for status, count in executed.by_status.items()) or "none"
    failures = f"; {summary.in_words()}" if summary.unanswered else ""
    print_line(f"{TESTED} {shown(summary.mean)} ({summary.scored}/{summary.total} scored{failures})")
    print_line(f"{counted(len(executed.executions), 'answer')} executed: {statuses}")
    print_line(f"kept in {grades_folder(run)}")
