"""The content of a graph: its datasets, its runs, and the loads that didn't end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphkit.database.store import Store
from graphkit.graph.known_names import partial_runs
from graphkit.graph.queries import cypher
from graphkit.graph.reservations import unfinished_loads
from graphkit.graph.schema_version import database_form, is_older
from graphkit.graph.score_nodes import outdated_scores


@dataclass(frozen=True)
class GraphContent:
    """The content of a graph.

    Attributes
    ----------
    engine
        The name and the version of the database.
    datasets
        The number of questions of each dataset.
    runs
        The names of the complete runs.
    partial
        A sentence on each run that is stored in part, and on each dataset without all of its questions.
    form
        The form that the database states, in words; None before its first write.
    older
        The datasets and runs in the form of another version of graphkit, which `graphkit db migrate` brings into this.
    outdated
        A sentence on each run whose scores another ``evaluate`` changes or completes.
    unfinished
        The loads that didn't end, each in words.
    """

    engine: str
    uri: str
    form: str | None
    datasets: dict[str, Any]
    runs: list[str]
    partial: list[str]
    older: list[str]
    outdated: list[str]
    unfinished: list[str]


def graph_content(store: Store) -> GraphContent:
    """Return the content of a graph."""
    known = store.read(cypher("read/datasets"))
    datasets = [f"the graph stores only some questions of the dataset {row['name']}" for row in known if row["partial"]]
    return GraphContent(
        engine=f"{store.engine} {store.version}",
        uri=store.uri,
        form=None if (form := database_form(store)) is None else str(form),
        datasets={str(row["name"]): row["questions"] for row in known if row["questions"] is not None},
        runs=[str(row["id"]) for row in store.read(cypher("read/runs")) if row["complete"]],
        partial=[*datasets, *partial_runs(store).values()],
        older=in_older_form(store),
        outdated=outdated_scores(store),
        unfinished=[str(load) for load in unfinished_loads(store)],
    )


def in_older_form(store: Store) -> list[str]:
    """Return the datasets and runs, in words, that another version of graphkit wrote in another form."""
    return [
        f"the {kind} {row[name]}"
        for kind, query, name in (("dataset", "read/datasets", "name"), ("run", "read/runs", "id"))
        for row in store.read(cypher(query))
        if is_older(row)
    ]
