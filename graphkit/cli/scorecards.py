"""Scoreboards of runs, and scorecards: severe alerts first, then the layers with their targets, then the diagnosis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphkit.analysis.broken_edges import NOT_LINKED, not_linked_in_words
from graphkit.analysis.layers import NOT_GRADED, NOT_JUDGED, LayerComponent, Scorecard
from graphkit.analysis.repetitions import Repetitions
from graphkit.cli.base import print_line
from graphkit.cli.tables import print_table
from graphkit.measures.outcome import stage_counts, two_by_two
from graphkit.records.option_values import By
from graphkit.records.usage import Spread
from graphkit.records.words import counted, short_shas, shown
from graphkit.scoring.measure_summaries import NOTES, mean_in_words, scored_in_words, shown_mean
from graphkit.scoring.results import Evaluation


def print_scoreboard(results: Sequence[Evaluation], hidden: Collection[str] = ()) -> None:
    """Print the mean of each measure for each run but the hidden ones, and how many questions it was scored on."""
    names = list(dict.fromkeys(name for result in results for name in result.measures if name not in hidden))
    columns = ["measure"]
    for result in results:
        columns += [result.run, "scored"]
    rows = []
    for name in names:
        row: list[str] = [name]
        for result in results:
            summary = result.measures.get(name)
            row += (
                [
                    shown_mean(summary, result.failed_as),
                    scored_in_words(summary, result.failed_as, result.interval_in_words(name)),
                ]
                if summary
                else ["–", "–"]
            )
        rows.append(row)
    print_table(None, columns, rows)
    for result in results:
        invalid = f", {len(result.invalid)} invalid (stale gold, not scored)" if result.invalid else ""
        questions = counted(result.questions, "question")
        print_line(f"{result.run}: {questions}, {result.failed} failed, {result.missing} missing{invalid}")
        if result.failed_as in NOTES:
            print_line(f"{result.run}: {NOTES[result.failed_as]}")
        for line in (*filter(None, [result.shares()]), *result.reasons(hidden)):
            print_line(f"{result.run}: {line}")
    print_line()
    print_efficiency({result.run: (result.known_efficiency(), result.questions) for result in results})


def print_efficiency(runs: Mapping[str, tuple[Mapping[str, Spread], int]]) -> None:
    """Print the known latency, calls, tokens and cost of each run, given with its number of questions."""
    rows = [
        [run, name, spread.mean, spread.median, spread.p95, spread.total, f"{spread.known}/{questions}"]
        for run, (figures, questions) in runs.items()
        for name, spread in figures.items()
    ]
    if rows:
        print_table(None, ("run", "figure", "mean", "median", "p95", "total", "known"), rows)


def print_repetitions(found: Sequence[Repetitions]) -> None:
    """Print the mean of each measure over the repetitions of a system, and its variances."""
    for system in dict.fromkeys(one.system for one in found):
        own = [one for one in found if one.system == system]
        rows = [
            [one.measure, str(one.mean), str(one.between), str(one.within), f"{one.unstable}/{one.questions}"]
            for one in own
        ]
        columns = ("measure", "mean", "variance between questions", "variance within", "questions that vary")
        print_table(f"{counted(len(own[0].runs), 'repetition')} of {system}", columns, rows)
        for one in own:
            if one.left_out:
                print_line(f"{one.measure}: {counted(one.left_out, 'question')} without a value in every repetition")
        passed = [[one.measure, rate.k, str(rate.all), str(rate.any)] for one in own for rate in one.passes]
        if passed:
            print_table(f"trials of {system} that pass", ("measure", "k", "pass^k, all", "pass@k, any"), passed)
            for one in own:
                if one.passes:
                    print_line(f"{one.measure}: a trial passes {one.passing}")


def print_clusters(results: Sequence[Evaluation]) -> None:
    """Print the mean of each measure with its interval over clusters of questions, for each run."""
    for result in results:
        if result.clustered is not None:
            rows = [[name, str(one), one.clusters, one.questions] for name, one in result.clustered.measures.items()]
            columns = ("measure", "mean, 95% interval", "clusters", "questions")
            print_table(f"{result.run}, {result.clustered.sentence}", columns, rows)
            for caution in dict.fromkeys(one.caution for one in result.clustered.measures.values() if one.caution):
                print_line(f"* {caution}")


def print_groups(results: Sequence[Evaluation], by: By) -> None:
    """Print the mean of each measure within each group of questions, for each run."""
    for result in results:
        groups = result.grouped(by)
        if not groups:
            print_line(f"{result.run}: no question has a {by}")
            print_line()
            continue
        sizes = {
            name: max((summary.total for summary in measures.values()), default=0) for name, measures in groups.items()
        }
        columns = ["measure", *(f"{short_shas(name)} ({size})" for name, size in sizes.items())]
        rows = [
            [name, *(mean_in_words(measures[name], result.failed_as) for measures in groups.values())]
            for name in result.measures
        ]
        print_table(f"{result.run} by {by}, with the number of questions", columns, rows)
        if result.slices is not None and result.slices.note:
            print_line(result.slices.note)


def print_scorecard(card: Scorecard, hidden: Collection[str] = ()) -> None:
    """Print the layers of one run without the hidden measures; alerts come first."""
    if card.unscored:
        print_line(f"NOT SCORED {card.run}: {card.unscored}")
    if not card.judged:
        print_line(f"NOT SCORED {card.run}: {NOT_JUDGED}")
    if card.following:
        following = ", ".join(f"{alert.measure} is {alert.in_words}" for alert in card.following_alerts)
        print_line(f"SEVERE {card.run}: {card.unknown}, from which follows: {following}")
    for alert in card.own_alerts:
        print_line(f"SEVERE {card.run}: {alert.measure} is {alert.in_words}")
    rows = []
    for layer in card.layers:
        rows.append([layer.name, shown(layer.score), f"{layer.coverage:.0%}", "", "", "", ""])
        for component in (one for one in layer.components if one.measure not in hidden):
            rows.append(
                [
                    "  " + component.measure,
                    shown(component.held),
                    "",
                    f"{component.weight:g}",
                    _target(component),
                    _state(component),
                    component.counts,
                ]
            )
    overall = shown(card.overall) + (" (partial)" if card.partial else "")
    rows.append(["overall", overall, "", "", "", "", ""])
    print_table(f"Layers of {card.run}", ("layer", "score", "coverage", "weight", "target", "", "scored"), rows)
    for layer_name in card.ungraded:
        print_line(f"{layer_name}: {NOT_GRADED}")
        print_line()
    for finding in card.findings:
        worst = f"; most at {', '.join(finding.questions)}" if finding.questions else ""
        print_line(f"{finding.layer}: {finding.weakness} ({finding.measure} {finding.mean:.4f}){worst}")
        print_line(f"  remedy: {finding.remedy}")
    if card.findings:
        print_line("")


def print_outcomes(result: Evaluation) -> None:
    """Print how many answers and paths are right, which right answers are luck, and where questions ended.

    It also prints the boundaries that were missed since a question wasn't linked to the start of a path.
    """
    outcomes = result.outcomes()
    cells = two_by_two(outcomes)
    counts = cells.counts
    rows = [["right answer", counts["sound"], counts["luck"]], ["wrong answer", counts["misread"], counts["lost"]]]
    columns = ["", "right path", "wrong path"]
    pathless = [one.answer for one in outcomes if one.path is None and one.answer is not None]
    if pathless:
        columns.append("path undecided")
        rows = [[*row, pathless.count(right)] for row, right in zip(rows, (True, False), strict=True)]
    print_table(f"Answers and paths of {result.run}", columns, rows)
    if cells.luck:
        print_line(f"right answers by a wrong path (luck): {named(cells.luck)}")
    stages = ", ".join(f"{name} {count}" for name, count in stage_counts(outcomes).items() if count)
    undecided = counts["undecided"] - len(pathless)
    print_line(f"{undecided} of {len(outcomes)} are undecided; stages at which questions ended: {stages}")
    if boundaries := not_linked_in_words((row.unlinked for row in result.rows), 1000):
        print_line(f"missed since {NOT_LINKED}: {boundaries}")
    print_line()


def named(questions: Sequence[str], most: int = 8) -> str:
    """Return questions as text; only the first few of many."""
    more = f" and {len(questions) - most} more" if len(questions) > most else ""
    return ", ".join(questions[:most]) + more


def _target(component: LayerComponent) -> str:
    return "" if component.target is None else f"{component.target:g}"


def _state(component: LayerComponent) -> str:
    if component.severe:
        return "severe"
    return {True: "met", False: "missed", None: ""}[component.met]
