"""Pools: the chunks that several runs retrieved, judged once for all, stand in for relevant ids that nobody wrote.

A pool holds the top chunks of each run (Spärck Jones and van Rijsbergen 1975), and on request their neighbours in the
knowledge graph. The judge never learns which run retrieved one, or at which rank. Rankings are condensed to judged
chunks (Sakai 2007): what wasn't judged is neither relevant nor not.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from graphkit.plugins.judging.grading.judge_setup import (
    GradingEstimate,
    JudgeOptions,
    OpenedJudge,
    estimated,
    opened,
    unfinished,
)
from graphkit.plugins.judging.grading.surroundings import texts_in
from graphkit.plugins.judging.grading.unfinished import until_kept
from graphkit.plugins.judging.grading.verdict_job import GradingJob, RunToGrade
from graphkit.plugins.judging.judges.context_graders import CONTEXT_RELEVANCE, HIGHEST
from graphkit.plugins.judging.trust.agreement import kappa, raw_agreement
from graphkit.plugins.judging.trust.calibration import PredictionPowered, prediction_powered
from graphkit.plugins.judging.trust.pooled_chunks import DEPTH, Pool, PoolSize, digest, prompts_of
from graphkit.plugins.judging.verdicts import Verdict
from graphkit.records.fields import Name, Record
from graphkit.records.structs import AnswerStruct, ChunkStruct, QuestionStruct
from graphkit.records.unanswered import is_failure
from graphkit.records.words import shortened
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.measure_summaries import Summary
from graphkit.shards import event_loop

#: From which grade a chunk counts as relevant where grades don't count.
RELEVANT = 2

#: The ending of a file of TREC's qrels.
QRELS = ".qrels"

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
    pool
        What the pool holds: every figure by it is over that.
    asked, unjudged
        How many chunks were judged now, and have no judgement.
    kappa, agreement
        How far the judge's relevant chunks are those of gold, over the pooled chunks of questions with relevant ids and
        no stale gold; what these don't name counts as not relevant.
    file
        The file that keeps the judgements.
    chosen
        The questions that a filter picked; None for all.
    """

    judge: str
    runs: Sequence[PooledRun]
    pool: PoolSize
    asked: int
    unjudged: int
    kappa: Estimate
    agreement: Estimate
    file: Path
    chosen: ChosenQuestions | None = None
    verdicts: Sequence[Verdict] = field(default=(), repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return all figures, without the verdicts."""
        found = {name: value for name, value in fields_of(self).items() if name not in ("verdicts", "pool", "chosen")}
        failures = sum(one.failure is not None for one in self.verdicts)
        return {**found, **pool_as_json(self.pool, self.chosen), "file": str(self.file), "failures": failures}


def pool_as_json(pool: PoolSize, chosen: ChosenQuestions | None) -> dict[str, Any]:
    """Return what a pool holds; its runs are named beside it."""
    found = {name: value for name, value in asdict(pool).items() if name != "runs"}
    return {**found, "where": None if chosen is None else chosen.as_json()}


@dataclass(frozen=True)
class PoolToJudge:
    """The pooled chunks of some runs, before a judge is asked; ``place`` is beside its file of judgements."""

    source: Dataset
    runs: Sequence[RunToGrade]
    pool: Pool
    place: Path
    chosen: ChosenQuestions | None = None

    @classmethod
    def read(
        cls,
        run_files: Sequence[Path],
        dataset: str | Path | Dataset | None,
        *,
        depth: int = DEPTH,
        neighbours: int = 0,
        texts: Sequence[Path] = (),
        where: str | None = None,
        problems: Problems | None = None,
    ) -> PoolToJudge:
        """Read runs, and pool their chunks.

        Parameters
        ----------
        depth
            How many chunks of each run are pooled.
        neighbours
            How many hops their pooled neighbours in the knowledge graph are away at most.
        texts
            Files with the texts of chunks that no run retrieved.
        where
            A filter of the questions (:mod:`graphkit.scoring.chosen_questions`).

        Raises
        ------
        InputError
            A file can't be used, runs share a name or lie in several datasets, no chunk with a text was retrieved, or
            neighbours are wanted and no question has a knowledge graph.
        """
        problems = problems if problems is not None else Problems()
        if texts and not neighbours:
            raise InputError("--texts are those of neighbours", remedy="Add --neighbours, or leave it out.")
        source = Dataset.of_run(run_files[0], dataset) if dataset is not None else Dataset.of_runs(run_files)
        whole = [RunToGrade.read(file, source, problems) for file in run_files]
        if len({run.run for run in whole}) < len(whole):
            raise InputError("two of the runs have the same name", remedy="Name each run once.")
        chosen = None if where is None else ChosenQuestions.of(source, where)
        runs = whole if chosen is None else [run.only(chosen.ids) for run in whole]
        pool = Pool.of(runs, depth)
        if not any(pool.texts.values()):
            remedy = "Log `retrieved` with the text of each chunk."
            raise InputError("no run retrieved a chunk with a text", where=str(run_files[0]), remedy=remedy)
        if neighbours:
            answers = [answer for run in whole for answer in run.answers.values()]
            pool.extend(source, whole[0].questions, neighbours, answers, texts_in(texts, problems))
            if not pool.in_graph:
                remedy = "`graphkit import graph` writes edges.jsonl; or leave --neighbours out."
                raise InputError("the dataset has no knowledge graph", where=source.given, remedy=remedy)
        return cls(source, runs, pool, run_files[0].with_name("pool.jsonl"), chosen)

    @property
    def size(self) -> PoolSize:
        """The size of the pool over all runs."""
        return replace(self.pool.size, runs=len(self.runs))

    def file_of(self, judge: JudgeOptions) -> Path:
        """Return the file that keeps the judgements of a judge."""
        return file_beside(self.place, judge.judge, ".relevance.jsonl", judge.model)

    def estimate(self, judge: JudgeOptions, options: GradingOptions) -> GradingEstimate:
        """Return what a model would be asked about the pool; a judgement that a file keeps isn't asked for again.

        Raises
        ------
        InputError
            The judge asks no model, or a file can't be used.
        """
        kept = _kept(self.file_of(judge), Problems())

        async def asking(opened_judge: OpenedJudge) -> None:
            await _judged(self, options.job(opened_judge, judge.concurrency), kept)

        return estimated(judge, asking)


def judge_pool(
    given: PoolToJudge,
    judge: JudgeOptions,
    options: GradingOptions,
    *,
    out: Path | None = None,
    problems: Problems | None = None,
    notify: Callable[[str], None] | None = None,
) -> PoolJudging:
    """Have a judge grade the pooled chunks of some runs, and measure the runs by them.

    Kept judgements of the same judge, version and text aren't asked for again.

    Parameters
    ----------
    out
        A new folder, for the dataset with the chunks that the judge calls relevant in place of the relevant ids; or a
        new file that ends in ``.qrels``, for all judgements as TREC's qrels.
    notify
        Called with each note about the judge.

    Raises
    ------
    InputError
        A file can't be used or written, or the judge can't be asked.
    """
    problems = problems if problems is not None else Problems()
    as_qrels = out is not None and out.suffix == QRELS
    if out is not None:
        _check_qrels(out, given.pool) if as_qrels else _new_folder(out)
    file = given.file_of(judge)
    with until_kept(unfinished(judge, given.place), notify):
        found, verdicts = event_loop.run(_by_judge(given, judge, options, _kept(file, problems), notify))
        _keep(given, file, found, verdicts, problems)
    grades = {question: {one.chunk: one.relevance for one in some} for question, some in _by_question(found).items()}
    if out is not None:
        _write_qrels(out, found) if as_qrels else _write_dataset(out, given, grades)
    questions, invalid = given.runs[0].questions, given.runs[0].invalid
    pairs = [
        (str(int(questions[question].relevant.get(chunk, 0) > 0)), str(int(grade >= RELEVANT)))
        for question, some in grades.items()
        if question not in invalid and _has_gold(questions[question])
        for chunk, grade in some.items()
    ]
    gold, said = [one for one, _ in pairs], [two for _, two in pairs]
    return PoolJudging(
        judge=judge.judge,
        runs=[_measured(run, grades) for run in given.runs],
        pool=given.size,
        asked=sum(len(_rows(one)) for one in verdicts),
        unjudged=given.size.chunks - len(found),
        kappa=kappa(gold, said, ("0", "1")),
        agreement=raw_agreement(gold, said),
        file=file,
        chosen=given.chosen,
        verdicts=verdicts,
    )


def _keep(
    given: PoolToJudge, file: Path, found: Sequence[PooledRelevance], verdicts: Sequence[Verdict], problems: Problems
) -> None:
    if not verdicts:
        return
    same = {(one.question, one.chunk, one.version, one.text_hash) for one in found}
    file.parent.mkdir(exist_ok=True)
    with locked(grading_lock(given.place)):  # another pool may have kept its judgements meanwhile
        former = _kept(file, Problems(problems.on_error))
        rest = [one for one in former if (one.question, one.chunk, one.version, one.text_hash) not in same]
        if rest or found:  # an empty file could not be read again
            write_records(file, [*rest, *found])


def _kept(file: Path, problems: Problems) -> list[PooledRelevance]:
    return [one for _, one in read_records(file, PooledRelevance, problems)] if file.is_file() else []


async def _by_judge(
    given: PoolToJudge,
    judge: JudgeOptions,
    options: GradingOptions,
    kept: Sequence[PooledRelevance],
    notify: Callable[[str], None] | None,
) -> tuple[list[PooledRelevance], list[Verdict]]:
    async with opened(judge, notify=notify, opinions=unfinished(judge, given.place)) as opened_judge:
        return await _judged(given, options.job(opened_judge, judge.concurrency), kept)


async def _judged(
    given: PoolToJudge, job: GradingJob, kept: Sequence[PooledRelevance]
) -> tuple[list[PooledRelevance], list[Verdict]]:
    """Return the relevance of each pooled chunk that is known or could be judged, and the verdicts of this judging."""
    texts = given.pool.texts
    mark = {"grader": job.judge.name, "version": str(job.version(CONTEXT_RELEVANCE))}
    hashes = {(question, chunk): digest(text) for question, some in texts.items() for chunk, text in some.items()}
    found = {
        (one.question, one.chunk): one
        for one in kept
        if (one.grader, one.version) == (mark["grader"], mark["version"])
        and hashes.get((one.question, one.chunk)) == one.text_hash
    }
    verdicts: list[Verdict] = []
    prompts = {
        question: prompts_of(some, [one for one in some if (question, one) not in found], job.context_tokens)
        for question, some in texts.items()
    }
    for number in range(max(map(len, prompts.values()), default=0)):
        now = {question: some[number] for question, some in prompts.items() if number < len(some)}
        graded = await _graded(job, given.runs[0].questions, now)
        verdicts += graded
        for verdict in graded:
            for row in _rows(verdict):
                at = (verdict.question, row["chunk"])
                about = {"question": at[0], "chunk": at[1], "relevance": row["relevance"], **mark}
                found[at] = PooledRelevance(text_hash=hashes[at], **about)
    return [found[at] for at in sorted(found)], verdicts


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


def _rows(verdict: Verdict) -> Sequence[Mapping[str, Any]]:
    """Return the chunks that a verdict grades; none if it failed."""
    return (verdict.verdict or {}).get("chunks", ()) if verdict.failure is None else ()


def _by_question(found: Iterable[PooledRelevance]) -> dict[str, list[PooledRelevance]]:
    grouped: dict[str, list[PooledRelevance]] = {}
    for one in found:
        grouped.setdefault(one.question, []).append(one)
    return grouped


def _has_gold(question: QuestionStruct) -> bool:
    return any(gain > 0 for gain in question.relevant.values())


# What is written ------------------------------------------------------------------------------------------------------


def _made(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder can't be made: {error.strerror}", where=str(folder)) from None


def _new_folder(folder: Path) -> None:
    """Make a folder; raise an InputError if that can't be done, or it holds anything."""
    _made(folder)
    if any(folder.iterdir()):
        raise InputError("the folder isn't empty", where=str(folder), remedy="Name a new one by --out.")


def _check_qrels(path: Path, pool: Pool) -> None:
    """Raise an InputError if a file of qrels exists or can't be made, or an id doesn't fit into one."""
    _made(path.parent)
    if path.exists():  # it may hold a person's judgements
        raise InputError("the file is already there", where=str(path), remedy="Name a new one by --out.")
    for name in (name for question, some in pool.texts.items() for name in (question, *some)):
        if len(name.split()) != 1 or name != name.strip():
            what = f"the id {shortened(name)!r} holds white space, which separates the fields of qrels"
            raise InputError(what, where=str(path), remedy="Write a dataset instead: --out DIR.")


def _write_qrels(path: Path, found: Iterable[PooledRelevance]) -> None:
    """Write each judgement as a line ``question 0 chunk relevance``, also those of 0."""
    with written(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(f"{one.question} 0 {one.chunk} {one.relevance}\n" for one in found)


def _write_dataset(folder: Path, given: PoolToJudge, grades: Mapping[str, Mapping[str, int]]) -> None:
    """Write the questions that were picked, with the chunks that are relevant by a judge and their grades as gains."""
    source, chosen = given.source, given.chosen
    for file in source.files():
        if file != source.questions_file:
            with written(folder / file.name) as temporary:
                shutil.copyfile(file, temporary)
    with written(folder / "questions.jsonl") as temporary, temporary.open("wb") as stream:
        for question in source.every_question():
            if chosen is not None and question.id not in chosen.ids:
                continue
            some = grades.get(question.id, {})
            relevant = {chunk: float(grade) for chunk, grade in some.items() if grade >= RELEVANT}
            stream.write(msgspec.json.encode(with_fields(question, relevant=relevant, evidence_sets=[])) + b"\n")


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
