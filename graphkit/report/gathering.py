"""Gathering what a page shows: each run is scored in one pass, and the details of its questions are put aside."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from graphkit.analysis.config import Config
from graphkit.analysis.layers import score_layers
from graphkit.errors import InputError
from graphkit.files.dataset import Dataset
from graphkit.files.normal_forms import GoldSpelling
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.files.spool import Spool
from graphkit.measures.base import Measure
from graphkit.measures.case import Case
from graphkit.measures.outcome import STAGES, outcome
from graphkit.measures.registry import DEFAULT_MEASURES, parse_measure, resolve_measures, undirected_form
from graphkit.records.commits import CommitGraph
from graphkit.records.executions import Execution
from graphkit.records.model_families import judges_of, self_evaluations
from graphkit.records.structs import AnswerStruct
from graphkit.records.verdicts import Verdict, answer_hash
from graphkit.records.words import counted
from graphkit.report.data import DetailsBlock, PageOptions, ReportData, RunData
from graphkit.report.escaping import script_json, visible, visible_text
from graphkit.report.execution_view import executions_on
from graphkit.report.question import CHUNK_TEXT, CHUNKS, TURN, as_gold_has_it, detail
from graphkit.report.verdict_view import verdicts_on
from graphkit.scoring.evaluate import known_from_files
from graphkit.scoring.file_scoring import score_file
from graphkit.scoring.known_share import known_share
from graphkit.scoring.logged_tools import tool_measures
from graphkit.scoring.results import Row
from graphkit.scoring.scorer import Job

#: How much of a question is shown in the table.
LISTED_TEXT = 240

#: How many questions are named whose verdicts or executions are out of date.
OUTDATED = 5

#: Why a path is neither right nor wrong where edges have no direction.
NO_DIRECTION = "edges are compared without their direction"

#: How many questions share a block of details: what is parsed when one of them is opened.
BLOCK = 25


def gather(
    runs: Sequence[Path],
    spools: ExitStack,
    options: PageOptions,
    problems: list[Problems] | None = None,
) -> ReportData:
    """Score the runs, all of one dataset.

    Parameters
    ----------
    spools
        Holds the temporary files with the details, for as long as the page is written.
    problems
        Takes what there is to tell about each run's records.

    Raises
    ------
    InputError
        A file can't be used, the runs are of several datasets, or two of them have the same name.
    """
    called = [name for file in runs if file.exists() for name in tool_measures(_dataset(options, file), file)]
    computed, config = _measures(options.config, [*called, *options.measures]), options.config
    if options.undirected:
        computed = tuple(dict.fromkeys(undirected_form(one) for one in computed))
        config = config.renamed(lambda name: str(undirected_form(parse_measure(name))))
    data: ReportData | None = None
    dataset_problems = Problems(options.on_error, strict=options.strict)
    for file, name in zip_longest(runs, options.names):
        if not file.exists():
            raise InputError("there is no such file", where=str(file), remedy="Check the path and its spelling.")
        own = _dataset(options, file)
        if data is not None and own.questions_file.resolve() != data.dataset.questions_file.resolve():
            raise InputError("the run is of another dataset", where=str(file), remedy="Write a page for each dataset.")
        if data is None:
            title = options.title or f"graphkit: {own.name}"
            data = ReportData(title, own, computed, [], config, options.unordered, options.undirected)
            known = known_from_files(own, computed, dataset_problems)
        of_run = Problems(options.on_error, strict=options.strict)
        of_run.merge(dataset_problems)
        details = spools.enter_context(Spool(DetailsBlock, together=1))
        run = _scored(data, file, name, known, of_run, details, options)
        run.verdicts = verdicts_on(run.evaluation.run, options.verdicts, run.values)
        run.executions = executions_on(run.evaluation.run, options.executions, run.values)
        outdated, run.code_warnings = _without_outdated(run, file)
        run.warnings = (*run.evaluation.warnings, *_own_kind(run, options, file), *outdated)
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


def _scored(
    data: ReportData,
    file: Path,
    name: str | None,
    known: tuple[CommitGraph, dict[str, str]],
    problems: Problems,
    details: Spool[DetailsBlock],
    options: PageOptions,
) -> RunData:
    """Score a run, and put aside what there is to show of each question, in one pass over the files."""
    commits, invalid = known
    rows: list[Row] = []
    run = RunData(details)
    shown = _Details(data, run)
    job = Job(
        data.dataset.questions_file,
        file,
        data.measures,
        commits,
        invalid,
        keep_rows=True,
        describe=partial(_describe, undirected=data.undirected),
        unordered=data.unordered,
        versions=True,
        name=name,
        spelling=GoldSpelling(data.dataset.questions_file),
    )
    result = score_file(job, dataset=data.dataset.name, problems=problems, sink=rows.extend, descriptions=shown.take)
    shown.finish()
    share = known_share(data.dataset, file)
    result = dataclasses.replace(result, rows=tuple(rows), known=share, failed_as=options.failed_as)
    result = result.with_scores(options.scores)
    run.card = score_layers(result, data.config)
    run.values = {row.question: row.values for row in result.rows}
    run.evaluation = dataclasses.replace(result, rows=(), given=())
    return run


def _without_outdated(run: RunData, file: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take verdicts and executions of former answers from a run, as far as they tell; return what to warn of each."""
    told = {one.question for some in run.verdicts.values() for one in some if one.answer_hash} | {*run.executions}
    if not told:
        return (), ()
    now: dict[str, set[str]] = {}
    for _, answer in RecordReader(file, AnswerStruct, Problems("skip")):
        if answer.question_id in told:
            now.setdefault(answer.question_id, set()).add(answer_hash(answer.answer or ""))

    def former(one: Verdict | Execution) -> bool:
        return one.answer_hash is not None and one.answer_hash not in now.get(one.question, ())

    said = [one for some in run.verdicts.values() for one in some]
    executed = [*run.executions.values()]
    run.verdicts = {}
    for one in said:
        if not former(one):
            run.verdicts.setdefault(one.question, []).append(one)
    run.executions = {one.question: one for one in executed if not former(one)}
    return (
        _outdated("verdict on", "graded", [one.question for one in said if former(one)]),
        _outdated("execution of", "executed", [one.question for one in executed if former(one)]),
    )


