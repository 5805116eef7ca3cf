"""Somebody else's graph as the knowledge graph of a dataset."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.atomic import written
from graphkit.files.dataset import Dataset, storable_name
from graphkit.files.jsonl import create_binary, find_file, is_compressed
from graphkit.files.known_ids import gold_ids
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.imports.graph_files import Columns, GraphTable, edges_of_row, format_of, read_file
from graphkit.imports.graph_records import NO_PARTS, GraphOptions, GraphRecords, GraphTold
from graphkit.imports.names import IdPattern, Names, read_ids
from graphkit.records.graph_parts import GraphEdge, GraphNode
from graphkit.records.words import counted


@dataclass(frozen=True, slots=True)
class ImportedGraph:
    """A knowledge graph that was made of somebody else's graph.

    Attributes
    ----------
    artifacts_file, edges_file
        The files that were written.
    told
        What is worth knowing of it, a line each.
    figures
        The same for programs.
    """

    artifacts: int
    edges: int
    artifacts_file: Path
    edges_file: Path
    told: list[str] = field(repr=False)
    figures: dict[str, Any] = field(repr=False)


def import_graph(
    dataset: str | Path | Dataset,
    files: str | Path | Sequence[str | Path] = (),
    *,
    uri: str | None = None,
    query: str | None = None,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    graph: str = "",
    id_property: str | None = None,
    ids: str | Path | Mapping[str, str] | None = None,
    id_pattern: str | None = None,
    columns: Columns | None = None,
    relation: str | None = None,
    commits: Mapping[str, str] | None = None,
    replace: bool = False,
) -> ImportedGraph:
    """Write the artifacts and edges of a dataset from a graph in a database, or in files.

    Parameters
    ----------
    dataset
        Its folder, which needs no questions yet.
    files
        GraphML, node-link JSON, or tables of nodes and of edges.
    uri, query
        A database that speaks Bolt, and a query that returns nodes and relationships, paths, or plain columns. Nothing
        is written there, and an account that may only read will do.
    username, password, database
        Of that database; the password by default from ``GRAPHKIT_SOURCE_PASSWORD``.
    graph
        The name of the knowledge graph, where the dataset has several.
    id_property
        The property that names nodes; by default the first of those that usually do.
    ids, id_pattern
        The ids of those names: a table, or the file of one; and a pattern (see
        :class:`graphkit.imports.names.IdPattern`).
    columns
        Of plain rows, those that hold an edge's source, relation and target.
    relation
        The relation of edges that say none.
    commits
        Of a repository, the commit at which it was read, where nodes don't say it.
    replace
        Whether the files of such a knowledge graph are replaced.

    Raises
    ------
    InputError
        The dataset has such a knowledge graph already, the graph can't be read, or it has no edges.
    DatabaseError
        The database can't be reached, or refuses.
    """
    paths = [Path(file) for file in ([files] if isinstance(files, str | Path) else files)]
    _check_source(paths, uri, query)
    source = dataset if isinstance(dataset, Dataset) else Dataset(dataset, questions=False)
    targets = _targets(source, storable_name(graph, "the graph's name"), replace)
    for which, target in targets.items():
        # What stands there is the dataset's own graph, whatever form it has: whoever replaces it knows that.
        given = [*paths, *([Path(ids)] if isinstance(ids, str | Path) else [])]
        check_output(target, "artifacts" if which == "artifacts" else "edges", given, force=True)
    table = ids if isinstance(ids, Mapping) else read_ids(Path(ids)) if ids is not None else None
    pattern = IdPattern(id_pattern) if id_pattern is not None else None
    told = GraphTold()
    if uri is not None and query is not None:
        parts = _from_database(uri, query, (username, password, database), columns, told)
    else:
        parts = _from_files(paths, columns, told)
    steps, known = _gold(source, graph)
    # Only exactly: two nodes whose names differ in letter case alone are two artifacts.
    names = Names((), table, pattern)
    options = GraphOptions(id_property, relation, columns[1] if columns and not uri else None, commits or {})
    with (
        closing(parts),
        closing(GraphRecords(names, options, steps, known, told)) as records,
        written(targets["artifacts"]) as artifacts_path,
        written(targets["edges"]) as edges_path,
        create_binary(artifacts_path) as artifacts,
        create_binary(edges_path) as edges,
    ):
        streams = {"artifacts": artifacts, "edges": edges}
        for which, line in records.lines(parts, keys_are_names=uri is None):
            streams[which].write(line + b"\n")
    figures = {"files": {which: str(path) for which, path in targets.items()}, **told.as_json()}
    return ImportedGraph(told.artifacts, told.edges, targets["artifacts"], targets["edges"], told.lines(), figures)


Parts = Generator[GraphNode | GraphEdge, None, None]


def _check_source(paths: Sequence[Path], uri: str | None, query: str | None) -> None:
    if bool(paths) == (uri is not None):
        what = "a graph comes from a database or from files, not from both" if paths else "there is no graph to import"
        raise InputError(what, remedy="Name its files, or a database by --uri with a --query.")
    if uri is not None and query is None:
        remedy = 'Give it by --query, such as "MATCH (a)-[r]->(b) RETURN a, r, b".'
        raise InputError("a database is read by a query", where="--uri", remedy=remedy)
    if uri is None and query is not None:
        raise InputError("files aren't read by a query", where="--query", remedy="Name the database by --uri.")


def _targets(dataset: Dataset, graph: str, replace: bool) -> dict[str, Path]:
    """Return the files that are written: those of this graph that are there, else compressed as the questions are."""
    if "/" in graph:
        raise InputError("the name of a graph can't hold a slash", where="--graph", remedy="Give it another name.")
    ending = f"-{graph}" if graph else ""
    suffix = dataset.questions_file.suffix if is_compressed(dataset.questions_file) else ""
    targets: dict[str, Path] = {}
    for which in ("artifacts", "edges"):
        found = find_file(dataset.folder, f"{which}{ending}")
        if found is not None and not replace:
            remedy = "Replace it by --replace, or name another one beside it by --graph."
            raise InputError("the dataset has such a knowledge graph already", where=str(found), remedy=remedy)
        targets[which] = found or dataset.folder / f"{which}{ending}.jsonl{suffix}"
    return targets


def _gold(dataset: Dataset, graph: str) -> tuple[list[tuple[str, str | None, str]], set[str]]:
    """Return the gold of the questions that are about a graph: not of those whose stack has another of its own."""
    steps: list[tuple[str, str | None, str]] = []
    known: set[str] = set()
    others = dataset.graphs.keys() - {graph}
    for _, question in dataset.questions(Problems("skip")):
        if question.stack in others:
            continue
        known.update(gold_ids(question))
        steps += [(step.source, step.relation, step.target) for path in question.paths for step in path.steps]
    return steps, known


def _from_database(
    uri: str,
    query: str,
    login: tuple[str | None, str | None, str | None],
    columns: Columns | None,
    told: GraphTold,
) -> Parts:
    import os

    from graphkit.database.foreign import PASSWORD_VARIABLE, ForeignAccess, read_rows

    username, password, database = login
    access = ForeignAccess(uri, username, password or os.environ.get(PASSWORD_VARIABLE), database)

    def parts() -> Parts:
        rows = 0
        names: tuple[str, ...] = ()
        for row in read_rows(access, query):
            rows, names = rows + 1, tuple(row)
            empty = True
            for part in edges_of_row(row, columns):
                empty = False
                yield part
            if empty and any(value is not None for value in row.values()):
                told.leave_out(NO_PARTS, f"columns {', '.join(names)}")
        told.sources.append(f"{access.disk}: {counted(rows, 'row')} read")

    return parts()


def _from_files(paths: Sequence[Path], columns: Columns | None, told: GraphTold) -> Parts:
    formats = {path: format_of(path) for path in paths}
    tables = {path: GraphTable.opened(path, columns) for path, form in formats.items() if form == "CSV"}
    if columns is not None and len(tables) == len(paths) and not any(table.has_edges for table in tables.values()):
        held = [name for table in tables.values() for name in table.names]
        remedy = f"{did_you_mean(columns[0], held)}There are: {', '.join(held)}."
        raise InputError(f"no table has a column {columns[0]!r}", where="--columns", remedy=remedy)
    # Nodes before edges: what an edge calls a node by is known then.
    for path in sorted(paths, key=lambda one: one in tables and tables[one].has_edges):
        table = tables.get(path)
        what = formats[path] if table is None else "a table of edges" if table.has_edges else "a table of nodes"
        told.sources.append(f"{path.name}: read as {what}")
        yield from table.read() if table is not None else read_file(path, columns, told.unread, told.notes)
