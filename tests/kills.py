"""Kills processes of graphkit at random moments, and looks at what each left: nothing half may be called whole.

    python -m tests.kills --kills 1000                    # on an embedded database, about three quarters of an hour
    python -m tests.kills --kills 200 --engine neo4j      # on a Neo4j from Maven, which is killed now and then as well

Commands run in forked processes with small transactions, so that a small world has many moments to die in. Two versions
of a dataset and of a run replace each other, and every kill comes while that goes on or about then. After each kill the
graph is read: whatever it marks as whole (a dataset, a run, its scores, the verdicts on it, the executions of its code)
must equal what an undisturbed load left, and whatever isn't marked must be told as interrupted. After every fifth kill
a command is run to its end, mostly that for the *former* files, and everything must be there, once.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphkit.database.embedded import client as embedded
from graphkit.database.embedded.locks import wait_until
from graphkit.database.settings import Settings
from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.files.execution_files import write_executions
from graphkit.files.score_files import write_scores
from graphkit.files.verdict_files import grades_folder, write_verdicts
from graphkit.graph import datasets as loading
from graphkit.graph import execution_nodes, runs, score_nodes, verdict_nodes, writing
from graphkit.graph.queries import cypher, schema_statements
from graphkit.graph.reservations import unfinished_loads
from graphkit.graph.verdict_nodes import judgings
from graphkit.measures.judged import TESTED
from graphkit.records.executions import Execution
from graphkit.records.scores import EXECUTION, GRAPHKIT, Score
from tests.helpers.datasets import generate, read_jsonl, write_jsonl
from tests.helpers.engines import child_environment, empty, free_port, start_neo4j
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

_NODES = "coalesce({0}.key, {0}.id, {0}.name, {0}.run + '/' + {0}.question + '/' + {0}.index, {0}.question + {0}.index)"


def _node(label: str, where: str = "true") -> str:
    kind = f"'{label}' AS kind, '' AS source, '' AS target"
    return f"MATCH (n:{label}) WHERE {where} RETURN {kind}, properties(n) AS properties"


def _relationship(kinds: str, where: str = "true") -> str:
    ends = f"{_NODES.format('a')} AS source, {_NODES.format('b')} AS target"
    return f"MATCH (a)-[r:{kinds}]->(b) WHERE {where} RETURN type(r) AS kind, {ends}, properties(r) AS properties"


def _scores(grader: str) -> tuple[str, ...]:
    """Return what asks for scores by graphkit, or by others."""
    nodes = (_node(label, f"n.grader {grader}") for label in ("Score", "Grading"))
    return (*nodes, *(_relationship(kind, f"b.grader {grader}") for kind in ("SCORED", "GRADED")))


#: Each part that is replaced as a whole. Artifacts, chunks and commits stay when nothing names them any more.
PARTS = {
    "dataset": (
        *map(_node, ("Question", "GoldPath", "Stack", "Deployment", "Source")),
        *map(_relationship, ("GOLD", "EXPECTS", "EDGE", "LISTS", "PINS", "DEPLOYS", "COMPATIBLE_WITH")),
        _relationship("INCOMPATIBLE_WITH"),
    ),
    "run": (
        *map(_node, ("Answer", "RetrievedPath", "Run")),
        *map(_relationship, ("TRAVERSED", "WALKED", "RETRIEVED", "PRODUCED", "ANSWERS")),
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
        for module in (loading, writing):
            vars(module).update(BATCH=40)
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
            wait_until(lambda: not embedded.status(home).running, 60)

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

# The kills ---------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What the kills of one kind came to."""

    kills: int = 0
    replacing: int = 0
    lost: int = 0
    doubled: int = 0
    half: int = 0
    untold: int = 0
    unrepaired: int = 0

    @property
    def bad(self) -> int:
        """How often something was wrong."""
        return self.lost + self.doubled + self.half + self.untold + self.unrepaired


