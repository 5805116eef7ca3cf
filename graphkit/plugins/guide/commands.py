"""``--open`` and ``--out`` of ``graphkit query``, and ``--browser-guide`` of ``graphkit queries``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.cli.base import open_graph, open_in_browser, option, present, say, settings
from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.graph.user_queries import QueryRows, UserQuery


@dataclass(frozen=True)
class QueryPageOptions:
    """The page of a query."""

    in_browser: bool = option("--open", "Open a page that draws the nodes and relationships of the rows.")
    out: Path | None = option(
        "--out -o FILE.html", "Write that page to this file. [default with --open: query-NAME.html]", writes="a page"
    )

    def asked(self) -> bool:
        """Return whether the page is asked for."""
        return self.in_browser or self.out is not None

    def show(self, found: QueryRows, asked: UserQuery, source: str | None) -> None:
        """Write the page of a query, and open it if that is asked for."""
        from graphkit.plugins.guide.query_page import write_query_page
        from graphkit.report.contents import free_page

        stem = source if source is not None and asked.title else "cypher"
        out = free_page([stem], "", "query") if self.out is None else self.out
        write_query_page(out, found, asked.text, asked.title or "A query", asked.answers, asked.parameters)
        present(str(out), {"page": str(out), "rows": found.total, "nodes": len(found.subgraph.nodes)})
        if self.in_browser:
            open_in_browser(out.resolve().as_uri())


@dataclass(frozen=True)
class GuideOptions:
    """The guide for Neo4j Browser."""

    browser_guide: Path | None = option(
        "--browser-guide DIR", "Write a guide through the queries, and a style, for Neo4j Browser into DIR."
    )
    run: str | None = option("--run NAME", "Let the guide ask about this run.")
    question: str | None = option("--question ID", "Let the guide ask about this question.")

    def written(self) -> bool:
        """Write the guide, and return whether it was asked for; raise InputError for its parameters without it."""
        if self.browser_guide is not None:
            self._write(self.browser_guide)
            return True
        if (self.run, self.question) != (None, None):
            remedy = "Name its folder by --browser-guide."
            raise InputError("--run and --question are parameters of a guide", remedy=remedy)
        return False

    def _write(self, folder: Path) -> None:
        from graphkit.plugins.guide.browser_guide import repositories_of, write_guide

        repositories: list[str] = []
        chosen = settings()
        # The queries are known without a database: only the colours of repositories come from one that is at hand.
        if chosen.uri or chosen.data.is_dir():
            with open_graph(read_only=True) as store:
                repositories = repositories_of(store, self.run)
        else:
            say("note: no database is here, so the style has no colours of repositories")
        files = write_guide(folder, self.run, self.question, repositories)
        present([str(file) for file in files], {"files": [str(file) for file in files]})
