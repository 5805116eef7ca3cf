"""Pools: the chunks that several runs retrieved, judged once for all, stand in for relevant ids that nobody wrote.

A pool holds the top chunks of each run (Spärck Jones and van Rijsbergen 1975). The judge sees them in a drawn order and
never learns which run retrieved one, or at which rank. Rankings are condensed to judged chunks (Sakai 2007): what
wasn't judged is neither relevant nor not.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace as with_fields
from pydantic import Field
from pydantic.types import StrictStr

from graphkit.analysis.estimates import Estimate, fields_of
from graphkit.errors import InputError
from graphkit.files.atomic import write_records, written
from graphkit.files.dataset import Dataset
from graphkit.files.file_locks import locked
from graphkit.files.grades_beside import file_beside, grading_lock
from graphkit.files.problems import Problems
from graphkit.files.reading import read_records
from graphkit.measures.case import Case
from graphkit.measures.registry import parse_measure
from graphkit.measures.unscored import Unscored
from graphkit.plugins.judging.grading.grade_run import GradingOptions
from graphkit.plugins.judging.grading.judge_setup import JudgeOptions, opened
from graphkit.plugins.judging.grading.verdict_job import GradingJob, RunToGrade
from graphkit.plugins.judging.judges.context_graders import CONTEXT_RELEVANCE, HIGHEST
from graphkit.plugins.judging.trust.agreement import kappa, raw_agreement
from graphkit.plugins.judging.trust.calibration import PredictionPowered, prediction_powered
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.fields import Name, Record
from graphkit.records.structs import AnswerStruct, ChunkStruct, QuestionStruct
from graphkit.records.unanswered import is_failure
from graphkit.scoring.measure_summaries import Summary
from graphkit.shards import event_loop

#: How many chunks of each run are pooled, and from which grade a chunk counts as relevant where grades don't count.
DEPTH = 10
RELEVANT = 2

#: The measures of each run; nDCG takes the grades as gains.
BY_GRADES = ("nDCG@10",)
BY_RELEVANCE = ("P@5", "Recall@20", "RR")


class PooledRelevance(Record):
    """The relevance of a chunk to a question, by a judge: one line of the file of a pool.

    ``text_hash`` is the SHA-256 of the text that was judged, ``version`` that of the judge with its prompt.
    """

    question: Name
    chunk: Name
    relevance: Annotated[int, Field(ge=0, le=HIGHEST)]
    text_hash: StrictStr
    grader: Name
    version: StrictStr


_SUMMARIES = ("by_pool", "by_gold")

NOT_BOTH = "no question has a value by the pool and by gold"


@dataclass(frozen=True)
class PooledRun:
    """The measures of a run by the judged chunks of a pool.

    Attributes
    ----------
    judged, ranked
        How many of its ranked chunks are judged.
    by_pool, by_gold
        The summary of each measure by the pool, and by the relevant ids of the questions that have any.
    corrected
        The mean of each measure over all questions, corrected by its error on those with relevant ids.
    """

    run: str
    judged: int
    ranked: int
    by_pool: Mapping[str, Summary]
    by_gold: Mapping[str, Summary]
    corrected: Mapping[str, PredictionPowered]

    def as_json(self) -> dict[str, Any]:
        """Return all figures."""
        summaries = {name: {key: asdict(one) for key, one in getattr(self, name).items()} for name in _SUMMARIES}
        return fields_of(self) | summaries


@dataclass(frozen=True)
class PoolJudging:
    """The chunks that several runs retrieved, judged once for all.

    Attributes
    ----------
    chunks, asked, unjudged, textless, differing
        How many chunks are in the pool (of each question), were judged now, have no judgement, have no text, and have
        another text in another run, of which the first counts.
    kappa, agreement
        How far the judge's relevant chunks are those of gold, over the pooled chunks of questions with relevant ids and
        no stale gold; what these don't name counts as not relevant.
    file
        The file that keeps the judgements.
    """

    judge: str
    runs: Sequence[PooledRun]
    chunks: int
    asked: int
    unjudged: int
    textless: int
    differing: int
    kappa: Estimate
    agreement: Estimate
    file: Path
    verdicts: Sequence[Verdict] = field(default=(), repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return all figures, without the verdicts."""
        found = {name: value for name, value in fields_of(self).items() if name != "verdicts"}
        return {**found, "file": str(self.file), "failures": sum(one.failure is not None for one in self.verdicts)}


