"""``graphkit abstention``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphkit.cli.base import argument, command, present, print_line, say
from graphkit.cli.options import CLUSTER, DATASET
from graphkit.cli.tables import print_table
from graphkit.records.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphkit.analysis.estimates import Estimate
    from graphkit.plugins.abstention.risk_coverage import AbstentionFigures


@command(asks=True)
def abstention(
    runs: list[Path] = argument("RUN.jsonl|DATASET...", "Show these run logs, or all of a dataset."),
    dataset: Path | None = DATASET,
    cluster: Literal["repo", "repo-set", "session", "category", "group"] | None = CLUSTER,
) -> None:
    """Show what runs decline, and how wrong the rest is."""
    from graphkit.analysis.file_failures import RunOnFiles
    from graphkit.cli.progress import shown_progress
    from graphkit.files.dataset import run_files
    from graphkit.plugins.abstention.risk_coverage import abstention_figures
    from graphkit.scoring.question_clusters import QuestionClusters

    with shown_progress("reading runs"):
        read = [RunOnFiles.read(run, dataset) for run in run_files(runs)]
        clusters = [None if cluster is None else QuestionClusters.of_dataset(cluster, one.dataset) for one in read]
        figures = [abstention_figures(one, some) for one, some in zip(read, clusters, strict=True)]
    for sentence in dict.fromkeys(one.sentence for one in clusters if one is not None):
        say(f"note: {sentence}")
    for one in figures:
        for warning in one.warnings:
            say(f"warning: {one.run}: {warning}")
    present(lambda: _show(figures), *(one.as_json() for one in figures))


def _show(figures: Sequence[AbstentionFigures]) -> None:
    rows: list[tuple[str, ...]] = [
        ("declined without an answer", *(f"{one.rightly} of {one.unanswerable}" for one in figures)),
        ("declined with one", *(f"{one.declined - one.rightly} of {one.known - one.unanswerable}" for one in figures)),
        ("abstention F1", *(_in_words(one.f1) for one in figures)),
        ("coverage", *(f"{one.known - one.declined} of {one.known}" for one in figures)),
        ("selective risk", *(_in_words(one.risk) for one in figures)),
        ("AURC", *(_in_words(one.aurc) for one in figures)),
    ]
    print_table(None, ("", *(one.run for one in figures)), rows)
    for one in figures:
        if one.curve:
            points = ", ".join(f"{point.risk:.2f} at {point.coverage:.0%}" for point in one.curve)
            print_line(f"{one.run}: risk of the most confident of {counted(one.decided, 'decided answer')}: {points}")
        for name, figure in (("F1", one.f1), ("risk", one.risk), ("AURC", one.aurc)):
            if figure.reason is not None:
                print_line(f"{one.run}: {name}: {figure.reason}")


def _in_words(found: Estimate) -> str:
    if found.value is None:
        return "–"
    if found.low is None or found.high is None:
        return f"{found.value:.4f}"
    return f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]"
