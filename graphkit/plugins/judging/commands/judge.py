"""``graphkit judge`` with its commands: ``list``, ``show``, ``spot-check``, ``consistency``, ``bias`` and ``drift``."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import argument, command, group, option, present, print_problems, print_text, say
from graphkit.cli.options import ANSWERED_BY, DATASET, MAX_COST, MIN_KAPPA, PRICES, SCALE, SEED, WHERE, ReadingOptions
from graphkit.cli.tables import print_table
from graphkit.errors import GateError, InputError
from graphkit.plugins.judging.commands.grade import (
    BASE_URL,
    CONTEXT_TOKENS,
    DRY_RUN,
    TEXTS,
    ModelOptions,
    estimate_in_words,
    judge_progress,
    print_failures,
)
from graphkit.plugins.judging.commands.pairwise import pairwise
from graphkit.records.words import counted

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from graphkit.files.problems import Problems
    from graphkit.plugins.judging.trust.grade_check import GradeCheck
    from graphkit.plugins.judging.trust.pools import PoolToJudge
    from graphkit.plugins.judging.trust.rejudging import RejudgeOptions, Rejudging
    from graphkit.plugins.judging.trust.sheet_check import SheetCheck
    from graphkit.plugins.judging.trust.spot_check import SpotCheck
    from graphkit.plugins.judging.trust.spot_check_files import KeptCheck
    from graphkit.plugins.judging.trust.subjects import Subject
    from graphkit.records.scores import Score

judge = group("Show what judges are asked; measure trust in them.")

RUN = argument("RUN.jsonl", "Read the grades of this run.")

# Defaults repeat those of the library, because importing it would make help slow; a test compares both.
SIZE = 15
WIDTH = 0.2
REPEAT = 3
DEPTH = 10
MOST_NEIGHBOURS = 20
SHOTS = 4


@dataclass(frozen=True)
class AskOptions:
    """Settings for asking a judge again; by default those of the first grading."""

    model: str | None = option("--model MODEL", "Ask this model. [default: the one that graded]")
    base_url: str | None = BASE_URL
    effort: str | None = option("--effort low|medium|high", "Limit how much the model thinks. [default: as then]")
    context_tokens: int | None = option(
        "--context-tokens", "Show the judge at most so many tokens of context. [default: as then]", min=0
    )
    citations: str | None = option("--citations REGEX", "Recognise further citations. [default: as then]")
    max_cost: float | None = MAX_COST
    prices: Path | None = PRICES

    def for_library(self) -> RejudgeOptions:
        """Return the options of the library."""
        from graphkit.plugins.judging.trust.rejudging import RejudgeOptions

        return RejudgeOptions(**dataclasses.asdict(self))


@dataclass(frozen=True)
class SubjectOptions:
    """The run, and the judge whose scores to use."""

    run: Path = RUN
    dataset: Path | None = DATASET
    judge: str | None = option("--judge -j NAME", "Use the grades of this judge, if several graded the run.")
    answered_by: str | None = ANSWERED_BY
    scores: list[Path] | None = option("--scores FILE", "Read the judge's scores. [default: those beside the run]")

    def read(self, model: str | None, problems: Problems) -> Subject:
        """Return what the judge gave the run."""
        from graphkit.plugins.judging.judges.known_judges import split_model
        from graphkit.plugins.judging.trust.subjects import read_answers

        judge, model = (self.judge, None) if model is None else split_model(model, self.judge)
        return self.given(read_answers(self.run, problems, self.dataset)[0], judge, self.scores, model, problems)

    def given(
        self, run: str, judge: str | None, files: Sequence[Path] | None, model: str | None, problems: Problems
    ) -> Subject:
        """Return what a judge gave a run, and note scores of other runs."""
        from graphkit.plugins.judging.trust.subjects import subject
        from graphkit.records.words import counted

        found = subject(self.run, run, judge, files or [], problems, model)
        if found.ignored:
            what = "is of another run and isn't used" if found.ignored == 1 else "are of other runs and aren't used"
            say(f"note: {counted(found.ignored, 'score')} {what}")
        return found

    def warning(self, scores: Iterable[Score]) -> str | None:
        """Print and return a warning if judge and answering model are of one family."""
        from graphkit.files.run_files import answering_model
        from graphkit.plugins.judging.model_families import judges_of, self_evaluations

        warning = next(iter(self_evaluations(judges_of(scores), [answering_model(self.run, self.answered_by)])), None)
        if warning:
            say(f"warning: {warning}")
        return warning


@judge.command("list")
@command()
def list_graders() -> None:
    """List the graders: what each is shown, and which measures it gives."""
    from graphkit.plugins.judging.judges.catalogue import GRADERS

    facts = [{"grader": one.name, "shows": one.shows, "measures": one.measures} for one in GRADERS.values()]
    rows = [[one.name, ", ".join(one.shows), ", ".join(one.measures)] for one in GRADERS.values()]
    present(lambda: print_table(None, ("grader", "is shown", "measures"), rows), *facts)


@judge.command()
@command()
def show(name: str = argument("NAME", "Show this grader; system shows what every prompt begins with.")) -> None:
    """Show the prompt of a grader, and the schema of its verdict."""
    import json

    from graphkit.plugins.judging.judges.catalogue import GRADERS
    from graphkit.plugins.judging.judges.pairwise import PAIR_GRADERS
    from graphkit.plugins.judging.judges.prompts import text_of
    from graphkit.plugins.judging.judges.verdict_request import prompt_hash, schema_of

    words = text_of(name)
    grader = (GRADERS | PAIR_GRADERS).get(name)
    schema = schema_of(grader) if grader is not None else None
    printed = json.dumps(schema, ensure_ascii=False, indent=1)
    text = words if schema is None else f"{words}\n\nThe verdict is JSON with this schema:\n{printed}"
    facts = {"name": name, "text": words, "schema": schema, "hash": prompt_hash(grader) if grader else None}
    present(lambda: print_text(text), facts)


@dataclass(frozen=True)
class SheetOptions:
    """The sheet for a person's grades, and options of the comparison."""

    measure: str | None = option(
        "--measure -m NAME", "Check this measure. [default: the one that the sheet names, else RubricGrade]"
    )
    scale: range | None = SCALE
    n: int = option("--n", "Draw so many answers.", default=SIZE, min=1)
    seed: int = option("--seed", "Seed for the sample of answers.", default=SEED)
    csv: Path | None = option("--csv FILE", "Write a sheet to FILE if it is absent; read it if it is filled.")
    grades: Path | None = option(
        "--grades FILE", "Ask nothing; use the grades of right and wrong from `graphkit view`."
    )
    width: float = option(
        "--width", "Say how many labels an interval this wide needs.", default=WIDTH, min=0.01, max=2.0
    )
    min_kappa: float | None = MIN_KAPPA


