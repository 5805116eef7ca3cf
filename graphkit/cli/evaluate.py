"""``graphkit evaluate``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphkit.cli.base import Writes, as_json, open_graph, print_json, print_problems, say, with_graph
from graphkit.cli.options import (
    FAILED_AS,
    ON_ERROR,
    AnsweredByOption,
    ConfigOption,
    DatasetOption,
    FailedAsOption,
    LogOptions,
    MeasureOption,
    OnErrorOption,
    RunNameOption,
    ScoresOption,
    StrictOption,
    UndirectedOption,
    UnorderedOption,
    assignment,
    engine_value,
    failed_as_value,
    given_scores,
    kappa_floor,
    label_value,
    on_error_value,
    with_log_options,
)
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.gates import GateOutcome
    from graphkit.analysis.layers import Scorecard
    from graphkit.records.scores import Score
    from graphkit.scoring.results import Evaluation


@with_graph
@with_log_options
def evaluate(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN.jsonl...", help="Run logs.")],
    dataset: DatasetOption = None,
    measure: MeasureOption = None,
    k: Annotated[int | None, typer.Option("--k", min=1, help="Cut-off of measures that name none.")] = None,
    engine: Annotated[str, typer.Option("--engine", metavar="python|cypher", help="What computes.")] = "python",
    no_store: Annotated[bool, typer.Option("--no-store", help="Score without a database.")] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option("--fail-under", metavar="MEASURE=VALUE", help="Exit with 1 if a mean is lower."),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        typer.Option("--fail-over", metavar="MEASURE=VALUE", help="Exit with 1 if a mean is higher."),
    ] = None,
    max_failed: Annotated[
        int | None,
        typer.Option("--max-failed", min=0, metavar="N", help="Exit with 1 if more questions failed or are missing."),
    ] = None,
    failed_as: FailedAsOption = FAILED_AS,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write results as .jsonl, .json, .csv, .parquet, .xml (JUnit) or .md."
        ),
        Writes("results"),
    ] = None,
    config: ConfigOption = None,
    fail_on_severe: Annotated[
        bool, typer.Option("--fail-on-severe", help="Exit with 1 where a layer's component is severely low.")
    ] = False,
    fail_on_stale: Annotated[
        bool, typer.Option("--fail-on-stale", help="Exit with 1 where the gold of a question is stale.")
    ] = False,
    min_scored: Annotated[
        float | None,
        typer.Option(
            "--min-scored",
            metavar="SHARE",
            help="Exit with 1 where a measure was scored on a smaller share of all questions (0 to 1): "
            "each that --measure or a gate names, else every one.",
        ),
    ] = None,
    min_kappa: Annotated[
        float | None,
        typer.Option(
            "--min-kappa", metavar="VALUE", help="Exit with 1 where a judge's kappa with a person may be lower."
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="WHAT", help="Also the means by category, difficulty or group.")
    ] = None,
    scores: ScoresOption = None,
    answered_by: AnsweredByOption = None,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option("--format", metavar="FORMAT", help="The files are logs of others: `graphkit import` lists them."),
    ] = None,
    *,
    how: LogOptions,
    run_name: RunNameOption = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of a run of this name that is from another file.")
    ] = False,
    undirected: UndirectedOption = False,
    unordered: UnorderedOption = False,
    on_error: OnErrorOption = ON_ERROR,
    strict: StrictOption = False,
) -> None:
    """Score run logs against their dataset, and keep them in the graph."""
    import dataclasses

    from graphkit.analysis.config import load_config
    from graphkit.analysis.gates import RunGates, hold
    from graphkit.analysis.layers import score_layers
    from graphkit.cli.imports import as_runs, dataset_of
    from graphkit.cli.progress import shown_progress
    from graphkit.cli.scorecards import print_outcomes, print_scorecard
    from graphkit.cli.tables import print_groups, print_scoreboard
    from graphkit.files.dataset import Dataset
    from graphkit.files.jsonl import read_once
    from graphkit.files.problems import Problems
    from graphkit.files.run_files import first_run
    from graphkit.graph.writing import quiet
    from graphkit.measures.registry import DEFAULT_MEASURES, parse_measure, resolve_measures, undirected_form
    from graphkit.scoring.evaluate import evaluate
    from graphkit.scoring.export import check_output, write_results
    from graphkit.scoring.logged_tools import tool_measures
    from graphkit.trust.families import own_kind

    measures, out = measure or [], out or []
    scoring = load_config(config)
    for path in out:
        check_output(path)
    chosen_engine, skip, failures = engine_value(engine), on_error_value(on_error), failed_as_value(failed_as)
    grouping = label_value(by)
    if no_store and chosen_engine == "cypher":
        raise InputError("--engine cypher computes in a database, which --no-store does without")
    if run_name is not None and len(runs) > 1:
        raise InputError(
            f"--run names one run, and there are {len(runs)} files", remedy="Evaluate one after the other."
        )
    lower = [_gate("--fail-under", text) for text in fail_under or []]
    upper = [_gate("--fail-over", text) for text in fail_over or []]
    if min_scored is not None and not 0 <= min_scored <= 1:
        raise InputError(f"--min-scored is a share of the questions, from 0 to 1, not {min_scored:g}")
    kappa_floor(min_kappa)
    layered = not measures
    given = given_scores(scores or [], skip, strict)
    by_others = {score.measure for score in given}
    chosen = list(resolve_measures([*(measures or DEFAULT_MEASURES), *(scoring.measures() if layered else ())], k=k))
    # A gate may hold what others gave; any other measure that it names is computed.
    named = {text: _full_name(text, k, by_others) for text, _ in lower + upper}
    if computed := [name for name in named.values() if name not in by_others]:
        chosen += resolve_measures(computed, k=k)
    if undirected:
        chosen = [undirected_form(each) for each in chosen]
        named = {
            text: name if name in by_others else str(undirected_form(parse_measure(name)))
            for text, name in named.items()
        }
        say("note: edges are compared without their direction; right paths aren't told, and failures are told by it")
        scoring = scoring.renamed(lambda name: str(undirected_form(parse_measure(name))))
    chosen = list(dict.fromkeys(chosen))
    results: list[Evaluation] = []
    cards: list[Scorecard] = []
    if format is None:
        dataset = dataset_of(runs, dataset, how)
    with (
        read_once(),
        as_runs(runs, format, dataset, how) as files,
        nullcontext() if no_store else open_graph() as store,
        shown_progress("evaluate") if store is not None else nullcontext(quiet) as progress,
    ):
        if layered:
            called = [name for _, run in files for name in tool_measures(Dataset.of_run(run, dataset), run)]
            chosen = list(dict.fromkeys([*chosen, *(resolve_measures(called) if called else ())]))
        if chosen_engine == "cypher" and (others := [str(each) for each in chosen if each.query is None]):
            say(f"note: computed in Python, for there is no Cypher of them: {', '.join(others)}")
        if len(files) > 1:
            _refuse_one_name((file, first_run(run)) for file, run in files)
        for file, run in files:
            problems = Problems(skip, strict=strict)
            result = evaluate(
                run,
                dataset,
                measures=chosen,
                engine=chosen_engine,
                store=store,
                problems=problems,
                keep_rows=bool(out or layered or grouping or given or store is not None),
                outcomes=layered and not undirected,
                scores=given,
                unordered=unordered,
                name=run_name,
                replace=replace,
                origin=(None if run is file else file) if format is None else f"the log {file.resolve()}",
                failed_as=failures,
                hash_gold=as_json() or len(files) > 1,
                progress=progress,
            )
            print_problems(problems)
            if given:
                warnings = own_kind(run, result.given, answered_by, scores or [])
                result = dataclasses.replace(result, warnings=(*result.warnings, *warnings))
            results.append(result)
            if layered:
                cards.append(score_layers(result, scoring))
    _refuse_one_name(zip(runs, (result.run for result in results), strict=True))  # what came by pipes
    if strangers := sorted({score.run for score in given} - {result.run for result in results}):
        say(f"note: the scores of other runs aren't used: {', '.join(strangers[:5])}")
    for result in results:
        # Of somebody else's log the import has said it.
        if result.known is not None and format is None and not how.given():
            say(f"known: {result.run}: {result.known.line}")
            if result.known.meaning is not None:
                say(f"warning: {result.run}: {result.known.meaning}")
        if borrowed := result.borrowed_commits():
            say(f"note: {result.run}: {borrowed}")
        for warning in result.warnings:
            say(f"warning: {result.run}: {warning}")
    if len({result.gold_hash for result in results}) > 1:
        gold = ", ".join(f"{result.run} by {result.gold_hash} of {result.dataset}" for result in results)
        say(f"note: the runs are scored by different gold, so their means can't be compared: {gold}")
    of_names = (
        [undirected_form(each) if undirected else each for each in resolve_measures(measures, k=k)] if measures else []
    )
    held = RunGates(
        under=[(named[text], bound) for text, bound in lower],
        over=[(named[text], bound) for text, bound in upper],
        severe=fail_on_severe,
        stale=fail_on_stale,
        min_scored=min_scored,
        measures=[*dict.fromkeys([*map(str, of_names), *named.values()])] or None,
        max_failed=max_failed,
    ).outcomes(results, cards)
    held += _untrusted(runs, results, given, min_kappa, named.values()) if min_kappa is not None else []
    for path in out:
        write_results(path, results, held)
    if as_json():
        for number, result in enumerate(results):
            layers = {"scorecard": dataclasses.asdict(cards[number]), **result.outcomes_as_json()} if cards else {}
            gates = {"gates": [gate.as_json() for gate in held if gate.run == result.run]}
            print_json(result.as_json() | gates | ({"groups": result.groups_as_json()} if grouping else {}) | layers)
    else:
        print_scoreboard(results)
        if grouping:
            print_groups(results, grouping)
        for card, result in zip(cards, results, strict=False):
            print_scorecard(card)
            print_outcomes(result)
    hold(held)


def _refuse_one_name(named: Iterable[tuple[Path, str | None]]) -> None:
    """Refuse two files that hold a run of one name: which of them a result is of couldn't be told."""
    files: dict[str, Path] = {}
    for file, name in named:
        if name is None:
            continue
        first = files.setdefault(name, file)
        if first.resolve() != file.resolve():
            raise InputError(
                f"two files hold a run {name!r}: {first} and {file}",
                remedy="Evaluate one of them by another name: `graphkit evaluate FILE --run NAME`.",
            )


def _untrusted(
    runs: list[Path], results: list[Evaluation], given: list[Score], floor: float, named: Iterable[str]
) -> list[GateOutcome]:
    """Return the judges that nobody checked well enough, by the spot checks beside the runs.

    Each judged measure that another gate names must be checked.
    """
    from graphkit.analysis.gates import min_kappa
    from graphkit.analysis.spot_check_files import kept_checks

    judged = {score.measure for score in given if score.judged}
    held = [name for name in dict.fromkeys(named) if name in judged]
    return min_kappa([result.run for result in results], given, kept_checks(runs), floor, held)


def _full_name(text: str, k: int | None, by_others: set[str]) -> str:
    """Return the text by which results know a measure."""
    from graphkit.measures.registry import resolve_measures

    return text if text in by_others else str(resolve_measures([text], k=k)[0])


def _gate(option: str, text: str) -> tuple[str, float]:
    name, value = assignment(option, text)
    try:
        bound = float(value)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise InputError(f"{option} takes MEASURE=VALUE with a number, not {text!r}")
    return name, bound
