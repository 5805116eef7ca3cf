"""No error recommends an option that can't repair it: each remedy is applied to the case that raised it.

A row of the table is a world, the command that fails, the words of its remedy, and the command that the remedy makes of
it, which works.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphkit.measures.judged import JudgedMeasure
from graphkit.measures.registry import MEASURES
from graphkit.plugins.judging.grading.verdict_job import DEFAULT_GRADERS
from graphkit.plugins.judging.judges.catalogue import GRADERS
from tests.helpers.cli import inside
from tests.helpers.datasets import write_jsonl

STEPS = [{"source": "web:a.py", "relation": "CALLS", "target": "api:b.py"}]
QUESTIONS: list[dict[str, Any]] = [
    {"id": f"q{number}", "question": f"Who calls {number}?", "gold_answer": "b", "paths": [{"steps": STEPS}]}
    for number in (1, 2)
]


def record(run: str | None, number: int, **more: Any) -> dict[str, Any]:
    """Return the record of a run that walks the gold."""
    return {**({"run": run} if run else {}), "question_id": f"q{number}", "answer": "b", "traversal": STEPS, **more}


def traffic(**around: Any) -> list[dict[str, Any]]:
    """Return MCP's messages of one call, each within an object."""
    opened = {"name": "open", "arguments": {"path": "web:a.py"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": opened}
    found = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "import b"}]}}
    return [{**around, "message": call}, {**around, "message": found}]


def claude(**around: Any) -> list[dict[str, Any]]:
    """Return the lines of a session of Claude Code, which names no question."""
    said = {"role": "user", "content": "Please look."}
    answered = {"role": "assistant", "content": [{"type": "text", "text": "b"}], "model": "m"}
    common = {"sessionId": "s1", "timestamp": "2026-01-01T00:00:00Z", **around}
    return [
        {"type": "user", "uuid": "u1", "message": said, **common},
        {"type": "assistant", "uuid": "u2", "message": answered, **common},
    ]


def messages(**around: Any) -> list[dict[str, Any]]:
    """Return a conversation, a message a line."""
    return [{"role": "user", "content": "Please look.", **around}, {"role": "assistant", "content": "b", **around}]


