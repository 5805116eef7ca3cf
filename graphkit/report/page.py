"""The page itself: one file that needs no network, with all data as text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from graphkit.files.assets import located
from graphkit.files.atomic import written
from graphkit.files.jsonl import read_once
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.records.collector import quiet_collector
from graphkit.records.progress import Progress, quiet
from graphkit.report.blocks import Blocks
from graphkit.report.contents import PageContents
from graphkit.report.data import PageOptions, ReportData
from graphkit.report.diagnosis import Diagnosis
from graphkit.report.escaping import packed, page_json, question_link, visible
from graphkit.report.first_screen import FirstScreen
from graphkit.report.gathering import gather
from graphkit.report.overview import summary
from graphkit.report.rendering import TEMPLATES, environment, script
from graphkit.scoring.measure_summaries import FAILURES_UNSCORED, UNLOGGED_UNSCORED
from graphkit.scoring.results import Evaluation

#: Notes on options that change the comparison.
UNORDERED = "Each traversal is read as a set of edges: measures that compare its order aren't scored."
UNDIRECTED = (
    "Edges are compared without their direction: the names of measures say so, and the map shows a traversed edge "
    "in the direction that gold has. Paths are neither right nor wrong."
)

#: How the page explains failed questions.
FAILURES_COUNT = {
    "worst": "A failed or missing question counts as the worst value of its measure against targets and in layers, "
    "and so does "
    "one whose record doesn't log what the measure needs, where the run logs it for others.",
    "failed": UNLOGGED_UNSCORED[0].upper() + UNLOGGED_UNSCORED[1:] + ".",
    "unscored": FAILURES_UNSCORED[0].upper() + FAILURES_UNSCORED[1:] + ".",
}

#: The style sheets of the page, in order.
STYLES = (
    "base.css",
    "report.css",
    "board.css",
    "first_screen.css",
    "questions.css",
    "question.css",
    "map.css",
    "spine.css",
)


@cache
def style_or_script(text: str) -> tuple[Markup, str]:
    """Return the style sheet or script of a page, and its source for the content security policy."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(text), f"'sha256-{digest}'"  # noqa: S704 - a file of this package, no data


def page(data: ReportData, progress: Progress = quiet, served: str | None = None) -> Iterator[str]:
    """Yield the text of the page piece by piece; at most one block of details is in memory.

    ``progress`` receives the number of written spines. ``served`` is the version of a page that ``graphkit view``
    serves: its script may ask its own server.
    """
    style, style_source = style_or_script("".join((TEMPLATES / name).read_text(encoding="utf-8") for name in STYLES))
    code, script_source = style_or_script(script())
    screen, blocks, chosen = FirstScreen(data), Blocks(data), data.runs[0].evaluation.chosen
    part = visible(f"The page is {chosen}.")
    notes = ((part, chosen is not None), (UNORDERED, data.unordered), (UNDIRECTED, data.undirected))
    template = environment().get_template("report.html")
    yield from template.generate(
        served=served,
        title=visible(data.title),
        dataset=visible(data.dataset.name),
        gold_hash=data.runs[0].evaluation.gold_hash,
        runs=[
            {**_run(run.evaluation), "judges": run.overview("verdicts"), "executed": run.overview("executions")}
            for run in data.runs
        ],
        screen=screen,
        sections=[section(data) for section in data.sections],
        diagnosis=Diagnosis(data, [run["letter"] for run in screen.runs]),
        question_link=question_link,
        notes=[note for note, asked in notes if asked],
        failures_count=FAILURES_COUNT[data.runs[0].evaluation.failed_as],
        worst=list(blocks.worst()),
        link=partial(question_link, data.runs[0].evaluation.run),
        blocks=blocks.all(progress),
        summary=lambda: packed(page_json(summary(data, screen.broken, screen.standings))),
        style=style,
        script=code,
        style_source=style_source,
        script_source=script_source,
    )


def _run(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "name": visible(evaluation.run),
        **{name: getattr(evaluation, name) for name in ("questions", "failed", "missing")},
        "invalid": len(evaluation.invalid),
        "known": "" if evaluation.known is None else visible(evaluation.known.line),
    }


def write_report(
    runs: str | Path | Sequence[str | Path],
    out: str | Path,
    options: PageOptions | None = None,
    problems: list[Problems] | None = None,
    progress: Progress = quiet,
) -> Path:
    """Write the page of one or several runs of a dataset. The file appears complete at the end, or not at all.

    Parameters
    ----------
    runs
        The file of a run, or several.
    options
        What the page shows beyond the defaults, and how to read the files.
    problems
        Receives the problems of each run's records.
    progress
        Receives how many questions have been scored, and then written.

    Raises
    ------
    InputError
        A file can't be used, or the page can't be written or would overwrite one of its sources.
    """
    files = [located(run) for run in ([runs] if isinstance(runs, str | Path) else runs)]
    write_described(files, Path(out), options, problems, progress)
    return Path(out)


@read_once()
@quiet_collector()
def write_described(
    files: Sequence[Path],
    out: Path,
    options: PageOptions | None = None,
    problems: list[Problems] | None = None,
    progress: Progress = quiet,
    served: str | None = None,
) -> PageContents:
    """Write a page as :func:`write_report` does, and return what it contains; ``served`` is that of :func:`page`."""
    check_output(out, "a page", files, force=True)
    with ExitStack() as spools:
        data = gather(files, spools, options or PageOptions(), problems, progress)
        place = spools.enter_context(written(out))
        with place.open("w", encoding="utf-8", newline="\n") as stream:
            for piece in page(data, progress, served):
                stream.write(piece)
        return PageContents.of(files, data)
