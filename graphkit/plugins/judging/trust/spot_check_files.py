"""Files of spot checks beside the grades of a run, where gates find them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.types import StrictFloat, StrictInt, StrictStr

from graphkit.errors import InputError
from graphkit.files.atomic import written
from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import file_beside, grades_folder, grading_lock
from graphkit.records.fields import Count, Name, Record

ENDING = ".spot-check.json"


class KeptCheck(Record):
    """The result of a spot check of one measure and one version of a judge.

    ``kappa`` is weighted if the grades are ordered; it and its bounds may be None, with the ``reason``. ``statistics``
    holds all printed figures.
    """

    run: Name
    measure: Name
    judge: Name
    version: StrictStr | StrictInt | None = None
    n: Count
    kappa: StrictFloat | None = None
    kappa_low: StrictFloat | None = None
    kappa_high: StrictFloat | None = None
    reason: StrictStr | None = None
    statistics: dict[str, Any] = {}

    @property
    def about(self) -> tuple[str, str, str, str | None]:
        """The run, judge, measure and version that were checked."""
        return self.run, self.judge, self.measure, None if self.version is None else str(self.version)


def file_of(run_file: Path, judge: str) -> Path:
    """Return the file of a judge's spot checks.

    >>> file_of(Path("runs/bm25.jsonl"), "my_module:judge").as_posix()
    'runs/bm25.grades/my_module-judge.spot-check.json'
    """
    return file_beside(run_file, judge, ENDING)


def keep(run_file: Path, check: KeptCheck) -> Path:
    """Write a spot check beside the grades, replacing one of the same measure and version; return the file.

    Raise an InputError if the file can't be written, or an existing file isn't one of spot checks.
    """
    path = file_of(run_file, check.judge)
    with locked(grading_lock(run_file)):
        former = _read(path) if path.exists() else []
        kept = [one for one in former if one.about != check.about]
        checks = [one.model_dump(mode="json") for one in (*kept, check)]
        with written(path) as temporary:
            temporary.write_text(json.dumps({"checks": checks}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return path


def kept_checks(run_files: Iterable[Path]) -> list[KeptCheck]:
    """Return the spot checks beside some runs; raise an InputError if a file isn't one of spot checks."""
    found = []
    for run_file in run_files:
        folder = grades_folder(run_file)
        if folder.is_dir():
            for path in sorted(folder.glob(f"*{ENDING}")):
                found += _read(path)
    return found


def _read(path: Path) -> list[KeptCheck]:
    remedy = "Delete the file and repeat the spot check; the labels are in another file."
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["checks"]
        return [KeptCheck.model_validate(row) for row in rows]
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise InputError(f"not a spot check: {place}", where=str(path), remedy=remedy) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError("not a file of spot checks", where=str(path), remedy=remedy) from None
