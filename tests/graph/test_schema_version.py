"""The schema version: a new one loads everything again, and no change of the schema goes unnoticed."""

from __future__ import annotations

import ast
import shutil
from hashlib import blake2b
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.errors import DatabaseError, InputError
from graphkit.graph import schema_version
from graphkit.graph.content import graph_content, in_older_form
from graphkit.graph.known_names import require_run
from graphkit.graph.queries import read_query
from graphkit.graph.runs import load_run
from graphkit.graph.schema_version import SCHEMA_VERSION, DatabaseForm, database_form, prepare_writing
from graphkit.plugins.upkeep.schema_migration import migrate
from tests.helpers import ROOT
from tests.helpers.cli import Graph, inside
from tests.helpers.datasets import SHOP_QUESTIONS
from tests.helpers.loading import RUN, contents, load_all

pytestmark = pytest.mark.newest


def test_new_form_loads_everything_anew(empty_store: Store, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a new schema version, no file, question or run counts as unchanged."""
    load_all(empty_store, dataset)
    monkeypatch.setattr(schema_version, "SCHEMA_VERSION", "a later one")
    summary = graphkit.load(empty_store, dataset)
    again = load_run(empty_store, dataset.name, RUN, dataset / "runs" / f"{RUN}.jsonl")
    assert set(summary.unchanged.values()) == {0}
    assert summary.written["questions"] == SHOP_QUESTIONS
    assert (again.written, again.unchanged) == (SHOP_QUESTIONS, 0)


def test_database_states_its_form_once(store: Store) -> None:
    """The first write states the form, a second one changes nothing, and a later graphkit states its own."""
    assert database_form(store) is None
    for _ in range(2):
        prepare_writing(store)
    assert store.read("MATCH (g:Graphkit) RETURN g.schema AS schema, g.version AS version") == [
        {"schema": SCHEMA_VERSION, "version": graphkit.__version__}
    ]
    store.write("MATCH (g:Graphkit) SET g.schema = '9', g.version = '0.0.9'")
    prepare_writing(store)
    assert database_form(store) == DatabaseForm(SCHEMA_VERSION, graphkit.__version__)


def test_older_graphkit_reads_and_does_not_write(graph: Graph, dataset: Path) -> None:
    """A database in a later form takes nothing from this graphkit; status and queries read it, and say so."""
    load_all(graph.store, dataset)
    prepare_writing(graph.store)
    graph.store.write("MATCH (g:Graphkit) SET g.schema = '1000', g.version = '9.8.7'")
    graph.store.write("MATCH (r:Run) SET r.schema = '1000'")
    before = contents(graph.store)
    for words in (("load", dataset), ("db", "remove", "run", RUN), ("db", "migrate")):
        refused = inside(*words, cwd=dataset, env=graph.env, code=DatabaseError.exit_code)
        assert "in the form of graphkit 9.8.7 (schema 1000)" in refused.err
        assert f"(schema {SCHEMA_VERSION})" in refused.err
        assert "Install the graphkit-eval that wrote it" in refused.err
    assert contents(graph.store) == before
    query = ("query", "-e", "MATCH (q:Question) RETURN count(q) AS n", "--json")
    read = inside(*query, cwd=dataset, env=graph.env, code=0)
    assert f'"n": {SHOP_QUESTIONS}' in read.out
    assert "this graphkit is older" in read.err
    status = inside("db", "status", cwd=dataset, env=graph.env, code=0)
    assert "schema 1000, stated by graphkit 9.8.7" in status.out
    # Figures by this graphkit's own queries would be wrong in silence.
    with pytest.raises(InputError, match="a later version of graphkit") as named:
        require_run(graph.store, RUN)
    assert "migrate" not in str(named.value)


def test_rows_of_another_version_are_found(empty_store: Store, dataset: Path) -> None:
    """An older graphkit that knows no ``schema`` leaves it and changes the digest: status and migration name the rows.

    The digests that it writes are of its own form, so they differ, whatever it loads.
    """
    load_all(empty_store, dataset)
    assert in_older_form(empty_store) == []
    empty_store.write("MATCH (d:Dataset) SET d.digest = 'of an older form'")
    empty_store.write("MATCH (r:Run) SET r.digest = 'of an older form'")
    both = [f"the dataset {dataset.name}", f"the run {RUN}"]
    assert in_older_form(empty_store) == graph_content(empty_store).older == both
    # Nothing tells which files that digest was of, so the dataset stays, with the command that loads it.
    assert "graphkit load" in migrate(empty_store).left[0]
    load_all(empty_store, dataset)
    assert in_older_form(empty_store) == []


def statements(path: Path) -> str:
    """Return the code of a module without its docstrings, comments, imports and blank lines."""
    text = path.read_text(encoding="utf-8")
    dropped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_import = isinstance(node, ast.Import | ast.ImportFrom)
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if isinstance(node, ast.stmt) and (is_import or is_text):
            dropped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    return "\n".join(line for number, line in lines if line and not line.startswith("#") and number not in dropped)


def _code(query: str) -> str:
    """Return a query without the lines that are comments."""
    return "\n".join(line for line in query.splitlines() if not line.startswith("//"))


def schema_digest(folder: Path, rows: Path) -> str:
    """Return a digest of the schema, the load queries, and the code of their rows."""
    queries = [folder / "schema.cypher", *sorted((folder / "load").glob("*.cypher"))]
    texts = [f"{path.name}\n{_code(read_query(path).text)}" for path in queries] + [statements(rows)]
    return blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()


def test_schema_version_covers_what_is_written() -> None:
    """The digest is that of the schema, the load queries and the rows."""
    digest = schema_digest(ROOT / "cypher", ROOT / "graphkit" / "graph" / "rows.py")
    assert digest == schema_version.SCHEMA_DIGEST, (
        "cypher/schema.cypher, cypher/load/ or graphkit/graph/rows.py have changed. If a load now writes anything else "
        "(labels, properties, keys, relationships), increment SCHEMA_VERSION in graphkit/graph/schema_version.py, so "
        "that graphkit loads again what former versions wrote. In any case, set there: "
        f'SCHEMA_DIGEST = "{digest}"'
    )


@pytest.mark.parametrize("changed", ["schema.cypher", "load/answers.cypher", "rows.py"])
def test_schema_digest_sees_a_change(tmp_path: Path, changed: str) -> None:
    """A changed index, query or row changes the digest; comments, headers and docstrings don't."""
    shutil.copytree(ROOT / "cypher", tmp_path, dirs_exist_ok=True)
    shutil.copy(ROOT / "graphkit" / "graph" / "rows.py", tmp_path)
    before = schema_digest(tmp_path, tmp_path / "rows.py")
    header = tmp_path / "load" / "answers.cypher"
    header.write_text(header.read_text().replace("// title:", "// title: more of", 1))
    assert schema_digest(tmp_path, tmp_path / "rows.py") == before
    rows = tmp_path / "rows.py"
    rows.write_text(rows.read_text().replace('"""', '"""In other words. ', 1))
    assert schema_digest(tmp_path, rows) == before
    with (tmp_path / changed).open("a") as stream:
        stream.write("more\n" if changed != "rows.py" else "more = 1\n")
    assert schema_digest(tmp_path, tmp_path / "rows.py") != before
