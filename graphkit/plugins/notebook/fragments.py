"""The fragments of the page in a notebook: the board of some results, and the spine of a question.

A fragment brings its style sheet, which holds within the fragment alone, and needs no script.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.analysis import explanations
from graphkit.analysis.config import Config
from graphkit.analysis.explanations import Explanation
from graphkit.analysis.file_failures import RunOnFiles
from graphkit.analysis.layers import score_layers
from graphkit.analysis.mending import to_mend
from graphkit.errors import GraphkitError, InputError, did_you_mean
from graphkit.files.assets import command_text, dataset_option
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import is_run_file
from graphkit.graph.known_names import run_source
from graphkit.measures.missed import aligned_with_gold
from graphkit.measures.outcome import Decision, decided, outcome
from graphkit.records.words import counted
from graphkit.report.board_view import BoardView
from graphkit.report.escaping import visible
from graphkit.report.rendering import TEMPLATES, environment
from graphkit.report.spine import Spine, backbone_of, column_of
from graphkit.report.spine_view import fragment
from graphkit.report.spine_words import in_sequence, sentences
from graphkit.scoring.results import Evaluation

if TYPE_CHECKING:
    from graphkit.database.store import Store


class RunBoard:
    """The verdict on some results, what to mend first, and their measures side by side; a notebook draws it.

    Attributes
    ----------
    verdict
        The best run against the baseline, with the interval of the difference.
    mending
        The first places to mend; none unless the results have outcomes.
    """

    def __init__(self, view: BoardView) -> None:
        self._view = view
        self.verdict = str(view.standings.verdict(view.baseline))
        self.mending = to_mend(view.results)

    def __str__(self) -> str:
        return "\n".join(map(visible, (self.verdict, *(one.sentence for one in self.mending))))

    def __repr__(self) -> str:
        return f"<Board of {counted(len(self._view.results), 'run')}: {visible(self.verdict)}>"

    def _repr_html_(self) -> str:
        html = (
            environment()
            .get_template("notebook_board.html")
            .render(screen=self._view, mending=self.mending, visible=visible)
        )
        return _styled(html, "board.css")


@dataclass(frozen=True)
class QuestionSpine:
    """The gold paths of a question step by step, and what each run did; it draws itself in a notebook.

    Attributes
    ----------
    question, text
        The id of the question, and the question.
    spine
        The marks behind what is drawn.
    commands
        The command that explains the question in each run.
    """

    question: str
    text: str
    spine: Spine
    commands: tuple[str, ...] = field(default=(), compare=False)

    def sentences(self) -> dict[str, list[str]]:
        """Return what each run did in words: where it broke, one sentence for each path that counts."""
        return {run: sentences(self.spine, number) for number, run in enumerate(self.spine.runs)}

    def __repr__(self) -> str:
        return f"<Spine of {visible(self.question)} in {visible(', '.join(self.spine.runs))}>"

    def __str__(self) -> str:
        told = [f"{visible(run)}: {'. '.join(in_sequence(some))}." for run, some in self.sentences().items()]
        return "\n".join([f"{visible(self.question)}: {visible(self.text)}", *told])

    def _repr_html_(self) -> str:
        html = (
            environment()
            .get_template("notebook_spine.html")
            .render(
                question=visible(self.question),
                text=visible(self.text),
                spine=fragment(self.spine, self.question, self.commands),
            )
        )
        return _styled(html, "spine.css")


@dataclass(frozen=True, slots=True, repr=False)
class DrawnExplanation(Explanation):
    """An explanation that draws the spine of its question below itself in a notebook."""

    draw: Callable[[], QuestionSpine] = field(kw_only=True, repr=False, compare=False)

    def _repr_html_(self) -> str:
        html = Explanation._repr_html_(self)
        try:
            return html + self.draw()._repr_html_()
        except GraphkitError:  # the file changed since
            return html


def board(
    results: Evaluation | Sequence[Evaluation], *, baseline: str | None = None, config: Config | None = None
) -> RunBoard:
    """Put results side by side: the verdict, and each measure with its interval, target and difference to a baseline.

    Parameters
    ----------
    results
        One result or several of one dataset, with their rows (``keep_rows=True``, as by default).
    baseline
        The run that the others are compared with; by default the second best.
    config
        Other weights and targets.

    Raises
    ------
    InputError
        There is no result, one has no rows, or no result is of the run ``baseline``.
    """
    given = [results] if isinstance(results, Evaluation) else list(results)
    if not given:
        raise InputError("there is no result", remedy="Give at least one: graphkit.board(graphkit.evaluate(RUN)).")
    for one in given:
        if one.questions and not one.rows:
            raise InputError(f"the result of {one.run} holds no rows", remedy="Evaluate with keep_rows=True.")
    chosen = config if config is not None else Config()
    view = BoardView(given, [score_layers(one, chosen) for one in given], chosen, _number(given, baseline))
    if baseline is not None and view.baseline not in view.standings.baselines:
        what = f"the other runs can't be compared with {baseline!r}"
        raise InputError(what, remedy="Give at most ten results, all scored by one measure over the same gold.")
    return RunBoard(view)


def _number(results: Sequence[Evaluation], run: str | None) -> int | None:
    """Return the place of a run; None if none is asked for."""
    names = [one.run for one in results]
    if run is None or run in names:
        return None if run is None else names.index(run)
    raise InputError(f"no result is of the run {run!r}", remedy=f"{did_you_mean(run, names)}Give one of the results'.")


def spine(
    runs: str | Path | Sequence[str | Path],
    question: str,
    *,
    store: Store | None = None,
    dataset: str | Path | Dataset | None = None,
    problems: Problems | None = None,
    undirected: bool = False,
) -> QuestionSpine:
    """Return the gold paths of a question step by step, with what each run did at every step.

    The marks are those of the report page. Grades beside the run decide first whether an answer is right: those of
    persons, of judges, and of the tests of its code.

    Parameters
    ----------
    runs
        A run or several of one dataset: the name of a run in the graph of ``store``, or a run file.
    dataset
        The dataset of run files; by default the folder whose ``runs/`` holds the file.
    problems
        Collects what is wrong with the files, and decides whether it is skipped.
    undirected
        Compare edges without their direction, as a page with ``--undirected`` does.

    Raises
    ------
    InputError
        A run or the question is unknown, which the message answers with the closest name, a file can't be used, or the
        runs are of several datasets.
    """
    problems = problems if problems is not None else Problems()
    given = [runs] if isinstance(runs, str | Path) else list(runs)
    found = [_read(run, store, dataset, problems) for run in given]
    if not found:
        raise InputError("no run was named")
    files = {one.dataset.questions_file.resolve() for _, one in found}
    if len(files) > 1:
        raise InputError("the runs are of several datasets", remedy="Give runs of one dataset.")
    for _, one in found:
        one.require_question(question)
    cases = [one.cases[question] for _, one in found]
    outcomes = [outcome(one.cases[question], one.invalid.get(question)) for _, one in found]
    right = tuple(
        decided(Decision(judged.answer, ""), one.grades(question)).right
        for (_, one), judged in zip(found, outcomes, strict=True)
    )
    walks = [aligned_with_gold(case) if undirected else case for case in cases]
    columns = tuple(
        column_of(walk, one.invalid.get(question), undirected) for walk, (_, one) in zip(walks, found, strict=True)
    )
    lucky = tuple(
        answer is True and judged.path is False and not undirected  # a path that only directions decide is neither
        for answer, judged in zip(right, outcomes, strict=True)
    )
    names = tuple(name for name, _ in found)
    return QuestionSpine(
        question,
        cases[0].question.question,
        Spine(backbone_of(cases[0]), names, columns, right, lucky),
        tuple(_why_command(run, question, dataset, undirected) for run in given),
    )


def _why_command(run: str | Path, question: str, dataset: str | Path | Dataset | None, undirected: bool) -> str:
    """Return the command that explains a question of a run, which is named as it was given."""
    folder = dataset.folder if isinstance(dataset, Dataset) else dataset
    options = (dataset_option(run, folder) if is_run_file(run) else "") + (" --undirected" if undirected else "")
    return command_text("why", run, question, options=options)


def _read(
    run: str | Path, store: Store | None, dataset: str | Path | Dataset | None, problems: Problems
) -> tuple[str, RunOnFiles]:
    """Return the name of a run, and its records."""
    if is_run_file(run):
        found = RunOnFiles.read(run, dataset, problems)
        return found.run, found
    if store is None:
        remedy = "Give store=graphkit.open_store() for a run in the graph."
        raise InputError(f"{str(run)!r} names no file", remedy=remedy)
    file, folder = run_source(store, str(run))
    return str(run), RunOnFiles.read(file, folder, problems)


def why(
    run: str | Path,
    question: str,
    *,
    store: Store | None = None,
    dataset: str | Path | Dataset | None = None,
    problems: Problems | None = None,
    undirected: bool = False,
) -> Explanation:
    """Explain what a run did wrong with one question, in at most 2 KB; a notebook draws the spine of the question, too.

    The explanation of a run file equals that of the loaded run, but for the query.

    Parameters
    ----------
    run
        The name of a run in the graph of ``store``, or a run file.
    dataset
        The dataset of a run file; by default the folder whose ``runs/`` holds the file.
    problems
        Collects what is wrong with the files, and decides whether it is skipped.
    undirected
        Compare edges without their direction, as a page with ``--undirected`` does.

    Raises
    ------
    InputError
        The run or the question is unknown, which the message answers with the closest name, or a file can't be used.
    """
    found = explanations.why(run, question, store=store, dataset=dataset, problems=problems, undirected=undirected)
    own = {one.name: getattr(found, one.name) for one in fields(Explanation)}
    return DrawnExplanation(
        **own, draw=partial(spine, run, question, store=store, dataset=dataset, undirected=undirected)
    )


def _styled(html: str, *sheets: str) -> str:
    """Return HTML with the style sheets that it needs, which hold within it alone."""
    return f'<div class="graphkit-page"><style>{_style(*sheets)}</style>{html}</div>'


@cache
def _style(*sheets: str) -> str:
    """Return the style sheet of notebooks, and those of the page with their rules nested in the fragment's."""
    notebook, *others = (
        (TEMPLATES / name).read_text(encoding="utf-8") for name in ("notebook.css", "base.css", *sheets)
    )
    return f"{notebook}.graphkit-page {{\n{''.join(others).replace(':root', '&')}}}"
