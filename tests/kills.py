"""Kills processes of graphkit at random moments, and looks at what each left: nothing half may be called whole.

    python -m tests.kills --kills 1000                    # on an embedded database, about three quarters of an hour
    python -m tests.kills --kills 200 --engine neo4j      # on a Neo4j from Maven, which is killed now and then as well

Commands run in forked processes with small transactions, so that a small world has many moments to die in. Two versions
of a dataset and of a run replace each other, and every kill comes while that goes on or about then. After each kill the
graph is read: whatever it marks as whole (a dataset, a run, its scores, the verdicts on it, the executions of its code)
must equal what an undisturbed load left, and whatever isn't marked must be reported as interrupted. After every fifth
kill a command is run to its end, mostly that for the *former* files, and everything must be there, once.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from graphkit.database.store import Store
from graphkit.errors import DatabaseError
from graphkit.graph.queries import schema_statements
from graphkit.graph.reservations import unfinished_loads
from tests.helpers.datasets import read_jsonl
from tests.helpers.engines import child_environment, empty
from tests.helpers.killed import (
    DATABASES,
    MEASURES,
    OUTDATED,
    Database,
    ended,
    executions_file,
    fingerprint,
    kill,
    marks,
    run_file,
    scores_file,
    start,
    verdicts_file,
    write_world,
)


@dataclass
class Tally:
    """The results of the kills of one kind."""

    kills: int = 0
    replacing: int = 0
    lost: int = 0
    doubled: int = 0
    half: int = 0
    untold: int = 0
    unrepaired: int = 0

    @property
    def bad(self) -> int:
        """The number of mistakes."""
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

    def prepare_files(self) -> None:
        """Write each version of each file, keep its digest, and time it."""
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
        """Compare each part that is marked as whole with the expected one; the others must be interrupted."""
        found, marked = fingerprint(store), marks(store)
        reported = [str(load) for load in unfinished_loads(store) if load.interrupted]
        tally.replacing += not all(marked.values())
        for part, digest in marked.items():
            if not digest and found[part] and not reported:
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
#: The kinds that write a file, and use no database.
FILES = ("run", "grade", "report")


def series(database: Database, folder: Path, kills: int, seed: int, files: bool = True) -> dict[str, Tally]:
    """Kill so many commands on an empty database, and return what came of it by kind.

    ``files`` says whether commands that write files are among them.
    """
    write_world(folder)
    one = Kills(folder, database, random.Random(seed))
    one.prepare()
    left_out = {*(() if files else FILES), *(() if database.kill is not None else ("server",))}
    shares = {kind: share for kind, share in SHARES.items() if kind not in left_out}
    if files:
        one.prepare_files()
    whole = sum(shares.values())
    kinds = [kind for kind, share in shares.items() for _ in range(max(1, round(kills * share / whole)))]
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
