"""The command line as tests see it: a process with an exit code and two streams, and tiny datasets to feed it."""

from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest
import typer

from graphkit.database.store import Store
from tests.helpers import ROOT
from tests.helpers.engines import clean_environment
from tests.helpers.guard.sitecustomize import guarded

#: What the fixture ``process`` gives: runs graphkit as a process.
Process = Callable[..., "Done"]
COMMAND = (sys.executable, "-m", "graphkit")
Row = dict[str, Any]

#: Gold of q1: x calls y, y calls z of another repository. Gold of q2: x calls w.
QUESTIONS: tuple[Row, ...] = (
    {
        "id": "q1",
        "question": "Who calls z?",
        "paths": [[["a:m.py#x", "CALLS", "a:m.py#y"], ["a:m.py#y", "CALLS", "b:n.py#z"]]],
        "relevant": {"a:m.py#x": 1, "b:n.py#z": 2},
    },
    {
        "id": "q2",
        "question": "What does x call?",
        "paths": [[["a:m.py#x", "CALLS", "a:m.py#w"]]],
        "relevant": {"a:m.py#w": 1},
    },
)

#: q1 is walked by half, q2 wholly: EdgeRecall (0.5 + 1) / 2 = 0.75.
ANSWERS: tuple[Row, ...] = (
    {
        "run": "r",
        "question_id": "q1",
        "retrieved": ["a:m.py#x", "a:m.py#y"],
        "traversal": [{"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#y", "position": 0}],
    },
    {
        "run": "r",
        "question_id": "q2",
        "retrieved": ["a:m.py#w"],
        "traversal": [{"source": "a:m.py#x", "relation": "CALLS", "target": "a:m.py#w", "position": 0}],
    },
)


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def unasked(self) -> str:
        """The standard error without what an evaluation says of each run: how much of it is known."""
        return "".join(line for line in self.err.splitlines(keepends=True) if not line.startswith("known: "))

    def objects(self) -> list[Row]:
        """Return the JSON objects of the standard output, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    def object(self) -> Row:
        """Return the only JSON object of the standard output."""
        [found] = self.objects()
        return found


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a child: this checkout, no settings of the machine, wide lines, and what is added."""
    wanted = {
        **clean_environment(os.environ),
        "COLUMNS": "400",
        "PYTHONWARNINGS": "error::ResourceWarning",
        # A file of compiled code that a full disk cut short would break the next import.
        "PYTHONDONTWRITEBYTECODE": "1",
        **(extra or {}),
    }
    return guarded(wanted)


def graphkit(
    *arguments: object,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    code: int | None = None,
    command: Iterable[str] = COMMAND,
    preexec: Callable[[], None] | None = None,
) -> Done:
    """Run a command to its end; whatever happens, no user sees a traceback. ``code``: the exit code that must come."""
    process = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        env=environment(env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=preexec,
    )
    done = Done(process.returncode, process.stdout.decode(errors="replace"), process.stderr.decode(errors="replace"))
    assert "Traceback" not in done.out + done.err, done.err
    assert code is None or done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
    return done


@cache
def _root() -> Any:
    """Return the application's command; to build those below it takes as long as most of what they do in tests."""
    from graphkit.cli.app import app

    return typer.main.get_command(app)


def inside(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None, code: int | None = None) -> Done:
    """Run a command within this process: all but the start and the end of a process, and many times as quick."""
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", write_through=True) for _ in range(2)
    )
    with Path(os.devnull).open() as nothing:
        status = called(*arguments, cwd=cwd, wanted=environment(env), streams=(nothing, out, err))
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
    done = Done(status, *texts)
    assert code is None or done.code == code, f"exit code {done.code}\n{done.out}\n{done.err}"
    return done


