"""``graphkit evaluate``."""

from __future__ import annotations

import dataclasses
import math
from contextlib import nullcontext
from pathlib import Path

from graphkit.analysis import gates
from graphkit.analysis.layers import Scorecard, load_config, score_layers
from graphkit.cli.base import as_json, open_graph, print_json, say, tell
from graphkit.cli.options import assignment, engine_value, label_value, on_error_value
from graphkit.cli.progress import shown_progress
from graphkit.cli.scorecards import print_scorecard, print_verdicts
from graphkit.cli.tables import print_groups, print_scoreboard
from graphkit.errors import InputError
from graphkit.files.problems import Report
from graphkit.graph.datasets import quiet
from graphkit.measures.base import Measure
from graphkit.measures.registry import DEFAULT_MEASURES, resolve_measures
from graphkit.scoring.evaluate import evaluate
from graphkit.scoring.export import check_output, write_results
from graphkit.scoring.results import Evaluation


def evaluate_command(
    runs: list[Path],
    *,
    dataset: Path | None,
    measures: list[str],
    k: int | None,
    engine: str,
    no_store: bool,
    fail_under: list[str],
    fail_over: list[str],
    out: list[Path],
    config: Path | None,
    fail_on_severe: bool,
    fail_on_stale: bool,
    min_scored: float | None,
    by: str | None,
    on_error: str,
) -> None:
    """Score each run, show the scoreboard and the layers, and hold the gates."""
    scoring = load_config(config)
    for path in out:
        check_output(path)
    chosen_engine, skip = engine_value(engine), on_error_value(on_error)
    grouping = label_value(by)
    if no_store and chosen_engine == "cypher":
        raise InputError("--engine cypher computes in a database, which --no-store does without")
    lower = [_gate("--fail-under", text, k) for text in fail_under]
    upper = [_gate("--fail-over", text, k) for text in fail_over]
    if min_scored is not None and not 0 <= min_scored <= 1:
        raise InputError(f"--min-scored is a share of the questions, from 0 to 1, not {min_scored:g}")
    layered = not measures
    chosen = list(resolve_measures([*(measures or DEFAULT_MEASURES), *(scoring.measures() if layered else ())], k=k))
    chosen += [measure for measure, _ in lower + upper if measure not in chosen]
    if chosen_engine == "cypher" and (others := [str(measure) for measure in chosen if measure.query is None]):
        say(f"note: computed in Python, for there is no Cypher of them: {', '.join(others)}")
    results: list[Evaluation] = []
    cards: list[Scorecard] = []
    with (
        nullcontext() if no_store else open_graph() as store,
        shown_progress("evaluate") if store is not None else nullcontext(quiet) as progress,
    ):
        for run in runs:
            report = Report(skip)
            result = evaluate(
                run,
                dataset,
                measures=chosen,
                engine=chosen_engine,
                store=store,
                report=report,
                keep_rows=bool(out or layered or grouping or store is not None),
                judge=layered,
                progress=progress,
            )
            tell(report)
            results.append(result)
            if layered:
                cards.append(score_layers(result, scoring))
    for path in out:
        write_results(path, results)
    if as_json():
        for number, result in enumerate(results):
            layers = {"scorecard": dataclasses.asdict(cards[number]), **result.verdicts_as_json()} if cards else {}
            print_json(result.as_json() | ({"groups": result.groups_as_json()} if grouping else {}) | layers)
    else:
        print_scoreboard(results)
        if grouping:
            print_groups(results, grouping)
        for card, result in zip(cards, results, strict=False):
            print_scorecard(card)
            print_verdicts(result)
    named = [*(resolve_measures(measures, k=k) if measures else ()), *(measure for measure, _ in lower + upper)]
    gates.hold(
        [
            *(gates.severe(cards) if fail_on_severe else ()),
            *(gates.stale(results) if fail_on_stale else ()),
            *gates.fail_under(results, _texts(lower)),
            *gates.fail_over(results, _texts(upper)),
            *(gates.min_scored(results, min_scored, [*dict.fromkeys(map(str, named))] or None) if min_scored else ()),
        ]
    )


def _texts(bounds: list[tuple[Measure, float]]) -> list[tuple[str, float]]:
    return [(str(measure), bound) for measure, bound in bounds]


def _gate(option: str, text: str, k: int | None) -> tuple[Measure, float]:
    name, value = assignment(option, text)
    try:
        bound = float(value)
    except ValueError:
        bound = math.nan
    if not math.isfinite(bound):
        raise InputError(f"{option} takes MEASURE=VALUE with a number, not {text!r}")
    return resolve_measures([name], k=k)[0], bound
