"""``graphkit import graph``: the knowledge graph of a dataset, from a database or from files."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from graphkit.cli.base import as_json, print_json, print_line, with_json
from graphkit.cli.options import ColumnsOption, CommitOption, IdPatternOption, IdsOption, columns_value, commit_values


@with_json
def import_graph(
    dataset: Annotated[Path, typer.Option("--dataset", "-d", metavar="DIR", help="Whose knowledge graph it becomes.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...", help="GraphML, node-link JSON, CSV of edges and of nodes.", show_default=False
        ),
    ] = None,
    uri: Annotated[
        str | None, typer.Option("--uri", metavar="URI", help="A database of yours that speaks Bolt; it is only read.")
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="CYPHER", help="Such as: MATCH (a)-[r]->(b) RETURN a, r, b.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="Its password: GRAPHKIT_SOURCE_PASSWORD, or asked for."),
    ] = None,
    database: Annotated[
        str | None, typer.Option("--database", metavar="NAME", help="[default: the account's own]")
    ] = None,
    graph: Annotated[
        str, typer.Option("--graph", metavar="NAME", help="The graph's name, where the dataset has several.")
    ] = "",
    id_property: Annotated[
        str | None, typer.Option("--id-property", metavar="NAME", help="The property that names nodes.")
    ] = None,
    ids: IdsOption = None,
    id_pattern: IdPatternOption = None,
    columns: ColumnsOption = None,
    relation: Annotated[
        str | None, typer.Option("--relation", metavar="NAME", help="The relation of edges that say none.")
    ] = None,
    commit: CommitOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the files of such a graph.")] = False,
) -> None:
    """Make the artifacts and edges of a dataset of your own graph: in Neo4j, GraphML, node-link JSON or CSV."""
    from graphkit.imports.graph_importer import import_graph as imported

    made = imported(
        dataset,
        files or (),
        uri=uri,
        query=query,
        username=user,
        password=_password(user) if uri is not None else None,
        database=database,
        graph=graph,
        id_property=id_property,
        ids=ids,
        id_pattern=id_pattern,
        columns=columns_value(columns),
        relation=relation,
        commits=commit_values(commit),
        replace=replace,
    )
    if as_json():
        print_json({"dataset": str(dataset), **made.figures})
        return
    for line in made.summary:
        print_line(line)
    print_line(f"{made.artifacts_file}, {made.edges_file}")


def _password(user: str | None) -> str | None:
    """Return the password of a user who was named: asked for where no variable has it and somebody is there."""
    from graphkit.database.foreign import PASSWORD_VARIABLE

    given = os.environ.get(PASSWORD_VARIABLE)
    if given or user is None or not sys.stdin.isatty():
        return given
    return str(typer.prompt(f"password of {user}", hide_input=True, err=True))
