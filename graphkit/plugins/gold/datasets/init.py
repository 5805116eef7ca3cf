"""``graphkit init``: a dataset from a spreadsheet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import argument, command, option, present, print_problems, say
from graphkit.cli.import_graph import NodeOptions, source_password
from graphkit.cli.options import MAP, ON_ERROR, OnError, SecondNames

if TYPE_CHECKING:
    from graphkit.files.problems import Problems


@command()
def init(
    *,
    folder: Path = argument("DATASET", "Make this folder; no file in it is overwritten."),
    questions: Path | None = argument(
        "QUESTIONS",
        "Read the questions in this XLSX, ODS, CSV, Parquet, YAML or JSON file.  [default: two examples]",
        default=None,
        show_default=False,
    ),
    graph: list[str] | None = option(
        "--graph FILE|URI", "Add a knowledge graph: GraphML, JSON, CSV, or bolt://HOST; may be repeated."
    ),
    query: str | None = option("--query CYPHER", "Read the database by this query. [default: all of it]"),
    username: str | None = option("--user NAME", "Log in to the database as NAME; the password is asked for."),
    database: str | None = option("--database NAME", "Read this database. [default: the account's own]"),
    update: bool = option("--update", "Correct the questions of this dataset; keep its runs, grades and graph."),
    second_names: SecondNames | None = option(
        "--second-names relations|nodes", "Read b in paths such as `A -> b -> C` as a relation or as a node."
    ),
    nodes: NodeOptions,
    map: list[str] | None = MAP,  # noqa: A002
    on_error: OnError = ON_ERROR,
) -> None:
    """Make a dataset from a table of questions.

    A knowledge graph is taken along if you have one. It prints what to run next.
    """
    from graphkit.files.problems import Problems
    from graphkit.plugins.gold.datasets.new_dataset import create_dataset

    problems = Problems(on_error)
    if update:
        named = (("--graph", graph), ("--query", query), ("--user", username), ("--database", database))
        of_nodes = (
            ("--id-property", nodes.id_property),
            ("--columns", nodes.columns),
            ("--relation", nodes.relation),
            ("--repo-from", nodes.repo_from),
        )
        of_graph = [name for name, value in (*named, *of_nodes) if value]
        _update(folder, questions, of_graph, second_names, problems, nodes, map)
        return
    given = {"query": query, "username": username, "database": database}
    of_database = {name: value for name, value in given.items() if value is not None}
    if any("://" in one for one in graph or ()):
        of_database["password"] = source_password(username) or ""
    more = {**of_database, **nodes.keywords()}
    made = create_dataset(folder, questions, graph or (), second_names=second_names, problems=problems, map=map, **more)
    print_problems(problems)
    for line in made.graph.summary if made.graph is not None else ():
        if line.startswith(("skipped:", "note:")):
            say(line)
    width = max(len(text) for text, _ in made.commands())
    steps = [f"  {text:<{width}}  # {purpose}" for text, purpose in made.commands()]
    present([*made.lines(), "Run next:", *steps], made.as_json())


def _update(
    folder: Path,
    questions: Path | None,
    of_graph: list[str],
    second_names: SecondNames | None,
    problems: Problems,
    nodes: NodeOptions,
    map: list[str] | None,  # noqa: A002
) -> None:
    """Correct the questions of a dataset, and print what changed."""
    from graphkit.errors import InputError
    from graphkit.plugins.gold.datasets.question_update import update_questions

    if questions is None:
        raise InputError("--update needs the file of the questions", remedy="Name it behind the dataset.")
    if of_graph:
        remedy = "`graphkit import graph --replace` changes it."
        raise InputError("--update keeps the knowledge graph", where=of_graph[0], remedy=remedy)
    made = update_questions(
        folder,
        questions,
        second_names=second_names,
        problems=problems,
        ids=nodes.ids,
        id_pattern=nodes.id_pattern,
        map=map,
    )
    print_problems(problems)
    steps = [f"  {text}  # {purpose}" for text, purpose in made.commands()]
    present([*made.lines(), *(["Run next:", *steps] if steps else [])], made.as_json())
