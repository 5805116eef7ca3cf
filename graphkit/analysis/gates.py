"""Gates: conditions on results for a build to pass. Each function returns the outcome for each run.

A value that equals its bound passes, to within :data:`graphkit.records.bounds.TOLERANCE`. A question that the run
failed on, has no record for, or whose record doesn't log what the measure needs, counts as the worst value of its
measure, so that neither failing nor keeping silent helps; questions without gold, or with stale gold, don't count. A
bound also fails where too few questions have a value (:func:`min_scored`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from graphkit.analysis.gate_outcomes import FAIL_QUESTION, MIN_SCORED, NAMED, GateOutcome
from graphkit.analysis.layers import NOT_JUDGED, Scorecard
from graphkit.measures.owners import owner_of
from graphkit.measures.registry import lower_is_better, measure_class
from graphkit.records.bounds import over, under
from graphkit.records.doubts import OF_DECLINING
from graphkit.records.unanswered import NOT_LOGGED, is_stale, is_unlogged
from graphkit.records.words import counted, shortened
from graphkit.scoring.measure_summaries import Summary
from graphkit.scoring.results import Evaluation

#: How questions with stale gold count where every question without a value counts as 0.
STALE_AS_ZERO = "they count as 0 where that is the worst value (--missing-as zero)"

#: On this share of the questions that it could score, a bounded measure must have a value.
LEAST_SCORED = 0.8


#: The command that asks failed and missing questions of a run again.
RETRY = "`graphkit run DATASET --system NAME=MODULE:CALLABLE --retry-failed`"


def fail_under(
    results: Iterable[Evaluation], bounds: Iterable[tuple[str, float]], *, sure: bool = False
) -> list[GateOutcome]:
    """Check means against lower bounds; a measure that was scored on no question fails.

    If ``sure``, the lower end of the mean's interval is checked, and a mean without an interval fails.
    """
    bounds = list(bounds)
    return [_held("fail-under", result, *bound, under, sure) for result in results for bound in bounds]


def fail_over(
    results: Iterable[Evaluation], bounds: Iterable[tuple[str, float]], *, sure: bool = False
) -> list[GateOutcome]:
    """Check means against upper bounds; a measure that was scored on no question fails.

    If ``sure``, the upper end of the mean's interval is checked, and a mean without an interval fails.
    """
    bounds = list(bounds)
    return [_held("fail-over", result, *bound, over, sure) for result in results for bound in bounds]


def _held(
    gate: str, result: Evaluation, measure: str, bound: float, beyond: Callable[[float, float], bool], sure: bool
) -> GateOutcome:
    summary = summary_of(result, measure)
    if refused := result.refused(measure):
        return GateOutcome(gate, result.run, False, f"{measure}: {refused}", measure, bound, summary.mean)
    if summary.mean is None:
        return GateOutcome(gate, result.run, False, nothing_scored(result, measure, summary), measure, bound)
    if summary.worst is None and summary.not_logged and result.failed_as in ("worst", "zero"):
        what = f"{measure} has no worst value that {summary.not_logged} not logged could count as: log it for each"
        return GateOutcome(gate, result.run, False, what, measure, bound, summary.mean)
    if sure:
        return _surely(gate, result, measure, bound, beyond, summary)
    held = summary.held(result.failed_as)
    assert held is not None  # since there is a mean
    # Failing must not help either if the bound lies on the other side of the worst value.
    value = summary.mean if beyond(summary.mean, bound) and not beyond(held, bound) else held
    text, without = summary.in_words(result.failed_as), left_out(result, measure)
    if not beyond(value, bound):
        return GateOutcome(gate, result.run, True, f"{measure} is {text}{without}", measure, bound, value)
    if not beyond(float(f"{value:.4f}"), bound):
        text = f"{value:.12g}"  # "0.8000, under 0.8" says nothing
    what = f"{measure} is {text}, {beyond.__name__} {bound:.12g}{without}"
    if summary.unanswered and not beyond(summary.mean, bound):
        what += f"; the answered ones pass: ask the others again by {RETRY}"
    return GateOutcome(gate, result.run, False, what, measure, bound, value)


def fail_question(results: Iterable[Evaluation], bounds: Iterable[tuple[str, float]]) -> list[GateOutcome]:
    """Check each question against a bound: a lower one, or an upper one where lower values of the measure are better.

    The value is that of the worst question. A measure that was scored on no question fails.
    """
    bounds = list(bounds)
    return [_each(_without_gaps(result, bound[0]), *bound) for result in results for bound in bounds]


def _without_gaps(result: Evaluation, measure: str) -> Evaluation:
    """Return a result in which each gap is the worst value, if the measure says what may never happen."""
    kind = measure_class(measure)
    return replace(result, failed_as="worst") if kind is not None and kind.counts_questions else result


def _each(result: Evaluation, measure: str, bound: float) -> GateOutcome:
    summary = summary_of(result, measure)
    if refused := result.relations.refused(measure):
        return GateOutcome(FAIL_QUESTION, result.run, False, f"{measure}: {refused}", measure, bound)
    if summary.mean is None:
        what = nothing_scored(result, measure, summary)
        return GateOutcome(FAIL_QUESTION, result.run, False, what, measure, bound)
    if summary.worst is None and summary.not_logged and result.failed_as in ("worst", "zero"):
        what = f"{measure} has no worst value that {summary.not_logged} not logged could count as: log it for each"
        return GateOutcome(FAIL_QUESTION, result.run, False, what, measure, bound)
    values, without = result.held_values(measure), left_out(result, measure)
    worst = max(values.values()) if lower_is_better(measure) else min(values.values())
    found = broken(result, measure, bound)
    asked = counted(len(values), "question")
    if not found:
        side = "at most" if lower_is_better(measure) else "at least"
        what = f"{measure} is {side} {bound:.12g} on each of {asked}{without}"
        what += f"; {share}" if (share := result.share_of(measure)) else ""
        return GateOutcome(FAIL_QUESTION, result.run, True, what, measure, bound, worst)
    named = "; ".join(f"{question}: {why}" for question, why in [*found.items()][:NAMED])
    more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
    what = f"{measure} breaks the bound on {len(found)} of {asked}{without}: {named}{more}"
    return GateOutcome(FAIL_QUESTION, result.run, False, what, measure, bound, worst)


def broken(result: Evaluation, measure: str, bound: float) -> dict[str, str]:
    """Return the questions whose value lies beyond a bound, the worst first, each with its value in words.

    The bound is a lower one, or an upper one where lower values of the measure are better. The first thing is named
    that a principal may not read. A question counts as in the checked mean of the measure: a failed, missing or
    unlogged one as the worst value, unless ``failed_as`` says otherwise. What that mean leaves out is beyond no bound.
    """
    beyond, sign = (over, -1) if lower_is_better(measure) else (under, 1)
    place = [*result.measures].index(measure)
    reasons = {row.question: value for row in result.rows if isinstance(value := row.values[place], str)}
    found_in = {row.question: (row.details or {}).get(measure, {}).get("forbidden") for row in result.rows}
    values = _without_gaps(result, measure).held_values(measure)
    found = sorted((sign * value, question) for question, value in values.items() if beyond(value, bound))
    return {
        question: _beyond_in_words(sign * value, beyond.__name__, bound, reasons.get(question))
        + (f" ({shortened(first[0])})" if (first := found_in.get(question)) else "")
        for value, question in found
    }


def _beyond_in_words(value: float, beyond: str, bound: float, reason: str | None) -> str:
    shown = f"{value:.4f}" if (under if beyond == "under" else over)(float(f"{value:.4f}"), bound) else f"{value:.12g}"
    counts = shown if reason is None else f"{value:g} ({reason})"
    return f"{counts}, {beyond} {bound:.12g}"


def nothing_scored(result: Evaluation, measure: str, summary: Summary) -> str:
    """Return why a gate has no value to check, and what to log if no record of the run logs it."""
    if not summary.never_logged:
        return f"{measure} was scored on no question" + (f" ({summary.failures})" if summary.unanswered else "")
    reasons = [one for one in result.unscored.get(measure, ()) if is_unlogged(one)]
    why = f" ({reasons[0].removesuffix(NOT_LOGGED)})" if reasons else ""
    failures = f" ({summary.failures})" if summary.unanswered else ""
    return f"{measure} was never logged{why}{failures}: log what it needs, or leave out the gate"


def _surely(
    gate: str,
    result: Evaluation,
    measure: str,
    bound: float,
    beyond: Callable[[float, float], bool],
    summary: Summary,
) -> GateOutcome:
    """Check the end of the interval that lies nearer to the bound's wrong side."""
    text, found = summary.in_words(result.failed_as), result.interval(measure)
    if found is None:
        why = (
            "too few values"
            if result.rows or measure in result.intervals or measure in result.squares
            else "the values of its questions weren't kept"
        )
        what = f"{measure} is {text}, and --sure needs its interval: {why}"
        return GateOutcome(gate, result.run, False, what, measure, bound)
    value = found[0] if beyond is under else found[1]
    passed = not beyond(value, bound)
    what = f"{measure} is {text}, surely {'at least' if beyond is under else 'at most'} {value:.4f}"
    what += "" if passed else f", {beyond.__name__} {bound:.12g}"
    return GateOutcome(gate, result.run, passed, f"{what}{left_out(result, measure)}", measure, bound, value)


