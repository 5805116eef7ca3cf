"""Helpers for killing processes: a small world, its content in a graph, processes, and databases to kill."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.files.grades_beside import grades_folder
from graphkit.files.score_files import write_scores
from graphkit.graph import datasets as loading
from graphkit.graph import runs, score_nodes, stream, writing
from graphkit.graph.queries import cypher
from graphkit.measures.judged import TESTED
from graphkit.measures.outcome import RIGHT_ANSWER
from graphkit.plugins.embedded import client as embedded
from graphkit.plugins.embedded.locks import wait_until
from graphkit.plugins.judging import verdict_nodes
from graphkit.plugins.judging.verdict_files import write_verdicts
from graphkit.plugins.judging.verdict_nodes import judgings
from graphkit.plugins.sandbox import execution_nodes
from graphkit.plugins.sandbox.execution_files import write_executions
from graphkit.plugins.sandbox.executions import Execution
from graphkit.records.scores import EXECUTION, GRAPHKIT, Score
from tests.helpers.datasets import generate, read_jsonl, write_jsonl
from tests.helpers.engines import free_port, start_neo4j
from tests.helpers.executions import plausible as plausible_executions
from tests.helpers.verdicts import plausible

RUN = "walker"
MEASURES = ("EdgeRecall", "RR", "Coherence")
SYSTEM = """
import time
def answer(question):
    time.sleep(0.002)
    return {"answer": question.id, "retrieved": [question.id]}
