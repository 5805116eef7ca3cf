"""The ids of the names in a log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.errors import InputError
from graphkit.files.known_ids import closest
from graphkit.imports.names import IdPattern, Names, read_ids

KNOWN = {"web:src/a.ts", "web:src/a.ts#login", "api:auth.py#Login", "api:auth.py#login", "api:auth.py", "db:x/y.sql"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ids.jsonl", '{"name": "a", "id": "web:src/a.ts"}\n{"name": "b", "id": "api:auth.py"}\n'),
        ("ids.csv", "id,name,note\nweb:src/a.ts,a,x\napi:auth.py,b,\n"),
        ("ids.json", json.dumps({"a": "web:src/a.ts", "b": "api:auth.py"}, indent=2)),
        ("ids.json", json.dumps([{"name": "a", "id": "web:src/a.ts"}, {"name": "b", "id": "api:auth.py"}])),
    ],
)
def test_tables(name: str, text: str, tmp_path: Path) -> None:
    """A table of ids is JSON Lines, CSV, an array, or one object."""
    (tmp_path / name).write_text(text)
    assert read_ids(tmp_path / name) == {"a": "web:src/a.ts", "b": "api:auth.py"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ids.jsonl", '{"name": "a", "id": "x"}\n{"name": "a"}', "ids.jsonl:2: the row needs the fields name and id"),
        ("ids.jsonl", '{"name": "a", "id": "x"}\n{"name": "a", "id": "y"}', "ids.jsonl:2: .*two values of id: x and y"),
        ("ids.csv", "name,key\na,b\n", "ids.csv:2: the row needs the fields name and id"),
        ("ids.json", '{"a": 1}', "ids.json:1: the row needs the fields name and id"),
        ("ids.json", "[1]", "ids.json:1: the row needs the fields name and id"),
    ],
)
def test_tables_that_are_wrong(name: str, text: str, message: str, tmp_path: Path) -> None:
    """A row without a name or id, and a name of two ids, are reported with their line."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_ids(tmp_path / name)


@pytest.mark.parametrize(
    ("pattern", "name", "given"),
    [
        (r"(?P<repo>\w+)/(?P<path>[^#]+)(#(?P<symbol>.+))?", "web/src/a.ts#login", "web:src/a.ts#login"),
        (r"(?P<repo>\w+)/(?P<path>[^#]+)(#(?P<symbol>.+))?", "web/src/a.ts", "web:src/a.ts"),
        (r"(?P<path>.+)", "a.ts", "a.ts"),
        (r"node-(?P<id>.+)", "node-x", "x"),
        (r"node-(?P<id>.+)", "edge-x", None),
        (r"node-(?P<id>.)", "node-xy", None),
        (r"(?P<pkg>\w+)\.(?P<f>\w+) => {pkg}:src/{pkg}.py#{f}", "api.login", "api:src/api.py#login"),
    ],
)
def test_patterns(pattern: str, name: str, given: str | None) -> None:
    """The groups of an expression that matches the whole name make its id, or a template does."""
    assert IdPattern(pattern).id_of(name) == given


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "isn't a regular expression"),
        ("(.+)", "neither a group id nor a group path"),
        ("(?P<path>.)(?P<symbl>.)", "'symbl', which is no part of an id\n  Did you mean symbol"),
        ("(?P<a>.) => x", "must name groups"),
        ("(?P<a>.) => {b}", "must name groups"),
        ("(?P<a>.) => {a}}", "must name groups"),
    ],
)
def test_patterns_that_are_wrong(pattern: str, message: str) -> None:
    """The message about a wrong pattern names its mistake and the correct form."""
    with pytest.raises(InputError, match=message):
        IdPattern(pattern)