def left_out(result: Evaluation, measure: str) -> str:
    """Return how many questions a gate on a measure leaves out, and for which reason of the question.

    Of a measure that reads which records decline, it also says of how many the words of the answer do, of how many a
    judge, and which contradict themselves. The text is empty if there is nothing to say, and begins with a semicolon
    otherwise.
    """
    kind = measure_class(measure)
    reads = kind is not None and kind.reads_declined
    read = "".join(f"; {one}" for one in result.warnings if reads and one.endswith(OF_DECLINING))
    if result.failed_as == "zero":
        return read
    counts = {"stale gold": len(result.invalid)} if result.invalid else {}
    reasons = result.unscored.get(measure, {}).items()
    counts |= {one: count for one, count in reasons if owner_of(one) == "question" and not is_stale(one)}
    if not counts:
        return read
    listed = ", ".join(f"{count} {reason}" for reason, count in counts.items())
    return f"; {sum(counts.values())} of {counted(result.questions, 'question')} left out ({listed}){read}"


def max_failed(
    results: Iterable[Evaluation], allowed: int | None = None, measures: Iterable[str] = ()
) -> list[GateOutcome]:
    """Check the number of questions that a run failed on, or has no record for; stale ones don't count.

    Parameters
    ----------
    allowed
        How many may fail. None allows any number, since failures count as the worst value of a gated measure, and no
        failure for a measure without a worst value.
    measures
        The measures of the other gates.
    """
    outcomes = []
    for result in results:
        count = result.unanswered
        if allowed is not None:
            what = f"{counted(count, 'question')} failed or missing, {allowed} allowed"
            what += "" if count <= allowed else f"; {ask_again(count)}"
            outcomes.append(GateOutcome("max-failed", result.run, count <= allowed, what, None, allowed, count))
            continue
        for measure in dict.fromkeys(measures):
            summary = summary_of(result, measure)
            if result.failed_as != "unscored" and summary.unanswered and summary.worst is None:
                what = f"{measure} has no worst value that {summary.failures} could count as: use --max-failed"
                outcomes.append(GateOutcome("max-failed", result.run, False, what, measure, 0, summary.unanswered))
    return outcomes


