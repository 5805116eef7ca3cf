"""``graphkit init``: a dataset from a spreadsheet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphkit.cli.base import argument, command, option, present, print_problems, say
from graphkit.cli.options import MAP, ON_ERROR, OnError, SecondNames
from graphkit.errors import InputError
from graphkit.plugins.graphs.commands import NodeOptions, source_password

if TYPE_CHECKING:
    from graphkit.plugins.gold.datasets.new_dataset import NewDataset
    from graphkit.plugins.gold.datasets.question_update import QuestionUpdate


@dataclass(frozen=True)
class GraphToAddOptions:
    """The knowledge graph that is taken along."""

    graph: list[str] | None = option(
        "--graph FILE|URI", "Add a knowledge graph: GraphML, JSON, CSV, or bolt://HOST; may be repeated."
    )
    query: str | None = option("--query CYPHER", "Read the database by this query. [default: all of it]")
    username: str | None = option("--user NAME", "Log in to the database as NAME; the password is asked for.")
    database: str | None = option("--database NAME", "Read this database. [default: the account's own]")

    def keywords(self) -> dict[str, str]:
        """Return what is given about the database, with its password, as keywords of an import."""
        given = {"query": self.query, "username": self.username, "database": self.database}
        found = {name: value for name, value in given.items() if value is not None}
        if any("://" in one for one in self.graph or ()):
            found["password"] = source_password(self.username) or ""
        return found


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
    source: GraphToAddOptions,
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

    reading = {"second_names": second_names, "problems": Problems(on_error), "map": map}
    made: NewDataset | QuestionUpdate
    if update:
        made = _updated(folder, questions, source, nodes, reading)
    else:
        made = _created(folder, questions, source, nodes, reading)
    width = max((len(text) for text, _ in made.commands()), default=0)
    steps = [f"  {text:<{width}}  # {purpose}" for text, purpose in made.commands()]
    present([*made.lines(), *(["Run next:", *steps] if steps else [])], made.as_json())


def _created(
    folder: Path, questions: Path | None, source: GraphToAddOptions, nodes: NodeOptions, reading: dict[str, Any]
) -> NewDataset:
    """Make the dataset, and print what its files and the graph lack."""
    from graphkit.plugins.gold.datasets.new_dataset import create_dataset

    options = {**source.keywords(), **nodes.keywords(), **reading}
    made = create_dataset(folder, questions, source.graph or (), **options)
    print_problems(reading["problems"])
    for line in made.graph.summary if made.graph is not None else ():
        if line.startswith(("skipped:", "note:")):
            say(line)
    return made


def _updated(
    folder: Path, questions: Path | None, source: GraphToAddOptions, nodes: NodeOptions, reading: dict[str, Any]
) -> QuestionUpdate:
    """Correct the questions of a dataset, and print what is wrong with the new ones."""
    from graphkit.plugins.gold.datasets.question_update import update_questions

    if questions is None:
        raise InputError("--update needs the file of the questions", remedy="Name it behind the dataset.")
    of_graph = {
        "--graph": source.graph,
        "--query": source.query,
        "--user": source.username,
        "--database": source.database,
        "--id-property": nodes.id_property,
        "--columns": nodes.columns,
        "--relation": nodes.relation,
        "--repo-from": nodes.repo_from,
    }
    for name, value in of_graph.items():
        if value:
            remedy = "`graphkit import graph --replace` changes it."
            raise InputError("--update keeps the knowledge graph", where=name, remedy=remedy)
    made = update_questions(folder, questions, ids=nodes.ids, id_pattern=nodes.id_pattern, **reading)
    print_problems(reading["problems"])
    return made
