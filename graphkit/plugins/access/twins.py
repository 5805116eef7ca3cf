"""Noninterference: a system answers alike over the whole graph and over the graph that its principal may read.

A system that follows forbidden edges and drops what it found there at the end shows nothing forbidden, and yet what it
answers depends on it. Asked over both graphs, it differs (Goguen and Meseguer 1982).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from graphkit.errors import GateError, InputError
from graphkit.files.dataset import Dataset
from graphkit.files.jsonl import create_binary, find_file, read_lines
from graphkit.files.leftovers import held_folder
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.plugins.systems.context import Context
from graphkit.plugins.systems.importing import System
from graphkit.plugins.systems.runner import Runner, Task
from graphkit.plugins.systems.session import Session
from graphkit.records.access_rules import Rights
from graphkit.records.models import Answer, Question
from graphkit.records.repetition_names import repetitions_by_name
from graphkit.records.structs import ArtifactStruct, EdgeStruct
from graphkit.records.words import counted, shortened
from graphkit.shards import event_loop

#: How often a system that isn't repeated is asked over each graph: what differs over the same one is chance.
ASKED = 2

#: What an answer shows, in the order in which a difference is looked for.
PARTS = (
    *("walk", "seeds", "calls", "context", "answer", "citations", "decision", "confidence"),
    *("results", "texts", "queries", "scores", "versions"),
)

#: Why a system whose answers are the same is no evidence.
NOT_READ = "it didn't ask for context.dataset when its graph was the second one, so that the two can't be compared"

#: The characters of a text that are shown around a difference.
SHOWN = 200

#: The parts that are one value each.
_SINGLE = ("answer", "decision", "confidence")

S = TypeVar("S", ArtifactStruct, EdgeStruct)

Outcome = Literal["same", "influence", "chance", "nothing"]


@dataclass(frozen=True, slots=True)
class Twin:
    """The outcome of one question of one system over both graphs.

    Attributes
    ----------
    outcome
        ``influence`` if a part of the answers is the same over each graph, but not over both; else ``chance`` if
        answers over the same graph differ; ``nothing`` if all of them failed, show nothing, or show only what varies,
        or if the system didn't read the second graph.
    difference
        The first difference in words, or why nothing can be compared; None if the answers are the same.
    """

    system: str
    question: str
    principal: str
    outcome: Outcome
    difference: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields."""
        return {name: getattr(self, name) for name in ("system", "question", "principal", "outcome", "difference")}


def twins(session: Session) -> list[Twin]:
    """Ask each question of a session that has a principal over both graphs.

    Each repetition of a system (``NAME@1``, ``NAME@2``, ...) is asked once over each, and any other system twice.
    A system reads the graph in the folder ``context.dataset``: of the second one, artifacts and edges that the
    principal may not read are left out, and so is all gold. Nothing is kept.

    Raises
    ------
    InputError
        A file of the graph can't be read, or there is none.
    GateError
        A limit of the session stopped it.
    """
    session.read_stacks()
    asked = [one for one in session.plan.questions if one.principal is not None]
    if asked and not session.dataset.graphs:
        what = "the dataset has no knowledge graph of which a principal could read a part only"
        raise InputError(what, where=str(session.dataset.folder), remedy="Add edges.jsonl: see docs/data.md.")
    found = []
    for principal in dict.fromkeys(str(one.principal) for one in asked):
        some = [one for one in asked if one.principal == principal]
        with _cut(session.dataset, session.plan.dataset, session.dataset.access.of(principal)) as (folder, cut):
            if not cut:
                session.notify(f"note: {principal!r} may read the whole graph: both are the same")
            whole, part = (_answers(session, some, place) for place in (session.dataset.folder, folder))
        if session.budget is not None and session.budget.stopped:
            what = f"stopped by {session.budget.stopped} before each question was asked over both graphs"
            raise GateError(what, remedy="Raise the limit, or ask fewer questions by --where or --sample.")
        for key, answers in whole.answers.items():
            outcome, difference = compared(answers, part.answers[key])
            if outcome in ("same", "chance") and key not in part.read:
                outcome, difference = "nothing", NOT_READ
            found.append(Twin(*key, principal, outcome, difference))
    return found


