"""``graphkit evaluate`` with ``--on`` or a results folder: a run in shards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import as_json, present, print_problems, say
from graphkit.cli.briefs import lines_of_error, print_brief, say_briefly
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.evaluation_plan import EvaluatedRuns, EvaluationPlan
    from graphkit.cli.options import ExecutorOptions

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


def evaluate_in_shards(
    plan: EvaluationPlan,
    run: Path,
    dataset: Path | None,
    out: list[Path],
    executors: ExecutorOptions,
    show_fully: Callable[[EvaluatedRuns], None] | None,
) -> EvaluatedRuns:
    """Evaluate a run in shards, print what it found, by ``show_fully`` if it is given, and return it."""
    from graphkit.cli.progress import shown_progress
    from graphkit.files.jsonl import read_once
    from graphkit.scoring.evaluate_shards import ShardPlan, opened_shards
    from graphkit.scoring.export import check_output, write_results
    from graphkit.shards.executors import opened_executor
    from graphkit.shards.locations import Location

    folders, files = [path for path in out if is_folder(path)], [path for path in out if not is_folder(path)]
    if len(folders) != 1 or not all(path.name.endswith(BESIDE) for path in files):
        raise InputError(
            "--on writes one results folder", remedy=f"Name it by --out FOLDER; {' and '.join(BESIDE)} may be besides."
        )
    for path in files:
        check_output(path)
    with (
        read_once(),
        shown_progress(f"evaluating {run.name}") as progress,
        opened_executor(executors.on, resources=executors.reserved()) as executor,
    ):
        shards = ShardPlan(Location.of(folders[0]), executor, lambda message: say(f"note: {message}"))
        with opened_shards(run, dataset, shards) as opened:
            evaluated = plan.evaluate_shards(opened, shards, progress=progress, notify=say, on_problems=print_problems)
    for path in files:
        write_results(path, evaluated.results, evaluated.gates)
    brief = show_fully is None and not as_json()
    taken = 0
    if brief:
        taken = say_briefly(evaluated.messages(brief=True))
    else:
        for message in evaluated.messages():
            say(message)
    show = partial(show_fully, evaluated) if show_fully is not None else partial(_show, evaluated, taken)
    present(show, *(evaluated.as_json() if as_json() else ()))
    return evaluated


def _show(evaluated: EvaluatedRuns, taken: int) -> None:
    import dataclasses

    from graphkit.analysis.evaluation_findings import evaluation_brief
    from graphkit.analysis.gates import gate_error

    # The commands that other briefs name read one file, or the graph.
    brief = dataclasses.replace(evaluation_brief(evaluated, [evaluated.results[0].run]), commands=())
    print_brief(brief, taken + lines_of_error(gate_error(evaluated.gates, brief=True)))