@dataclass(frozen=True)
class PooledOptions:
    """Options that select the chunks to pool."""

    runs: list[Path] = argument("RUN.jsonl|DATASET...", "Pool the retrieved chunks of these runs, or of a dataset's.")
    dataset: Path | None = DATASET
    where: str | None = WHERE
    k: int = option("--k", "Pool so many chunks of each run.", default=DEPTH, min=1)
    neighbours: int = option(
        "--neighbours HOPS",
        "Pool their neighbours in the knowledge graph, too, up to so many hops away: at most "
        f"{MOST_NEIGHBOURS} a question.",
        default=0,
        min=0,
    )
    texts: list[Path] | None = TEXTS

    def read(self, problems: Problems) -> PoolToJudge:
        """Return the pool."""
        from graphkit.files.dataset import run_files
        from graphkit.plugins.judging.trust.pools import PoolToJudge

        return PoolToJudge.read(
            run_files(self.runs),
            self.dataset,
            depth=self.k,
            neighbours=self.neighbours,
            texts=self.texts or (),
            where=self.where,
            problems=problems,
        )


@judge.command()
@command()
def pool(
    pooled: PooledOptions,
    context_tokens: int = option(
        "--context-tokens", "Show the judge at most so many tokens of context.", default=CONTEXT_TOKENS, min=0
    ),
    out: Path | None = option(
        "--out -o DIR|FILE.qrels",
        "Write the dataset to DIR, with relevant chunks in place of its relevant ids; or all judgements as TREC's "
        "qrels.",
    ),
    *,
    model: ModelOptions,
    reading: ReadingOptions,
    dry_run: bool = DRY_RUN,
) -> None:
    """Judge the chunks of several runs once; measure the runs by them.

    The relevance of each chunk stands in for relevant ids. It is kept beside the runs.
    """
    from graphkit.plugins.judging.commands.trust_tables import pool_in_words, print_pool
    from graphkit.plugins.judging.grading.grade_run import GradingOptions
    from graphkit.plugins.judging.judge_cost import judge_cost, require_verdicts
    from graphkit.plugins.judging.trust.pools import judge_pool, pool_as_json

    if model.batch:
        raise InputError("a pool is judged at once", remedy="Leave --batch out.")
    judge, problems = model.for_library(), reading.problems()
    options = GradingOptions(graders=["context_relevance"], context_tokens=context_tokens)
    given = pooled.read(problems)
    if dry_run:
        expected = given.estimate(judge, options)
        print_problems(problems)
        lines = [pool_in_words(given.size, given.chosen), *estimate_in_words(expected)]
        present(lines, {**dataclasses.asdict(expected), "pool": pool_as_json(given.size, given.chosen)})
        return
    with judge_progress("judging the pool", judge) as progress:
        options = dataclasses.replace(options, progress=progress)
        found = judge_pool(given, judge, options, out=out, problems=problems, notify=say)
    print_problems(problems)
    present(lambda: print_pool(found, out), {**found.as_json(), "cost": judge_cost(found.verdicts).as_json()})
    print_failures(found.verdicts)
    require_verdicts(found.verdicts, judge.max_cost)


