"""Gather the data of a page: score each run in one pass, and spool the details of its questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from graphkit.analysis.broken_edges import QuestionEdges, question_edges
from graphkit.analysis.config import Config
from graphkit.analysis.layers import score_layers
from graphkit.errors import InputError, missing_file
from graphkit.files.assets import dataset_option
from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.run_files import answering_model
from graphkit.files.spool import Spool
from graphkit.graph.answered import SCORE, Kind
from graphkit.graph.beside import KindBeside, kinds_beside, of_each_kind
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.missed import aligned_with_gold
from graphkit.measures.outcome import Decision, decided, grade_of, outcome
from graphkit.measures.registry import parse_measure, require_computed, resolve_measures
from graphkit.measures.sided_case import sided
from graphkit.records.commits import CommitGraph
from graphkit.records.progress import Progress, quiet
from graphkit.records.scores import PERSON_GRADE, AboutAnswer, Score, answer_hash
from graphkit.records.words import counted
from graphkit.report.blocks import compressed_texts, search_text
from graphkit.report.data import (
    LISTED,
    UNLISTED,
    DetailsBlock,
    Outcome,
    PageOptions,
    QuestionOutcome,
    ReportData,
    RunData,
)
from graphkit.report.escaping import page_json, visible, visible_text
from graphkit.report.question import CHUNK_TEXT, CHUNKS, detail
from graphkit.report.spine import backbone_of, column_of, packed
from graphkit.scoring.chosen_questions import ChosenQuestions
from graphkit.scoring.run_pass import RunPass, judged_declines, known_from_files, reasons_of_gold, warned_of

#: The decision on an answer whose text was described elsewhere.
UNREAD = Decision(None, "")

#: Characters of a question in the table.
LISTED_TEXT = 240

#: The flag of an outcome whose answer a judge or a test has graded: a person's grade doesn't decide it alone.
JUDGED = "judged"

#: Questions that a warning about outdated verdicts or executions names.
OUTDATED = 5

#: The reason why a path is neither right nor wrong if edges have no direction.
NO_DIRECTION = "edges are compared without their direction"

#: Questions that share a block of details: the page parses a block when one of them is opened.
BLOCK = 25


def gather(
    runs: Sequence[Path],
    spools: ExitStack,
    options: PageOptions,
    problems: list[Problems] | None = None,
    progress: Progress = quiet,
) -> ReportData:
    """Score the runs, all of one dataset.

    Parameters
    ----------
    spools
        Holds the temporary files with the details until the page is written.
    problems
        Receives the problems of each run's records.
    progress
        Receives how many questions have been scored.

    Raises
    ------
    InputError
        A file can't be used, the runs belong to several datasets, or two of them have the same name.
    """
    for file in runs:
        if not file.exists():
            raise missing_file(file)
    passes = [RunPass(_dataset(options, file), file) for file in runs]
    if passes and options.where is not None:
        chosen = ChosenQuestions.of(passes[0].dataset, options.where)
        scores = [one for one in options.scores if one.question in chosen.ids]
        beside = [one for one in options.beside if one.question in chosen.ids]
        options = dataclasses.replace(options, where=chosen, scores=scores, beside=beside)
    logged = [name for one in passes for name in one.further_measures]
    computed, config = _measures(options.config, [*logged, *options.measures]), options.config
    asked = resolve_measures(options.measures) if options.measures else ()
    given = {score.measure for score in options.scores}
    require_computed([one for one in asked if str(one) not in given])
    if options.undirected:
        computed, asked = (tuple(dict.fromkeys(one.undirected() for one in some)) for some in (computed, asked))
        config = config.renamed(lambda name: str(parse_measure(name).undirected()))
    data: ReportData | None = None
    dataset_problems = Problems(options.on_error, strict=options.strict)
    for one, name in zip_longest(passes, options.names):
        file, own = one.run_file, one.dataset
        if data is not None and own.questions_file.resolve() != data.dataset.questions_file.resolve():
            raise InputError("the run is of another dataset", where=str(file), remedy="Write a page for each dataset.")
        if data is None:
            title = options.title or f"graphkit: {own.name}"
            data = ReportData(title, own, computed, [], config, options.unordered, options.undirected, options.sections)
            data.asked = tuple(map(str, asked))
            declines = judged_declines(options.scores)
            known = known_from_files(own, computed, dataset_problems, declines)
            data.places = known[0].places
        of_run = Problems(options.on_error, strict=options.strict)
        of_run.merge(dataset_problems)
        details = spools.enter_context(Spool(DetailsBlock, together=1))
        run = RunData(details, str(file), dataset_option(file, options.dataset or options.folders.get(file)))
        _score(_Collector(data, run, progress), one, name, known, of_run, options)
        _add_records(run, options, file, data.questions)
        if problems is not None:
            problems.append(of_run)
        if any(earlier.evaluation.run == run.evaluation.run for earlier in data.runs):
            raise InputError(f"another file holds the run {run.evaluation.run!r}, too", where=str(file))
        data.runs.append(run)
    if data is None:
        raise InputError("no run was named")
    return data


def _dataset(options: PageOptions, file: Path) -> Dataset:
    folder = options.dataset or options.folders.get(file)
    return Dataset(folder) if folder is not None else Dataset.of_run(file)


def _measures(config: Config, more: Sequence[str]) -> tuple[Measure, ...]:
    found = resolve_measures([*config.default_measures(), "Incoherent", "OffPin", *more], k=config.k)
    return tuple(one for one in found if one.computed)


def _score(
    collector: _Collector,
    run_pass: RunPass,
    name: str | None,
    known: tuple[CommitGraph, dict[str, str]],
    problems: Problems,
    options: PageOptions,
) -> None:
    """Score a run and spool the details of its questions, in one pass over the files."""
    data, run = collector.data, collector.run
    result = run_pass.score(
        data.measures,
        known,
        problems,
        descriptions=collector.add,
        keep_rows=True,
        describe=partial(_describe, undirected=data.undirected, gold=not data.runs),
        unordered=data.unordered,
        name=name,
        only=options.where,
        **warned_of(data.measures),
    )
    collector.flush()
    result = dataclasses.replace(result, failed_as=options.failed_as)
    scores = [one for one in options.scores if one.run == result.run]
    current = [one for one in scores if not _is_outdated(one, run)]
    result = result.with_scores(current, reasons_of_gold(run_pass.dataset, current))
    run.card = score_layers(result, data.config)
    run.values = {row.question: row.values for row in result.rows}
    run.evaluation = dataclasses.replace(result, given=())


def _add_records(run: RunData, options: PageOptions, file: Path, questions: Sequence[dict[str, str]]) -> None:
    """Add what lies beside a run to it, except records about earlier answers, and the warnings about them."""
    scores = [score for score in options.scores if score.run == run.evaluation.run]
    answered_by = answering_model(file, options.answered_by.get(file))
    run.warnings["scores"] = run.evaluation.warnings
    given = of_each_kind(options.beside)
    for name, kind in kinds_beside().items():
        own = _on_run(kind, given[name], run)
        old = [one.question for one in own if _is_outdated(one, run)]
        found: dict[str, list[Any]] = {}
        for one in own:
            if not _is_outdated(one, run):
                found.setdefault(one.question, []).append(one)
        run.beside[name] = found
        shown = [one for some in found.values() for one in some]
        about = kind.warnings(scores, shown, answered_by)
        run.warnings[name] = (*about, *_outdated(kind.kind, old))
    run.warnings["scores"] += _outdated(SCORE, [one.question for one in scores if _is_outdated(one, run)])
    grades = _grades(run, scores)
    for listed, judged in zip(questions, run.outcomes, strict=False):
        if of_answer := grades.get(listed["id"]):  # they come before the text of the answer
            judged.answer = _word(decided(UNREAD, of_answer).right)
            if any(not one.by.startswith(PERSON_GRADE) for one in of_answer):
                judged.flags.append(JUDGED)


def _on_run(kind: KindBeside[Any], records: Iterable[Any], run: RunData) -> list[Any]:
    """Return the records of a kind on a run.

    Raises
    ------
    InputError
        A record is on a question that isn't in the dataset, or an answer has two of which there is only one.
    """
    own = [one for one in records if one.run == run.evaluation.run]
    seen: set[str] = set()
    for one in own:
        if one.question not in run.values:
            raise InputError(kind.stranger(one), remedy="Correct its id, or remove it.")
        if kind.only_one and one.question in seen:
            what = f"the answer of {one.run} to {one.question!r} has a second {kind.kind.noun}"
            raise InputError(what, remedy="Remove one of them.")
        seen.add(one.question)
    return own


def _grades(run: RunData, scores: Sequence[Score]) -> dict[str, list[Decision]]:
    """Return what scores and other records say about the whole answers of a run, by question as it is shown."""
    found: dict[str, list[Decision]] = {}
    given = [score for score in scores if not _is_outdated(score, run)]
    said = [(score.question, grade_of(score.measure, score.number, score.grader)) for score in given]
    for name, kind in kinds_beside().items():
        said += [(question, kind.decision(one)) for question, some in run.beside[name].items() for one in some]
    for question, grade in said:
        if grade.right is not None:
            found.setdefault(visible(question), []).append(grade)
    return found


def _is_outdated(one: AboutAnswer, run: RunData) -> bool:
    """Return whether a record of a run is about another answer than the one that the run has now."""
    return one.answer_hash is not None and one.answer_hash != run.answer_hashes.get(one.question)


def _outdated(kind: Kind, questions: Sequence[str]) -> tuple[str, ...]:
    """Return the warning about records that the page hides, since the answers to these questions changed."""
    if not questions:
        return ()
    answers = "an answer that has changed since isn't" if len(questions) == 1 else "answers that changed since aren't"
    names = [*dict.fromkeys(questions)]
    some_names = ", ".join(names[:OUTDATED]) + (", ..." if len(names) > OUTDATED else "")
    old = f"{counted(len(questions), kind.noun)} {kind.of} {answers} shown ({some_names})"
    return (f"{old}: have the run {kind.done} again",)


class _Description(Struct):
    """One question of one run: its details as JSON, its outcome, its answer's hash by its id, and its searched text.

    ``edges`` are its required edges, None for stale gold. What is the same for every run, its row in the table and the
    gold side of its spine, comes with the first run alone. Between processes it travels as one message.
    """

    details: str
    outcome: QuestionOutcome
    answer_hash: dict[str, str]
    edges: QuestionEdges | None
    column: bytes
    text: str
    listed: dict[str, str] | None = None
    backbone: bytes | None = None

    def __reduce__(self) -> tuple[Callable[[bytes], _Description], tuple[bytes]]:
        return _received, (msgspec.msgpack.encode(self),)


_decode_description = msgspec.msgpack.Decoder(_Description).decode


def _received(message: bytes) -> _Description:
    return _decode_description(message)


class _Collector:
    """Collects the descriptions of a run's questions, and spools their details in blocks."""

    def __init__(self, data: ReportData, run: RunData, progress: Progress) -> None:
        self.data = data
        self.run = run
        self._progress = progress
        self._block: list[str] = []
        self._texts: dict[int, str] = {}
        self._number = 0

    def add(self, place: int, description: _Description) -> None:
        """Add the description of the question at a place."""
        questions, outcomes = self.data.questions, self.run.outcomes
        questions += [UNLISTED] * (place + 1 - len(questions))
        outcomes += [QuestionOutcome() for _ in range(place + 1 - len(outcomes))]
        self.run.edges += [None] * (place + 1 - len(self.run.edges))
        self.run.edges[place] = description.edges
        if description.listed is not None:
            questions[place] = description.listed
        outcomes[place] = description.outcome
        outcomes[place].block = self._number
        if description.backbone is not None:
            self.data.backbones[place] = description.backbone
        self.run.columns[place] = description.column
        self._texts[place] = description.text
        self.run.answer_hashes.update(description.answer_hash)
        self._block.append(f'"{place}":{description.details}')
        if len(self._block) == BLOCK:
            self.flush()

    def flush(self) -> None:
        """Spool the block that was begun."""
        if self._block:
            self._progress("questions scored", len(self._block))
            self.run.details.put(DetailsBlock(self._number, "{" + ",".join(self._block) + "}"))
            self.run.texts[self._number] = compressed_texts(self._texts)
            self._block, self._texts, self._number = [], {}, self._number + 1


