"""RAGAS data sets: a run as rows of RAGAS, such rows as a run, and RAGAS's values as scores.

Nothing here needs the library; ``adapters.ragas_metrics`` runs its metrics.
"""

from __future__ import annotations

import ast
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field
from pydantic.types import StrictStr

from graphkit.errors import InputError, did_you_mean
from graphkit.files.atomic import written
from graphkit.files.dataset import Dataset, given_run_name
from graphkit.files.grades_beside import grades_folder
from graphkit.files.jsonl import is_file_name, read_lines
from graphkit.files.outputs import check_output
from graphkit.files.problems import Problem, Problems
from graphkit.files.reading import parse_record
from graphkit.files.run_files import read_run
from graphkit.files.score_files import read_scores, write_scores
from graphkit.files.tables import is_table, meant, read_table, write_table
from graphkit.measures.case import Case
from graphkit.measures.unscored import NO_RETRIEVAL
from graphkit.plugins.logs.conversations import each_turn
from graphkit.plugins.logs.model_messages import is_conversation
from graphkit.plugins.logs.ragas_rows import answers_of_turns
from graphkit.records.fields import Name, Record, RunName, Text
from graphkit.records.ids import id_of_text
from graphkit.records.json_once import each_key_once
from graphkit.records.scores import LARGEST, Score
from graphkit.records.structs import AnswerStruct, QuestionStruct
from graphkit.records.unanswered import failed

#: The grader of the scores, and the prefix of a metric's name, since RAGAS has measures with the names of ours.
RAGAS = "ragas"

#: The columns of a RAGAS data set that a run and its questions fill.
COLUMNS = (
    *("user_input", "retrieved_contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids"),
    *("response", "reference"),
)

_LISTS = tuple(column for column in COLUMNS if "context" in column)

#: Further columns of RAGAS without values of a metric.
_BESIDE = ("multi_responses", "rubrics", "persona_name", "query_style", "query_length", "synthesizer_name")

#: The reason if RAGAS's value is NaN or missing.
NAN = "RAGAS returned no value (NaN)"

OF_THE_LAST = "RAGAS's value is of the whole conversation, and stands at its last turn"
TOOLS = "calls of tools aren't read here: graphkit import reads what they retrieved and walked"


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Id = Annotated[Name, BeforeValidator(_as_text)]


class Sample(Record):
    """A row of a RAGAS data set: a question with the answer of a run. None is a missing column.

    ``session`` and ``turn`` are the place of the question in a conversation. Older names of the columns are accepted
    too.
    """

    run: RunName | None = None
    question_id: Id | None = None
    session: Id | None = None
    turn: Annotated[int, Field(ge=1)] | None = None
    user_input: Text = Field(validation_alias=AliasChoices("user_input", "question"))
    retrieved_contexts: tuple[StrictStr, ...] | None = Field(
        default=None, validation_alias=AliasChoices("retrieved_contexts", "contexts")
    )
    reference_contexts: tuple[StrictStr, ...] | None = None
    retrieved_context_ids: tuple[Id, ...] | None = None
    reference_context_ids: tuple[Id, ...] | None = None
    response: StrictStr | None = Field(default=None, validation_alias=AliasChoices("response", "answer"))
    reference: StrictStr | None = Field(default=None, validation_alias=AliasChoices("reference", "ground_truth"))

    def columns(self) -> dict[str, Any]:
        """Return the row by RAGAS's columns."""
        plain = {name: getattr(self, name) for name in COLUMNS}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


@dataclass(frozen=True)
class RunSamples:
    """A run as rows of RAGAS.

    Attributes
    ----------
    samples
        A row for each answer.
    failed, missing
        The failed questions with their errors, and the questions without a record; they have no row.
    """

    run: str
    samples: Sequence[Sample]
    failed: Mapping[str, str]
    missing: Sequence[str]


def samples_of_run(
    run_file: Path, dataset: Dataset, problems: Problems, texts: Mapping[str, str] | None = None
) -> RunSamples:
    """Return the rows of a run.

    Parameters
    ----------
    texts
        The texts of chunks by id, for gold chunks that the run never retrieved.

    Raises
    ------
    InputError
        A file or a record is unusable and not skipped, or the file doesn't hold exactly one run.
    """
    questions = {question.id: question for _, question in dataset.questions(problems)}
    run, answers = read_run(run_file, problems, questions, gold=dataset.questions_file)
    known = {
        chunk.id: chunk.text for one in answers.values() for chunk in one.retrieved or () if chunk.text is not None
    }
    known |= texts or {}
    given = [(questions[name], answer) for name, answer in answers.items() if answer.error is None]
    return RunSamples(
        run=run,
        samples=[_sample(question, answer, known, run_file, problems) for question, answer in given],
        failed={name: answer.error for name, answer in answers.items() if answer.error is not None},
        missing=[name for name in questions if name not in answers],
    )