"""

# The world ---------------------------------------------------------------------------------------------------------


def write_world(folder: Path) -> None:
    """Write two versions of a dataset, each with two versions of a run."""
    drawn = generate(folder / "drawn", 1)
    questions = read_jsonl(drawn / "questions.jsonl")
    other = {
        one["id"].replace("gen2", "gen1"): one for one in read_jsonl(generate(folder / "drawn", 2) / "questions.jsonl")
    }
    changed = [
        {**other[one["id"]], "id": one["id"], "stack": one.get("stack"), "commits": one.get("commits", {})}
        if number % 2
        else one
        for number, one in enumerate(questions[:-8])
    ]
    commits = read_jsonl(drawn / "commits.jsonl")
    rows = read_jsonl(drawn / "compatibility.jsonl")
    answers = [read_jsonl(drawn / "runs" / f"gen1-{name}.jsonl") for name in "ab"]
    for version, asked in (("A", questions), ("B", changed)):
        dataset = folder / version / "world"
        write_jsonl(dataset / "questions.jsonl", asked)
        moved = commits if version == "A" else [{**one, "branch": "moved"} for one in commits[1:]]
        write_jsonl(dataset / "commits.jsonl", moved)
        write_jsonl(dataset / "compatibility.jsonl", rows if version == "A" else rows[2:])
        edges = [
            {"source": step["source"], "relation": step.get("relation") or "R", "target": step["target"]}
            for one in (*questions, *changed)
            for path in one["paths"]
            for step in path["steps"]
        ]
        write_jsonl(dataset / "edges-code.jsonl", edges if version == "A" else edges[::-1] + edges[:40])
        known = {one["id"] for one in asked}
        for number, records in enumerate(answers, 1):
            kept = [{**one, "run": RUN} for one in records if one["question_id"] in known]
            file = write_jsonl(dataset / "runs" / f"{number}.jsonl", kept)
            grades_folder(file).mkdir()
            write_verdicts(verdicts_file(folder, f"{version}{number}"), plausible(file))
            executions = list(plausible_executions(file))
            write_executions(executions_file(folder, f"{version}{number}"), executions)
            write_scores(scores_file(folder, f"{version}{number}"), _given(executions))
    (folder / "kill_system.py").write_text(SYSTEM)


def run_file(folder: Path, version: str) -> Path:
    """Return the run of a version such as ``A1``."""
    return folder / version[0] / "world" / "runs" / f"{version[1]}.jsonl"


def verdicts_file(folder: Path, version: str) -> Path:
    """Return the verdicts on the run of a version."""
    return grades_folder(run_file(folder, version)) / "lexical.verdicts.jsonl"


def executions_file(folder: Path, version: str) -> Path:
    """Return the executions of the run of a version."""
    return grades_folder(run_file(folder, version)) / "execution.executions.jsonl"


def scores_file(folder: Path, version: str) -> Path:
    """Return the scores that two graders gave the run of a version."""
    return grades_folder(run_file(folder, version)) / "given.scores.jsonl"


def _given(executions: list[Execution]) -> Iterator[Score]:
    """Yield scores by one measure: of every other question of a judge, else of the tests."""
    for number, one in enumerate(executions):
        grader = EXECUTION if number % 2 else "judge"
        yield Score(run=one.run, question=one.question, measure=TESTED, value=float(one.passed), grader=grader)


# What the graph holds ----------------------------------------------------------------------------------------------

_NODES = (
    "coalesce({0}.key, CASE WHEN {0}:Chunk THEN {0}.digest END, {0}.id, {0}.name, "
    "{0}.run + '/' + {0}.question + '/' + {0}.index, {0}.run + '/' + {0}.question, {0}.question + {0}.index)"
)


def _node(label: str, where: str = "true") -> str:
    kind = f"'{label}' AS kind, '' AS source, '' AS target"
    return f"MATCH (n:{label}) WHERE {where} RETURN {kind}, properties(n) AS properties"


def _relationship(kinds: str, where: str = "true") -> str:
    ends = f"{_NODES.format('a')} AS source, {_NODES.format('b')} AS target"
    return f"MATCH (a)-[r:{kinds}]->(b) WHERE {where} RETURN type(r) AS kind, {ends}, properties(r) AS properties"


def _scores(grader: str) -> tuple[str, ...]:
    """Return what asks for scores by graphkit, or by others; decisions follow from both, and are neither."""
    where = f"{{0}}.grader {grader} AND {{0}}.measure <> '{RIGHT_ANSWER}'"
    nodes = (_node(label, where.format("n")) for label in ("Score", "Grading"))
    return (*nodes, *(_relationship(kind, where.format("b")) for kind in ("SCORED", "GRADED")))


#: Each part that is replaced as a whole. Artifacts, chunks and commits stay when nothing names them any more.
PARTS = {
    "dataset": (
        *map(_node, ("Question", "GoldPath", "Stack", "Deployment", "Source")),
        *map(_relationship, ("HAS", "GOLD", "EXPECTS", "EDGE", "LISTS", "PINS", "DEPLOYS", "COMPATIBLE_WITH")),
        _relationship("INCOMPATIBLE_WITH"),
    ),
    "run": (
        *map(_node, ("Answer", "RetrievedPath", "Run")),
        *map(_relationship, ("OVER", "TRAVERSED", "WALKED", "RETRIEVED", "PRODUCED", "ANSWERS")),
    ),
    "scores": _scores(f"= '{GRAPHKIT}'"),
    "given": _scores(f"<> '{GRAPHKIT}'"),
    "verdicts": (
        *map(_node, ("Verdict", "Claim", "Citation", "Judging")),
        *map(_relationship, ("JUDGED", "JUDGED_BY", "CLAIMS", "CITES", "SUPPORTED_BY", "POINTS_TO")),
    ),
    "executions": (*map(_node, ("Execution", "CodeTestResult")), *map(_relationship, ("EXECUTED", "RAN"))),
}
#: Not compared: what differs from load to load, and the marks of executions, which stand on the run.
_VOLATILE = ("loaded_at", "folder", "file", "executed", "executions", "executed_gold")

#: Of a run whose questions were removed: it is replaced by the next evaluation, whatever its file.
OUTDATED = "outdated"

Prints = dict[str, Counter[str]]


def fingerprint(store: Store) -> Prints:
    """Return what the graph holds of each part, and how often."""
    found: Prints = {}
    for part, queries in PARTS.items():
        rows = [row for query in queries for row in store.read(query)]
        found[part] = Counter(json.dumps(_steady(row), sort_keys=True, default=str) for row in rows)
    return found


def _steady(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "properties": {name: one for name, one in row["properties"].items() if name not in _VOLATILE}}


def marks(store: Store) -> dict[str, str]:
    """Return which version the graph says it holds whole: of the dataset, the run, and all that is beside it."""
    found = dict.fromkeys(PARTS, "")
    for row in store.read(cypher("read/datasets")):
        found["dataset"] = str(row["digest"] or "")
    for row in store.read(cypher("read/runs")):
        if row["complete"]:
            found["run"] = str(row["digest"] or OUTDATED)
            held = score_nodes.gradings(store, str(row["id"]))
            if all(name in held and held[name].complete for name in MEASURES):
                found["scores"] = found["run"]
            if TESTED in held and held[TESTED].complete:
                found["given"] = found["run"]
            judged = judgings(store, str(row["id"]))
            if judged and all(one.complete for one in judged.values()):
                found["verdicts"] = found["run"]
            ran = execution_nodes.executed(store, str(row["id"]))
            if ran is not None and ran.complete:
                found["executions"] = found["run"]
    return found


# Processes ---------------------------------------------------------------------------------------------------------


def start(arguments: list[str], environment: dict[str, str], folder: Path) -> int:
    """Start a command in a process and a group of its own, with small transactions; return its id."""
    process = os.fork()
    if process:
        with contextlib.suppress(OSError):  # the child does the same: whoever comes first
            os.setpgid(process, process)
        return process
    code = 70
    try:
        os.setpgid(0, 0)
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        writing.BATCH = 40
        stream.FIRST = stream.LEAST = stream.MOST = 100
        writing.CLEARED, loading.RECORDS = 40, 6
        runs.RECORDS, score_nodes.QUESTIONS, verdict_nodes.QUESTIONS = 6, 10, 4
        execution_nodes.QUESTIONS = 4
        sys.argv = ["graphkit", *arguments]
        from graphkit.cli import main

        main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os._exit(code)


def ended(process: int, seconds: float | None) -> int | None:
    """Return the exit code of a process that ends within some seconds (None: whenever), else None."""
    deadline = time.monotonic() + (seconds if seconds is not None else 1e9)
    while time.monotonic() < deadline:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def kill(process: int) -> None:
    """End a process and its children at once."""
    os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)


# The databases -----------------------------------------------------------------------------------------------------


@dataclass
class Database:
    """A database by its settings; where it may be killed, how that is done and undone."""

    settings: Settings
    kill: Callable[[], None] | None = None
    start: Callable[[], None] | None = None


@contextmanager
def embedded_database(folder: Path) -> Iterator[Database]:
    """An embedded database that stays between commands."""
    home = folder / "database"

    def begin() -> None:
        embedded.ensure_running(home, keep=True).release()

    def end() -> None:
        pid = embedded.status(home).pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            assert wait_until(lambda: not embedded.status(home).running, 60)

    begin()
    try:
        yield Database(Settings(data=home), end, begin)
    finally:
        embedded.stop(home)


@contextmanager
def neo4j_database(folder: Path) -> Iterator[Database]:
    """A Neo4j from Maven."""
    port = free_port()
    (folder / "neo4j").mkdir()
    server = [start_neo4j(folder / "neo4j", port)]

    def begin() -> None:
        if server[0].poll() is not None:
            server[0] = start_neo4j(folder / "neo4j", port)

    def end() -> None:
        server[0].kill()
        server[0].wait()

    try:
        yield Database(Settings(uri=f"bolt://127.0.0.1:{port}"), end, begin)
    finally:
        server[0].kill()
        server[0].wait()


DATABASES = {"embedded": embedded_database, "neo4j": neo4j_database}
