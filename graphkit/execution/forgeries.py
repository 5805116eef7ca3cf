"""Answers that try to pass without solving anything, or to take more memory than they may: one file each.

A file in ``forged/AIM/LANGUAGE/`` begins with lines of ``field: value``, up to a line ``---``, and goes on with the
code of the answer, which defines ``f``. ``name`` and ``what`` say what it tries; each ``test`` is a test of the
question, of which the last one is what the answer must not pass; ``ends`` are the only statuses that it may have then,
where not every failure will do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphkit.execution.exchanges import Code
from graphkit.execution.languages import Language, language_named
from graphkit.execution.running import run_test
from graphkit.execution.sandbox import Sandbox
from graphkit.records.executions import CodeTestResult
from graphkit.records.structs import CodeTestStruct

_FOLDER = Path(__file__).parent / "forged"

#: How long each test of a forgery may take, in seconds.
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Forgery:
    """One answer that tries.

    Attributes
    ----------
    aim
        ``results``, to pass a test, or ``memory``.
    """

    aim: str
    language: Language
    name: str
    what: str
    tests: tuple[CodeTestStruct, ...]
    ends: frozenset[str]
    code: str

    def tried(self, sandbox: Sandbox) -> CodeTestResult | None:
        """Return how its last test went; None where this machine has no program for its language.

        Raises
        ------
        SandboxError
            The sandbox broke.
        """
        argv = self.language.argv(sandbox.limits.memory)
        if argv is None:
            return None
        code = Code(self.code, self.language, {}, "f", argv)
        return [run_test(test, code, sandbox) for test in self.tests][-1]

    def succeeded(self, result: CodeTestResult) -> bool:
        """Tell whether it got what it wanted."""
        return result.passed or bool(self.ends and result.status not in self.ends)


def forgeries() -> list[Forgery]:
    """Return all of them, by aim, language and name."""
    return [_read(path) for path in sorted(_FOLDER.glob("*/*/*.txt"))]


def _read(path: Path) -> Forgery:
    head, _, code = path.read_text(encoding="utf-8").partition("\n---\n")
    fields = [line.partition(": ")[::2] for line in head.splitlines()]
    one = {name: text for name, text in fields if name != "test"}
    language = language_named(path.parent.name)
    assert language is not None, path
    return Forgery(
        aim=path.parent.parent.name,
        language=language,
        name=one["name"],
        what=one["what"],
        tests=tuple(_tests([json.loads(text) for name, text in fields if name == "test"])),
        ends=frozenset(one["ends"].split(", ")) if "ends" in one else frozenset(),
        code=code,
    )


def _tests(written: list[dict[str, Any]]) -> Iterator[CodeTestStruct]:
    for number, test in enumerate(written):
        yield CodeTestStruct(f"test {number}", timeout=_SECONDS, **test)