def ask_again(failed: int) -> str:
    """Return what to do about questions that failed or are missing.

    >>> ask_again(1).partition(", or ")[2]
    'accept it by --max-failed 1'
    """
    them = "it" if failed == 1 else "them"
    return f"ask again by {RETRY}, or accept {them} by --max-failed {failed}"


def min_scored(results: Iterable[Evaluation], share: float, measures: Sequence[str] | None = None) -> list[GateOutcome]:
    """Check on which share of the questions that it could score each measure has a value.

    A question that counts as the worst value has one. One without gold or with stale gold can't be scored.

    Parameters
    ----------
    measures
        The measures to check, by their text; by default all of the result.
    """
    outcomes = []
    for result in results:
        for measure in result.measures if measures is None else measures:
            summary = summary_of(result, measure)
            could, part = summary.could(result.failed_as), summary.share(result.failed_as)
            have = round(part * could)
            passed = not under(have, share * could)
            what = f"{measure} has a value on {have} of {counted(could, 'question')} that it could score"
            what += f" ({100 * part:.4g}%)" + ("" if passed else f", fewer than {100 * share:.12g}%")
            outcomes.append(GateOutcome(MIN_SCORED, result.run, passed, what, measure, share, part))
    return outcomes


def severe(cards: Iterable[Scorecard]) -> list[GateOutcome]:
    """Check that runs have no severe alert; a run without any score fails."""
    outcomes = []
    for card in cards:
        broken = [
            GateOutcome(
                "fail-on-severe",
                card.run,
                False,
                f"{alert.measure} is {alert.in_words}, severe",
                alert.measure,
                alert.bound,
                alert.held,
            )
            for alert in card.alerts
        ]
        if not card.judged:
            broken.insert(0, GateOutcome("fail-on-severe", card.run, False, NOT_JUDGED))
        outcomes += broken or [GateOutcome("fail-on-severe", card.run, True, "nothing is severe")]
    return outcomes