def _sample(
    question: QuestionStruct, answer: AnswerStruct, known: Mapping[str, str], run_file: Path, problems: Problems
) -> Sample:
    case = Case(question, answer)
    chunks = case.chunks
    gold = [name for name, gain in question.relevant.items() if gain > 0]
    texts = [chunk.text for chunk in chunks if chunk.text is not None]
    gold_texts = [known[name] for name in gold if name in known]
    if not case.chunks_logged:
        what = f"retrieved_contexts stays empty: {NO_RETRIEVAL}"
        problems.note(Problem(str(run_file), what, record=question.id))
    if len(texts) < len(chunks):
        what = "retrieved_contexts stays empty: the run lacks the text of some retrieved chunks"
        problems.note(Problem(str(run_file), what, record=question.id))
    if len(gold_texts) < len(gold):
        # A part of them would be another gold, and the retrieved ones alone would flatter the run.
        what = "reference_contexts stays empty: the text of a gold chunk is unknown (pass it by --texts)"
        problems.note(Problem(str(run_file), what, record=question.id))
    return Sample(
        run=answer.run,
        question_id=question.id,
        session=question.session,
        turn=question.turn,
        user_input=question.question,
        retrieved_contexts=tuple(texts) if case.chunks_logged and len(texts) == len(chunks) else None,
        reference_contexts=tuple(gold_texts) if gold and len(gold_texts) == len(gold) else None,
        retrieved_context_ids=tuple(chunk.id for chunk in chunks) if case.chunks_logged else None,
        reference_context_ids=tuple(gold) or None,
        response=answer.answer,
        reference=question.gold_answer,
    )


def write_samples(path: Path, samples: Iterable[Sample]) -> None:
    """Write rows as ``.jsonl``, for ``EvaluationDataset.from_jsonl``, or as ``.csv`` with lists as JSON.

    ``run`` and ``question_id`` identify the rows, and ``session`` and ``turn`` stand beside the questions of
    conversations; RAGAS ignores these columns.

    Raises
    ------
    InputError
        The ending is unknown, or the file can't be written.
    """
    check_samples_file(path)
    given = list(samples)
    beside = ("run", "question_id", *(("session", "turn") if any(one.session for one in given) else ()))
    rows = ({name: getattr(sample, name) for name in beside} | sample.columns() for sample in given)
    with written(path) as temporary:
        if path.suffix == ".csv":
            # A list of strings in JSON is also a list in Python.
            cells = (
                {name: _json(cell) if isinstance(cell, list) else cell for name, cell in row.items()} for row in rows
            )
            write_table(temporary, (*beside, *COLUMNS), cells)
        else:
            temporary.write_text("".join(f"{_json(row)}\n" for row in rows), encoding="utf-8")


def check_samples_file(path: Path) -> None:
    """Refuse a file with an unknown ending, before any work is done."""
    if path.suffix not in (".csv", ".jsonl"):
        raise InputError(
            "a RAGAS data set can't be written in this form", where=str(path), remedy="Use .jsonl or .csv."
        )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class RagasRow:
    """A row, or a turn of the conversation in one.

    Attributes
    ----------
    number
        The number of the row, from 1.
    reason
        Why a value of a metric is None.
    """

    where: str
    number: int
    sample: Sample
    values: Mapping[str, float | None]
    reason: str = NAN


