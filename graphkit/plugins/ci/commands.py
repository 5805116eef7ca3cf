"""``graphkit ci``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from typer.core import TyperArgument, TyperOption

from graphkit.cli.base import (
    MISTAKES,
    argument,
    as_json,
    command,
    made_command,
    option,
    present,
    print_problems,
    say,
)
from graphkit.errors import GraphkitError, InputError
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.analysis.evaluation_plan import EvaluatedRuns, EvaluationPlan
    from graphkit.analysis.gate_outcomes import GateOutcome
    from graphkit.plugins.ci.job_settings import CiSettings
    from graphkit.plugins.compare.comparison_plan import ComparisonPlan

#: The options of both commands that a job may set; it sets the others itself, or they have no place there.
EVALUATE = (
    *("measures", "k", "config", "undirected", "untyped", "unordered", "failed_as", "cluster", "under", "over", "each"),
    *("max_failed", "severe", "stale", "allow_stale", "min_scored", "sure", "min_kappa", "scores", "answered_by"),
    *("on_error", "strict", "no_store", "per_repetition", "pass_k", "leak"),
)
COMPARE = (
    *("measure", "primary", "cluster", "plan", "cost", "resamples", "seed", "failed_as", "config", "untyped"),
    *("regression", "drop", "rule_out", "max_failed", "partial_baseline", "gold_changed", "allow_lost", "allow_stale"),
    *("on_error", "strict"),
)


@dataclass(frozen=True)
class JobOptions:
    """Options that override the settings; see :class:`graphkit.plugins.ci.job_settings.CiSettings`."""

    run: str | None = argument(
        "[RUN.jsonl]",
        "The run log, or a quoted pattern of repetitions.  [default: that of graphkit.toml]",
        default=None,
    )
    dataset: str | None = option("--dataset -d DIR", "Its dataset. [default: the folder above its runs/]")
    evaluate: str | None = option("--evaluate OPTIONS", "Options of `graphkit evaluate`, such as gates.")
    compare: str | None = option("--compare OPTIONS", "Options of `graphkit compare`. [default: --fail-on-regression]")
    baseline: str | None = option(
        "--baseline PLACE",
        "branch:NAME, folder:DIR, a baseline's folder or a run log. [default: branch:graphkit-baseline]",
    )
    name: str | None = option("--name NAME", "The name of the baseline there. [default: main]")
    missing_baseline: Literal["fail", "pass"] | None = option(
        "--missing-baseline", "Whether the job fails or passes without a baseline. [default: fail]"
    )
    out: str | None = option("--out -o DIR", "Write comment, gates and JUnit to DIR. [default: graphkit-ci]")


@dataclass(frozen=True)
class JobComparison:
    """The comparison of a job: its gates, the lines of the comment and its JSON, or why there is none."""

    gates: Sequence[GateOutcome]
    lines: list[str]
    facts: dict[str, Any]
    error: GraphkitError | None = None


@command()
def ci(
    *,
    given: JobOptions,
    settings: Path | None = option("--settings FILE", "Read [ci] from FILE. [default: graphkit.toml, if it is here]"),
    save: bool = option("--save", "Save the run as the baseline if all gates pass, and push the branch."),
    dry_run: bool = option("--dry-run", "Neither comment, nor add to the job's summary, nor save."),
) -> None:
    """Do the whole job of a CI on a run, and exit once.

    It evaluates the run, compares it with its baseline, holds all gates and comments.
    """
    from graphkit.analysis.gate_outcomes import hold
    from graphkit.plugins.ci.job_settings import read_settings

    chosen = read_settings(settings).changed(vars(given))
    if not chosen.run:
        raise InputError("no run is named", remedy='Name it: `graphkit ci RUN.jsonl`, or run = "..." in [ci].')
    plan = _evaluation(chosen)
    _comparison(chosen, "baseline", chosen.run)  # what can't be read is refused before anything is scored
    try:
        evaluated = _evaluated(plan, chosen)
    except GraphkitError as one:  # the comment of an earlier job must not stay
        if not dry_run:
            _tell(chosen, _said("the run could not be evaluated", f"{one.what}. The log of the job says where."))
        raise
    found = _compared(chosen, evaluated)
    gates = [*evaluated.gates, *found.gates]
    _write(chosen, evaluated, gates, found)
    if not dry_run:
        _tell(chosen, found.lines, scored=True)
    _show(chosen, gates, found.facts)
    if found.error is not None:
        raise found.error
    hold(gates, brief=not as_json())
    if save and not dry_run:
        _save(chosen)


def _words(text: str, name: str, function: Callable[..., None], allowed: Collection[str]) -> dict[str, Any]:
    """Return the parsed options of a command; raise InputError for what can't be parsed, or has no place in a job."""
    from graphkit.plugins.ci.job_settings import words_of

    made = made_command(name, function)
    # The command's own arguments come from the job: these stand for them while the options are read.
    needed = [one.name or "" for one in made.params if isinstance(one, TyperArgument) and one.required]
    try:
        with made.make_context(name, [*words_of(text, name), *needed]) as context:
            given = dict(context.params)
            typed = [
                one
                for one in made.params
                if (source := context.get_parameter_source(one.name or "")) and source.name == "COMMANDLINE"
            ]
    except MISTAKES as error:
        what = f"the options of {name} can't be used: {error.format_message()}"
        raise InputError(what, where=text.strip().partition("\n")[0]) from None
    words = [word.partition("=")[0] for word in words_of(text, name)]
    for one in typed:
        if isinstance(one, TyperOption) and not one.multiple and sum(map(words.count, one.opts)) > 1:
            what = f"{max(one.opts, key=len)} of `graphkit {name}` stands twice, and only the last would be held"
            raise InputError(what, where=text.strip().partition("\n")[0], remedy="Keep one of them.")
        if one.name not in allowed and one.name not in needed:
            shown = max(one.opts, key=len) if isinstance(one, TyperOption) else f"argument {one.metavar}"
            what = f"the job takes no {shown} of `graphkit {name}`"
            raise InputError(what, where=text.strip().partition("\n")[0], remedy="It sets that itself: leave it out.")
    return given


