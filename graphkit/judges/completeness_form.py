"""The grader ``completeness``: which facts the answer addresses, where key terms didn't tell."""

from __future__ import annotations

from graphkit.judges.contract import Finding, Grader, Reading
from graphkit.judges.forms import VerdictForm, Words, each_once
from graphkit.judges.key_terms import BY_KEY_TERMS, by_terms, not_said, quoted
from graphkit.judges.materials import Materials
from graphkit.judges.prompts import PARTS
from graphkit.measures.completeness import NO_FACTS
from graphkit.records.words import counted


class FactVerdict(VerdictForm):
    """Whether the answer addresses a fact, with the words that do."""

    fact: Words
    addressed: bool
    quote: str | None


class CompletenessVerdict(VerdictForm):
    """Each fact once."""

    facts: list[FactVerdict]


def _lacks_facts(materials: Materials) -> str | None:
    return None if materials.facts else NO_FACTS


def _settled_facts(materials: Materials) -> Reading | None:
    if not all(by_terms(materials.facts, materials)):
        return None
    return Reading([Finding("JudgedCompleteness", 1.0, explanation=BY_KEY_TERMS)])


def _read_completeness(verdict: CompletenessVerdict, materials: Materials) -> Reading:
    keys = [f"f{number}" for number in range(1, len(materials.facts) + 1)]
    each_once([one.fact for one in verdict.facts], keys, "fact")
    found = {key for key, there in zip(keys, by_terms(materials.facts, materials), strict=True) if there}
    notes = []
    for one in verdict.facts:
        if one.addressed and quoted(one.quote, materials.answer):
            found.add(one.fact)
        elif one.addressed and one.fact not in found:
            notes.append(not_said(one.fact, one.quote))
    told = f"{len(found)} of {counted(len(keys), 'fact')} addressed"
    return Reading([Finding("JudgedCompleteness", len(found) / len(keys), explanation=told)], notes=tuple(notes))


COMPLETENESS = Grader(
    "completeness",
    CompletenessVerdict,
    PARTS[:5],
    ("JudgedCompleteness",),
    _read_completeness,
    lacks=_lacks_facts,
    settled=_settled_facts,
)
