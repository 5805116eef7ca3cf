"""``graphkit check``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import command, option, present, print_line
from graphkit.cli.options import DATASET_FOLDER
from graphkit.cli.tables import print_table
from graphkit.records.words import counted

if TYPE_CHECKING:
    from graphkit.analysis.dataset_checks import Checked, Flaw

#: How many questions of a finding are printed.
NAMED = 3


@command()
def check(
    dataset: Path = DATASET_FOLDER,
    baseline: Path | None = option("--baseline RUN.jsonl", "Report what this run without retrieval already answers."),
    strict: bool = option("--strict", "Fail for a warning too."),
) -> None:
    """Check a set of questions: fields, difficulty, duplicates, stale gold, room to improve.

    Exit codes: 0 if each question is valid, 1 if one is not, 2 if there is no dataset.
    """
    from graphkit.analysis.dataset_checks import check_dataset
    from graphkit.files.dataset import Dataset

    checked = check_dataset(Dataset(dataset), baseline)
    present(lambda: _show(checked), checked.as_json())
    checked.hold(strict)


def _show(checked: Checked) -> None:
    from graphkit.analysis.dataset_checks import KINDS

    if checked.findings:
        print_table(None, ["kind", "level", "question", "count", "what"], [_row(group) for group in checked.groups()])
    counts = Counter(finding.kind for finding in checked.findings)
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) or "nothing found"
    difficulties = ", ".join(f"{count} {name}" for name, count in checked.difficulties.items())
    print_line(f"{counted(checked.questions, 'question')} ({difficulties}): {summary}")


def _row(group: list[Flaw]) -> list[object]:
    """Return the row of findings of one kind."""
    first, count = group[0], len(group)
    named = [finding.question for finding in group if finding.question is not None]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    what = f"{first.what} (the first of {count})" if first.where is not None and count > 1 else first.what
    return [first.kind, first.level, ", ".join(named[:NAMED]) + more if named else None, count, what]
