"""What ``graphkit demo --full`` prints: scores, failures, claims, the comparison and the code that was executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from graphkit.cli.base import print_line
from graphkit.cli.tables import print_table
from graphkit.records.words import shown

if TYPE_CHECKING:
    from graphkit.analysis.layers import Scorecard
    from graphkit.plugins.compare.run_comparisons import RunComparison
    from graphkit.plugins.judging.verdicts import AnswerClaim, Verdict
    from graphkit.plugins.sandbox.execute_run import ExecutedRun
    from graphkit.scoring.results import Evaluation

#: The measures that are printed beside those of the layers.
BESIDE = ("PathPrefix", "BoundaryRecall", "CitationRecall", "RubricGrade")


def print_scores(results: list[Evaluation], cards: list[Scorecard], judge: str) -> None:
    """Print the layers of both runs side by side, with their measures."""
    print_line("2. The layers: flat BM25 against BM25 with expansion along the knowledge graph")
    rows: list[list[object]] = []
    for layers in zip(*(card.layers for card in cards), strict=True):
        rows.append([layers[0].name, "", *(shown(layer.score) for layer in layers)])
        for components in zip(*(layer.components for layer in layers), strict=True):
            target = components[0].target
            cells = [_held(one.held, one.counts, one.scored < one.total) for one in components]
            rows.append([f"  {components[0].measure}", "" if target is None else f"{target:g}", *cells])
    rows.append(["overall", "", *(shown(card.overall) + (" (partial)" if card.partial else "") for card in cards)])
    for name in BESIDE:
        summaries = [result.measures[name] for result in results]
        rows.append([name, "", *(_held(one.held(), one.counts(), one.scored < one.total) for one in summaries)])
    print_table(None, ("layer and measure", "target", *(result.run for result in results)), rows)
    print_line(
        f"Generation and RubricGrade are judged by `{judge}`, a judge of rules: it compares words, and can't see what "
        "is true. It needs neither key nor network. `graphkit grade RUN.jsonl --judge anthropic` asks a model."
    )
    print_line()


def _held(value: float | None, counts: str, unscored: bool) -> str:
    return shown(value) + (f"  ({counts})" if unscored else "")


def print_traversals(run: str, worst: Sequence[Mapping[str, object]], explained: Mapping[str, list[str]]) -> None:
    """Print what the run did wrong with some questions."""
    print_line(f"3. Where the traversals of {run} went wrong: its worst questions, and a wrong turn")
    for row in worst:
        question = str(row["question"])
        print_line(f"{question} ({row['difficulty']}): {row['found']} of {row['required']} gold edges traversed")
        for each in explained[question]:
            print_line(f"  - {each}")
    print_line()


def print_claims(said: dict[str, Verdict], unsound: list[str]) -> None:
    """Print the verdict on one answer, claim by claim."""
    claims, rubric = said["claims"], said["rubric"]
    print_line(f"4. The answer to {claims.question}, claim by claim, as `{claims.judge}` judged it: {rubric.grade}")
    for number, claim in enumerate(claims.claims, 1):
        print_line(f"  {number}. {claim.text}")
        print_line(f"     {_claim(claim, claims)}")
    print_line("  What is unsound, by the failure queries:")
    for each in unsound:
        print_line(f"  - {each}")
    print_line()


def _claim(claim: AnswerClaim, verdict: Verdict) -> str:
    """Return the evidence of a claim in one line."""
    parts: list[str] = [claim.support]
    parts += [f"by {one.chunk}" for one in claim.evidence if one.occurs][:1]
    if claim.edge is not None:
        parts.append(f"traversed {claim.edge.relation}, {'a gold edge' if claim.edge.in_gold else 'not in gold'}")
    for citation in (verdict.citations[place] for place in claim.cited):
        parts.append(f"cites {citation.text}{'' if citation.correct else ', wrongly'}")
    return "; ".join(parts)


def print_compared(compared: RunComparison) -> None:
    """Print the comparison of both runs."""
    from graphkit.plugins.compare.pair_tables import print_comparison

    print_line("5. The two runs compared, question by question")
    print_comparison(compared)
    print_line()


def print_code(sandbox: str, runs: Sequence[ExecutedRun], explained: Sequence[str]) -> None:
    """Print how the code of each run ended, and why two answers failed."""
    from graphkit.measures.judged import TESTED

    print_line(f"6. Answers that are code, run on the tests of their questions ({sandbox})")
    if not runs:
        return
    statuses = list(dict.fromkeys(status for run in runs for status in run.by_status))
    rows = [[run.run, shown(run.summary.mean), *(run.by_status.get(status, 0) for status in statuses)] for run in runs]
    print_table(None, ("run", TESTED, *statuses), rows)
    for each in explained:
        print_line(f"  - {each}")
    print_line()
