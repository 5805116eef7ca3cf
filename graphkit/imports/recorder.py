"""What a log says of a question as a record of graphkit: in its fields, with ids, directions and commits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphkit.imports.names import Names
from graphkit.imports.told import Told
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge
from graphkit.records.aliases import LARGEST, LONGEST_NAME, WIDEST
from graphkit.records.directions import KnowledgeEdges, PlacedEdge
from graphkit.records.ids import repo_of
from graphkit.records.words import shortened

_AMOUNTS = ("latency_ms", "cost")
_COUNTS = ("model_calls", "prompt_tokens", "output_tokens")


@dataclass(slots=True)
class Questions:
    """The questions of a dataset: their ids, and the id of each text that only one of them has."""

    ids: set[str] = field(default_factory=set)
    by_text: dict[str, str | None] = field(default_factory=dict)

    def add(self, name: str, text: str) -> None:
        """Add one."""
        self.ids.add(name)
        if self.by_text.setdefault(_plain(text), name) != name:
            self.by_text[_plain(text)] = None

    def of(self, logged: LoggedAnswer) -> tuple[str | None, bool]:
        """Return the id of the question that a log means, and whether it was found by its text."""
        for named in (logged.question, logged.question_text):  # {"query": "q1"} names it as well
            if named in self.ids:
                return named, False
        found = self.by_text.get(_plain(logged.question_text)) if logged.question_text is not None else None
        return found, found is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


class Recorder:
    """Makes records of what logs say, and counts what is worth telling.

    Parameters
    ----------
    commits
        Of a repository, the commit at which the system read it.
    question
        The question of all that is logged, for a log of one that doesn't say it.
    """

    def __init__(
        self,
        run: str,
        questions: Questions,
        names: Names,
        edges: KnowledgeEdges,
        commits: Mapping[str, str],
        told: Told,
        question: str | None = None,
    ) -> None:
        self._run = run
        self.questions = questions
        self._names = names
        self._edges = edges
        self._commits = commits
        self._told = told
        self._question = question
        self._answered: set[str] = set()

    def record(self, logged: LoggedAnswer) -> dict[str, Any] | None:
        """Return the record of an answer, without the fields of which the log says nothing.

        None where its question isn't the dataset's, or has its answer: both are counted.
        """
        told = self._told
        told.taken.update(f"{what} from {key}" for what, key in logged.taken.items())
        question, by_text = (self._question, False) if self._question else self.questions.of(logged)
        shown = logged.question or logged.question_text
        if question is None:
            what = "answers to no question of the dataset" if shown else "answers that don't say their question"
            told.leave_out(what, f"{logged.where}: {shown}" if shown else logged.where)
            return None
        if question in self._answered:
            told.leave_out("further answers to a question that has one", f"{logged.where}: {question}")
            return None
        self._answered.add(question)
        told.notes.update(dict.fromkeys(logged.notes, 1))
        if by_text:
            told.taken["question found by its text"] += 1
        record: dict[str, Any] = {"run": self._run, "question_id": question}
        if logged.retrieved is not None:
            record["retrieved"] = [chunk for one in logged.retrieved if (chunk := self._chunk(one, logged.where))]
            told.rankings += 1
        walk = self._opened(logged) if logged.walk is None else self._walk(logged)
        if walk is not None:
            record["traversal"] = walk
            told.walks += 1
            if not logged.ordered:
                record["ordered"] = False
                told.unordered += 1
        if logged.answer is not None:
            record["answer"] = logged.answer
        if logged.citations is not None:
            ids = (self._id(name, logged.where, counted=False) for name in logged.citations)
            record["citations"] = [one for one in ids if one is not None]
        record |= self._figures(logged)
        if logged.error is not None:
            record["error"] = logged.error
            told.failed += 1
            if logged.error_type is not None:
                record["error_type"] = logged.error_type
        if logged.tool_calls:
            told.unread["tool_calls"] += 1
        if logged.run is not None:
            told.runs[shortened(logged.run)] += 1
        if logged.model is not None:
            told.models[shortened(logged.model)] += 1
        told.answers += 1
        return record

    def _figures(self, logged: LoggedAnswer) -> dict[str, float | int]:
        figures: dict[str, float | int] = {}
        for names, largest in ((_AMOUNTS, WIDEST), (_COUNTS, LARGEST)):
            for name in names:
                value = getattr(logged, name)
                if value is None:
                    continue
                if 0 <= value <= largest:
                    figures[name] = value
                else:
                    self._told.leave_out(f"values of {name} that aren't possible", f"{logged.where}: {value}")
        return figures

    def _chunk(self, chunk: LoggedChunk, where: str) -> dict[str, Any] | None:
        name = self._id(chunk.name, where)
        if name is None:
            return None
        record: dict[str, Any] = {"id": name}
        commit = chunk.commit
        if commit is not None and len(commit) > LONGEST_NAME:
            self._told.leave_out("commits that are too long", f"{where}: {shortened(commit)}")
            commit = None
        if (commit := commit or self._commit(name)) is not None:
            record["commit"] = commit
        if chunk.score is not None and math.isfinite(chunk.score) and abs(chunk.score) <= WIDEST:
            record["score"] = chunk.score
        if chunk.text is not None:
            record["text"] = chunk.text
        return record

    def _walk(self, logged: LoggedAnswer) -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = []
        for number, path in enumerate(logged.walk or ()):
            position = 0
            for edge in path:
                step = self._step(edge, logged.where)
                if step is not None:
                    steps.append({**step, "path": number, "position": position} if logged.ordered else step)
                    position += 1
        return steps

    def _opened(self, logged: LoggedAnswer) -> list[dict[str, Any]] | None:
        """Return the edges between what was opened and what had been opened before; None where none can be known."""
        if logged.opened is None or not len(self._edges):
            return None
        seen: dict[str, None] = {}
        steps: list[dict[str, Any]] = []
        for name in logged.opened:
            found = self._id(name, logged.where)
            if found is None or found in seen:
                continue
            for placed in self._edges.between(seen, found):
                self._told.edge(placed)
                steps.append(self._written(placed))
            seen[found] = None
        if logged.ordered:
            steps = [{**step, "path": 0, "position": position} for position, step in enumerate(steps)]
        return steps

    def _step(self, edge: LoggedEdge, where: str) -> dict[str, Any] | None:
        source, target = self._id(edge.source, where), self._id(edge.target, where)
        if source is None or target is None:
            return None
        relation = edge.relation or None
        if relation is not None and len(relation) > LONGEST_NAME:
            self._told.leave_out("relations that are too long", f"{where}: {shortened(relation)}")
            relation = None
        placed = self._edges.placed(source, relation, target, edge.directed)
        self._told.edge(placed)
        return self._written(placed)

    def _written(self, placed: PlacedEdge) -> dict[str, Any]:
        step = {"source": placed.source, "relation": placed.relation, "target": placed.target}
        step["source_commit"], step["target_commit"] = self._commit(placed.source), self._commit(placed.target)
        return {name: value for name, value in step.items() if value is not None}

    def _commit(self, name: str) -> str | None:
        return self._commits.get(repo_of(name) or "") if self._commits else None

    def _id(self, name: str, where: str, counted: bool = True) -> str | None:
        """Return the id of a name; None where no record can hold it."""
        found = self._names.id_of(name) if 0 < len(name) <= LONGEST_NAME else name
        if not 0 < len(found) <= LONGEST_NAME:
            what = "names that are too long to be ids" if found else "names that are empty"
            self._told.leave_out(what, f"{where}: {shortened(name)!r}")
            return None
        if counted:
            self._told.ids.setdefault(found, name)
        return found
