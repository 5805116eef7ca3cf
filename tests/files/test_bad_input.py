"""Bad input through the command line: told with file, line, record and remedy, and nothing of it is loaded."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.helpers.cli import ANSWERS, QUESTIONS, Graph, Row, graphkit, inside, tiny, write_lines

Lines = tuple[Row | str | bytes, ...]
Q1, Q2 = QUESTIONS
A1, A2 = ANSWERS
STEP = A1["traversal"][0]
SHAS = [digit * 40 for digit in "123456"]
#: EdgeRecall of the tiny dataset, and of what is left where q2 or its answer is left out.
WHOLE = {"mean": 0.75, "scored": 2, "total": 2, "lowest": 0.75, "highest": 0.75}
# The question without an answer may be worth 0 or 1.
NO_ANSWER = {"mean": 0.5, "scored": 1, "total": 2, "lowest": 0.25, "highest": 0.75}
NO_QUESTION = {"mean": 0.5, "scored": 1, "total": 1, "lowest": 0.5, "highest": 0.5}


def gain(value: str) -> str:
    """Return q2 with a gain that JSON may or may not know."""
    return f'{{"id": "q2", "question": "?", "relevant": {{"a:m.py#w": {value}}}}}'


def commit(number: int, *parents: int) -> Row:
    """Return a commit by the numbers of its parents."""
    return {"repo": "a", "sha": SHAS[number], "parents": [SHAS[parent] for parent in parents]}


@dataclass(frozen=True)
class Mistake:
    """A record that can't be used: where it stands, what has to be told, and the scores where it is left out."""

    place: str
    record: str | None
    told: str
    remedy: str = "--on-error skip"
    left: dict[str, Any] = field(default_factory=lambda: NO_ANSWER)
    questions: Lines = QUESTIONS
    answers: Lines = ANSWERS
    files: dict[str, Lines] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the dataset with the mistake, and return the run."""
        return tiny(folder, self.questions, self.answers, **self.files)


#: A question whose text holds a half character that isn't even escaped: the bytes that UTF-8 would have for U+D800.
HALF = b'{"id": "q2", "question": "a \xed\xa0\x80 b"}'
JSON = "Each line must be one JSON object."
GAIN = "relevant.a:m.py#w: input should be a finite number"
LONG = 1001 * "x"
TOO_LONG = "string should have at most 1000 characters"
SHORTER = "give a shorter one"
IN_UTC = "Give the time in UTC"
MISTAKES = {
    "run: invalid JSON": Mistake("runs/r.jsonl:2", None, "not valid JSON", JSON, answers=(A1, '{"run": "r",')),
    "run: an object cut short": Mistake("runs/r.jsonl:2", None, "not valid JSON", JSON, answers=(A1, '{"run": "r"')),
    "run: no object": Mistake("runs/r.jsonl:2", None, "must be a JSON object, not a list", answers=(A1, "[1]")),
    "run: wrong type": Mistake(
        "runs/r.jsonl:2", "q2", "retrieved chunks must be a list", answers=(A1, {**A2, "retrieved": "a:m.py#w"})
    ),
    "run: number in quotes": Mistake(
        "runs/r.jsonl:2",
        "q2",
        'retrieved.0.rank: input should be a valid integer (found "1")',
        answers=(A1, {**A2, "retrieved": [{"id": "a:m.py#w", "rank": "1"}]}),
    ),
    "run: missing field": Mistake(
        "runs/r.jsonl:2",
        None,
        "the field 'question_id' is missing",
        "Give one of: question_id, query_id, id.",
        answers=(A1, {"run": "r"}),
    ),
    "run: unknown question": Mistake(
        "runs/r.jsonl:2",
        "q9",
        "the question id is not in the dataset",
        "Check --dataset.",
        answers=(A1, {**A2, "question_id": "q9"}),
    ),
    "run: second record": Mistake(
        "runs/r.jsonl:3", "q1", "the question already has a record", left=WHOLE, answers=(A1, A2, {**A1, "answer": "!"})
    ),
    "run: not UTF-8": Mistake(
        "runs/r.jsonl:2",
        None,
        "not UTF-8",
        "Save the file as UTF-8.",
        answers=(A1, '{"run": "r", "question_id": "q2", "answer": "é"}'.encode("latin-1")),
    ),
    "run: half a character": Mistake(
        "runs/r.jsonl:2",
        "q2",
        "half of a character",
        "Write the character whole",
        answers=(A1, {**A2, "answer": "\ud83d"}),
    ),
    "run: beyond 64 bits": Mistake(
        "runs/r.jsonl:2", "q2", "model_calls: input should be less than", answers=(A1, {**A2, "model_calls": 2**63})
    ),
    "run: a number of 5000 digits": Mistake(
        "runs/r.jsonl:2",
        None,
        "too many digits",
        JSON,
        answers=(A1, '{"run": "r", "question_id": "q2", "model_calls": ' + 5000 * "9" + "}"),
    ),
    "run: nested too deeply": Mistake(
        "runs/r.jsonl:2", None, "nested too deeply", JSON, answers=(A1, 100_000 * "[" + 100_000 * "]")
    ),
    "questions: invalid JSON": Mistake(
        "questions.jsonl:2", None, "not valid JSON", JSON, left=WHOLE, questions=(Q1, '{"id": "q3",}', Q2)
    ),
    "questions: wrong type": Mistake(
        "questions.jsonl:2",
        "q2",
        "paths.0.steps.0.optional: input should be a valid boolean",
        left=NO_QUESTION,
        questions=(Q1, {**Q2, "paths": [[{"source": "a:x", "target": "a:y", "optional": "no"}]]}),
    ),
    "questions: duplicate id": Mistake(
        "questions.jsonl:2", "q1", "the id is already taken", left=WHOLE, questions=(Q1, {**Q2, "id": "q1"}, Q2)
    ),
    "questions: NaN": Mistake(
        "questions.jsonl:2", "q2", f"{GAIN} (found NaN)", left=NO_QUESTION, questions=(Q1, gain("NaN"))
    ),
    "questions: infinite": Mistake(
        "questions.jsonl:2", "q2", f"{GAIN} (found Infinity)", left=NO_QUESTION, questions=(Q1, gain("1e999"))
    ),
    "commits: cycle of parents": Mistake(
        "commits.jsonl:2",
        SHAS[1],
        "the parents form a cycle: 222222222222 -> 333333333333 -> 222222222222",
        "Correct the parents.",
        left=WHOLE,
        files={"commits": (commit(0), commit(1, 2), commit(2, 1))},
    ),
    "commits: own parent": Mistake(
        "commits.jsonl:1", SHAS[0], "cycle", "Correct the parents.", WHOLE, files={"commits": (commit(0, 0),)}
    ),
    "commits: second record": Mistake(
        "commits.jsonl:2",
        f"a@{SHAS[0]}",
        "commits.jsonl:1",
        left=WHOLE,
        files={"commits": (commit(0), commit(0))},
    ),
    "commits: time without a zone": Mistake(
        "commits.jsonl:1",
        SHAS[0],
        "committed_at: input should have timezone info",
        left=WHOLE,
        files={"commits": ({**commit(0), "committed_at": "2026-01-02T03:04:05"},)},
    ),
    "compatibility: no commit": Mistake(
        "compatibility.jsonl:1",
        "s",
        'a commit must be "repo@sha"',
        left=WHOLE,
        files={"compatibility": ({"id": "s", "commits": ["a"]},)},
    ),
    "questions: a gain that no sum holds": Mistake(
        "questions.jsonl:2",
        "q2",
        "relevant.a:m.py#w: input should be less than or equal to 1000000",
        left=NO_QUESTION,
        questions=(Q1, gain("1e308")),
    ),
    "run: a latency that no sum holds": Mistake(
        "runs/r.jsonl:2", "q2", "latency_ms: input should be less than", answers=(A1, {**A2, "latency_ms": 1e308})
    ),
    "run: an empty triple": Mistake(
        "runs/r.jsonl:2",
        "q2",
        "traversal: each triple of the traversal must be [source, relation, target]",
        answers=(A1, {**A2, "traversal": {"triples": [None]}}),
    ),
    "compatibility: a list for a repository": Mistake(
        "compatibility.jsonl:1",
        "s",
        'a commit must be "repo@sha"',
        left=WHOLE,
        files={"compatibility": ({"id": "s", "commits": [{"repo": ["a"], "sha": "1"}]},)},
    ),
    # What neither database holds.
    "run: half a character in bytes": Mistake(
        "runs/r.jsonl:2", None, "not UTF-8", "UTF-8.", answers=(A1, HALF.replace(b"id", b"run", 1).replace(b"q2", b"r"))
    ),
    "run: long name": Mistake(
        "runs/r.jsonl:2", "q2", f"run: {TOO_LONG}", SHORTER, answers=(A1, {**A2, "run": 1000 * LONG})
    ),
    "run: long chunk": Mistake(
        "runs/r.jsonl:2", "q2", f"retrieved.0.id: {TOO_LONG}", SHORTER, answers=(A1, {**A2, "retrieved": [LONG]})
    ),
    "run: long commit of a chunk": Mistake(
        "runs/r.jsonl:2",
        "q2",
        f"retrieved.0.commit: {TOO_LONG}",
        SHORTER,
        answers=(A1, {**A2, "retrieved": [{"id": "a:m.py", "commit": LONG}]}),
    ),
    "run: long node": Mistake(
        "runs/r.jsonl:2",
        "q2",
        f"traversal.0.target: {TOO_LONG}",
        SHORTER,
        answers=(A1, {**A2, "traversal": [["a:m.py", "CALLS", LONG]]}),
    ),
    "questions: half a character in bytes": Mistake(
        "questions.jsonl:2", None, "not UTF-8", "UTF-8.", left=NO_QUESTION, questions=(Q1, HALF)
    ),
    "questions: long id": Mistake(
        "questions.jsonl:2",
        f"{100 * 'x'} ...",
        f"id: {TOO_LONG}",
        SHORTER,
        left=WHOLE,
        questions=(Q1, {**Q2, "id": 1000 * LONG}, Q2),
    ),
    "questions: long node": Mistake(
        "questions.jsonl:2",
        "q2",
        f"paths.0.steps.0.source: {TOO_LONG}",
        SHORTER,
        left=NO_QUESTION,
        questions=(Q1, {**Q2, "paths": [[[LONG, "CALLS", "a:m.py"]]]}),
    ),
    "questions: long relation": Mistake(
        "questions.jsonl:2",
        "q2",
        f"paths.0.steps.0.relation: {TOO_LONG}",
        SHORTER,
        left=NO_QUESTION,
        questions=(Q1, {**Q2, "paths": [[["a:m.py", LONG, "a:n.py"]]]}),
    ),
    "questions: long relevant id": Mistake(
        "questions.jsonl:2",
        "q2",
        f"relevant.{100 * 'x'} ...: {TOO_LONG}",
        SHORTER,
        left=NO_QUESTION,
        questions=(Q1, {**Q2, "relevant": {LONG: 1}}),
    ),
    "questions: empty relevant id": Mistake(
        "questions.jsonl:2",
        "q2",
        "relevant.: string should have at least 1 character",
        left=NO_QUESTION,
        questions=(Q1, {**Q2, "relevant": {"": 1}}),
    ),
    "questions: long stack": Mistake(
        "questions.jsonl:2", "q2", f"stack: {TOO_LONG}", SHORTER, NO_QUESTION, questions=(Q1, {**Q2, "stack": LONG})
    ),
    "questions: long sha": Mistake(
        "questions.jsonl:2",
        "q2",
        f"commits.a: {TOO_LONG}",
        SHORTER,
        left=NO_QUESTION,
        questions=(Q1, {**Q2, "commits": {"a": LONG}}),
    ),
    "commits: long sha": Mistake(
        "commits.jsonl:1", None, f"sha: {TOO_LONG}", SHORTER, WHOLE, files={"commits": ({"repo": "a", "sha": LONG},)}
    ),
    "commits: long repository": Mistake(
        "commits.jsonl:1", "1", f"repo: {TOO_LONG}", SHORTER, WHOLE, files={"commits": ({"repo": LONG, "sha": "1"},)}
    ),
    "commits: long parent": Mistake(
        "commits.jsonl:1",
        "1",
        f"parents.0: {TOO_LONG}",
        SHORTER,
        left=WHOLE,
        files={"commits": ({"repo": "a", "sha": "1", "parents": [LONG]},)},
    ),
    # Both databases take offsets of up to 18 hours, and the driver reads years from 1 to 9999, in UTC.
    "commits: far zone": Mistake(
        "commits.jsonl:1",
        "1",
        "committed_at: the time zone must be at most 18:00 from UTC",
        IN_UTC,
        left=WHOLE,
        files={"commits": ({"repo": "a", "sha": "1", "committed_at": "2026-01-02T03:04:05+18:01"},)},
    ),
    "commits: before the year 1": Mistake(
        "commits.jsonl:1",
        "1",
        "committed_at: in UTC the time must lie in the years 1 to 9999",
        IN_UTC,
        left=WHOLE,
        files={"commits": ({"repo": "a", "sha": "1", "committed_at": "0001-01-01T00:00:00+01:00"},)},
    ),
    "commits: after the year 9999": Mistake(
        "commits.jsonl:1",
        "1",
        "committed_at: in UTC the time must lie in the years 1 to 9999",
        IN_UTC,
        left=WHOLE,
        files={"commits": ({"repo": "a", "sha": "1", "committed_at": "9999-12-31T23:59:59-01:00"},)},
    ),
    "compatibility: far zone": Mistake(
        "compatibility.jsonl:1",
        "s",
        "at: the time zone must be at most 18:00 from UTC",
        IN_UTC,
        left=WHOLE,
        files={"compatibility": ({"id": "s", "commits": {"a": "1"}, "at": "2026-01-02T03:04:05-23:59"},)},
    ),
    "compatibility: long id": Mistake(
        "compatibility.jsonl:1",
        f"{100 * 'x'} ...",
        f"id: {TOO_LONG}",
        SHORTER,
        left=WHOLE,
        files={"compatibility": ({"id": LONG, "commits": {"a": "1"}},)},
    ),
    "compatibility: long repository": Mistake(
        "compatibility.jsonl:1",
        "s",
        f"commits.{100 * 'x'} ...: {TOO_LONG}",
        SHORTER,
        left=WHOLE,
        files={"compatibility": ({"id": "s", "commits": {LONG: "1"}},)},
    ),
    "compatibility: empty repository": Mistake(
        "compatibility.jsonl:1",
        "s",
        "commits.: string should have at least 1 character",
        left=WHOLE,
        files={"compatibility": ({"id": "s", "commits": {"": "1"}},)},
    ),
}
SCORE = ("evaluate", "--no-store", "--json", "-m", "EdgeRecall", "-m", "Coherence")


@pytest.mark.parametrize("name", MISTAKES)
def test_evaluate_refuses(name: str, tmp_path: Path) -> None:
    """A record that can't be used is told with its file, line, id and remedy, and nothing is scored."""
    mistake = MISTAKES[name]
    done = inside(*SCORE, mistake.write(tmp_path), cwd=tmp_path, code=2)
    assert done.out == ""
    [line] = [line for line in done.err.splitlines() if f"{tmp_path / mistake.place}: " in line]
    assert mistake.told in line
    assert mistake.record is None or f"record {mistake.record!r}: " in line
    assert mistake.remedy in done.err
    assert "--on-error skip" in done.err