judge.command()(pairwise)


@judge.command("spot-check")
@command()
def spot_check(
    about: SubjectOptions,
    sheet: SheetOptions,
    reading: ReadingOptions,
    model: str | None = option("--model MODEL", "Use the grades of this model, if several models of the judge graded."),
) -> None:
    """Grade some answers yourself, and see how far the judge agrees, beyond chance and with intervals.

    Each label is kept as you give it: the same command continues where you stopped.
    """
    from graphkit.plugins.judging.commands.asked_grades import ask_grades

    if sheet.grades is not None:
        _check_by_grades(about, sheet, reading, model)
        return
    checked = _opened_sheet(about, sheet, reading, model)
    if sheet.csv is not None and not checked.path.exists():
        _write_sheet(checked, sheet)
        _hold(sheet, checked)  # nobody has checked the judge yet
        return
    if sheet.csv is None:
        waiting = [row for row in checked.drawn(sheet.n, sheet.seed) if row.question not in checked.labels.labels]
        if waiting and not ask_grades(waiting, checked.questions, checked.scale, checked.keep):
            say(f"stopped; your grades are kept in {checked.path}. The same command continues.")
            _hold(sheet, checked)
            return
        checked.reread()
    found = checked.result(sheet.width)
    if checked.guessed_scale:
        scale = f"the scale {checked.scale.choices}"
        say(f"note: the grades by {checked.measure} are assumed to be on {scale}; --scale names another")
    _show_check(about, checked.scores, found, kept=True)
    _hold(sheet, checked, found.kept())


def _hold(sheet: SheetOptions, checked: SheetCheck | GradeCheck, *checks: KeptCheck) -> None:
    """Fail if the judge's agreement with the person is too low, or not known."""
    from graphkit.analysis import gate_outcomes
    from graphkit.plugins.judging.trust.kappa_gate import min_kappa as kappa_held

    if sheet.min_kappa is not None:
        runs, measures = [checked.subject.run], [checked.measure]
        gate_outcomes.hold(kappa_held(runs, checked.scores, checks, sheet.min_kappa, measures))


