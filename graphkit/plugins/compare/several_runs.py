"""Several runs compared: each pair of them, or each with one baseline, with p-values corrected over the pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.analysis.evaluation_findings import gate_findings
from graphkit.analysis.findings import Brief, BriefLine, BriefTable, listed
from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.analysis.pair_verdict import BETTER, UNCLEAR, WORSE
from graphkit.errors import InputError
from graphkit.files.assets import bundled, command_text, option_text
from graphkit.files.problems import Problems
from graphkit.plugins.compare.comparison_plan import ComparisonPlan
from graphkit.plugins.compare.run_comparisons import RunComparison
from graphkit.plugins.compare.run_means import RunMean, RunMeans
from graphkit.plugins.compare.run_pairs import PairingOptions, draws_of
from graphkit.records.progress import Progress, quiet
from graphkit.records.words import counted, two

if TYPE_CHECKING:
    from graphkit.database.store import Store

#: How many measures, verdicts and warnings are shown by default.
MEASURES, VERDICTS = 11, 9


@dataclass(frozen=True)
class SeveralPlan:
    """More than two runs to compare, and how; of a ``baseline`` the first of them is it.

    The options are those of ``plan``, whose first two runs are the first two.

    Raises
    ------
    InputError
        A run is named twice, or an option needs a baseline and there is none.
    """

    plan: ComparisonPlan
    runs: tuple[str, ...]
    baseline: bool

    def __post_init__(self) -> None:
        """Refuse what can't be compared."""
        twice = next((one for place, one in enumerate(self.runs) if one in self.runs[:place]), None)
        if twice is not None:
            raise InputError(f"{twice!r} is named twice", remedy="Name each run once.")
        if self.baseline:
            return
        for asked, what in (
            (self.plan.gates.asked, "a gate holds a run against a baseline"),
            (self.plan.baseline_dataset is not None, "--baseline-dataset is of a baseline"),
            (self.plan.gold_changed, "--gold-changed is of a baseline"),
        ):
            if asked:
                runs = counted(len(self.runs), "run")
                raise InputError(f"{what}, and {runs} are compared with each other", remedy="Name it by --against RUN.")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the runs of each pair."""
        every = range(len(self.runs))
        return [(0, one) for one in every[1:]] if self.baseline else [*combinations(every, 2)]

    @property
    def of_graph_runs(self) -> bool:
        """Whether the database is needed."""
        return any(self._pair(*pair).of_graph_runs for pair in self.pairs)

    def compared(self, problems: Problems, store: Store | None = None, progress: Progress = quiet) -> SeveralRuns:
        """Compare the pairs.

        A gate holds each run as if it alone were compared with the baseline: the correction over pairs would let a
        regression pass the more easily the more runs there are.

        Raises
        ------
        InputError
            A run or option can't be used, or there is nothing to compare.
        """
        chosen = self.plan.chosen
        plan = dataclasses.replace(self, plan=dataclasses.replace(self.plan, where=chosen))
        if store is not None:  # each file is scored and kept once
            plan = dataclasses.replace(
                plan, runs=tuple(self.plan.kept(store, run, problems, progress) for run in self.runs)
            )
        found, outcomes, told = {}, [], problems
        for pair in plan.pairs:
            one = plan._pair(*pair)
            pairing: PairingOptions = {**one.pairing, "pairs": len(plan.pairs), "symmetric": not self.baseline}
            found[pair] = dataclasses.replace(one, pairing=pairing).compared(told, store, progress)
            # Scores, folders and the graph are read anew for each pair, and their problems are known.
            told = problems if one.of_run_files else Problems(problems.on_error, strict=problems.strict)
            if self.plan.gates.asked:
                held = self.plan.gates.outcomes(one.compared(told, store, progress))
                outcomes.append(tuple(one.stated(held)))
        return SeveralRuns(RunMeans.of(found, draws_of(self.plan.pairing), chosen), tuple(outcomes), self)

    def _pair(self, first: int, second: int) -> ComparisonPlan:
        return dataclasses.replace(self.plan, first=self.runs[first], second=self.runs[second])


@dataclass(frozen=True)
class SeveralRuns:
    """Several compared runs: their means with each pair, and the gates of each pair."""

    means: RunMeans
    gates: tuple[tuple[GateOutcome, ...], ...]
    plan: SeveralPlan

    @property
    def pairs(self) -> tuple[RunComparison, ...]:
        """The comparison of each pair."""
        return tuple(self.means.pairs.values())

    @property
    def outcomes(self) -> list[GateOutcome]:
        """The outcomes of all gates."""
        return [one for some in self.gates for one in some]

    @cached_property
    def verdict(self) -> str:
        """A sentence: which run is best by the first measure, and how many pairs clearly differ by it."""
        means, headline = self.means, self._headline
        clear = sum(one.pair.winner is not None for one in self.pairs)
        pairs = f"{clear or 'none'} of {counted(len(self.pairs), 'pair')} clearly differ{'s' if clear == 1 else ''}"
        if headline is None:
            return f"{counted(len(means.runs), 'run')}: no measure was compared"
        best = [one for one in headline if one.best]
        values = f"{listed([one.run for one in best])} {two(best[0].mean)}" if best else "no value"
        return f"best by {self._measure}: {values}; {pairs}, corrected over {means.correction_of_verdict}"

    @property
    def _measure(self) -> str | None:
        return next((one.headline.measure for one in self.pairs if one.headline is not None), None)

    @property
    def _headline(self) -> tuple[RunMean, ...] | None:
        return next((one.runs for one in self.means.groups[0].rows if one.measure == self._measure), None)

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``graphkit compare --json`` prints of more than two runs."""
        gates = self.gates or ((),) * len(self.pairs)
        return {
            **self.means.as_json(),
            "verdict": self.verdict,
            "pairs": [
                one.as_json() | {"gates": [gate.as_json() for gate in some]}
                for one, some in zip(self.pairs, gates, strict=True)
            ],
            "gates": [gate.as_json() for gate in self.outcomes],
        }

    def messages(self, brief: bool) -> list[str]:
        """Return the warnings and notes of all pairs, each once."""
        plan = self.plan.plan
        found = [line for one in self.pairs for line in (plan.brief_messages(one) if brief else plan.messages(one))]
        return list(dict.fromkeys(found))

    def brief(self) -> Brief:
        """Return what to print by default."""
        means = self.means
        rows = [(row.measure, *(_marked(means, one) for one in row.runs)) for row in means.groups[0].rows[:MEASURES]]
        findings = [*gate_findings(self.outcomes), *self._verdicts(), BriefLine("*", means.legend, 81)]
        findings += [
            BriefLine("scope", one, 84) for one in dict.fromkeys(s for pair in self.pairs for s in pair.scope())
        ]
        for group in means.groups[1:]:
            for row in group.rows[:1]:
                values = ", ".join(f"{one.run} {_marked(means, one)}" for one in row.runs)
                findings.append(
                    BriefLine("group", f"{means.title(group)} ({row.compared}): {row.measure} {values}", 60)
                )
        findings += [BriefLine("group", means.overlap, 60)] if means.overlap else []
        if (rest := len(means.groups[0].rows) - MEASURES) > 0:
            findings.append(BriefLine("more", f"{counted(rest, 'more measure')}: --full", 65))
        given = {"where": getattr(self.plan.plan.chosen, "filter", None), "dataset": self.plan.plan.dataset}
        more = "".join(option_text(name, value) for name, value in given.items() if value is not None)
        return Brief(
            summary=self.verdict,
            table=BriefTable(("measure", *means.labels), tuple(rows), across=True, runs=means.labels),
            findings=tuple(findings),
            commands=(command_text("compare", *self.plan.runs[:2], options=more),),
        )

    def _verdicts(self) -> Iterator[BriefLine]:
        """Yield the verdict on each pair, those first that clearly differ, and what else was asked about it."""
        ranked = sorted(self.pairs, key=lambda one: one.pair.winner is None)
        for one in ranked[:VERDICTS]:
            level = UNCLEAR if one.pair.winner is None else BETTER if one.pair.winner == one.second else WORSE
            yield BriefLine(level, one.pair.sentence(), 80)
            pair = f"{one.first} and {one.second}"
            if one.cost is not None:
                yield BriefLine("cost", f"{pair}: {one.cost.sentence}", 79)
            if one.plan:
                yield BriefLine("plan", f"{pair}: {one.plan[0].sentence}", 79)
        if (more := len(ranked) - VERDICTS) > 0:
            yield BriefLine("more", f"{counted(more, 'more pair')}: --full", 79)


def runs_to_compare(first: str, second: str, others: Sequence[str], against: str | None) -> tuple[str, ...]:
    """Return the runs to compare, the baseline first if one is named; it need not be among the others."""
    runs = [first, second, *others]
    if against is None:
        return tuple(runs)
    baseline = str(bundled(against) or against)
    compared = [one for one in runs if Path(one) != Path(baseline)]
    return (baseline, *(compared or [baseline]))


def _marked(means: RunMeans, one: RunMean) -> str:
    return f"{two(one.mean)}{means.suffix(one)}"
