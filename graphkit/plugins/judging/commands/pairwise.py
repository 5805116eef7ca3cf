"""``graphkit judge pairwise``."""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphkit.cli.base import argument, command, open_graph, option, present, print_line, print_problems, say
from graphkit.cli.options import DATASET, NO_STORE, SEED, WHERE, ReadingOptions
from graphkit.cli.tables import print_gates, print_table
from graphkit.errors import InputError
from graphkit.plugins.judging.commands.grade import DRY_RUN, ModelOptions, estimate_in_words, judge_progress
from graphkit.records.option_values import Bound, bound
from graphkit.records.words import counted

if TYPE_CHECKING:
    from markupsafe import Markup

    from graphkit.analysis.gate_outcomes import GateOutcome
    from graphkit.files.problems import Problems
    from graphkit.plugins.judging.judge_cost import JudgeCost
    from graphkit.plugins.judging.pairwise.asked_pairs import JudgedPairs, PairsToJudge
    from graphkit.plugins.judging.pairwise.win_rates import HeadToHead
    from graphkit.report.data import ReportData, Section

#: How many failed comparisons are printed one by one.
_FAILURES = 5


@dataclass(frozen=True)
class PairwiseOptions:
    """The runs to compare, and by what."""

    runs: list[Path] = argument(
        "RUN.jsonl|DATASET...", "Compare the answers of these runs, or of a dataset's, two by two."
    )
    dataset: Path | None = DATASET
    where: str | None = WHERE
    criterion: list[str] | None = option(
        "--criterion -c NAME",
        "Compare by this criterion; may be repeated. [default: comprehensiveness, diversity, empowerment, directness, "
        "relevance, or those of --criteria]",
    )
    criteria: Path | None = option("--criteria FILE", 'Read your own criteria: a line NAME = "TEXT" each (TOML).')
    trials: int = option("--trials", "Ask so many times in each order.", default=1, min=1, max=100)
    differential: bool = option("--differential", "Show the judge only what the other answer lacks.")
    under: list[Bound] = option(
        "--fail-under win_rate|CRITERION=VALUE",
        "Fail if a win rate against the first run is lower than VALUE, by each criterion or one; may be repeated.",
        default=[],
        parser=bound("--fail-under"),
    )
    no_store: bool = NO_STORE

    def read(self, problems: Problems) -> PairsToJudge:
        """Return what a judge is to be asked."""
        from graphkit.files.dataset import run_files
        from graphkit.plugins.judging.judges.pairwise import criteria_of
        from graphkit.plugins.judging.pairwise.asked_pairs import PairsToJudge

        return PairsToJudge.read(
            run_files(self.runs),
            self.dataset,
            criteria_of(self.criterion or (), self.criteria),
            trials=self.trials,
            differential=self.differential,
            where=self.where,
            problems=problems,
        )


