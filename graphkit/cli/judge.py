"""``graphkit judge`` with its commands: ``list``, ``show``, ``spot-check``, ``consistency``, ``bias`` and ``drift``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import Commands, as_json, print_json, print_line, print_problems, print_text, say, with_json
from graphkit.cli.options import (
    ON_ERROR,
    SEED,
    AnsweredByOption,
    AskOptions,
    DatasetOption,
    OnErrorOption,
    StrictOption,
    kappa_floor,
    on_error_value,
    scale_value,
    with_ask_options,
)
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.cli.rejudging import Regrading
    from graphkit.files.problems import Problems
    from graphkit.records.scores import Score
    from graphkit.trust.effects import Effect
    from graphkit.trust.subjects import Subject

judge = typer.Typer(
    cls=Commands, no_args_is_help=True, rich_markup_mode=None, help="What judges are asked, and how far to trust them."
)

RunArgument = Annotated[Path, typer.Argument(metavar="RUN.jsonl", help="The run that was graded.")]
JudgeOption = Annotated[
    str | None, typer.Option("--judge", "-j", metavar="NAME", help="Whose grades, where several judged the run.")
]
ScoreFilesOption = Annotated[
    list[Path] | None,
    typer.Option("--scores", metavar="FILE", help="The judge's scores. [default: those beside the run]"),
]
ModelOption = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help="Whose grades, where several models of the judge graded.")
]

# As in the library, and held equal by a test: to read them there would make help slow.
SIZE = 15
WIDTH = 0.2
REPEAT = 3


@judge.command("list")
@with_json
def list_graders() -> None:
    """List the graders: what each is asked about, and which measures it gives."""
    from graphkit.cli.tables import print_table
    from graphkit.judges.catalogue import GRADERS

    if as_json():
        for grader in GRADERS.values():
            print_json({"grader": grader.name, "shows": grader.shows, "measures": grader.measures})
        return
    rows = [[grader.name, ", ".join(grader.shows), ", ".join(grader.measures)] for grader in GRADERS.values()]
    print_table(None, ("grader", "is shown", "measures"), rows)


@judge.command()
@with_json
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A grader, or system for what every prompt begins with.")],
) -> None:
    """Show the words that a grader asks with, and the form of its verdict."""
    import json

    from graphkit.judges.catalogue import GRADERS
    from graphkit.judges.prompts import text_of
    from graphkit.judges.verdict_request import prompt_hash, schema_of

    words = text_of(name)
    grader = GRADERS.get(name)
    form = schema_of(grader) if grader is not None else None
    if as_json():
        print_json({"name": name, "text": words, "schema": form, "hash": prompt_hash(grader) if grader else None})
        return
    print_text(words)
    if form is not None:
        print_line()
        print_line("The verdict is JSON of this form:")
        print_text(json.dumps(form, ensure_ascii=False, indent=1))


@judge.command("spot-check")
@with_json
def spot_check(
    run: RunArgument,
    dataset: DatasetOption = None,
    judge: JudgeOption = None,
    model: ModelOption = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="NAME",
            help="Which of its measures. [default: that which the sheet names, else RubricGrade]",
        ),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            "--scale", metavar="LOW-HIGH", help="The whole grades of the measure. [default: as declared, or as given]"
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="How many answers are drawn.")] = SIZE,
    seed: Annotated[int, typer.Option("--seed", help="The same seed draws the same answers.")] = SEED,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="A sheet: written where it is absent, read where it is filled."),
    ] = None,
    width: Annotated[
        float, typer.Option("--width", min=0.01, max=2.0, help="Of an interval, to tell how many labels it takes.")
    ] = WIDTH,
    min_kappa: Annotated[
        float | None,
        typer.Option("--min-kappa", metavar="VALUE", help="Exit with 1 where kappa with the person may be lower."),
    ] = None,
    answered_by: AnsweredByOption = None,
    scores: ScoreFilesOption = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Grade some answers yourself, and see how far the judge agrees, beyond chance and with intervals.

    Labels are kept as they are given: the same command goes on where it was left.
    """
    from graphkit.analysis import gates
    from graphkit.analysis.spot_check_files import KeptCheck, keep
    from graphkit.cli.asking import ask_grades
    from graphkit.cli.spot_check_tables import print_spot_check
    from graphkit.files.problems import Problems
    from graphkit.files.verdict_files import grades_folder
    from graphkit.measures.registry import measure_class
    from graphkit.records.words import counted
    from graphkit.trust.label_scales import numbers_in, persons_scale
    from graphkit.trust.labels import SheetRow, graded_rows, labels_of, read_sheet, row_of, rows_of, write_sheet
    from graphkit.trust.spot_check import check, draw
    from graphkit.trust.subjects import read_answers, read_questions

    kappa_floor(min_kappa)
    grades = scale_value(scale)

    def hold(*checks: KeptCheck) -> None:
        if min_kappa is not None:
            gates.hold(gates.min_kappa([name], graded, checks, min_kappa, [by]))

    problems = Problems(on_error_value(on_error), strict=strict)
    name, answers = read_answers(run, problems)
    chosen = _subject(run, name, judge, scores, problems, model)
    sheet = csv or grades_folder(run) / "human.csv"
    rows = read_sheet(sheet) if sheet.exists() else []
    by = _measure(chosen, measure, sheet, rows if csv is not None else [])
    graded = chosen.by(by)
    on = persons_scale(by, graded, numbers_in(said for _, _, said in graded_rows(rows, name, by)), grades)
    labels = labels_of(rows, name, by, on, answers)
    known = read_questions(run, dataset, problems) if csv is None or not sheet.exists() else {}
    drawn = [row_of(score, known.get(score.question), answers.get(score.question)) for score in draw(graded, n, seed)]
    print_problems(problems)
    if labels.changed:
        say(f"note: changed since they were graded, and not used: {', '.join(labels.changed[:5])}")
    if csv is not None and not sheet.exists():
        write_sheet(sheet, drawn)
        if as_json():
            print_json({"sheet": str(sheet), "drawn": len(drawn)})
        else:
            to_grade = f"{counted(len(drawn), 'answer')} to grade ({on.choices})"
            print_line(f"{sheet}: {to_grade}; fill the column grade, and run again")
        hold()  # nobody has checked the judge yet
        return
    if csv is None:
        kept = rows_of(rows)

        def keep_row(row: SheetRow) -> None:
            same = (row.run, row.question, row.measure)
            kept[:] = [one for one in kept if (one.run, one.question, one.measure) != same] + [row]
            write_sheet(sheet, kept)

        waiting = [row for row in drawn if row.question not in labels.labels]
        if waiting and not ask_grades(waiting, known, on, keep_row):
            say(f"stopped; what was graded is kept in {sheet}. The same command goes on.")
            hold()
            return
        labels = labels_of(read_sheet(sheet) if sheet.exists() else [], name, by, on, answers)
    if not labels.labels:
        runs = sorted({row["run"] for _, row in rows if row.get("run")} - {name})
        other = f" The sheet grades {', '.join(runs[:5])}." if runs else ""
        remedy = f"Fill the column grade.{other}"
        raise InputError(f"no answer of {name} is graded by {by}", where=str(sheet), remedy=remedy)
    if grades is None and on.numeric and on.ordered and measure_class(by) is None:
        say(f"note: the grades by {by} are taken to be on the scale {on.choices}; --scale names another")
    found = check(graded, labels.labels, notes=labels.notes, scale=on, width=width)
    place = keep(run, found.kept())
    warning = _warning(run, graded, answered_by)
    if as_json():
        print_json(found.as_json() | {"kept": str(place), "warning": warning})
    else:
        print_spot_check(found)
        print_line(f"kept in {place}")
    hold(found.kept())


