"""``graphkit evaluate``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from graphkit.cli.base import (
    added,
    argument,
    as_json,
    command,
    open_graph,
    option,
    present,
    print_line,
    print_problems,
    say,
)
from graphkit.cli.briefs import FULL, lines_of_error, print_brief, say_briefly
from graphkit.cli.options import (
    ANSWERED_BY,
    BY,
    CLUSTER,
    CONFIG,
    DATASET,
    MEASURE,
    MISSING_AS,
    NO_STORE,
    RUN_NAME,
    SCORES,
    UNDIRECTED,
    UNORDERED,
    UNTYPED,
    WHERE,
    CountedAs,
    ExecutorOptions,
    LogOptions,
    ReadingOptions,
    RunGateOptions,
    one_run,
)
from graphkit.errors import InputError
from graphkit.records.option_values import Bound, By

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from graphkit.analysis.evaluation_plan import EvaluatedRuns, EvaluationPlan
    from graphkit.database.store import Store
    from graphkit.files.run_files import RunSource
    from graphkit.records.scores import Score
    from graphkit.scoring.export import RunsVerdict
    from graphkit.scoring.run_shards import ShardPlan

#: The endings of the files that have no value of a question.
WITHOUT_ROWS = (".summary.json", ".md")


@dataclass(frozen=True)
class InputOptions:
    """The runs to evaluate, and their dataset."""

    runs: list[Path] | None = argument(
        "RUN.jsonl|DATASET...",
        "Evaluate these run logs, or all of a dataset.  [default: those of the dataset in this folder]",
        default=None,
        show_default=False,
    )
    dataset: Path | None = DATASET
    format: str | None = option("--format FORMAT", "Read logs of another tool; `graphkit import` lists formats.")
    scores: list[Path] | None = SCORES
    answered_by: str | None = ANSWERED_BY


@dataclass(frozen=True)
class ScoringOptions:
    """The measures to compute, and their options."""

    measures: list[str] | None = MEASURE
    k: int | None = option("--k", "Cut off measures that name no cut-off at K.", min=1)
    engine: Literal["python", "cypher"] = option("--engine", "Engine that computes the measures.", default="python")
    config: Path | None = CONFIG
    by: By | None = BY
    where: str | None = WHERE
    undirected: bool = UNDIRECTED
    untyped: bool = UNTYPED
    unordered: bool = UNORDERED
    failed_as: CountedAs = MISSING_AS
    cluster: Literal["repo", "repo-set", "session", "category", "group"] | None = CLUSTER


@dataclass(frozen=True)
class ResultOptions:
    """Where results go."""

    no_store: bool = NO_STORE
    out: list[Path] | None = option(
        "--out -o FILE|FOLDER",
        "Write results as .jsonl, .json, .csv, .parquet, .xml (JUnit) or .md, or into a folder without an ending.",
        writes="results",
    )

    @property
    def folder(self) -> Path | None:
        """The results folder, whose name has no ending; None for none."""
        folders = [path for path in self.out or () if not path.suffix]
        if len(folders) > 1:
            raise InputError(
                f"there is one results folder, and --out names {len(folders)}", remedy="Leave out the others."
            )
        return folders[0] if folders else None

    @property
    def files(self) -> list[Path]:
        """The files of results."""
        return [path for path in self.out or () if path.suffix]


class OutputOptions(Protocol):
    """Further files and gates, with their options, by a plug-in (entry points of ``graphkit.options.evaluate``)."""

    def inputs(self, given: InputOptions) -> InputOptions:
        """Return the runs and their dataset, or what is made of them first."""
        ...

    def files(self) -> Mapping[Path, str]:
        """Return the files, each with the ending that says its form, whatever it is called."""
        ...

    def each(self) -> Sequence[Bound]:
        """Return bounds on each question, as those of ``--fail-question``."""
        ...


@dataclass(frozen=True)
class StoringOptions:
    """How runs are stored in the graph."""

    name: str | None = RUN_NAME
    replace: bool = option("--replace", "Replace a run of this name from another file.")
    keep: list[str] | None = option(
        "--keep RULE",
        "Store only some questions of a run: failures (failed or missing, a wrong answer or path, or a measure worse "
        "than its target), sample=N, or a filter such as 'EdgeRecall < 0.5 and difficulty == \"hard\"'; may be "
        "repeated.",
    )


#: The files of results, in the order of writing, with the ending that says their form if their own doesn't.
Outputs = Sequence[tuple[Path, str | None]]


@dataclass(frozen=True)
class Asked:
    """The groups of a call's options, and settings that depend on more than one of them."""

    given: InputOptions
    scoring: ScoringOptions
    gates: RunGateOptions
    results: ResultOptions
    further: Mapping[str, OutputOptions]
    storing: StoringOptions
    logs: LogOptions
    reading: ReadingOptions
    executors: ExecutorOptions

    @property
    def title(self) -> str:
        """The text of the progress line."""
        return f"evaluating {', '.join(run.name for run in (self.given.runs or [])[:3]) or 'the runs of this folder'}"

    @cached_property
    def files(self) -> list[Path]:
        """The logs of the runs."""
        from graphkit.files.dataset import run_files

        return run_files(self.given.runs or ())

    @cached_property
    def outputs(self) -> Outputs:
        """The files of results, also those that plug-ins add."""
        from graphkit.scoring.export import summaries_last

        added_files = [one for options in self.further.values() for one in options.files().items()]
        return [*added_files, *((path, None) for path in summaries_last(self.results.files))]

    @property
    def keeps_rows(self) -> bool:
        """Whether a file of results holds the values of each question."""
        return not all((ending or path.name).endswith(WITHOUT_ROWS) for path, ending in self.outputs)

    @property
    def in_shards(self) -> bool:
        """Whether runs are scored in shards; if not, this process scores whole files."""
        return bool(self.executors.on is not None or self.results.folder is not None or self.executors.reserved())

    def plan(self, graded: Sequence[Score]) -> EvaluationPlan:
        """Return the evaluation, with the scores that the logs hold."""
        parts = self.given, self.scoring, self.gates, self.storing, self.reading
        return planned(*parts, graded, keep_rows=self.keeps_rows)


