"""Options of ``graphkit compare`` and ``evaluate`` for a CI: a comment, JUnit, and a kept baseline as the first run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphkit.cli.base import as_json, option
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.analysis.gate_outcomes import GateOutcome
    from graphkit.cli.evaluate import InputOptions
    from graphkit.plugins.compare.comparison_plan import ComparisonPlan
    from graphkit.plugins.compare.run_comparisons import RunComparison
    from graphkit.records.option_values import Bound


JUNIT = option(
    "--junit FILE", "Write JUnit XML: a test case for each question and measure, and for each gate.", writes="results"
)


@dataclass(frozen=True)
class JUnitOptions:
    """JUnit of an evaluation."""

    junit: Path | None = JUNIT

    def inputs(self, given: InputOptions) -> InputOptions:
        """Return the runs as they are."""
        return given

    def files(self) -> dict[Path, str]:
        """Return the file, whose form is that of ``.xml``."""
        return {} if self.junit is None else {self.junit: ".xml"}

    def each(self) -> Sequence[Bound]:
        """Return no bound."""
        return ()


@dataclass(frozen=True)
class CiCompareOptions:
    """Forms of a comparison for a CI."""

    format: Literal["github"] | None = option(
        "--format", "Print the Markdown of a comment on a pull request, of at most 60 lines."
    )
    junit: Path | None = JUNIT

    def check(self, full: bool) -> None:
        """Refuse a comment beside the whole tables or JSON, and JUnit that is no XML."""
        if self.format is not None and (full or as_json()):
            what, remedy = "--format github prints Markdown of 60 lines", "Leave out --format, or --full and --json."
            raise InputError(what, remedy=remedy)
        if self.junit is not None:
            from graphkit.scoring.export import check_output

            check_output(self.junit, ".xml")

    def baseline(self, first: str, dataset: Path | None) -> tuple[str, Path | None]:
        """Return the first run and its dataset, which are those of a baseline if the first run is its folder."""
        from graphkit.plugins.ci.baselines import is_baseline, read_baseline

        if not is_baseline(first):
            return first, dataset
        if dataset is not None:
            what = "a baseline has its own dataset, and --baseline-dataset names another"
            raise InputError(what, where=first, remedy="Leave out one of them.")
        held = read_baseline(first)
        return held.run, held.dataset

    def write(self, plan: ComparisonPlan, compared: RunComparison, outcomes: Sequence[GateOutcome]) -> list[str]:
        """Write JUnit, and return the lines of the comment."""
        if self.junit is not None:
            from graphkit.files.atomic import written
            from graphkit.plugins.ci.comparison_junit import comparison_suites
            from graphkit.plugins.ci.junit import write_junit

            with written(self.junit) as temporary:
                write_junit(temporary, comparison_suites(compared, outcomes, {"config": plan.pairing["config"].digest}))
        return [] if self.format is None else commented(plan, compared, outcomes)


def commented(
    plan: ComparisonPlan, compared: RunComparison, outcomes: Sequence[GateOutcome], crossed: Sequence[str] = ()
) -> list[str]:
    """Return the lines of a comment on a pull request."""
    from graphkit.files.assets import option_text
    from graphkit.plugins.ci.comparison_comment import NextCommands, comparison_comment

    compared = compared.with_facts()
    if compared.explainer is None:
        commands = NextCommands(compared.second, note="The commands need the run in the graph, or its file as RUN.")
    elif plan.of_graph_runs:
        commands = NextCommands(compared.second)
    else:
        more = "" if plan.dataset is None else option_text("dataset", plan.dataset)
        commands = NextCommands(plan.second, more)
    limits = [*plan.limits(compared), *compared.lost_in_words(), *plan.gates.notes(compared)]
    return comparison_comment(compared, outcomes, compared.explainer, commands, limits, crossed)
