"""``graphkit report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import Writes, as_json, open_graph, print_json, print_line, print_problems, say, with_graph
from graphkit.cli.options import (
    FAILED_AS,
    ON_ERROR,
    AnsweredByOption,
    ConfigOption,
    DatasetOption,
    ExecutionsOption,
    FailedAsOption,
    OnErrorOption,
    ScoresOption,
    StrictOption,
    UndirectedOption,
    UnorderedOption,
    VerdictsOption,
    failed_as_value,
    given_executions,
    given_scores,
    given_verdicts,
    on_error_value,
)

if TYPE_CHECKING:
    from graphkit.files.problems import Problems


@with_graph
def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Run logs of one dataset, or names of runs in the graph.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.html", help="Where the page is written."), Writes("a page")
    ],
    dataset: DatasetOption = None,
    title: Annotated[str | None, typer.Option("--title", help="The heading. [default: the dataset's name]")] = None,
    config: ConfigOption = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("--measure", "-m", metavar="NAME", help="Also show this one; may be repeated."),
    ] = None,
    scores: ScoresOption = None,
    verdicts: VerdictsOption = None,
    executions: ExecutionsOption = None,
    answered_by: AnsweredByOption = None,
    undirected: UndirectedOption = False,
    unordered: UnorderedOption = False,
    failed_as: FailedAsOption = FAILED_AS,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Write one self-contained page: scores, gold paths with the walks drawn over them, what judges and tests said."""
    from graphkit.analysis.config import load_config
    from graphkit.files.outputs import check_output
    from graphkit.report import PageOptions, write_report
    from graphkit.trust.families import answering_model

    problems: list[Problems] = []
    layers, skip = load_config(config), on_error_value(on_error)
    files, names, folders = _files(runs)
    of_scores, of_verdicts = scores or _scores_beside(files), verdicts or _verdicts_beside(files)
    of_code = executions or _executions_beside(files)
    check_output(out, "a page", [*folders.values(), *of_scores, *of_verdicts, *of_code], force=True)
    given = given_scores(of_scores, skip, strict)
    said = given_verdicts(of_verdicts, skip, strict)
    became = given_executions(of_code, skip, strict)
    made = {file: model for file in files if (model := answering_model(file, answered_by)) is not None}
    options = PageOptions(
        dataset=dataset,
        folders=folders,
        names=names,
        title=title,
        config=layers,
        measures=measure or (),
        scores=given,
        verdicts=said,
        executions=became,
        answered_by=made,
        on_error=skip,
        strict=strict,
        unordered=unordered,
        undirected=undirected,
        failed_as=failed_as_value(failed_as),
    )
    write_report(files, out, options, problems)
    for of_run in problems:
        print_problems(of_run)
    if as_json():
        print_json({"report": str(out), "bytes": out.stat().st_size})
    else:
        print_line(str(out))


def _verdicts_beside(files: list[Path]) -> list[Path]:
    """Return the verdicts that gradings left beside the runs, of every judge.

    Where several models of one judge said the same of an answer, it isn't known whose are meant.
    """
    from graphkit.files.verdict_files import VERDICTS, clashing, graded_files

    chosen: list[Path] = []
    for file in files:
        found = graded_files(file, VERDICTS)
        if both := clashing(found):
            what = f"{len(both)} models of one judge graded {file}"
            say(f"note: {what}: choose whose verdicts are shown by --verdicts {both[0]}")
        chosen += [path for path in found if path not in both]
    return chosen


def _executions_beside(files: list[Path]) -> list[Path]:
    """Return what became of the code of the runs' answers, as it lies beside them."""
    from graphkit.files.execution_files import EXECUTIONS
    from graphkit.files.verdict_files import graded_files

    return [found for file in files for found in graded_files(file, EXECUTIONS)]


def _scores_beside(files: list[Path]) -> list[Path]:
    """Return the scores that a grading left beside each run; of several judges it isn't known whose are meant.

    Those of an execution, which lie beside its records, are no judge's: they are always meant.
    """
    from graphkit.files.execution_files import EXECUTIONS
    from graphkit.files.verdict_files import SCORES, graded_files

    chosen: list[Path] = []
    for file in files:
        executed = {path.name.rpartition(EXECUTIONS)[0] for path in graded_files(file, EXECUTIONS)}
        found = graded_files(file, SCORES)
        chosen += [path for path in found if path.name.rpartition(SCORES)[0] in executed]
        found = [path for path in found if path not in chosen]
        if len(found) == 1:
            chosen += found
        elif found:
            say(f"note: {len(found)} judges graded {file}: choose whose scores are shown by --scores {found[0]}")
    return chosen


def _files(runs: list[str]) -> tuple[list[Path], list[str | None], dict[Path, Path]]:
    """Return the file of each run, and of those that are named the name and the dataset.

    Only for a name the graph is opened.
    """
    from graphkit.files.jsonl import is_file_name
    from graphkit.graph.known_names import run_source

    named = [run for run in runs if not is_file_name(run) and not Path(run).is_file()]
    if not named:
        return [Path(run) for run in runs], [None] * len(runs), {}
    with open_graph(read_only=True) as store:
        sources = {run: run_source(store, run) for run in named}
    files = [sources[run][0] if run in sources else Path(run) for run in runs]
    return files, [run if run in sources else None for run in runs], dict(sources.values())
