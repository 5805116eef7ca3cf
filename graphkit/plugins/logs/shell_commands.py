"""The files that a shell's command line certainly opened.

A file counts as opened if a command that prints it certainly ran, and the output doesn't say that it failed. Nothing is
guessed: if a line can't be followed, the reading isn't certain, and it is unknown what else was opened.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from graphkit.plugins.logs.shell_matches import GREPS, Search, matched_files, searched
from graphkit.plugins.logs.shell_output import MOST_ERRORS, ShellOutput, says_failed, shell_output
from graphkit.plugins.logs.shell_words import Command, Options, Pipeline, UnfollowedError, Word, parsed, pipelines

#: How deep a shell may start another one.
DEPTH = 2

#: A command that prints more files isn't read.
MOST_FILES = 100

#: The lines by which an agent without tools hands in its answer, which is printed after them.
SUBMITS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")

_SHELLS = ("sh", "bash", "zsh", "dash")

#: Programs that print the files that they are given, with the options that take a value.
_PRINTERS = {
    "cat": Options(),
    "tac": Options(),
    "head": Options("nc", ("--lines", "--bytes")),
    "tail": Options("ncs", ("--lines", "--bytes", "--pid", "--sleep-interval")),
    "nl": Options("bdfhilnsvw", ("--body-numbering", "--number-width", "--number-format", "--number-separator")),
    "less": Options("bhjkoOpPtTxyz"),
    "more": Options(),
}
#: Those that print a part of it.
_CUTTING = ("head", "tail", "sed", *GREPS)

_SED = Options("e", ("--expression",))
_ADDRESS = r"(?:\d+|\$|/(?:[^/\\]|\\.)*/I?)"
_PRINTED_LINES = re.compile(rf"\s*(?:{_ADDRESS}(?:,\s*(?:{_ADDRESS}|\+\d+))?\s*p\s*|\d+q\s*)(?:[;\n]\s*|$)")

#: Programs that open no file for their caller to read: they list, print or change something.
_OPEN_NOTHING = frozenset(
    (
        *("true", ":", "echo", "printf", "pwd", "ls", "tree", "mkdir", "rmdir", "touch", "rm", "mv", "cp", "chmod"),
        *("which", "whoami", "date", "sleep", "export", "set", "unset", "du", "df", "stat", "basename", "dirname"),
        *("realpath", "readlink", "ln", "clear", "exit", "find_file", "goto", "scroll_up", "scroll_down", "submit"),
    )
)
_SILENT = frozenset(("cd", "true", ":", "mkdir", "touch", "rm", "mv", "cp", "chmod", "export", "set", "unset", "sleep"))
_RUNS_OTHERS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint"))
_PASS_ON = frozenset(("sort", "uniq"))

_GIT_OPENS_NOTHING = frozenset(
    (
        *("status", "branch", "checkout", "switch", "add", "commit", "config", "remote", "rev-parse", "fetch", "pull"),
        *("clone", "init", "reset", "clean", "restore", "tag", "ls-files", "describe", "merge-base"),
    )
)
_LISTED_TREE = re.compile(r"tree \S+:")

#: The line above a file in the window of SWE-agent.
_WINDOW = "[File: "


@dataclass(slots=True)
class ShellReading:
    """The files that a command line opened.

    Attributes
    ----------
    opened
        The files that it certainly opened, in order.
    certain
        Whether these are all.
    folders
        The absolute folders that it worked in.
    failed
        Whether it couldn't open something.
    entered, moved
        Whether it goes into a folder itself, and whether it ends in a folder that is relative to the first one, or
        unknown. Later names in the same shell then have another meaning.
    submits, submitted
        Whether it hands in the answer, and the answer, if its text is known.
    """

    opened: list[str] = field(default_factory=list)
    certain: bool = True
    folders: list[str] = field(default_factory=list)
    failed: bool = False
    moved: bool = False
    entered: bool = False
    submits: bool = False
    submitted: str | None = None


def read_shell(line: str, result: str | None, failed: bool = False, folder: str | None = None) -> ShellReading:
    """Return the files that a command line opened.

    Parameters
    ----------
    result
        Its output; None if it isn't logged, and then it is uncertain what the line opened.
    failed
        Whether the log marks the call as failed.
    folder
        The folder in which the line began, if the log says so: absolute, or empty for that of the agent.

    >>> read_shell("cd src && cat a.py | head -5", "import os").opened
    ['src/a.py']
    >>> read_shell("cat $FILE", "import os").certain
    False
    """
    output = None if result is None else shell_output(result, failed)
    try:
        session = _Session(output, folder or "")
        reading = session.read(pipelines(line), DEPTH)
        reading.moved = reading.moved if folder is None else session.folder != folder
    except UnfollowedError:
        reading = ShellReading(certain=False)
    if folder is not None:
        reading.entered = True  # wherever earlier lines ended
    if folder:
        reading.folders.insert(0, folder)
    return reading


@dataclass(slots=True)
class _Session:
    """The run of one command line: its folder, and whether the last command worked."""

    output: ShellOutput | None
    folder: str | None = ""
    reading: ShellReading = field(default_factory=ShellReading)
    #: Whether the last command worked, where that is known.
    worked: bool | None = True
    alone: bool = False
    errors: list[str] = field(default_factory=list)

    def read(self, lines: list[Pipeline], depth: int) -> ShellReading:
        inner = _of_inner_shell(lines)
        if inner is not None:
            if depth == 0:
                raise UnfollowedError
            return self.read(pipelines(inner), depth - 1)
        self.errors = self.output.errors() if self.output is not None else []
        if len(self.errors) > MOST_ERRORS:
            raise UnfollowedError
        self.alone = sum(one.commands[0].name not in _SILENT for one in lines) <= 1
        for number, one in enumerate(lines):
            if _submits(one):
                self._submit(lines[number + 1 :])
                return self.reading
            runs = self._runs(one.before)
            if runs is not False:
                self._run(one, runs is True)
        if self._failed_somewhere(lines):
            self.reading.opened, self.reading.certain, self.reading.failed = [], self.alone, True
        self.reading.moved = self.folder is None or (bool(self.folder) and not self.folder.startswith("/"))
        return self.reading

    def _runs(self, before: str) -> bool | None:
        """Return whether the next command runs, by the operator before it."""
        if before == ";":
            return True
        if before == "&&":
            # A line that worked as a whole has run all of it.
            return True if self.output is not None and self.output.failed is False else self.worked
        return None if self.worked is None else not self.worked

    def _run(self, one: Pipeline, certainly: bool) -> None:
        found = self._opened(one)
        if not certainly:
            self.reading.certain = self.reading.certain and found == []
            self.worked = None
        elif found is None:
            self.reading.certain, self.worked = False, None
        else:
            self.reading.opened += [name for name in found if name not in self.reading.opened]

    def _failed_somewhere(self, lines: list[Pipeline]) -> bool:
        """Return whether the line failed without saying where; a search that ran last may have matched nothing."""
        if self.output is None or not self.output.failed or self.errors:
            return False
        return not (self.alone and lines and lines[-1].commands[0].name in GREPS)

    def _opened(self, one: Pipeline) -> list[str] | None:
        """Return the files that a pipeline opened, or None if they are unknown."""
        first, *filters = one.commands
        self.worked = None
        if first.name == "cd":
            self._enter(first)
            return [] if not filters else None
        if _opens_nothing(first):
            self.worked = not any(says_failed(self.errors, first.name, word.text) for word in first.words[1:])
            return [] if all(_opens_nothing(each) or _counts(each) or _filters(each) for each in filters) else None
        if any(each.redirected for each in one.commands) or not all(map(_filters, filters)):
            return None
        if self.output is None:
            return None
        if not self.output.text.strip():
            self.worked = True
            return []  # it showed nothing
        if first.name in GREPS:
            return self._matched(first, searched(first), filters)
        return self._printed(first, filters)

    def _enter(self, command: Command) -> None:
        """Go where a ``cd`` leads."""
        self.reading.entered = True
        targets = [word for word in command.words[1:] if word.text != "--"]
        if len(targets) != 1 or not targets[0].plain or targets[0].text.startswith("-"):
            self.folder, self.worked = None, None
            return
        self.worked = not says_failed(self.errors, "cd", targets[0].text)
        if self.worked:
            self.folder = self._placed(targets[0].text)
            if self.folder is not None and self.folder.startswith("/"):
                self.reading.folders.append(self.folder)

    def _placed(self, name: str) -> str | None:
        """Return a path relative to the folder in which the line began, or an absolute one; None if it is unknown."""
        if name.startswith("/"):
            return posixpath.normpath(name)
        if self.folder is None:
            return None
        placed = posixpath.normpath(posixpath.join(self.folder, name))
        return None if placed == ".." or placed.startswith("../") else "" if placed == "." else placed

    def _printed(self, command: Command, filters: list[Command]) -> list[str] | None:
        """Return the files that a command printed."""
        files = _printed_files(command)
        if files is None or len(files) > MOST_FILES:
            return None
        self.worked = True
        if not self._shows(command):
            self.worked = False
            return []
        there = []
        for name in files:
            if says_failed(self.errors, command.name, name):
                self.worked, self.reading.failed = False, True
            elif not name.startswith("/dev/"):
                there.append(name)
        # A filter may have removed all lines of some of several files, and hidden errors may be about any.
        if len(there) > 1 and (command.quiet or any(one.name in _CUTTING for one in filters)):
            return None
        if command.quiet and not self.alone:
            return None
        from_root = command.name == "git"
        placed = [posixpath.normpath(name) if from_root else self._placed(name) for name in there]
        return None if None in placed else [name for name in placed if name is not None]

    def _shows(self, command: Command) -> bool:
        """Return whether the output is that of a file, for a command that shows other things as well."""
        text = self.output.text if self.output is not None else ""
        if command.name == "open":
            return _WINDOW in text
        return not (command.name == "git" and _LISTED_TREE.match(text))

    def _matched(self, command: Command, search: Search | None, filters: list[Command]) -> list[str] | None:
        """Return the files that a search found something in."""
        if search is None or self.output is None or not self.alone:
            return None
        if any(one.name == "uniq" for one in filters):
            return None
        self.reading.failed = self.reading.failed or any(
            says_failed(self.errors, command.name, name) for name in search.operands
        )
        found = matched_files(search, [line for line in self.output.lines if line not in self.errors])
        placed = [self._placed(name) for name in found.files]
        self.worked = bool(placed) or None
        if None in placed:
            return None
        if not found.certain:
            self.reading.certain = False
        return [name for name in placed if name is not None]

    def _submit(self, rest: list[Pipeline]) -> None:
        """Note that the answer is handed in; it is the text that is printed after the line that says so."""
        reading = self.reading
        reading.submits = True
        printed = self.output.text.lstrip() if self.output is not None else ""
        mark = next((mark for mark in SUBMITS if printed.startswith(mark)), None)
        if mark is not None:
            reading.submitted = printed.removeprefix(mark).strip("\n")
        elif rest and all(_is_echo(one) for one in rest):
            texts = (" ".join(word.text for word in one.commands[0].words[1:]) for one in rest)
            reading.submitted = "\n".join(texts)


def _of_inner_shell(lines: list[Pipeline]) -> str | None:
    """Return the line that the only command hands to another shell."""
    if len(lines) != 1 or len(lines[0].commands) != 1 or lines[0].commands[0].name not in _SHELLS:
        return None
    words = lines[0].commands[0].words
    if len(words) == 3 and re.fullmatch(r"-[a-z]*c", words[1].text) and words[2].plain:
        return words[2].text
    return None


def _printed_files(command: Command) -> list[str] | None:
    """Return the files that a command prints, or None if it does more than print files."""
    if command.name in _PRINTERS:
        return _plain_texts(parsed(command.words[1:], _PRINTERS[command.name]).operands)
    readers: dict[str, Callable[[list[Word]], list[str] | None]] = {
        "sed": _sed_files,
        "git": _shown_by_git,
        "open": _opened_in_window,
    }
    reader = readers.get(command.name)
    return reader(command.words[1:]) if reader is not None else None


def _plain_texts(words: Iterable[Word]) -> list[str] | None:
    """Return the operands, or None if there are none, or if the shell expands one or one is the input."""
    found = list(words)
    if not found or any(not word.plain or word.text in ("-", "") for word in found):
        return None
    return [word.text for word in found]


def _sed_files(words: list[Word]) -> list[str] | None:
    """Return the files of a ``sed -n`` that prints lines and does nothing else."""
    given = parsed(words, _SED)
    if not given.flags & {"n", "--quiet", "--silent"} or given.flags - {
        *"neErszu",
        "--quiet",
        "--silent",
        "--expression",
    }:
        return None
    scripts = given.values.get("e", []) + given.values.get("--expression", [])
    operands = given.operands if scripts else given.operands[1:]
    scripts = scripts or given.operands[:1]
    if not scripts or not all(word.plain and _only_prints(word.text) for word in scripts):
        return None
    return _plain_texts(operands)


def _only_prints(script: str) -> bool:
    place = 0
    while place < len(script):
        found = _PRINTED_LINES.match(script, place)
        if found is None or found.end() == place:
            return False
        place = found.end()
    return bool(script)


def _shown_by_git(words: list[Word]) -> list[str] | None:
    """Return the files of ``git show REVISION:PATH``; they are named from the top of the checkout."""
    rest = _git_command(words)
    if not rest or rest[0].text != "show":
        return None
    found = []
    for word in rest[1:]:
        _, colon, path = word.text.partition(":")
        if not word.plain or word.text.startswith("-") or not colon or not path or path.startswith("."):
            return None
        if path.endswith("/"):
            return None
        found.append(path)
    return found or None


def _git_command(words: list[Word]) -> list[Word]:
    """Return the command of git and its arguments, without the options before it."""
    words = list(words)
    while words and words[0].text.startswith("-"):
        valued = words[0].text in ("-C", "-c", "--git-dir", "--work-tree")
        if words[0].text == "-C":
            return []
        del words[: 2 if valued else 1]
    return words


def _opened_in_window(words: list[Word]) -> list[str] | None:
    """Return the file of SWE-agent's ``open PATH [LINE]``."""
    if not 1 <= len(words) <= 2 or (len(words) == 2 and not words[1].text.isdecimal()):
        return None
    return _plain_texts(words[:1])