def _evaluation(settings: CiSettings) -> EvaluationPlan:
    from graphkit.cli import evaluate as module

    given = _words(settings.evaluate, "evaluate", module.evaluate, EVALUATE)
    groups = module.evaluate.options(given)  # type: ignore[attr-defined]
    gates = module.with_further(groups["gates"], groups["further"])
    return module.planned(groups["given"], groups["scoring"], gates, groups["storing"], groups["reading"])


def _comparison(settings: CiSettings, first: str, second: str) -> ComparisonPlan:
    from graphkit.files.dataset import Dataset
    from graphkit.plugins.ci.baselines import is_baseline, read_baseline
    from graphkit.plugins.compare import commands as module
    from graphkit.plugins.compare.repeated_logs import repeated_files

    given = _words(settings.compare, "compare", module.compare, COMPARE)
    groups = module.compare.options(given)  # type: ignore[attr-defined]
    dataset, asked = settings.own_dataset, None
    if is_baseline(first):
        held = read_baseline(first)
        first, asked = held.run, held.dataset
    elif first != "baseline":  # run logs of the same questions, perhaps with the run's name
        asked = Dataset.of_run(repeated_files(second)[0], dataset).folder
    return module.planned(first, second, (dataset, asked), groups["how"], groups["gates"], groups["workers"])


def _evaluated(plan: EvaluationPlan, settings: CiSettings) -> EvaluatedRuns:
    from graphkit.files.run_files import RunSource
    from graphkit.plugins.compare.repeated_logs import repeated_files

    runs = [RunSource(file, file) for file in repeated_files(settings.run)]
    evaluated = plan.evaluate(runs, settings.own_dataset, notify=say, on_problems=print_problems)
    if len(evaluated.held) > 1 and not plan.gates.per_repetition:
        what = f"the pattern names {len(runs)} run logs, and a job has one system"
        remedy = "Name one run log, or repetitions of one system by one gold: NAME@1, NAME@2 and so on."
        raise InputError(what, where=settings.run, remedy=remedy)
    for message in evaluated.messages(brief=True):
        say(message)
    return evaluated


