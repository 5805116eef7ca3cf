"""``graphkit check``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from graphkit.analysis.dataset_checks import KINDS, Checked, check_dataset
from graphkit.cli.base import as_json, print_json, print_line
from graphkit.cli.tables import print_table
from graphkit.errors import GateError
from graphkit.files.dataset import Dataset


def check_command(dataset: Path, baseline: Path | None, strict: bool) -> None:
    """Check the questions, show what was found, and hold the gate."""
    checked = check_dataset(Dataset(dataset), baseline)
    if as_json():
        print_json(
            {
                "questions": checked.questions,
                "difficulties": checked.difficulties,
                "invalid": checked.invalid(),
                "findings": [finding.as_json() for finding in checked.findings],
            }
        )
    else:
        _show(checked)
    levels = Counter(finding.level for finding in checked.findings)
    if levels["invalid"] or (strict and levels["warning"]):
        raise GateError(
            f"check failed: {levels['invalid']} finding(s) make a question invalid, {levels['warning']} warning(s)"
        )


def _show(checked: Checked) -> None:
    if checked.findings:
        rows = [[one.kind, one.level, one.question, one.what] for one in checked.findings]
        print_table(None, ["kind", "level", "question", "what"], rows)
    counts = Counter(finding.kind for finding in checked.findings)
    found = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) or "nothing found"
    spread = ", ".join(f"{count} {name}" for name, count in checked.difficulties.items())
    print_line(f"{checked.questions} questions ({spread}): {found}")
