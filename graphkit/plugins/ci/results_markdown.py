"""Results as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.plugins.compare.paper_tables import markdown
from graphkit.records.option_values import By
from graphkit.records.words import counted, short_shas
from graphkit.scoring.export import About
from graphkit.scoring.measure_summaries import NOTES, mean_in_words, scored_in_words, shown_mean
from graphkit.scoring.results import Evaluation


def write_results_as_markdown(
    path: Path, results: Sequence[Evaluation], gates: Sequence[GateOutcome], about: About
) -> None:
    """Write results to a file, as :func:`results_markdown` shows them."""
    lines = [] if about.verdict is None else about.verdict.lines()
    path.write_text(results_markdown(results, gates, lines, cast(By | None, about.facts.get("by"))), encoding="utf-8")


def results_markdown(
    results: Sequence[Evaluation],
    gates: Sequence[GateOutcome] = (),
    verdict: Sequence[str] = (),
    by: By | None = None,
) -> str:
    """Return the scoreboard as a Markdown table with one column per run, below it the verdict, counts and gates.

    With ``by`` a table of each run follows with its means by group, and how many questions are in several groups.
    """
    names = list(dict.fromkeys(name for result in results for name in result.measures))
    header = ["measure", *(markdown(result.run) for result in results)]
    lines = [f"| {' | '.join(header)} |", f"|---|{'---:|' * len(results)}"]
    for name in names:
        cells = [markdown(name)]
        for result in results:
            summary = result.measures.get(name)
            cells.append(
                f"{shown_mean(summary, result.failed_as)} ({scored_in_words(summary, result.failed_as)})"
                if summary
                else "–"
            )
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"\n{markdown(line)}." for line in verdict]
    for result in results:
        counts = [counted(result.questions, "question"), f"{result.failed} failed", f"{result.missing} missing"]
        counts += [str(result.chosen)] if result.chosen is not None else []
        counts += [f"{len(result.invalid)} invalid (stale gold, not scored)"] if result.invalid else []
        counts += [NOTES[result.failed_as]] if result.failed_as in NOTES else []
        counts += [f"gold {result.gold_hash}"] if result.gold_hash is not None else []
        lines.append(f"\n{markdown(result.run)}: {', '.join(counts)}")
        lines += [f"\n{markdown(result.run)}: {markdown(line)}" for line in _clustered(result)]
        notes = (*filter(None, [result.shares()]), *result.reasons())
        lines += [f"\n{markdown(result.run)}: {markdown(note)}" for note in notes]
        lines += [f"\n{markdown(result.run)}: warning: {markdown(warning)}" for warning in result.warnings]
    for gate in gates:
        outcome = "passed" if gate.passed else "**failed**"
        margin = "" if gate.margin is None else f" ({gate.margin})"
        lines.append(f"\n{markdown(gate.run)}: gate {markdown(gate.name)} {outcome}: {markdown(gate.what)}{margin}")
    if by is not None:
        lines += [line for result in results for line in _grouped(result, by)]
    return "\n".join(lines) + "\n"


def _grouped(result: Evaluation, by: By) -> Iterator[str]:
    """Yield a table of the means of a run by group, with the number of questions of each."""
    groups = result.grouped(by)
    if not groups:
        yield f"\n{markdown(result.run)}: no question has a {by}."
        return
    sizes = {name: max((one.total for one in some.values()), default=0) for name, some in groups.items()}
    yield f"\n**{markdown(result.run)} by {by}, with the number of questions**\n"
    yield f"| measure | {' | '.join(f'{markdown(short_shas(name))} ({size})' for name, size in sizes.items())} |"
    yield f"|---|{'---:|' * len(groups)}"
    for name in result.measures:
        cells = (mean_in_words(some[name], result.failed_as) for some in groups.values())
        yield f"| {markdown(name)} | {' | '.join(cells)} |"
    if result.slices is not None and result.slices.note:
        yield f"\n{markdown(result.slices.note)}."


def _clustered(result: Evaluation) -> Iterator[str]:
    """Yield the clusters of a result, and each measure with its interval over them."""
    if result.clustered is not None:
        yield result.clustered.sentence
        yield "95% intervals over clusters: " + ", ".join(
            f"{name} {one}" for name, one in result.clustered.measures.items()
        )