@pytest.mark.parametrize("name", MISTAKES)
def test_evaluate_skips(name: str, tmp_path: Path) -> None:
    """With --on-error skip the record is reported and left out, and the rest is scored."""
    mistake = MISTAKES[name]
    done = inside(*SCORE, "--on-error", "skip", mistake.write(tmp_path), cwd=tmp_path, code=0)
    assert done.object()["measures"]["EdgeRecall"] == mistake.left
    told = [line for line in done.err.splitlines() if line.startswith(f"left out: {tmp_path / mistake.place}: ")]
    assert len(told) == 1
    assert mistake.told in told[0]


def test_every_cycle_is_told(tmp_path: Path) -> None:
    """Where the parents form two cycles, both are told."""
    run = tiny(tmp_path, commits=(commit(0, 1), commit(1, 0), commit(2, 2)))
    err = graphkit(*SCORE, run, cwd=tmp_path, code=2).err
    assert "commits.jsonl:1" in err
    assert "commits.jsonl:3" in err


def test_many_mistakes_are_counted(tmp_path: Path) -> None:
    """Of twelve mistakes ten are shown, and the count of all is told."""
    err = graphkit(*SCORE, tiny(tmp_path, answers=(*ANSWERS, *(12 * ["{"]))), cwd=tmp_path, code=2).err
    assert "12 records can't be used, so" in err
    assert "runs/r.jsonl:12:" in err
    assert "runs/r.jsonl:13:" not in err
    assert "and 2 more" in err


