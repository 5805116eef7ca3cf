"""Having a judge grade a run anew: what the commands about trust compose, in one place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphkit.errors import InputError

if TYPE_CHECKING:
    from graphkit.trust.regrading import Regrade
    from graphkit.trust.subjects import Subject


def regrading(run_file: Path, dataset: Path | None, subject: Subject, model: str | None) -> Regrade:
    """Return what has the judge of some grades grade the run again, by the same graders, without its cache.

    Raises
    ------
    InputError
        The judge can't be asked from here.
    """
    raise InputError(
        f"{subject.judge} can't be asked again from here",
        where=str(run_file),
        remedy="Have the run graded again by its own means, and name the scores by --graded.",
    )
