"""Tables of a comparison: the measures of two runs with their differences, and what moved most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphkit.analysis.pair_verdict import UNCLEAR, judged
from graphkit.analysis.paired import PairedResult
from graphkit.analysis.power import LEVEL
from graphkit.cli.base import print_line
from graphkit.cli.tables import print_table
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.plugins.compare.run_means import RunMean, RunMeans
from graphkit.plugins.compare.sample_plans import SamplePlan
from graphkit.plugins.compare.verdict_notes import legend, why_unclear
from graphkit.scoring.measure_summaries import FAILURES_UNSCORED


def print_comparison(compared: RunComparison) -> None:
    """Print the measures of both runs with their differences, and the questions that moved most."""
    first, second = compared.first, compared.second
    columns = ["measure", first, second, "delta", "95% interval", "p", "p (corrected)", "d_z", "wins/losses/ties", "n"]
    if compared.clusters is not None:
        columns.append("clusters")
        print_line(f"{compared.clusters.sentence}.")
    for group in compared.groups if compared.with_failed else ():
        title = f"{second} minus {first}" + (f", {compared.title(group)}" if group.name else "")
        print_table(title, (*columns, "detectable"), [_row(result) for result in group.results])
        if (marks := legend(group.results)) is not None:
            print_line(marks)
        for result in compared.with_failed if group.name is None else group.results:
            if (accuracy := result.accuracy) is not None:
                shares = f"{accuracy.first:.1%} to {accuracy.second:.1%}, {accuracy.points:+.1f} points"
                if accuracy.low is not None and accuracy.high is not None:
                    shares += f" [{accuracy.low:+.1f}, {accuracy.high:+.1f}]"
                print_line(f"{result.measure}: accuracy {shares}: {accuracy.reading}")
    for sentence in (*compared.scope(), *([compared.overlap] if compared.overlap else [])):
        print_line(f"{sentence[0].upper()}{sentence[1:]}.")
    _print_with_failed(compared)
    _print_plan(compared.plan)
    if compared.cost is not None:
        print_line()
        for line in (compared.cost.sentence, *compared.cost.lines()):
            print_line(f"{line}.")
    significant = [result for result in compared.with_failed if judged(result) != UNCLEAR]
    names = ", ".join(f"{result.measure} {result.delta:+.4f}" for result in significant)
    if compared.with_failed:
        print_line(f"Significant after correction (p < {LEVEL}, and the interval excludes 0): {names or 'nothing'}.")
    for reason in why_unclear(compared.with_failed):
        print_line(f"{reason[0].upper()}{reason[1:]}.")
    print_line(f"{compared.verdict}.")
    if compared.movers:
        print_line()
        print_line(f"What moved most, by {compared.movers[0].measure}:")
    for mover in compared.movers:
        print_line(f"  {mover.question}: {mover.first:.4f} to {mover.second:.4f} ({mover.delta:+.4f})")
        for sign, edges in (("+", mover.found), ("-", mover.lost)):
            for edge in edges:
                print_line(f"    {sign} {edge}")


def print_means(means: RunMeans) -> None:
    """Print the means of several runs with their intervals, over all questions and by group."""
    for group in means.groups:
        rows = [
            [row.measure, *(_mean(means, one) for one in row.runs), f"{row.compared}/{row.questions}"]
            for row in group.rows
        ]
        title = means.title(group)
        print_table(f"{title[0].upper()}{title[1:]}", ("measure", *means.labels, "n"), rows)
    for sentence in means.notes(bold=False):
        print_line(f"{sentence}.")


def _mean(means: RunMeans, one: RunMean) -> str:
    interval = "" if one.low is None or one.high is None else f" [{one.low:.4f}, {one.high:.4f}]"
    return "–" if one.mean is None else f"{one.mean:.4f}{means.suffix(one)}{interval}"


def _print_with_failed(compared: RunComparison) -> None:
    """Print the measures with failures counted, for pairs of which one run failed."""
    if compared.failed_as == "unscored":
        print_line(FAILURES_UNSCORED[0].upper() + FAILURES_UNSCORED[1:] + ".")
        return
    counted_ones = [one for one in compared.with_failed if compared.failures(one)]
    if not counted_ones:
        return
    title = f"{compared.second} minus {compared.first}, a failed question counting as the worst value"
    columns = ("measure", compared.first, compared.second, "delta", "95% interval", "p (corrected)", "failed", "n")
    rows = []
    for one in counted_ones:
        _, first, second, delta, interval, _, p_corrected, *_ = _row(one)
        rows.append([one.measure, first, second, delta, interval, p_corrected, compared.failures(one), one.questions])
    print_table(title, columns, rows)
    if (marks := legend(counted_ones)) is not None:
        print_line(marks)


def _print_plan(plan: Sequence[SamplePlan]) -> None:
    """Print how many questions a difference needs, by each measure."""
    if not plan:
        return
    first = plan[0]
    rows: list[list[Any]] = []
    for one in plan:
        clusters = () if first.clusters is None else (one.clusters, one.needed_clusters, one.design_effect)
        rows.append([one.measure, one.questions, one.needed_questions, one.needed_together, *clusters, one.detectable])
    title = (
        f"Questions that a difference of {first.difference:g} needs ({first.power:.0%} power, {first.level:.0%} level)"
    )
    columns = ["measure", "questions now", "needed", f"needed as the first of {first.together} measures"]
    columns += [] if first.clusters is None else ["clusters now", "clusters needed", "design effect"]
    print_table(title, [*columns, "detectable now"], rows)
    for one in plan:
        if one.reason is not None or one.caution is not None:
            print_line(f"{one.measure}: {one.reason or one.caution}")


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
        f"{result.p_corrected:.4f}",
        "–" if result.effect is None else f"{result.effect:+.2f}",
        f"{result.wins}/{result.losses}/{result.ties}",
        result.questions,
        *(() if result.clusters is None else (result.clusters,)),
        "–" if result.detectable is None else f"{result.detectable:.4f}",
    ]
