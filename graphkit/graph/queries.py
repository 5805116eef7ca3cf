"""The queries of ``cypher/``: one file per query, with a header that documents it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphkit.errors import InputError, did_you_mean
from graphkit.files.assets import cypher_folder
from graphkit.files.texts import read_text

#: The ``limit`` that makes a named query return all rows. ArcadeDB refuses 2**31 - 1.
NO_LIMIT = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a named query, with its default as text, if any (``null`` means all)."""

    name: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A Cypher text and its header.

    Attributes
    ----------
    name
        The name of the file without its suffix, with dashes.
    title, answers
        Its title, and the question that it answers.
    order
        Its place in an overview of all failures, from the whole to the detail.
    """

    name: str
    title: str
    answers: str
    parameters: tuple[Parameter, ...]
    columns: tuple[str, ...]
    text: str
    order: int | None = None

    def takes(self, parameter: str) -> bool:
        """Return whether the query has a parameter of this name."""
        return any(own.name == parameter for own in self.parameters)

    def bind(self, given: dict[str, object]) -> dict[str, object]:
        """Return the parameters with defaults for those that aren't given.

        Raise InputError if a parameter is missing or unknown.
        """
        usage = " ".join(
            f"-p {parameter.name}={'...' if parameter.default is None else parameter.default}"
            for parameter in self.parameters
        )
        for name in given:
            if not self.takes(name):
                raise InputError(f"the query has no parameter {name!r}", where=self.name, remedy=f"It takes: {usage}")
        bound: dict[str, object] = {}
        for parameter in self.parameters:
            if parameter.name in given and (given[parameter.name], parameter.default) != (None, None):
                bound[parameter.name] = given[parameter.name]
                if parameter.name == "limit" and not _is_count(given["limit"]):
                    what = f"the limit is {given['limit']!r}"
                    raise InputError(what, where=self.name, remedy="Give a whole number of at least 0.")
            elif parameter.default is not None:
                bound[parameter.name] = parse_value(parameter.default)
            else:
                raise InputError(f"the parameter {parameter.name!r} is missing", where=self.name, remedy=usage)
        return bound


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def parse_value(text: str) -> object:
    """Return the value of a parameter's text: parsed if it is JSON, else the text itself.

    >>> parse_value("20"), parse_value("null"), parse_value("sf-01")
    (20, None, 'sf-01')
    """
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def read_query(path: Path) -> Query:
    """Read one query file."""
    header: dict[str, str] = {}
    lines = read_text(path).splitlines()
    for line in lines:
        if not line.startswith("// ") or ":" not in line:
            break
        key, _, value = line[3:].partition(":")
        header[key.strip()] = value.strip()
    parameters = []
    for item in filter(None, (part.strip() for part in header.get("parameters", "").split(","))):
        name, equals, default = (part.strip() for part in item.partition("="))
        parameters.append(Parameter(name, default if equals else None))
    columns = tuple(filter(None, (part.strip() for part in header.get("columns", "").split(","))))
    order = header.get("order", "")
    return Query(
        name=path.stem.replace("_", "-"),
        title=header.get("title", ""),
        answers=header.get("answers", ""),
        parameters=tuple(parameters),
        columns=columns,
        text="\n".join(lines[len(header) :]).strip() + "\n",
        order=int(order) if order.isdecimal() else None,
    )


@cache
def cypher(name: str) -> str:
    """Return the text of an internal query, such as ``load/answers``, without its header."""
    return read_query(cypher_folder() / f"{name}.cypher").text


@cache
def named_queries() -> dict[str, Query]:
    """Return the queries that users call by name, sorted by name."""
    queries = [*failure_queries(), *analysis_queries()]
    return {query.name: query for query in sorted(queries, key=lambda query: query.name)}


@cache
def failure_queries() -> list[Query]:
    """Return the queries for failures of a run, which ``graphkit failures`` asks, in the order of their headers."""
    return _folder("failures")


@cache
def analysis_queries() -> list[Query]:
    """Return the other named queries: over all runs of a dataset, over kinds of failures, and to draw."""
    return _folder("analysis")


def _folder(name: str) -> list[Query]:
    queries = map(read_query, (cypher_folder() / name).glob("*.cypher"))
    return sorted(queries, key=lambda query: (query.order is None, query.order, query.name))


def failure_query(kind: str) -> Query:
    """Return the query for a kind of failures.

    Raise InputError if there is no such kind; the message suggests the closest one.
    """
    other = next((query.name for query in analysis_queries() if query.name == kind.replace("_", "-")), None)
    if other is not None:
        what = f"{other} isn't a kind of failures"
        raise InputError(what, remedy=f"`graphkit query {other} -p run=RUN` asks it.")
    return _named(kind, {query.name: query for query in failure_queries()})


def named_query(name: str) -> Query:
    """Return a query by its name.

    Raise InputError if no query has the name; the message suggests the closest one.
    """
    return _named(name, named_queries())


def _named(name: str, queries: Mapping[str, Query]) -> Query:
    query = queries.get(name.replace("_", "-").removesuffix(".cypher"))
    if query is None:
        hint = did_you_mean(name, queries)
        raise InputError(f"no query is called {name!r}", remedy=f"{hint}`graphkit queries` lists them all.")
    return query


def schema_statements() -> list[str]:
    """Return the statements that create the constraints and indexes."""
    lines = (line for line in cypher("schema").splitlines() if not line.startswith("//"))
    return [text for statement in "\n".join(lines).split(";") if (text := statement.strip())]
