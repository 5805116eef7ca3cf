"""Gates: what must hold of results for a build to pass. Each takes results, and returns what is broken in sentences.

A mean that equals its bound passes, to within :data:`graphkit.records.bounds.TOLERANCE`. Whoever asks decides what
follows; :func:`hold` raises, as the command line does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphkit.analysis.comparison import RunComparison
from graphkit.analysis.layers import NOT_JUDGED, Scorecard
from graphkit.errors import GateError
from graphkit.records.bounds import over, under
from graphkit.records.words import counted, shown
from graphkit.scoring.results import Evaluation, Summary

#: How many questions a sentence names.
NAMED = 5


@dataclass(frozen=True, slots=True)
class BrokenGate:
    """A gate that a run didn't pass; ``measure`` is None where it isn't about one measure. ``str`` is a sentence."""

    gate: str
    run: str
    what: str
    measure: str | None = None

    def __str__(self) -> str:
        return f"{self.run}: {self.what}"


def fail_under(results: Iterable[Evaluation], bounds: Iterable[tuple[str, float]]) -> list[BrokenGate]:
    """Return the runs and measures whose mean is under its bound; one that was scored on no question passes no gate."""
    return _beyond("fail-under", results, bounds, under)


def fail_over(results: Iterable[Evaluation], bounds: Iterable[tuple[str, float]]) -> list[BrokenGate]:
    """Return the runs and measures whose mean is over its bound; one that was scored on no question passes no gate."""
    return _beyond("fail-over", results, bounds, over)


def _beyond(
    gate: str,
    results: Iterable[Evaluation],
    bounds: Iterable[tuple[str, float]],
    beyond: Callable[[float, float], bool],
) -> list[BrokenGate]:
    bounds = list(bounds)
    broken = []
    for result in results:
        for measure, bound in bounds:
            mean = _summary(result, measure).mean
            if mean is None:
                broken.append(BrokenGate(gate, result.run, f"{measure} was scored on no question", measure))
            elif beyond(mean, bound):
                text = f"{mean:.4f}"
                text = text if beyond(float(text), bound) else f"{mean:.12g}"  # "0.8000, under 0.8" tells nothing
                what = f"{measure} is {text}, {beyond.__name__} {bound:.12g}"
                broken.append(BrokenGate(gate, result.run, what, measure))
    return broken


def min_scored(results: Iterable[Evaluation], share: float, measures: Sequence[str] | None = None) -> list[BrokenGate]:
    """Return the runs and measures that were scored on less than a share of all questions of the dataset.

    A question counts as not scored whatever the reason: it failed, has no record or stale gold, or holds nothing that
    the measure could be taken of.

    Parameters
    ----------
    measures
        The measures that are held, by their text; by default each of the result.
    """
    broken = []
    for result in results:
        for measure in result.measures if measures is None else measures:
            summary = _summary(result, measure)
            if under(summary.scored, share * summary.total):
                part = 100 * summary.scored / summary.total
                what = f"{measure} was scored on {summary.scored} of {counted(summary.total, 'question')} ({part:.4g}%)"
                what += f", fewer than {100 * share:.12g}%"
                broken.append(BrokenGate("min-scored", result.run, what, measure))
    return broken


def severe(cards: Iterable[Scorecard]) -> list[BrokenGate]:
    """Return the severe alerts of runs; a run of which nothing could be judged passes no gate."""
    cards = list(cards)
    found = [BrokenGate("fail-on-severe", card.run, NOT_JUDGED) for card in cards if not card.judged]
    return found + [
        BrokenGate("fail-on-severe", card.run, f"{alert.measure} is {shown(alert.mean)}, severe", alert.measure)
        for card in cards
        for alert in card.alerts
    ]


def stale(results: Iterable[Evaluation]) -> list[BrokenGate]:
    """Return the runs over questions whose gold the knowledge graph no longer holds."""
    return [
        BrokenGate("fail-on-stale", result.run, f"the gold of {_stale_questions(result.invalid)}")
        for result in results
        if result.invalid
    ]


def regressions(compared: RunComparison) -> list[BrokenGate]:
    """Return the measures on which the second run is significantly worse than the first, over all questions."""
    return [
        BrokenGate(
            "fail-on-regression",
            compared.second,
            f"{worse.measure} {worse.delta:+.4f} (corrected p {worse.p_holm:.4f}), "
            f"significantly worse than {compared.first}",
            worse.measure,
        )
        for worse in compared.regressions()
    ]


def hold(broken: Iterable[BrokenGate]) -> None:
    """Raise where a gate is broken.

    Raises
    ------
    GateError
        With a sentence for each.
    """
    sentences = [str(gate) for gate in broken]
    if sentences:
        raise GateError("gate failed: " + "; ".join(sentences))


def _summary(result: Evaluation, measure: str) -> Summary:
    """Return the summary of a measure; one that the result doesn't have was scored on no question."""
    return result.measures.get(measure) or Summary(None, 0, result.questions)


def _stale_questions(invalid: Mapping[str, str]) -> str:
    names = sorted(invalid)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    verb = "is" if len(names) == 1 else "are"
    return f"{counted(len(names), 'question')} {verb} stale: {', '.join(names[:NAMED])}{more}"