def read_rows(path: Path, problems: Problems, metrics: Sequence[str] = ()) -> list[RagasRow]:
    """Return the rows of a data set or of results: ``.jsonl`` or ``.csv``; of one with a conversation each turn.

    Parameters
    ----------
    metrics
        The columns with values of metrics; by default all columns with nothing but numbers.

    Raises
    ------
    InputError
        The file can't be read, a record is unusable and not skipped, or a metric is missing.
    """
    raw = list(_raw_rows(path, problems))
    names = list(dict.fromkeys(name for _, row in raw for name in row))
    own = {*Sample.model_fields, "question", "contexts", "answer", "ground_truth", *_BESIDE}
    numeric = [name for name in names if name not in own and all(_is_number(row.get(name)) for _, row in raw)]
    for name in () if metrics else [one for one in names if one not in own and one not in numeric]:
        values = [row.get(name) for _, row in raw]
        if any(_is_number(one) and one is not None for one in values):
            other = next(place for (place, _), one in zip(raw, values, strict=True) if not _is_number(one))
            what = f"the column {name!r} isn't read as values of a metric: it has other values than numbers"
            problems.note(Problem(other, what, remedy="Name it by --metric once it holds numbers only."))
    for name in metrics:
        if name not in numeric:
            hint = did_you_mean(name, numeric)
            what = f"the column {name!r} " + ("has other values than numbers" if name in names else "doesn't exist")
            remedy = f"{hint}There are: {', '.join(numeric)}." if numeric else "No column holds numbers."
            raise InputError(what, where=str(path), remedy=remedy)
    chosen = list(metrics) or numeric
    rows = []
    for number, (where, row) in enumerate(raw, 1):
        columns = {name: value for name, value in row.items() if name not in numeric and name not in _BESIDE}
        measured = {name: _number(row.get(name)) for name in chosen}
        turns = _turns(where, number, columns, problems)
        for place, turn in enumerate(turns, 1):
            sample = parse_record(Sample, json.dumps(turn).encode(), where, problems)
            about = (measured, NAN) if place == len(turns) else (dict.fromkeys(chosen), OF_THE_LAST)
            if sample is not None:
                rows.append(RagasRow(where, number, sample, *about))
    problems.raise_if_refused(usable=len(rows))
    return rows


def _turns(where: str, number: int, row: dict[str, Any], problems: Problems) -> list[dict[str, Any]]:
    """Return a row for each turn of a row with a conversation, or the row alone."""
    if not is_conversation(row.get("user_input")):
        return [row]
    if beside := [name for name in row if "retrieved_context" in name or name == "contexts"]:
        what = f"{beside[0]} stands beside a conversation, and doesn't say to which turn it belongs"
        problems.add(Problem(where, what, remedy="Write each turn as a row of its own, with session and turn."))
        return []
    unnamed, unread = f"row-{number}", Counter[str]()
    turns = each_turn(row, unnamed)
    if turns[0] is row:  # nobody asks; the record's form refuses it
        return [row]
    talk: dict[str, Any] = {name: row[name] for name in ("user_input", "response") if name in row}
    answers = answers_of_turns(where, talk, unread)
    for name in unread:
        problems.ignore(where, name)
    found = []
    for turn, answer in zip(turns, answers, strict=True):
        for note in answer.notes:
            problems.note(Problem(where, note, record=turn["id"]))
        if answer.tool_calls:
            problems.note(Problem(where, TOOLS, record=turn["id"]))
        named = None if turn["session"] == unnamed else turn["id"]
        found.append({**turn, "run": row.get("run"), "question_id": named, "response": answer.answer})
        del found[-1]["id"]
    return found


def _raw_rows(path: Path, problems: Problems) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".csv" or is_table(path):
        for number, cells in read_table(path):
            yield f"{path}:{number}", {name: _cell(name, text) for name, text in cells.items()}
        return
    if not is_file_name(path.name):
        raise InputError("this isn't a file of a RAGAS data set", where=str(path), remedy="Use .jsonl or .csv.")
    for number, line in read_lines(path):
        where = f"{path}:{number}"
        try:
            row = json.loads(line.decode("utf-8-sig"), object_pairs_hook=each_key_once)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield where, row
        else:
            parse_record(Sample, line, where, problems)  # which reports the error


def _cell(name: str, text: str) -> Any:
    if text == "":
        return None
    if name in _LISTS or name == "contexts" or (name == "user_input" and text[0] == "["):
        for read in (json.loads, ast.literal_eval):  # ours, and Python's as pandas writes it
            try:
                value = read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if name != "user_input" or is_conversation(value):
                return value
        return meant(text) if name == "user_input" else text
    if name in COLUMNS or name in Sample.model_fields or name in _BESIDE:
        return meant(text)
    try:
        return {"true": 1.0, "false": 0.0}.get(text.lower()) if text.lower() in ("true", "false") else float(text)
    except ValueError:
        return meant(text)


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def _number(value: object) -> float | None:
    """Return a value as a number that a score can hold; None for NaN and infinities."""
    if not isinstance(value, int | float) or not abs(value) <= LARGEST:
        return None
    return float(value)