def stale(results: Iterable[Evaluation], allowed: int = 0) -> list[GateOutcome]:
    """Check that the knowledge graph holds the gold of every question, except for an allowed number of them."""
    return [
        stale_outcome(result.run, result.invalid, result.questions, allowed, zero=result.failed_as == "zero")
        for result in results
    ]


def stale_outcome(
    run: str, invalid: Collection[str], questions: int, allowed: int, *, zero: bool = False
) -> GateOutcome:
    """Return whether the gold of no more questions is stale than allowed; they are named.

    They are left out, or count as 0 if every question without a value does (``zero``).
    """
    names, count = sorted(invalid), len(invalid)
    if not count:
        return GateOutcome("fail-on-stale", run, True, "no gold is stale", None, allowed, 0)
    more = f" and {count - NAMED} more" if count > NAMED else ""
    of = f"{count} of {counted(questions, 'question')}"
    what = f"the gold of {of} is stale, and {STALE_AS_ZERO}" if zero else f"{of} left out, since their gold is stale"
    what += f": {', '.join(names[:NAMED])}{more}"
    if count > allowed:
        what += f"; mend the gold, or accept it by --allow-stale {count}"
    else:
        what += f" ({allowed} allowed)"
    return GateOutcome("fail-on-stale", run, count <= allowed, what, None, allowed, count)


def beside_recall(measure: str, bounded: Iterable[str]) -> bool:
    """Return whether a measure is a precision beside a bound on its recall or F1, which falls where it has no value.

    >>> beside_recall("EdgePrecision", ["EdgePrecision", "EdgeRecall"]), beside_recall("EdgePrecision", ["RR"])
    (True, False)
    """
    stem = _stem(measure)
    kind = stem.removesuffix("Precision")
    return kind != stem and any(_stem(one) in (f"{kind}Recall", f"{kind}F1") for one in bounded)


def _stem(measure: str) -> str:
    return measure.partition("(")[0].partition("@")[0]


def summary_of(result: Evaluation, measure: str) -> Summary:
    """Return the summary of a measure; one that the result lacks was scored on no question."""
    return result.measures.get(measure) or Summary(None, 0, result.questions)