def _show_check(about: SubjectOptions, scores: Sequence[Score], found: SpotCheck, kept: bool) -> None:
    """Print a spot check, which gates find later if it is ``kept``."""
    from graphkit.plugins.judging.commands.trust_tables import print_spot_check
    from graphkit.plugins.judging.trust.spot_check_files import keep

    place = keep(about.run, found.kept()) if kept else None
    facts = {"kept": None if place is None else str(place), "warning": about.warning(scores)}
    present(lambda: print_spot_check(found, place), found.as_json() | facts)


def _check_by_grades(about: SubjectOptions, sheet: SheetOptions, reading: ReadingOptions, model: str | None) -> None:
    """Compare the judge with a person's grades of right and wrong."""
    from graphkit.plugins.judging.trust.grade_check import grade_check
    from graphkit.plugins.judging.trust.subjects import read_answers

    if sheet.grades is None or sheet.csv is not None:
        raise InputError("--grades and --csv both name your grades", remedy="Leave one of them out.")
    problems = reading.problems()
    name, answers = read_answers(about.run, problems, about.dataset)
    subject = about.given(name, about.judge, about.scores, model, problems)
    checked = grade_check(subject, answers, sheet.grades, problems, sheet.measure, sheet.scale)
    print_problems(problems)
    _note_changed(checked.labels.changed)
    if checked.right is not None:
        right = f"{checked.measure} is compared as right ({', '.join(checked.right)}) or wrong"
        if sheet.min_kappa is not None:
            remedy = "Grade a sheet on its scale, by --csv, or have the run graded by Correct."
            raise InputError(f"{right}, which is too little for --min-kappa", remedy=remedy)
        say(f"note: {right}; no gate rests on that")
    found = checked.result(sheet.width)
    _show_check(about, checked.scores, found, kept=checked.right is None)
    _hold(sheet, checked, found.kept())


def _note_changed(questions: Sequence[str]) -> None:
    if questions:
        say(f"note: not used, since the answers changed after grading: {', '.join(questions[:5])}")


def _opened_sheet(about: SubjectOptions, sheet: SheetOptions, reading: ReadingOptions, model: str | None) -> SheetCheck:
    from graphkit.files.grades_beside import grades_folder
    from graphkit.plugins.judging.trust.sheet_check import SheetCheck
    from graphkit.plugins.judging.trust.subjects import read_answers, read_questions

    problems = reading.problems()
    name, answers = read_answers(about.run, problems, about.dataset)
    subject = about.given(name, about.judge, about.scores, model, problems)
    path = sheet.csv or grades_folder(about.run) / "human.csv"
    checked = SheetCheck(subject, answers, path, sheet.csv is not None, sheet.measure, sheet.scale)
    if sheet.csv is None or not path.exists():
        checked.questions = read_questions(about.run, about.dataset, problems)
    print_problems(problems)
    _note_changed(checked.labels.changed)
    return checked


def _write_sheet(checked: SheetCheck, sheet: SheetOptions) -> None:
    from graphkit.plugins.judging.trust.labels import write_sheet

    drawn = checked.drawn(sheet.n, sheet.seed)
    write_sheet(checked.path, drawn)
    to_grade = f"{counted(len(drawn), 'answer')} to grade ({checked.scale.choices})"
    text = f"{checked.path}: {to_grade}; fill the column grade, and run the command again"
    present(text, {"sheet": str(checked.path), "drawn": len(drawn)})