def _describe(
    case: Case, values: Sequence[float | str], invalid: str | None, undirected: bool = False, gold: bool = True
) -> _Description:
    """Describe one question; without ``gold``, leave out what is the same for every run."""
    question = case.question
    compared = sided(aligned_with_gold(case) if undirected else case)
    column = column_of(compared, invalid, undirected)
    shown, flags, found, required = detail(compared, values, invalid, column)
    judged = outcome(case, invalid)
    shown["stage"] = {
        "name": judged.ended,
        "reason": visible(judged.stage.reason, CHUNK_TEXT),
        "missing": [visible(node) for node in judged.stage.missing[:CHUNKS]],
    }
    shown["undecided"] = visible(judged.undecided, CHUNK_TEXT)
    path = _word(judged.path)
    if undirected:  # without directions no turn is wrong, and a path that only the direction decides is neither
        path = "undecided"
        flags = [flag for flag in flags if flag != "turn"]
        shown["undecided"] = shown["undecided"] or NO_DIRECTION
    answer = case.answer
    hashed = {question.id: answer_hash(answer.answer or "")} if answer is not None else {}
    if answer is not None and answer.answer:
        shown["answer_hash"] = hashed[question.id]
    cause = column.causes[0].kind if column.causes else ""
    how = QuestionOutcome(-1, flags, found, required, _word(judged.answer), path, judged.stage.name, cause)
    edges = question_edges(compared) if invalid is None else None
    description = _Description(page_json(shown), how, hashed, edges, packed(column), search_text(case, gold))
    if gold:
        description.backbone = packed(backbone_of(case))
        said = {name: visible(getattr(question, name) or "") for name in LISTED}
        description.listed = {"id": visible(question.id), "text": visible_text(question.question, LISTED_TEXT), **said}
    return description


def _word(judged: bool | None) -> Outcome:
    return "undecided" if judged is None else "right" if judged else "wrong"