@dataclass
class _Pool:
    """The texts of the pooled chunks by question, and what was noticed."""

    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    textless: set[tuple[str, str]] = field(default_factory=set)
    differing: set[tuple[str, str]] = field(default_factory=set)

    def add(self, question: str, chunks: Iterable[ChunkStruct], depth: int) -> None:
        """Add the first chunks of a ranking, each id once."""
        some = self.texts.setdefault(question, {})
        for chunk in list({one.id: one for one in reversed([*chunks])}.values())[::-1][:depth]:
            if not (chunk.text or "").strip():
                self.textless.add((question, chunk.id))
            elif some.setdefault(chunk.id, chunk.text or "") != chunk.text:
                self.differing.add((question, chunk.id))


def judge_pool(
    run_files: Sequence[Path],
    dataset: str | Path | Dataset | None,
    judge: JudgeOptions,
    options: GradingOptions,
    *,
    depth: int = DEPTH,
    out: Path | None = None,
    problems: Problems | None = None,
) -> PoolJudging:
    """Have a judge grade the pooled chunks of some runs, and measure the runs by them.

    Kept judgements of the same judge, version and text aren't asked for again. ``out`` is a new folder, for the dataset
    with the chunks that the judge calls relevant in place of the relevant ids.

    Raises
    ------
    InputError
        A file can't be used or written, the judge can't be asked, runs share a name or lie in several datasets, or no
        chunk with a text was retrieved.
    """
    problems = problems if problems is not None else Problems()
    source = Dataset.of_run(run_files[0], dataset) if dataset is not None else Dataset.of_runs(run_files)
    runs = [RunToGrade.read(file, source, problems) for file in run_files]
    if len({run.run for run in runs}) < len(runs):
        raise InputError("two of the runs have the same name", remedy="Name each run once.")
    if out is not None:
        _new_folder(out)
    pool = _Pool()
    for run in runs:
        for question in run.questions:
            pool.add(question, run.case(question).chunks, depth)
    if not any(pool.texts.values()):
        remedy = "Log `retrieved` with the text of each chunk."
        raise InputError("no run retrieved a chunk with a text", where=str(run_files[0]), remedy=remedy)
    place = run_files[0].with_name("pool.jsonl")
    file = file_beside(place, judge.judge, ".relevance.jsonl", judge.model)
    found, verdicts = event_loop.run(_judged(runs[0].questions, pool.texts, judge, options, _kept(file, problems)))
    grades = {question: {one.chunk: one.relevance for one in some} for question, some in _by_question(found).items()}
    if verdicts:
        same = {(one.question, one.chunk, one.version, one.text_hash) for one in found}
        file.parent.mkdir(exist_ok=True)
        with locked(grading_lock(place)):  # another pool may have kept its judgements meanwhile
            former = _kept(file, Problems(problems.on_error))
            rest = [one for one in former if (one.question, one.chunk, one.version, one.text_hash) not in same]
            write_records(file, [*rest, *found])
    if out is not None:
        _write_dataset(out, source, grades)
    questions = runs[0].questions
    pairs = [
        (str(int(questions[question].relevant.get(chunk, 0) > 0)), str(int(grade >= RELEVANT)))
        for question, some in grades.items()
        if question not in runs[0].invalid and _has_gold(questions[question])
        for chunk, grade in some.items()
    ]
    gold, said = [one for one, _ in pairs], [two for _, two in pairs]
    pooled = sum(map(len, pool.texts.values()))
    return PoolJudging(
        judge=judge.judge,
        runs=[_measured(run, grades) for run in runs],
        chunks=pooled,
        asked=sum(len(_rows(one)) for one in verdicts),
        unjudged=pooled - len(found),
        textless=len(pool.textless),
        differing=len(pool.differing),
        kappa=kappa(gold, said, ("0", "1")),
        agreement=raw_agreement(gold, said),
        file=file,
        verdicts=verdicts,
    )