@command(graph=True)
def evaluate(
    *,
    given: InputOptions,
    scoring: ScoringOptions,
    gates: RunGateOptions,
    results: ResultOptions,
    further: dict[str, OutputOptions] = added("graphkit.options.evaluate"),
    storing: StoringOptions,
    logs: LogOptions,
    reading: ReadingOptions,
    executors: ExecutorOptions,
    full: bool = FULL,
) -> None:
    """Score runs, and keep the scores in the graph."""
    from graphkit.cli.progress import shown_progress

    if scoring.where is not None:
        if scoring.engine == "cypher" or storing.keep:
            what = f"{'--keep' if storing.keep else '--engine cypher'} is for the graph, which holds no part of a run"
            raise InputError(what, where="--where", remedy="Leave out one of the two.")
        results = dataclasses.replace(results, no_store=True)
    for more in further.values():
        given = more.inputs(given)
    gates = with_further(gates, further)
    asked = Asked(given, scoring, gates, results, further, storing, logs, reading, executors)
    with shown_progress(asked.title):  # what is imported and read takes a moment
        from graphkit.analysis.gate_outcomes import hold

        _refuse_contradictions(asked)
        one_run(storing.name, asked.files, "Evaluate")
        graded = [] if given.format is not None else _graded_in_logs(asked)
        # Before anything is imported; but a mapped log has scores of its own, by whatever name.
        plan = asked.plan(graded) if not logs.map else None
    evaluated, sources = _scored(asked, plan)
    brief = not (full or as_json())
    taken = _say_messages(evaluated, given.format is not None or bool(logs.given()), brief=brief)
    verdict = _verdict(evaluated) if not brief or results.files else None
    _write(evaluated, sources, asked.outputs, verdict)
    if full:
        show = partial(_show, evaluated, verdict)
    else:
        show = partial(_show_briefly, evaluated, taken, *_next(asked, sources, evaluated))
    over_runs = {} if verdict is None else {"verdict": verdict.as_json()}
    present(show, *((one | over_runs for one in evaluated.as_json()) if as_json() else ()))
    hold(evaluated.gates, brief=not full)


def _scored(asked: Asked, plan: EvaluationPlan | None) -> tuple[EvaluatedRuns, list[RunSource]]:
    """Score the runs, and return the sources of their results; without a plan, by one with the scores of their logs."""
    from graphkit.cli.imports import as_runs
    from graphkit.cli.progress import shown_progress
    from graphkit.files.jsonl import read_once

    given, files = asked.given, asked.files
    how = given.format, given.dataset, asked.logs, asked.reading.on_error, asked.storing.name
    with (
        read_once(),
        _shards(asked) as shards,
        as_runs(files, *how, in_shards=asked.in_shards) as (sources, dataset),
        shown_progress(asked.title) as progress,
        _graph(asked, sources, dataset) as store,
    ):
        if plan is None:
            plan = asked.plan([score for one in sources for score in one.scores])
        if len(sources) > len(files):  # trials, whose runs are named already
            plan = dataclasses.replace(plan, options=dataclasses.replace(plan.options, name=None))
        evaluated = plan.evaluate(
            sources, dataset, shards=shards, store=store, progress=progress, notify=say, on_problems=print_problems
        )
        return evaluated, sources


