"""``graphkit ci``."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer
from typer.core import TyperArgument, TyperOption

from graphkit.cli.base import argument, as_json, command, made_command, option, present, print_problems, say
from graphkit.errors import GraphkitError, InputError

if TYPE_CHECKING:
    from graphkit.analysis.comparison_plan import ComparisonPlan
    from graphkit.analysis.evaluation_plan import EvaluatedRuns, EvaluationPlan
    from graphkit.analysis.gate_outcomes import GateOutcome
    from graphkit.plugins.ci.job_settings import CiSettings

#: What typer raises for a mistake in words that it parses: the class above this one has no public name.
MISTAKES: tuple[Any, ...] = typer.BadParameter.__bases__

#: The options of both commands that a job may set; it sets the others itself, or they have no place there.
EVALUATE = (
    *("measure", "k", "config", "undirected", "untyped", "unordered", "missing_as", "cluster", "under", "over", "each"),
    *("max_failed", "severe", "stale", "allow_stale", "min_scored", "sure", "min_kappa", "scores", "answered_by"),
    *("on_error", "strict", "no_store", "per_repetition", "pass_k"),
)
COMPARE = (
    *("measure", "primary", "cluster", "plan", "cost", "resamples", "seed", "failed_as", "config", "untyped"),
    *("regression", "drop", "rule_out", "max_failed", "partial_baseline", "gold_changed", "allow_lost", "allow_stale"),
    *("on_error", "strict"),
)


@command()
def ci(
    run: str | None = argument(
        "[RUN.jsonl]",
        "The run log, or a quoted pattern of repetitions.  [default: that of graphkit.toml]",
        default=None,
    ),
    *,
    dataset: str | None = option("--dataset -d DIR", "Its dataset. [default: the folder above its runs/]"),
    settings: Path | None = option("--settings FILE", "Read [ci] from FILE. [default: graphkit.toml, if it is here]"),
    evaluate: str | None = option("--evaluate OPTIONS", "Options of `graphkit evaluate`, such as gates."),
    compare: str | None = option("--compare OPTIONS", "Options of `graphkit compare`. [default: --fail-on-regression]"),
    baseline: str | None = option(
        "--baseline PLACE",
        "branch:NAME, folder:DIR, a baseline's folder or a run log. [default: branch:graphkit-baseline]",
    ),
    name: str | None = option("--name NAME", "The name of the baseline there. [default: main]"),
    missing_baseline: Literal["fail", "pass"] | None = option(
        "--missing-baseline", "Whether the job fails or passes without a baseline. [default: fail]"
    ),
    out: str | None = option("--out -o DIR", "Write comment, gates and JUnit to DIR. [default: graphkit-ci]"),
    save: bool = option("--save", "Save the run as the baseline if all gates pass, and push the branch."),
    dry_run: bool = option("--dry-run", "Neither comment, nor add to the job's summary, nor save."),
) -> None:
    """Do the whole job of a CI on a run, and exit once.

    It evaluates the run, compares it with its baseline, holds all gates and comments.
    """
    from graphkit.analysis.gate_outcomes import GateOutcome, hold
    from graphkit.plugins.ci.job_settings import read_settings

    given = {
        **{"run": run, "dataset": dataset, "evaluate": evaluate, "compare": compare, "baseline": baseline},
        **{"name": name, "missing_baseline": missing_baseline, "out": out},
    }
    chosen = read_settings(settings).changed(given)
    if not chosen.run:
        raise InputError("no run is named", remedy='Name it: `graphkit ci RUN.jsonl`, or run = "..." in [ci].')
    plan, run = _evaluation(chosen), chosen.run
    own = Path(chosen.dataset) if chosen.dataset else None
    _comparison(chosen, "baseline", run, own)  # what can't be read is refused before anything is scored
    try:
        evaluated = _evaluated(plan, run, own)
    except GraphkitError as one:  # the comment of an earlier job must not stay
        if not dry_run:
            _tell(chosen, _said("the run could not be evaluated", f"{one.what}. The log of the job says where."))
        raise
    gates, error, facts = [*evaluated.gates], None, dict[str, Any]()
    try:
        compared_gates, lines, facts = _compared(chosen, run, own, evaluated)
        gates += compared_gates
    except GraphkitError as one:
        error = one
        gates.append(GateOutcome("compare", evaluated.held[0].run, False, f"not compared: {one.what}"))
        lines = _said("the runs could not be compared", f"{one.what}. {one.remedy or ''}".strip(), gates)
    _write(chosen, evaluated, gates, lines, facts)
    if not dry_run:
        _tell(chosen, lines, scored=True)
    _show(chosen, gates, facts)
    if error is not None:
        raise error
    hold(gates, brief=not as_json())
    if save and not dry_run:
        _save(chosen, run)


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
    return module.planned(groups["given"], groups["scoring"], groups["gates"], groups["storing"], groups["reading"])


def _comparison(settings: CiSettings, first: str, second: str, dataset: Path | None) -> ComparisonPlan:
    from graphkit.cli import compare as module
    from graphkit.files.baselines import is_baseline
    from graphkit.files.dataset import Dataset
    from graphkit.files.run_files import repeated_files

    given = _words(settings.compare, "compare", module.compare, COMPARE)
    groups = module.compare.options(given)  # type: ignore[attr-defined]
    asked = None
    if first != "baseline" and not is_baseline(first):  # run logs of the same questions, perhaps with the run's name
        asked = Dataset.of_run(repeated_files(second)[0], dataset).folder
    return module.planned(first, second, (dataset, asked), groups["how"], groups["gates"], groups["workers"])


def _evaluated(plan: EvaluationPlan, run: str, dataset: Path | None) -> EvaluatedRuns:
    from graphkit.files.run_files import RunSource, repeated_files

    runs = [RunSource(file, file) for file in repeated_files(run)]
    evaluated = plan.evaluate(runs, dataset, notify=say, on_problems=print_problems)
    if len(evaluated.held) > 1 and not plan.gates.per_repetition:
        what = f"the pattern names {len(runs)} run logs, and a job has one system"
        remedy = "Name one run log, or repetitions of one system by one gold: NAME@1, NAME@2 and so on."
        raise InputError(what, where=run, remedy=remedy)
    for message in evaluated.messages(brief=True):
        say(message)
    return evaluated


def _compared(
    settings: CiSettings, run: str, dataset: Path | None, evaluated: EvaluatedRuns
) -> tuple[list[GateOutcome], list[str], dict[str, Any]]:
    """Return the gates of the comparison, the comment and the comparison as JSON."""
    from graphkit.analysis.gate_outcomes import GateOutcome
    from graphkit.cli.compare import commented
    from graphkit.files.baselines import NoBaselineError
    from graphkit.files.problems import Problems

    try:
        with _baseline(settings) as first:
            plan = _comparison(settings, first, run, dataset)
            if not plan.gates.quality:  # --compare replaces the default, which is one
                say("warning: no gate on how the measures differ from the baseline, such as --fail-on-regression")
            problems = Problems(evaluated.plan.options.on_error, strict=evaluated.plan.options.strict)
            found = plan.compared(problems)
            gates = plan.gates.outcomes(found)
            for message in plan.brief_messages(found):
                say(message)
            lines = commented(plan, found, [*evaluated.gates, *gates])
            return gates, lines, found.as_json()
    except NoBaselineError as error:
        passed = settings.missing_baseline == "pass"
        what = f"there is no baseline to compare with: {error.what}"
        what += (
            ", which is allowed" if passed else f". {error.remedy} --missing-baseline pass accepts that there is none"
        )
        missing = GateOutcome("baseline", evaluated.held[0].run, passed, what)
        lines = _said("there is no run to compare with", what, [*evaluated.gates, missing])
        return [missing], lines, {}


@contextmanager
def _baseline(settings: CiSettings) -> Iterator[str]:
    """Yield the baseline as `graphkit compare` takes it: a folder, or a run log."""
    from graphkit.files.baseline_branches import fetch_branch, from_branch
    from graphkit.files.baselines import in_folder, is_baseline
    from graphkit.files.run_files import repeated_files

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


def _said(title: str, text: str, gates: Sequence[GateOutcome] = ()) -> list[str]:
    """Return a comment without a comparison."""
    from graphkit.report.comparison_comment import MARKER, gate_lines
    from graphkit.report.markdown import prose

    listed = ["", *gate_lines(gates)] if gates else []
    return [MARKER, f"### graphkit: {title}", "", prose(text), *listed]


def _write(
    settings: CiSettings,
    evaluated: EvaluatedRuns,
    gates: list[GateOutcome],
    lines: list[str],
    comparison: dict[str, Any],
) -> None:
    """Write what the job found into its folder: comment, gates, JUnit, and both results."""
    from graphkit.files.atomic import together, written
    from graphkit.files.run_files import repeated_files
    from graphkit.scoring.export import write_results

    place = Path(settings.out)
    place.mkdir(parents=True, exist_ok=True)
    texts = {
        "comparison.json": json.dumps(comparison, ensure_ascii=False, default=str) + "\n",
        "comment.md": "\n".join(lines) + "\n",
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
        print_line(f"{counted(len(gates), 'gate')} held; {settings.out} has the comment, the gates and JUnit.")

    facts = [gate.as_json() for gate in gates]
    present(show, {"gates": facts, "comparison": comparison, "out": settings.out})


def _save(settings: CiSettings, run: str) -> None:
    """Save the run as the baseline, where it is kept on a branch or in a folder."""
    from graphkit.cli.baseline import saved

    kind, colon, place = settings.baseline.partition(":")
    if not colon or kind not in ("branch", "folder"):
        what = "--save keeps a baseline on a branch or in a folder"
        raise InputError(what, where=settings.baseline, remedy="Set --baseline branch:NAME or folder:DIR.")
    own = Path(settings.dataset) if settings.dataset else None
    folder = Path(place) if kind == "folder" else None
    say(f"note: {saved(Path(run), own, settings.name, folder, None if folder else place, push=folder is None)['text']}")
