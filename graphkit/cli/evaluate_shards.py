"""``graphkit evaluate`` with ``--on`` or a results folder: a run in shards."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import as_json, present, print_problems, say
from graphkit.cli.briefs import lines_of_error, print_brief, say_briefly
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.evaluation_plan import EvaluatedRuns, EvaluationPlan
    from graphkit.cli.options import ExecutorOptions
    from graphkit.database.store import Store

#: The files that may be written beside a results folder: they need no rows.
BESIDE = (".summary.json", ".md")


def is_folder(out: Path) -> bool:
    """Return whether an output is a results folder: its name has no ending."""
    return not out.suffix


def refuse_with_shards(given: dict[str, object]) -> None:
    """Refuse the options, by name, that scoring in shards doesn't have."""
    for name, value in given.items():
        if value:
            remedy = "Leave it out, or evaluate without --on into a file."
            raise InputError(f"{name} can't be used with --on or a results folder", remedy=remedy)


@dataclass(frozen=True)
class Outputs:
    """The results folder, None for none, and the files beside it."""

    folder: Path | None
    files: list[Path]


def outputs(out: list[Path], *, needed: bool) -> Outputs:
    """Return what ``--out`` names; refuse it if the one results folder isn't there and ``needed``, or another file."""
    folders, files = [path for path in out if is_folder(path)], [path for path in out if not is_folder(path)]
    if len(folders) not in (0, 1) or (needed and not folders) or not all(path.name.endswith(BESIDE) for path in files):
        raise InputError(
            "--on writes one results folder", remedy=f"Name it by --out FOLDER; {' and '.join(BESIDE)} may be besides."
        )
    return Outputs(folders[0] if folders else None, files)


def evaluate_in_shards(
    plan: EvaluationPlan,
    run: Path,
    dataset: Path | None,
    out: Outputs,
    executors: ExecutorOptions,
    graph: Callable[[], AbstractContextManager[Store]] | None,
    show_fully: Callable[[EvaluatedRuns], None] | None,
) -> EvaluatedRuns:
    """Evaluate a run in shards, print what it found, and return it.

    ``graph`` opens the store, if there is one; ``show_fully`` prints everything instead of the brief output.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.files.atomic import together
    from graphkit.files.jsonl import read_once
    from graphkit.scoring.evaluate_shards import ShardPlan, opened_shards, results_place
    from graphkit.scoring.export import check_output, summaries_last, write_results
    from graphkit.shards.executors import opened_executor

    for path in out.files:
        check_output(path)
    with (
        read_once(),
        shown_progress(f"evaluating {run.name}") as progress,
        opened_executor(executors.on, resources=executors.reserved()) as executor,
        results_place(out.folder) as place,
    ):
        shards = ShardPlan(place, executor, lambda message: say(f"note: {message}"))
        with nullcontext() if graph is None else graph() as store, opened_shards(run, dataset, shards) as opened:
            evaluated = plan.evaluate_shards(
                opened, shards, store=store, progress=progress, notify=say, on_problems=print_problems
            )
    with together():
        for path in summaries_last(out.files):
            write_results(path, evaluated.results, evaluated.gates)
    brief = show_fully is None and not as_json()
    taken = 0
    if brief:
        taken = say_briefly(evaluated.messages(brief=True))
    else:
        for message in evaluated.messages():
            say(message)
    show = (
        partial(show_fully, evaluated)
        if show_fully is not None
        else partial(_show, evaluated, taken, graph is not None)
    )
    present(show, *(evaluated.as_json() if as_json() else ()))
    return evaluated


def _show(evaluated: EvaluatedRuns, taken: int, stored: bool) -> None:
    import dataclasses

    from graphkit.analysis.evaluation_findings import evaluation_brief
    from graphkit.analysis.gate_outcomes import gate_error

    brief = evaluation_brief(evaluated, [evaluated.results[0].run])
    if not stored:  # the commands that it names read one file, or the graph
        brief = dataclasses.replace(brief, commands=())
    print_brief(brief, taken + lines_of_error(gate_error(evaluated.gates, brief=True)))
