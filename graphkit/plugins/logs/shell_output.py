"""The output of a shell without the wrappers of agents, and the files that it couldn't open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from graphkit.plugins.logs.payloads import json_within
from graphkit.readers.json_values import object_of

_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")
_EXIT_CODE = re.compile(r"\s*(?:Process exited with code|Exit code:?) (-?\d{1,9})\n")
_CODE_IN_HEAD = re.compile(r"^Process exited with code (-?\d{1,9})$", re.MULTILINE)
_COMPLETED = re.compile(r"\n?\[The command completed with exit code (-?\d{1,9})\.\]")

#: The messages of a program that can't open a file, or is missing itself.
_FAILURES = (
    *("no such file", "permission denied", "is a directory", "not a directory", "cannot open", "can't read"),
    *(
        "does not exist",
        "invalid object name",
        "exists on disk, but not in",
        "not found",
        "can't cd to",
        "no such path",
    ),
)
_SHELL = re.compile(r"^(?:[\w./-]*sh: )?(?:line \d{1,9}: |\d{1,9}: )?")
_LONGEST_ERROR = 1000
_LONGEST_HEAD = 1000

#: The number of lines that are searched for unopened files; with more candidates, the files are unknown.
MOST_ERRORS = 100


@dataclass(frozen=True, slots=True)
class ShellOutput:
    """The text that a shell printed, and whether it failed: None if that is unknown."""

    text: str
    failed: bool | None = None

    @property
    def lines(self) -> list[str]:
        """Its lines."""
        return self.text.splitlines()

    def errors(self) -> list[str]:
        """Return the lines that may say that a file can't be opened; one more than are looked at."""
        found = (
            line
            for line in self.lines
            if len(line) <= _LONGEST_ERROR and any(failure in line.casefold() for failure in _FAILURES)
        )
        return list(islice(found, MOST_ERRORS + 1))


def shell_output(text: str, failed: bool = False) -> ShellOutput:
    """Return the output of a shell from the text that an agent keeps of it.

    >>> shell_output("<returncode>1</returncode>\\n<output>\\nno\\n</output>")
    ShellOutput(text='no\\n', failed=True)
    >>> shell_output("Wall time: 0.1 seconds\\nProcess exited with code 0\\nOutput:\\nyes\\n")
    ShellOutput(text='yes\\n', failed=False)
    """
    code: str | None = None
    if text.startswith(("Chunk ID: ", "Wall time: ")) and (body := text[:_LONGEST_HEAD].find("\nOutput:\n")) >= 0:
        code, text = next(iter(_CODE_IN_HEAD.findall(text[:body])), None), text[body + len("\nOutput:\n") :]
    elif found := _RETURN_CODE.match(text):
        code, text = found[1], text[found.end() :].strip("\n")
        if text.startswith("<output>"):
            text = text.removeprefix("<output>").removeprefix("\n").removesuffix("</output>")
    elif found := _EXIT_CODE.match(text):
        code, text = found[1], text[found.end() :].partition("Output:\n")[2] or text[found.end() :]
    elif found := _COMPLETED.search(text):
        code, text = found[1], text[: found.start()]
    elif text.startswith("{") and isinstance(given := json_within(text), dict):
        return _of_object(given, failed) or ShellOutput(text, failed or None)
    text = text.removeprefix("OBSERVATION:\n")
    return ShellOutput(text, failed or None if code is None else failed or int(code) != 0)


def _of_object(given: dict[str, Any], failed: bool) -> ShellOutput | None:
    """Return the output in an object that separates output and exit code."""
    texts = [given[key] for key in ("output", "stdout", "stderr") if isinstance(given.get(key), str)]
    if not texts:
        return None
    metadata = given.get("metadata")
    places = (given, object_of(metadata))
    codes = (one.get(key) for one in places for key in ("exit_code", "exitCode", "returncode", "return_code"))
    code = next((one for one in codes if isinstance(one, int)), None)
    return ShellOutput("\n".join(texts), failed or None if code is None else failed or code != 0)


def says_failed(errors: list[str], program: str, operand: str) -> bool:
    """Return whether the program reports that it can't open a file, or the shell that it lacks the program."""
    named = re.compile(rf"(?<![\w./-]){re.escape(operand)}(?![\w/-])")
    for line in errors:
        message = _SHELL.sub("", line, count=1)
        rest = message.removeprefix(f"{program}:")
        if rest.strip() in ("command not found", "not found") or message == f"command not found: {program}":
            return True
        if (rest != message or message.startswith(("fatal:", f"{operand}:"))) and named.search(rest):
            return True
    return False
