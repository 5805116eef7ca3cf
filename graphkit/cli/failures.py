"""``graphkit failures``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import (
    argument,
    as_json,
    command,
    open_graph,
    option,
    print_json,
    print_line,
    print_problems,
    say,
)
from graphkit.cli.briefs import FULL, print_brief
from graphkit.cli.options import DATASET, ReadingOptions
from graphkit.cli.tables import print_table

if TYPE_CHECKING:
    from graphkit.analysis.file_failures import RunOnFiles
    from graphkit.files.problems import Problems
    from graphkit.records.failed_rows import Failures

#: The columns that a narrow terminal drops first.
LEAST = (
    *("entered", "ordered", "path", "position", "category", "difficulty", "commit", "repo", "first_branch"),
    *("second_branch", "best_rank", "branch", "from_repo", "to_repo", "went_to", "went_by", "expected_by"),
)


@command(graph=True)
def failures(
    run: str = argument("RUN", "Explain this run: its name in the graph, or its file."),
    kind: str | None = option("--kind", "Show only this kind, such as wrong-turns. [default: all]"),
    question: str | None = option("--question -q ID", "Show only this question. [default: all]"),
    other: str | None = option("--other RUN", "Compare with this run, for found-and-lost."),
    limit: int | None = option(
        "--limit", "Show so many rows of each kind, 0 for all. [default: 20; 5 of all kinds]", min=0
    ),
    dataset: Path | None = DATASET,
    full: bool = FULL,
    *,
    reading: ReadingOptions,
) -> None:
    """Explain what a run did wrong, question by question.

    It names missed edges, wrong turns, wrong repositories, incoherent commits and more.
    """
    from graphkit.analysis.failure_findings import failures_brief
    from graphkit.cli.progress import shown_progress
    from graphkit.files.run_files import is_run_file
    from graphkit.graph.queries import failure_queries, failure_query

    default = 20 if kind is not None or question is not None else 5
    rows_of_each = default if limit is None else limit or None
    if not full and not as_json() and limit is None:
        rows_of_each = None  # the findings count all rows
    with shown_progress(f"reading the failures of {run}"):
        if is_run_file(run):
            problems = reading.problems()
            found = _read(Path(run), dataset, other, problems)
            kinds = [failure_query(kind).name] if kind is not None else [*found.kinds]
            if kind is None:
                others = ", ".join(one.name for one in failure_queries() if one.name not in kinds)
                say(f"note: only the graph gives {others}; {found.keeping}")
            elif why := found.ungraded(kinds[0]):
                say(f"note: {why}")
            rows_of = {name: found.failures(name, question=question, limit=rows_of_each) for name in kinds}
        else:
            rows_of = _in_graph(run, dataset, kind, question, rows_of_each, other)
    kept = next((rows.kept for rows in rows_of.values() if rows.kept), None)
    if kept:
        say(f"note: {kept}; these are failures of the stored questions only")
    if as_json():
        for name, rows in rows_of.items():
            for row in rows:
                print_json({"kind": name, "of_kind": rows.total, **({"kept": kept} if kept else {}), **row})
            if len(rows) < rows.total:
                say(f"note: {name}: {_shown(rows)}, --limit 0 shows all")
        return
    if not full and limit is None:
        one = failure_query(kind).name if kind is not None else None
        print_brief(failures_brief(run, rows_of, question, one, dataset))
        return
    from graphkit.files.assets import option_text

    given = (("question", question), ("other", other), ("dataset", dataset))
    asked = "".join(option_text(name, value) for name, value in given if value is not None)
    _print_tables(rows_of, run, asked)


def _print_tables(rows_of: dict[str, Failures], run: str, asked: str) -> None:
    """Print a table of each kind; ``asked`` are the options that show more of the same."""
    from graphkit.files.assets import command_text
    from graphkit.graph.queries import named_queries

    for name, rows in rows_of.items():
        query = named_queries()[name]
        if rows:
            cut = len(rows) < rows.total
            again = command_text("failures", run, options=f" --kind {name}{asked} --limit 0")
            more = f"{_shown(rows)}; all: {again}" if cut else None
            cells = [[row[column] for column in query.columns] for row in rows]
            print_table(f"{query.title} ({name})", query.columns, cells, more, least=LEAST)
    empty = [name for name, rows in rows_of.items() if not rows]
    if len(empty) == len(rows_of):
        print_line("no such failure")
    elif empty:
        say(f"none: {', '.join(empty)}")


def _in_graph(
    run: str, dataset: Path | None, kind: str | None, question: str | None, limit: int | None, other: str | None
) -> dict[str, Failures]:
    from graphkit.errors import InputError
    from graphkit.graph.failures import failures
    from graphkit.graph.queries import failure_queries, failure_query

    if dataset is not None:
        what = f"{run} is a run in the graph, which knows its dataset"
        raise InputError(what, remedy="Leave --dataset out, or name the file of the run.")
    if kind is not None:
        kinds = [failure_query(kind).name]
    else:
        kinds = [query.name for query in failure_queries() if other is not None or not query.takes("other")]
    with open_graph(read_only=True) as store:
        return {name: failures(store, run, name, question=question, limit=limit, other=other) for name in kinds}


def _read(file: Path, dataset: Path | None, other: str | None, problems: Problems) -> RunOnFiles:
    """Read a run file, for which no database is started."""
    from graphkit.analysis.file_failures import RunOnFiles
    from graphkit.errors import InputError
    from graphkit.files.assets import command_text, dataset_option
    from graphkit.graph.beside import unread_beside

    if other is not None:
        what = "--other compares two runs in the graph"
        keeping = command_text("evaluate", file, options=dataset_option(file, dataset))
        raise InputError(what, where=str(file), remedy=f"`{keeping}` keeps this one there; name it then.")
    found = RunOnFiles.read(file, dataset, problems)
    print_problems(problems)
    for message in (*unread_beside([file]), *found.messages()):
        say(f"note: {message}")
    return found


def _shown(rows: Failures) -> str:
    return f"{len(rows)} of {rows.total} shown"
