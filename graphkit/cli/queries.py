"""``graphkit queries``."""

from __future__ import annotations

from pathlib import Path

from graphkit.cli.base import command, open_graph, option, present, say, settings
from graphkit.cli.tables import print_table
from graphkit.errors import InputError


@command(graph=True)
def queries(
    *,
    browser_guide: Path | None = option(
        "--browser-guide DIR", "Write a guide through the queries, and a style, for Neo4j Browser into DIR."
    ),
    run: str | None = option("--run NAME", "Let the guide ask about this run."),
    question: str | None = option("--question ID", "Let the guide ask about this question."),
) -> None:
    """List the named queries with their parameters.

    It can also write a guide through them for Neo4j Browser.
    """
    if browser_guide is not None:
        _write_guide(browser_guide, run, question)
        return
    if (run, question) != (None, None):
        remedy = "Name its folder by --browser-guide."
        raise InputError("--run and --question are parameters of a guide", remedy=remedy)
    from graphkit.graph.queries import named_queries

    known = list(named_queries().values())
    facts = [
        {
            "name": query.name,
            "title": query.title,
            "answers": query.answers,
            "parameters": {one.name: one.default for one in query.parameters},
            "columns": list(query.columns),
        }
        for query in known
    ]
    rows = []
    for query in known:
        words = [one.name if one.default is None else f"[{one.name}={one.default}]" for one in query.parameters]
        rows.append([query.name, query.answers, " ".join(words)])
    columns = ("query", "answers", "parameters")
    present(lambda: print_table(None, columns, rows, "graphkit query NAME -p run=RUN"), *facts)


def _write_guide(folder: Path, run: str | None, question: str | None) -> None:
    from graphkit.graph.browser_guide import repositories_of, write_guide

    repositories: list[str] = []
    chosen = settings()
    # The queries are known without a database: only the colours of repositories come from one that is at hand.
    if chosen.uri or chosen.data.is_dir():
        with open_graph(read_only=True) as store:
            repositories = repositories_of(store, run)
    else:
        say("note: no database is here, so the style has no colours of repositories")
    files = write_guide(folder, run, question, repositories)
    present([str(file) for file in files], {"files": [str(file) for file in files]})
