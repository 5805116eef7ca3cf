"""``graphkit execute``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, command, open_graph, option, present, print_line, print_problems, say
from graphkit.cli.options import DATASET, NO_STORE, RUN_NAME, ReadingOptions, one_run
from graphkit.cli.tables import print_table
from graphkit.records.words import counted, shortened, shown

if TYPE_CHECKING:
    from graphkit.plugins.sandbox.execute_run import ExecutedRun

# As in the library; a test compares both.
MEMORY = 512


@dataclass(frozen=True)
class SandboxOptions:
    """Options for running code."""

    jobs: int | None = option("--jobs -j", "Run so many tests at the same time. [default: one per processor]", min=1)
    memory: int = option("--memory MIB", "Limit the memory of one test to MIB.", default=MEMORY, min=64)
    unsafe: bool = option("--unsafe-no-sandbox", "Run the code with all your own permissions.")


@command(graph=True)
def execute(
    *,
    runs: list[Path] = argument("RUN.jsonl|DATASET...", "Execute the code of these runs, or of a dataset's."),
    box: SandboxOptions,
    reading: ReadingOptions,
    dataset: Path | None = DATASET,
    run_name: str | None = RUN_NAME,
    no_store: bool = NO_STORE,
    trust_own_methods: bool = option(
        "--trust-own-methods", "Pass tests that only the answer's own methods decide, too."
    ),
) -> None:
    """Run the code of answers on tests, in a sandbox.

    The tests are those of the questions. The results are kept beside the run.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import run_files
    from graphkit.plugins.sandbox.execute_run import execute as execute_run
    from graphkit.plugins.sandbox.limits import MIB, SandboxLimits
    from graphkit.plugins.sandbox.running import programs
    from graphkit.plugins.sandbox.sandbox import open_sandbox

    runs = run_files(runs)
    one_run(run_name, runs, "Execute")
    limits = SandboxLimits(box.memory * MIB)
    results: list[ExecutedRun] = []
    with (
        open_sandbox(jobs=box.jobs, limits=limits, programs=programs(), unsafe=box.unsafe) as sandbox,
        nullcontext() if no_store else open_graph() as store,
        shown_progress("executing code") as advance,
    ):
        say(sandbox.description)
        for run in runs:
            problems = reading.problems()
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
                    trust_own_methods=trust_own_methods,
                )
            )
            print_problems(problems)
    for run, executed in zip(runs, results, strict=True):
        about = {"run": executed.run, "mechanism": sandbox.wall.name}
        present(partial(_show, run, executed), about | executed.as_json())


def _show(run: Path, executed: ExecutedRun) -> None:
    from graphkit.files.grades_beside import grades_folder
    from graphkit.measures.judged import TESTED

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
    own = [each for one in executed.executions for each in one.tests if each.decided_by is not None]
    if own:
        counts = "counted as passed" if own[0].passed else "not counted without --trust-own-methods"
        reasons = dict.fromkeys(shortened(each.decided_by or "", 100) for each in own)
        print_line(f"{counted(len(own), 'test')} {counts}: {'; '.join(reasons)}")
    print_line(f"kept in {grades_folder(run)}")
