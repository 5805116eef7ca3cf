"""The failures of a run: the rows of a named query."""

from __future__ import annotations

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.known_names import kept_in_words, require_kept, require_question, require_run
from graphkit.graph.queries import NO_LIMIT, failure_query
from graphkit.records.failed_rows import Failures


def failures(
    store: Store,
    run: str,
    kind: str,
    *,
    question: str | None = None,
    limit: int | None = None,
    other: str | None = None,
) -> Failures:
    """Return the failures of a run of one kind, such as ``"wrong-turns"``: the rows of the named query.

    Parameters
    ----------
    kind
        The name of a query; ``graphkit queries`` lists them.
    limit
        The number of rows to return; all of them by default. ``.total`` of the result counts all rows.
    other
        The run to compare with, for ``"found-and-lost"``.

    Raises
    ------
    InputError
        The kind, the run or the question is unknown, or the limit is negative.
    """
    if limit is not None and limit < 0:
        raise InputError(f"the limit is {limit}", where="limit", remedy="Give at least 0, or None for all rows.")
    query = failure_query(kind)
    known = require_run(store, run)
    dataset = str(known["dataset"])
    given: dict[str, object] = {"run": run, "question": question, "limit": NO_LIMIT}
    if query.takes("other"):
        if other is None:
            raise InputError(f"{query.name} compares with another run", remedy="Name it by --other RUN.")
        if (theirs := str(require_run(store, other)["dataset"])) != dataset:
            raise InputError(
                f"the runs answer different questions: {run} is of the dataset {dataset!r}, {other} of {theirs!r}",
                remedy="Compare runs over the same dataset.",
            )
        given["other"] = other
    if question is not None:
        require_question(store, question, dataset)
        require_kept(store, known, question)
    # Reading all rows is cheaper than counting them in a second query: the server sorts them anyway.
    rows = store.read(query.text, query.bind(given))
    return Failures(rows[:limit], len(rows), query.name, run, kept_in_words(known))
