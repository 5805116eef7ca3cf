"""``graphkit import scores``: scores from the logs of other tools' evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from graphkit.cli.base import argument, command, option, present, print_problems, say
from graphkit.cli.options import ON_ERROR, OnError
from graphkit.records.words import counted


@command()
def import_scores(
    *,
    files: list[Path] = argument(
        "FILE...", "Read these logs: Inspect's .eval and .json, promptfoo's results (.json), or graded records."
    ),
    run: str = option("--run NAME", "Give the scores to the run of this name.", required=True),
    out: Path = option("--out -o FILE", "Write the scores to FILE (.jsonl or .csv).", required=True, writes="scores"),
    format: Literal["auto", "inspect", "promptfoo", "graded"] = option(  # noqa: A002
        "--format", "Read this format.", default="auto"
    ),
    dataset: Path | None = option(
        "--dataset -d DIR", "Find questions by their texts in the dataset in DIR, and refuse others."
    ),
    only: list[str] | None = option(
        "--only NAME", "Read only results of this provider or prompt (promptfoo); may be repeated."
    ),
    on_error: OnError = ON_ERROR,
) -> None:
    """Turn the scores in logs of Inspect or promptfoo, or a person's grades in a log, into scores of a run."""
    from graphkit.cli.progress import shown_progress
    from graphkit.files.assets import command_text, option_text
    from graphkit.files.problems import Problems
    from graphkit.files.score_files import write_scores
    from graphkit.plugins.exports.score_logs import import_scores as imported

    problems = Problems(on_error)
    with shown_progress(f"importing scores of {counted(len(files), 'log')}"):
        found = imported(files, run, format=format, dataset=dataset, only=only or [], problems=problems)
        write_scores(out, found.scores)
    print_problems(problems)
    for sentence in found.left_out:
        say(f"note: left out: {sentence}")
    measures = list(dict.fromkeys(one.measure for one in found.scores))
    totals = {name: [one.number is not None for one in found.scores if one.measure == name] for name in measures}
    lines = [f"{name}: {sum(scored)}/{len(scored)} scored" for name, scored in totals.items()]
    gated = command_text("evaluate", "RUN.jsonl", options=option_text("scores", out))
    lines.append(f"{out}: `{gated}` and `{command_text('load-scores', out)}` read it")
    counts = {name: {"scored": sum(scored), "total": len(scored)} for name, scored in totals.items()}
    present(lines, {"run": run, "out": str(out), "measures": counts})
