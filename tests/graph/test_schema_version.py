"""The schema version: a new one loads everything again, and no change of the schema goes unnoticed."""

from __future__ import annotations

import ast
import shutil
from hashlib import blake2b
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph import schema_version
from graphkit.graph.queries import read_query
from graphkit.graph.runs import load_run
from tests.helpers import ROOT
from tests.helpers.loading import RUN, load_all

pytestmark = pytest.mark.newest


def test_new_form_loads_everything_anew(empty_store: Store, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a new schema version, no file, question or run counts as unchanged."""
    load_all(empty_store, dataset)
    monkeypatch.setattr(schema_version, "SCHEMA_VERSION", "a later one")
    summary = graphkit.load(empty_store, dataset)
    again = load_run(empty_store, dataset.name, RUN, dataset / "runs" / f"{RUN}.jsonl")
    assert set(summary.unchanged.values()) == {0}
    assert summary.written["questions"] == 30
    assert (again.written, again.unchanged) == (30, 0)


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


def schema_digest(folder: Path, rows: Path) -> str:
    """Return a digest of the schema, the load queries, and the code of their rows."""
    queries = [folder / "schema.cypher", *sorted((folder / "load").glob("*.cypher"))]
    texts = [f"{path.name}\n{read_query(path).text}" for path in queries] + [statements(rows)]
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
