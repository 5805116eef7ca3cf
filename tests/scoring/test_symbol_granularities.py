"""Gold of a diff: its symbols qualified by a clone, by their last component, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from dulwich import porcelain
from dulwich.repo import Repo

import graphkit
from graphkit.database.store import Store
from graphkit.files.dataset import Dataset
from graphkit.scoring.known_share import known_share
from tests.helpers.cli import inside, write_lines
from tests.helpers.datasets import read_jsonl

ENGINES: tuple[Literal["python", "cypher"], ...] = ("python", "cypher")


PATCH = """--- a/app/cli.py
+++ b/app/cli.py
@@ -4,5 +4,6 @@ class Command:
     @cached
     def handle(self):
         first = 1
-        return first
+        second = 2
+        return first + second

@@ -14,2 +15,2 @@ def main():
 def main():
-    return Command()
+    return Command().handle()
"""
SOURCE = """import functools

class Command:
    @cached
    def handle(self):
        first = 1
        return first


class Other:
    def handle(self):
        return 3

def main():
    return Command()
"""


@pytest.fixture
def clone(tmp_path: Path) -> tuple[Path, str]:
    """A clone that has the file, and its commit."""
    folder = tmp_path / "clone"
    (folder / "app").mkdir(parents=True)
    (folder / "app" / "cli.py").write_text(SOURCE)
    repository = Repo.init(str(folder))
    porcelain.add(repository, [str(folder / "app" / "cli.py")])
    sha = porcelain.commit(repository, message=b"one", author=b"a <a@b>", committer=b"a <a@b>")
    return folder, sha.decode()


def swe_gold(folder: Path, sha: str, *options: str) -> dict[str, Any]:
    """Return the question that `import gold swe-bench` makes of the patch."""
    row = {"instance_id": "q", "problem_statement": "?", "repo": "x/app", "base_commit": sha, "patch": PATCH}
    write_lines(folder / "rows.jsonl", [row])
    inside("import", "gold", "swe-bench", folder / "rows.jsonl", "-o", folder / "swe", *options, cwd=folder, code=0)
    return read_jsonl(folder / "swe" / "questions.jsonl")[0]


@pytest.mark.parametrize(
    ("with_clone", "retrieved", "expected"),
    [
        # With a clone gold is {Command.handle, main}, compared as written; without one {handle, main}, by the last
        # component. `Other.handle` is the method of another class: only qualified gold tells it apart. Files are alike.
        (True, ["x/app:app/cli.py#Command.handle", "x/app:app/cli.py#main"], (1.0, 1.0)),
        (True, ["x/app:app/cli.py#Command.handle"], (0.5, 1.0)),
        (True, ["x/app:app/cli.py#Other.handle"], (0.0, 1.0)),
        (False, ["x/app:app/cli.py#Command.handle", "x/app:app/cli.py#main"], (1.0, 1.0)),
        (False, ["x/app:app/cli.py#Command.handle"], (0.5, 1.0)),
        (False, ["x/app:app/cli.py#Other.handle"], (0.5, 1.0)),
        (False, ["x/app:app/cli.py#handler"], (0.0, 1.0)),
        (False, ["x/app:app/other.py"], (0.0, 0.0)),
    ],
)
def test_symbols_at_three_granularities(
    store: Store, clone: tuple[Path, str], tmp_path: Path, with_clone: bool, retrieved: list[str], expected: Any
) -> None:
    """Qualified, by the last component and by file, as a published table has them, by both engines."""
    folder, sha = clone
    gold = swe_gold(tmp_path, sha, *(["--repo", f"x/app={folder}"] if with_clone else []))
    assert gold["expected_symbols"] == (["Command.handle", "main"] if with_clone else ["handle", "main"])
    assert gold.get("symbol_match") == (None if with_clone else "last_component")
    log = write_lines(tmp_path / "swe" / "runs" / "r.jsonl", [{"run": "r", "question_id": "q", "retrieved": retrieved}])
    for engine in ENGINES:
        result = graphkit.evaluate(log, measures=["SymbolRecall", "FileRecall"], engine=engine, store=store)
        assert result.rows[0].values == expected, engine


def test_unqualified_symbols_are_reported(clone: tuple[Path, str], tmp_path: Path) -> None:
    """An evaluation by SymbolRecall says that it compared by the last component; any other evaluation doesn't."""
    swe_gold(tmp_path, clone[1])
    log = write_lines(tmp_path / "swe" / "runs" / "r.jsonl", [{"run": "r", "question_id": "q", "retrieved": []}])
    reported = inside("evaluate", log, "--no-store", "-m", "SymbolRecall", cwd=tmp_path, code=0)
    assert "SymbolRecall compares them by their last component" in reported.out + reported.err
    reported = inside("evaluate", log, "--no-store", "-m", "FileRecall", cwd=tmp_path, code=0)
    assert "last component" not in reported.out + reported.err


def test_a_dataset_with_file_gold_has_gold(clone: tuple[Path, str], tmp_path: Path) -> None:
    """Nothing is said of a lack of gold where files are expected, however many ids a run holds."""
    swe_gold(tmp_path, clone[1])
    ids = [f"x/app:app/cli.py#f{number}" for number in range(20)]
    log = write_lines(tmp_path / "swe" / "runs" / "r.jsonl", [{"run": "r", "question_id": "q", "retrieved": ids}])
    share = known_share(Dataset(tmp_path / "swe"), log)
    assert share is not None
    assert share.meaning is None


def test_ids_of_another_normalisation_are_reported_apart(tmp_path: Path) -> None:
    """If a run writes an accent as a character of its own, the reason is named and both ids show it."""
    ids = [f"x:d{number}/cafe\u0301.py" for number in range(11)]
    log = write_lines(tmp_path / "r.jsonl", [{"run": "r", "question_id": "q", "retrieved": ["x:cafe\u0301.py", *ids]}])
    # The dataset's artifacts are no gold, so that nothing is respelled by them.
    write_lines(tmp_path / "questions.jsonl", [{"id": "q", "question": "?", "relevant": ["x:a.py"]}])
    write_lines(tmp_path / "artifacts.jsonl", [{"id": "x:caf\u00e9.py"}])
    share = known_share(Dataset(tmp_path), log)
    assert share is not None
    assert "they differ in Unicode normalisation" in str(share.meaning)
    assert r"'x:cafe\u0301.py'" in str(share.meaning)
    assert r"'x:caf\xe9.py'" in str(share.meaning)