def test_records_and_faults_are_counted(tmp_path: Path) -> None:
    """Two records that can't be used, one with two faults and one with six, are two records and eight faults."""
    two = {**A1, "answer": 1, "latency_ms": -1}
    six = {**A2, "answer": 1, "cost": -1, "error": 1, "model_calls": -1, "prompt_tokens": -1, "output_tokens": -1}
    done = graphkit(*SCORE, tiny(tmp_path, answers=(two, six)), cwd=tmp_path, code=2)
    assert "error: 2 records (8 faults) can't be used, so none was taken:" in done.err
    # Three of a record's faults are told, and the last one says how many more there are.
    told = [line for line in done.err.splitlines() if "runs/r.jsonl:2: record 'q2': " in line]
    assert len(told) == 3
    assert told[2].endswith(" and 3 more faults")
    one = graphkit(*SCORE, tiny(tmp_path, answers=(two, A2)), cwd=tmp_path, code=2)
    assert "error: 1 record (2 faults) can't be used" in one.err


@pytest.mark.parametrize("questions", [QUESTIONS, ("x", "y")], ids=["run", "both"])
def test_nothing_usable(questions: Lines, tmp_path: Path) -> None:
    """Skipping doesn't help where nothing usable is left: that ends with 2."""
    run = tiny(tmp_path, questions, ("{", "["))
    done = inside(*SCORE, "--on-error", "skip", run, cwd=tmp_path, code=2)
    assert "nothing usable is left" in done.err
    assert f"{run}:1: " in done.err