def _kept(file: Path, problems: Problems) -> list[PooledRelevance]:
    return [one for _, one in read_records(file, PooledRelevance, problems)] if file.is_file() else []


async def _judged(
    questions: Mapping[str, QuestionStruct],
    texts: Mapping[str, Mapping[str, str]],
    judge: JudgeOptions,
    options: GradingOptions,
    kept: Sequence[PooledRelevance],
) -> tuple[list[PooledRelevance], list[Verdict]]:
    """Return the relevance of each pooled chunk that is known or could be judged, and the verdicts of this judging."""
    async with opened(judge) as opened_judge:
        job = options.job(opened_judge, judge.concurrency)
        mark = {"grader": job.judge.name, "version": str(job.version(CONTEXT_RELEVANCE))}
        hashes = {(question, chunk): _digest(text) for question, some in texts.items() for chunk, text in some.items()}
        found = {
            (one.question, one.chunk): one
            for one in kept
            if (one.grader, one.version) == (mark["grader"], mark["version"])
            and hashes.get((one.question, one.chunk)) == one.text_hash
        }
        verdicts: list[Verdict] = []
        left = {
            question: [chunk for chunk in _drawn(question, some) if (question, chunk) not in found]
            for question, some in texts.items()
        }
        while left := {question: some for question, some in left.items() if some}:
            graded = await _graded(job, questions, {q: {c: texts[q][c] for c in some} for q, some in left.items()})
            verdicts += graded
            for verdict in graded:
                for row in _rows(verdict):
                    at = (verdict.question, row["chunk"])
                    about = {"question": at[0], "chunk": at[1], "relevance": row["relevance"], **mark}
                    found[at] = PooledRelevance(text_hash=hashes[at], **about)
            # A chunk that didn't fit is judged next, unless it never fits: then nothing new was judged.
            judged = {one.question for one in graded if _rows(one)}
            left = {q: [c for c in some if (q, c) not in found] for q, some in left.items() if q in judged}
        return [found[at] for at in sorted(found) if at in hashes], verdicts


async def _graded(
    job: GradingJob, questions: Mapping[str, QuestionStruct], texts: Mapping[str, Mapping[str, str]]
) -> Sequence[Verdict]:
    answers = {
        question: AnswerStruct(
            run="pool",
            question_id=question,
            answer="",
            retrieved=[ChunkStruct(one, text=text) for one, text in some.items()],
        )
        for question, some in texts.items()
    }
    run = RunToGrade("pool", {question: questions[question] for question in answers}, answers)
    return (await job.grade(run)).verdicts


