"""Runs the runners as real processes: what the sandbox does, without its wall."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphkit.plugins.sandbox.languages import JAVASCRIPT, PYTHON
from tests.helpers.cli import environment

_JOB: dict[str, Any] = {"files": {}, "entry_point": None, "stdin": None, "holds": False}

#: Loads the runner by its path, and lets it answer the requests of one file; the replies go to another one.
_DRIVER = """
import os, sys
folder, given, result = sys.argv[1:]
sys.path.insert(0, folder)
import python_tests
sys.path.pop(0)
python_tests.serve(os.open(given, os.O_RDONLY), os.open(result, os.O_WRONLY | os.O_CREAT))
os._exit(0)
"""


def in_python(code: str, limit: int = 100_000, inputs: Any = None, **job: Any) -> dict[str, Any]:
    """Run a job in a Python of its own, in an empty folder, and return its last reply, with what was printed.

    The sandbox starts it with other options; here the guard of the network comes along.
    """
    program = [str(PYTHON.program()), "-c", _DRIVER, str(PYTHON.runner.parent)]
    return _result(
        lambda given, result: [*program, given, result], {**_JOB, "code": code, "limit": limit, **job}, inputs
    )


def in_node(code: str, limit: int = 100_000, inputs: Any = None, **job: Any) -> dict[str, Any]:
    """Run a job in a Node of its own, likewise."""
    program = [str(JAVASCRIPT.program()), *JAVASCRIPT.flags(256 * 2**20), str(JAVASCRIPT.runner)]
    wired = ["bash", "-c", 'exec 3<"$1" 4>"$2" 5>/dev/null; shift 2; exec "$@"', "bash"]
    whole = {**_JOB, "code": code, "limit": limit, **job}
    return _result(lambda given, result: [*wired, given, result, *program], whole, inputs)


def _result(command: Callable[[str, str], list[str]], job: dict[str, Any], inputs: Any) -> dict[str, Any]:
    requests = [job, *([{"do": "call", "inputs": inputs}] if job["entry_point"] else []), {"do": "end"}]
    with tempfile.TemporaryDirectory() as folder:
        given, result, scratch = Path(folder, "given"), Path(folder, "result"), Path(folder, "scratch")
        scratch.mkdir()
        given.write_text("".join(json.dumps({"id": number, **one}) + "\n" for number, one in enumerate(requests)))
        done = subprocess.run(
            command(str(given), str(result)),
            input=job["stdin"] or "",
            capture_output=True,
            text=True,
            cwd=scratch,
            env=environment(),
            timeout=60,
        )
        text = result.read_text() if result.exists() else ""
        left = sorted(path.name for path in scratch.iterdir())
    replies: list[dict[str, Any]] = [json.loads(line) for line in text.split("\n") if line]
    found = _last(replies)
    return {**found, "stdout": done.stdout, "stderr": done.stderr, "code": done.returncode, "left": left}


def _last(replies: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the first reply that says what came of the code."""
    for reply in replies:
        if reply["kind"] not in ("loaded", "ended"):
            return reply
    return {"kind": "none"}


class Child:
    """A Python that encodes what expressions of Python return, one line each."""

    _PROGRAM = """
import sys, json
sys.path.insert(0, sys.argv[1])
import python_tests
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from collections import namedtuple, OrderedDict, deque
import datetime, uuid, pathlib, enum, dataclasses
for line in sys.stdin:
    scope = dict(globals())
    *statements, expression = json.loads(line)
    for statement in statements:
        exec(statement, scope)
    print(json.dumps(python_tests.encode(eval(expression, scope), 1_000_000)), flush=True)
"""

    def __init__(self) -> None:
        command = [sys.executable, "-c", self._PROGRAM, str(PYTHON.runner.parent)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()
        )

    def encoded(self, *lines: str) -> bytes:
        """Return what the last line, an expression, is encoded as; the lines before it are statements."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(lines) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().encode()

    def close(self) -> None:
        """End the process."""
        self.process.communicate()
