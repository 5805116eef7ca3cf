"""Inputs that would fill the memory or never end, and those that are only large."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path

import pytest
import zstandard

from graphkit.errors import InputError
from graphkit.files import intake
from graphkit.files.jsonl import open_binary, read_lines
from graphkit.files.parquet import parquet_rows
from graphkit.files.problems import KEPT, Problem, Problems
from graphkit.files.reading import read_records
from graphkit.plugins.logs.archives import Archive
from graphkit.records.models import Commit
from graphkit.records.scores import Score

TEXT = b'{"run": "' + b"a" * (64 << 20)


def packed(path: Path, data: bytes) -> Path:
    """Write bytes as the suffix says."""
    path.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else gzip.compress(data))
    return path


@pytest.mark.parametrize("name", ["run.jsonl.zst", "run.jsonl.gz"])
def test_what_no_log_compresses_to_is_refused(tmp_path: Path, name: str) -> None:
    """64 MiB of one letter are some KB when they are packed; the option that is named takes them."""
    path = packed(tmp_path / name, TEXT)
    with pytest.raises(InputError, match="compressed implausibly well") as refused:
        list(read_lines(path))
    assert intake.OPTION in str(refused.value)
    # Lifted, it goes on to the limit of a line.
    with intake.lifted(True), pytest.raises(InputError, match="the line is longer than 32 MiB"):
        list(read_lines(path))
    assert not intake.are_lifted()


def test_a_block_of_zstandard_is_small_whatever_it_unpacks_to(tmp_path: Path) -> None:
    """8 KiB of Zstandard used to be unpacked at once: up to 256 MiB of them; now never more than is asked for."""
    path = packed(tmp_path / "run.jsonl.zst", b"\n" * (3 << 20))
    with open_binary(path) as stream:
        sizes = []
        while block := stream.read(1 << 16):
            sizes.append(len(block))
    assert max(sizes) == 1 << 16
    assert sum(sizes) == 3 << 20


@pytest.mark.parametrize("name", ["run.jsonl.zst", "run.jsonl.gz"])
def test_a_large_log_that_repeats_itself_is_read(tmp_path: Path, name: str) -> None:
    """40 000 records of which each has 32 digits of its own, 14 MB: packed to a tenth at best, far from the limit."""
    lines = [json.dumps({"id": os.urandom(16).hex(), "text": "the same " * 30}) for _ in range(40_000)]
    path = packed(tmp_path / name, "\n".join(lines).encode())
    assert sum(1 for _ in read_lines(path)) == 40_000


def test_blank_lines_without_an_end_are_refused(tmp_path: Path) -> None:
    """A million blank lines are skipped, with the numbers of the lines right; more than 4 MiB in a row are refused."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"{}\n" + b"\n" * 1_000_000 + b"{}\n")
    assert list(read_lines(path)) == [(1, b"{}"), (1_000_002, b"{}")]
    path.write_bytes(b"{}\n" + b"\n" * (5 << 20) + b"{}\n")
    with pytest.raises(InputError, match="more than 4 MiB of blank lines"):
        list(read_lines(path))


def test_a_silent_pipe_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody writes to was waited for without an end."""
    monkeypatch.setattr(intake, "PIPE_SILENCE", 0.05)
    os.mkfifo(tmp_path / "run.jsonl")
    with pytest.raises(InputError, match="nothing came from this pipe"):
        list(read_lines(tmp_path / "run.jsonl"))


def test_a_device_that_sends_more_than_is_taken_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most the allowed bytes of a device are read."""
    monkeypatch.setattr(intake, "PIPE_BYTES", 1000)
    with open_binary(Path("/dev/zero")) as stream:
        assert len(stream.read(1000)) == 1000
        with pytest.raises(InputError, match="this pipe sends more than"):
            stream.read(1)


@pytest.mark.parametrize("kind", ["rows", "value"])
def test_parquet_of_implausibly_much_is_refused(tmp_path: Path, kind: str) -> None:
    """Ten million rows of one value, and a value of 64 MiB: a few KB each."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    value = pa.array(["a" * (1 if kind == "rows" else 64 << 20)])
    count = 10_000_000 if kind == "rows" else 1
    column = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), value) if count > 1 else value
    pq.write_table(pa.table({"question": column}), tmp_path / "x.parquet", compression="zstd")
    with pytest.raises(InputError, match="compressed implausibly well"):
        next(parquet_rows(tmp_path / "x.parquet"))


def test_an_archive_of_implausibly_much_is_refused(tmp_path: Path) -> None:
    """A document of 64 MiB in an archive of 64 KB."""
    with zipfile.ZipFile(tmp_path / "x.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b'{"a": "' + b"a" * (64 << 20) + b'"}')
    with Archive(tmp_path / "x.eval") as archive, pytest.raises(InputError, match="compressed implausibly well"):
        archive.document("header.json")


def test_a_record_of_millions_of_values_is_left_out(tmp_path: Path) -> None:
    """A line of 6 MiB that holds 2 million lists would take 160 MB: 3 each and a comma each are 8 million."""
    path = tmp_path / "scores.jsonl"
    path.write_bytes(b'{"run": "r", "question": "q", "measure": "M", "x": [' + b"[]," * (2 << 20) + b"[]]}\n")
    problems = Problems("skip")
    assert list(read_records(path, Score, problems)) == []
    assert [problem.what for problem in problems.skipped] == ["the record holds millions of values"]


def test_problems_without_an_end_are_counted(tmp_path: Path) -> None:
    """10 000 of 10 005 problems are kept, and the message counts all: 10 shown, 9 995 more."""
    problems = Problems()
    for number in range(KEPT + 5):
        problems.add(Problem(f"x:{number}", "bad"))
    assert len(problems.skipped) == KEPT == 10_000
    with pytest.raises(InputError, match=r"more than 10000 records can't be used[\s\S]*\.\.\. and 9995 more"):
        problems.raise_if_refused()


def test_a_commit_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    """A repeated key has no certain value."""
    path = tmp_path / "commits.jsonl"
    path.write_text('{"repo": "a", "sha": "b", "sha": "c"}\n')
    problems = Problems()
    assert list(read_records(path, Commit, problems)) == []
    [problem] = problems.skipped
    assert (problem.where, problem.what) == (f"{path}:1", "the field 'sha' stands twice in one object")


def test_a_score_with_its_value_twice_is_refused(tmp_path: Path) -> None:
    """The last of the two used to count."""
    path = tmp_path / "scores.jsonl"
    path.write_text('{"run": "r", "question": "q1", "measure": "M", "value": 0, "value": 1}\n')
    problems = Problems()
    assert list(read_records(path, Score, problems)) == []
    [problem] = problems.skipped
    assert str(problem).startswith(f"{path}:1: record 'q1': the field 'value' stands twice in one object")
