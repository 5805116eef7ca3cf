"""Graders that ask about what key terms didn't find: ``completeness``, ``conflicts`` and ``integration``.

What key terms find stays found. What a judge finds counts if the words that it quotes occur in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphkit.measures.completeness import NO_CONFLICTS, NO_FACTS, NO_RESOLUTION, addressed, symbols_of
from graphkit.measures.integration import NO_SOURCE, sources_expected, used_sources
from graphkit.plugins.judging.judges.contract import Finding, Grader, Reading
from graphkit.plugins.judging.judges.forms import VerdictForm, Words, each_once, occurs
from graphkit.plugins.judging.judges.materials import Materials
from graphkit.plugins.judging.judges.prompts import PARTS
from graphkit.records.words import counted, shortened

BY_KEY_TERMS = "found by key terms; no judge was asked"


def by_terms(texts: Sequence[str], materials: Materials) -> list[bool]:
    """Return for each text whether the answer has its key terms."""
    names = symbols_of(materials.case) if materials.case is not None else frozenset()
    return [bool(text) and addressed(text, materials.answer, names=names) for text in texts]


def _add_quoted(verdicts: Iterable[tuple[str, bool, str | None]], found: set[str], answer: str) -> tuple[str, ...]:
    """Add each key whose quote occurs in the answer to ``found``, and return a note for each quote that doesn't."""
    notes = []
    for key, yes, quote in verdicts:
        if yes and quote is not None and occurs(quote, answer):
            found.add(key)
        elif yes and key not in found:
            missing = f"the answer has no words {shortened(quote)!r}" if quote else "no words of the answer are quoted"
            notes.append(f"{key}: {missing}")
    return tuple(notes)


def _keys(letter: str, items: Sequence[object]) -> list[str]:
    return [f"{letter}{number}" for number in range(1, len(items) + 1)]


def _all_found(measure: str) -> Reading:
    return Reading([Finding(measure, 1.0, explanation=BY_KEY_TERMS)])


# completeness --------------------------------------------------------------------------------------------------------


class FactVerdict(VerdictForm):
    """Whether the answer addresses a fact, with the words that do."""

    fact: Words
    addressed: bool
    quote: str | None


class CompletenessVerdict(VerdictForm):
    """Each fact once."""

    facts: list[FactVerdict]


def _read_completeness(verdict: CompletenessVerdict, materials: Materials) -> Reading:
    keys = _keys("f", materials.facts)
    each_once([one.fact for one in verdict.facts], keys, "fact")
    found = {key for key, there in zip(keys, by_terms(materials.facts, materials), strict=True) if there}
    notes = _add_quoted(((one.fact, one.addressed, one.quote) for one in verdict.facts), found, materials.answer)
    explanation = f"{len(found)} of {counted(len(keys), 'fact')} addressed"
    return Reading([Finding("JudgedCompleteness", len(found) / len(keys), explanation=explanation)], notes=notes)


COMPLETENESS = Grader(
    "completeness",
    CompletenessVerdict,
    PARTS[:5],
    ("JudgedCompleteness",),
    _read_completeness,
    lacks=lambda materials: None if materials.facts else NO_FACTS,
    unasked=lambda materials: _all_found("JudgedCompleteness") if all(by_terms(materials.facts, materials)) else None,
)


# conflicts -----------------------------------------------------------------------------------------------------------


class ConflictVerdict(VerdictForm):
    """Whether the answer resolves a conflict, with the words that do."""

    conflict: Words
    resolved: bool
    quote: str | None


class ConflictsVerdict(VerdictForm):
    """Each conflict once."""

    conflicts: list[ConflictVerdict]


def _decidable(materials: Materials) -> set[str]:
    """Return the keys of the conflicts whose right side is known, by their resolution or the gold answer."""
    keys = _keys("k", materials.conflicts)
    return {
        key
        for key, (_, resolution) in zip(keys, materials.conflicts, strict=True)
        if resolution or materials.gold_answer is not None
    }


def _resolved(materials: Materials) -> set[str]:
    found = by_terms([resolution for _, resolution in materials.conflicts], materials)
    return {key for key, there in zip(_keys("k", materials.conflicts), found, strict=True) if there}


def _lacks_conflicts(materials: Materials) -> str | None:
    if not materials.conflicts:
        return NO_CONFLICTS
    return None if _decidable(materials) else NO_RESOLUTION


def _read_conflicts(verdict: ConflictsVerdict, materials: Materials) -> Reading:
    each_once([one.conflict for one in verdict.conflicts], _keys("k", materials.conflicts), "conflict")
    decidable, found = _decidable(materials), _resolved(materials)
    verdicts = ((one.conflict, one.resolved, one.quote) for one in verdict.conflicts)
    notes = _add_quoted(verdicts, found, materials.answer)
    right = len(found & decidable)
    explanation = f"{right} of {counted(len(decidable), 'conflict')} resolved"
    return Reading([Finding("JudgedConflictResolution", right / len(decidable), explanation=explanation)], notes=notes)


CONFLICTS = Grader(
    "conflicts",
    ConflictsVerdict,
    PARTS[:5],
    ("JudgedConflictResolution",),
    _read_conflicts,
    lacks=_lacks_conflicts,
    unasked=lambda materials: (
        _all_found("JudgedConflictResolution") if _resolved(materials) >= _decidable(materials) else None
    ),
)


# integration ---------------------------------------------------------------------------------------------------------


class Use(VerdictForm):
    """Whether the answer uses a chunk, with the words that do."""

    chunk: Words
    used: bool
    quote: str | None


class IntegrationVerdict(VerdictForm):
    """Each chunk once."""

    chunks: list[Use]


def _sources(materials: Materials) -> tuple[set[str], int]:
    """Return the sources whose identifiers the answer names, and how many are expected."""
    case = materials.case
    return (used_sources(case), sources_expected(case)) if case is not None else (set(), 0)


def _integration_unasked(materials: Materials) -> Reading | None:
    found, expected = _sources(materials)
    if len(found) < expected and materials.chunks:
        return None
    if len(found) < expected and materials.incomplete:
        return Reading([Finding("JudgedIntegration", None, materials.unseen)])
    return Reading([Finding("JudgedIntegration", min(len(found) / expected, 1.0), explanation=BY_KEY_TERMS)])


def _read_integration(verdict: IntegrationVerdict, materials: Materials) -> Reading:
    by_key, quoted = materials.chunk_by_key, set[str]()
    each_once([one.chunk for one in verdict.chunks], list(by_key), "chunk")
    notes = _add_quoted(((one.chunk, one.used, one.quote) for one in verdict.chunks), quoted, materials.answer)
    used, expected = _sources(materials)
    used |= {by_key[key].source for key in quoted}
    if len(used) < expected and materials.incomplete:
        return Reading([Finding("JudgedIntegration", None, materials.unseen)], notes=notes)
    explanation = f"{len(used)} of {counted(expected, 'expected source')} used"
    share = min(len(used) / expected, 1.0)
    return Reading([Finding("JudgedIntegration", share, explanation=explanation)], notes=notes)


INTEGRATION = Grader(
    "integration",
    IntegrationVerdict,
    PARTS,
    ("JudgedIntegration",),
    _read_integration,
    lacks=lambda materials: None if _sources(materials)[1] else NO_SOURCE,
    unasked=_integration_unasked,
)