@dataclass(frozen=True)
class Imported:
    """A RAGAS data set as lines of ``questions.jsonl`` and of a run, and as scores."""

    run: str
    questions: Sequence[dict[str, Any]]
    answers: Sequence[dict[str, Any]]
    scores: Sequence[Score]


def imported(path: Path, problems: Problems, run: str | None = None, metrics: Sequence[str] = ()) -> Imported:
    """Return a RAGAS data set as questions, the answers of a run, and scores of the columns with values of metrics.

    The id of a row without ``question_id`` is its number, that of a turn its session and turn. The id of a context
    without one is a digest of its text, so that a retrieved context equals the reference context with the same text.

    Raises
    ------
    InputError
        The file can't be read, a record is unusable and not skipped, or the run has no name or several.
    """
    rows = read_rows(path, problems, metrics)
    runs = sorted({row.sample.run for row in rows if row.sample.run is not None})
    if run is None and len(runs) != 1:
        what = f"the rows are of {len(runs)} runs" if runs else "no row names its run"
        raise InputError(what, where=str(path), remedy="Name the run by --run.")
    name = given_run_name(run if run is not None else runs[0])
    ids = _ids_of_texts(rows)
    questions: dict[str, dict[str, Any]] = {}
    answers = []
    scores: list[Score] = []
    for row in rows:
        sample = row.sample
        place = f"row-{row.number}" if sample.session is None else f"{sample.session}-{sample.turn}"
        question = sample.question_id or place
        mistake = "the question already has a row" if question in questions else _mismatch(sample)
        if mistake is not None:
            problems.add(Problem(row.where, mistake, record=question))
            continue
        gold = sample.reference_context_ids or [ids[text] for text in sample.reference_contexts or ()]
        questions[question] = {"id": question, "question": sample.user_input} | _given(
            session=sample.session,
            turn=sample.turn,
            gold_answer=sample.reference,
            relevant=dict.fromkeys(gold, 1) or None,
        )
        answers.append(
            {"run": name, "question_id": question} | _given(retrieved=_chunks(sample, ids), answer=sample.response)
        )
        scores += _scores(name, question, row.values, None, row.reason)
    problems.raise_if_refused(usable=len(questions))
    return Imported(name, list(questions.values()), answers, scores)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _ids_of_texts(rows: Iterable[RagasRow]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for row in rows:
        sample = row.sample
        for names, texts in (
            (sample.retrieved_context_ids, sample.retrieved_contexts),
            (sample.reference_context_ids, sample.reference_contexts),
        ):
            if names is not None and texts is not None and len(names) == len(texts):
                for name, text in zip(names, texts, strict=True):
                    ids.setdefault(text, name)
    for row in rows:
        for text in (*(row.sample.retrieved_contexts or ()), *(row.sample.reference_contexts or ())):
            ids.setdefault(text, id_of_text(text))
    return ids


def _mismatch(sample: Sample) -> str | None:
    if (sample.session is None) != (sample.turn is None):
        return "session and turn go together, and one of them is missing"
    for kind in ("retrieved", "reference"):
        names, texts = getattr(sample, f"{kind}_context_ids"), getattr(sample, f"{kind}_contexts")
        if names is not None and texts is not None and len(names) != len(texts):
            return f"{kind}_context_ids names {len(names)} contexts, and {kind}_contexts holds {len(texts)}"
    return None


def _chunks(sample: Sample, ids: Mapping[str, str]) -> list[dict[str, str]] | None:
    names, texts = sample.retrieved_context_ids, sample.retrieved_contexts
    if texts is None:
        return None if names is None else [{"id": name} for name in names]
    return [
        {"id": name, "text": text} for name, text in zip(names or [ids[text] for text in texts], texts, strict=True)
    ]


def write_dataset(folder: Path, data: Imported) -> list[Path]:
    """Write questions and run as a dataset, and return the files. Existing files aren't overwritten.

    Raises
    ------
    InputError
        One of the files exists already, or can't be written.
    """
    run_file = folder / "runs" / f"{_file_name(data.run)}.jsonl"
    files: dict[Path, Sequence[dict[str, Any]]] = {folder / "questions.jsonl": data.questions, run_file: data.answers}
    for path in files:
        if path.exists():
            raise InputError("the file already exists", where=str(path), remedy="Name a new folder by --out.")
    try:
        run_file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder can't be created: {error.strerror}", where=str(run_file.parent)) from None
    for path, lines in files.items():
        with written(path) as temporary:
            temporary.write_text("".join(f"{_json(line)}\n" for line in lines), encoding="utf-8")
    return list(files)


def _file_name(run: str) -> str:
    """Return a run's name as a file name, without special characters."""
    return "".join(char if char.isalnum() or char in "-_." else "_" for char in run).lstrip(".")[:100] or "run"


def scores_of_results(
    path: Path,
    run_file: Path,
    dataset: Dataset,
    problems: Problems,
    metrics: Sequence[str] = (),
    version: str | None = None,
) -> list[Score]:
    """Return RAGAS's results for a run: a score for each answer and each metric, with a reason if it has no value.

    A row belongs to the question with its ``question_id``, or else with the same text.

    Raises
    ------
    InputError
        A file or a record is unusable and not skipped, or no column holds values.
    """
    rows = read_rows(path, problems, metrics)
    names = list(rows[0].values) if rows else []
    if not names:
        raise InputError("no column holds values of metrics", where=str(path), remedy="Write the results with scores.")
    run = samples_of_run(run_file, dataset, problems)
    answered = {sample.question_id: None for sample in run.samples if sample.question_id is not None}
    by_text: dict[str, list[str]] = {}
    for sample in run.samples:
        by_text.setdefault(sample.user_input, []).append(sample.question_id or "")
    values: dict[str, Mapping[str, float | None]] = {}
    reasons: dict[str, str] = {}
    for row in rows:
        given = row.sample.question_id
        found = by_text.get(row.sample.user_input, []) if given is None else [given]
        what, remedy = None, "Check the run and its dataset."
        if row.sample.run not in (None, run.run):
            what = f"the row is of the run {row.sample.run}, not of {run.run}"
        elif len(found) > 1:
            what = f"{len(found)} questions have this text"
            remedy = "Give the question's id in a column question_id."
        elif not found or found[0] not in answered:
            what = f"the run {run.run} has no answer to this question"
        elif found[0] in values:
            what = "the question already has a row"
        if what is None:
            values[found[0]], reasons[found[0]] = row.values, row.reason
        else:
            problems.add(Problem(row.where, what, record=given or row.sample.user_input[:100], remedy=remedy))
    problems.raise_if_refused(usable=len(values))
    no_row = dict.fromkeys(names)
    scores: list[Score] = []
    for name in answered:
        reason = reasons.get(name, "RAGAS's results have no row for this answer")
        scores += _scores(run.run, name, values.get(name, no_row), version, reason)
    for name, error in run.failed.items():
        scores += _scores(run.run, name, no_row, version, failed(error))
    return scores


def _scores(
    run: str, question: str, values: Mapping[str, float | None], version: str | None, reason: str = NAN
) -> Iterator[Score]:
    for name, value in values.items():
        yield Score(
            run=run,
            question=question,
            measure=measure_name(name),
            value=value,
            reason=reason if value is None else None,
            grader=RAGAS,
            version=version,
        )


@dataclass(frozen=True, slots=True)
class MetricMean:
    """The mean of a metric over a run; ``first_unscored`` is the first answer without a score and its reason."""

    measure: str
    mean: float | None
    scored: int
    total: int
    first_unscored: str | None


def keep_scores(
    found: Sequence[Score], run: Path, out: Path | None = None, source: Path | None = None
) -> tuple[Path, list[MetricMean]]:
    """Write scores to a file beside those of other metrics there, and return the file and the mean of each metric.

    Parameters
    ----------
    out
        By default a file beside the other grades of the run.
    source
        The file that the scores were read from, which is never replaced; by default the run.
    """
    file = out or grades_folder(run) / "ragas.scores.jsonl"
    if out is None:
        check_output(file, "scores", [source or run])
        file.parent.mkdir(exist_ok=True)
    of_metric: dict[str, list[Score]] = {}
    for score in found:
        of_metric.setdefault(score.measure, []).append(score)
    former = read_scores([file], Problems()) if file.exists() else []
    write_scores(file, [*(score for score in former if score.measure not in of_metric), *found])
    return file, [_mean(name, scores) for name, scores in of_metric.items()]


def _mean(name: str, scores: Sequence[Score]) -> MetricMean:
    known = [score.number for score in scores if score.number is not None]
    unscored = next((f"{score.question}: {score.reason}" for score in scores if score.value is None), None)
    return MetricMean(name, math.fsum(known) / len(known) if known else None, len(known), len(scores), unscored)


def measure_name(metric: str) -> str:
    """Return the name of a metric among our measures.

    >>> measure_name("faithfulness")
    'ragas.faithfulness'
    """
    return f"{RAGAS}.{metric}"
