"""The grader ``integration``: which chunks the answer uses, where their identifiers didn't tell."""

from __future__ import annotations

from graphkit.judges.contract import Finding, Grader, Reading
from graphkit.judges.forms import VerdictForm, Words, each_once
from graphkit.judges.key_terms import BY_KEY_TERMS, not_said, quoted
from graphkit.judges.materials import Materials
from graphkit.judges.prompts import PARTS
from graphkit.measures.integration import NO_SOURCE, sources_expected, used_sources
from graphkit.records.words import counted


class Use(VerdictForm):
    """Whether the answer uses a chunk, with the words that do."""

    chunk: Words
    used: bool
    quote: str | None


class IntegrationVerdict(VerdictForm):
    """Each chunk once."""

    chunks: list[Use]


def _found_sources(materials: Materials) -> set[str]:
    return used_sources(materials.case) if materials.case is not None else set()


def _expected_sources(materials: Materials) -> int:
    return sources_expected(materials.case) if materials.case is not None else 0


def _lacks_sources(materials: Materials) -> str | None:
    return None if _expected_sources(materials) else NO_SOURCE


def _settled_sources(materials: Materials) -> Reading | None:
    found, expected = _found_sources(materials), _expected_sources(materials)
    if len(found) < expected and materials.chunks:
        return None
    if len(found) < expected and materials.incomplete:
        return Reading([Finding("JudgedIntegration", None, materials.unseen)])
    return Reading([Finding("JudgedIntegration", min(len(found) / expected, 1.0), explanation=BY_KEY_TERMS)])


def _read_integration(verdict: IntegrationVerdict, materials: Materials) -> Reading:
    by_key = materials.chunk_by_key
    each_once([one.chunk for one in verdict.chunks], list(by_key), "chunk")
    used, notes = _found_sources(materials), []
    for one in verdict.chunks:
        if one.used and quoted(one.quote, materials.answer):
            used.add(by_key[one.chunk].source)
        elif one.used:
            notes.append(not_said(one.chunk, one.quote))
    expected = _expected_sources(materials)
    if len(used) < expected and materials.incomplete:
        return Reading([Finding("JudgedIntegration", None, materials.unseen)], notes=tuple(notes))
    told = f"{len(used)} of {counted(expected, 'expected source')} used"
    finding = Finding("JudgedIntegration", min(len(used) / expected, 1.0), explanation=told)
    return Reading([finding], notes=tuple(notes))


INTEGRATION = Grader(
    "integration",
    IntegrationVerdict,
    PARTS,
    ("JudgedIntegration",),
    _read_integration,
    lacks=_lacks_sources,
    settled=_settled_sources,
)
