"""The folder beside a run's file that holds its grades, and the names of the files in it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from graphkit.files.assets import is_bundled
from graphkit.files.jsonl import SUFFIXES, stem_of

#: The ending of the names of files of scores beside a run.
SCORES = ".scores"


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
    """Return the part of a file's name for a model, shortened if need be; two models never share it."""
    name = _file_name(model)[:80]
    return name if name == model else f"{name}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def grading_lock(run_file: Path) -> Path:
    """Return the lock file to hold while the files beside a run are read, changed and written back."""
    return grades_folder(run_file) / ".lock"


def graded_files(run_file: Path, kind: str) -> list[Path]:
    """Return the files of a kind, such as ``SCORES``, beside a run, in the order of the judges."""
    folder = grades_folder(run_file)
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if holds(path, kind) and path.is_file())


def holds(path: Path, kind: str) -> bool:
    """Return whether a file holds records of a kind, such as ``SCORES``.

    >>> holds(Path("lexical.verdicts.jsonl"), ".verdicts"), holds(Path("lexical.scores.jsonl"), ".verdicts")
    (True, False)
    """
    return path.name.endswith(tuple(f"{kind}.jsonl{suffix}" for suffix in SUFFIXES))


def of_scores(scores: Path, kind: str) -> Path:
    """Return the file of another kind that belongs to a file of scores.

    >>> of_scores(Path("bm25.grades/lexical.scores.jsonl"), ".verdicts").as_posix()
    'bm25.grades/lexical.verdicts.jsonl'
    """
    judge, _, ending = scores.name.rpartition(SCORES)
    return scores.with_name(f"{judge}{kind}{ending}")


def is_by(grader: str, path: Path) -> bool:
    """Return whether a file beside a run holds the grades of a grader, such as ``person``.

    >>> is_by("person", Path("person.ann.scores.jsonl")), is_by("person", Path("lexical.scores.jsonl"))
    (True, False)
    """
    return path.name.partition(".")[0] == grader
