"""The shards of inputs, and their lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow
import pytest
import zstandard
from pyarrow import parquet

from graphkit.errors import InputError
from graphkit.files.jsonl import read_lines
from graphkit.plugins.cluster.url_locations import shown
from graphkit.shards.inputs import Shard, shard_lines, shards_of
from graphkit.shards.locations import Location, natural

TEXT = "\ufeff" + "\n".join(["{}", "", '{"a":"é"}', "[1]", '{"b":2}', '{"c":3}', ""])
#: Its lines that aren't blank, with their numbers; the byte order mark is none of them.
LINES = [(1, b"{}"), (3, '{"a":"é"}'.encode()), (4, b"[1]"), (5, b'{"b":2}'), (6, b'{"c":3}')]


@pytest.fixture
def memory() -> Iterator[str]:
    """The URL of an empty folder in memory."""
    yield "memory://world"
    files = fsspec.filesystem("memory")
    if files.exists("/world"):
        files.rm("/world", recursive=True)


def put(folder: str, name: str, content: bytes) -> Location:
    """Write a file into a folder that may be a URL."""
    place = Location.of(folder)
    with place.staging() as staging:
        (staging / "file").write_bytes(content)
        place.put(staging / "file", name)
    return place.child(name)


@pytest.mark.parametrize("lines", [1, 2, 3, 4, 100])
def test_a_plain_file_is_cut_at_line_ends(tmp_path: Path, lines: int) -> None:
    """Byte ranges of a file give its lines with their numbers, however many of them there are in a shard."""
    file = tmp_path / "run.jsonl"
    file.write_text(TEXT, encoding="utf-8")
    shards = shards_of(file, lines=lines)
    assert len(shards) == -(-6 // lines)
    assert [shard.first for shard in shards] == [1 + number * lines for number in range(len(shards))]
    assert [line for shard in shards for line in shard_lines(shard)] == LINES == list(read_lines(file))


@pytest.mark.parametrize("form", ["gz", "zst", "array"])
def test_other_files_are_whole(tmp_path: Path, form: str) -> None:
    """A compressed file is one shard, as is an array, whose items are its lines."""
    content = b'[{"a":1},{"b":2}]'
    packed = {"gz": gzip.compress(content), "zst": zstandard.compress(content), "array": content}
    file = tmp_path / f"run.jsonl{'' if form == 'array' else f'.{form}'}"
    file.write_bytes(packed[form])
    [shard] = shards_of(file, lines=1)
    assert list(shard_lines(shard)) == [(1, b'{"a":1}'), (2, b'{"b":2}')]


@pytest.mark.parametrize("remote", [False, True])
def test_parquet_is_cut_between_row_groups(tmp_path: Path, memory: str, remote: bool) -> None:
    """Row groups give their rows as lines without nulls, numbered through the file; small groups come together."""
    table = pyarrow.table({"id": [f"q{number}" for number in range(10)], "score": [None, 0.5] * 5})
    parquet.write_table(table, tmp_path / "run.parquet", row_group_size=2)
    given = put(memory, "run.parquet", (tmp_path / "run.parquet").read_bytes()) if remote else tmp_path / "run.parquet"
    shards = shards_of(given, lines=5)
    assert [(shard.groups, shard.first) for shard in shards] == [((0, 1), 1), ((2, 3), 5), ((4,), 9)]
    rows = [line for shard in shards for line in shard_lines(shard)]
    expected = [{"id": f"q{row}", "score": 0.5} if row % 2 else {"id": f"q{row}"} for row in range(10)]
    assert [(number, json.loads(line)) for number, line in rows] == list(enumerate(expected, 1))


@pytest.mark.parametrize("remote", [False, True])
def test_folders_and_patterns(tmp_path: Path, memory: str, remote: bool) -> None:
    """A folder or a pattern gives its files in natural order; other files and hidden ones don't count."""
    folder = memory if remote else str(tmp_path)
    for name in ("part-10.jsonl", "part-9.jsonl.gz", "part-1.jsonl", "README.md", ".part-2.jsonl"):
        put(folder, name, gzip.compress(b"{}\n") if name.endswith("gz") else b"{}\n")
    names = ["part-1.jsonl", "part-9.jsonl.gz", "part-10.jsonl"]
    assert [shard.location.name for shard in shards_of(folder)] == names
    assert [shard.location.name for shard in shards_of(f"{folder}/part-*.jsonl*")] == names
    assert [list(shard_lines(shard)) for shard in shards_of(folder)] == [[(1, b"{}")]] * 3
    with pytest.raises(InputError, match="no file has such a name"):
        shards_of(f"{folder}/other-*.jsonl")
    with pytest.raises(InputError, match="there is no such file"):
        shards_of(f"{folder}/other.jsonl")


def test_natural_order() -> None:
    """Numbers compare as numbers, and names that differ in leading zeros alone have an order, too."""
    names = ["b-2", "a-10", "a-9", "a-09", "a", "10", "9"]
    assert [each.given for each in sorted(map(Location, names), key=natural)] == [
        *("9", "10", "a", "a-09", "a-9", "a-10", "b-2")
    ]


@pytest.mark.parametrize("remote", [False, True])
def test_a_changed_file_is_another_shard(tmp_path: Path, memory: str, remote: bool) -> None:
    """The key of a shard changes with the content of its file, and not with the time when it is asked for."""
    folder = memory if remote else str(tmp_path)
    file = put(folder, "run.jsonl", b'{"a":1}\n')
    [before], [again] = shards_of(file), shards_of(file)
    assert before.key == again.key
    put(folder, "run.jsonl", b'{"a":2}\n')
    assert shards_of(file)[0].key != before.key


@pytest.mark.parametrize("remote", [False, True])
def test_a_bomb_is_refused_by_its_name(tmp_path: Path, memory: str, remote: bool) -> None:
    """The limits of input hold for shards, and an error names the place of the file, not of a copy."""
    folder = memory if remote else str(tmp_path)
    file = put(folder, "run.jsonl.gz", gzip.compress(b" " * (5 << 20)))
    [shard] = shards_of(file)
    with pytest.raises(InputError) as raised:
        list(shard_lines(shard))
    assert raised.value.where is not None
    assert raised.value.where.startswith(f"{folder}/run.jsonl.gz")


def test_credentials_are_not_shown() -> None:
    """Neither a location, nor a shard, nor an error shows user, password or the values of a query."""
    url = "https://me:hidden-word@127.0.0.1:1/a/run.jsonl?token=hidden-word&part=2"
    assert shown(url) == "https://127.0.0.1:1/a/run.jsonl?token=[secret]&part=[secret]"
    shard = Shard(Location.of(url), "jsonl", 1, "1")
    for text in (repr(Location.of(url)), str(Location.of(url)), shard.name, repr(shard), repr(shard.key)):
        assert "hidden-word" not in text
    with pytest.raises(InputError) as raised:
        shards_of(url)
    assert "hidden-word" not in str(raised.value)
    assert "https://127.0.0.1:1/a/run.jsonl" in str(raised.value)


def test_an_unknown_file_system() -> None:
    """A URL of a file system that nobody knows is an error of input."""
    with pytest.raises(InputError, match=r"nothing://place/run\.jsonl"):
        shards_of("nothing://place/run.jsonl")
