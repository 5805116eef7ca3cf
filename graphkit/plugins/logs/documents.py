"""Documents that a search found, with the edges that they are, begin with or hold in metadata, and rows of Cypher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.plugins.logs.graph_values import Gathered, query_record
from graphkit.plugins.logs.logged_rankings import Ranking
from graphkit.plugins.logs.reprs import printed
from graphkit.plugins.logs.triples import JOINED_EDGES, SplitText, edges_in, facts_in, relations_in, split_own_preambles
from graphkit.readers.json_values import text
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, ReadOptions

#: The beginning of a text that holds a query and its rows as LlamaIndex prints them, and what separates the two.
CYPHER = "Generated Cypher query:"
_ROWS_BELOW = "Cypher Response:"
_LONGEST_ROWS = 1_000_000


@dataclass(slots=True)
class Document:
    """A document that a search found.

    Attributes
    ----------
    chunk
        The document; None if it is edges or rows alone.
    is_named
        Whether the chunk has its own name; otherwise its edges represent it.
    beside
        The edges in its metadata; None if they have no place for them.
    paths
        The edges of the paths that it holds; None if it has no place for them.
    rows
        The content of the rows of Cypher that it is.
    """

    chunk: LoggedChunk | None
    split: SplitText
    score: float | None = None
    is_named: bool = True
    beside: list[LoggedEdge] | None = None
    paths: list[LoggedEdge] | None = None
    rows: LoggedAnswer | None = None


def ranked_documents(
    documents: Sequence[Document], relations: set[str], notes: set[str]
) -> tuple[Ranking, list[LoggedEdge] | None]:
    """Return the ranking of documents and their edges, None if nothing has a place for edges.

    Parameters
    ----------
    relations
        The relations that the file was seen to have; those of the documents are added.
    notes
        Doubts, which are added to.
    """
    texts = [one.split for one in documents if one.rows is None and one.chunk is not None]
    split_own_preambles([one for one in texts if one.text and not one.parts], notes)
    for one in documents:
        if one.chunk is not None and not one.split.parts and (facts := facts_in(one.split.text or "")) is not None:
            one.chunk.values = tuple(facts[0])
            one.beside = [*(one.beside or ()), *facts[1]]
            notes.add(JOINED_EDGES)
    relations |= relations_in([one.split for one in documents])
    ranking = Ranking()
    edges: list[LoggedEdge] | None = None
    for one in documents:
        if one.rows is not None:
            ranking.several(one.rows.retrieved or (), one.score)
            notes.update(one.rows.notes)
            held = None if one.rows.traversal is None else [edge for path in one.rows.traversal for edge in path]
        else:
            triples = [*edges_in(one.split, relations, notes), *(one.paths or ())]
            beside = one.beside or []
            _rank(one, triples, beside, ranking)
            has_place = triples or one.beside is not None or one.paths is not None
            held = [*triples, *beside] if has_place else None
        edges = edges if held is None else [*(edges or ()), *held]
    return ranking, edges


def _rank(one: Document, triples: list[LoggedEdge], beside: list[LoggedEdge], ranking: Ranking) -> None:
    if one.chunk is not None:
        one.chunk.text = one.split.text
    if one.split.alone:
        ranking.item(None, triples, one.score)
        ranking.beside(chunk=one.chunk)
    elif not one.is_named and (triples or beside):
        ranking.item(None, triples or beside, one.score)
    else:
        ranking.item(one.chunk, triples, one.score)
    ranking.beside(beside)


def rows_in(content: str) -> tuple[str | None, list[Any] | None]:
    """Return the query and the rows of a text; None if they hold more than plain values.

    >>> rows_in("Generated Cypher query:\\nMATCH (n) RETURN n.id AS id\\n\\nCypher Response:\\n[{'id': 'a'}]")
    ('MATCH (n) RETURN n.id AS id', [{'id': 'a'}])
    """
    asked, below, gave = content.partition(_ROWS_BELOW)
    rows = printed(gave if below else content, _LONGEST_ROWS)
    return text(asked.removeprefix(CYPHER).strip()) if below else None, rows if isinstance(rows, list) else None


def content_of_rows(rows: list[Any], query: str | None, options: ReadOptions) -> LoggedAnswer:
    """Return the content of the rows of a query: retrieved names, edges, and doubts about them."""
    gathered, found = Gathered(options, query=query, asked=True), LoggedAnswer("")
    if query:
        gathered.queries.append(query_record(query, rows))
    for row in rows:
        if isinstance(row, Mapping):
            gathered.row(row)
        else:
            gathered.nameless()
    gathered.add_to(found)
    if found.retrieved and found.values:
        last = found.retrieved[-1]
        last.values = (*last.values, *found.values)
    return found
