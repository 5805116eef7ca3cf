"""The form of what is written: a new one loads all anew, and no change of it goes unseen."""

from __future__ import annotations

import shutil
from hashlib import blake2b
from pathlib import Path

import pytest

import graphkit
from graphkit.database.store import Store
from graphkit.graph import form
from graphkit.graph.queries import read_query
from graphkit.graph.runs import load_run
from tests.helpers import ROOT
from tests.helpers.loading import RUN, load_all


def test_new_form_loads_everything_anew(empty_store: Store, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where graphkit writes in a new form, no file, question or run of the former one counts as there already."""
    load_all(empty_store, dataset)
    monkeypatch.setattr(form, "FORM", "a later one")
    summary = graphkit.load(empty_store, dataset)
    again = load_run(empty_store, dataset.name, RUN, dataset / "runs" / f"{RUN}.jsonl")
    assert set(summary.unchanged.values()) == {0}
    assert summary.written["questions"] == 30
    assert (again.written, again.unchanged) == (30, 0)


def form_digest(folder: Path, rows: Path) -> str:
    """Return a digest of what decides what a load writes: the schema, the load queries, and what makes their rows."""
    queries = [folder / "schema.cypher", *sorted((folder / "load").glob("*.cypher"))]
    texts = [f"{path.name}\n{read_query(path).text}" for path in queries] + [rows.read_text(encoding="utf-8")]
    return blake2b("\0".join(texts).encode(), digest_size=16).hexdigest()


def test_form_is_that_of_what_is_written() -> None:
    """Whoever changes the schema, a load query or the rows decides whether databases must be loaded anew."""
    digest = form_digest(ROOT / "cypher", ROOT / "graphkit" / "graph" / "rows.py")
    assert digest == form.FORM_DIGEST, (
        "cypher/schema.cypher, cypher/load/ or graphkit/graph/rows.py have changed. If a load now writes anything else "
        "(labels, properties, keys, relationships), give FORM in graphkit/graph/form.py the next number, so that what "
        f'former versions wrote is loaded anew. In any case record there: FORM_DIGEST = "{digest}"'
    )


@pytest.mark.parametrize("changed", ["schema.cypher", "load/answers.cypher", "rows.py"])
def test_form_digest_sees_a_change(tmp_path: Path, changed: str) -> None:
    """A changed index, query or row is another digest; a comment in a query's header is none."""
    shutil.copytree(ROOT / "cypher", tmp_path, dirs_exist_ok=True)
    shutil.copy(ROOT / "graphkit" / "graph" / "rows.py", tmp_path)
    before = form_digest(tmp_path, tmp_path / "rows.py")
    header = tmp_path / "load" / "answers.cypher"
    header.write_text(header.read_text().replace("// title:", "// title: more of", 1))
    assert form_digest(tmp_path, tmp_path / "rows.py") == before
    with (tmp_path / changed).open("a") as stream:
        stream.write("more")
    assert form_digest(tmp_path, tmp_path / "rows.py") != before
