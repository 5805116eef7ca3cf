"""Warnings about judges that belong to the family of the model whose answers they grade."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphkit.files.problems import Problems
from graphkit.files.run_files import answering_model
from graphkit.files.verdict_files import read_verdicts, verdicts_beside
from graphkit.records.model_families import family_of, judges_of, self_evaluations
from graphkit.records.scores import Score


def own_family_warnings(
    run_file: Path, scores: Iterable[Score], answered_by: str | None = None, score_files: Iterable[Path] = ()
) -> tuple[str, ...]:
    """Return warnings if the judge of some scores and the answering model are of one family.

    The verdicts beside ``score_files`` may name the answering model if neither the user nor a note does.
    """
    given = list(scores)
    judges = [name for name in judges_of(given) if family_of(name) is not None]
    if not judges:
        return ()
    if (known := answering_model(run_file, answered_by)) is not None:
        return self_evaluations(judges, [known])
    beside = [verdicts for file in score_files if (verdicts := verdicts_beside(file)).is_file()]
    runs = {score.run for score in given}
    found = read_verdicts(beside, Problems("skip"))
    return self_evaluations(judges, (one.answered_by for one in found if one.run in runs))
