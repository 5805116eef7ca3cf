"""A format of another package: found by its entry point, listed, used by the commands, and reported if it is broken."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphkit.readers.known_formats import formats, installed, reader_of, readers, recognised
from graphkit.readers.logged import UnreadableLogError
from tests.helpers import ROOT
from tests.helpers.cli import tiny
from tests.helpers.datasets import read_jsonl, write_jsonl

PAGE = (ROOT / "docs" / "own-reader.md").read_text("utf-8")

OUTPUT = {
    "question_id": "q1",
    "result": {
        "retriever": {
            "documents": [
                {"id": "y", "content": "def y", "score": 0.5, "meta": {"edges": [["x", "CALLS", "y"]]}},
                {"id": "x", "content": "def x", "score": 0.25, "meta": {}},
            ]
        },
        "llm": {"replies": ["x calls y"], "usage": 3},
    },
}


def install(folder: Path, points: str) -> None:
    """Put a distribution with entry points into a folder, as pip does."""
    info = folder / "pipeline_reader-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pipeline-reader\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[graphkit.readers]\n{points}\n")
    code = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code
    (folder / "pipeline_reader.py").write_text(code[1], "utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, whose distributions are seen."""
    folder = tmp_path / "site"
    monkeypatch.syspath_prepend(str(folder))
    installed.cache_clear()
    yield folder
    installed.cache_clear()
    sys.modules.pop("pipeline_reader", None)


@pytest.mark.parametrize("form", ["pipeline", "auto"])
def test_the_reader_of_the_page_imports_a_log(form: str, tmp_path: Path) -> None:
    """Installed as a package of its own, the page's reader makes a run by the real command, named or recognised."""
    points = re.search(r"```toml\n\[[^\n]+\n(.*?)\n```", PAGE, re.DOTALL)
    assert points
    install(tmp_path / "site", points[1].replace('"', ""))
    data = tiny(tmp_path / "data").parent.parent
    write_jsonl(tmp_path / "ids.jsonl", [{"name": name, "id": f"a:m.py#{name}"} for name in "xy"])
    log = write_jsonl(tmp_path / "log.jsonl", [OUTPUT])
    words = ["import", form, log, "--dataset", data, "--ids", "ids.jsonl", "-o", "run.jsonl"]
    done = subprocess.run(
        [sys.executable, "-m", "graphkit", *map(str, words)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), os.environ["PYTHONPATH"]])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "A pipeline: documents and replies of its components" in done.stdout
    assert "usage" in done.stdout  # a field that isn't read is reported
    (record,) = read_jsonl(tmp_path / "run.jsonl")
    assert [(one["id"], one["score"]) for one in record["retrieved"]] == [("a:m.py#y", 0.5), ("a:m.py#x", 0.25)]
    (step,) = record["traversal"]
    assert (step["source"], step["relation"], step["target"]) == ("a:m.py#x", "CALLS", "a:m.py#y")
    assert record["answer"] == "x calls y"


def test_another_packages_reader_is_asked_first(site: Path) -> None:
    """It comes before graphkit's own formats in the order of recognition, and after them in the list of names."""
    install(site, "pipeline = pipeline_reader:PipelineReader")
    assert formats()[-1] == "pipeline"
    assert [reader.name for reader in readers()[0]][:2] == ["pipeline", "graphkit"]
    assert recognised([OUTPUT], [], "x.jsonl")[0].name == "pipeline"


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ("pipeline = no_such_module:Reader", "there is no module 'no_such_module'"),
        ('pipeline = "pipeline_reader"', "there is no module"),
        ("pipeline = pipeline_reader:NoReader", "there is no 'NoReader'"),
        ("pipeline = pipeline_reader:documents", "it isn't a subclass of graphkit.readers.logged.Reader"),
        ("pipeline = pipeline_reader:Reader", "the reader doesn't define read, recognises"),
        ("pipe = pipeline_reader:PipelineReader", "the name of its entry point: name = 'pipe'"),
    ],
)
def test_a_broken_reader_is_reported(site: Path, point: str, words: str) -> None:
    """Naming its format is an error; recognition goes on without it, and says so."""
    install(site, point)
    name = point.partition(" ")[0]
    with pytest.raises(UnreadableLogError, match=re.escape(words)) as error:
        reader_of(name)
    assert f"the entry point {name!r} of pipeline-reader" in str(error.value)
    own = {"run": "r", "question_id": "q1", "answer": "a"}
    reader, how = recognised([own], [], "x.jsonl")
    assert (reader.name, words in how) == ("graphkit", True)


def test_a_format_of_graphkits_own_keeps_its_name(site: Path) -> None:
    """Another package can't replace a format that graphkit has."""
    install(site, "trec = pipeline_reader:PipelineReader")
    assert type(reader_of("trec")).__module__ == "graphkit.plugins.logs.trec"


def test_names_are_listed_without_importing_a_reader() -> None:
    """Listing the formats, as help does, imports no reader."""
    code = (
        "import sys; from graphkit.readers.known_formats import formats; assert len(formats()) > 13; "
        "assert not any(name.startswith('graphkit.readers.t') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
