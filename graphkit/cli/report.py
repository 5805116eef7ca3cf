"""``graphkit report``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from graphkit.cli.base import added, argument, command, open_graph, option, present, print_problems, say
from graphkit.cli.options import (
    ANSWERED_BY,
    CONFIG,
    DATASET,
    FAILED_AS,
    SCORES,
    UNDIRECTED,
    UNORDERED,
    WHERE,
    FailedAs,
    ReadingOptions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphkit.files.problems import Problems
    from graphkit.graph.beside import GradeFiles
    from graphkit.report import PageOptions
    from graphkit.report.data import Section
    from graphkit.report.page_inputs import RunFiles


@dataclass(frozen=True)
class ShownOptions:
    """The content of the page, and the comparison of edges."""

    dataset: Path | None = DATASET
    title: str | None = option("--title", "Use this heading. [default: the dataset's name]")
    config: Path | None = CONFIG
    measures: list[str] | None = option("--measure -m NAME", "Also show this measure; may be repeated.")
    where: str | None = WHERE
    undirected: bool = UNDIRECTED
    unordered: bool = UNORDERED
    failed_as: FailedAs = FAILED_AS


class SectionOptions(Protocol):
    """The options of a section of the page that a plug-in adds (entry points of ``graphkit.options.report``)."""

    def section(self) -> Section:
        """Return the section; raise InputError if what it shows can't be read."""
        ...


#: The parameter of a command that gets them.
SECTIONS: dict[str, SectionOptions] = added("graphkit.options.report")


@dataclass(frozen=True)
class GradeFilesOptions:
    """Scores, verdicts and executions of the answers."""

    scores: list[Path] | None = SCORES
    verdicts: list[Path] | None = option(
        "--verdicts FILE", "Show the verdicts of judges (.jsonl). [default: those beside the run]"
    )
    executions: list[Path] | None = option(
        "--executions FILE", "Show how code ran (.jsonl). [default: the files beside the run]"
    )
    answered_by: str | None = ANSWERED_BY

    def beside(self, found: RunFiles, *, people: bool = True) -> GradeFiles:
        """Return the given files, else those beside the runs, with a person's grades if ``people``."""
        from graphkit.graph.beside import grade_files

        return grade_files(found.files, self.scores, vars(self), people)


def page_options(
    found: RunFiles,
    shown: ShownOptions,
    sections: Mapping[str, SectionOptions],
    grades: GradeFiles,
    reading: ReadingOptions,
    answered_by: str | None,
) -> PageOptions:
    """Return the options of a page of some runs, with the records of their grades."""
    from graphkit.analysis.config import load_config
    from graphkit.files.score_files import read_scores
    from graphkit.graph.beside import kind_beside
    from graphkit.report import PageOptions

    return PageOptions(
        **{**vars(shown), "config": load_config(shown.config), "measures": shown.measures or ()},
        sections=[one.section() for one in sections.values()],
        **vars(reading),
        folders=found.folders,
        names=found.names,
        scores=reading.read(read_scores, grades.scores),
        beside=[one for name, files in grades.beside.items() for one in reading.read(kind_beside(name).read, files)],
        answered_by=dict.fromkeys(found.files, answered_by) if answered_by else {},
    )


@command(graph=True)
def report(
    *,
    runs: list[str] | None = argument(
        "RUN|DATASET...",
        "Show run logs of one dataset, all of its runs, or named runs in the graph.  [default: the runs of the "
        "dataset in this folder]",
        default=None,
        show_default=False,
    ),
    out: Path | None = option(
        "--out -o FILE.html", "Write the page to this file. [default: report-RUN.html]", writes="a page"
    ),
    shown: ShownOptions,
    sections: dict[str, SectionOptions] = SECTIONS,
    given: GradeFilesOptions,
    reading: ReadingOptions,
) -> None:
    """Write a page: scores, gold paths, traversals.

    The page is one self-contained file, with verdicts and test results. It shows the scores, verdicts and executions
    that lie beside the runs, unless you name others.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.files.outputs import check_output
    from graphkit.report import write_described

    found = found_runs(expanded(runs or []))
    grades = given.beside(found)
    for note in (*found.notes, *grades.notes):
        say(f"note: {note}")
    out = _page(found, shown.dataset) if out is None else out
    check_output(out, "a page", [*found.folders.values(), *grades.all], force=True)
    options = page_options(found, shown, sections, grades, reading, given.answered_by)
    problems: list[Problems] = []
    with shown_progress(f"writing {out}") as progress:
        contents = write_described(found.files, out, options, problems, progress)
    for of_run in problems:
        print_problems(of_run)
    part = {} if contents.chosen is None else {"where": contents.chosen.as_json()}
    present([str(out), *contents.lines()], {"report": str(out), "bytes": out.stat().st_size, **part})


def _page(found: RunFiles, dataset: Path | None) -> Path:
    """Return the file of a page for which the user names none."""
    from graphkit.files.dataset import Dataset
    from graphkit.files.jsonl import stem_of
    from graphkit.report.contents import free_page

    first = found.files[0]
    source = Dataset.of_run(first, dataset or found.folders.get(first))
    return free_page([name or stem_of(file) for name, file in zip(found.names, found.files, strict=True)], source.name)


def expanded(runs: Sequence[str]) -> list[str]:
    """Return the runs by file or name, with those of each dataset folder; without any, those of the working folder."""
    from graphkit.files.dataset import run_files

    files = [str(file) for run in runs for file in (run_files([run]) if Path(run).is_dir() else [run])]
    return files or [str(file) for file in run_files([])]


def found_runs(runs: Sequence[str]) -> RunFiles:
    """Return the files of runs by file or name; open the graph only for names."""
    from graphkit.files.run_files import is_run_file
    from graphkit.report.page_inputs import RunFiles, files_of

    named = [run for run in runs if not is_run_file(run)]
    if not named:
        return RunFiles([Path(run) for run in runs], [None] * len(runs))
    with open_graph(read_only=True) as store:
        return files_of(runs, named, store)