def test_the_first_that_the_dataset_knows() -> None:
    """Table, pattern, the name itself, letter case and path: each where the one before gives nothing that is known."""
    table = {"A.login": "web:src/a.ts#login", "Old": "gone:x", "Twice": "x", "TWICE": "y"}
    names = Names(KNOWN, table, IdPattern(r"(?P<repo>\w+)/(?P<path>[^#]+)(#(?P<symbol>.+))?"))
    given = {
        "A.login": "web:src/a.ts#login",  # the table's
        "A.LOGIN": "web:src/a.ts#login",  # the table's, by letter case
        "api/auth.py": "api:auth.py",  # the pattern's
        "db:x/y.sql": "db:x/y.sql",  # itself
        "WEB:SRC/A.TS#LOGIN": "web:src/a.ts#login",  # by letter case
        "API:AUTH.PY#LOGIN": "API:AUTH.PY#LOGIN",  # two differ by letter case only: left as it is
        "x/y.sql": "db:x/y.sql",  # the path of one file; the pattern's x:y.sql isn't known
        "src/a.ts#login": "web:src/a.ts#login",  # and that of one symbol
        "Old": "gone:x",  # the table's, though the dataset doesn't know it
        "twice": "twice",  # two names of the table differ by letter case only
        "new": "new",
    }
    assert {name: names.id_of(name) for name in given} == given
    assert {name: names.id_of(name) for name in given} == given
    assert names.how == {
        "by the table": 2,
        "by the table, regardless of letter case": 1,
        "by the pattern": 1,
        "as they are": 4,
        "as they are, regardless of letter case": 1,
        "by the path": 2,
    }


def test_the_end_of_a_path() -> None:
    """A base name, or the end of a path, stands for the one file that ends so; of several none is guessed."""
    names = Names({*KNOWN, "db:old/y.sql", "db:x/deep/z.sql", "db:x/deep/z.sql#t"}, {"t": "deep/z.sql"})
    given = {
        "a.ts": "web:src/a.ts",  # its symbol login is no file
        "deep/z.sql": "db:x/deep/z.sql",
        "t": "db:x/deep/z.sql",  # what the table gives may be an end, too
        "y.sql": "y.sql",  # x/y.sql and old/y.sql
        "x/y.sql": "db:x/y.sql",  # a whole path goes first
        "p/z.sql": "p/z.sql",  # a folder of which no path has the name
        ".sql": ".sql",  # within a name nothing begins
        "login": "login",  # a symbol is no file
    }
    assert {name: names.id_of(name) for name in given} == given
    assert names.how == {
        "by the end of the path": 2,
        "by the table, and the end of the path": 1,
        "by the path": 1,
        "as they are": 4,
    }
    assert names.several == {"y.sql": ("db:old/y.sql", "db:x/y.sql")}


def test_a_symbol_alone() -> None:
    """Where names may be those of symbols, one that only one file has is found, after all other ways, and counted."""
    names = Names({"web:a.ts#login", "web:a.ts#send", "api:b.py#send", "api:c.py", "db:c.py#x", "x"}, {"t": "api:c.py"})
    given = {
        "login": "web:a.ts#login",
        "send": "send",  # in two files
        "t": "api:c.py",
        "x": "x",  # an id itself
        "nobody": "nobody",
    }
    assert {name: names.id_of(name, symbols=True) for name in given} == given
    assert names.how["by the name of a symbol, which only one file has"] == 1
    assert names.id_of("login") == "login"


def test_an_absolute_path() -> None:
    """It stands for the file whose path of several parts it ends with, of several the longest; none is guessed."""
    names = Names({"api:auth.py", "web:src/a.ts", "web:src/a.ts#login", "core:lib/src/a.ts", "x:d/e.py", "y:d/e.py"})
    given = {
        "/testbed/src/a.ts": "web:src/a.ts",
        "/home/me/web/src/a.ts#login": "web:src/a.ts#login",
        "/testbed/lib/src/a.ts": "core:lib/src/a.ts",
        "/testbed/src/a.ts#gone": "/testbed/src/a.ts#gone",  # no symbol that is known
        "/testbed/auth.py": "/testbed/auth.py",  # any folder may have a file of that name
        "/testbed/d/e.py": "/testbed/d/e.py",  # of two repositories
        "testbed/src/a.ts": "testbed/src/a.ts",  # not absolute: the folder may be the repository's own
    }
    assert {name: names.id_of(name) for name in given} == given
    assert names.how == {"by the path within a folder": 3, "as they are": 4}
    assert names.several == {"/testbed/d/e.py": ("x:d/e.py", "y:d/e.py")}


def test_the_closest_id() -> None:
    """The example is the most similar of the ids with the same end as a name; without such ids there is none."""
    assert closest("pkg.auth.login", KNOWN) == "api:auth.py#Login"  # of two that are equally alike the first
    assert closest("web src a", KNOWN) in KNOWN
    assert closest("\n", KNOWN) in KNOWN
    assert closest("x", set()) is None