class _TrustCheck:
    """The grades to check, and the judge that gave them, which may be asked again."""

    def __init__(self, about: SubjectOptions, asking: AskOptions, reading: ReadingOptions) -> None:
        self.about, self.asking, self.problems = about, asking, reading.problems()
        self.chosen = about.read(asking.model, self.problems)
        self.again: Rejudging | None = None

    def scores(self, file: Path, judge: str | None) -> tuple[Score, ...]:
        """Return the scores in a file that a judge, or any if None, gave the run."""
        return self.about.given(self.chosen.run, judge, [file], None, self.problems).scores

    def ask(self, check: Callable[[Rejudging], Coroutine[Any, Any, Any]]) -> Any:
        """Return the findings of a check that asks the judge again."""
        from graphkit.cli.progress import shown_progress
        from graphkit.plugins.judging.trust.rejudging import by_other_prompts, rejudging
        from graphkit.shards import event_loop

        if others := by_other_prompts(self.chosen.scores):
            say(
                f"note: {self.chosen.judge} graded by other prompts than are asked now, with examples or of another "
                f"graphkit: {', '.join(dict.fromkeys(others))}"
            )
        self.again = rejudging(self.about.run, self.about.dataset, self.chosen, self.asking.for_library(), say)
        with shown_progress(f"asking {self.chosen.judge} again") as self.again.progress:
            self.again.progress.repeats = True
            found = event_loop.run(check(self.again))
        print_failures(self.again.verdicts)
        return found

    def show(self, found: Sequence[Any], print_table: Callable[[Sequence[Any]], None]) -> None:
        """Print the problems, the warning and the findings; fail if the budget refused verdicts, or all failed."""
        print_problems(self.problems)
        about = {"run": self.chosen.run, "judge": self.chosen.judge}
        warning = {"warning": self.about.warning(self.chosen.scores)}
        present(lambda: print_table(found), *(about | one.as_json() | warning for one in found))
        if self.again is not None:
            self.again.require_verdicts()


def _use(again: Rejudging, examples: Path) -> str:
    """Return the command that asks a judge with its examples."""
    [(asked, options), *_] = again.gradings
    model = ["--model", asked.model] if asked.model is not None else []
    words = ["graphkit", "grade", "RUN.jsonl", "--judge", asked.judge, *model, "--grader", *options.graders]
    return shlex.join([*words, "--examples", str(examples)])


@judge.command()
@command()
def calibrate(
    about: SubjectOptions,
    asking: AskOptions,
    reading: ReadingOptions,
    out: Path = option(
        "--examples FILE", "Write the examples to this sheet if they help.", required=True, writes="a sheet of grades"
    ),
    csv: Path | None = option("--csv FILE", "Read your grades from this sheet. [default: those of spot-check]"),
    measure: str | None = option("--measure -m NAME", "Calibrate this measure. [default: the one of the sheet]"),
    shots: int = option("--shots", "Show so many examples.", default=SHOTS, min=1),
    seed: int = option("--seed", "Seed for the halves, the examples and the bootstrap.", default=SEED),
) -> None:
    """Show the judge a few of your grades, and keep them if it then agrees with you more often.

    Half of your grades are held out: they decide, and are never shown.
    """
    from graphkit.files.grades_beside import grades_folder
    from graphkit.plugins.judging.judges.examples import Example, Examples
    from graphkit.plugins.judging.trust.example_check import compared, halves
    from graphkit.plugins.judging.trust.rejudging import by_other_prompts
    from graphkit.plugins.judging.trust.sheet_check import SheetCheck
    from graphkit.plugins.judging.trust.subjects import read_answers, read_questions

    check = _TrustCheck(about, asking, reading)
    name, answers = read_answers(about.run, check.problems, about.dataset)
    questions = read_questions(about.run, about.dataset, check.problems)
    path = csv or grades_folder(about.run) / "human.csv"
    if out.exists():
        Examples.read(out)  # a person's own sheet isn't written over
    sheet = SheetCheck(check.chosen, answers, path, csv is not None, measure)
    _note_changed(sheet.labels.changed)
    person = sheet.labels.labels
    print_problems(check.problems)
    if by_other_prompts(sheet.scores):
        what = f"the grades by {sheet.measure} are by another prompt, with examples or of another graphkit"
        raise InputError(what, remedy="Grade the run without --examples first: what they change is measured.")
    shown, held = halves(person, shots, seed)
    rows = [
        Example(one, questions[one].question, questions[one].gold_answer or "", answers[one] or "", person[one])
        for one in shown
    ]
    examples = Examples(name, sheet.measure, tuple(rows))
    scores = check.ask(lambda again: again.with_examples(examples)(held, variant="same"))
    before, after = (
        {one.question: label for one in some if (label := sheet.scale.label_of(one)) is not None}
        for some in (sheet.scores, [one for one in scores if one.measure == sheet.measure])
    )
    found = compared(sheet.measure, person, before, after, shown, held, seed)
    assert check.again is not None
    check.again.require_verdicts()
    if not found.helps:
        remedy = (
            "Nothing was written. Grade more answers, or mend the rubric: the disagreements of spot-check show where."
        )
        raise GateError(f"the examples don't help: {found}", remedy=remedy)
    examples.write(out)
    present([str(found), f"kept in {out}: {_use(check.again, out)}"], found.as_json() | {"kept": str(out)})


