"""``graphkit compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphkit.analysis import gates
from graphkit.analysis.compare import LEVEL, RunComparison, compare_grades, compare_runs
from graphkit.analysis.paired import FEW_DIFFERENT, FEW_QUESTIONS, PairedResult
from graphkit.cli.base import as_json, open_graph, print_json, print_line, say, tell
from graphkit.cli.options import by_value, on_error_value
from graphkit.cli.tables import print_table
from graphkit.database.store import Store
from graphkit.files.jsonl import is_file_name
from graphkit.files.problems import Report
from graphkit.records.words import counted
from graphkit.scoring.evaluate import evaluate

CAUTION = (
    f"* may be too narrow: fewer than {FEW_QUESTIONS} questions, "
    f"fewer than {FEW_DIFFERENT} that differ, or all by the same"
)


def compare_command(
    first: str,
    second: str,
    *,
    measures: list[str],
    by: str | None,
    resamples: int,
    seed: int,
    grades: list[Path],
    fail_on_regression: bool,
    on_error: str,
) -> None:
    """Compare two runs, show what is significant, and hold the gate."""
    grouping, report = by_value(by), Report(on_error_value(on_error))
    if grades:
        compared = compare_grades(
            grades, first, second, measures=measures, by=grouping, resamples=resamples, seed=seed, report=report
        )
        tell(report)
    else:
        with open_graph() as store:
            compared = compare_runs(
                store,
                _run(store, first),
                _run(store, second),
                measures=measures,
                by=grouping,
                resamples=resamples,
                seed=seed,
            )
    for warning in compared.warnings:
        say(f"warning: {warning}")
    for counts, where in ((compared.left_out, "one run only"), (compared.unscored, "neither run")):
        for count in dict.fromkeys(counts.values()):
            names = ", ".join(name for name, one in counts.items() if one == count)
            was, them = ("was", "is") if count == 1 else ("were", "are")
            say(f"note: {names}: {counted(count, 'question')} {was} scored in {where}, and {them} not compared")
    if as_json():
        print_json(compared.as_json())
    else:
        print_comparison(compared)
    if fail_on_regression:
        gates.hold(gates.regressions(compared))


def _run(store: Store, name: str) -> str:
    """Return the name of a run; one that is given as a file is scored and kept first."""
    if is_file_name(name):
        return evaluate(Path(name), store=store, measures=["EdgeRecall"], keep_rows=False).run
    return name


def print_comparison(compared: RunComparison) -> None:
    """Print the measures of both runs with their differences, and the questions that moved most."""
    first, second = compared.first, compared.second
    columns = ("measure", first, second, "delta", "95% interval", "p", "p (Holm)", "d_z", "wins/losses/ties", "n")
    for group in compared.groups:
        title = f"{second} minus {first}" + (f", {group.name}" if group.name else "")
        print_table(title, (*columns, "detectable"), [_row(result) for result in group.results])
        if any(result.caution for result in group.results):
            print_line(CAUTION)
        for result in group.results:
            if (one := result.accuracy) is not None:
                shares = f"{one.first:.1%} to {one.second:.1%}, {one.points:+.1f} points"
                if one.low is not None and one.high is not None:
                    shares += f" [{one.low:+.1f}, {one.high:+.1f}]"
                print_line(f"{result.measure}: accuracy {shares}: {one.reading}")
    significant = [result for result in compared.overall if result.p_holm < LEVEL]
    names = ", ".join(f"{result.measure} {result.delta:+.4f}" for result in significant)
    print_line(f"Significant after correction (p < {LEVEL}): {names or 'nothing'}.")
    if compared.movers:
        print_line(f"\nWhat moved most, by {compared.movers[0].measure}:")
    for mover in compared.movers:
        print_line(f"  {mover.question}: {mover.first:.4f} to {mover.second:.4f} ({mover.delta:+.4f})")
        for sign, edges in (("+", mover.found), ("-", mover.lost)):
            for edge in edges:
                print_line(f"    {sign} {edge}")


def _row(result: PairedResult) -> list[Any]:
    interval = "–" if result.low is None or result.high is None else f"[{result.low:+.4f}, {result.high:+.4f}]"
    interval += " *" if result.caution else ""
    return [
        result.measure,
        f"{result.first:.4f}",
        f"{result.second:.4f}",
        f"{result.delta:+.4f}",
        interval,
        f"{result.p_value:.4f}",
        f"{result.p_holm:.4f}",
        "–" if result.effect is None else f"{result.effect:+.2f}",
        f"{result.wins}/{result.losses}/{result.ties}",
        result.questions,
        "–" if result.detectable is None else f"{result.detectable:.4f}",
    ]