def _say_messages(evaluated: EvaluatedRuns, imported: bool, *, brief: bool) -> int:
    """Say what is special about the runs, and return how many lines that takes of the brief output."""
    messages = evaluated.messages(imported, brief=brief)
    if brief:
        return say_briefly(messages)
    for message in messages:
        say(message)
    return 0


def _verdict(evaluated: EvaluatedRuns) -> RunsVerdict | None:
    from graphkit.analysis.evaluation_findings import runs_verdict
    from graphkit.cli.progress import shown_progress

    with shown_progress("comparing the runs"):
        return runs_verdict(evaluated)


def _write(
    evaluated: EvaluatedRuns, sources: Sequence[RunSource], outputs: Outputs, verdict: RunsVerdict | None
) -> None:
    """Write the files of results."""
    from graphkit.files.atomic import together
    from graphkit.scoring.export import write_results

    results, held, facts = evaluated.results, evaluated.held, evaluated.plan.facts
    with together():
        for path, ending in outputs:
            ran = {result.run: one.file for one, result in zip(sources, results, strict=True)}
            write_results(path, results, evaluated.gates, facts, verdict, held=held, ending=ending, run_files=ran)


def _next(
    asked: Asked, sources: Sequence[RunSource], evaluated: EvaluatedRuns
) -> tuple[list[str], str, tuple[str, ...] | None]:
    """Return what other commands call the runs, the options that these need, and the next commands if they are others.

    Shards that aren't stored have none: a command reads one file, or the graph.
    """
    from graphkit.files.assets import option_text

    dataset, stored = asked.given.dataset, not asked.results.no_store
    pairs = zip(sources, evaluated.results, strict=True)
    if stored or (asked.in_shards and not _are_whole(sources, dataset)):
        return [result.run for _, result in pairs], "", None if stored else ()
    more = option_text("dataset", dataset) if dataset is not None else ""
    commands = None
    if sources[0].run != sources[0].file:  # no other command reads this log
        commands = (_import_command(sources[0].file, asked, evaluated.results[0].run),)
    return [str(one.file) for one, _ in pairs], more, commands


def _are_whole(sources: Sequence[RunSource], dataset: Path | None) -> bool:
    """Return whether runs and their questions are single files of this machine, which other commands read."""
    from graphkit.files.dataset import Dataset

    try:
        return all(Dataset.of_run(one.file, dataset) and one.file.is_file() for one in sources)
    except InputError:
        return False


@contextmanager
def _shards(asked: Asked) -> Iterator[ShardPlan | None]:
    """Open the executor and the results folder; None if this process scores whole files."""
    from graphkit.scoring.export import check_output

    for path, ending in asked.outputs:
        check_output(path, ending)
    if not asked.in_shards:
        yield None
        return
    from graphkit.scoring.run_shards import opened_plan

    def note(message: str) -> None:
        say(f"note: {message}")

    on, reserved = asked.executors.on, asked.executors.reserved()
    with opened_plan(on, asked.results.folder, resources=reserved, say=note, whole=asked.keeps_rows) as plan:
        yield plan


def _graph(asked: Asked, sources: Sequence[RunSource], dataset: Path | None) -> AbstractContextManager[Store | None]:
    """Return the graph, if it stores the results; what is wrong with the names of files is said before it is opened."""
    from graphkit.files.dataset import Dataset

    for one in () if asked.in_shards else sources:
        Dataset.of_run(one.run, dataset)
    return nullcontext() if asked.results.no_store else open_graph()


def _refuse_contradictions(asked: Asked) -> None:
    scoring, gates, results, keep = asked.scoring, asked.gates, asked.results, asked.storing.keep
    if scoring.engine == "cypher" and (asked.executors.on is not None or results.folder is not None):
        remedy = "Leave it out, or evaluate without --on into a file."
        raise InputError("--engine cypher can't be used with --on or a results folder", remedy=remedy)
    if results.no_store and scoring.engine == "cypher":
        raise InputError("--engine cypher computes in a database, and --no-store uses none")
    if results.no_store and keep:
        raise InputError("--keep says what to store, and --no-store stores nothing")
    if gates.sure and not (gates.under or gates.over):
        raise InputError(
            "--sure holds the interval to a bound, and there is none", remedy="Add --fail-under or --fail-over."
        )
    if gates.pass_k is not None and (gates.per_repetition or not (gates.under or gates.over)):
        what = "--pass-k holds the share of right repetitions to a bound on a mean"
        what += ", and --per-repetition each run" if gates.per_repetition else ", and there is none"
        remedy = "Leave out one of them." if gates.per_repetition else "Add --fail-under, such as EdgeRecall=0.8."
        raise InputError(what, remedy=remedy)
    if keep and scoring.engine == "cypher":
        raise InputError(
            "--engine cypher computes in the graph, which would hold only the kept questions",
            where="--keep",
            remedy="Leave out --engine cypher: files have the whole run.",
        )


