"""Retrieved contexts as evaluations hold them: texts, or objects of a text and perhaps an id."""

from __future__ import annotations

from typing import Any

from graphkit.plugins.logs.payloads import json_within
from graphkit.readers.json_values import identifier, number, text
from graphkit.readers.logged import LoggedChunk
from graphkit.records.ids import id_of_text

#: The keys of contexts, in lower case and without signs.
CONTEXT_KEYS = (
    *("retrievedcontexts", "retrievalcontext", "contexts", "context"),
    *("retrieveddocuments", "retrieved", "documents", "sources", "chunks", "passages"),
)

_IDS, _TEXTS = ("id", "chunk_id", "doc_id", "document_id", "node_id"), ("text", "content", "page_content", "context")

UNNAMED = "contexts have no ids: each is named by a digest of its text, as graphkit ragas import names gold contexts"


def chunks_of(value: Any, notes: list[str]) -> list[LoggedChunk] | None:
    """Return the contexts in a list, or the one in a text; None if a part of them is neither."""
    value = json_within(value)
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list):
        return None
    found = []
    for one in given:
        words = one if isinstance(one, str) else None
        name = score = None
        if isinstance(one, dict):
            words = next((held for key in _TEXTS if (held := text(one.get(key))) is not None), None)
            name = next((held for key in _IDS if (held := identifier(one.get(key))) is not None), None)
            score = number(one.get("score"))
        if words is not None:
            words = words.encode(errors="replace").decode()
        if name is None and not words:
            if words == "":
                continue
            return None
        if name is None and UNNAMED not in notes:
            notes.append(UNNAMED)
        found.append(LoggedChunk(name if name is not None else id_of_text(words or ""), words, score))
    return found
