"""Model families: warns if a judge and the answering model are related, and compares two judges."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphkit.files.jsonl import stem_of
from graphkit.files.problems import Problems
from graphkit.files.verdict_files import read_verdicts, verdicts_beside
from graphkit.records.model_families import family_of, judges_of, self_evaluations
from graphkit.records.scores import Score
from graphkit.trust.effects import Effect, effects


def answering_model(run_file: Path, answered_by: str | None = None) -> str | None:
    """Return the model that answered a run: the user's statement, else the note of `graphkit run`; None if unknown."""
    if answered_by:
        return answered_by
    note = run_file.with_name(f"{stem_of(run_file)}.made-by")
    return note.read_text(encoding="utf-8", errors="replace").strip() or None if note.is_file() else None


def own_kind(
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


def between_judges(first: Iterable[Score], second: Iterable[Score]) -> list[Effect]:
    """Return the difference of a second judge from a first on the same answers, by each common measure."""
    one, two = list(first), list(second)
    names = (next((score.grader or "nobody named" for score in some), "nobody") for some in (one, two))
    return effects(" against ".join(names), one, two)