def log(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Write ``log.jsonl``."""
    write_jsonl(folder / "log.jsonl", rows)


def graph(folder: Path) -> None:
    """Give the dataset a knowledge graph that lacks the gold of the second question."""
    write_jsonl(folder / "d/artifacts.jsonl", [{"id": "web:a.py"}, {"id": "api:b.py"}, {"id": "api:c.py"}])
    write_jsonl(folder / "d/edges.jsonl", STEPS)
    gone = [{"source": "web:a.py", "relation": "CALLS", "target": "api:c.py"}]
    write_jsonl(folder / "d/questions.jsonl", [QUESTIONS[0], {**QUESTIONS[1], "paths": [{"steps": gone}]}])
    (folder / "g.csv").write_text("source,relation,target\na,R,b\n")


def stale(folder: Path) -> None:
    """Write a run over stale gold."""
    graph(folder)
    log(folder, [record("r", 1), record("r", 2)])


def runs(folder: Path) -> None:
    """Write three repetitions of a run, and a run of their name elsewhere."""
    for number in (1, 2, 3):
        write_jsonl(folder / f"d/runs/mine@{number}.jsonl", [record(f"mine@{number}", one) for one in (1, 2)])
    write_jsonl(folder / "d/runs/other.jsonl", [record("mine@1", one) for one in (1, 2)])


def there(folder: Path) -> None:
    """Write a log, and the file that its run would be."""
    log(folder, [record(None, 1)])
    write_jsonl(folder / "d/runs/made.jsonl", [record("made", 1)])


def compared(folder: Path, candidate: list[dict[str, Any]], base: int = 2) -> None:
    """Write a baseline with so many answers, and a candidate."""
    write_jsonl(folder / "d/runs/base.jsonl", [record("base", one) for one in range(1, base + 1)])
    write_jsonl(folder / "d/runs/cand.jsonl", candidate)


def promptfoo(folder: Path) -> None:
    """Write results of promptfoo with two providers."""
    results = [
        {
            "provider": {"id": name},
            "vars": {"question_id": "q1"},
            "score": 1,
            "gradingResult": {"componentResults": [{}]},
        }
        for name in ("a", "b")
    ]
    (folder / "log.json").write_text(json.dumps({"results": {"results": results}}))


def graded(folder: Path) -> None:
    """Have a judge grade the run as the remedy says."""
    inside("grade", "log.jsonl", "--dataset", "d", "-g", "binary", "--no-store", cwd=folder, code=0)


def nothing(folder: Path) -> None:
    """Change nothing."""


class Remedy(NamedTuple):
    """A case of the table; ``apply`` does what a remedy says beside changing the command."""

    world: Callable[[Path], object]
    fails: str
    said: str
    works: str
    apply: Callable[[Path], object] = nothing


TO = "--dataset d -o d/runs/made.jsonl"

REMEDIES: dict[str, Remedy] = {
    "evaluate: dataset": Remedy(
        lambda folder: log(folder, [record("r", 1)]),
        "evaluate log.jsonl --no-store",
        "Name its dataset by --dataset.",
        "evaluate log.jsonl --no-store --dataset d",
    ),
    "text of a question: dataset": Remedy(
        lambda folder: log(folder, [{"question": "Who calls 1?", "answer": "b"}]),
        "judge spot-check log.jsonl --csv sheet.csv",
        "Name the dataset by --dataset.",
        "judge spot-check log.jsonl --dataset d --csv sheet.csv",
        lambda folder: inside("grade", "log.jsonl", "--dataset", "d", "--no-store", cwd=folder, code=0),
    ),
    "import: dataset and out": Remedy(
        lambda folder: log(folder, [record(None, 1)]),
        "import auto log.jsonl",
        "graphkit import auto FILE... --dataset DIR -o DIR/runs/NAME.jsonl",
        f"import auto log.jsonl {TO}",
    ),
    "import: a run already": Remedy(
        lambda folder: log(folder, [record("r", 1)]),
        f"import auto log.jsonl {TO}",
        "graphkit evaluate log.jsonl --dataset d",
        "evaluate log.jsonl --dataset d --no-store",
    ),
    "import: a run already, by its names": Remedy(
        lambda folder: log(folder, [record("r", 1)]),
        f"import auto log.jsonl {TO}",
        "`graphkit import graphkit` looks its names up",
        f"import graphkit log.jsonl {TO}",
    ),
    "import: force": Remedy(
        lambda folder: there(folder),
        f"import graphkit log.jsonl {TO}",
        "replace it by --force",
        f"import graphkit log.jsonl {TO} --force",
    ),
    "MCP: key": Remedy(
        lambda folder: log(folder, [*traffic(session_id="q1"), *traffic(session_id="q2")]),
        f"import auto log.jsonl {TO}",
        "--question-key names the key",
        f"import auto log.jsonl {TO} --question-key session_id",
    ),
    "MCP: a key within": Remedy(
        lambda folder: log(folder, [*traffic(meta={"ticket": "q1"}), *traffic(meta={"ticket": "q2"})]),
        f"import auto log.jsonl {TO} --question-key ticket",
        "a key within another is written with a dot",
        f"import auto log.jsonl {TO} --question-key meta.ticket",
    ),
    "MCP: the only question": Remedy(
        lambda folder: log(folder, traffic()),
        f"import auto log.jsonl {TO}",
        "--question names the question that the whole log answers",
        f"import auto log.jsonl {TO} --question q1",
    ),
    "Claude Code: key": Remedy(
        lambda folder: log(folder, claude(ticket="q1")),
        f"import auto log.jsonl {TO}",
        "--question-key names the key",
        f"import auto log.jsonl {TO} --question-key ticket",
    ),
    "messages: key": Remedy(
        lambda folder: log(folder, messages(ticket="q1")),
        f"import auto log.jsonl {TO}",
        "--question-key names the key",
        f"import auto log.jsonl {TO} --question-key ticket",
    ),
    "records: skip": Remedy(
        lambda folder: log(folder, [record("r", 1), {"run": "r", "question_id": "q2", "answer": 7}]),
        "evaluate log.jsonl --dataset d --no-store",
        "skip them with --on-error skip",
        "evaluate log.jsonl --dataset d --no-store --on-error skip",
    ),
    "records: strict": Remedy(
        lambda folder: log(folder, [record("r", 1, colour="blue"), record("r", 2)]),
        "evaluate log.jsonl --dataset d --no-store --strict",
        "or read without --strict",
        "evaluate log.jsonl --dataset d --no-store",
    ),
    "options of logs: format": Remedy(
        lambda folder: log(folder, [{"user_input": "Who calls 1?", "response": "b", "retrieved_contexts": ["x"]}]),
        "evaluate log.jsonl --dataset d --no-store --question q1",
        "--format auto",
        "evaluate log.jsonl --dataset d --no-store --question q1 --format auto",
    ),
    "logs: dataset": Remedy(
        lambda folder: log(folder, [{"user_input": "Who calls 1?", "response": "b", "retrieved_contexts": ["x"]}]),
        "evaluate log.jsonl --no-store --format ragas",
        "Name the dataset by --dataset.",
        "evaluate log.jsonl --no-store --format ragas --dataset d",
    ),
    "an unknown format: map": Remedy(
        lambda folder: log(folder, [{"question": "Who calls 1?", "out": {"hits": [{"doc": "web:a.py"}]}}]),
        f"import auto log.jsonl {TO}",
        "--map retrieved=out.hits[].doc reads them as what was retrieved",
        f"import auto log.jsonl {TO} --map retrieved=out.hits[].doc",
    ),
    "map: format": Remedy(
        lambda folder: log(folder, [{"id": "q1", "found": ["a"]}]),
        f"import ragas log.jsonl {TO} --map retrieved=found",
        "Leave out --map, or the format",
        f"import auto log.jsonl {TO} --map retrieved=found",
    ),
    "two files of one run: name": Remedy(
        runs,
        "evaluate d/runs/mine@1.jsonl d/runs/other.jsonl --no-store",
        "`graphkit evaluate FILE --run NAME`",
        "evaluate d/runs/other.jsonl --no-store --run other",
    ),
    "pass^k: fewer": Remedy(
        runs,
        "evaluate d/runs/mine@1.jsonl d/runs/mine@2.jsonl --no-store --fail-under EdgeRecall=0.5 --pass-k 3",
        "Repeat it more often, or lower K",
        "evaluate d/runs/mine@1.jsonl d/runs/mine@2.jsonl --no-store --fail-under EdgeRecall=0.5 --pass-k 2",
    ),
    "pass^k: a bound": Remedy(
        runs,
        "evaluate d/runs/mine@1.jsonl d/runs/mine@2.jsonl --no-store --pass-k 2",
        "Add --fail-under, such as EdgeRecall=0.8",
        "evaluate d/runs/mine@1.jsonl d/runs/mine@2.jsonl --no-store --pass-k 2 --fail-under EdgeRecall=0.8",
    ),
    "sure: a bound": Remedy(
        runs,
        "evaluate d/runs/mine@1.jsonl --no-store --sure",
        "Add --fail-under",
        "evaluate d/runs/mine@1.jsonl --no-store --sure --fail-under EdgeRecall=0",
    ),
    "a judged measure: the grader": Remedy(
        lambda folder: log(folder, [record("log", 1), record("log", 2)]),
        "evaluate log.jsonl --dataset d --no-store -m Correct",
        "`graphkit grade RUN.jsonl -g binary`",
        "evaluate log.jsonl --dataset d --no-store -m Correct --scores log.grades/lexical.scores.jsonl",
        graded,
    ),
    "stale gold": Remedy(
        stale,
        "evaluate log.jsonl --dataset d --no-store --fail-under EdgeRecall=0.5",
        "--allow-stale 1",
        "evaluate log.jsonl --dataset d --no-store --fail-under EdgeRecall=0.5 --allow-stale 1",
    ),
    "clusters": Remedy(
        lambda folder: log(folder, [record("r", 1), record("r", 2)]),
        "evaluate log.jsonl --dataset d --no-store --cluster category",
        "Give the questions a category",
        "evaluate log.jsonl --dataset d --no-store --cluster category",
        lambda folder: write_jsonl(folder / "d/questions.jsonl", [{**one, "category": "c"} for one in QUESTIONS]),
    ),
    "a folder that is there": Remedy(
        lambda folder: write_jsonl(folder / "questions.jsonl", QUESTIONS),
        "init d questions.jsonl",
        "`graphkit init d questions.jsonl --update` changes its questions",
        "init d questions.jsonl --update",
    ),
    "lost relations": Remedy(
        lambda folder: compared(folder, [record("cand", one, traversal=[["web:a.py", "api:b.py"]]) for one in (1, 2)]),
        "compare d/runs/base.jsonl d/runs/cand.jsonl --fail-on-drop 0.5 -m EdgeRecall",
        "`--untyped` compares both without them",
        "compare d/runs/base.jsonl d/runs/cand.jsonl --fail-on-drop 0.5 -m EdgeRecall --untyped",
    ),
    "a baseline in part": Remedy(
        lambda folder: compared(folder, [record("cand", one) for one in (1, 2)], base=1),
        "compare d/runs/base.jsonl d/runs/cand.jsonl --fail-on-drop 0.5 -m EdgeRecall",
        "--partial-baseline",
        "compare d/runs/base.jsonl d/runs/cand.jsonl --fail-on-drop 0.5 -m EdgeRecall --partial-baseline",
    ),
    "a judge's scores": Remedy(
        lambda folder: log(folder, [record("log", 1), record("log", 2)]),
        "judge consistency log.jsonl --dataset d",
        "`graphkit grade`",
        "judge consistency log.jsonl --dataset d --judge lexical",
        lambda folder: inside("grade", "log.jsonl", "--dataset", "d", "--no-store", cwd=folder, code=0),
    ),
    "several systems in results": Remedy(
        promptfoo,
        "import scores log.json --run r -o s.jsonl",
        "Choose by --only, which may be repeated: 'a', 'b'",
        "import scores log.json --run r -o s.jsonl --only a",
    ),
    "a graph of this name": Remedy(
        graph,
        "import graph g.csv --dataset d",
        "--replace",
        "import graph g.csv --dataset d --replace",
    ),
    "a graph of another name": Remedy(
        graph,
        "import graph g.csv --dataset d",
        "a name by --graph",
        "import graph g.csv --dataset d --graph mine",
    ),
    "trials": Remedy(
        lambda folder: log(folder, [record("log", 1, trial=one) for one in (1, 2)]),
        "why log.jsonl q1 --dataset d",
        "`graphkit import graphkit log.jsonl --dataset DIR -o DIR/runs/NAME.jsonl`",
        "import graphkit log.jsonl --dataset d -o d/runs/made.jsonl",
    ),
    "scores: texts of questions": Remedy(
        lambda folder: log(folder, [{"question": "Who calls 1?", "answer": "b", "grade": "fully_correct"}]),
        "import scores log.jsonl --run r -o s.jsonl",
        "--dataset finds questions by their texts",
        "import scores log.jsonl --run r -o s.jsonl --dataset d",
    ),
}


@pytest.mark.parametrize("name", REMEDIES)
def test_remedy_repairs_its_error(name: str, tmp_path: Path) -> None:
    """The command fails with the remedy, and works once it is applied."""
    case = REMEDIES[name]
    (tmp_path / "d/runs").mkdir(parents=True)
    write_jsonl(tmp_path / "d/questions.jsonl", QUESTIONS)
    case.world(tmp_path)
    failed = inside(*case.fails.split(), cwd=tmp_path)
    assert failed.code, failed.out
    assert case.said in failed.err
    case.apply(tmp_path)
    mended = inside(*case.works.split(), cwd=tmp_path)
    assert mended.code == 0, mended.err


def test_where_nothing_is_usable_skipping_is_no_remedy(tmp_path: Path) -> None:
    """If each record is unusable, skipping them leaves nothing, and isn't recommended."""
    (tmp_path / "d").mkdir()
    write_jsonl(tmp_path / "d/questions.jsonl", QUESTIONS)
    log(tmp_path, [{"run": "r", "question_id": "q1", "answer": 7}])
    assert "--on-error" not in inside("evaluate", "log.jsonl", "--dataset", "d", "--no-store", cwd=tmp_path, code=2).err


def test_a_format_without_a_key_recommends_none(tmp_path: Path) -> None:
    """BEIR's rankings are keyed by the question itself: --question-key would change nothing, and isn't recommended."""
    (tmp_path / "d").mkdir()
    write_jsonl(tmp_path / "d/questions.jsonl", QUESTIONS)
    (tmp_path / "log.json").write_text(json.dumps({"x1": {"a": 1.0}, "x2": {"b": 1.0}}))
    refused = inside("import", "beir", "log.json", "--dataset", "d", "-o", "d/made.jsonl", cwd=tmp_path, code=2)
    assert "--question-key" not in refused.err
    assert "Check --dataset." in refused.err


def test_remedy_names_the_grader_that_gives_a_measure() -> None:
    """The grader of each judged measure is one of the catalogue that gives it; only a person's has none."""
    judged = [kind for kind in MEASURES if issubclass(kind, JudgedMeasure)]
    without = [kind.__name__ for kind in judged if kind.grader is None]
    assert without == ["PersonGrade"]
    for kind in judged:
        assert kind.grader is None or kind.__name__ in GRADERS[kind.grader].measures
    assert JudgedMeasure.asked_by_default == DEFAULT_GRADERS
