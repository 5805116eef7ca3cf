"""The findings of an evaluation: layers, severe thresholds, failures, weaknesses, gates, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from graphkit.analysis.broken_edges import NOT_LINKED, not_linked_in_words
from graphkit.analysis.config import BY_TEXT
from graphkit.analysis.evaluation_plan import EvaluatedRuns
from graphkit.analysis.findings import NAMED, Brief, BriefLine, BriefTable, listed
from graphkit.analysis.gate_outcomes import MIN_SCORED, GateOutcome, with_margins
from graphkit.analysis.gates import STALE_AS_ZERO
from graphkit.analysis.layers import NOT_GRADED, NOT_JUDGED, RULES, LayerFinding, Scorecard
from graphkit.analysis.mending import MendingPlace
from graphkit.analysis.repetitions import in_words as repeated_in_words
from graphkit.analysis.repetitions import repetition_findings
from graphkit.files.assets import command_text, option_text
from graphkit.measures.outcome import RIGHT, UNDECIDED, Outcome, stage_counts, two_by_two
from graphkit.measures.owners import Owner, owner_of
from graphkit.measures.registry import bounds_of, lower_is_better
from graphkit.records.bounds import equal
from graphkit.records.repetition_names import system_of
from graphkit.records.words import counted, short_shas, two
from graphkit.scoring.export import RunsVerdict
from graphkit.scoring.repeated_systems import RepeatedSystem
from graphkit.scoring.results import Evaluation, Row

if TYPE_CHECKING:
    from graphkit.analysis.standings import Lead

#: How many measures the table and a finding name.
MEASURES, SEVERE = 10, 5

#: How many reasons for unscored questions share the line.
REASONS = 3

#: The weight of the first place to mend: it stands even where every run has a severe line.
FIRST_PLACE = 91

PARTIAL = "overall (partial)"


def evaluation_brief(evaluated: EvaluatedRuns, names: Sequence[str], more: str = "") -> Brief:
    """Return what to print of an evaluation.

    ``names`` are what other commands call its runs, as stored or as files, and ``more`` are options that these need.
    """
    results = evaluated.results
    lead = _lead(evaluated)
    verdict = runs_verdict(evaluated, lead)
    findings = [*gate_findings(evaluated.gates)]
    for card, result in zip(evaluated.cards, results, strict=False):
        findings += severe_findings(card, any(one.scored for one in result.measures.values()))
    findings += (BriefLine("share", f"{one.run} {shares}", 88) for one in results if (shares := one.shares()))
    findings += unanswered_findings(results)
    findings += stale_findings(results)
    findings += zero_findings(results)
    for card in evaluated.cards:
        findings += weak_findings(card, 2 if len(results) == 1 else 1)
    findings += repetition_findings(evaluated.repetitions)
    findings += cluster_findings(evaluated)
    findings += unlogged_findings(results)
    findings += interval_findings(results)
    if verdict is not None and verdict.reason is not None:
        findings.append(BriefLine("unclear", verdict.reason.removeprefix("unclear "), 63))
    if lead is not None and lead.verdict.caution is not None:
        findings.append(BriefLine("caution", lead.verdict.caution, 61))
    findings += mending_findings(evaluated.mending)
    findings += outcome_findings(results)
    if evaluated.plan.by is not None:
        findings += group_findings(evaluated)
    findings += unscored_findings(evaluated)
    return Brief(
        summary=_of_one(results[0], evaluated.cards) if verdict is None else verdict.sentence,
        table=_table(evaluated),
        findings=tuple(findings),
        commands=tuple(_commands(evaluated, dict(zip((one.run for one in results), names, strict=True)), lead, more)),
    )


def gate_findings(gates: Sequence[GateOutcome]) -> Iterator[BriefLine]:
    """Yield how many gates failed, and which; if all passed, how far the first ones are from their bounds."""
    failed = [f"{gate.run} {gate.name}" for gate in gates if not gate.passed]
    if failed:
        yield BriefLine("gate", f"{len(failed)} of {counted(len(gates), 'gate')} failed: {listed(failed)}", 100)
        return
    several = len({gate.run for gate in gates}) > 1
    margins = [f"{f'{gate.run} ' if several else ''}{gate.name} passed: {gate.margin}" for gate in with_margins(gates)]
    if gates and len(margins[:NAMED]) < len(gates):
        yield BriefLine("gate", f"{counted(len(gates), 'gate')} passed", 80)
    for text in margins[:NAMED]:
        yield BriefLine("gate", text, 79)


def severe_findings(card: Scorecard, scored: bool) -> Iterator[BriefLine]:
    """Yield the measures of a run below their severe thresholds, in one line, or that nothing was ``scored``."""
    if not card.judged and not scored:
        yield BriefLine("unscored", f"{card.run}: {NOT_JUDGED}", 95)
    if card.following:
        yield BriefLine("severe", f"{card.run}: {card.unknown}, from which {listed(card.following)} follow", 95)
    alerts = [f"{alert.measure} {two(alert.held)}" for alert in card.own_alerts]
    if alerts:
        yield BriefLine("severe", f"{card.run}: {listed(alerts, SEVERE)}", 90)


def unanswered_findings(results: Sequence[Evaluation]) -> Iterator[BriefLine]:
    """Yield one line on the questions that runs failed on or have no record for."""
    parts: dict[str, list[str]] = {}
    for result in results:
        counts = ((result.failed, "failed"), (result.missing, "missing"))
        some = " and ".join(f"{count} {what}" for count, what in counts if count)
        stale = result.failed + result.missing - result.unanswered if result.invalid else 0
        if stale and result.failed_as != "zero":
            some += f", {stale} of them with stale gold, which {'does' if stale == 1 else 'do'}n't count"
        if some:
            parts.setdefault(_counting(result), []).append(f"{result.run} {some}")
    for how, some_runs in parts.items():
        yield BriefLine("failed", f"{listed(some_runs, 4)}; {how}", 85)


def _counting(result: Evaluation) -> str:
    """Return how the questions that a run failed on, or has no record for, count."""
    if result.failed_as == "unscored":
        return "they count unscored"
    scored = {name: summary for name, summary in result.measures.items() if summary.scored}
    if not scored:
        return "no question was scored, so there is no mean that they count in"
    return failures_count({name: summary.worst for name, summary in scored.items()})


def failures_count(worst: Mapping[str, float | None], who: str = "they") -> str:
    """Return how failed questions count, by the worst value of each measure; None for a measure that has none."""
    are, count = ("is", "counts") if who == "it" else ("are", "count")
    without = [name for name, value in worst.items() if value is None]
    if not without:
        return f"{who} {count} as the worst value"
    left_out = f"left out of {listed(without, NAMED)}, for which there is no worst value"
    if len(without) == len(worst):
        return f"{who} {are} {left_out}"
    return f"{who} {count} as the worst value, but {are} {left_out}"


def stale_findings(results: Sequence[Evaluation]) -> Iterator[BriefLine]:
    """Yield one line on the questions whose gold is stale: no run is scored on them, and none failed by them."""
    counts = {
        f"{len(result.invalid)} of {counted(result.questions, 'question')}" for result in results if result.invalid
    }
    if counts:
        how = STALE_AS_ZERO if results[0].failed_as == "zero" else "no run is scored on them"
        yield BriefLine("stale", f"the gold of {listed(sorted(counts))} is stale: {how}", 84)


def unlogged_findings(results: Sequence[Evaluation]) -> Iterator[BriefLine]:
    """Yield one line on the measures for which some record doesn't log what they need, while others do."""
    parts = [
        f"{result.run} {name} {summary.in_words(result.failed_as)}"
        for result in results
        for name, summary in result.measures.items()
        if summary.not_logged and summary.scored and not summary.zeros(result.failed_as)
    ]
    if parts:
        yield BriefLine("unlogged", listed(parts, 2), 86)


