"""The findings of the check of a dataset, one line for equal ones."""

from __future__ import annotations

from collections import Counter

from graphkit.analysis.findings import NAMED, Brief, BriefLine, listed
from graphkit.errors import one_line
from graphkit.plugins.gold.datasets.dataset_checks import KINDS, Checked, Flaw
from graphkit.records.words import counted


def check_brief(checked: Checked) -> Brief:
    """Return what to print of a check; findings that make a question invalid come first where there is no room."""
    findings = tuple(_finding(group) for group in checked.groups())
    return Brief(check_summary(checked), None, findings)


def check_summary(checked: Checked) -> str:
    """Return how many questions there are, and how many findings of each kind."""
    counts = Counter(finding.kind for finding in checked.findings)
    summary = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) or "nothing found"
    difficulties = ", ".join(f"{count} {name}" for name, count in checked.difficulties.items())
    return f"{counted(checked.questions, 'question')} ({difficulties}): {summary}"


def _finding(group: list[Flaw]) -> BriefLine:
    first, count = group[0], len(group)
    named = [flaw.question for flaw in group if flaw.question is not None]
    about = f"{listed(named, NAMED)}: " if named else ""
    what = f"{first.what} (the first of {count})" if first.where is not None and count > 1 else first.what
    weight = {"invalid": 90, "warning": 50, "note": 10}[first.level]
    return BriefLine(first.level, one_line(f"{first.kind}: {about}{what}"), weight)
