"""Scores from the logs of other tools' evaluations, as graphkit's own records of scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.person_grades import GRADE, is_binary, score_of
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import each_once, parse_record
from graphkit.imports.recorder import Questions
from graphkit.imports.sources import values_of
from graphkit.plugins.exports.inspect_scores import InspectScores
from graphkit.plugins.exports.promptfoo_scores import PromptfooScores
from graphkit.plugins.exports.scored_samples import GivenScore, ScoredSample, ScoreFormat
from graphkit.plugins.logs.payloads import question_id
from graphkit.readers.json_values import identifier, object_of, text
from graphkit.readers.logged import LoggedAnswer
from graphkit.records.scores import PERSON, Score
from graphkit.records.unanswered import failed
from graphkit.records.words import counted, shortened

AUTO = "auto"


class GradedLog:
    """Reads the grades that a person wrote into the records of a run log."""

    name: ClassVar[str] = "graded"
    title: ClassVar[str] = "logs with a person's grade in each record"

    def recognises(self, value: Any) -> bool:
        """Return whether a value is a record with a field for a grade."""
        return isinstance(value, dict) and GRADE in value

    def samples(self, path: Path) -> Iterator[ScoredSample]:
        """Yield the records of a file."""
        records = [(where, object_of(value)) for where, value in values_of(path)]
        binary = is_binary(value.get(GRADE) for _, value in records)
        for where, value in records:
            name = question_id(value) or identifier(value.get("id"))
            score = score_of(value, "run", name or "question", binary)
            given = None if score is None else score.number
            if score is not None:
                label, why = score.label, score.explanation
                yield ScoredSample(
                    where,
                    name,
                    text(value.get("question")),
                    scores={score.measure: GivenScore(PERSON, given, None, score.grade, why, label)},
                )
            elif value.get(GRADE) is None:
                yield ScoredSample(where, name, text(value.get("question")))
            else:
                shown = shortened(str(value[GRADE]))
                yield ScoredSample(where, left_out=f"a grade that isn't known, such as {shown!r}")


FORMATS: Mapping[str, ScoreFormat] = {one.name: one for one in (InspectScores(), PromptfooScores(), GradedLog())}

#: The reason of a score that a sample lacks and others have.
LACKS = "the log has no such score of this sample"


@dataclass(frozen=True)
class ImportedScores:
    """The scores in some logs.

    Attributes
    ----------
    left_out
        What wasn't read, in sentences.
    """

    scores: list[Score] = field(repr=False)
    left_out: tuple[str, ...] = ()


def import_scores(
    files: Sequence[Path],
    run: str,
    *,
    format: str = AUTO,  # noqa: A002
    dataset: str | Path | None = None,
    only: Sequence[str] = (),
    problems: Problems | None = None,
) -> ImportedScores:
    """Return the scores in the logs of evaluations.

    A value that is missing, NaN or no number is unscored with a reason. A sample that lacks a score of others is, too.

    Parameters
    ----------
    run
        The run that the scores are of.
    dataset
        Finds questions by their texts, and refuses ids that it doesn't hold.
    only
        The providers or prompts whose results are read, of a log with several.

    Raises
    ------
    InputError
        A file can't be read or has another format, its results are of several systems, or a record can't be used.
    """
    found = problems if problems is not None else Problems()
    questions = None if dataset is None else _questions(Dataset.of(dataset))
    samples, left_out = [], dict[str, None]()
    for path in files:
        chosen = _format(path, format)
        for one in chosen.samples(path):
            if one.left_out is not None:
                left_out[one.left_out] = None
            elif not only or {*only} & {*one.variant}:
                samples.append((chosen, one))
    _refuse_several([one for _, one in samples], only)
    measures = list(dict.fromkeys(name for _, one in samples for name in one.scores))
    if not measures:
        what = "the log holds no score" if not only else f"no result is of {' or '.join(map(repr, only))}"
        raise InputError(
            what, where=str(files[0]), remedy="Check the file, --only, and that the evaluation had scorers."
        )
    rows = (pair for chosen, one in samples for pair in _scores(chosen, one, run, measures, questions, found))
    scores = each_once(
        rows,
        lambda score: (score.question, score.measure),
        lambda score: f"{score.question} already has a score by {score.measure}",
        found,
    )
    return ImportedScores(scores, tuple(left_out))


def _questions(dataset: Dataset) -> Questions:
    found = Questions()
    for _, question in dataset.questions(Problems("skip")):
        found.add(question.id, question.question)
    return found


def _format(path: Path, name: str) -> ScoreFormat:
    """Return the format of a file: the named one, or the one that recognises its first value."""
    if name != AUTO:
        return FORMATS[name]
    first = next(iter(values_of(path)), None)
    for one in FORMATS.values():
        if first is not None and one.recognises(first[1]):
            return one
    known = " and ".join(one.title for one in FORMATS.values())
    raise InputError("this is no log with scores", where=str(path), remedy=f"graphkit reads {known}.")


def _refuse_several(samples: Iterable[ScoredSample], only: Sequence[str]) -> None:
    """Refuse results of several systems: a run has one answer to a question."""
    variants = list(dict.fromkeys(one.variant for one in samples))
    if len(variants) > 1:
        names = [name for name in dict.fromkeys(name for one in variants for name in one) if name not in only]
        shown = ", ".join(repr(shortened(name)) for name in names[:10])
        raise InputError(
            f"the results are of {counted(len(variants), 'pair')} of provider and prompt, and a run is of one",
            remedy=f"Choose by --only, which may be repeated: {shown}.",
        )


def _scores(
    chosen: ScoreFormat,
    sample: ScoredSample,
    run: str,
    measures: Sequence[str],
    questions: Questions | None,
    problems: Problems,
) -> Iterator[tuple[str, Score]]:
    """Yield a score by each measure, with its place."""
    name = sample.question
    if questions is not None:
        name, _ = questions.of(LoggedAnswer(sample.where, sample.question, sample.question_text))
    if name is None:
        asked = sample.question or sample.question_text
        what, remedy = "no question of the dataset has this id or text", "Correct it, or name another dataset."
        if questions is None:
            what, remedy = "the sample has no id of a question", "--dataset finds questions by their texts."
        problems.add(Problem(sample.where, what, record=None if asked is None else shortened(asked), remedy=remedy))
        return
    lacking = LACKS if sample.error is None else failed(sample.error)
    for measure in measures:
        given = sample.scores.get(measure)
        row: dict[str, Any] = {"run": run, "question": name, "measure": measure, "version": sample.version}
        if given is None:
            row |= {"grader": chosen.name, "value": None, "reason": lacking}
        else:
            row |= {"grader": given.grader, "value": given.value, "reason": given.reason}
            row |= {"grade": given.grade, "explanation": given.explanation, "label": given.label}
        line = json.dumps({key: value for key, value in row.items() if value is not None or key == "value"})
        score = parse_record(Score, line.encode(), sample.where, problems)
        if score is not None:
            yield sample.where, score