def interval_findings(results: Sequence[Evaluation]) -> Iterator[BriefLine]:
    """Yield one line on the first measure with a value: its mean as gates check it, with its 95% interval."""
    parts = []
    for result in results:
        name = next((one for one, summary in result.measures.items() if summary.scored), None)
        found = None if name is None or result.clustered is not None else result.interval(name)
        if name is not None and found is not None:
            summary = result.measures[name]
            lenient = "" if summary.strict is None else f" at gates ({two(summary.mean)} with any match)"
            held = two(summary.held(result.failed_as))
            parts.append(f"{result.run} {name} {held} [{two(found[0])}, {two(found[1])}]{lenient}")
    if parts:
        yield BriefLine("interval", f"95%: {listed(parts, 2)}", 42)


def zero_findings(results: Sequence[Evaluation]) -> Iterator[BriefLine]:
    """Yield one line on the unscored questions that count as 0, over all runs."""
    counts = {
        f"{result.run} {name}": summary.zeros(result.failed_as)
        for result in results
        for name, summary in result.measures.items()
    }
    parts = [f"{name} {zeros}" for name, zeros in sorted(counts.items(), key=lambda each: -each[1]) if zeros]
    if parts:
        yield BriefLine("unscored", f"these count as 0 (--missing-as 0): {listed(parts, 3)}", 86)