def _compared(settings: CiSettings, evaluated: EvaluatedRuns) -> JobComparison:
    """Compare the run with its baseline; without one, or if that can't be done, a gate and the comment say so."""
    from graphkit.analysis.gate_outcomes import GateOutcome
    from graphkit.plugins.ci.baselines import NoBaselineError

    run = evaluated.held[0].run
    try:
        with _baseline(settings) as first:
            return _compared_with(first, settings, evaluated)
    except NoBaselineError as error:
        passed = settings.missing_baseline == "pass"
        what = f"there is no baseline to compare with: {error.what}"
        what += (
            ", which is allowed" if passed else f". {error.remedy} --missing-baseline pass accepts that there is none"
        )
        missing = GateOutcome("baseline", run, passed, what)
        lines = _said(
            "there is no run to compare with", what, [*evaluated.gates, missing], _crossed(settings, evaluated)
        )
        return JobComparison([missing], lines, {})
    except GraphkitError as error:
        gate = GateOutcome("compare", run, False, f"not compared: {error.what}")
        text = f"{error.what}. {error.remedy or ''}".strip()
        lines = _said("the runs could not be compared", text, [*evaluated.gates, gate], _crossed(settings, evaluated))
        return JobComparison([gate], lines, {}, error)


def _compared_with(first: str, settings: CiSettings, evaluated: EvaluatedRuns) -> JobComparison:
    from graphkit.files.problems import Problems
    from graphkit.plugins.ci.added_options import commented

    plan = _comparison(settings, first, settings.run)
    if not plan.gates.quality:  # --compare replaces the default, which is one
        say("warning: no gate on how the measures differ from the baseline, such as --fail-on-regression")
    found = plan.compared(Problems(evaluated.plan.options.on_error, strict=evaluated.plan.options.strict))
    gates = plan.stated(plan.gates.outcomes(found))
    for message in plan.brief_messages(found):
        say(message)
    return JobComparison(
        gates,
        commented(plan, found, [*evaluated.gates, *gates], _crossed(settings, evaluated)),
        found.as_json() | plan.part_as_json(),
    )


@contextmanager
def _baseline(settings: CiSettings) -> Iterator[str]:
    """Yield the baseline as `graphkit compare` takes it: a folder, or a run log."""
    from graphkit.plugins.ci.baseline_branches import fetch_branch, from_branch
    from graphkit.plugins.ci.baselines import in_folder, is_baseline
    from graphkit.plugins.compare.repeated_logs import repeated_files

    kind, colon, place = settings.baseline.partition(":")
    if colon and kind == "branch":
        fetch_branch(Path(), place)
        with from_branch(Path(), place, settings.name) as folder:
            yield str(folder)
    elif colon and kind == "folder":
        yield str(in_folder(Path(place), settings.name))
    elif is_baseline(settings.baseline) or all(one.is_file() for one in repeated_files(settings.baseline)):
        yield settings.baseline
    else:
        what = "this is neither a baseline's folder nor a run log"
        remedy = "A place is branch:NAME, folder:DIR, a folder of `graphkit baseline get`, or a file."
        raise InputError(what, where=settings.baseline, remedy=remedy)


def _crossed(settings: CiSettings, evaluated: EvaluatedRuns) -> list[str]:
    """Return lines on how many questions crossed a line of their principal, and where, if a measure counts them."""
    from graphkit.analysis.explain import OVER_THE_LINE, sentence
    from graphkit.analysis.file_failures import file_failures
    from graphkit.analysis.gate_outcomes import NAMED
    from graphkit.plugins.ci.markdown import code_span, prose
    from graphkit.plugins.compare.repeated_logs import repeated_files

    shares = [f"{one.run} {share}" for one in evaluated.results if (share := one.shares())]
    lines = [line for one in shares for line in ("", f"{prose(one)}.")]
    kind = "access-violations"
    rows = [
        row
        for file in (repeated_files(settings.run) if shares else ())
        for row in file_failures(file, kind, dataset=settings.own_dataset)
    ]
    if rows:
        lines += ["", f"**{counted(len(rows), 'place')} {OVER_THE_LINE}:**"]
        named = [(str(row["question"]), sentence(kind, row)) for row in rows[:NAMED]]
        lines += [f"- {code_span(question)}: {code_span(told, 200)}" for question, told in named]
        lines += [f"- and {len(rows) - NAMED} more"] if len(rows) > NAMED else []
    return lines


