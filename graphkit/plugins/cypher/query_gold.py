"""Questions with Cypher queries, from files of benchmarks or of one's own, become gold paths on a graph.

CypherBench has ``qid``, ``graph``, ``nl_question`` and ``gold_cypher``; Neo4j's text2cypher sets ``question``,
``cypher``, ``instance_id`` and ``database_reference_alias``. A file of one's own may use any of these names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.plugins.cypher.query_runs import QueryRunner
from graphkit.plugins.cypher.walked_dataset import WalkedDataset, given_dataset, walk_dataset
from graphkit.plugins.gold.datasets.question_rows import question_rows
from graphkit.records.models import Question

#: The names of each field, the first that a row has counts.
_CYPHER = ("gold_cypher", "cypher", "cypher_query", "gold_query", "query")
_QUESTION = ("nl_question", "question", "nl_question_raw")
_ID = ("qid", "instance_id", "id", "question_id")
_GRAPH = ("graph", "database_reference_alias", "database_reference", "database")


@dataclass(frozen=True)
class QueryRow:
    """A question with its query.

    Attributes
    ----------
    graph
        The graph that it is asked of, if the file says so.
    """

    question: Question
    graph: str | None


def query_rows(path: Path) -> Iterator[QueryRow]:
    """Yield the questions of a file: JSON Lines, a JSON list, or a table.

    Raises
    ------
    InputError
        The file can't be read, or a row has no question or no query.
    """
    taken: set[str] = set()
    for place, (where, row) in enumerate(question_rows(path, Problems()), 1):
        text, queries = _of(row, _QUESTION), _queries(row)
        for value, names in ((text, _QUESTION), (queries, _CYPHER)):
            if not value:
                what = f"the row has none of {', '.join(names)}"
                raise InputError(what, where=where, remedy="Give each row a question and a Cypher query.")
        name = _of(row, _ID) or f"q{place}"
        if name in taken:
            name = f"{name}-{place}"
        taken.add(name)
        graph = _of(row, _GRAPH)
        yield QueryRow(Question(id=name, question=text or "", gold_cypher=queries, category=graph), graph)


def _queries(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the query of a row, or its alternatives."""
    found = (row[name] for name in _CYPHER if name in row)
    lists = ([one] if isinstance(one, str) else one if isinstance(one, list) else [] for one in found)
    texts = (tuple(one for one in some if isinstance(one, str) and one.strip()) for some in lists)
    return next((one for one in texts if one), ())


def _of(row: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of some fields that holds a text or a number."""
    found = (row[name] for name in names if name in row)
    return next((str(one) for one in found if isinstance(one, str | int) and str(one).strip()), None)


def gold_from_cypher(
    path: Path,
    runner: QueryRunner,
    out: Path,
    *,
    of_graph: str | None = None,
    replace_folder: bool = False,
    source: Dataset | None = None,
    progress: Any = lambda _kind, _count: None,
) -> WalkedDataset:
    """Write a dataset whose gold paths are what the queries of a file match.

    Parameters
    ----------
    of_graph
        Only the questions that the file says are of this graph.
    source
        The dataset whose graph is asked; its files are copied.

    Raises
    ------
    InputError
        The file can't be used, or the folder is in use.
    DatabaseError
        The server can't be reached.
    """
    rows = [*query_rows(path)]
    if not rows:
        remedy = f"Give each question a row with a text ({_QUESTION[1]}) and its query ({_CYPHER[1]})."
        raise InputError("the file has no question with a query", where=str(path), remedy=remedy)
    graphs = sorted({row.graph for row in rows if row.graph is not None})
    if of_graph is not None:
        rows = [row for row in rows if row.graph == of_graph]
        if not rows:
            raise InputError(
                f"no question is of the graph {of_graph!r}",
                where=str(path),
                remedy=f"It has: {', '.join(graphs)}." if graphs else "Leave out --only: the file names no graph.",
            )
    elif len(graphs) > 1:
        raise InputError(
            f"its questions are of {len(graphs)} graphs, and one is asked",
            where=str(path),
            remedy=f"Name it by --only; there are: {', '.join(graphs)}.",
        )
    questions = [row.question for row in rows]
    given = given_dataset(source, [], out, questions=questions, replace_folder=replace_folder)
    return walk_dataset(given, runner, progress=progress)