def _new_folder(folder: Path) -> None:
    """Make a folder; raise an InputError if that can't be done, or it holds anything."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        filled = any(folder.iterdir())
    except OSError as error:
        raise InputError(f"the folder can't be made: {error.strerror}", where=str(folder)) from None
    if filled:
        raise InputError("the folder isn't empty", where=str(folder), remedy="Name a new one by --out.")


def _write_dataset(folder: Path, source: Dataset, grades: Mapping[str, Mapping[str, int]]) -> None:
    """Write a dataset with the chunks that are relevant by a judge, and their grades as gains."""
    for file in source.files():
        if file != source.questions_file:
            with written(folder / file.name) as temporary:
                shutil.copyfile(file, temporary)
    with written(folder / "questions.jsonl") as temporary, temporary.open("wb") as stream:
        for question in source.every_question():
            some = grades.get(question.id, {})
            relevant = {chunk: float(grade) for chunk, grade in some.items() if grade >= RELEVANT}
            stream.write(msgspec.json.encode(with_fields(question, relevant=relevant, evidence_sets=[])) + b"\n")


def _rows(verdict: Verdict) -> Sequence[Mapping[str, Any]]:
    """Return the chunks that a verdict grades; none if it failed."""
    return (verdict.verdict or {}).get("chunks", ()) if verdict.failure is None else ()


def _by_question(found: Iterable[PooledRelevance]) -> dict[str, list[PooledRelevance]]:
    grouped: dict[str, list[PooledRelevance]] = {}
    for one in found:
        grouped.setdefault(one.question, []).append(one)
    return grouped


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _drawn(question: str, chunks: Iterable[str]) -> list[str]:
    """Return chunks in an order that tells neither their run nor their rank."""
    return sorted(chunks, key=lambda chunk: _digest(f"{question}\0{chunk}"))


def _has_gold(question: QuestionStruct) -> bool:
    return any(gain > 0 for gain in question.relevant.values())


# The measures --------------------------------------------------------------------------------------------------------


def condensed(case: Case, grades: Mapping[str, int], graded: bool) -> Case:
    """Return a case whose ranking holds the judged chunks alone, with their grades as what is relevant.

    ``graded`` takes the grades as gains; else a chunk is relevant from ``RELEVANT`` on.
    """
    gains = {chunk: float(grade if graded else grade >= RELEVANT) for chunk, grade in grades.items()}
    # Gains of 0 alone would make nDCG 0; here they mean that nothing relevant is known.
    relevant = {chunk: gain for chunk, gain in gains.items() if gain > 0}
    question = with_fields(case.question, relevant=relevant, evidence_sets=[])
    answer = case.answer
    if answer is not None and answer.retrieved is not None:
        answer = with_fields(answer, retrieved=[chunk for chunk in case.chunks if chunk.id in grades], rankings={})
    return Case(question, answer, case.commits)


def _measured(run: RunToGrade, grades: Mapping[str, Mapping[str, int]]) -> PooledRun:
    by_pool: dict[str, Summary] = {}
    by_gold: dict[str, Summary] = {}
    corrected: dict[str, PredictionPowered] = {}
    cases = {question: run.case(question) for question in run.questions if question not in run.invalid}
    for name in (*BY_GRADES, *BY_RELEVANCE):
        measure = parse_measure(name)
        pool = {
            question: _value(measure.score(condensed(case, grades.get(question, {}), name in BY_GRADES)))
            for question, case in cases.items()
        }
        gold = {question: _value(measure.score(case)) for question, case in cases.items() if _has_gold(case.question)}
        by_pool[name] = Summary.of_values(name, list(pool.values()))
        by_gold[name] = Summary.of_values(name, list(gold.values()))
        own = {question: number for question, value in pool.items() if (number := _number(value)) is not None}
        truth = {question: number for question, value in gold.items() if (number := _number(value)) is not None}
        both = [question for question in own if question in truth]
        rest = [own[question] for question in own if question not in gold]
        found = prediction_powered([truth[one] for one in both], [own[one] for one in both], rest)
        corrected[name] = found if both else replace(found, estimate=Estimate(None, reason=NOT_BOTH))
    ids = [(question, chunk) for question, case in cases.items() for chunk in case.ranks]
    known = sum(chunk in grades.get(question, {}) for question, chunk in ids)
    return PooledRun(run.run, known, len(ids), by_pool, by_gold, corrected)


def _value(found: float | Unscored) -> float | str:
    return found.reason if isinstance(found, Unscored) else found


def _number(value: float | str) -> float | None:
    """Return a value, and 0 for an answer that failed; None if there is nothing to measure."""
    if isinstance(value, str):
        return 0.0 if is_failure(value) else None
    return value