@judge.command()
@command()
def consistency(
    about: SubjectOptions,
    asking: AskOptions,
    reading: ReadingOptions,
    repeat: int = option("--repeat", "Compare so many gradings.", default=REPEAT, min=2),
    graded: list[Path] | None = option("--graded FILE", "Compare with these scores of a further grading; ask nobody."),
) -> None:
    """Grade the same answers again: how many grades are stable, and which change."""
    from graphkit.plugins.judging.commands.trust_tables import print_consistency
    from graphkit.plugins.judging.trust.consistency import compare_repeats, consistency

    check = _TrustCheck(about, asking, reading)
    if graded:
        others = [check.scores(one, check.chosen.judge) for one in graded]
        found = compare_repeats([check.chosen.scores, *others])
    else:
        found = check.ask(lambda again: consistency(again, repeat))
    check.show(found, print_consistency)


@judge.command()
@command()
def bias(
    about: SubjectOptions,
    asking: AskOptions,
    reading: ReadingOptions,
    swapped: Path | None = option("--swapped FILE", "Compare with scores in swapped order; ask nobody."),
    padded: Path | None = option("--padded FILE", "Compare with scores of padded answers; ask nobody."),
    against: Path | None = option("--against FILE", "Compare with scores by a judge of another family."),
) -> None:
    """Change what should not matter, and see whether the judge's grades move: order, length, and its own family."""
    from graphkit.plugins.judging.commands.trust_tables import print_effects
    from graphkit.plugins.judging.trust.bias import bias
    from graphkit.plugins.judging.trust.effects import Effect, between_judges, effects

    check = _TrustCheck(about, asking, reading)
    found: list[Effect] = []
    for variant, path in (("swapped", swapped), ("padded", padded)):
        if path is not None:
            found += effects(variant, check.chosen.scores, check.scores(path, check.chosen.judge))
    if against is not None:
        found += between_judges(check.scores(against, None), check.chosen.scores)
    if not (swapped or padded or against):
        found = check.ask(bias)
    check.show(found, print_effects)


@judge.command()
@command()
def drift(
    about: SubjectOptions,
    asking: AskOptions,
    reading: ReadingOptions,
    graded: Path | None = option("--graded FILE", "Compare with these scores of today; ask nobody."),
) -> None:
    """Grade recorded answers again, and see how far the judge has moved since."""
    from graphkit.plugins.judging.commands.trust_tables import print_effects
    from graphkit.plugins.judging.trust.effects import drift, effects

    check = _TrustCheck(about, asking, reading)
    before = check.chosen.scores
    if graded is not None:
        found = effects("drift", before, check.scores(graded, check.chosen.judge))
    else:
        found = check.ask(lambda again: drift(before, again))
    check.show(found, print_effects)