@judge.command()
@with_json
@with_ask_options
def consistency(
    run: RunArgument,
    dataset: DatasetOption = None,
    judge: JudgeOption = None,
    *,
    how: AskOptions,
    repeat: Annotated[int, typer.Option("--repeat", min=2, help="How many gradings are compared.")] = REPEAT,
    graded: Annotated[
        list[Path] | None,
        typer.Option("--graded", metavar="FILE", help="Scores of a further grading: compare these, and ask nobody."),
    ] = None,
    answered_by: AnsweredByOption = None,
    scores: ScoreFilesOption = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Grade the same answers again: how many grades are stable, and which flip."""
    from graphkit.cli.rejudging import regrading
    from graphkit.cli.trust_tables import show_consistency
    from graphkit.files.problems import Problems
    from graphkit.llm import event_loop
    from graphkit.trust.consistency import compare_gradings, consistency

    problems = Problems(on_error_value(on_error), strict=strict)
    chosen = _named(run, judge, how.model, scores, problems)
    again: Regrading | None = None
    if graded:
        others = [_subject(run, chosen.run, chosen.judge, [path], problems).scores for path in graded]
        found = compare_gradings([chosen.scores, *others])
    else:
        again = regrading(run, dataset, chosen, how)
        found = event_loop.run(consistency(again, repeat))
    print_problems(problems)
    show_consistency(chosen, found, _warning(run, chosen.scores, answered_by))
    if again is not None:
        again.hold()


@judge.command()
@with_json
@with_ask_options
def bias(
    run: RunArgument,
    dataset: DatasetOption = None,
    judge: JudgeOption = None,
    *,
    how: AskOptions,
    swapped: Annotated[
        Path | None, typer.Option("--swapped", metavar="FILE", help="Scores with the order swapped: ask nobody.")
    ] = None,
    padded: Annotated[
        Path | None, typer.Option("--padded", metavar="FILE", help="Scores of the padded answers: ask nobody.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="Scores by a judge of another family, to compare with."),
    ] = None,
    answered_by: AnsweredByOption = None,
    scores: ScoreFilesOption = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Change what has no bearing, and see whether the judge's grades move: order, length, and its own family."""
    from graphkit.cli.rejudging import regrading
    from graphkit.cli.trust_tables import show_effects
    from graphkit.files.problems import Problems
    from graphkit.llm import event_loop
    from graphkit.trust.bias import bias
    from graphkit.trust.effects import effects
    from graphkit.trust.families import between_judges

    problems = Problems(on_error_value(on_error), strict=strict)
    chosen = _named(run, judge, how.model, scores, problems)
    given = {name: path for name, path in (("swapped", swapped), ("padded", padded)) if path is not None}
    found: list[Effect] = []
    again: Regrading | None = None
    for variant, path in given.items():
        found += effects(variant, chosen.scores, _subject(run, chosen.run, chosen.judge, [path], problems).scores)
    if against is not None:
        found += between_judges(_subject(run, chosen.run, None, [against], problems).scores, chosen.scores)
    elif not given:
        again = regrading(run, dataset, chosen, how)
        found = event_loop.run(bias(again))
    print_problems(problems)
    show_effects(chosen, found, _warning(run, chosen.scores, answered_by))
    if again is not None:
        again.hold()


@judge.command()
@with_json
@with_ask_options
def drift(
    run: RunArgument,
    dataset: DatasetOption = None,
    judge: JudgeOption = None,
    *,
    how: AskOptions,
    graded: Annotated[
        Path | None, typer.Option("--graded", metavar="FILE", help="Scores of today: compare these, and ask nobody.")
    ] = None,
    answered_by: AnsweredByOption = None,
    scores: ScoreFilesOption = None,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Grade recorded answers anew, and see how far the judge has moved since."""
    from graphkit.cli.rejudging import regrading
    from graphkit.cli.trust_tables import show_effects
    from graphkit.files.problems import Problems
    from graphkit.llm import event_loop
    from graphkit.trust.drift import drift
    from graphkit.trust.effects import effects

    problems = Problems(on_error_value(on_error), strict=strict)
    chosen = _named(run, judge, how.model, scores, problems)
    again: Regrading | None = None
    if graded is not None:
        now = _subject(run, chosen.run, chosen.judge, [graded], problems).scores
        found = effects("drift", chosen.scores, now)
    else:
        again = regrading(run, dataset, chosen, how)
        found = event_loop.run(drift(chosen.scores, again))
    print_problems(problems)
    show_effects(chosen, found, _warning(run, chosen.scores, answered_by))
    if again is not None:
        again.hold()


def _measure(chosen: Subject, asked: str | None, sheet: Path, rows: Sequence[tuple[str, dict[str, str]]]) -> str:
    """Return the measure that is meant: the one that is asked for, else the sheet's own, else the judge's first."""
    from graphkit.trust.labels import graded_measures

    named = graded_measures(rows, chosen.run, dict.fromkeys(score.measure for score in chosen.scores))
    if asked is None and len(named) == 1:
        return chosen.measure(named[0])
    by = chosen.measure(asked)
    if named and by.casefold() not in (name.casefold() for name in named):
        what = f"the sheet grades {chosen.run} by {', '.join(named)}, not by {by}"
        raise InputError(what, where=str(sheet), remedy="Name the measure of the sheet by --measure.")
    return by


def _named(
    run: Path, judge: str | None, model: str | None, scores: Sequence[Path] | None, problems: Problems
) -> Subject:
    """Return what a judge gave a run that is read for its name only."""
    from graphkit.trust.subjects import read_answers

    return _subject(run, read_answers(run, problems)[0], judge, scores, problems, model)


def _subject(
    run: Path,
    name: str,
    judge: str | None,
    scores: Sequence[Path] | None,
    problems: Problems,
    model: str | None = None,
) -> Subject:
    from graphkit.records.words import counted
    from graphkit.trust.subjects import subject

    found = subject(run, name, judge, scores or [], problems, model)
    if found.strangers:
        what = "is of another run and isn't used" if found.strangers == 1 else "are of other runs and aren't used"
        say(f"note: {counted(found.strangers, 'score')} {what}")
    return found


def _warning(run: Path, scores: Iterable[Score], answered_by: str | None) -> str | None:
    """Tell where judge and answering model are of one family, and return the warning."""
    from graphkit.records.model_families import judges_of, self_evaluations
    from graphkit.trust.families import answering_model

    warning = next(iter(self_evaluations(judges_of(scores), [answering_model(run, answered_by)])), None)
    if warning:
        say(f"warning: {warning}")
    return warning