def _said(title: str, text: str, gates: Sequence[GateOutcome] = (), crossed: Sequence[str] = ()) -> list[str]:
    """Return a comment without a comparison."""
    from graphkit.plugins.ci.comparison_comment import MARKER, gate_lines
    from graphkit.plugins.ci.markdown import prose

    listed = ["", *gate_lines(gates, crossed)] if gates else []
    return [MARKER, f"### graphkit: {title}", "", prose(text), *listed]


def _write(settings: CiSettings, evaluated: EvaluatedRuns, gates: list[GateOutcome], found: JobComparison) -> None:
    """Write what the job found into its folder: comment, gates, JUnit, and both results."""
    from graphkit.files.atomic import together, written
    from graphkit.plugins.compare.repeated_logs import repeated_files
    from graphkit.scoring.export import write_results

    place = Path(settings.out)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder can't be made: {error.strerror}"
        raise InputError(what, where=str(place), remedy="Name another by --out.") from None
    texts = {
        "comparison.json": json.dumps(found.facts, ensure_ascii=False, default=str) + "\n",
        "comment.md": "\n".join(found.lines) + "\n",
        "gates.json": json.dumps([gate.as_json() for gate in gates], indent=2, ensure_ascii=False) + "\n",
    }
    with together():
        for name in ("evaluation.md", "evaluation.json"):
            ran = dict(zip((one.run for one in evaluated.results), repeated_files(settings.run), strict=True))
            write_results(place / name, evaluated.results, gates, evaluated.plan.facts, run_files=ran)
        write_results(place / "junit.xml", evaluated.held, gates, evaluated.plan.facts)
        for file, text in texts.items():
            with written(place / file) as temporary:
                temporary.write_text(text, encoding="utf-8")


def _tell(settings: CiSettings, lines: list[str], scored: bool = False) -> None:
    """Add the comment and the means to the job's summary, and write the comment; what fails there fails no job."""
    from graphkit.plugins.ci.comments import CommentError, place_of, summary_file, write_comment

    if (summary := summary_file()) is not None:
        file = Path(settings.out) / "evaluation.md"
        means = ["", "### The run of this branch", "", file.read_text(encoding="utf-8")] if scored else [""]
        with summary.open("a", encoding="utf-8") as stream:
            stream.write("\n".join([*lines, *means]))
    token = os.environ.get("GRAPHKIT_TOKEN") or os.environ.get("GITHUB_TOKEN") or os.environ.get("GITLAB_TOKEN")
    place = place_of(os.environ, token, os.environ.get("GRAPHKIT_AUTHOR", ""))
    if place is None:
        say("note: no comment: this is no job of a pull request, or there is no token")
        return
    try:
        say(f"note: {write_comment(place, lines)}")
    except CommentError as error:
        kind = "::warning::" if os.environ.get("GITHUB_ACTIONS") == "true" else "warning: "
        say(f"{kind}{error.what}{f': {error.remedy}' if error.remedy else ''}")


def _show(settings: CiSettings, gates: list[GateOutcome], comparison: dict[str, Any]) -> None:
    from graphkit.cli.base import print_line
    from graphkit.cli.tables import print_gates
    from graphkit.records.words import counted

    def show() -> None:
        print_gates(gates)
        failed, every = sum(not gate.passed for gate in gates), counted(len(gates), "gate")
        verdict = f"{failed} of {every} failed" if failed else f"{every} passed"
        print_line(f"{verdict}; {settings.out} has the comment, the gates and JUnit.")

    facts = [gate.as_json() for gate in gates]
    present(show, {"gates": facts, "comparison": comparison, "out": settings.out})


def _save(settings: CiSettings) -> None:
    """Save the run as the baseline, where it is kept on a branch or in a folder."""
    from graphkit.plugins.ci.baseline_commands import PlaceOptions, saved

    kind, colon, place = settings.baseline.partition(":")
    if not colon or kind not in ("branch", "folder"):
        what = "--save keeps a baseline on a branch or in a folder"
        raise InputError(what, where=settings.baseline, remedy="Set --baseline branch:NAME or folder:DIR.")
    folder, branch = (Path(place), None) if kind == "folder" else (None, place)
    where = PlaceOptions(folder, branch, settings.name)
    say(f"note: {saved(Path(settings.run), settings.own_dataset, where, push=folder is None)['text']}")
