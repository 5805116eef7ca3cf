"""Checks of output paths: a command replaces neither its inputs nor files of another kind.

Every output of a command passes :func:`check_output` before the work for it begins.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from graphkit.errors import InputError, unreadable_file
from graphkit.files.jsonl import SUFFIXES, folders_around, is_file_name, open_binary
from graphkit.records.words import shortened

#: The bytes of a file that show its kind.
SAMPLE = 1 << 16

#: The kinds of files, as messages name them.
Kind = Literal[
    "a run",
    "questions",
    "commits",
    "compatibility",
    "access",
    "artifacts",
    "edges",
    "spans",
    "a RAGAS data set",
    "scores",
    "exported scores",
    "verdicts",
    "executions",
    "a sheet of grades",
    "results",
    "a page",
    "replies",
    "something that graphkit didn't write",
]

#: The beginning of a page of graphkit: the mark of its template, or in older versions its policy.
_PAGE = (
    r"<!doctype html>(?s:.{0,300}?)"
    r"(?:<meta name=\"generator\" content=\"graphkit\">|default-src 'none'; style-src (?:'|&\#39;)sha256-)"
)

#: The files of a dataset that a command may read, and those of a rubric and of the index of graphrag.
_READ_IN_FOLDERS = (
    *(f"{stem}.jsonl{suffix}" for stem in ("questions", "commits", "compatibility", "access") for suffix in SUFFIXES),
    *(f"{stem}*.jsonl{suffix}" for stem in ("artifacts", "edges") for suffix in SUFFIXES),
    *("prompt.txt", "schema.json", "text_units.parquet", "create_final_*.parquet"),
    *(f"{table}.parquet" for table in ("documents", "entities", "relationships")),
)


def check_output(path: Path, kind: Kind, reads: Iterable[Path] = (), *, force: bool = False) -> None:
    """Refuse an output that would replace an input of the command, or a file of another kind.

    A missing or empty file, a pipe or a device is written. A file of the same kind from graphkit is replaced.

    Parameters
    ----------
    kind
        The kind of the output.
    reads
        The files and folders that the command reads. A folder, and the dataset around a run, stand for the files that
        graphkit reads in them.
    force
        Whether a file of another kind may be replaced. An input never is.

    Raises
    ------
    InputError
        The output would replace such a file.
    """
    try:
        if not path.is_file():  # also for a link that leads nowhere
            return
        empty = path.stat().st_size == 0
    except (OSError, ValueError):
        return  # writing reports the mistake in the path
    for source in _files_of(reads):
        if _same(source, path):
            what = "the command reads this file, and would write over it"
            also = "" if os.fspath(source) == os.fspath(path) else f" (it is {source})"
            raise InputError(f"{what}{also}", where=str(path), remedy="Write to another file.")
    if empty or force:
        return
    found = kind_of(path)
    if found != kind and (kind, found) != ("scores", "results"):
        raise InputError(
            f"the file holds {found}, and {kind} would be written over it",
            where=str(path),
            remedy="Write to another file, or move this one away; --force replaces it where the command has it.",
        )


def check_path(path: Path) -> None:
    """Refuse a path that leads nowhere: a loop of links, or a name that no file system holds.

    Raises
    ------
    InputError
        It does.
    """
    try:
        path.stat()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
            raise unreadable_file(shortened(str(path)), error) from None
    except ValueError as error:
        raise InputError(f"no path is like this: {error}", where=shortened(str(path))) from None


def check_outputs_differ(paths: Iterable[Path]) -> None:
    """Refuse two outputs that are one file: the second would replace the first.

    Raises
    ------
    InputError
        Two of them are the same regular file.
    """
    seen: list[Path] = []
    for path in paths:
        if path.exists() and not path.is_file():
            continue  # a pipe or a device receives one after the other
        if twin := next((one for one in seen if _same(one, path) or one.resolve() == path.resolve()), None):
            raise InputError(f"two outputs are written to this file (also as {twin})", where=str(path))
        seen.append(path)


def kind_of(path: Path) -> Kind:
    """Return the kind of a file by its beginning."""
    try:
        with open_binary(path) as stream:
            data = stream.read(SAMPLE)
    except Exception:
        return "something that graphkit didn't write"
    if data.startswith(b"SQLite format 3\0"):
        return "replies"
    if data.startswith(b"PAR1"):
        return _kind_of_parquet(path)
    text = data.decode("utf-8-sig", errors="replace").lstrip()
    if text and '{"run":'.startswith(text):
        return "a run"  # cut short by a full disk
    if text.startswith(("{", "[")):
        return _kind_of_json(text)
    return next((kind for form, kind in _FORMS if form.match(text)), "something that graphkit didn't write")


def _files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield files, the inputs in folders, and the files of the dataset around a run."""
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112 - unlike that of Path, it takes any text for a path
            yield from _read_in(path)
            yield from _read_in(path / "output")
            continue
        yield path
        if is_file_name(path.name):
            for folder in folders_around(path):
                yield from _read_in(folder)


