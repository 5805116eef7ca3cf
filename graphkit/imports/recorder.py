"""Converts a logged answer to a record of a run, with the dataset's ids, edge directions and commits."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphkit.files.problems import Problems
from graphkit.files.run_files import second_record
from graphkit.imports.import_report import ImportReport
from graphkit.imports.names import Names
from graphkit.readers.graph_names import is_element_id
from graphkit.readers.json_values import UUID
from graphkit.readers.logged import LoggedAnswer, LoggedChunk, LoggedEdge, LoggedToolCall
from graphkit.records.aliases import LARGEST, LONGEST_NAME, WIDEST
from graphkit.records.arguments import holdable
from graphkit.records.directions import KnowledgeEdges, PlacedEdge, without_names
from graphkit.records.doubts import (
    DRAWN_IDS,
    NAMELESS,
    NO_NAMES,
    ONLY_ELEMENT_IDS,
    ONLY_LISTED,
    OPENED_FILES,
    OTHER_SHOWN,
    UNKNOWN_NAMES,
    UNKNOWN_SHOWN,
    UNKNOWN_WALK,
)
from graphkit.records.ids import Places, id_of_text
from graphkit.records.question_texts import QuestionTexts
from graphkit.records.shapes import forwards
from graphkit.records.words import shortened

#: The reason of answers that are skipped since nothing says what they answer.
NO_QUESTION = "answers that don't name their question"

#: The reason of failed answers that are skipped since the question has another answer.
FAILED_ATTEMPTS = "failed attempts at a question that has another record"

_AMOUNTS = ("latency_ms", "cost")
_COUNTS = ("model_calls", "prompt_tokens", "output_tokens")

#: The ids of a record in the traces of a system, and those of a log.
_TRACED = {"trace_id": "trace", "span_id": "span", "response_id": "response"}


class Questions(QuestionTexts):
    """The questions of a dataset, by their ids and their texts."""

    def __init__(self, places: Places | None = None) -> None:
        super().__init__()
        self.places = Places() if places is None else places
        #: By question, the files whose symbols are in the gold.
        self.files_of_symbols: dict[str, frozenset[str]] = {}
        #: The repositories in the gold.
        self.repositories: set[str] = set()
        #: By session, the question of each turn, and by question its session and its turn.
        self.sessions: dict[str, dict[int, str]] = {}
        self.turns: dict[str, tuple[str, int]] = {}

    def add(
        self, name: str, text: str, gold: Iterable[str] = (), turn: tuple[str | None, int | None] = (None, None)
    ) -> None:
        """Add a question with the ids in its gold, its session and its turn."""
        super().add(name, text)
        if turn[0] is not None and turn[1] is not None:
            super().add(name, _in_session(turn[0], text))
            self.sessions.setdefault(turn[0], {})[turn[1]] = name
            self.turns[name] = turn[0], turn[1]
        places, gold = self.places, list(gold)
        self.repositories |= places.named(gold)
        files = frozenset(places.file_id(one) for one in gold if places.symbol(one) is not None)
        if files:
            self.files_of_symbols[name] = files

    def id_of(self, text: str, after: str | None = None) -> str | None:
        """Return the id of a question by its text, which may be unique only in the session of the one before it."""
        found = super().id_of(text)
        if found is None and after in self.turns:
            return super().id_of(_in_session(self.turns[after][0], text))
        return found

    def of(self, logged: LoggedAnswer) -> tuple[str | None, bool]:
        """Return the id of an answer's question, and whether it was found by the question's text."""
        in_session = self.sessions.get(logged.question or "", {}).get(logged.turn or 0)
        for named in (in_session, logged.question, logged.question_text):  # {"query": "q1"} names it as well
            if named in self.ids:
                return named, False
        found = self.id_of(logged.question_text) if logged.question_text is not None else None
        return found, found is not None


def _in_session(session: str, text: str) -> str:
    """Return what stands for a text of a session among the texts of questions."""
    return f"\0{session}\0 {text}"


class Recorder:
    """Makes records from logged answers, and counts them in a report.

    Parameters
    ----------
    commits
        By repository, the commit that the system read.
    question
        The question of a log with a single answer that doesn't name its question.
    """

    def __init__(
        self,
        run: str,
        questions: Questions,
        names: Names,
        edges: KnowledgeEdges,
        commits: Mapping[str, str],
        report: ImportReport,
        question: str | None = None,
    ) -> None:
        self._run = run
        self.questions = questions
        self._names = names
        self._files = names.of(report.known.files)
        self._edges = edges
        self._places = questions.places
        self._commits = commits
        self._report = report
        self._question = question
        self._answered: set[tuple[str, str | None]] = set()
        #: Whether names in graphkit's own records become ids of the dataset.
        self.renames = True
        #: The records that can't be used.
        self.problems = Problems()
        self._folders: list[str] = []
        self._repository: str | None = None
        self._symbols = False

    def each_question(self, logged: LoggedAnswer) -> list[LoggedAnswer]:
        """Return the answers to the questions that a log asks in one conversation, or the logged answer alone."""
        if self._question or logged.dialogue is None:
            return [logged]
        session = self.questions.sessions.get(logged.question or "")
        return logged.dialogue.each_question(logged, self.questions.id_of, session)

    def record(self, logged: LoggedAnswer) -> dict[str, Any] | None:
        """Return the record of an answer, with only the fields that were logged.

        Return None and count the answer as skipped if the dataset lacks its question, or the question has an answer.
        """
        self._report.fields.update(f"{what} from {key}" for what, key in logged.taken.items())
        question = self._new_question(logged)
        if question is None:
            return None
        record: dict[str, Any] = {"run": self._run, "question_id": question}
        if logged.record is not None:
            self._report.notes.update(dict.fromkeys(logged.notes, 1))
            own = {**logged.record, **record}
            return self._renamed(own, logged) if self.renames else self._count(own)
        self._folders = sorted(logged.folders, key=len)
        self._repository = logged.repository if logged.repository in self.questions.repositories else None
        self._symbols = logged.symbols
        self._add_retrieval(record, logged, self.questions.files_of_symbols.get(question, frozenset()))
        if logged.rankings:
            ranked = {
                level: (self._id(name, logged.where, counted=False, opened=True) for name in names)
                for level, names in logged.rankings.items()
            }
            record["rankings"] = {level: [one for one in its if one is not None] for level, its in ranked.items()}
        if logged.answer is not None:
            record["answer"] = logged.answer
        if logged.citations is not None:
            ids = (self._id(name, logged.where, counted=False) for name in logged.citations)
            record["citations"] = [one for one in ids if one is not None]
        record |= self._figures(logged)
        if logged.error is not None:
            record["error"] = logged.error
            if logged.error_type is not None:
                record["error_type"] = logged.error_type
        traced = {name: getattr(logged, own) for name, own in _TRACED.items()}
        record |= {name: one for name, one in traced.items() if one is not None and len(one) <= LONGEST_NAME}
        if logged.queries is not None:
            record["queries"] = logged.queries
        if logged.tool_calls is not None:
            record["tool_calls"] = [self._tool_call(call, logged.where) for call in logged.tool_calls]
        if logged.seeds is not None:
            record["seeds"] = [seed for one in logged.seeds if (seed := self._seed(one, logged.where))]
        if logged.notes:
            self._report.notes.update(dict.fromkeys(logged.notes, 1))
            record["doubts"] = [note[:LONGEST_NAME] for note in dict.fromkeys(logged.notes)]
        if logged.run is not None:
            self._report.runs[shortened(logged.run)] += 1
        if logged.model is not None:
            self._report.models[shortened(logged.model)] += 1
        return self._count(record)

    def _new_question(self, logged: LoggedAnswer) -> str | None:
        """Return the id of the question, or None if it isn't in the dataset or is answered already."""
        skipped, shown = self._report.skipped, logged.question or logged.question_text
        question, by_text = (self._question, False) if self._question else self.questions.of(logged)
        if question is None and shown:
            skipped.add("answers to no question of the dataset", f"{logged.where}: {shown}")
        elif question is None:
            skipped.add(NO_QUESTION, logged.where)
        elif (question, logged.trial) in self._answered:
            # Which of two records counts is the user's to say; an import reports one that it skips.
            if logged.record is not None and (logged.trial is not None or not self.renames):
                self.problems.add(second_record(logged.where, question, logged.trial))
                return None
            what = "further answers to an answered question" if logged.error is None else FAILED_ATTEMPTS
            skipped.add(what, f"{logged.where}: {question}")
            return None
        else:
            self._answered.add((question, logged.trial))
            if by_text:
                self._report.fields["question found by its text"] += 1
        return question

    def _add_retrieval(self, record: dict[str, Any], logged: LoggedAnswer, files_of_symbols: Collection[str]) -> None:
        """Add the retrieved ids and the traversal to a record."""
        self._take_values(logged)
        self._drop_drawn_ids(logged)
        if logged.retrieved is not None:
            found = [chunk for one in logged.retrieved if (chunk := self._chunk(one, logged.where))]
            if found or not logged.retrieved:  # names that no record can hold aren't an empty search result
                record["retrieved"] = found
        if logged.traversal is not None:
            traversal = self._traversal(logged)
        elif logged.opened is not None:
            traversal = self._opened(logged, record, files_of_symbols)
        else:
            traversal = None
        if traversal is not None:
            record["traversal"] = traversal
            if not logged.ordered:
                record["ordered"] = False

    def _take_values(self, logged: LoggedAnswer) -> None:
        """Add the values of rows that are ids of the dataset to what was retrieved, whatever their columns are called.

        They rank with their row, those of lists and beside edges behind everything.
        """
        names = self._names
        chunks = logged.retrieved or []
        if not logged.values and not any(chunk.values for chunk in chunks):
            return
        found: dict[str, LoggedChunk] = {}
        for chunk in chunks:
            known = [value for value in chunk.values if names.is_id(value)]
            is_named = chunk.is_named and not chunk.by_file
            is_named = is_named and not (is_element_id(chunk.name) and not names.is_id(chunk.name))
            its = [chunk] if is_named or not known else []
            for one in (*its, *(replace(chunk, name=value, is_named=True) for value in known)):
                kept = found.setdefault(one.name, one)
                if one.score is not None and (kept.score is None or one.score > kept.score):
                    kept.score = one.score
        for value in filter(names.is_id, logged.values):
            found.setdefault(value, LoggedChunk(value))
        named = any(chunk.is_named for chunk in found.values())
        if not all(chunk.is_named for chunk in found.values()):
            logged.notes.append(NAMELESS if named else NO_NAMES)
        if named or logged.retrieved is not None:
            logged.retrieved = list(found.values()) if named or not found else None

    def _drop_drawn_ids(self, logged: LoggedAnswer) -> None:
        """Drop what has no other name than an id that a library or a database drew and the dataset doesn't know.

        What remains of a list that was not empty is a list only if it isn't empty.
        """
        if any(is_element_id(one.name) and not self._names.is_id(one.name) for one in logged.seeds or ()):
            logged.seeds = None
        chunks, walks = logged.retrieved or [], logged.traversal or []
        names = (*(chunk.name for chunk in chunks), *_ends_in(walks))
        drawn = {name for name in names if is_element_id(name) or (logged.drawn_ids and UUID.fullmatch(name))}
        unknown = {name for name in drawn if self._names.id_of(name) not in self._names.known}
        if not unknown:
            return
        kept = [chunk for chunk in chunks if chunk.name not in unknown]
        paths = [[edge for edge in path if unknown.isdisjoint((edge.source, edge.target))] for path in walks]
        if any(map(is_element_id, unknown)):
            logged.notes.append(ONLY_ELEMENT_IDS)
        if len(kept) < len(chunks):
            logged.retrieved = kept or None
            if not all(map(is_element_id, unknown)):
                logged.notes.append(DRAWN_IDS)
        if any(walks):
            logged.traversal = [path for path in paths if path] or None

    def _count(self, record: dict[str, Any]) -> dict[str, Any]:
        report = self._report
        report.answers += 1
        walked, retrieved = record.get("traversal"), record.get("retrieved")
        report.rankings += bool(retrieved)
        report.traversals += bool(walked)
        report.found_nothing += retrieved == [] and not walked and "error" not in record
        report.unordered += bool(walked) and not record.get("ordered", True)
        report.with_calls += "tool_calls" in record
        report.failed += "error" in record
        return record

    def _renamed(self, record: dict[str, Any], logged: LoggedAnswer) -> dict[str, Any]:
        """Return a record of graphkit with the dataset's ids, and the direction of edges in walking order."""

        def found(name: str, counted: bool = True) -> str:
            return self._id(name, logged.where, counted=counted) or name

        for chunk in record.get("retrieved", ()):
            chunk["id"] = found(chunk["id"])
            self._report.chunks.add(chunk["id"])
            if (commit := self._commit(chunk["id"])) is not None:
                chunk.setdefault("commit", commit)
        for step in record.get("traversal", ()):
            for end in ("source", "target"):
                step[end] = found(step[end])
                if (commit := self._commit(step[end])) is not None:
                    step.setdefault(f"{end}_commit", commit)
            if step.get("relation") is not None:
                step["relation"] = self._edges.spelled(step["relation"])
            held = self._edges.held(step["source"], step.get("relation"), step["target"])
            either = step.get("directed") is False
            if (logged.walked or either) and held == "reversed":
                ends = (("source", "target"), ("source_commit", "target_commit"))
                step |= {to: step[of] for pair in ends for to, of in (pair, pair[::-1]) if of in step}
                self._report.turned += 1
                held = self._edges.held(step["source"], step.get("relation"), step["target"])
            if either and self._edges.placed(step["source"], step.get("relation"), step["target"], False).directed:
                del step["directed"]
            self._report.directionless += step.get("directed") is False
            self._report.count_edge(step["source"], step.get("relation"), step["target"], held)
        if "citations" in record:
            record["citations"] = [found(name, counted=False) for name in record["citations"]]
        for level, names in record.get("rankings", {}).items():
            record["rankings"][level] = [found(name, counted=False) for name in names]
        for seed in record.get("seeds", ()):
            seed["id"] = found(seed["id"])
            self._report.seeds.add(seed["id"])
        for call in record.get("tool_calls", ()):
            if "seen" in call:
                call["seen"] = list(dict.fromkeys(found(name, counted=False) for name in call["seen"]))
        return self._count(record)

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
                    self._report.skipped.add(f"impossible values of {name}", f"{logged.where}: {value}")
        return figures

    def _chunk(self, chunk: LoggedChunk, where: str) -> dict[str, Any] | None:
        name = chunk.name
        if chunk.text is not None and chunk.text in self._names.known and name == id_of_text(chunk.text):
            name = chunk.text  # a text that is an id of the dataset is one
        name = self._id(name, where) or ""
        if not name:
            return None
        self._report.chunks.add(name)
        record: dict[str, Any] = {"id": name}
        commit = chunk.commit
        if commit is not None and len(commit) > LONGEST_NAME:
            self._report.skipped.add("commits that are too long", f"{where}: {shortened(commit)}")
            commit = None
        if (commit := commit or self._commit(name)) is not None:
            record["commit"] = commit
        if chunk.score is not None and math.isfinite(chunk.score):
            record["score"] = chunk.score
        if chunk.text is not None:
            record["text"] = chunk.text
        return record

    def _seed(self, seed: LoggedChunk, where: str) -> dict[str, Any] | None:
        if (name := self._id(seed.name, where)) is None:
            return None
        self._report.seeds.add(name)
        fields = {"score": seed.score, "mention": seed.text}
        return {"id": name} | {key: value for key, value in fields.items() if value is not None}

    def _tool_call(self, call: LoggedToolCall, where: str) -> dict[str, Any]:
        record: dict[str, Any] = {"name": call.name[:LONGEST_NAME]}
        if len(call.name) > LONGEST_NAME:
            self._report.skipped.add("ends of tool names that are too long", f"{where}: {shortened(call.name)}")
        if call.arguments and holdable(call.arguments):
            record["arguments"] = call.arguments
        elif call.arguments:
            self._report.skipped.add("arguments that no record can hold", f"{where}: {shortened(call.name)}")
        if call.result is not None:
            record["result"] = call.result
        if call.failed:
            record["failed"] = True
        values = list(filter(self._names.is_id, call.values))
        if call.seen is not None or values:
            names = (*(call.seen or ()), *values)
            ids = (self._id(name, where, counted=False, opened=True) for name in names)
            record["seen"] = list(dict.fromkeys(one for one in ids if one is not None))
        return record

    def _traversal(self, logged: LoggedAnswer) -> list[dict[str, Any]] | None:
        """Return the steps of a traversal, or None if it has edges and no record can hold any of them."""
        steps: list[dict[str, Any]] = []
        for number, path in enumerate(logged.traversal or ()):
            found = (step for edge in path for step in self._steps(edge, logged.where))
            for position, step in enumerate(found):
                steps.append({**step, "path": number, "position": position} if logged.ordered else step)
        return steps if steps or not any(logged.traversal or ()) else None

    def _opened(
        self, logged: LoggedAnswer, record: dict[str, Any], files_of_symbols: Collection[str]
    ) -> list[dict[str, Any]] | None:
        """Return the edges that calls walked, or None if they are unknown.

        These are the edges that results show, and the known ones from names that were opened to names that were opened
        later. The opened files become evidence files of the record.
        """
        found = (self._id(name, logged.where, opened=True) for name in logged.opened or ())
        opened = list(dict.fromkeys(one for one in found if one is not None))
        places = self._places
        files = [places.file_id(one) for one in opened if places.path(one) is not None]
        if files or not (opened or logged.unknown_calls or "retrieved" in record):
            ids = (one["id"] for one in record.get("retrieved", ()))
            chunks = (places.file_id(one) for one in ids if places.path(one) is not None)
            record["evidence_files"] = list(dict.fromkeys((*files, *chunks)))
        seen: dict[str, None] = {}
        steps: list[dict[str, Any]] = []
        for name in opened if len(self._edges) else ():
            for placed in self._edges.between(seen, name):
                self._report.edge(placed)
                steps.append(self._written(placed))
            seen[name] = None
        if shown := self._shown(logged):
            logged.ordered = False
            return list({_edge_of(step): step for step in (*shown, *steps)}.values())
        if _by_file(opened, files_of_symbols, places):
            logged.notes.append(OPENED_FILES)
            if not any(places.symbol(step["source"]) and places.symbol(step["target"]) for step in steps):
                return None
        if not len(self._edges):
            return None
        if not steps and (logged.shown or logged.listed):
            logged.notes.append(UNKNOWN_SHOWN if logged.shown else ONLY_LISTED)
            return None
        if not steps and (doubt := self._doubt(logged, opened)):
            logged.notes.append(doubt)
            return None
        if logged.ordered:
            steps = [{**step, "path": 0, "position": position} for position, step in enumerate(steps)]
        return steps

    def _shown(self, logged: LoggedAnswer) -> list[dict[str, Any]]:
        """Return the edges in the results of calls of which the dataset knows an end: others may be no edges of it."""
        known = self._names.known
        edges = [edge for path in logged.shown for edge in path]
        some = [edge for edge in edges if any(self._names.id_of(end) in known for end in (edge.source, edge.target))]
        if some and len(some) < len(edges):
            logged.notes.append(OTHER_SHOWN)
        return [step for edge in some for step in self._steps(edge, logged.where)]

    def _doubt(self, logged: LoggedAnswer, opened: Sequence[str]) -> str | None:
        """Return why a traversal without edges may be unknown, or None if it is truly empty."""
        if logged.unknown_calls:
            return UNKNOWN_WALK
        known = (one in self._names.known or one in self._files.known for one in opened)
        return UNKNOWN_NAMES if opened and not any(known) else None

    def _steps(self, edge: LoggedEdge, where: str) -> Iterator[dict[str, Any]]:
        """Yield the steps of an edge: several if its text names several relations between its ends."""
        source, target = self._id(edge.source, where), self._id(edge.target, where)
        if source is None or target is None:
            return
        relation = edge.relation or None
        if (along := forwards(relation)) is not None:
            source, relation, target = target, along, source
        if relation is not None and len(relation) > LONGEST_NAME:
            self._report.skipped.add("relations that are too long", f"{where}: {shortened(relation)}")
            relation = None
        placed = self._edges.placed(source, relation, target, edge.directed)
        words = without_names(edge.description, (edge.source, edge.target)) if edge.description else ""
        for one in self._edges.named_in(words, placed):
            self._report.edge(one)
            yield self._written(one)

    def _written(self, placed: PlacedEdge) -> dict[str, Any]:
        step: dict[str, Any] = {"source": placed.source, "relation": placed.relation, "target": placed.target}
        step["source_commit"], step["target_commit"] = self._commit(placed.source), self._commit(placed.target)
        step["directed"] = None if placed.directed else False
        return {name: value for name, value in step.items() if value is not None}

    def _commit(self, name: str) -> str | None:
        return self._commits.get(self._places.repo(name) or "") if self._commits else None

    def _id(self, name: str, where: str, counted: bool = True, opened: bool = False) -> str | None:
        """Return the id of a name, or of an opened file; None if no record can hold it."""
        if self._repository is not None and name and self._places.repo(name) is None:
            name = f"{self._repository}:{name}"
        found = name
        if 0 < len(name) <= LONGEST_NAME:
            found = self._opened_name(name) if opened else self._names.id_of(name, self._symbols)
        if not 0 < len(found) <= LONGEST_NAME:
            what = "names that are too long to be ids" if found else "names that are empty"
            self._report.skipped.add(what, f"{where}: {shortened(name)!r}")
            return None
        if counted:
            self._report.ids.setdefault(found, name)
        return found

    def _opened_name(self, name: str) -> str:
        """Return the id of an opened name.

        The name of a file may begin with the working folder of the agent, and the dataset may know only its symbols.
        """
        within = [name.removeprefix(f"{folder}/") for folder in self._folders if name.startswith(f"{folder}/")]
        for names in (self._names, self._files):
            for one in (name, *within):
                if (found := names.id_of(one)) in names.known:
                    if names is self._files:
                        self._report.opened_files.add(found)
                    return found
        return self._names.id_of(name)


def _ends_in(paths: Iterable[Iterable[LoggedEdge]]) -> Iterator[str]:
    """Yield both ends of each edge."""
    return (end for path in paths for edge in path for end in (edge.source, edge.target))


def _edge_of(step: Mapping[str, Any]) -> tuple[Any, ...]:
    return step["source"], step.get("relation"), step["target"]


def _by_file(opened: Sequence[str], files_of_symbols: Collection[str], places: Places) -> bool:
    """Return whether gold names symbols, and the system opened their files, or nothing but files."""
    if not files_of_symbols or not opened:
        return False
    only_files = all(places.path(one) is not None and places.symbol(one) is None for one in opened)
    return only_files or any(one in files_of_symbols for one in opened)
