"""Gold over code, with rows made by hand from its documentation: the gold, and the notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphkit.plugins.logs.diffs import changed_files
from tests.helpers.gold_rows import Row, mistake, one, unused

#: Changes a method (with its heading), a signature, and adds a function; adds a file; renames one; removes one.
PATCH = """diff --git a/pkg/m.py b/pkg/m.py
index 1..2 100644
--- a/pkg/m.py
+++ b/pkg/m.py
@@ -10,3 +10,3 @@ class Store:
         a = 1
-        b = 2
+        b = 3
         c = 4
@@ -20,7 +20,10 @@ def before():
     x = 1
 
     def load(self, key):
-        return key
+        return self.of(key)
 
-def top(a):
+def top(a, b):
     return a
+
+def added():
+    return 1
diff --git a/pkg/new.py b/pkg/new.py
new file mode 100644
--- /dev/null
+++ b/pkg/new.py
@@ -0,0 +1,2 @@
+def fresh():
+    --- not a header
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git "a/caf\\303\\251.py" "b/caf\\303\\251.py"
--- "a/caf\\303\\251.py"
+++ /dev/null
@@ -1 +0,0 @@
-x = 1
"""

SWE: Row = {
    "instance_id": "o__r-1",
    "repo": "o/r",
    "base_commit": "c0ffee",
    "problem_statement": "It fails.",
    "patch": PATCH,
    "test_patch": "diff",
}


def test_swe_bench(tmp_path: Path) -> None:
    """The files at the commit before, and the innermost definition around each changed line.

    Store by the heading, load by its line in the hunk, top by its own line; neither the neighbour in the heading, nor
    what the patch adds.
    """
    question, problems = one("swe-bench", tmp_path, SWE)
    assert question.expected_files == ("o/r:pkg/m.py", "o/r:old name.txt", "o/r:café.py")
    assert question.expected_symbols == ("Store", "load", "top")
    assert question.commits == {"o/r": "c0ffee"}
    assert question.question == "It fails."
    assert unused(problems) == {"test_patch"}
    # The repository before the colon is one: nothing is reported of it.
    assert problems.noted == {}


def test_swe_bench_that_only_adds(tmp_path: Path) -> None:
    """A patch that only adds files expects no file."""
    patch = "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = 1\n"
    question, problems = one("swe-bench", tmp_path, SWE | {"patch": patch})
    assert (question.expected_files, question.expected_symbols) == ((), ())
    assert problems.noted == {"the patch only adds files: none is expected at base_commit": 1}


@pytest.mark.parametrize(
    ("hunk", "symbols"),
    [
        # A method that is added behind the one in the heading is no change of that.
        ("@@ -1 +1,4 @@ def before(self):\n         return 1\n+\n+    def after(self):\n+        return 2", []),
        # Added to a class, it is one of the class.
        ("@@ -1 +1,3 @@ class Store:\n         return 1\n+    def after(self):\n+        return 2", ["Store"]),
        # What stands beside a function isn't in it.
        ("@@ -1,3 +1,3 @@\n def f():\n     pass\n-X = 1\n+X = 2", []),
        # The heading of a hunk is what begins before it; the function within is nearer.
        ("@@ -9,2 +9,2 @@ class Store:\n     def get(self):\n-        return 1\n+        return 2", ["get"]),
        # A line that is added behind what was added belongs to that.
        ("@@ -1 +1,3 @@\n def f(): ...\n+def g():\n+    return 1", []),
        ("@@ -1,2 +1,2 @@ func (s *Store) Get() {\n-\treturn 1\n+\treturn 2\n }", ["Get"]),
        ("@@ -1,2 +1,2 @@ static int parse(const char *text)\n-    return 1;\n+    return 2;\n }", ["parse"]),
        ("@@ -1 +1 @@ if (x) {\n-    return 1;\n+    return 2;\n\\ No newline at end of file", []),
        # No file has so many lines.
        pytest.param(f"@@ -{'9' * 5000} +1 @@\n-def f(): ...", [], id="digits"),
    ],
)
def test_symbols_of_a_hunk(hunk: str, symbols: list[str]) -> None:
    """The symbol of a changed line is the innermost old definition around it that the hunk shows."""
    [file] = changed_files(f"--- a/x\n+++ b/x\n{hunk}\n")
    assert list(file.symbols) == symbols


def test_files_without_hunks() -> None:
    """Binary files and files that only change their mode count; new files don't."""
    patch = (
        "diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
        "diff --git a/a b.png b/a b.png\nindex 1..2 100644\nBinary files a/a b.png and b/a b.png differ\n"
        "diff --git a/new.png b/new.png\nnew file mode 100644\nBinary files /dev/null and b/new.png differ\n"
    )
    assert [file.path for file in changed_files(patch)] == ["run.sh", "a b.png", None]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"patch": "fix it"}, "the patch isn't a unified diff"),
        ({"patch": "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n a\n-b\n"}, "a hunk of the patch is cut short: '@@ -1,3"),
        ({"patch": "@@ -1 +1 @@\n-a\n+b\n"}, "a hunk without a file"),
        ({"base_commit": None}, "the field 'base_commit' is missing"),
        ({"repo": "a:b"}, "'repo' must be the name of a repository"),
    ],
)
def test_swe_bench_mistakes(change: Row, said: str, tmp_path: Path) -> None:
    """A row with an unreadable patch is reported with its id."""
    reported = mistake("swe-bench", tmp_path, SWE | change)
    assert "record 'o__r-1'" in reported
    assert said in reported