def _read_in(folder: Path) -> Iterator[Path]:
    for pattern in _READ_IN_FOLDERS:
        yield from folder.glob(pattern)


def _same(first: Path, second: Path) -> bool:
    """Return whether two paths lead to one file, by hard or symbolic links, another case of letters, or ``..``."""
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return False


_FORMS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(_PAGE), "a page"),
    (re.compile(r"<\?xml[^>]*>\s*<testsuites name=\"graphkit\""), "results"),
    (re.compile(r"\| measure \||% graphkit compare:|measure,by,slice,run,mean,"), "results"),
    (re.compile("run,question,measure,value,reason,version,(computed,)?parameters,"), "results"),
    (re.compile("run,question,measure,value,reason,"), "scores"),
    (re.compile("run,question_id,measure,grade,"), "a sheet of grades"),
    (re.compile("run,question_id,user_input,"), "a RAGAS data set"),
)

#: The keys of the records of a kind, the most specific first; a record of some kinds has one of several keys.
_RECORDS: tuple[tuple[Kind, frozenset[str], frozenset[str]], ...] = (
    ("verdicts", frozenset(("run", "question", "judge", "grader")), frozenset()),
    ("executions", frozenset(("run", "question", "status")), frozenset()),
    ("results", frozenset(("run", "question", "measure", "value", "parameters")), frozenset()),
    ("scores", frozenset(("run", "question", "measure", "value")), frozenset()),
    ("a RAGAS data set", frozenset(("run", "question_id", "user_input")), frozenset()),
    ("exported scores", frozenset(("resourceLogs",)), frozenset()),
    ("exported scores", frozenset(("span_id", "annotator_kind")), frozenset()),
    ("a run", frozenset(), frozenset(("run", "run_id"))),
    ("spans", frozenset(), frozenset(("resourceSpans", "resource_spans"))),
    ("questions", frozenset(), frozenset(("question", "query", "user_input"))),
    ("edges", frozenset(("source", "target")), frozenset()),
    ("commits", frozenset(("repo", "sha")), frozenset()),
    ("compatibility", frozenset(("id", "commits")), frozenset()),
    ("access", frozenset(("principal",)), frozenset(("allow", "deny"))),
    ("artifacts", frozenset(("id",)), frozenset(("repo", "path", "symbol", "kind", "commit"))),
)


def _kind_of_json(text: str) -> Kind:
    if re.match(r'\{\s*"(?:runs|gates)": \[', text):
        return "results"
    keys = _first_keys(text)
    known = (kind for kind, all_of, one_of in _RECORDS if all_of <= keys and (not one_of or one_of & keys))
    return next(known, "something that graphkit didn't write")


def _first_keys(text: str) -> frozenset[str]:
    """Return the keys of the first record, or those before the place where it was cut."""
    line = text.lstrip("[ \t\r\n")
    try:
        value, _ = json.JSONDecoder().raw_decode(line)
    except (ValueError, RecursionError):
        return frozenset(islice(re.findall(r'"(\w{1,40})"\s*:', line), 100))
    return frozenset(value) if isinstance(value, dict) else frozenset()


def _kind_of_parquet(path: Path) -> Kind:
    try:
        from pyarrow import parquet

        names = set(parquet.read_schema(path).names)
    except Exception:
        return "something that graphkit didn't write"
    return "results" if {"run", "question", "measure", "value"} <= names else "something that graphkit didn't write"
