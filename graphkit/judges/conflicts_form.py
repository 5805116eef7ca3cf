"""The grader ``conflicts``: which conflicts the answer resolves, where key terms didn't tell."""

from __future__ import annotations

from graphkit.judges.contract import Finding, Grader, Reading
from graphkit.judges.forms import VerdictForm, Words, each_once
from graphkit.judges.key_terms import BY_KEY_TERMS, by_terms, not_said, quoted
from graphkit.judges.materials import Materials
from graphkit.judges.prompts import PARTS
from graphkit.measures.completeness import NO_CONFLICTS, NO_RESOLUTION
from graphkit.records.words import counted


class ConflictVerdict(VerdictForm):
    """Whether the answer resolves a conflict, with the words that do."""

    conflict: Words
    resolved: bool
    quote: str | None


class ConflictsVerdict(VerdictForm):
    """Each conflict once."""

    conflicts: list[ConflictVerdict]


def _decidable(materials: Materials) -> list[str]:
    """Return the keys of the conflicts of which is known what is right: by their resolution, or the gold answer."""
    return [
        f"k{number}"
        for number, (_, resolution) in enumerate(materials.conflicts, 1)
        if resolution or materials.gold_answer is not None
    ]


def _resolved(materials: Materials) -> set[str]:
    there = by_terms([resolution for _, resolution in materials.conflicts], materials)
    return {f"k{number}" for number, found in enumerate(there, 1) if found}


def _lacks_conflicts(materials: Materials) -> str | None:
    if not materials.conflicts:
        return NO_CONFLICTS
    return None if _decidable(materials) else NO_RESOLUTION


def _settled_conflicts(materials: Materials) -> Reading | None:
    if not _resolved(materials).issuperset(_decidable(materials)):
        return None
    return Reading([Finding("JudgedConflictResolution", 1.0, explanation=BY_KEY_TERMS)])


def _read_conflicts(verdict: ConflictsVerdict, materials: Materials) -> Reading:
    each_once(
        [one.conflict for one in verdict.conflicts],
        [f"k{number}" for number in range(1, len(materials.conflicts) + 1)],
        "conflict",
    )
    decidable, found, notes = _decidable(materials), _resolved(materials), []
    for one in verdict.conflicts:
        if one.resolved and quoted(one.quote, materials.answer):
            found.add(one.conflict)
        elif one.resolved and one.conflict not in found:
            notes.append(not_said(one.conflict, one.quote))
    right = len(found.intersection(decidable))
    told = f"{right} of {counted(len(decidable), 'conflict')} resolved"
    return Reading([Finding("JudgedConflictResolution", right / len(decidable), explanation=told)], notes=tuple(notes))


CONFLICTS = Grader(
    "conflicts",
    ConflictsVerdict,
    PARTS[:5],
    ("JudgedConflictResolution",),
    _read_conflicts,
    lacks=_lacks_conflicts,
    settled=_settled_conflicts,
)
