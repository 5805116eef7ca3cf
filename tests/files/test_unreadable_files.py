"""Files that can't be read, or only in part: refused with the place and what to do."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.files.mistakes import A1, A2, SCORE, WHOLE
from tests.helpers.cli import Graph, inside, tiny, without_intervals


def cut(path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> Path:
    """Compress a file and lose its end; the start of a larger one would still give whole records."""
    packed = path.with_name(path.name + suffix)
    packed.write_bytes(pack(path.read_bytes())[:-8])
    path.unlink()
    return packed


def directory(path: Path) -> Path:
    """Put a directory into the place of a file."""
    path.unlink()
    path.mkdir()
    return path


def long_line(path: Path) -> Path:
    """Add a line of 50 MB."""
    with path.open("ab") as stream:
        stream.write(b'{"id": "q3", "question": "' + 50_000_000 * b"x" + b'"}\n')
    return path


def rewritten(change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    """Return a function that changes the bytes of a file."""

    def rewrite(path: Path) -> Path:
        path.write_bytes(change(path.read_bytes()))
        return path

    return rewrite


FILES: dict[str, tuple[Callable[[Path], Path], str, str, str]] = {
    # what is done to the file, the line, what is reported, and the remedy
    "a line of 50 MB": (long_line, ":3", "longer than 32 MiB", "split or shorten"),
    "binary": (rewritten(lambda _: bytes(range(256))), "", "binary file", "UTF-8"),
    "UTF-16": (rewritten(lambda text: text.decode().encode("utf-16")), "", "binary file", "convert UTF-16 to UTF-8"),
    "gzip without its ending": (rewritten(gzip.compress), "", "binary file", "must end in .gz"),
    "empty": (rewritten(lambda _: b""), "", "the file is empty", "one JSON record a line"),
    "a directory": (directory, "", "a directory where a JSON Lines file is expected", "Name a file"),
    "gzip cut short": (lambda path: cut(path, ".gz", gzip.compress), ":1", "damaged or cut short", "Make it anew"),
    "Zstandard cut short": (
        lambda path: cut(path, ".zst", zstandard.ZstdCompressor().compress),
        ":1",
        "damaged or cut short",
        "Make it anew",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_file_that_can_not_be_read(name: str, graph: Graph, tmp_path: Path) -> None:
    """A file that isn't JSON Lines is refused, by evaluate and by load and even when skipping; nothing is loaded."""
    spoil, line, reported, remedy = FILES[name]
    before = graph.content()
    spoiled = spoil(tiny(tmp_path / "run"))
    done = inside(*SCORE, "--on-error", "skip", spoiled, cwd=tmp_path, code=2)
    assert f"error: {spoiled}{line}: " in done.err
    assert reported in done.err
    assert remedy in done.err
    tiny(tmp_path / "questions")
    spoiled = spoil(tmp_path / "questions" / "questions.jsonl")
    done = inside("load", tmp_path / "questions", "--on-error", "skip", cwd=tmp_path, env=graph.env, code=2)
    assert f"error: {spoiled}{line}: " in done.err
    assert reported in done.err
    assert graph.content() == before