def test_records_of_two_runs(tmp_path: Path) -> None:
    """A file holds one run: which two it holds is told."""
    done = graphkit(*SCORE, tiny(tmp_path, answers=(A1, {**A2, "run": "s"})), cwd=tmp_path, code=2)
    assert "2 runs: r, s" in done.err
    assert "file of its own" in done.err


@pytest.mark.parametrize(
    ("positions", "told"),
    [((0, 2), "the positions have a gap"), ((0, 0), "a position repeats"), ((0, 1), None), ((None, None), None)],
)
def test_positions(positions: tuple[int | None, int | None], told: str | None, tmp_path: Path) -> None:
    """A gap or a repeat in positions is reported with its record; the steps are scored in the order kept."""
    second = {"source": "a:m.py#y", "relation": "CALLS", "target": "b:n.py#z"}
    steps = [
        {**step, "position": position} if position is not None else {k: v for k, v in step.items() if k != "position"}
        for step, position in zip((STEP, second), positions, strict=True)
    ]
    run = tiny(tmp_path, answers=({**A1, "traversal": steps}, A2))
    done = inside("evaluate", "--no-store", "--json", "-m", "PathInOrder", run, cwd=tmp_path, code=0)
    # Both gold paths are walked in their order.
    found = done.object()["measures"]["PathInOrder"]
    assert (found["mean"], found["scored"], found["total"]) == (1.0, 2, 2)
    if told is None:
        assert done.err == ""
    else:
        assert told in done.err
        assert f"{run}:1 q1, path 0" in done.err