@dataclass
class Kills:
    """One series of kills on one database."""

    folder: Path
    database: Database
    draw: random.Random
    tallies: dict[str, Tally] = field(default_factory=dict)
    prints: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    version: str = "A1"

    def command(self, arguments: list[str], seconds: float | None = None) -> int | None:
        """Run a command, for so many seconds at most; return its exit code, or None where it was killed."""
        process = start(arguments, child_environment(self.database.settings), self.folder)
        code = ended(process, seconds)
        if code is None:
            kill(process)
        return code

    def evaluate(self, version: str) -> list[str]:
        """Return the command that loads the dataset and the run of a version, in the other's place, and scores it."""
        measures = [word for name in MEASURES for word in ("-m", name)]
        return ["evaluate", *measures, "--replace", str(run_file(self.folder, version))]

    def judge(self, version: str) -> list[str]:
        """Return the command that loads scores, verdicts and executions of the run of a version in the graph."""
        files = (of(self.folder, version) for of in (scores_file, verdicts_file, executions_file))
        return ["load-scores", *map(str, files)]

    # Before: what undisturbed commands leave, and how long they take

    def prepare(self) -> None:
        """Load each version into an empty database, keep its fingerprints, and time each replacement."""
        with Store.open(self.database.settings) as store:
            store.schema(schema_statements())
            for version in ("A1", "A2", "B1", "B2"):
                empty(store)
                self.finish(self.evaluate(version))
                self.finish(self.judge(version))
                found, marked = fingerprint(store), marks(store)
                assert all(marked.values()), marked
                for part, digest in marked.items():
                    self.prints.setdefault(part, {})[digest] = found[part]
        for kind, arguments in (
            ("load", ["load", str(self.folder / "A" / "world")]),
            ("evaluate", self.evaluate("A1")),
            ("scores", self.evaluate("A1")),
            ("verdicts", self.judge("A1")),
        ):
            begin = time.monotonic()
            self.finish(arguments)
            self.seconds[kind] = time.monotonic() - begin
        for kind, output in (("run", "runs"), ("grade", "graded.jsonl"), ("report", "page.html")):
            begin = time.monotonic()
            self.finish(self.file_command(kind, "1"))
            self.seconds[kind] = time.monotonic() - begin
            path = self.folder / output
            self.whole[f"{kind}1"] = _digest(path)
            self.finish(self.file_command(kind, "2"))
            self.whole[f"{kind}2"] = _digest(path)
            if kind == "run":
                shutil.rmtree(path)

    def finish(self, arguments: list[str]) -> None:
        """Run a command that must end well."""
        code = self.command(arguments)
        assert code == 0, (arguments, code, (self.folder / "log").read_text()[-2000:])

    def file_command(self, kind: str, version: str) -> list[str]:
        """Return the command that writes a file of some kind and version."""
        file = str(run_file(self.folder, f"A{version}"))
        if kind == "run":
            dataset = str(self.folder / "A" / "world")
            return ["run", dataset, "--system", "mine=kill_system:answer", "--out", str(self.folder / "runs")]
        if kind == "grade":
            return ["evaluate", "--no-store", "--out", str(self.folder / "graded.jsonl"), file]
        return ["report", file, "--title", version, "--out", str(self.folder / "page.html")]

    # The kills

    def once(self, kind: str) -> None:
        """Kill one command of a kind, and look."""
        tally = self.tallies.setdefault(kind, Tally())
        tally.kills += 1
        if kind in ("run", "grade", "report"):
            self.kill_file(kind, tally)
        else:
            self.kill_load(kind, tally)

    def kill_load(self, kind: str, tally: Tally) -> None:
        """Kill a load of another version, or the database under it, and compare what is left with its marks."""
        dataset, number = self.version[0], self.version[1]
        if kind in ("load", "server") or (kind != "verdicts" and self.draw.random() < 0.3):
            dataset = "B" if dataset == "A" else "A"
        if kind not in ("scores", "verdicts"):
            number = "2" if number == "1" else "1"
        following = dataset + number
        arguments = ["load", str(self.folder / dataset / "world")] if kind == "load" else self.evaluate(following)
        if kind == "verdicts":
            self.finish(arguments)  # verdicts are loaded beside the answers that they are on
            arguments = self.judge(following)
        moment = self.draw.uniform(0.1, 1.0) * self.seconds["evaluate" if kind == "server" else kind]
        if kind == "server":
            process = start(arguments, child_environment(self.database.settings), self.folder)
            code = ended(process, moment)
            assert self.database.kill is not None
            assert self.database.start is not None
            self.database.kill()
            code = ended(process, None) if code is None else code
            assert code in (0, 3), (code, (self.folder / "log").read_text()[-2000:])
            self.database.start()
        elif self.command(arguments, moment) == 0 and kind == "load":
            self.version = following
        with Store.open(self.database.settings) as store:
            self.look(store, tally)
            if sum(one.kills for one in self.tallies.values()) % 5 == 0:
                # Mostly the former version: it must not be taken for unchanged.
                self.version = self.version if self.draw.random() < 0.7 else following
                self.repair(store, tally)
            elif self.draw.random() < 0.5:
                self.version = following

    def look(self, store: Store, tally: Tally) -> None:
        """Compare each part that is marked as whole with what it must be; the others must be told as interrupted."""
        found, marked = fingerprint(store), marks(store)
        told = [str(load) for load in unfinished_loads(store) if load.interrupted]
        tally.replacing += not all(marked.values())
        for part, digest in marked.items():
            if not digest and found[part] and not told:
                tally.untold += 1
                sys.stderr.write(f"{part}: not whole, and nobody says so\n")
            if digest in ("", OUTDATED):
                continue
            expected = self.prints[part].get(digest, Counter())
            self.compare(part, expected, found[part], tally)

    def compare(self, part: str, expected: Counter[str], found: Counter[str], tally: Tally) -> None:
        """Count what is missing and what is too much."""
        missing, surplus = expected - found, found - expected
        tally.lost += bool(missing)
        tally.doubled += bool(surplus)
        tally.half += bool(missing or surplus)
        for name, rows in (("missing", missing), ("too much", surplus)):
            if rows:
                sys.stderr.write(f"{part}: {rows.total()} {name}, such as {next(iter(rows))[:300]}\n")

    def repair(self, store: Store, tally: Tally) -> None:
        """Run a command to its end: nothing is unfinished then, and everything is there, once."""
        self.finish(self.evaluate(self.version))
        self.finish(self.judge(self.version))
        marked = marks(store)
        if unfinished := [str(load) for load in unfinished_loads(store)] + [
            name for name in marked if not marked[name]
        ]:
            tally.unrepaired += 1
            sys.stderr.write(f"unfinished after {self.version} was loaded to its end: {', '.join(unfinished)}\n")
        self.look(store, Tally() if all(marked.values()) else tally)
        after = fingerprint(store)
        for part, digest in marked.items():
            if after[part] != self.prints[part].get(digest):
                tally.unrepaired += 1
                sys.stderr.write(f"{part}: not as it was, after {self.version} was loaded to its end\n")

    def kill_file(self, kind: str, tally: Tally) -> None:
        """Kill a command that writes a file: what was there before is there, or all of what comes."""
        path = self.folder / {"run": "runs", "grade": "graded.jsonl", "report": "page.html"}[kind]
        version = self.draw.choice("12")
        before = _digest(path)
        code = self.command(self.file_command(kind, version), self.draw.uniform(0.1, 1.0) * self.seconds[kind])
        tally.replacing += code is None
        if kind != "run":
            if _digest(path) not in (before, self.whole[f"{kind}{version}"]):
                tally.half += 1
                sys.stderr.write(f"{path.name}: neither what it was nor what it was to be\n")
            leftovers = [one.name for one in self.folder.glob(f".{path.name}*")]
            for name in leftovers:
                (self.folder / name).unlink()
            return
        if code is None:
            self.finish(self.file_command(kind, version))
        asked = Counter(one["id"] for one in read_jsonl(self.folder / "A" / "world" / "questions.jsonl"))
        answered = Counter(one["question_id"] for one in read_jsonl(path / "mine.jsonl") if one["answer"])
        self.compare("run log", asked, answered, tally)
        shutil.rmtree(path)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


