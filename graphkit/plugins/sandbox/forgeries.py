"""Answers that try to pass without solving anything, or to use more memory than the limit: one file each.

A file in ``forged/AIM/LANGUAGE/`` begins with lines of ``field: value``, up to a line ``---``. The rest is the code of
the answer, which defines ``f``. ``name`` and ``what`` describe the answer. Each ``test`` is a test of the question; the
answer must not pass the last one. ``ends`` lists the statuses that the last test may have; without it, any failure will
do. The forgeries of equality have two more fields. ``kind`` says what an honest answer returns, and ``honest`` how the
last test ends for it: ``unproven`` if it passes only where the answer's own methods are trusted, ``missing`` if there
is no honest answer; by default it passes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from graphkit.plugins.sandbox.exchanges import Code, run_test
from graphkit.plugins.sandbox.executions import CodeTestResult
from graphkit.plugins.sandbox.languages import Language, language_named
from graphkit.plugins.sandbox.sandbox import Sandbox
from graphkit.plugins.sandbox.snippets import fields_and_code, files_below
from graphkit.records.structs import CodeTestStruct

#: The time limit of each test of a forgery, in seconds.
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Forgery:
    """One answer that cheats."""

    aim: str  # ``results`` or ``equality``, to pass a test, or ``memory``
    language: Language
    name: str
    what: str
    tests: tuple[CodeTestStruct, ...]
    ends: frozenset[str]
    code: str
    kind: str | None = None
    honest: str = "success"

    def run(self, sandbox: Sandbox) -> CodeTestResult | None:
        """Return the result of its last test; None if this machine has no program for its language.

        Raise a SandboxError if the sandbox broke.
        """
        argv = self.language.argv(sandbox.limits.memory)
        if argv is None:
            return None
        code = Code(self.code, self.language, {}, "f", argv)
        return [run_test(test, code, sandbox) for test in self.tests][-1]

    def succeeded(self, result: CodeTestResult) -> bool:
        """Return whether the answer reached its aim."""
        return result.passed or bool(self.ends and result.status not in self.ends)


def forgeries() -> list[Forgery]:
    """Return all forgeries, by aim, language and name."""
    found = []
    for path in files_below("forged", "*/*/*.txt"):
        pairs, code = fields_and_code(path)
        fields = dict(pairs)
        language = language_named(path.parent.name)
        assert language is not None, path
        tests = [json.loads(text) for name, text in pairs if name == "test"]
        found.append(
            Forgery(
                aim=path.parent.parent.name,
                language=language,
                name=fields["name"],
                what=fields["what"],
                tests=tuple(CodeTestStruct(f"test {n}", timeout=_SECONDS, **test) for n, test in enumerate(tests)),
                ends=frozenset(fields["ends"].split(", ")) if "ends" in fields else frozenset(),
                code=code,
                kind=fields.get("kind"),
                honest=fields.get("honest", "success"),
            )
        )
    return found