@command(graph=True)
def pairwise(
    compared: PairwiseOptions,
    cluster: Literal["repo", "repo-set", "session", "category", "group"] | None = option(
        "--cluster", "Take questions of one repository, set of repositories, session, category or group as dependent."
    ),
    seed: int = option("--seed", "Seed for the bootstrap and the permutation test.", default=SEED),
    *,
    model: ModelOptions,
    reading: ReadingOptions,
    dry_run: bool = DRY_RUN,
) -> None:
    """Have a judge say which of two answers is better, in both orders.

    It prints win rates with intervals and verdicts, how far the judge prefers a place or length, and of three runs or
    more their strengths. The comparisons are kept beside the runs and in the graph.
    """
    from graphkit.analysis.gate_outcomes import hold
    from graphkit.graph.runs import refuse_other_run
    from graphkit.plugins.judging.grading.grade_run import loaded_part
    from graphkit.plugins.judging.judge_cost import judge_cost, require_verdicts
    from graphkit.plugins.judging.pairwise.agreement_with_persons import grades_by_people
    from graphkit.plugins.judging.pairwise.asked_pairs import judge_pairs
    from graphkit.plugins.judging.pairwise.comparison_edges import keep_comparisons
    from graphkit.plugins.judging.pairwise.win_rates import HeadToHead, check_bounds
    from graphkit.scoring.question_clusters import QuestionClusters

    if model.batch:
        raise InputError("comparisons are asked for at once", remedy="Leave --batch out.")
    judge, problems = model.for_library(), reading.problems()
    given = compared.read(problems)
    names = tuple(one.name for one in given.criteria)
    check_bounds(compared.under, names)
    clusters = None if cluster is None else QuestionClusters.of_dataset(cluster, given.source)
    if dry_run:
        expected = given.estimate(judge)
        print_problems(problems)
        about = {"runs": list(given.names), "criteria": list(names), "trials": given.trials}
        present([str(given), *estimate_in_words(expected)], {**dataclasses.asdict(expected), **about})
        return
    with nullcontext() if compared.no_store else open_graph() as store:
        if store is not None:
            for run, file in zip(given.names, given.files, strict=True):
                refuse_other_run(store, given.source.name, run, file)
        with judge_progress("comparing answers", judge) as progress:
            judged = judge_pairs(given, judge, problems=problems, notify=say, progress=progress)
        found = HeadToHead(
            given.names,
            names,
            judged.comparisons,
            clusters,
            grades_by_people(given.files, given.names, given.source, problems),
            seed=seed,
        )
        if store is not None:
            for run, file in zip(given.names, given.files, strict=True):
                loaded_part(store, file, given.source, run, problems.on_error)
            keep_comparisons(store, judged, found)
    print_problems(problems)
    outcomes, cost = found.gates(compared.under), judge_cost(judged.verdicts)
    warnings = [*judged.warnings, *found.bias.warnings()]
    more = {"warnings": warnings, "gates": [one.as_json() for one in outcomes], "cost": cost.as_json()}
    present(lambda: _show(judged, found, outcomes, cost), judged.as_json() | found.as_json() | more)
    for one in found.failed[:_FAILURES]:
        say(f"no verdict on {one.question} by {one.criterion}, {one.first} first: {one.failure}: {one.reason}")
    if (rest := len(found.failed) - _FAILURES) > 0:
        say(f"no verdict: ... and {counted(rest, 'more failure')}")
    for text in warnings:
        say(f"warning: {text}")
    hold(outcomes)
    # With verdicts that were kept, those that fail again are only told.
    none = all(one.winner is None for one in found.comparisons if one.asked)
    require_verdicts(
        [one for one in judged.verdicts if none or one.failure == "over_budget"],
        judge.max_cost,
    )


def _show(judged: JudgedPairs, found: HeadToHead, outcomes: list[GateOutcome], cost: JudgeCost) -> None:
    from graphkit.plugins.judging.pairwise.win_rates import unclear

    print_line(f"{judged.given}, judged by {judged.judge}")
    for first, second in found.pairs:
        rates = [one for one in found.rates if (one.first, one.second) == (first, second)]
        rows = [
            [
                *(one.criterion, one.in_words, one.won, one.drawn, one.lost, sum(one.without.values())),
                *(len(one.disagreeing), "–" if one.result is None else f"{one.result.p_corrected:.4f}"),
            ]
            for one in rates
        ]
        columns = ("criterion", "win rate [95%]", "won", "tied", "lost", "no value", "orders disagree", "p, corrected")
        print_table(f"{second} against {first}", columns, rows, least=("no value", "p, corrected"))
        for one in rates:
            print_line(f"{one.verdict.sentence()}." + unclear(one))
    for criterion, strength in found.strengths.items():
        runs = [[run, str(one)] for run, one in strength.runs.items()]
        title = f"strength by {criterion} (Bradley-Terry, over {counted(strength.questions, 'question')})"
        print_table(title, ("run", "strength [95%]"), runs)
        if strength.reason is not None:
            print_line(f"by {criterion}, {strength.reason}")
    bias = found.bias
    print_line(f"position bias: {bias.position} for the answer shown first; the orders disagree on {bias.disagree}")
    print_line(f"length bias: {bias.length} for the longer answer, deserved or not")
    if found.agreement:
        rows = [[one.criterion, one.measure, str(one.preferred), str(one.kappa)] for one in found.agreement]
        headings = ("criterion", "person's grades", "prefers the higher [95%]", "kappa [95%]")
        print_table("agreement with a person", headings, rows)
    print_line(cost.of_verdicts)
    print_line(f"kept in {judged.file}")
    print_gates(outcomes)


@dataclass(frozen=True)
class PairwiseSectionOptions:
    """Comparisons of answers on the page."""

    comparisons: list[Path] | None = option(
        "--comparisons FILE",
        "Show these answers side by side (.jsonl); may be repeated. [default: the comparisons beside the runs]",
    )

    def section(self) -> Section:
        """Return the section that shows them, which is empty without any."""
        files = self.comparisons

        def shown(data: ReportData) -> Markup:
            from graphkit.plugins.judging.pairwise.pairwise_view import pairwise_section

            return pairwise_section(files, data)

        return shown