def cluster_findings(evaluated: EvaluatedRuns) -> Iterator[BriefLine]:
    """Yield the clusters of the questions, and the interval of each run's first measure over them."""
    clustered = [(one.run, one.clustered) for one in evaluated.results if one.clustered is not None]
    for sentence in dict.fromkeys(means.sentence for _, means in clustered):
        yield BriefLine("cluster", sentence, 87)
    for run, means in clustered:
        yield BriefLine("cluster", f"{run}: {means.in_words()}", 84)


def weak_findings(card: Scorecard, most: int) -> Iterator[BriefLine]:
    """Yield the weaknesses of a run that are furthest from their bounds."""
    for one in _weakest(card)[:most]:
        worst = f"; most at {', '.join(one.questions)}" if one.questions else ""
        yield BriefLine("weak", f"{card.run}: {one.weakness} ({one.measure} {two(one.mean)}){worst}", 60)


def _weakest(card: Scorecard) -> list[LayerFinding]:
    bounds = {rule.weakness: rule.bound for rule in RULES}
    return sorted(card.findings, key=lambda found: -abs(bounds[found.weakness] - found.mean))


def mending_findings(places: Sequence[MendingPlace]) -> Iterator[BriefLine]:
    """Yield a line for each place to mend."""
    for number, one in enumerate(places):
        yield BriefLine("mend", one.sentence, 58 if number else FIRST_PLACE)


def outcome_findings(results: Sequence[Evaluation]) -> Iterator[BriefLine]:
    """Yield a line on the worst stage of each run, on boundaries that aren't linked, and on luck."""
    stages, luck = [], []
    for result in results:
        outcomes = result.outcomes()
        counts = {name: count for name, count in stage_counts(outcomes).items() if name not in (RIGHT, UNDECIDED)}
        worst = max(counts, key=lambda name: counts[name])
        if counts[worst]:
            stages.append(f"{result.run} '{worst}' ({counts[worst]} of {len(outcomes)})")
        if lucky := two_by_two(outcomes).luck:
            luck.append(f"{result.run} {listed(lucky)}")
    if stages:
        yield BriefLine("where", f"the stage that fails most often: {listed(stages, 4)}", 65)
    lost = [(one.run, not_linked_in_words(row.unlinked for row in one.rows)) for one in results]
    far = [f"{run} {words}" if len(results) > 1 else words for run, words in lost if words]
    if far:
        yield BriefLine("where", f"missed since {NOT_LINKED}: {'; '.join(far)}", 64)
    if luck:
        yield BriefLine("luck", f"right answers by a wrong path: {listed(luck, 4)}", 50)


def group_findings(evaluated: EvaluatedRuns) -> Iterator[BriefLine]:
    """Yield the groups of each run, the worst by the headline measure first."""
    by = evaluated.plan.by
    assert by is not None
    for result in evaluated.results:
        groups = result.grouped(by)
        measure, *_ = (*(name for name, one in result.measures.items() if one.scored), *result.measures)
        held = {name: found[measure].held(result.failed_as) for name, found in groups.items()}
        sign = -1 if lower_is_better(measure) else 1
        worst = sorted((sign * value, name) for name, value in held.items() if value is not None)
        named = ((value, f"{by} {name}" if name.isdecimal() else short_shas(name)) for value, name in worst)
        shown = [f"{name} {two(sign * value)}" for value, name in named]
        text = listed(shown, 4) if shown else f"no question has a {by}"
        overlap = "; slices overlap" if result.slices is not None and result.slices.overlap else ""
        yield BriefLine("group", f"{result.run}: {measure} by {by}: {text}{overlap}", 70)


def unscored_findings(evaluated: EvaluatedRuns) -> Iterator[BriefLine]:
    """Yield one line on why questions have no value, over all runs."""
    reasons: dict[str, dict[str, int]] = {}
    for result in evaluated.results:
        for measure, found in result.unscored.items():
            for reason, count in found.items() if measure not in evaluated.hidden else ():
                measures = reasons.setdefault(reason, {})
                measures[measure] = max(count, measures.get(measure, 0))
    ranked = sorted(reasons.items(), key=lambda each: -sum(each[1].values()))
    parts = [f"{reason}: {', '.join(f'{name} ({count})' for name, count in of.items())}" for reason, of in ranked]
    if parts:
        more = f"; {len(parts) - REASONS} more reasons" if len(parts) > REASONS else ""
        yield BriefLine("unscored", "; ".join(parts[:REASONS]) + more, 62)
    layers = dict.fromkeys(layer for card in evaluated.cards for layer in card.ungraded)
    if layers:
        yield BriefLine("unscored", f"{', '.join(layers)}: {NOT_GRADED.removeprefix('not scored: ')}", 45)