def test_context_bench(tmp_path: Path) -> None:
    """The files of the blocks without the container's folder, and the symbols whose definitions begin there."""
    blocks = [
        {"file": "/testbed/src/a.go", "start_line": 1, "end_line": 3, "content": "func (s *S) Get() {\n\treturn\n}"},
        {"file": "src/b.py", "start_line": 8, "end_line": 9, "content": "    return x"},
        {"file": "/workspace/r/src/b.py", "start_line": 1, "end_line": 2, "content": "class B:\n    def m(self): ..."},
    ]
    row = {"instance_id": "i-1", "repo": "o/r", "base_commit": "c0ffee", "problem_statement": "It fails."}
    question, problems = one("context-bench", tmp_path, row | {"gold_context": json.dumps(blocks)})
    assert question.expected_files == ("o/r:src/a.go", "o/r:src/b.py")
    assert question.expected_symbols == ("Get", "B", "m")
    assert question.commits == {"o/r": "c0ffee"}
    assert problems.noted == {}
    former = {"inst_id": "i-1", "repo_url": "https://github.com/o/r.git", "commit": "c0ffee", "prompt": "It fails."}
    question, problems = one(
        "context-bench", tmp_path, former | {"init_ctx": [{"file": "x.py"}], "add_ctx": blocks[:1]}
    )
    assert question.expected_files == ("o/r:x.py", "o/r:src/a.go")
    assert "block 1 of 'gold_context' names no file" in mistake(
        "context-bench", tmp_path, row | {"gold_context": "[{}]"}
    )


#: An output of LocAgent with its gold: a method and a function of one file, and a file without an edited entity.
LOCATED: Row = {
    "instance_id": "o__r-1",
    "found_files": ["pkg/m.py"],
    "meta_data": {
        "repo": "o/r",
        "base_commit": "c0ffee",
        "problem_statement": "It fails.",
        "patch": "diff",
        "gt_file_changes": [
            {"file": "pkg/m.py", "changes": {"edited_entities": ["pkg/m.py:Store.load", "pkg/m.py:top"]}},
            {"file": "pkg/n.py", "changes": {}},
        ],
    },
}


def test_locagent(tmp_path: Path) -> None:
    """Edited entities are relevant, and so is a file without one; the rows of the benchmark list functions."""
    question, problems = one("locagent", tmp_path, LOCATED)
    assert (question.id, question.group, question.commits) == ("o__r-1", "o/r", {"o/r": "c0ffee"})
    assert question.relevant == {"o/r:pkg/m.py#Store.load": 1, "o/r:pkg/m.py#top": 1, "o/r:pkg/n.py": 1}
    assert question.expected_files == ("o/r:pkg/m.py", "o/r:pkg/n.py")
    assert question.expected_symbols == ("Store.load", "top")
    assert (unused(problems), problems.noted) == ({"found_files"}, {})
    meta = {name: value for name, value in LOCATED["meta_data"].items() if name != "gt_file_changes"}
    row = {"instance_id": "o__r-1", **meta, "edit_functions": ["pkg/m.py:Store.load", "pkg/n.py:f", "pkg/m.py:top"]}
    question, _ = one("locagent", tmp_path, row)
    assert list(question.relevant) == ["o/r:pkg/m.py#Store.load", "o/r:pkg/m.py#top", "o/r:pkg/n.py#f"]
    changes = [{"file": "pkg/n.py", "changes": {}}]
    _, problems = one("locagent", tmp_path, row | {"edit_functions": None, "file_changes": changes})
    assert [note for note in problems.noted if "files only" in str(note)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"repo": "https://host/o/r"}, "'repo' must be the name of a repository"),
        ({"edit_functions": []}, "it names no edited place"),
        ({"edit_functions": ["pkg/m.py"]}, "edited entities must be a list such as"),
        ({"gt_file_changes": "[]"}, "'gt_file_changes' must be a list of files that isn't empty"),
        ({"gt_file_changes": [{}]}, "item 1 of 'gt_file_changes' names no file"),
    ],
)
def test_locagent_mistakes(change: Row, said: str, tmp_path: Path) -> None:
    """A row that names no edited place is reported."""
    row = {"instance_id": "o__r-1", "repo": "o/r", "base_commit": "c0ffee", "problem_statement": "It fails."}
    assert said in mistake("locagent", tmp_path, row | change)
