"""Decides for each question of a run whether its test passes, fails or is skipped, with the text that says why."""

from __future__ import annotations

from pathlib import Path

from graphkit.analysis.evaluation_plan import EvaluationPlan
from graphkit.analysis.explanations import why
from graphkit.analysis.file_failures import RunOnFiles
from graphkit.errors import one_line
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import read_once
from graphkit.files.run_files import RunSource
from graphkit.measures.case import Case
from graphkit.measures.outcome import Outcome
from graphkit.plugins.testing.verdict_record import FAILED, PASSED, SKIPPED, RecordedSummary, RecordedVerdicts
from graphkit.records.unanswered import NOT_LOGGED, is_unlogged
from graphkit.scoring.results import Evaluation, Row


@read_once()
def question_verdicts(
    run_file: Path, dataset: Dataset, plan: EvaluationPlan, key: str, *, intervals: bool = False, rows: bool = False
) -> RecordedVerdicts:
    """Score a run, and return the verdict on each question with the figures of the run, and what is asked for of them.

    Raises
    ------
    InputError
        A record or a file can't be used.
    """
    [result] = plan.evaluate([RunSource(run_file, run_file)], dataset.folder).results
    run = RunOnFiles.read(run_file, dataset)
    return RecordedVerdicts(key, _verdicts(run, result), RecordedSummary.of(result, intervals=intervals, rows=rows))


def _verdicts(run: RunOnFiles, result: Evaluation) -> dict[str, tuple[str, str]]:
    return {row.question: _verdict(run, row, result.invalid.get(row.question)) for row in result.rows}


def _verdict(run: RunOnFiles, row: Row, invalid: str | None) -> tuple[str, str]:
    """Return the outcome of a question's test, and its message.

    It fails if the run gave no answer, if ``graphkit why`` finds anything wrong, or if the answer is wrong. It is
    skipped if its gold is stale, or if nothing in the record could be judged.
    """
    if row.failure is None and invalid is not None:
        return SKIPPED, one_line(f"not scored: {invalid}")
    beside = run.file.resolve().parent.parent == run.dataset.folder.resolve()
    found = why(run, row.question, dataset=None if beside else run.dataset.folder)
    wrong = row.outcome is not None and row.outcome.answer is False
    if found.wrong or row.failure is not None or wrong:
        said = [_wrong(row.outcome)] if wrong and row.outcome is not None else []
        # pytest cuts the first line: without a broken path it is that the answer is wrong.
        broken = found.wrong and found.cause is not None
        lines = [*found.lines(), *said] if broken else [*said, *found.lines()]
        return FAILED, "\n".join(lines)
    if row.outcome is not None and not _judged(run.cases[row.question], row, bool(run.of("verdicts", row.question))):
        return SKIPPED, one_line(f"nothing could be judged: {row.outcome.undecided}")
    return PASSED, ""


def _wrong(outcome: Outcome) -> str:
    """Return that the answer is wrong, and where it went wrong or why that isn't known."""
    stage, wrong = outcome.stage, "the answer is wrong"
    if is_unlogged(stage.reason):
        why = stage.reason.removesuffix(NOT_LOGGED)
        return (
            f"{wrong}; where it went wrong isn't known, since {why} (not logged: a gate counts it as the worst value)"
        )
    return stage.reason if stage.reason.startswith(wrong) else f"{wrong}: {stage.reason}"


def _judged(case: Case, row: Row, graded: bool) -> bool:
    """Return whether anything decides that a question without a fault is right."""
    assert row.outcome is not None
    ranked = case.chunks_logged and any(gain > 0 for gain in case.question.relevant.values())
    return graded or ranked or row.outcome.answer is not None or row.outcome.path is not None