def _outdated(what: str, done: str, questions: Sequence[str]) -> tuple[str, ...]:
    """Return the warning of what isn't shown since the answers to some questions changed."""
    if not questions:
        return ()
    one = len(questions) == 1
    noun, word = what.split()
    answers = "an answer that has changed since isn't" if one else "answers that changed since aren't"
    names = [*dict.fromkeys(questions)]
    some_names = ", ".join(names[:OUTDATED]) + (", ..." if len(names) > OUTDATED else "")
    return (f"{counted(len(questions), noun)} {word} {answers} shown ({some_names}): have the run {done} again",)


def _own_kind(run: RunData, options: PageOptions, file: Path) -> tuple[str, ...]:
    """Return the warnings where a judge of a run is of the family of the model that answered."""
    said = [verdict for some in run.verdicts.values() for verdict in some]
    given = [score for score in options.scores if score.run == run.evaluation.run]
    told = options.answered_by.get(file)
    answerers = [told] if told is not None else [verdict.answered_by for verdict in said]
    return self_evaluations([*(verdict.model or verdict.judge for verdict in said), *judges_of(given)], answerers)


def _measures(config: Config, more: Sequence[str]) -> tuple[Measure, ...]:
    """Return what is computed: the defaults, what the layers weigh, the two of commits, and what was asked for."""
    return resolve_measures([*DEFAULT_MEASURES, *config.measures(), "Incoherent", "OffPin", *more])


class _Details:
    """Takes what there is to show of one question after the other, and puts it aside in blocks."""

    def __init__(self, data: ReportData, run: RunData) -> None:
        self._data = data
        self._run = run
        self._block: list[str] = []
        self._count = 0

    def take(self, place: int, description: _Description) -> None:
        """Take what :func:`_describe` returned of the question at a place."""
        listed, shown, flags, share, judged = description
        if place >= len(self._data.questions) or not self._data.questions[place]:
            _put(self._data.questions, place, listed, [])
        run = self._run
        _put(run.blocks, place, self._count, -1)
        _put(run.flags, place, flags, 0)
        _put(run.edges_found, place, share, (0, 0))
        _put(run.judged, place, judged, ("undecided", "undecided", STAGES[-1]))
        self._block.append(f'"{place}":{shown}')
        if len(self._block) == BLOCK:
            self.finish()

    def finish(self) -> None:
        """Put what was taken aside."""
        if self._block:
            self._run.details.put(DetailsBlock(self._count, "{" + ",".join(self._block) + "}"))
            self._block, self._count = [], self._count + 1


#: A row of the table, the JSON of what is shown when it is opened, its bits, its edges, and how it was judged.
_Description = tuple[list[Any], str, int, tuple[int, int], tuple[str, str, str]]


def _describe(case: Case, values: Sequence[float | str], invalid: str | None, undirected: bool = False) -> _Description:
    """Return what there is to show of a question: in the table, when it is opened, its bits, edges and outcome."""
    question = case.question
    shown, flags, share = detail(as_gold_has_it(case) if undirected else case, values, invalid)
    judged = _judged(case, invalid, shown)
    if undirected:  # a path that the direction decides isn't right or wrong, and no turn is
        judged = (judged[0], _word(None), judged[2])
        flags &= ~TURN
        shown |= {"words": [], "undecided": shown["undecided"] or NO_DIRECTION}
    listed = [
        visible(question.id),
        visible_text(question.question, LISTED_TEXT),
        visible(question.category or ""),
        question.difficulty or "",
    ]
    return listed, script_json(shown), flags, share, judged  # text is what travels best between processes


def _judged(case: Case, invalid: str | None, shown: dict[str, Any]) -> tuple[str, str, str]:
    """Return how the answer and the path of a question are judged, and the stage that it ended at."""
    judged = outcome(case, invalid)
    stage = judged.stage
    shown["stage"] = [stage.name, visible(stage.reason, CHUNK_TEXT), [visible(node) for node in stage.missing[:CHUNKS]]]
    shown["undecided"] = visible(judged.undecided, CHUNK_TEXT)
    return _word(judged.answer), _word(judged.path), stage.name


def _word(judged: bool | None) -> str:
    return "undecided" if judged is None else "right" if judged else "wrong"


def _put(items: list[Any], place: int, value: Any, empty: Any) -> None:
    while len(items) <= place:
        items.append(empty)
    items[place] = value
