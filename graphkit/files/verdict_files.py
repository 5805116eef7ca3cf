"""Files of verdicts: JSON Lines, one verdict per line, beside their run."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from graphkit.errors import InputError
from graphkit.files.assets import is_bundled
from graphkit.files.atomic import write_records
from graphkit.files.jsonl import SUFFIXES, stem_of
from graphkit.files.problems import Problems
from graphkit.files.reading import each_once, read_records
from graphkit.records.verdicts import Verdict

#: The endings of the names of files of a grading beside a run.
VERDICTS = ".verdicts"
SCORES = ".scores"


def read_verdicts(files: Iterable[str | Path], problems: Problems) -> list[Verdict]:
    """Return the verdicts of some files; a second verdict of a judge on an answer by a grader is a problem.

    Raises
    ------
    InputError
        A file or a record is unusable and not skipped.
    """
    return each_once(
        (found for path in files for found in read_records(Path(path), Verdict, problems)),
        lambda one: (one.run, one.question, one.judge, one.grader),
        lambda one: f"{one.judge} already judged this answer of {one.run} by {one.grader}",
        problems,
    )


def clashing(files: Sequence[Path]) -> list[Path]:
    """Return the files that hold a verdict of the same judge on the same answer by the same grader as another file.

    Unreadable files aren't among them; their reader reports them.
    """
    by_answer: dict[tuple[str, str, str, str], list[Path]] = {}
    for path in files if len(files) > 1 else ():
        with contextlib.suppress(InputError):
            for one in read_verdicts([path], Problems("skip")):
                by_answer.setdefault((one.run, one.question, one.judge, one.grader), []).append(path)
    both = {path for paths in by_answer.values() if len(paths) > 1 for path in paths}
    return [path for path in files if path in both]


def write_verdicts(path: Path, verdicts: Iterable[Verdict]) -> None:
    """Write verdicts, one per line; the file appears complete, or not at all.

    Raises
    ------
    InputError
        The file can't be written.
    """
    write_records(path, verdicts)


def grades_folder(run_file: Path) -> Path:
    """Return the folder beside a run's file that holds its grades.

    For a run of a bundled dataset, which isn't written to, the folder lies in the working folder.

    >>> grades_folder(Path("runs/bm25.jsonl.gz")).as_posix()
    'runs/bm25.grades'
    """
    if is_bundled(run_file):
        return Path(f"{stem_of(run_file)}.grades")
    return run_file.with_name(f"{stem_of(run_file)}.grades")


def file_beside(run_file: Path, judge: str, ending: str, model: str | None = None) -> Path:
    """Return the file of a judge's scores, verdicts or spot checks beside a run.

    Parameters
    ----------
    model
        The model that the judge asked; each has its own file.

    >>> file_beside(Path("runs/bm25.jsonl"), "my_module:judge", ".spot-check.json").as_posix()
    'runs/bm25.grades/my_module-judge.spot-check.json'
    >>> file_beside(Path("runs/bm25.jsonl"), "anthropic", ".scores.jsonl", "claude-haiku-5-5").name
    'anthropic.claude-haiku-5-5.scores.jsonl'
    """
    names = [_file_name(judge), *([] if model is None else [_model_name(model)])]
    return grades_folder(run_file) / (".".join(names) + ending)


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]", "-", text)


def _model_name(model: str) -> str:
    """Return the part of a file's name for a model; two models never share it."""
    name = _file_name(model)
    return name if name == model else f"{name}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def grading_lock(run_file: Path) -> Path:
    """Return the lock file to hold while the files beside a run are read, changed and written back."""
    return grades_folder(run_file) / ".lock"


def graded_files(run_file: Path, kind: str) -> list[Path]:
    """Return the files of a kind, such as ``VERDICTS``, beside a run, in the order of the judges."""
    folder = grades_folder(run_file)
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if holds(path, kind) and path.is_file())


def verdicts_beside(scores: Path) -> Path:
    """Return the file of verdicts that belongs to a file of scores.

    >>> verdicts_beside(Path("bm25.grades/lexical.scores.jsonl")).as_posix()
    'bm25.grades/lexical.verdicts.jsonl'
    """
    judge, _, ending = scores.name.rpartition(SCORES)
    return scores.with_name(f"{judge}{VERDICTS}{ending}")


def holds_verdicts(path: Path) -> bool:
    """Return whether a file holds verdicts.

    >>> holds_verdicts(Path("lexical.verdicts.jsonl")), holds_verdicts(Path("lexical.scores.jsonl"))
    (True, False)
    """
    return holds(path, VERDICTS)


def holds(path: Path, kind: str) -> bool:
    """Return whether a file holds records of a kind, such as ``VERDICTS``."""
    return path.name.endswith(tuple(f"{kind}.jsonl{suffix}" for suffix in SUFFIXES))
