"""``graphkit import graph``: the knowledge graph of a dataset, from a database or from files."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from graphkit.cli.base import as_json, command, print_json, print_line
from graphkit.cli.options import ColumnsOption, CommitOption, IdPatternOption, IdsOption, commit_values


@dataclass(frozen=True)
class SourceOptions:
    """The database that holds the user's graph."""

    uri: Annotated[
        str | None, typer.Option("--uri", metavar="URI", help="Read your database that speaks Bolt; never write to it.")
    ] = None
    query: Annotated[
        str | None,
        typer.Option(
            "--query", metavar="CYPHER", help="Read by this query, such as: MATCH (a)-[r]->(b) RETURN a, r, b."
        ),
    ] = None
    user: Annotated[
        str | None,
        typer.Option(
            "--user", metavar="NAME", help="Log in as NAME; the password is GRAPHKIT_SOURCE_PASSWORD, or asked for."
        ),
    ] = None
    database: Annotated[
        str | None, typer.Option("--database", metavar="NAME", help="Read this database. [default: the account's own]")
    ] = None

    def keywords(self) -> dict[str, str | None]:
        """Return them as keywords of :func:`graphkit.import_graph`, with the password."""
        password = _password(self.user) if self.uri is not None else None
        return {
            "uri": self.uri,
            "query": self.query,
            "username": self.user,
            "password": password,
            "database": self.database,
        }


@dataclass(frozen=True)
class NodeOptions:
    """Options for converting nodes and edges to artifacts and edges of a dataset."""

    id_property: Annotated[
        str | None, typer.Option("--id-property", metavar="NAME", help="Read the names of nodes in this property.")
    ] = None
    ids: IdsOption = None
    id_pattern: IdPatternOption = None
    columns: ColumnsOption = None
    relation: Annotated[
        str | None,
        typer.Option("--relation", metavar="NAME", help="Give this relation to edges that have none."),
    ] = None
    commit: CommitOption = None


@command()
def import_graph(
    dataset: Annotated[
        Path, typer.Option("--dataset", "-d", metavar="DIR", help="Add the knowledge graph to this dataset.")
    ],
    source: SourceOptions,
    nodes: NodeOptions,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...", help="Read GraphML, node-link JSON, CSV of edges and of nodes.", show_default=False
        ),
    ] = None,
    graph: Annotated[
        str, typer.Option("--graph", metavar="NAME", help="Name the graph, if the dataset has several.")
    ] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace the files of a graph of this name.")] = False,
) -> None:
    """Make the artifacts and edges of a dataset from your own graph: in Neo4j, GraphML, node-link JSON or CSV."""
    from graphkit.imports.graph_importer import import_graph

    made = import_graph(
        dataset,
        files or (),
        **source.keywords(),
        graph=graph,
        id_property=nodes.id_property,
        ids=nodes.ids,
        id_pattern=nodes.id_pattern,
        columns=nodes.columns,
        relation=nodes.relation,
        commits=commit_values(nodes.commit),
        replace=replace,
    )
    if as_json():
        print_json({"dataset": str(dataset), **made.figures})
        return
    for line in made.summary:
        print_line(line)
    print_line(f"{made.artifacts_file}, {made.edges_file}")


def _password(user: str | None) -> str | None:
    """Return the password from the environment; ask for it if a user is named and there is a terminal."""
    from graphkit.database.foreign import PASSWORD_VARIABLE

    given = os.environ.get(PASSWORD_VARIABLE)
    if given or user is None or not sys.stdin.isatty():
        return given
    return str(typer.prompt(f"password of {user}", hide_input=True, err=True))