def compared(whole: Sequence[Answer], part: Sequence[Answer]) -> tuple[Outcome, str | None]:
    """Return whether answers over the whole graph and over a part of it differ, and where first.

    Each part of an answer is compared by itself: words that differ by chance hide no walk that doesn't.
    """
    sides = [[*map(_shown, side)] for side in (whole, part)]
    if all(one.error is not None for one in (*whole, *part)):
        return "nothing", f"every answer over both graphs failed ({whole[0].error_type or 'an error'})"
    shown_at_all = [name for name in PARTS if any(one[name] for side in sides for one in side)]
    if not shown_at_all:
        return "nothing", "no answer over either graph shows anything"
    # What failed shows nothing else, so that this is said first.
    names = sorted(PARTS, key=lambda name: name != "answer") if any(one.error for one in (*whole, *part)) else PARTS
    steady = [name for name in names if all(one[name] == side[0][name] for side in sides for one in side)]
    difference = next(_differences(sides[0][0], sides[1][0], steady), None)
    if difference is not None:
        return "influence", difference
    if not any(name in steady for name in shown_at_all):
        return "nothing", "all that it shows varies over the same graph, so that any difference may be chance"
    if len(steady) < len(PARTS):
        return "chance", "it answers the same question over the same graph in several ways"
    return "same", None


def _shown(answer: Answer) -> dict[str, list[str]]:
    """Return what an answer shows, each part as texts."""
    if answer.error is not None:
        return {**{name: [] for name in PARTS}, "answer": [f"failed ({answer.error_type or 'an error'})"]}
    steps = sorted(answer.traversal or (), key=lambda one: (one.path, one.position or 0))
    calls, chunks, seeds = answer.tool_calls or (), answer.retrieved or (), answer.seeds or ()
    return {
        "walk": [f"{one.source} -{one.relation or ''}-> {one.target}" for one in steps],
        "seeds": [one.id for one in seeds],
        "calls": [node for call in calls for node in call.seen or ()],
        "context": [*(one.id for one in chunks), *chain.from_iterable(answer.rankings.values())],
        "answer": [answer.answer] if answer.answer and answer.answer.strip() else [],
        "citations": [*answer.citations, *(answer.evidence_files or ())],
        "decision": [] if answer.abstained is None else ["declined" if answer.abstained else "answered"],
        "confidence": [] if answer.confidence is None else [str(answer.confidence)],
        "results": [
            f"{call.name} {_json(call.arguments)}: {'failed ' if call.failed else ''}{call.result or ''}"
            for call in calls
        ],
        "texts": [one.text for one in chunks if one.text],
        "queries": [f"{one.cypher} {_json(one.parameters)}: {_json(one.rows)}" for one in answer.queries or ()],
        "scores": [
            *(f"{one.id} {one.score}" for one in chunks if one.score is not None),
            *(f"{one.id} {one.score}" for one in seeds if one.score is not None),
        ],
        "versions": [
            *(f"{node} at {name}" for one in steps for node, name in _ends_at(one) if name),
            *(f"{one.id} at {one.commit}" for one in chunks if one.commit),
        ],
    }


def _ends_at(step: Any) -> tuple[tuple[str, str | None], ...]:
    return (step.source, step.source_commit), (step.target, step.target_commit)


