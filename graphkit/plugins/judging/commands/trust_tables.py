"""Tables of a pool, of a spot check, of a judge's consistency, and of what moves its grades."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graphkit.analysis.estimates import Estimate, rounded
from graphkit.cli.base import print_line
from graphkit.cli.tables import print_table
from graphkit.plugins.judging.trust.consistency import Consistency
from graphkit.plugins.judging.trust.effects import Effect
from graphkit.plugins.judging.trust.inflation import Inflation
from graphkit.plugins.judging.trust.pooled_chunks import MOST_NEIGHBOURS, PoolSize
from graphkit.plugins.judging.trust.pools import PoolJudging
from graphkit.plugins.judging.trust.spot_check import SpotCheck
from graphkit.records.words import counted, shown
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.measure_summaries import scored_in_words

#: How many disagreements are printed.
SHOWN = 10

_NAMES = {
    "agreement": "agreement",
    "kappa": "Cohen's kappa",
    "weighted_kappa": "Cohen's kappa, weighted",
    "ac1": "Gwet's AC1",
    "ac2": "Gwet's AC2",
    "alpha": "Krippendorff's alpha",
    "pearson": "Pearson's correlation",
    "spearman": "Spearman's correlation",
    "sensitivity": "sensitivity (right called right)",
    "specificity": "specificity (wrong called wrong)",
}


def print_pool(found: PoolJudging, out: Path | None = None) -> None:
    """Print what the pool holds, the measures of each run by it, the judge's agreement with gold, and the files."""
    print_line(pool_in_words(found.pool, found.chosen))
    for run in found.runs:
        rows = [
            [
                name,
                shown(summary.mean),
                scored_in_words(summary, "worst"),
                str(run.corrected[name].estimate),
                shown(run.by_gold[name].mean),
                f"{run.by_gold[name].scored}/{run.by_gold[name].total}",
            ]
            for name, summary in run.by_pool.items()
        ]
        title = f"{run.run}: {run.judged} of {counted(run.ranked, 'ranked chunk')} judged by {found.judge}"
        print_table(title, ("measure", "by the pool", "scored", "corrected by gold", "by gold", "with gold"), rows)
    unjudged = f"; {found.unjudged} without a judgement" if found.unjudged else ""
    print_line(f"of the pool, {found.asked} judged now{unjudged}")
    print_line(f"agreement with gold: {found.agreement}; Cohen's kappa: {found.kappa}")
    kept = f"kept in {found.file}" if found.file.is_file() else "no judgement is kept"
    print_line(kept + (f", written to {out}" if out is not None else ""))


def pool_in_words(pool: PoolSize, chosen: ChosenQuestions | None) -> str:
    """Return the line on what a pool holds, over which its figures are."""
    left = [
        (pool.neighbours, "of them as neighbours"),
        (pool.beyond, f"more neighbours left out (at most {MOST_NEIGHBOURS} a question)"),
        (pool.unknown, "neighbours without a known text"),
        (pool.textless, "without a text"),
        (pool.differing, "with another text in another run (the first counts)"),
    ]
    notes = "".join(f"; {number} {what}" for number, what in left if number)
    part = f", {chosen}" if chosen is not None else ""
    return f"pool: {counted(pool.chunks, 'chunk')} with a text, {pool}{part}{notes}"