def _opens_nothing(command: Command) -> bool:
    words = command.words
    if not words:
        return command.redirected
    if command.name in _OPEN_NOTHING:
        return True
    if command.name == "find":
        return not any(word.text in _RUNS_OTHERS for word in words)
    if command.name == "git":
        rest = _git_command(words[1:])
        if rest and rest[0].text == "log":
            return not any(re.match(r"-(p|u|L|-patch|c$|-cc)", word.text) for word in rest[1:])
        return bool(rest) and rest[0].text in _GIT_OPENS_NOTHING
    return False


def _counts(command: Command) -> bool:
    return command.name == "wc" and not parsed(command.words[1:], Options()).operands


def _filters(command: Command) -> bool:
    """Return whether a command hands lines on as they are, or some of them."""
    words = command.words[1:]
    if command.redirected:
        return False
    if command.name in _PRINTERS:
        return not parsed(words, _PRINTERS[command.name]).operands
    if command.name in _PASS_ON:
        return not any(word.text.startswith("-") and "c" in word.text for word in words)
    if command.name == "sed":
        given = parsed(words, _SED)
        return given.flags == {"n"} and len(given.operands) == 1 and _only_prints(given.operands[0].text)
    search = searched(command) if command.name in GREPS else None
    return search is not None and not search.operands and not search.only_names


def _submits(one: Pipeline) -> bool:
    return _is_echo(one) and [word.text for word in one.commands[0].words[1:]] in [[mark] for mark in SUBMITS]


def _is_echo(one: Pipeline) -> bool:
    only = one.commands[0]
    return len(one.commands) == 1 and only.name == "echo" and not only.redirected and all(w.plain for w in only.words)
