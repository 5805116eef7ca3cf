"""The Cypher texts of ``cypher/``, one file a query, each with a header that says what it is for."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.assets import cypher_folder


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a named query, and its default as text where it has one (``null`` means: all)."""

    name: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A Cypher text and its header.

    Attributes
    ----------
    name
        The name of the file without its ending, with dashes.
    title, answers
        What it is called, and the question that it answers.
    """

    name: str
    title: str
    answers: str
    parameters: tuple[Parameter, ...]
    columns: tuple[str, ...]
    text: str

    def bind(self, given: dict[str, object]) -> dict[str, object]:
        """Return the parameters with their defaults filled in.

        Raises
        ------
        InputError
            A parameter is missing, or one is given that the query doesn't have.
        """
        names = {parameter.name for parameter in self.parameters}
        usage = " ".join(f"-p {one.name}={'...' if one.default is None else one.default}" for one in self.parameters)
        for name in given:
            if name not in names:
                raise InputError(f"the query has no parameter {name!r}", where=self.name, remedy=f"It takes: {usage}")
        bound: dict[str, object] = {}
        for parameter in self.parameters:
            if parameter.name in given:
                bound[parameter.name] = given[parameter.name]
            elif parameter.default is not None:
                bound[parameter.name] = parse_value(parameter.default)
            else:
                raise InputError(f"the parameter {parameter.name!r} is missing", where=self.name, remedy=usage)
        return bound


def parse_value(text: str) -> object:
    """Return the value that a parameter's text stands for: JSON where it is JSON, else the text itself.

    >>> parse_value("20"), parse_value("null"), parse_value("sf-01")
    (20, None, 'sf-01')
    """
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def read_query(path: Path) -> Query:
    """Read one query file."""
    header: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
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
    return Query(
        name=path.stem.replace("_", "-"),
        title=header.get("title", ""),
        answers=header.get("answers", ""),
        parameters=tuple(parameters),
        columns=columns,
        text="\n".join(lines[len(header) :]).strip() + "\n",
    )


@cache
def cypher(name: str) -> str:
    """Return the text of a query of graphkit's own, such as ``load/answers``, without its header."""
    return read_query(cypher_folder() / f"{name}.cypher").text


@cache
def named_queries() -> dict[str, Query]:
    """Return the queries that users call by name, in the order of their names."""
    files = sorted((cypher_folder() / "failures").glob("*.cypher"))
    return {query.name: query for query in map(read_query, files)}


def named_query(name: str) -> Query:
    """Return a query by its name.

    Raises
    ------
    InputError
        No query has the name; the closest one is suggested.
    """
    queries = named_queries()
    found = queries.get(name.replace("_", "-").removesuffix(".cypher"))
    if found is None:
        close = difflib.get_close_matches(name, queries, n=1)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise InputError(f"no query is called {name!r}", remedy=f"{hint}`graphkit queries` lists them all.")
    return found


def schema_statements() -> list[str]:
    """Return the statements that make the constraints and indexes."""
    return [one.strip() for one in cypher("schema").split(";") if one.strip()]