def _apart(one: str, two: str) -> tuple[str, str]:
    """Return two texts cut around their first difference, if they are long."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
    first = max(0, same - SHOWN // 2) if max(len(one), len(two)) > SHOWN else 0
    here, there = (("…" if first else "") + shortened(text[first:], SHOWN) for text in (one, two))
    return here, there


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value, order="sorted").decode()


def _differences(whole: dict[str, list[str]], part: dict[str, list[str]], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        for place in range(max(len(whole[name]), len(part[name]))):
            here, there = (some[name][place] if place < len(some[name]) else "nothing" for some in (whole, part))
            if here != there:
                here, there = _apart(here, there)
                where = name if name in _SINGLE else f"{name}, place {place + 1}"
                yield f"{where}: {here} over the whole graph, {there} without what is forbidden"


@dataclass
class _TwinAnswers:
    """The answers of each system to each question over one graph, and which of them read its folder."""

    answers: dict[tuple[str, str], list[Answer]]
    read: set[tuple[str, str]] = field(default_factory=set)


@dataclass
class _Watched(Context):
    """A context that notes when a system asks for the folder of the dataset."""

    note: Callable[[], None] = lambda: None

    def __getattribute__(self, name: str) -> Any:
        if name == "dataset":
            object.__getattribute__(self, "note")()
        return object.__getattribute__(self, name)


def _answers(session: Session, questions: Sequence[Question], folder: Path) -> _TwinAnswers:
    """Return the answers of each system to each question, those of its repetitions together."""
    names = {one.name: one.name for one in session.systems}
    repeated = repetitions_by_name(names)
    names |= {run: name for name, runs in repeated.items() for run in runs}
    found = _TwinAnswers(
        {(system, question.id): [] for system in dict.fromkeys(names.values()) for question in questions}
    )

    made: dict[tuple[str, str], Answer] = {}
    begin = None if session.budget is None else session.budget.begin

    def keep(job: Task, answer: Answer) -> None:
        made[job.system.name, job.question.id] = answer
        if session.budget is not None:
            session.budget.end(job.system.name, job.question.id, answer)
        found.answers[names[job.system.name], job.question.id].append(answer)

    def task(system: System, question: Question) -> Task:
        def context() -> Context:
            one = session.context(question, system.name, lambda earlier: made.get((system.name, earlier)))
            note = partial(found.read.add, (names[system.name], question.id))
            return _Watched(folder, one.run, one.commits, one.k, one.history, note=note)

        return Task(system, question, context)

    for time in range(ASKED):
        asked = [one for one in session.systems if not time or names[one.name] not in repeated]
        jobs = [task(system, question) for question in questions for system in asked]
        event_loop.run(Runner(keep, session.limits, session.prices, Problems(), begin).run(jobs))
    return found


@contextmanager
def _cut(dataset: Dataset, questions: Iterable[Question], rights: Rights) -> Iterator[tuple[Path, int]]:
    """Make a dataset with what a principal may read of another one, and its questions without gold.

    The folder is yielded, and the number of the records that it lacks.
    """
    problems, cut = Problems(), 0
    with held_folder() as made:
        folder = made / dataset.name
        folder.mkdir()
        for artifacts, edges in dataset.graphs.values():
            if artifacts is not None:
                cut += _copy(artifacts, folder, ArtifactStruct, lambda one: rights.may_read(one.id, one.repo), problems)
            if edges is not None:
                cut += _copy(edges, folder, EdgeStruct, lambda one: rights.may_follow(*_ends(one)), problems)
        problems.raise_if_refused()
        for kind in ("commits", "compatibility"):
            if (path := find_file(dataset.folder, kind)) is not None:
                (folder / path.name).write_bytes(path.read_bytes())
        asked = (one.model_dump(exclude_defaults=True) for one in questions)
        (folder / "questions.jsonl").write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in asked))
        yield folder, cut


def _copy(file: Path, folder: Path, kind: type[S], keeps: Callable[[S], bool], problems: Problems) -> int:
    """Copy the lines of the records that are kept as they are, with fields that only the system knows.

    Return how many are left out.
    """
    cut = 0
    with create_binary(folder / file.name) as stream:
        for _, line, record in RecordReader(file, kind, problems).parsed(read_lines(file)):
            if record is not None and keeps(record):
                stream.write(line + b"\n")
            else:
                cut += 1
    return cut


def _ends(edge: Any) -> tuple[str, str, str]:
    return edge.source, edge.relation, edge.target


def twins_in_words(found: Sequence[Twin]) -> list[str]:
    """Return a line for each question that isn't the same over both graphs, and one for each system."""
    lines = []
    for one in found:
        if one.outcome == "influence":
            lines.append(f"influence  {one.system} {one.question}: {one.difference}")
        elif one.outcome == "chance":
            lines.append(f"chance     {one.system} {one.question}: {one.difference}; nothing follows from it")
        elif one.outcome == "nothing":
            lines.append(f"nothing    {one.system} {one.question}: {one.difference}")
    for system in dict.fromkeys(one.system for one in found):
        own = [one for one in found if one.system == system]
        counts = {kind: sum(one.outcome == kind for one in own) for kind in ("same", "influence", "chance", "nothing")}
        lines.append(
            f"{system}: {counted(len(own), 'question')} over both graphs, {counts['same']} the same, "
            f"{counts['influence']} influenced by what is forbidden, {counts['chance']} by chance"
            + (f", {counts['nothing']} without anything to compare" if counts["nothing"] else "")
        )
    return lines
