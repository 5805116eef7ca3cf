"""A key that stands twice in an object of JSON is refused, wherever it is read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.records.json_once import repeats_a_key, strict_json
from tests.helpers import ROOT
from tests.helpers.cli import inside, tiny
from tests.helpers.properties import examples

CASE = ROOT.parent / "shared" / "data" / "cases" / "json-key-twice"


@pytest.mark.parametrize(
    ("line", "twice"),
    [
        (b'{"a": 1, "b": 2}', False),
        (b'{"a": 1, "b": 2, "a": 3}', True),
        (b'{"a": [{"b": {"c": 1, "c": 2}}]}', True),
        (b'[{"a": 1}, {"a": 1}]', False),
        (b'{"a": ": : :", "\\u0061": "x"}', True),  # an escape of a
        (b'{"a": "\\u003a", "b": "x\\u003A"}', False),
        (b'{"a": "x", "a": "\\u003a"}', True),  # the escape makes up for the lost colon
        (b'{"a": "\\\\u003a"}', False),
    ],
)
def test_line(line: bytes, twice: bool) -> None:
    """Keys count, whatever the texts and the escapes are."""
    assert repeats_a_key(line) is twice


@examples(100)
@given(st.recursive(st.none() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)), st.booleans())
def test_usual_json_repeats_none(value: Any, ascii_only: bool) -> None:
    """What a library writes passes, and the value is the same."""
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "replace")
    assert repeats_a_key(text) is False
    assert strict_json(text) == json.loads(text)


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[-Infinity]", '{"a": 1, "a": 1}'])
def test_strict(text: str) -> None:
    """NaN and the infinities aren't JSON."""
    with pytest.raises(ValueError, match=r"isn't a number of JSON|stands twice"):
        strict_json(text)


EDGE = '{"source": "a:m.py#x", "relation": "CALLS", "target": "%s"%s}'
#: The gold of q1 is x -CALLS-> y -CALLS-> z; the last value of the key would be counted.
RUN = '{"run": "r", "question_id": "q1", "traversal": [%s], "traversal": [%s]}'


def test_a_run_record_with_a_key_twice(tmp_path: Path) -> None:
    """A walk that stands twice is refused with file, line and question, and skipped if asked to."""
    run = tiny(tmp_path / "d")
    good, bad = EDGE % ("a:m.py#y", ""), EDGE % ("a:m.py#q", "")
    run.write_text(RUN % (bad, good) + "\n" + '{"run": "r", "question_id": "q2", "traversal": []}\n')
    command = ("evaluate", run, "--no-store", "-m", "EdgeRecall")
    done = inside(*command, cwd=tmp_path, code=2)
    assert "r.jsonl:1: record 'q1': the field 'traversal' stands twice in one object" in " ".join(done.err.split())
    run.write_text(
        '{"run": "r", "question_id": "q1", "traversal": [%s]}\n' % (EDGE % ("a:m.py#q", ', "target": "a:m.py#y"'))
    )
    assert "'target' stands twice" in inside(*command, cwd=tmp_path, code=2).err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("questions.jsonl", '{"id": "q1", "question": "Who?", "relevant": {"a:m.py#x": 1, "a:m.py#x": 0}}'),
        ("edges.jsonl", EDGE % ("a:m.py#y", ', "relation": "IMPORTS"')),
        ("artifacts.jsonl", '{"id": "a:m.py#x", "repo": "a", "repo": "b"}'),
        ("dataset.json", '{"extra_fields": ["a"], "extra_fields": ["b"]}'),
    ],
)
def test_files_of_a_dataset(name: str, text: str, tmp_path: Path) -> None:
    """So are the other files of a dataset."""
    run = tiny(tmp_path / "d")
    (tmp_path / "d" / name).write_text(text + "\n")
    done = inside("check", tmp_path / "d", "--baseline", run, cwd=tmp_path)
    assert "stands twice in one object" in " ".join((done.out + done.err).split())
    assert done.code in (1, 2)


@pytest.mark.parametrize("form", ["a line", "a document"])
def test_logs_of_others(form: str, tmp_path: Path) -> None:
    """A log is refused as well, as JSON Lines and as one document."""
    tiny(tmp_path / "d")
    step = '{"role": "user", "content": "Who calls z?", "content": "y"}'
    text = f'{{"messages": [{step}, {{"role": "assistant", "content": "x"}}]}}'
    (tmp_path / "log.json").write_text(text + "\n" + text + "\n" if form == "a line" else text.replace(", ", ",\n"))
    done = inside("import", "auto", "log.json", "-d", "d", "-o", "r.jsonl", cwd=tmp_path, code=2)
    assert "the field 'content' stands twice in one object" in done.err


@pytest.mark.skipif(not CASE.exists(), reason="the shared cases aren't here")
def test_the_case(tmp_path: Path) -> None:
    """A document twice in a question's results of BEIR's JSON is refused, as in a TREC run."""
    shutil.copytree(CASE, tmp_path, dirs_exist_ok=True)
    done = inside("import", "auto", "b.json", "--dataset", "ds", "-o", "run.jsonl", cwd=tmp_path, code=2)
    assert "'a' stands twice" in done.err
