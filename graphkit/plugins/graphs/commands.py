"""``graphkit import graph``: the knowledge graph of a dataset, from a database or from files."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from graphkit.cli.base import argument, command, option, present
from graphkit.cli.options import ALLOW_LOAD_CSV, COLUMNS, Columns, NameOptions


@dataclass(frozen=True)
class SourceOptions:
    """The database that holds the user's graph."""

    uri: str | None = option("--uri URI", "Read your database that speaks Bolt; never write to it.")
    query: str | None = option("--query CYPHER", "Read by this query, such as: MATCH (a)-[r]->(b) RETURN a, r, b.")
    username: str | None = option(
        "--user NAME", "Log in as NAME, with GRAPHKIT_SOURCE_PASSWORD or a password asked for."
    )
    database: str | None = option("--database NAME", "Read this database. [default: the account's own]")
    allow_load_csv: bool = ALLOW_LOAD_CSV

    def keywords(self) -> dict[str, str | bool | None]:
        """Return them as keywords of :func:`graphkit.import_graph`, with the password."""
        return vars(self) | {"password": source_password(self.username) if self.uri is not None else None}


@dataclass(frozen=True)
class NodeOptions(NameOptions):
    """Options for converting nodes and edges to artifacts and edges of a dataset."""

    id_property: str | None = option("--id-property NAME", "Read the names of nodes in this property.")
    columns: Columns | None = COLUMNS
    relation: str | None = option("--relation NAME", "Give this relation to edges that have none.")
    repo_from: str | None = option(
        "--repo-from id|none|REGEX|NAME|FILE",
        "Tell repositories by the part of an id before a colon, by no id, by the group repo of a pattern, by an "
        "attribute of nodes, or by a table of id and repo.  [default: as the graph states, else by the form of ids]",
    )


@command()
def import_graph(
    *,
    dataset: Path = option("--dataset -d DIR", "Add the knowledge graph to this dataset.", required=True),
    source: SourceOptions,
    nodes: NodeOptions,
    files: list[Path] | None = argument(
        "FILE...", "Read GraphML, node-link JSON, CSV of edges and of nodes.", default=None, show_default=False
    ),
    graph: str = option("--graph NAME", "Name the graph, if the dataset has several.", default=""),
    replace: bool = option("--replace", "Replace the files of a graph of this name."),
    merge: bool = option("--merge", "Add an export of another --commit: edges say since and until when they exist."),
) -> None:
    """Make the artifacts and edges of a dataset from your own graph: in Neo4j, GraphML, node-link JSON or CSV."""
    from graphkit.plugins.graphs.graph_importer import import_graph

    made = import_graph(
        dataset,
        files or (),
        **source.keywords(),
        graph=graph,
        replace=replace,
        merge=merge,
        **nodes.keywords(),
    )
    lines = [*made.summary, f"{made.artifacts_file}, {made.edges_file}"]
    present(lines, {"dataset": str(dataset), **made.figures})


def source_password(user: str | None) -> str | None:
    """Return the password from the environment; ask for it if a user is named and there is a terminal."""
    from graphkit.database.foreign import PASSWORD_VARIABLE

    given = os.environ.get(PASSWORD_VARIABLE)
    if given or user is None or not sys.stdin.isatty():
        return given
    return str(typer.prompt(f"password of {user}", hide_input=True, err=True))