def print_spot_check(found: SpotCheck, place: Path | None) -> None:
    """Print the figures, the disagreements of judge and person, the calibrated means, advice, and the kept file.

    ``place`` is that file; None for a check that isn't kept.
    """
    version = "" if found.version is None else f" {found.version}"
    title = f"{found.judge}{version} on {found.run} by {found.measure}: {found.labelled} of {found.judged} checked"
    if found.scale.numeric and found.scale.ordered:
        title += f", on the scale {found.scale.choices}"
    rows = [[_NAMES[name], one.value, _interval(one), one.reason or ""] for name, one in found.figures.items()]
    print_table(title, ("figure", "value", "95% interval", "note"), rows)
    if found.confusion:
        labels = list(found.confusion)
        table = [[f"person: {label}", *found.confusion[label].values()] for label in labels]
        print_table(None, ("", *(f"judge: {label}" for label in labels)), table)
    if found.disagreements:
        worst = [[one.question, one.person, one.judge, one.confidence, one.note or ""] for one in found.disagreements]
        more = len(worst) - SHOWN
        caption = f"and {counted(more, 'disagreement')} more" if more > 0 else None
        print_table(
            "worst disagreements", ("question", "person", "judge", "confidence", "note"), worst[:SHOWN], caption
        )
    _print_inflation(found.inflation)
    for text in found.advice:
        print_line(f"to change: {text}")
    for name, labels_needed in found.needed.items():
        wanted = f"an interval of {_NAMES[name]} {found.width:g} wide"
        if labels_needed is None:
            print_line(f"the number of labels for {wanted} is unknown yet")
        elif labels_needed > found.labelled:
            more = labels_needed - found.labelled
            print_line(f"{wanted} needs about {labels_needed} labels: {more} more")
    print_line("not kept" if place is None else f"kept in {place}")


def _interval(one: Estimate) -> str:
    return "–" if one.low is None or one.high is None else f"{rounded(one.low)} to {rounded(one.high)}"


def _note(one: Estimate) -> str:
    """Return the caveat of an interval; one that is missing has its reason beside the value."""
    return "" if one.low is None else one.reason or ""


def _print_inflation(found: Inflation) -> None:
    rows = [
        ["mean, judge on the checked answers", shown(found.judge), ""],
        ["mean, person on the same", shown(found.person), ""],
        ["inflation: judge minus person", str(found.excess), _note(found.excess)],
        ["mean, judge on all answers", shown(found.raw), ""],
        ["mean, calibrated (PPI++)", str(found.calibrated.estimate), f"lambda {found.calibrated.trust:.2f}"],
    ]
    if found.accuracy is not None:
        rows.append(["accuracy, judge on all answers", str(found.accuracy), ""])
    if found.calibrated_accuracy is not None:
        one = found.calibrated_accuracy
        rows.append(["accuracy, calibrated (PPI++)", str(one.estimate), f"lambda {one.trust:.2f}"])
    if found.corrected_accuracy is not None:
        estimate = found.corrected_accuracy.estimate
        rows.append(["accuracy, corrected (Rogan-Gladen)", str(estimate), _note(estimate)])
    print_table(None, ("", "value [95%]", "note"), rows)


def print_consistency(found: Sequence[Consistency]) -> None:
    """Print how stable each measure is, and which grades flip."""
    rows = [[one.measure, one.gradings, str(one.stable), str(one.alpha), len(one.flips), one.unscored] for one in found]
    print_table(None, ("measure", "gradings", "stable [95%]", "alpha [95%]", "flips", "unscored"), rows)
    for one in found:
        if note := _note(one.alpha):
            print_line(f"alpha of {one.measure}: {note}")
        for question, grades in one.flips:
            print_line(f"{one.measure} of {question}: {' -> '.join(grade or 'none' for grade in grades)}")


def print_effects(found: Sequence[Effect]) -> None:
    """Print how far each measure moves."""
    rows = [
        [one.of, one.measure, shown(one.first), shown(one.second), str(one.difference), str(one.changed), one.unpaired]
        for one in found
    ]
    columns = ("of", "measure", "first", "second", "difference [95%]", "share changed [95%]", "unpaired")
    print_table(None, columns, rows)
    for one in found:
        if one.shows:
            print_line(f"{one.of} moves {one.measure} by {one.difference}: its interval excludes 0")
        if note := _note(one.difference):
            print_line(f"{one.of} of {one.measure}: {note}")
        if one.of == "drift" and one.versions[0] != one.versions[1]:
            print_line(f"{one.measure} was given by {one.versions[0]}, and now by {one.versions[1]}")