def _held(result: Evaluation, measure: str) -> float | None:
    summary = result.measures.get(measure)
    return None if summary is None else summary.held(result.failed_as)


def _table(evaluated: EvaluatedRuns) -> BriefTable:
    results, cards = evaluated.results, evaluated.cards
    names = list(dict.fromkeys(name for result in results for name in result.measures))
    rows: list[tuple[str, ...]] = []
    if cards and all(layer.score is None for card in cards for layer in card.layers):
        # Gold of another kind, such as files: what it scores is all that there is to see.
        names = [name for name in names if any(_held(result, name) is not None for result in results)] or names[:1]
    elif cards:
        for layers in zip(*(card.layers for card in cards), strict=True):
            rows.append((layers[0].name, *(two(layer.score) for layer in layers)))
        partial = any(card.partial for card in cards)
        rows.append((PARTIAL if partial else "overall", *(two(card.overall) for card in cards)))
    given = _given(results)
    shown = [*names[:1], *(one for one in names[1:] if one in BY_TEXT or one in given)] if rows else names
    rows += [(name, *(two(_held(result, name)) for result in results)) for name in shown[:MEASURES]]
    runs = tuple(result.run for result in results)
    return BriefTable(("", *runs), tuple(rows), across=True, runs=runs)


def _given(results: Sequence[Evaluation]) -> set[str]:
    return {score.measure for result in results for score in result.given}


def _lead(evaluated: EvaluatedRuns) -> Lead | None:
    if len(evaluated.results) == 1:
        return None
    from graphkit.analysis.standings import leading

    return leading(evaluated.results, evaluated.plan.layers)


def runs_verdict(evaluated: EvaluatedRuns, lead: Lead | None = None) -> RunsVerdict | None:
    """Return the verdict over several runs, which every output of an evaluation has; None for one run.

    ``lead`` is :func:`graphkit.analysis.standings.leading` of the results, if that is known already.
    """
    results = evaluated.results
    if len(results) == 1:
        return None
    if (repeated := next((one for one in evaluated.repetitions if one.mean.value is not None), None)) and set(
        repeated.runs
    ) == {one.run for one in results}:
        return RunsVerdict(repeated_in_words(repeated))
    lead = lead if lead is not None else _lead(evaluated)
    if lead is None:
        from graphkit.analysis.standings import incomparable

        return RunsVerdict(incomparable(results))
    found, of = lead.verdict, f", of {len(results)} runs" if len(results) > 2 else ""
    measure = None if found.result is None else found.result.measure
    return RunsVerdict(f"{found.sentence()}{of}", found.winner, measure, found.why_unclear)


def _of_one(result: Evaluation, cards: Sequence[Scorecard]) -> str:
    parts = [counted(result.questions, "question")]
    parts += [f"{count} {what}" for count, what in ((result.failed, "failed"), (result.missing, "missing")) if count]
    name = next((one for one in result.measures if _held(result, one) is not None), next(iter(result.measures), None))
    if cards and cards[0].overall is None and name is not None and _held(result, name) is not None:
        parts += [f"{name} {two(_held(result, name))}", *_right_answers(result.outcomes())]
    elif cards:
        parts.append(f"overall {two(cards[0].overall)}{' (partial)' if cards[0].partial else ''}")
        parts += _right_answers(result.outcomes())
    else:
        name = next(iter(result.measures), None)
        parts += [f"{name} {two(_held(result, name))}"] if name is not None else []
    return f"{result.run}: {', '.join(parts)}"


