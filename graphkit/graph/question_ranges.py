"""Reading by ranges of questions: what a database holds at once doesn't grow with the number of questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphkit.database.store import Store
from graphkit.database.values import Row
from graphkit.graph.knowledge import question_ids
from graphkit.graph.queries import cypher
from graphkit.graph.writing import batched

#: Questions of a range. Larger ones need more of the server's memory.
RANGE = 2000


def question_ranges(store: Store, dataset: str) -> Iterator[list[str]]:
    """Yield the ids of the questions of a dataset, in order, in lists of at most ``RANGE``."""
    return batched(sorted(question_ids(store, dataset)), RANGE)


def read_questions(
    store: Store, query: str, questions: Sequence[str], parameters: Mapping[str, object] | None = None
) -> Iterator[Row]:
    """Yield the rows of an internal query with the parameter ``questions``, range by range."""
    for few in batched(questions, RANGE):
        yield from store.read(cypher(query), {**(parameters or {}), "questions": few})
