"""``graphkit check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, command, option, present, print_line
from graphkit.cli.briefs import FULL, lines_of_error, print_brief
from graphkit.cli.tables import print_table

if TYPE_CHECKING:
    from graphkit.plugins.gold.datasets.dataset_checks import Checked, Flaw

#: How many questions of a finding are printed.
NAMED = 3


@command(asks=True)
def check(
    dataset: Path = argument("DATASET|FILE", "Read the dataset in this folder, or the questions in this file."),
    baseline: Path | None = option("--baseline RUN.jsonl", "Report what this run without retrieval already answers."),
    strict: bool = option("--strict", "Fail for a warning too."),
    full: bool = FULL,
) -> None:
    """Check a set of questions and their gold.

    It looks at fields, difficulty, duplicates, stale gold and room to improve.

    Exit codes: 0 if each question is valid, 1 if one is not, 2 if there is no dataset.
    """
    from graphkit.cli.progress import shown_progress
    from graphkit.plugins.gold.datasets.dataset_checks import check_brief, check_dataset

    with shown_progress(f"checking {dataset}"):
        checked = check_dataset(dataset, baseline)

    def show() -> None:
        if full:
            _show(checked)
        else:
            print_brief(check_brief(checked), lines_of_error(checked.error(strict)))

    present(show, checked.as_json())
    checked.hold(strict)


def _show(checked: Checked) -> None:
    from graphkit.plugins.gold.datasets.dataset_checks import check_summary

    if checked.findings:
        print_table(None, ["kind", "level", "question", "count", "what"], [_row(group) for group in checked.groups()])
    print_line(check_summary(checked))


def _row(group: list[Flaw]) -> list[object]:
    """Return the row of findings of one kind."""
    first, count = group[0], len(group)
    named = [finding.question for finding in group if finding.question is not None]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    what = f"{first.what} (the first of {count})" if first.where is not None and count > 1 else first.what
    return [first.kind, first.level, ", ".join(named[:NAMED]) + more if named else None, count, what]
