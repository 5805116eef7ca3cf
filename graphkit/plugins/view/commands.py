"""``graphkit view``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import (
    argument,
    command,
    hand_over,
    open_graph,
    open_in_browser,
    option,
    present,
    print_problems,
    say,
    stop_event,
)
from graphkit.cli.options import ReadingOptions
from graphkit.cli.report import (
    SECTIONS,
    GradeFilesOptions,
    SectionOptions,
    ShownOptions,
    expanded,
    found_runs,
    page_options,
)
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.files.problems import Problems
    from graphkit.report.contents import PageContents
    from graphkit.report.page_inputs import AskedRun, RunFiles


@dataclass(frozen=True)
class _PageSource:
    """The files of a page that is written again whenever they change."""

    found: Callable[[], RunFiles]
    shown: ShownOptions
    sections: dict[str, SectionOptions]
    given: GradeFilesOptions
    reading: ReadingOptions

    def files(self) -> Iterator[Path]:
        """Yield the files that the page is made from."""
        from graphkit.report.page_inputs import page_sources

        given, config = self.given, self.shown.config
        beside = (*(given.scores or ()), *(given.verdicts or ()), *(given.executions or ()))
        return page_sources(self.found(), self.shown.dataset, (*beside, *([] if config is None else [config])))

    def write(self, out: Path, version: str) -> PageContents:
        """Write the page of a version, and print the problems of its records."""
        from graphkit.report import write_described

        found = self.found()
        grades = self.given.beside(found, people=False)
        options = page_options(found, self.shown, self.sections, grades, self.reading, self.given.answered_by)
        problems: list[Problems] = []
        contents = write_described(found.files, out, options, problems, served=version)
        for of_run in problems:
            print_problems(of_run)
        return contents


@command(graph=True)
def view(
    *,
    runs: list[str] | None = argument(
        "RUN[/QUESTION]...",
        "Show these runs, as `graphkit report` takes them, and open the question.  [default: the runs of the dataset "
        "in this folder]",
        default=None,
        show_default=False,
    ),
    shown: ShownOptions,
    sections: dict[str, SectionOptions] = SECTIONS,
    given: GradeFilesOptions,
    reading: ReadingOptions,
    port: int = option("--port", "Serve at this port; 0 chooses a free one.", default=0, min=0, max=65535),
    in_browser: bool = option("--open", "Open the page in the browser."),
    grader: str | None = option("--grader NAME", "Keep grades as those of the person NAME. [default: without a name]"),
) -> None:
    """Serve that page here, and keep your grades.

    The page of `graphkit report` follows the runs. The address holds a token, and only who knows it is answered.
    Ctrl-C ends the command.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.view.page_server import PageServer
    from graphkit.plugins.view.served_page import ServedPage, follow

    graded_by = _grader(grader)
    asked, found = _asked(runs or [])
    source = _PageSource(found, shown, sections, given, reading)
    place = _fragment(asked, found(), shown)
    for note in (*found().notes, *given.beside(found(), people=False).notes):
        say(f"note: {note}")
    with shown_progress("building the page"):
        page = ServedPage(source.files, source.write)
    with closing(page):
        server = PageServer(page, graded_by, port, lambda why: say(f"error: {why}"))
        stop, address = stop_event(), f"{server.page_address}{place}"
        server.start()
        present([address, *page.current()[1].lines()], {"address": address})
        hand_over()
        say("The page follows its files; Ctrl-C ends it.")
        if in_browser:
            open_in_browser(address)
        follow(page, stop, _print_change)
        server.stop()


def _print_change(status: dict[str, str]) -> None:
    error = status.get("error")
    say("the page is built again" if error is None else f"the former page stays: {error}")


def _grader(name: str | None) -> str:
    from graphkit.records.scores import PERSON

    if name is None:
        return PERSON
    if not name.strip() or not name.isprintable():
        raise InputError("the name of a person is text on one line", where="--grader")
    return f"{PERSON}:{name}"


def _asked(texts: Sequence[str]) -> tuple[list[AskedRun], Callable[[], RunFiles]]:
    """Return the runs that are asked for, and a function that finds their files; the graph is opened for names."""
    from graphkit.files.run_files import is_run_file
    from graphkit.graph.known_names import known_runs
    from graphkit.report.page_inputs import AskedRun, asked_run, files_of, named_by_file

    by_file = [AskedRun(text) if Path(text).is_dir() else asked_run(text, named_by_file) for text in texts]
    files = [one for one in by_file if one is not None]
    if len(files) == len(texts):
        return files, lambda: found_runs(expanded([one.run for one in files]))  # a folder may get new runs
    with open_graph(read_only=True) as store:
        known = {name: name for name in known_runs(store)}
        asked = [one or asked_run(text, known.get) or AskedRun(text) for one, text in zip(by_file, texts, strict=True)]
        named = expanded([one.run for one in asked])
        found = files_of(named, [run for run in named if not is_run_file(run)], store)
    return asked, lambda: found


def _fragment(asked: Sequence[AskedRun], found: RunFiles, shown: ShownOptions) -> str:
    """Return the fragment of the address that opens the question that is asked for."""
    from graphkit.report.escaping import fragment
    from graphkit.report.page_inputs import require_shown

    with_question = [place for place, one in enumerate(asked) if one.question is not None]
    if len(with_question) > 1:
        raise InputError("one question can be opened, and several are named", remedy="Name the others by their runs.")
    if not with_question:
        return ""
    before = [one.run for one in asked[: with_question[0]]]
    question = asked[with_question[0]].question or ""
    run = require_shown(found, len(expanded(before)) if before else 0, question, shown.dataset)
    return "" if run is None else fragment(run, question)