#: How often each kind of command is killed, in parts of a whole; the database is costly to start again.
SHARES = {"load": 28, "evaluate": 26, "scores": 10, "verdicts": 6, "run": 8, "grade": 8, "report": 8, "server": 6}


def series(database: Database, folder: Path, kills: int, seed: int) -> dict[str, Tally]:
    """Kill so many commands on an empty database, and return what came of it by kind."""
    write_world(folder)
    one = Kills(folder, database, random.Random(seed))
    one.prepare()
    shares = {kind: share for kind, share in SHARES.items() if kind != "server" or database.kill is not None}
    kinds = [kind for kind, share in shares.items() for _ in range(max(1, round(kills * share / 100)))]
    one.draw.shuffle(kinds)
    for number, kind in enumerate(kinds[:kills], 1):
        one.once(kind)
        if number % 100 == 0:
            sys.stderr.write(f"{number} kills, {sum(tally.bad for tally in one.tallies.values())} bad\n")
    with Store.open(database.settings) as store:
        one.repair(store, one.tallies.setdefault("at the end", Tally()))
    return one.tallies


def table(tallies: dict[str, Tally]) -> str:
    """Return the tallies as a table, with their sum."""
    total = Tally(*(sum(column) for column in zip(*(vars(one).values() for one in tallies.values()), strict=True)))
    names = list(vars(total))
    rows = [["command", *names], *([kind, *vars(one).values()] for kind, one in {**tallies, "all": total}.items())]
    return "\n".join("  ".join(f"{cell!s:>10}" for cell in row) for row in rows)


def main() -> None:
    """Kill, and print what came of it; exit with 1 where anything was lost, doubled or half."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--engine", choices=DATABASES, default="embedded")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begin = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="graphkit-kills-", ignore_cleanup_errors=True) as folder,
        DATABASES[given.engine](Path(folder)) as database,
    ):
        tallies = series(database, Path(folder), given.kills, given.seed)
    sys.stdout.write(f"{table(tallies)}\n{time.monotonic() - begin:.0f} s\n")
    sys.exit(any(one.bad for one in tallies.values()))


if __name__ == "__main__":
    try:
        main()
    except DatabaseError as error:
        sys.exit(str(error))