def with_further(gates: RunGateOptions, further: Mapping[str, OutputOptions]) -> RunGateOptions:
    """Return the gates with the bounds that the options of plug-ins add."""
    return dataclasses.replace(gates, each=[*gates.each, *(one for more in further.values() for one in more.each())])


def planned(
    given: InputOptions,
    scoring: ScoringOptions,
    gates: RunGateOptions,
    storing: StoringOptions,
    reading: ReadingOptions,
    graded: Sequence[Score] = (),
    *,
    keep_rows: bool = False,
) -> EvaluationPlan:
    """Return the evaluation that the options ask for, with scores from the logs beside those of files."""
    from graphkit.analysis.config import load_config
    from graphkit.analysis.evaluation_plan import EvaluationPlan
    from graphkit.analysis.run_gates import RunGates
    from graphkit.files.score_files import read_scores
    from graphkit.scoring.options import EvaluationOptions

    shared = {one.name for one in dataclasses.fields(EvaluationOptions)}
    own = {
        name: value for group in (scoring, storing, reading) for name, value in vars(group).items() if name in shared
    }
    own = {name: value for name, value in own.items() if value is not None}
    if own["failed_as"] == "0":
        own["failed_as"] = "zero"
    options = EvaluationOptions(**own, keep_rows=keep_rows, hash_gold=as_json())
    scores = reading.read(read_scores, given.scores or [])
    held = {(one.run, one.question, one.measure) for one in scores}
    return EvaluationPlan(
        options,
        config=load_config(scoring.config),
        gates=RunGates(**vars(gates)),
        scores=[*scores, *(one for one in graded if (one.run, one.question, one.measure) not in held)],
        score_files=given.scores or (),
        answered_by=given.answered_by,
        undirected=scoring.undirected,
        untyped=scoring.untyped,
    )


def _graded_in_logs(asked: Asked) -> list[Score]:
    """Return the grades that a person wrote into the records of the runs, and say what they are."""
    from graphkit.files.dataset import Dataset
    from graphkit.files.person_grades import grades_in_words, is_graded, logged_grades

    found, problems = [], asked.reading.problems()
    for file in asked.files:
        if is_graded(file):
            questions = Dataset.of_run(file, asked.given.dataset).questions_file
            grades = logged_grades(file, problems, run=asked.storing.name, questions=questions)
            found += grades
            if grades:
                say(f"note: {file.name} is graded by a person: {grades_in_words(grades)}")
    print_problems(problems)
    return found


def _import_command(log: Path, asked: Asked, run: str) -> str:
    """Return the command that makes a run of a log, which other commands take then."""
    from graphkit.files.assets import as_typed, command_text, option_text
    from graphkit.files.dataset import Dataset
    from graphkit.records.repetition_names import system_of

    given, logs = asked.given, asked.logs
    dataset = Dataset.of_run(log, given.dataset).folder
    target = dataset / "runs" / f"{system_of(run) or run}.jsonl"
    options = f"{option_text('dataset', dataset)} -o {as_typed(target)}{logs.typed()}"
    format = given.format or ("auto" if logs.map else "graphkit")  # noqa: A001 - the name of the option
    return command_text(f"import {format}", log, options=options)


def _show_briefly(
    evaluated: EvaluatedRuns, taken: int, names: list[str], more: str, commands: tuple[str, ...] | None
) -> None:
    from graphkit.analysis.evaluation_findings import evaluation_brief
    from graphkit.analysis.gate_outcomes import gate_error
    from graphkit.cli.progress import shown_progress

    with shown_progress("comparing the runs"):
        brief = evaluation_brief(evaluated, names, more)
    if commands is not None:
        brief = dataclasses.replace(brief, commands=commands)
    print_brief(brief, taken + lines_of_error(gate_error(evaluated.gates, brief=True)))


def _show(evaluated: EvaluatedRuns, verdict: RunsVerdict | None = None) -> None:
    from graphkit.cli.scorecards import (
        print_clusters,
        print_groups,
        print_outcomes,
        print_repetitions,
        print_scoreboard,
        print_scorecard,
    )
    from graphkit.cli.tables import print_gates

    print_scoreboard(evaluated.results, evaluated.hidden)
    print_clusters(evaluated.results)
    print_repetitions(evaluated.repetitions)
    if evaluated.plan.by:
        print_groups(evaluated.results, evaluated.plan.by)
    for card, result in zip(evaluated.cards, evaluated.results, strict=False):
        print_scorecard(card, evaluated.hidden)
        print_outcomes(result)
    for line in verdict.lines() if verdict is not None else ():
        print_line(f"{line}.")
    print_gates(evaluated.gates)
