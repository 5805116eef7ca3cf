"""Whatever a file holds, a command that takes it ends with a documented exit code and in words."""

from __future__ import annotations

import copy
import gzip
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from tests.helpers import FAST
from tests.helpers.cli import ANSWERS, QUESTIONS, Done, Graph, inside
from tests.helpers.invocations import (
    COMMANDS,
    EXECUTION,
    FIRST_IN,
    GRAPHML,
    SAMPLE,
    SCHEMA,
    SCORE,
    SERVING,
    SPAN,
    VERDICT,
    Words,
    arguments,
    file_parameters,
    write_world,
)
from tests.helpers.properties import examples
from tests.helpers.served import ended_at_once

#: The documented ones but for an interrupt and a bug, see docs/commands.md.
EXIT_CODES = {0, 1, 2, 3}

#: How many drawn inputs each parameter gets beside the three below; `GRAPHKIT_RUBBISH=1000` is for a long night.
EXAMPLES = int(os.environ.get("GRAPHKIT_RUBBISH", "1" if FAST else "3"))

#: Records of every kind: rubbish that resembles them gets farther than noise.
RECORDS: list[Any] = [
    *(*QUESTIONS, *ANSWERS, SCORE, VERDICT, EXECUTION, SAMPLE, SPAN, SCHEMA, {"name": "x", "id": "a:m.py#x"}),
    {"repo": "a", "sha": "1" * 40, "parents": ["2" * 40], "committed_at": "2026-01-01T00:00:00Z"},
    {"id": "s", "commits": {"a": "1" * 40}, "compatible": True},
    {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"},
    {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "relation": "CALLS"}]},
    {"messages": [{"role": "user", "content": "Who calls z?"}, {"role": "assistant", "content": "x"}]},
    {"question_id": "q1", "spans": [SPAN], "outputs": {"answer": "x"}, "error": None},
    {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "1" * 32, "spanId": "2" * 16, "attributes": []}]}]}]},
    {"_id": "h", "question": "x?", "answer": "y", "supporting_facts": [["t", 0]]},
    {"weights": {"retrieval": {"RR": 1.0}}, "targets": {"RR": 0.5}, "models": {"m": {"prompt": 1.0, "output": 2.0}}},
]
KEYS = sorted({key for record in RECORDS for key in record} | {"", "\x1b[2J", "a\nb", "\ud800"})

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(KEYS)
values = st.recursive(
    plain
    | st.sampled_from([10**400, -(10**25), 1e308, float("nan"), "\x1b]0;x\x07", "\u2028", "x" * 2000, "1" * 5000]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def changed(draw: st.DrawFn) -> Any:
    """A record in which something that lies somewhere in it is replaced, added or left out."""
    record = copy.deepcopy(draw(st.sampled_from(RECORDS)))
    for _ in range(draw(st.integers(1, 2))):
        place: Any = record
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = draw(st.sampled_from(keys or [None])) if keys else None
            inner = place[key] if key is not None else None
            if isinstance(inner, dict | list) and inner and draw(st.booleans()):
                place = inner
                continue
            break
        if isinstance(place, dict):
            name = key if key is not None and draw(st.booleans()) else draw(st.sampled_from(KEYS))
            if name in place and draw(st.integers(0, 4)) == 0:
                del place[name]
            else:
                place[name] = draw(values)
        elif key is not None:
            place[key] = draw(values)
    return record


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode()


lines = st.lists(changed() | st.sampled_from(RECORDS) | values, min_size=1, max_size=3).map(
    lambda some: b"\n".join(map(_json, some))
)
odd = st.sampled_from(
    [
        *(
            b"",
            b"\n\n",
            b"\0" * 9,
            b"\xff\xfe\x00",
            b"\xef\xbb\xbf",
            b"\xef\xbb\xbf{}",
            b"null",
            b"[]",
            b"[[]]",
            b"{}",
            b'"x"',
        ),
        *(b"[" * 100_000, b'{"a":' * 50_000, b"a=" + b"[" * 100_000, b"a = " + b"1" * 5000, b"1" * 5000, b"-0.0e999"),
        *(b'{"id": "q1", "question": "\\ud800"}', b"a.b.c.d = {x = [[{}]]}", b"[a.b]\n[a]\nb = 1", b"\r", b"\x1b[2J"),
        *(
            b"run,question,measure,value\nr,q1,x,nan\n",
            b'run,question\n"r',
            b"a;b\n1;2\n",
            b"question_id,grade\nq1,\x00",
        ),
        *(
            b"source,relation,target\n,,\n",
            b"source,target\na,b,c\n",
            b"name,id\nx\n",
            b"q1 Q0 d 1\n",
            b"q1 Q0 d 1 x r\n",
        ),
        *(
            GRAPHML.encode(),
            GRAPHML.encode()[:-30],
            GRAPHML.replace("m.py#y", "gone", 1).encode(),
            b"<graphml/>",
            b"<a>" * 9,
        ),
        *(
            b"PK\x03\x04",
            b"PAR1",
            b"PAR1" * 9,
            b"SQLite format 3\0",
            b"\x1f\x8b\x08",
            b"\x28\xb5\x2f\xfd",
            b"{question}",
        ),
        *(
            b"question_id,contexts\nq1,{[]}\n",
            b"user_input,retrieved_contexts\nx,{{}}\n",
            b"// title: x\n// parameters: =\n",
        ),
    ]
)
holds = lines | odd | st.binary(max_size=60) | lines.map(lambda data: data[: len(data) * 2 // 3])


@st.composite
def rubbish(draw: st.DrawFn) -> tuple[str, bytes]:
    """The ending and the bytes of a file."""
    ending = draw(
        st.sampled_from(["", "", "", ".gz", ".zst", ".jsonl", ".csv", ".json", ".parquet", ".jsonl.gz", ".eval"])
    )
    data = draw(holds)
    if ending.endswith((".gz", ".zst")):
        whole = gzip.compress(data) if ending.endswith(".gz") else zstandard.compress(data)
        data = draw(st.sampled_from([data, whole, whole, whole[: len(whole) // 2], whole + b"x"]))
    return ending, data


PARAMETERS = sorted(file_parameters())
#: The formats of logs take the same options in one function: of all but one only the log itself is tried.
PARAMETERS = [
    (words, name)
    for words, name in PARAMETERS
    if words[0] != "import" or words[1] in ("auto", "gold", "graph") or name == "files"
]


#: Those that the fast suite tries: what a user gives graphkit first.
FEW = {
    *((("evaluate",), name) for name in ("runs", "--dataset", "--scores", "--config")),
    *((("import", "auto"), "files"), (("import", "graph"), "files"), (("import", "gold"), "files")),
    *((("init",), "questions"), (("check",), "dataset"), (("load",), "dataset"), (("load-scores",), "files")),
    *((("grade",), "run"), (("report",), "runs"), (("report",), "--verdicts"), (("execute",), "runs")),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a file for each parameter of each command."""
    return write_world(tmp_path_factory.mktemp("world"))


@contextmanager
def stopped(words: Words) -> Iterator[None]:
    """End a command that serves until it is reported to end."""
    if words not in SERVING:
        yield
        return
    with ended_at_once():
        yield


def place_of(words: Words, name: str, ending: str) -> tuple[str, str]:
    """Return where the rubbish goes, and what the command is given: the file itself, or the folder around it."""
    usual = COMMANDS[words].paths[name]
    if usual in FIRST_IN:
        kept = FIRST_IN[usual]
        suffix = ending if ending in (".gz", ".zst") and kept.endswith(".jsonl") else ""
        return f"drawn-{usual}/{kept}{suffix}", f"drawn-{usual}"
    given_ending = ending if ending in ("", ".gz", ".zst") else None
    file = f"drawn-{Path(usual).name}{ending}" if given_ending is not None else f"drawn{ending}"
    return file, file


def called(words: Words, name: str, world: Path, env: dict[str, str], ending: str, data: bytes) -> Done:
    """Run a command with rubbish in the place of one of its files."""
    file, argument = place_of(words, name, ending)
    if argument == "drawn-clone":
        shutil.copytree(world / "clone", world / argument, dirs_exist_ok=True)
    (world / file).parent.mkdir(exist_ok=True)
    if (world / file).parent != world:
        for other in (world / file).parent.glob("questions*"):
            other.unlink()
        if argument == "drawn-tone":
            (world / argument / "prompt.txt").write_text("How polite is it?")
    (world / file).write_bytes(data)
    try:
        with stopped(words):
            return inside(*arguments(words, {name: argument}), cwd=world, env=env)
    finally:
        (world / file).unlink(missing_ok=True)


def test_the_few_are_parameters() -> None:
    """Each parameter that the fast suite tries is there."""
    assert {*PARAMETERS} >= FEW


@pytest.mark.parametrize(
    ("words", "name"),
    [
        pytest.param(*one, marks=() if one in FEW else pytest.mark.slow("every file of every command, four times each"))
        for one in PARAMETERS
    ],
    ids=lambda one: " ".join(one) if isinstance(one, tuple) else one,
)
def test_rubbish_is_refused_in_words(words: Words, name: str, world: Path, graph: Graph) -> None:
    """No file that a command takes leads to a traceback, an exit code of its own, or what drives a terminal."""
    env = graph.env if COMMANDS[words].graph else {}

    @examples(EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
    @example(("", b'{"run": "r", "question_id": "q1"}\n' * 2))
    @example(("", b"[" * 100_000))
    @example(("", b"a = " + b"1" * 5000))
    @given(rubbish())
    def check(drawn: tuple[str, bytes]) -> None:
        done = called(words, name, world, env, *drawn)
        assert done.code in EXIT_CODES, done.err
        assert "Traceback" not in done.out + done.err
        assert done.code != 2 or done.err.strip()
        assert not any(char in done.out + done.err for char in "\x1b\x07\x9b\u2028\r")

    check()
