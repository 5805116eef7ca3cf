"""Results as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphkit.analysis.gate_outcomes import GateOutcome
from graphkit.errors import one_line
from graphkit.records.words import counted
from graphkit.scoring.export import About
from graphkit.scoring.measure_summaries import NOTES, scored_in_words, shown_mean
from graphkit.scoring.results import Evaluation


def write_results_as_markdown(
    path: Path, results: Sequence[Evaluation], gates: Sequence[GateOutcome], about: About
) -> None:
    """Write results to a file, as :func:`results_markdown` shows them."""
    lines = [] if about.verdict is None else about.verdict.lines()
    path.write_text(results_markdown(results, gates, lines), encoding="utf-8")


def results_markdown(
    results: Sequence[Evaluation], gates: Sequence[GateOutcome] = (), verdict: Sequence[str] = ()
) -> str:
    """Return the scoreboard as a Markdown table with one column per run, below it the verdict, counts and gates."""
    names = list(dict.fromkeys(name for result in results for name in result.measures))
    header = ["measure", *(_cell(result.run) for result in results)]
    lines = [f"| {' | '.join(header)} |", f"|---|{'---:|' * len(results)}"]
    for name in names:
        cells = [_cell(name)]
        for result in results:
            summary = result.measures.get(name)
            cells.append(
                f"{shown_mean(summary, result.failed_as)} ({scored_in_words(summary, result.failed_as)})"
                if summary
                else "–"
            )
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"\n{_cell(line)}." for line in verdict]
    for result in results:
        counts = [counted(result.questions, "question"), f"{result.failed} failed", f"{result.missing} missing"]
        counts += [f"{len(result.invalid)} invalid (stale gold, not scored)"] if result.invalid else []
        counts += [NOTES[result.failed_as]] if result.failed_as in NOTES else []
        counts += [f"gold {result.gold_hash}"] if result.gold_hash is not None else []
        lines.append(f"\n{_cell(result.run)}: {', '.join(counts)}")
        lines += [f"\n{_cell(result.run)}: {_cell(line)}" for line in _clustered(result)]
        lines += [f"\n{_cell(result.run)}: {_cell(reason)}" for reason in result.reasons()]
        lines += [f"\n{_cell(result.run)}: warning: {_cell(warning)}" for warning in result.warnings]
    for gate in gates:
        outcome = "passed" if gate.passed else "**failed**"
        margin = "" if gate.margin is None else f" ({gate.margin})"
        lines.append(f"\n{_cell(gate.run)}: gate {_cell(gate.name)} {outcome}: {_cell(gate.what)}{margin}")
    return "\n".join(lines) + "\n"


def _clustered(result: Evaluation) -> Iterator[str]:
    """Yield the clusters of a result, and each measure with its interval over them."""
    if result.clustered is not None:
        yield result.clustered.sentence
        yield "95% intervals over clusters: " + ", ".join(
            f"{name} {one}" for name, one in result.clustered.measures.items()
        )


def _cell(text: str) -> str:
    """Return text that can't leave its cell or its line, or become markup."""
    text = one_line(text)
    for char in "\\`*_{}[]<>|#!":
        text = text.replace(char, f"\\{char}" if char not in "<>" else {"<": "&lt;", ">": "&gt;"}[char])
    return " ".join(text.split())