def _right_answers(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield how many answers are right, of how many whose question decides it, and how many are by a right path."""
    decided = [one for one in outcomes if one.answer is not None]
    right = [one for one in decided if one.answer]
    if not decided:
        yield from ["answers not judged"] if outcomes else []
    elif len(decided) == len(outcomes):
        yield counted(len(right), "right answer")
    else:
        yield f"{len(right)} right of {counted(len(decided), 'judged answer')}"
    if any(one.path is not None for one in right):
        yield f"{sum(one.path is True for one in right)} by a right path"


def _commands(evaluated: EvaluatedRuns, names: dict[str, str], lead: Lead | None, more: str) -> Iterator[str]:
    """Yield what to type next: why the better run missed most edges of a question, and the comparison of the best two.

    After a failed gate it is why the run lost most by its measure. A run that missed no edge has its page to look at,
    and so has one whose gate failed by questions in which ``graphkit why`` finds nothing wrong.
    """
    best = lead.first if lead is not None else evaluated.results[0]
    worst = min(best.outcomes(), key=lambda one: (-one.missed_edges, one.stage.question), default=None)
    part = f"{option_text('where', chosen.filter)}{more}" if (chosen := evaluated.results[0].chosen) else more
    if (failed := _after_failure(evaluated, names, more, part)) is not None:
        yield failed
    elif worst is not None and worst.missed_edges:
        yield command_text("why", names[best.run], worst.stage.question, options=more)
    elif worst is not None:
        yield command_text("report", names[best.run], options=part)
    one_system = lead is not None and (system_of(lead.first.run) or lead.first.run) == system_of(lead.second.run)
    if lead is not None and lead.verdict.result is not None and not one_system:
        yield command_text("compare", names[lead.second.run], names[lead.first.run], options=part)


def _after_failure(evaluated: EvaluatedRuns, names: Mapping[str, str], more: str, part: str) -> str | None:
    """Return what explains the first failed gate that questions explain; None if there is none."""
    results = {result.run: result for result in (*evaluated.held, *evaluated.results)}
    systems = {one.name: one for one in evaluated.systems}
    for gate in evaluated.gates:
        if gate.passed:
            continue
        if gate.gate == "max-failed":
            return command_text("failures", names[gate.run], options=f" --kind failed-questions{more}")
        of_system = systems.get(gate.run)
        logged = [results[gate.run]] if of_system is None else of_system.repetitions
        if (question := _lost_most(results[gate.run], gate, logged)) is not None:
            run = gate.run if of_system is None else _worst_repetition(of_system, gate, question)
            return command_text("why", names[run], question, options=more)
    unexplained = (gate.run for gate in evaluated.gates if not gate.passed and gate.measure is not None)
    found = next((systems[one].repetitions[0].run if one in systems else one for one in unexplained), None)
    return None if found is None else command_text("report", names[found], options=part)


def _worst_repetition(system: RepeatedSystem, gate: GateOutcome, question: str) -> str:
    """Return the repetition that lost most of a gate's measure on a question."""
    measure = gate.measure or ""
    sign = -1 if _lower_is_meant(gate, measure) else 1
    held = [(one.run, one.held_values(measure)) for one in system.repetitions]
    values = {run: sign * of_run[question] for run, of_run in held if question in of_run}
    return min(values, key=lambda run: values[run], default=held[0][0])


def _lower_is_meant(gate: GateOutcome, measure: str) -> bool:
    return gate.gate == "fail-over" or (gate.gate != "fail-under" and lower_is_better(measure))


def _lost_most(result: Evaluation, gate: GateOutcome, logged: Sequence[Evaluation]) -> str | None:
    """Return the question that contributes most to the failure of a gate, of those that ``graphkit why`` explains.

    It is None if no single one does. ``logged`` are the runs that the result is of.
    """
    if gate.measure not in result.measures or not result.rows:
        return None
    explained = {row.question for one in logged for row in one.rows if _explained(one, row)}
    values = result.held_values(gate.measure)
    if gate.gate == MIN_SCORED or not values:
        place = [*result.measures].index(gate.measure)
        rows = (row for row in result.rows if row.question not in values and row.question in explained)
        reasons = {row.question: row.values[place] for row in rows}
        owned = (name for name, one in reasons.items() if isinstance(one, str) and owner_of(one) != Owner.QUESTION)
        return next(owned, None)
    high = _lower_is_meant(gate, gate.measure)
    values = {name: value for name, value in values.items() if name in explained}
    if not values:
        return None
    found = (max if high else min)(values, key=lambda one: values[one])
    best = bounds_of(gate.measure)[0 if high else 1]
    return None if best is not None and equal(values[found], best) else found


#: Measures of which ``graphkit why`` finds something wrong in each question whose value is worse than this, whatever
#: else it logs: a missed edge, another order, commits that don't fit, no relevant id.
_EXPLAINED = {"EdgeRecall": 1.0, "PathInOrder": 1.0, "Coherence": 1.0, "RR": 1e-9}


def _explained(result: Evaluation, row: Row) -> bool:
    """Return whether ``graphkit why`` finds something wrong in a question, as far as its row tells."""
    if row.failure is not None:
        return True
    if row.outcome is not None and (row.outcome.missed_edges or row.outcome.missed_ids):
        return True
    values = zip(result.measures, row.values, strict=True)
    return any(isinstance(value, float) and value < _EXPLAINED.get(name, 0) for name, value in values)
