"""``graphkit import gold``: questions from the rows of a public data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, command, option, present, print_problems, say, say_text
from graphkit.cli.options import ON_ERROR, OnError
from graphkit.errors import InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.plugins.gold.formats import GoldFormat


@command()
def import_gold(
    form: str | None = argument(
        "FORMAT", "Read this format; without one, list the formats.", default=None, show_default=False
    ),
    files: list[Path] | None = argument(
        "FILE...", "Read JSON, JSON Lines, Parquet or text (also .gz, .zst).", default=None, show_default=False
    ),
    out: Path | None = option("--out -o DATASET", "Write the dataset to this folder.", show_default=False),
    repo: list[str] | None = option(
        "--repo NAME=PATH",
        "Qualify symbols by the files in this local clone (swe-bench); may be repeated.",
        show_default=False,
    ),
    graph: Path | None = option(
        "--graph FILE",
        "Look up the nodes of paths (cwq, webqsp, grailqa, metaqa, qald) in these edges, or in the graph of each row.",
        show_default=False,
    ),
    on_error: OnError = ON_ERROR,
) -> None:
    """Make a dataset from the rows of a public data set: its questions with their gold."""
    from graphkit.files.problems import Problems
    from graphkit.plugins.gold.conversion import import_gold as imported
    from graphkit.plugins.gold.formats import gold_format

    if form is None:
        _list()
        return
    chosen = _with_checkouts(gold_format(form), repo or [])
    if not files or out is None:
        missing = "a file" if not files else "the dataset folder to be written"
        raise InputError(f"{missing} is missing", remedy=f"graphkit import gold {chosen.name} FILE... -o DATASET")
    if graph is not None and not chosen.graphs:
        raise InputError(
            f"--graph doesn't apply to {chosen.name}",
            remedy="It names the nodes of cwq, webqsp, grailqa, metaqa and qald.",
        )
    problems = Problems(on_error)
    count = imported(chosen, files, out, problems, graph)
    print_problems(problems)
    for sentence in chosen.lacks:
        say(f"{chosen.name} doesn't say: {sentence}")
    left_out = len({problem.where for problem in problems.skipped})
    facts = {"dataset": str(out), "questions": count, "left_out": left_out, "notes": dict(problems.noted)}
    present(f"{out}: {counted(count, 'question')} written", facts)


def _with_checkouts(form: GoldFormat, given: list[str]) -> GoldFormat:
    """Return a format that reads the symbols of a diff in local clones."""
    from graphkit.plugins.gold.gold_commands import named_repository
    from graphkit.plugins.gold.qualified import Checkouts
    from graphkit.plugins.gold.swe_bench import SweBench

    if not given:
        return form
    if not isinstance(form, SweBench):
        raise InputError(f"--repo doesn't apply to {form.name}", remedy="It qualifies the symbols of swe-bench.")
    return SweBench(Checkouts(dict(map(named_repository, given))))


def _list() -> None:
    from graphkit.plugins.gold.formats import gold_formats

    formats, errors = gold_formats()
    for error in errors:
        say_text(f"warning: {error}")
    for one in formats:
        present(f"{one.name}: {one.title}", {"format": one.name, "title": one.title, "lacks": one.lacks})
