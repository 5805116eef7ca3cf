"""The differences between databases are in one module, and the agent text identifies a server."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points

import pytest

from graphkit.database.dialects import GROUP, KnownDialect, dialects, recognized
from graphkit.errors import DatabaseError
from tests.helpers import ROOT


@pytest.mark.slow("every module is parsed")
def test_differences_lie_in_one_place() -> None:
    """No other module compares a value with the name of a database."""
    names = {name for dialect in dialects() for name in (dialect.engine, dialect.product)}
    found = []
    for path in sorted((ROOT / "graphkit").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and any(
                isinstance(side, ast.Constant) and side.value in names for side in (node.left, *node.comparators)
            ):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_databases_are_reported_apart() -> None:
    """Each database has its own name, and only one dialect accepts each agent text."""
    assert (
        len({dialect.engine for dialect in dialects()})
        == len({dialect.product for dialect in dialects()})
        == len(dialects())
    )
    for agent in ("Neo4j/5.26.0", "Neo4j/5.26.0 compatible (ArcadeDB 26.10.2)"):
        assert sum(dialect.version(agent) is not None for dialect in dialects()) == 1, agent


@pytest.mark.parametrize("agent", ["Neo4j/5.20.0", "Neo4j/4.4.41", "Neo4j/5.22.0"])
def test_server_below_the_minimum(agent: str) -> None:
    """A Neo4j that is too old is refused with both versions and a remedy."""
    with pytest.raises(DatabaseError, match=r"5\.23 or newer") as caught:
        recognized(agent)
    assert agent in caught.value.what
    assert "5.26" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("agent", "engine", "version"),
    [
        ("Neo4j/5.23.0", "neo4j", "5.23.0"),
        ("Neo4j/5.26.30", "neo4j", "5.26.30"),
        ("Neo4j/5.27-aura", "neo4j", "5.27-aura"),
        ("Neo4j/2026.01.0", "neo4j", "2026.01.0"),
        ("Neo4j/5.26.0 compatible (ArcadeDB 26.10.2)", "embedded", "26.10.2"),
    ],
)
def test_server_that_is_new_enough(agent: str, engine: str, version: str) -> None:
    """The agent text gives the database and its version."""
    dialect, found = recognized(agent)
    assert (dialect.engine, found) == (engine, version)


@pytest.mark.parametrize("agent", ["", "Memgraph/3.0", "Neo4j/v5.2.0 compatible graph database server - Memgraph"])
def test_server_that_is_unknown(agent: str) -> None:
    """An unknown server is refused."""
    with pytest.raises(DatabaseError, match="calls itself"):
        recognized(agent)


class Pebble(KnownDialect):
    """A database of another package."""

    engine = "pebble"
    product = "PebbleDB"

    def version(self, agent: str) -> str | None:
        """Return the text after the name."""
        return agent.removeprefix("Pebble/") if agent.startswith("Pebble/") else None


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Add entry points to those of the installed packages."""
    added: list[EntryPoint] = []
    found = [*entry_points(group=GROUP)]
    monkeypatch.setattr("graphkit.database.dialects.entry_points", lambda group: [*found, *added])
    dialects.cache_clear()
    yield added
    dialects.cache_clear()


def test_a_package_adds_a_database(installed: list[EntryPoint]) -> None:
    """An entry point adds the database of another package."""
    installed.append(EntryPoint("pebble", f"{__name__}:Pebble", GROUP))
    assert [dialect.engine for dialect in dialects()] == ["embedded", "neo4j", "pebble"]
    assert (recognized("Pebble/3")[0].product, recognized("Pebble/3")[1]) == ("PebbleDB", "3")


@pytest.mark.parametrize(
    ("value", "what"),
    [("no.such.module:Pebble", "can't be used"), ("graphkit.database.dialects:Dialect", "isn't a subclass")],
)
def test_an_entry_point_that_is_no_database(installed: list[EntryPoint], value: str, what: str) -> None:
    """A broken entry point is reported at once, with its name and a remedy."""
    installed.append(EntryPoint("pebble", value, GROUP))
    with pytest.raises(DatabaseError, match=f"the database 'pebble' \\({value}\\) {what}"):
        dialects()
