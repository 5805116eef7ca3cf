"""Converts a graph in a database or in files to the knowledge graph of a dataset."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.errors import InputError, did_you_mean
from graphkit.files.assets import refuse_bundled
from graphkit.files.atomic import together, written
from graphkit.files.dataset import Dataset, storable_name
from graphkit.files.dataset_settings import set_repositories
from graphkit.files.jsonl import create_binary, find_file, is_compressed
from graphkit.files.known_ids import gold_ids
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problems
from graphkit.imports.importer import paths_of
from graphkit.imports.names import Names, id_sources
from graphkit.plugins.graphs.graph_files import Columns, GraphTable, edges_of_row, format_of, read_file
from graphkit.plugins.graphs.graph_records import NO_PARTS, GraphOptions, GraphRecords
from graphkit.plugins.graphs.graph_report import GraphReport
from graphkit.plugins.graphs.merged_graphs import MergedGraph
from graphkit.plugins.graphs.repository_sources import RepositorySource
from graphkit.records.graph_parts import GraphEdge, GraphNode
from graphkit.records.words import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphImportOptions:
    """Options of :func:`import_graph`.

    Attributes
    ----------
    uri, query
        A database that speaks Bolt, and a query that returns nodes and relationships, paths, or plain columns. Nothing
        is written there, so a read-only account suffices.
    username, password, database
        The login of that database. The default password is that of ``GRAPHKIT_SOURCE_PASSWORD``.
    graph
        The name of the knowledge graph, for a dataset with several.
    id_property
        The property that names nodes. By default, the first property with a usual name.
    ids, id_pattern
        The ids of these names: a table or its file, and a pattern (see :class:`graphkit.imports.names.IdPattern`).
    columns
        The columns of plain rows that hold an edge's source, relation and target.
    relation
        The relation of edges without one.
    commits
        By repository, the commit of nodes without one.
    repo_from
        Where repositories come from (see :class:`graphkit.plugins.graphs.repository_sources.RepositorySource`).
    replace
        Replace the files of an existing knowledge graph.
    merge
        Merge the graph into the existing one, which was read at other commits: edges that differ say since or until
        which commit they exist.
    allow_load_csv
        Let the query reach beyond the graph by LOAD CSV or plug-ins, see :meth:`Store.query_readonly`.
    """

    uri: str | None = None
    query: str | None = None
    username: str | None = None
    password: str | None = None
    database: str | None = None
    graph: str = ""
    id_property: str | None = None
    ids: str | Path | Mapping[str, str] | None = None
    id_pattern: str | None = None
    columns: Columns | None = None
    relation: str | None = None
    commits: Mapping[str, str] | None = None
    repo_from: str | None = None
    replace: bool = False
    merge: bool = False
    allow_load_csv: bool = False


@dataclass(frozen=True, slots=True)
class ImportedGraph:
    """A knowledge graph that was made from another graph.

    Attributes
    ----------
    artifacts_file, edges_file
        The written files.
    summary
        The report of the import as lines of text.
    figures
        The report for programs.
    """

    artifacts: int
    edges: int
    artifacts_file: Path
    edges_file: Path
    summary: list[str] = field(repr=False)
    figures: dict[str, Any] = field(repr=False)


def import_graph(
    dataset: str | Path | Dataset, files: str | Path | Sequence[str | Path] = (), **options: Any
) -> ImportedGraph:
    """Write the artifacts and edges of a dataset from a graph in a database or in files.

    Parameters
    ----------
    dataset
        The folder of the dataset, which needs no questions yet.
    files
        GraphML, node-link JSON, or tables of nodes and of edges.
    options
        The attributes of :class:`GraphImportOptions`.

    Raises
    ------
    InputError
        The dataset already has this knowledge graph, the graph can't be read, or it has no edges.
    DatabaseError
        The database can't be reached or refuses the query.
    """
    chosen = GraphImportOptions(**options)
    paths = paths_of(files)
    _check_source(paths, chosen.uri, chosen.query)
    source = Dataset.of(dataset, questions=False)
    graph = storable_name(chosen.graph, "the graph's name")
    if chosen.merge and chosen.replace:
        raise InputError("--merge and --replace exclude each other", remedy="Give only one of them.")
    targets = _targets(source, graph, chosen.replace or chosen.merge)
    merged = MergedGraph(source, targets, chosen.commits or {}) if chosen.merge else None
    if merged is not None and not all(path.exists() for path in targets.values()):
        remedy = "Import the first export without --merge."
        raise InputError("there is no graph with artifacts and edges to merge with", where="--merge", remedy=remedy)
    given = [*paths, *([Path(chosen.ids)] if isinstance(chosen.ids, str | Path) else [])]
    for which, target in targets.items():
        # Replacing the dataset's own graph was requested, whatever its form: only the inputs are protected.
        check_output(target, "artifacts" if which == "artifacts" else "edges", given, force=True)
    table, pattern = id_sources(chosen.ids, chosen.id_pattern)
    repositories = RepositorySource.of(chosen.repo_from)
    report = GraphReport()
    parts = _from_files(paths, chosen.columns, report) if chosen.uri is None else _from_database(chosen, report)
    steps, known = _gold(source, graph)
    # Without known ids, names are matched exactly: two nodes whose names differ only in case are two artifacts.
    names = Names((), table, pattern)
    attribute = chosen.columns[1] if chosen.columns and not chosen.uri else None
    settings = GraphOptions(
        chosen.id_property, chosen.relation, attribute, chosen.commits or {}, repositories.attribute, repositories.table
    )
    with (
        closing(parts),
        closing(GraphRecords(names, settings, steps, known, report)) as records,
        together(),
        written(targets["artifacts"]) as artifacts_path,
        written(targets["edges"]) as edges_path,
    ):
        with create_binary(artifacts_path) as artifacts, create_binary(edges_path) as edges:
            streams = {"artifacts": artifacts, "edges": edges}
            for which, line in records.lines(parts, keys_are_names=chosen.uri is None):
                streams[which].write(line + b"\n")
        if merged is not None:
            merged.merge(artifacts_path, edges_path)
    if repositories.setting is not None:
        set_repositories(source.folder, repositories.setting)
    figures = {"files": {which: str(path) for which, path in targets.items()}, **report.as_json()}
    if merged is not None:
        figures["merged"] = {"both": merged.kept, "until": merged.ended, "since": merged.begun}
    return ImportedGraph(
        report.artifacts,
        report.edges,
        targets["artifacts"],
        targets["edges"],
        [*report.lines(), *(merged.lines() if merged is not None else ())],
        figures,
    )


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
    """Return the files to write: the existing ones of this graph, or else new ones, compressed if the questions are."""
    if "/" in graph:
        raise InputError("the name of a graph can't hold a slash", where="--graph", remedy="Give it another name.")
    refuse_bundled(dataset.folder)
    ending = f"-{graph}" if graph else ""
    suffix = dataset.questions_file.suffix if is_compressed(dataset.questions_file) else ""
    targets: dict[str, Path] = {}
    for which in ("artifacts", "edges"):
        found = find_file(dataset.folder, f"{which}{ending}")
        if found is not None and not replace:
            remedy = "Replace it by --replace, or give the new one a name by --graph."
            raise InputError("the dataset already has this knowledge graph", where=str(found), remedy=remedy)
        targets[which] = found or dataset.folder / f"{which}{ending}.jsonl{suffix}"
    return targets


def _gold(dataset: Dataset, graph: str) -> tuple[list[tuple[str, str | None, str]], set[str]]:
    """Return the gold steps and ids of all questions except those whose stack has another graph."""
    steps: list[tuple[str, str | None, str]] = []
    known: set[str] = set()
    others = dataset.graphs.keys() - {graph}
    for _, question in dataset.questions(Problems("skip")):
        if question.stack in others:
            continue
        known.update(gold_ids(question))
        steps += [(step.source, step.relation, step.target) for path in question.paths for step in path.steps]
    return steps, known


def _from_database(chosen: GraphImportOptions, report: GraphReport) -> Parts:
    from graphkit.database.foreign import PASSWORD_VARIABLE, ForeignAccess, read_rows

    password = chosen.password or os.environ.get(PASSWORD_VARIABLE)
    access = ForeignAccess(str(chosen.uri), chosen.username, password, chosen.database)

    def parts() -> Parts:
        rows = 0
        names: tuple[str, ...] = ()
        for row in read_rows(access, str(chosen.query), allow_load_csv=chosen.allow_load_csv):
            rows, names = rows + 1, tuple(row)
            empty = True
            for part in edges_of_row(row, chosen.columns):
                empty = False
                yield part
            if empty and any(value is not None for value in row.values()):
                report.skipped.add(NO_PARTS, f"columns {', '.join(names)}")
        report.sources.append(f"{access.disk}: {counted(rows, 'row')} read")

    return parts()


def _from_files(paths: Sequence[Path], columns: Columns | None, report: GraphReport) -> Parts:
    formats = {path: format_of(path) for path in paths}
    tables = {path: GraphTable.opened(path, columns) for path, form in formats.items() if form == "table"}
    if columns is not None and len(tables) == len(paths) and not any(table.has_edges for table in tables.values()):
        held = [name for table in tables.values() for name in table.names]
        remedy = f"{did_you_mean(columns[0], held)}There are: {', '.join(held)}."
        raise InputError(f"no table has a column {columns[0]!r}", where="--columns", remedy=remedy)
    # Nodes before edges, so that the names of an edge's nodes are known.
    for path in sorted(paths, key=lambda one: one in tables and tables[one].has_edges):
        table = tables.get(path)
        what = formats[path] if table is None else "a table of edges" if table.has_edges else "a table of nodes"
        report.sources.append(f"{path.name}: read as {what}")
        yield from table.read() if table is not None else read_file(path, columns, report.unread, report.notes)