def called(*arguments: object, cwd: Path, wanted: Mapping[str, str], streams: tuple[IO[str], IO[str], IO[str]]) -> int:
    """Run a command within this process, in an environment and with streams of its own; return its exit code."""
    from graphkit.cli.base import refused_by_system

    status: object = 0
    with pytest.MonkeyPatch.context() as patch, own_modules(cwd):
        patch.chdir(cwd)
        for name in set(os.environ) - set(wanted):
            patch.delenv(name)
        for name, value in wanted.items():
            patch.setenv(name, value)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        try:
            _root().main([str(argument) for argument in arguments], prog_name="graphkit")
        except SystemExit as exit_:
            status = exit_.code or 0
        except OSError as error:
            status = refused_by_system(error)
    assert isinstance(status, int)
    return status


@contextmanager
def own_modules(folder: Path) -> Iterator[None]:
    """Forget the modules of a folder at the end, which another test may have by the same names; restore the path.

    The checkout as folder has none of its own: graphkit, and what is installed below it, stay imported.
    """
    path, before = [*sys.path], {*sys.modules}
    kept = (ROOT / "graphkit", ROOT / "tests", Path(sys.prefix))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        for name in {*sys.modules} - before:
            file = Path(getattr(sys.modules[name], "__file__", None) or "/")
            if file.is_relative_to(folder) and not any(file.is_relative_to(one) for one in kept):
                del sys.modules[name]


def write_lines(path: Path, records: Iterable[Row | str | bytes]) -> Path:
    """Write a line a record: objects as JSON, text and bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(_line(record) + b"\n" for record in records))
    return path


def _line(record: Row | str | bytes) -> bytes:
    if isinstance(record, bytes):
        return record
    return (record if isinstance(record, str) else json.dumps(record)).encode()


def tiny(
    folder: Path,
    questions: Iterable[Row | str | bytes] = QUESTIONS,
    answers: Iterable[Row | str | bytes] = ANSWERS,
    **files: Iterable[Row | str | bytes],
) -> Path:
    """Write a dataset of two questions with one run, and return the run's file; ``files`` are named without ending."""
    write_lines(folder / "questions.jsonl", questions)
    for name, records in files.items():
        write_lines(folder / f"{name}.jsonl", records)
    return write_lines(folder / "runs" / "r.jsonl", answers)


@dataclass(frozen=True)
class Graph:
    """A database for commands: the environment in which they use it, and a store that looks into it."""

    env: dict[str, str]
    store: Store

    def counts(self) -> Row:
        """Return how many nodes and relationships of each kind there are."""
        rows = self.store.read("MATCH (n) RETURN labels(n)[0] AS kind, count(*) AS n")
        rows += self.store.read("MATCH ()-[r]->() RETURN type(r) AS kind, count(*) AS n")
        return {str(row["kind"]): row["n"] for row in rows}

    def content(self) -> list[str]:
        """Return all that the database holds but its own form and times, in an order of its own."""
        rows = self.store.read("MATCH (n) WHERE NOT n:Graphkit RETURN labels(n) AS kind, properties(n) AS properties")
        rows += self.store.read(
            "MATCH (a)-[r]->(b) RETURN type(r) AS kind, properties(r) AS properties, a.id AS a, b.id AS b"
        )
        for row in rows:
            row["properties"] = {k: v for k, v in dict(row["properties"]).items() if not k.endswith("_at")}  # type: ignore[call-overload]
        return sorted(json.dumps(row, sort_keys=True, default=str) for row in rows)


def one_unscored(tmp_path: Path) -> Path:
    """Return the run of the tiny dataset with q2 failed: EdgeRecall is 0.5 on one of two questions."""
    return tiny(tmp_path, answers=[ANSWERS[0], {"run": "r", "question_id": "q2", "error": "timed out"}])


#: What a summary in JSON holds beside its figures if nothing is left out, and each edge has its relation.
NOTHING_LEFT: dict[str, Any] = {"not_logged": 0, "of_question": 0, "strict": None}


def without_intervals(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result in JSON without the intervals of its means, which have tests of their own."""
    means = {
        name: {key: one[key] for key in one if key not in ("held", "interval")}
        for name, one in result["measures"].items()
    }
    return {**result, "measures": means}