# Files -------------------------------------------------------------------------------------------------------------


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
    # what is done to the file, the line, what is told, and the remedy
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
    spoil, line, told, remedy = FILES[name]
    before = graph.content()
    spoiled = spoil(tiny(tmp_path / "run"))
    done = graphkit(*SCORE, "--on-error", "skip", spoiled, cwd=tmp_path, code=2)
    assert f"error: {spoiled}{line}: " in done.err
    assert told in done.err
    assert remedy in done.err
    tiny(tmp_path / "questions")
    spoiled = spoil(tmp_path / "questions" / "questions.jsonl")
    done = graphkit("load", tmp_path / "questions", "--on-error", "skip", cwd=tmp_path, env=graph.env, code=2)
    assert f"error: {spoiled}{line}: " in done.err
    assert told in done.err
    assert graph.content() == before


def test_zstandard_cut_in_the_middle(tmp_path: Path) -> None:
    """The whole records before the cut don't pass for the file."""
    run = tiny(tmp_path, answers=[A1, *({**A2, "question_id": f"q{number}"} for number in range(2, 40_000))])
    packed = run.with_name("r.jsonl.zst")
    whole = zstandard.ZstdCompressor().compress(run.read_bytes())
    packed.write_bytes(whole[: len(whole) // 2])
    with zstandard.open(packed) as stream:
        assert stream.read(1000)
    assert "damaged or cut short" in graphkit(*SCORE, "--on-error", "skip", packed, cwd=tmp_path, code=2).err


def test_a_line_may_be_long(tmp_path: Path) -> None:
    """A line of 20 MB is a record like another."""
    run = tiny(tmp_path, answers=(A1, {**A2, "answer": 20_000_000 * "x"}))
    done = graphkit(*SCORE, run, cwd=tmp_path, code=0)
    assert done.object()["measures"]["EdgeRecall"] == WHOLE


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
    assert done.object()["measures"]["EdgeRecall"] == WHOLE
    assert done.err == ""


def test_missing_files(tmp_path: Path) -> None:
    """A path that leads nowhere is told as such, and a folder without questions by what it lacks."""
    done = inside(*SCORE, "nowhere.jsonl", cwd=tmp_path, code=2)
    assert "nowhere.jsonl: there is no such file\n  Check the path" in done.err
    run = tiny(tmp_path / "data")
    for folder, told in ((tmp_path / "no", "no such folder"), (run, "a file where"), (tmp_path, "no questions.jsonl")):
        done = inside(*SCORE, run, "--dataset", folder, cwd=tmp_path, code=2)
        assert f"error: {folder}: " in done.err
        assert told in done.err
        # load looks at its folder before it starts a database.
        done = inside("load", folder, cwd=tmp_path, code=2)
        assert told in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


# Loading -----------------------------------------------------------------------------------------------------------


def spoiled_dataset(folder: Path) -> list[str]:
    """Write a dataset with one mistake of each kind that loading meets; return where they are, with their records."""
    q3, q4 = {**Q2, "id": "q3"}, {**Q2, "id": "q4", "difficulty": "impossible"}
    tiny(
        folder,
        (Q1, "{", gain("NaN"), q3, {**q3, "question": "again"}, q4),
        commits=(commit(0), commit(1, 2), commit(2, 1), commit(3), commit(3, 0)),
        compatibility=({"id": "s", "commits": {"a": SHAS[0]}}, {"id": "t", "commits": "a"}),
        artifacts=({"id": "a:m.py#x"}, {"id": "a:m.py#x", "kind": "function"}),
        edges=(
            {"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y"},
            {"source": "a:m.py#x", "target": "a:m.py#y"},
        ),
    )
    return [
        "questions.jsonl:2: not valid JSON",
        f"questions.jsonl:3: record 'q2': {GAIN}",
        "questions.jsonl:5: record 'q3': the id is already taken",
        "questions.jsonl:6: record 'q4': difficulty",
        f"commits.jsonl:2: record '{SHAS[1]}': the parents form a cycle",
        f"commits.jsonl:5: record 'a@{SHAS[3]}': the record is a repeat of",
        "compatibility.jsonl:2: record 't': commits",
        "artifacts.jsonl:2: record 'a:m.py#x': the record is a repeat of",
        "edges.jsonl:2: the field 'relation' is missing",
    ]


def test_refused_load_leaves_nothing(any_graph: Graph, tmp_path: Path) -> None:
    """After any mistake in a dataset both databases hold nothing of it, not even the claim of a load."""
    for number, (name, mistake) in enumerate(MISTAKES.items()):
        if not mistake.place.startswith("runs/"):
            folder = tmp_path / str(number)
            mistake.write(folder)
            done = inside("load", folder, cwd=tmp_path, env=any_graph.env, code=2)
            assert f"{folder / mistake.place}: " in done.err, name
            assert mistake.told in done.err, name
            assert any_graph.content() == [], name
    assert inside("db", "status", "--json", cwd=tmp_path, env=any_graph.env, code=0).object()["unfinished"] == []


def longest() -> tuple[list[Row], list[Row], dict[str, Lines]]:
    """Return a dataset whose names are as long as they may be, of characters that take four bytes each."""
    name = {one: (one + 1000 * "\U0001f600")[:1000] for one in "qrabcdgrs"}
    node = {one: f"{one}:{998 * chr(0x1F600)}" for one in "ab"}
    commits = {name["a"]: name["c"], name["b"]: name["d"]}
    step = {"source": node["a"], "relation": name["r"], "target": node["b"]}
    question = {
        "id": name["q"],
        "question": 100_000 * "long text ",
        "paths": [{"id": name["g"], "group": name["g"], "steps": [step]}],
        "relevant": {node["a"]: 1},
        "expected_files": [name["a"]],
        "commits": commits,
        "stack": name["s"],
    }
    chunk = {"id": node["a"], "repo": name["a"], "path": name["b"], "commit": name["c"], "text": 100_000 * "long text "}
    answer = {
        "run": name["r"],
        "question_id": name["q"],
        "retrieved": [chunk],
        "traversal": [{**step, "source_commit": name["c"], "target_commit": name["d"]}],
        "answer": 100_000 * "long text ",
    }
    zones = ("2026-01-02T03:04:05+18:00", "0001-01-01T00:00:00-18:00", "9999-12-31T23:59:59+18:00")
    files: dict[str, Lines] = {
        "commits": tuple(
            {"repo": name["a"], "sha": sha, "parents": [name["d"]], "committed_at": at}
            for sha, at in zip((name["c"], "1", "2"), zones, strict=True)
        ),
        "compatibility": (
            {"id": name["s"], "commits": commits, "environment": "prod", "at": zones[0]},
            {"id": "t", "commits": commits},
        ),
        "artifacts": tuple({"id": id_, "repo": name["a"], "commit": name["c"]} for id_ in node.values()),
        "edges": (step,),
    }
    return [question], [answer], files


def test_longest_names_and_farthest_times_are_kept(any_graph: Graph, tmp_path: Path) -> None:
    """Both databases hold names of 1000 characters, alone and in pairs, times at the limits, and long texts."""
    questions, answers, files = longest()
    run = tiny(tmp_path / "data", questions, answers, **files)
    for engine in ("python", "cypher"):
        options = ("--engine", engine, "-m", "EdgeRecall", "-m", "Coherence", "-m", "Recall@5")
        done = inside("evaluate", "--json", *options, run, cwd=tmp_path, env=any_graph.env, code=0)
        measured = done.object()["measures"]
        assert {name: one["mean"] for name, one in measured.items()} == {
            "EdgeRecall": 1.0,
            "Coherence": 1.0,
            "Recall@5": 1.0,
        }
    assert any_graph.store.read("MATCH (l:Load) RETURN l.name") == []
    assert any_graph.store.read("MATCH (:Chunk)-[:AT]->(c:Commit) RETURN count(*) AS n") == [{"n": 1}]


#: Parts of names that have a meaning somewhere on their way: for a terminal, a file, JSON, a key or a query.
ODD = (
    "\0",
    "\x1f",
    "\x1b[31m",
    "\r\n",
    "\x85",
    "\u202e",
    "\ufeff",
    "\u2028",
    "\ufffe",
    "e\u0301",
    "/../",
    "\\",
    "'\"`",
    "%s",
    "@",
)


def test_odd_names_are_kept(any_graph: Graph, tmp_path: Path) -> None:
    """Both databases hold names with odd characters as they are, and tell apart what only looks alike."""
    names = [*(f"a:{odd}b" for odd in ODD), "a:\u00e9b"]
    questions = [
        {"id": name, "question": "?", "paths": [[[name, "R", "a:z"]]], "relevant": [name], "commits": {name: name}}
        for name in names
    ]
    run = tiny(
        tmp_path / "odd",
        questions,
        [
            {"run": "r\n/", "question_id": name, "retrieved": [name], "traversal": [[name, "R", "a:z"]]}
            for name in names
        ],
        commits=[{"repo": name, "sha": name} for name in names],
        compatibility=[{"id": name, "commits": {name: name}} for name in names],
    )
    for engine in ("python", "cypher"):
        done = inside(
            "evaluate", "--engine", engine, "-m", "EdgeRecall", "-m", "RR", "--json", run,
            cwd=tmp_path, env=any_graph.env, code=0,
        )  # fmt: skip
        whole = {"mean": 1.0, "scored": len(names), "total": len(names), "lowest": 1.0, "highest": 1.0}
        assert done.object()["measures"] == {"EdgeRecall": whole, "RR": whole}
    for label in ("Question", "Stack"):
        held = any_graph.store.read(f"MATCH (n:{label}) RETURN n.id AS id")
        assert sorted(str(row["id"]) for row in held) == sorted(names)


def test_separator_in_names_of_answers(any_graph: Graph, tmp_path: Path) -> None:
    """The answers of two runs don't take each other's place, wherever the separator of their keys stands."""
    questions = [{**Q1, "id": "b\x1fc"}, {**Q2, "id": "c"}]
    for run, question in (("a", "b\x1fc"), ("a\x1fb", "c")):
        file = tiny(tmp_path / "data", questions, [{"run": run, "question_id": question}])
        inside("evaluate", "-m", "EdgeRecall", file, cwd=tmp_path, env=any_graph.env, code=0)
    rows = any_graph.store.read("MATCH (a:Answer) RETURN a.run AS run, a.question AS question ORDER BY run")
    assert [(row["run"], row["question"]) for row in rows] == [("a", "b\x1fc"), ("a\x1fb", "c")]


def test_separator_in_names_of_commits(any_graph: Graph, tmp_path: Path) -> None:
    """Two commits don't take each other's place, wherever the separator of their keys stands in their names."""
    # One chunk of each of the repositories "a@b" and "a", at the commits "c" and "b@c": no rule joins these, so the one
    # pair of chunks doesn't fit. The question pins "c" of "a@b", so the commit of "a" is off no pin, "c%" of "a@b" is.
    # The commit "b@c" of "a" has the parent "0@0"; "a%40b" is no other way to write "a@b".
    commits: list[Row] = [
        {"repo": "a@b", "sha": "c"},
        {"repo": "a", "sha": "b@c", "parents": ["0@0"]},
        {"repo": "a", "sha": "0@0"},
        {"repo": "a", "sha": "b%40c"},
    ]
    retrieved = [{"id": f"{one['repo']}:x.py", "commit": one["sha"]} for one in commits[:2]]
    run = tiny(
        tmp_path,
        [{**Q1, "commits": {"a@b": "c"}}],
        [{"run": "r", "question_id": "q1", "retrieved": retrieved}],
        commits=commits,
    )
    for engine in ("python", "cypher"):
        options = ("evaluate", "--engine", engine, "-m", "Coherence", "-m", "Incoherent", "-m", "OffPin", "--json")
        done = inside(*options, run, cwd=tmp_path, env=any_graph.env, code=0)
        assert {name: row["mean"] for name, row in done.object()["measures"].items()} == {
            "Coherence": 0.0,
            "Incoherent": 1.0,
            "OffPin": 1.0,
        }
    rows = any_graph.store.read("MATCH (c:Commit) RETURN c.repo AS repo, c.sha AS sha ORDER BY repo, sha")
    assert [(row["repo"], row["sha"]) for row in rows] == [("a", "0@0"), ("a", "b%40c"), ("a", "b@c"), ("a@b", "c")]
    rows = any_graph.store.read("MATCH (c:Commit)-[:PARENT]->(p:Commit) RETURN c.sha AS sha, p.sha AS parent")
    assert rows == [{"sha": "b@c", "parent": "0@0"}]


@pytest.mark.skipif(sys.platform == "darwin", reason="every name of a file is UTF-8 there")
@pytest.mark.parametrize("place", ["\udcff/data", "data\udcff", "data/artifacts-\udcff.jsonl"])
def test_name_of_a_file_that_is_no_text(place: str, graph: Graph, tmp_path: Path) -> None:
    """A folder or a knowledge graph whose name no database holds is refused with its place."""
    before = graph.content()
    folder = tmp_path / place.partition("/artifacts")[0]
    run = tiny(folder)
    if "artifacts" in place:
        write_lines(tmp_path / place, [{"id": "a:m.py#x"}])
    for command in (("load", folder), ("evaluate", "--json", run)):
        done = inside(*command, cwd=tmp_path, env=graph.env, code=2)
        assert "the name isn't UTF-8\n  Give it another name." in done.err
    assert graph.content() == before


def test_load_refuses_and_keeps_what_is_there(graph: Graph, tmp_path: Path) -> None:
    """Every mistake of a dataset is told at once, and its earlier, good form stays in the graph untouched."""
    tiny(tmp_path / "shop", commits=(commit(0),))
    graphkit("load", "shop", cwd=tmp_path, env=graph.env, code=0)
    before = graph.content()
    places = spoiled_dataset(tmp_path / "shop")
    done = graphkit("load", tmp_path / "shop", cwd=tmp_path, env=graph.env, code=2)
    assert done.out == ""
    for place in places:
        assert f"  {tmp_path}/shop/{place}" in done.err
    assert f"{len(places)} records can't be used" in done.err
    assert "--on-error skip" in done.err
    assert graph.content() == before


def test_load_skips(graph: Graph, tmp_path: Path) -> None:
    """With --on-error skip each mistake is reported, and just the good records are in the graph."""
    places = spoiled_dataset(tmp_path / "shop")
    done = graphkit("load", tmp_path / "shop", "--on-error", "skip", cwd=tmp_path, env=graph.env, code=0)
    told = [line for line in done.err.splitlines() if line.startswith("left out: ")]
    assert len(told) == len(places)
    for place in places:
        assert any(line.startswith(f"left out: {tmp_path}/shop/{place}") for line in told), place

    def held(text: str) -> list[object]:
        return [row["id"] for row in graph.store.read(text)]

    assert held("MATCH (q:Question {dataset: 'shop'}) RETURN q.id AS id ORDER BY id") == ["q1", "q3"]
    assert held("MATCH (q:Question {id: 'q3'}) RETURN q.question AS id") == ["What does x call?"]
    assert held("MATCH (c:Commit {repo: 'a'}) RETURN c.sha AS id ORDER BY id") == [SHAS[0], SHAS[3]]
    assert held("MATCH (s:Stack {dataset: 'shop'}) RETURN s.id AS id") == ["s"]


def test_load_with_nothing_usable(graph: Graph, tmp_path: Path) -> None:
    """A dataset without one good question is refused also when skipping, and its earlier form is kept."""
    before = graph.content()
    tiny(tmp_path / "shop", ("{", "x"))
    done = graphkit("load", tmp_path / "shop", "--on-error", "skip", cwd=tmp_path, env=graph.env, code=2)
    assert "nothing usable is left" in done.err
    tiny(tmp_path / "shop", ("", ""))
    done = graphkit("load", tmp_path / "shop", cwd=tmp_path, env=graph.env, code=2)
    assert "the dataset holds no question" in done.err
    assert graph.content() == before


def test_bad_run_is_not_kept(graph: Graph, tmp_path: Path) -> None:
    """A run with a mistake leaves the earlier run of its name as it was."""
    questions, kept = renamed("kept")
    run = tiny(tmp_path / "kept", questions, kept)
    graphkit("evaluate", run, cwd=tmp_path, env=graph.env, code=0)
    before = graph.content()
    write_lines(run, [kept[0], {**kept[1], "answer": "changed"}, "{"])
    done = graphkit("evaluate", run, cwd=tmp_path, env=graph.env, code=2)
    assert f"{run}:3: not valid JSON" in done.err
    assert graph.content() == before
    done = graphkit("evaluate", "--on-error", "skip", "--json", run, cwd=tmp_path, env=graph.env, code=0)
    assert done.err.count("left out") == 1
    assert graph.store.read("MATCH (a:Answer {run: 'kept', answer: 'changed'}) RETURN a.question AS q") == [
        {"q": kept[1]["question_id"]}
    ]


def test_mistake_of_the_dataset_is_told_once(graph: Graph, tmp_path: Path) -> None:
    """A question that loading leaves out isn't told a second time by scoring."""
    questions, answers = renamed("once")
    run = tiny(tmp_path / "once", [{**questions[0], "colour": "red"}, questions[1], "{"], answers)
    for _ in range(2):
        done = graphkit("evaluate", "--on-error", "skip", run, cwd=tmp_path, env=graph.env, code=0)
        assert done.err.count("left out: ") == 1
        assert done.err.count("the field 'colour' isn't used (1 record)") == 1


def renamed(name: str) -> tuple[list[Row], list[Row]]:
    """Return questions and answers of a run whose ids belong to no other test."""
    questions = [{**one, "id": f"{name}-{one['id']}"} for one in QUESTIONS]
    return questions, [{**one, "run": name, "question_id": f"{name}-{one['question_id']}"} for one in ANSWERS]


def test_ids_of_another_dataset(graph: Graph, tmp_path: Path) -> None:
    """Questions and runs of another dataset aren't overwritten, and no load counts as interrupted."""
    questions, answers = renamed("taken")
    graphkit("evaluate", tiny(tmp_path / "one", questions, answers), cwd=tmp_path, env=graph.env, code=0)
    before = graph.content()
    tiny(tmp_path / "two", questions)
    done = graphkit("load", tmp_path / "two", cwd=tmp_path, env=graph.env, code=2)
    assert "'taken-q1' already belongs to the dataset 'one'" in done.err
    assert "--data" in done.err
    assert graph.content() == before
    questions, answers = renamed("three")
    run = tiny(tmp_path / "three", questions, [{**one, "run": "taken"} for one in answers])
    done = graphkit("evaluate", run, cwd=tmp_path, env=graph.env, code=2)
    assert f"{run}: the run 'taken' already belongs to the dataset 'one'" in done.err
    assert graph.store.read("MATCH (l:Load) RETURN l.name") == []