@pytest.mark.slow("a file of 40,000 records")
def test_zstandard_cut_in_the_middle(tmp_path: Path) -> None:
    """The whole records before the cut don't pass for the file."""
    run = tiny(tmp_path, answers=[A1, *({**A2, "question_id": f"q{number}"} for number in range(2, 40_000))])
    packed = run.with_name("r.jsonl.zst")
    whole = zstandard.ZstdCompressor().compress(run.read_bytes())
    packed.write_bytes(whole[: len(whole) // 2])
    with zstandard.open(packed) as stream:
        assert stream.read(1000)
    assert "damaged or cut short" in inside(*SCORE, "--on-error", "skip", packed, cwd=tmp_path, code=2).err


def test_a_line_may_be_long(tmp_path: Path) -> None:
    """A line of 20 MB is a record like another."""
    run = tiny(tmp_path, answers=(A1, {**A2, "answer": 20_000_000 * "x"}))
    done = inside(*SCORE, run, cwd=tmp_path, code=0)
    assert without_intervals(done.object())["measures"]["EdgeRecall"] == WHOLE


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "no last newline": lambda text: text.rstrip(b"\n"),
    "byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "Windows line ends": lambda text: text.replace(b"\n", b"\r\n"),
    "blank lines": lambda text: b"\n \n" + text.replace(b"\n", b"\n\n"),
}


@pytest.mark.parametrize("name", FORMS)
def test_form_that_is_no_mistake(name: str, tmp_path: Path) -> None:
    """Such a file is read like any other, without a word."""
    run = tiny(tmp_path)
    for path in (run, tmp_path / "questions.jsonl"):
        rewritten(FORMS[name])(path)
    done = inside(*SCORE, run, cwd=tmp_path, code=0)
    assert without_intervals(done.object())["measures"]["EdgeRecall"] == WHOLE
    assert done.unasked == ""


def test_missing_files(tmp_path: Path) -> None:
    """A path that leads nowhere is reported as such, and a folder without questions by what it lacks."""
    done = inside(*SCORE, "nowhere.jsonl", cwd=tmp_path, code=2)
    assert "nowhere.jsonl: there is no such file\n  Check the path" in done.err
    run = tiny(tmp_path / "data")
    for folder, reported in (
        (tmp_path / "no", "no such folder"),
        (run, "a file where"),
        (tmp_path, "no questions.jsonl"),
    ):
        done = inside(*SCORE, run, "--dataset", folder, cwd=tmp_path, code=2)
        assert f"error: {folder}: " in done.err
        assert reported in done.err
        # load looks at its folder before it starts a database.
        done = inside("load", folder, cwd=tmp_path, code=2)
        assert reported in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_each_door_says_what_to_do(tmp_path: Path) -> None:
    """A missing file and a loop of links have the same message wherever a file is named."""
    (tmp_path / "q.csv").write_text("question,answer\nWho?,Bo\n")
    (tmp_path / "l1").symlink_to("l2")
    (tmp_path / "l2").symlink_to("l1")
    loop = "l1: these links form a loop\n  Name another path."
    missing = "none.x: there is no such file\n  Check the path and its spelling."
    doors = (("init", "d", "q.csv", "--map"), ("history",), ("init", "d"), ("check",), ("evaluate",))
    for door in doors:
        assert loop in inside(*door, "l1", cwd=tmp_path, code=2).err, door
    for door in doors[:3]:
        assert missing in inside(*door, "none.x", cwd=tmp_path, code=2).err, door
    assert "write" in inside(*doors[0], "none.x", cwd=tmp_path, code=2).err.casefold()
    asked = inside("query", "none.cypher", cwd=tmp_path, code=2).err
    assert "none.cypher: there is no such file\n  `graphkit queries` lists the named ones. Check" in asked


@pytest.mark.parametrize("door", [("check",), ("init", "d")])
def test_a_run_is_no_file_of_questions(door: tuple[str, ...], tmp_path: Path) -> None:
    """A run in the place of questions is reported as a run, with the command that evaluates it."""
    (tmp_path / "my run.jsonl").write_text('{"run": "r", "question_id": "q1", "answer": "x"}\n')
    refused = inside(*door, "my run.jsonl", cwd=tmp_path, code=2).err
    assert "this is the record of a run, not a question" in refused
    assert "`graphkit evaluate 'my run.jsonl' --dataset DATASET` scores a run" in refused
    # A question without a text is one.
    (tmp_path / "q.jsonl").write_text('{"question_id": "q1", "gold_answer": "x"}\n')
    done = inside(*door, "q.jsonl", cwd=tmp_path)
    assert "the field 'question' is missing" in done.out + done.err
