"""Whether a citation is right, against a second implementation that was written from docs/judging.md alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

from graphkit.plugins.judging.judges.claims import CLAIMS
from tests.helpers.judging import materials, read, values

CHUNKS = {"x:a.py": "alpha runs first", "x:b.py": "beta runs second"}
WALK = [("x:a.py", "CALLS", "x:b.py")]
QUOTES = {"c1": "alpha runs", "c2": "beta runs"}
MARKS = {"c1": "[x:a.py]", "c2": "[x:b.py]", "none": "[x:c.py]"}


class Said(NamedTuple):
    """A judge's statement on one claim: whether each chunk is evidence, and of which sort."""

    first: str | None
    second: str | None
    together: bool
    edge: str | None
    support: str
    cited: tuple[str, ...]

    @property
    def evidence(self) -> dict[str, str]:
        """The sort of evidence by chunk."""
        return {chunk: sort for chunk, sort in (("c1", self.first), ("c2", self.second)) if sort is not None}


def every_case() -> Iterator[Said]:
    """Yield every small case: both chunks, the edge, and what the sentence cites."""
    sorts = (None, "alone", "part", "alone, made up", "part, made up")
    cited = ((), ("c1",), ("c2",), ("c1", "c2"), ("none",), ("c1", "none"))
    supports = ("DIRECT", "UNSUPPORTED")
    yield from (Said(*one) for one in product(sorts, sorts, (True, False), (None, "e1", "e9"), supports, cited))


def by_graphkit(said: Said) -> dict[str, float | None]:
    """Return what graphkit makes of it."""
    evidence: list[dict[str, Any]] = [
        {
            "chunk": chunk,
            "quote": "nowhere" if sort.endswith("made up") else QUOTES[chunk],
            "alone": sort.startswith("alone"),
        }
        for chunk, sort in said.evidence.items()
    ]
    claim = {"text": "x", "sentence": "s1", "hedged": False, "support": said.support, "evidence": evidence}
    claim |= {"together": said.together, "edge": said.edge, "gold": None}
    answer = f"Alpha runs before beta {' '.join(MARKS[one] for one in said.cited)}."
    reading = read(CLAIMS, materials(answer, CHUNKS, WALK), {"claims": [claim], "gold_claims": []})
    return values(reading.findings)


def by_document(said: Said) -> dict[str, float | None]:
    """Return what the document says, in its words.

    What is called unsupported has no evidence. A quote that doesn't occur counts for nothing, and where one of those
    that are enough only together doesn't occur, none of these counts. An edge that wasn't walked is none.
    """
    evidence = said.evidence if said.support != "UNSUPPORTED" else {}
    edge = said.edge == "e1"
    alone = {chunk for chunk, sort in evidence.items() if sort == "alone"}
    whole = "part, made up" not in evidence.values()
    parts = {chunk for chunk, sort in evidence.items() if sort == "part" and whole}
    supported = edge or bool(alone) or "part" in evidence.values()

    def by_citations(cited: set[str]) -> bool:
        return bool(alone & cited) or (said.together and bool(parts) and parts <= cited)

    right = alone | (parts if said.together or edge else set())
    cited = set(said.cited)
    needed = sum(by_citations({one}) or (by_citations(cited) and not by_citations(cited - {one})) for one in cited)
    return {
        "Groundedness": float(supported),
        "Attribution": len(cited & right) / len(cited) if cited else None,
        "CitationRecall": float(by_citations(cited)),
        "CitationPrecision": needed / len(cited) if cited else None,
    }


def test_every_small_case_is_what_the_document_says() -> None:
    """In 1,800 cases of one claim, two chunks and an edge, four measures are those of the document."""
    unequal = []
    cases = list(every_case())
    for said in cases:
        found, expected = by_graphkit(said), by_document(said)
        if {name: found[name] for name in expected} != expected:
            unequal.append((said, found, expected))
    assert (len(cases), unequal) == (1800, [])


def test_evidence_that_needs_its_edge_makes_a_citation_right() -> None:
    """The quote says that alpha runs, the edge that it calls beta: the citation is right, and not enough by itself."""
    said = Said("part", None, together=False, edge="e1", support="DIRECT", cited=("c1",))
    found = by_graphkit(said)
    assert (found["Groundedness"], found["Attribution"]) == (1.0, 1.0)
    assert (found["CitationRecall"], found["CitationPrecision"]) == (0.0, 0.0)
    # Without the edge nothing says that the quote is enough, so the citation is wrong.
    assert by_graphkit(said._replace(edge=None))["Attribution"] == 0.0
