"""The findings of a comparison: what is clearly better and worse, what moved most, and what isn't compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from graphkit.analysis.evaluation_findings import failures_count, gate_findings
from graphkit.analysis.findings import Brief, BriefLine, BriefTable, listed
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.analysis.pair_verdict import BETTER, UNCLEAR, WORSE, change, interval_in_words, judged
from graphkit.files.assets import command_text
from graphkit.measures.registry import lower_is_better, worst_of
from graphkit.plugins.compare.run_comparisons import Mover, RunComparison
from graphkit.plugins.compare.verdict_notes import legend, why_unclear
from graphkit.records.words import counted, two

#: How many measures, groups and moved questions are shown.
MEASURES, GROUPS, MOVERS = 11, 4, 1

#: Of how many questions that lost it is asked whether ``graphkit why`` explains them.
EXPLAINED = 10

DELTA, INTERVAL, VERDICT = "delta", "95% interval", "verdict"


def comparison_brief(
    compared: RunComparison,
    gates: Sequence[GateOutcome],
    second: str,
    options: str = "",
    explains: Callable[[str], bool] = lambda question: True,
) -> Brief:
    """Return what to print of a comparison.

    ``second`` and ``options`` are for the commands to type next, and ``explains`` tells whether ``graphkit why`` finds
    something wrong in a question of the second run.
    """
    findings = [*gate_findings(gates), *_failed(compared)]
    findings += [BriefLine("scope", one, 84) for one in compared.scope()]
    if compared.clusters is not None:
        findings.append(BriefLine("cluster", compared.clusters.sentence, 87))
    if compared.cost is not None:
        findings.append(BriefLine("cost", compared.cost.sentence, 89))
        findings += [BriefLine("cost", line, 58) for line in compared.cost.lines()]
    if compared.plan:
        findings.append(BriefLine("plan", compared.plan[0].sentence, 86))
    for group in compared.groups[1 : GROUPS + 1]:
        result = group.results[0]
        title = f"{compared.title(group)} ({result.questions})"
        findings.append(BriefLine("group", f"{title}: {result.measure} {change(result)}", 60))
    if (more := len(compared.groups) - 1 - GROUPS) > 0:
        findings.append(BriefLine("group", f"{counted(more, 'more group')}", 60))
    if compared.overlap:
        findings.append(BriefLine("group", compared.overlap, 60))
    findings += _movers(compared)
    if compared.different_gold:
        findings.append(BriefLine("unscored", f"other gold, so not compared: {listed(compared.different_gold)}", 70))
    findings += not_compared(compared)
    findings += table_notes(compared)
    if (rest := len(compared.with_failed) - MEASURES) > 0:
        findings.append(BriefLine("more", f"{counted(rest, 'more measure')}: --full", 65))
    return Brief(
        summary=compared.verdict,
        table=comparison_table(compared) if compared.with_failed else None,
        findings=tuple(findings),
        commands=tuple(_commands(compared, gates, second, options, explains)),
    )


def table_notes(compared: RunComparison) -> Iterator[BriefLine]:
    """Yield why differences are unclear whose intervals exclude 0, and the legend of the mark on intervals."""
    for reason in why_unclear(compared.with_failed):
        yield BriefLine(UNCLEAR, reason.removeprefix(f"{UNCLEAR} "), 72)
    if (marks := legend(compared.with_failed)) is not None:
        yield BriefLine("*", marks.removeprefix("* "), 71)


def not_compared(compared: RunComparison) -> Iterator[BriefLine]:
    """Yield one line on the measures that lack questions."""
    counts = {**compared.left_out_unfailed()}
    for name, count in compared.unscored.items():
        counts[name] = counts.get(name, 0) + count
    if counts:
        text = ", ".join(f"{name} ({count})" for name, count in counts.items())
        yield BriefLine("unscored", f"questions not scored in both runs: {text}", 40)


def _failed(compared: RunComparison) -> Iterator[BriefLine]:
    if count := compared.failed[1]:
        who = "it" if count == 1 else "they"
        how = f"{who} count{'s' if count == 1 else ''} unscored"
        if compared.failed_as != "unscored":
            how = failures_count({one.measure: worst_of(one.measure) for one in compared.with_failed}, who)
        yield BriefLine("failed", f"{compared.second} on {count} of {compared.questions}; {how}", 85)


def _movers(compared: RunComparison) -> Iterator[BriefLine]:
    """Yield the question that gained most and the one that lost most, each with the edges that changed."""
    ranked: dict[str, list[Mover]] = {BETTER: [], WORSE: []}
    for mover in compared.movers:
        gained = mover.delta * (-1 if lower_is_better(mover.measure) else 1) > 0
        ranked[BETTER if gained else WORSE].append(mover)
    for level, movers in ranked.items():
        for mover in movers[:MOVERS]:
            edges = mover.found if level == BETTER else mover.lost
            more = f" and {len(edges) - 1} more" if len(edges) > 1 else ""
            what = f"; {'found' if level == BETTER else 'lost'} {edges[0]}{more}" if edges else ""
            values = f"{mover.measure} {two(mover.first)} to {two(mover.second)}"
            yield BriefLine(level, f"{mover.question}: {values}{what}", 50)


def comparison_table(compared: RunComparison, most: int = MEASURES) -> BriefTable:
    """Return the measure of the verdict and the first others with their differences, failed questions included."""
    rows = [
        (
            *(one.measure, two(one.first), two(one.second)),
            *(two(one.delta, sign=True), interval_in_words(one), judged(one)),
        )
        for one in sorted(compared.with_failed, key=lambda one: one is not compared.headline)[:most]
    ]
    return BriefTable(
        ("measure", compared.first, compared.second, DELTA, INTERVAL, VERDICT),
        tuple(rows),
        least=(compared.first, compared.second, DELTA),
        levels=((BETTER, "better"), (WORSE, "worse")),
        runs=(compared.first, compared.second),
    )


def _commands(
    compared: RunComparison, gates: Sequence[GateOutcome], second: str, options: str, explains: Callable[[str], bool]
) -> Iterator[str]:
    """Yield what to type next: why the second run lost most by the measure whose gate failed, or by any measure.

    Of the first questions it is one that ``why`` explains; without one, the failures of the run are left to look at.
    """
    losing = [one for one in compared.movers if one.delta * (-1 if lower_is_better(one.measure) else 1) < 0]
    for gate in gates:
        lost = compared.losses_by(gate.measure) if not gate.passed and gate.measure is not None else []
        question = next((one.question for one in lost[:EXPLAINED] if explains(one.question)), None)
        if question is not None:
            yield command_text("why", compared.named(second, question), question, options=options)
            return
        if not gate.passed and gate.gate == "max-failed":
            yield command_text("failures", compared.named(second), options=f" --kind failed-questions{options}")
            return
    worse = dict.fromkeys([*(one.question for one in losing), *(one.question for one in compared.losses)])
    found = next((one for one in [*worse][:EXPLAINED] if explains(one)), None)
    if found is not None:
        yield command_text("why", compared.named(second, found), found, options=options)
    else:
        yield command_text("failures", compared.named(second), options=options)
