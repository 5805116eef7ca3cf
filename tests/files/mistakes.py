"""Records that can't be used, each with the expected report."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.helpers.cli import ANSWERS, QUESTIONS, Row, tiny

Lines = tuple[Row | str | bytes, ...]
Q1, Q2 = QUESTIONS
A1, A2 = ANSWERS
STEP = A1["traversal"][0]
SHAS = [digit * 40 for digit in "123456"]
#: EdgeRecall of the tiny dataset, and of what is left where q2 or its answer is left out.
_NONE_FAILED = {"failed": 0, "missing": 0, "worst": 0.0, "not_logged": 0, "of_question": 0, "strict": None}
WHOLE = {"mean": 0.75, "scored": 2, "total": 2, "lowest": 0.75, "highest": 0.75, **_NONE_FAILED, "with_failed": 0.75}
# The question without an answer may be worth 0 or 1.
NO_ANSWER = {
    "mean": 0.5,
    "scored": 1,
    "total": 2,
    "lowest": 0.25,
    "highest": 0.75,
    **_NONE_FAILED,
    "missing": 1,
    "with_failed": 0.25,
}
NO_QUESTION = {"mean": 0.5, "scored": 1, "total": 1, "lowest": 0.5, "highest": 0.5, **_NONE_FAILED, "with_failed": 0.5}


def gain(value: str) -> str:
    """Return q2 with a gain that JSON may or may not know."""
    return f'{{"id": "q2", "question": "?", "relevant": {{"a:m.py#w": {value}}}}}'


def commit(number: int, *parents: int) -> Row:
    """Return a commit by the numbers of its parents."""
    return {"repo": "a", "sha": SHAS[number], "parents": [SHAS[parent] for parent in parents]}


@dataclass(frozen=True)
class Mistake:
    """An unusable record: its place, the expected report, and the scores without it."""

    place: str
    record: str | None
    reported: str
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
