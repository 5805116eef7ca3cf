"""What a run did wrong, by the named queries, and the runs and questions that may be asked about."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphkit.database.store import Store
from graphkit.errors import InputError
from graphkit.graph.knowledge import require_question, require_run
from graphkit.graph.queries import NO_LIMIT, named_query


class Failures(list[dict[str, object]]):
    """The rows of a kind of failure.

    Attributes
    ----------
    total
        How many rows there are, of which a limit may have left some out.
    """

    def __init__(self, rows: Iterable[dict[str, object]], total: int) -> None:
        super().__init__(rows)
        self.total = total


def failures(
    store: Store,
    run: str,
    kind: str,
    *,
    question: str | None = None,
    limit: int | None = None,
    other: str | None = None,
) -> Failures:
    """Return what a run did wrong in one way, such as ``"wrong-turns"``: the rows of the named query.

    Parameters
    ----------
    kind
        The name of a query; ``graphkit queries`` lists them.
    limit
        Return only the first so many rows; by default all of them. ``.total`` of the result counts all in either case.
    other
        The run to compare with, for ``"found-and-lost"``.

    Raises
    ------
    InputError
        The kind, the run or the question isn't known, or the limit is negative.
    """
    if limit is not None and limit < 0:
        raise InputError(f"the limit is {limit}", where="limit", remedy="Give at least 0, or None for all rows.")
    query = named_query(kind)
    require_run(store, run)
    given: dict[str, object] = {"run": run, "question": question, "limit": NO_LIMIT}
    if query.takes("other"):
        if other is None:
            raise InputError(f"{query.name} compares with another run", remedy="Name it by --other RUN.")
        require_run(store, other)
        given["other"] = other
    if question is not None:
        require_question(store, question)
    # Counting in a second query would cost more than reading the rows: they are sorted anyway.
    rows = store.read(query.text, query.bind(given))
    return Failures(rows[:limit], len(rows))


def run_source(store: Store, run: str) -> tuple[Path, Path]:
    """Return the file that a run of the graph was loaded from, and the folder of its dataset.

    Raises
    ------
    InputError
        The run isn't known, its file is gone, or what it was loaded from has changed.
    """
    from graphkit.graph.queries import cypher
    from graphkit.graph.runs import questions_of, run_digest

    known = require_run(store, run)
    if not known["file"] and not known["origin"]:
        raise InputError(
            f"the graph doesn't know the file of the run {run!r}",
            remedy="Name the file; or `graphkit evaluate` it again, which notes where it is.",
        )
    if not known["file"]:
        raise InputError(
            f"the run {run!r} was loaded from {known['origin']}, which is no run's file",
            remedy="Name such a file: `graphkit import` makes one of a log.",
        )
    file, dataset = Path(known["file"]), str(known["dataset"])
    if not file.is_file():
        raise InputError(
            f"the file that the run {run!r} was loaded from is gone",
            where=str(file),
            remedy="Put it back, or name the file where it is now.",
        )
    if run_digest(file, questions_of(store, dataset)) != known["digest"]:
        raise InputError(
            f"the run {run!r} is no longer what was loaded: this file, or which questions its dataset has, has changed",
            where=str(file),
            remedy=f"`graphkit evaluate {file}` loads it anew; or name the file, to take it as it is now.",
        )
    [folder] = [row["folder"] for row in store.read(cypher("read/datasets")) if row["name"] == dataset]
    return file, Path(str(folder))
