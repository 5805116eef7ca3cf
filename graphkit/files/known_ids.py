"""Counts of the ids and edges of a log that a dataset knows, and the usual cause of a low count."""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal
from unicodedata import normalize

from graphkit.files.dataset import Dataset
from graphkit.files.problems import Problems
from graphkit.files.reading import RecordReader
from graphkit.records.directions import Held, KnowledgeEdges
from graphkit.records.ids import Places
from graphkit.records.structs import ArtifactStruct, EdgeStruct, QuestionStruct
from graphkit.records.words import counted, shortened

#: A smaller known share of the ids or edges leads to a warning about its usual cause.
HARDLY = 0.1

#: Where larger shares of the edges point along the graph and against it, neither is a mistake of the whole log.
_MIXED = 0.2

#: The fewest ids none of which is known by chance.
_SOME = 3

#: How similar the nearest name is at least, from 0 to 1; among how many others, and for how many names, it is sought.
NEAR = 0.6
_OTHERS = 10_000
_SOUGHT = 20

_ELEMENT_ID = re.compile(r"\d+:[0-9a-fA-F-]{36}:\d+")


@dataclass
class Known:
    """The ids that a dataset knows from gold, artifacts and edges, and the kinds of its files."""

    gold: set[str] = field(default_factory=set)
    artifacts: set[str] = field(default_factory=set)
    edges: set[str] = field(default_factory=set)
    has_artifacts: bool = False
    has_edges: bool = False
    expects_files: bool = False
    places: Places = field(default_factory=Places)

    def all(self) -> set[str]:
        """Return all of them."""
        return self.gold | self.artifacts | self.edges

    @cached_property
    def files(self) -> set[str]:
        """The files of known symbols that aren't known themselves."""
        every = self.all()
        return {self.places.file_id(one) for one in every} - every


def gold_ids(question: QuestionStruct) -> Iterator[str]:
    """Yield the ids of a question's gold."""
    yield from question.relevant
    yield from question.seeds
    for evidence in question.evidence_sets:
        yield from evidence
    for path in (*question.paths, *question.withheld):
        for step in path.steps:
            yield from (step.source, step.target)


def read_known(
    dataset: Dataset, questions: Iterable[QuestionStruct], wanted: Collection[str] | None = None
) -> tuple[Known, KnowledgeEdges]:
    """Return the ids that a dataset knows, and its knowledge graph's edges.

    It skips unusable records, which loading and scoring the dataset report.

    Parameters
    ----------
    questions
        The questions of the dataset.
    wanted
        The ids to look for; only they and the edges between them are kept, so that memory stays small.
    """
    problems, known = Problems("skip"), Known(places=dataset.places())

    kept: Callable[[str], bool] = wanted.__contains__ if wanted is not None else lambda _: True

    for question in questions:
        known.gold.update(filter(kept, gold_ids(question)))
        known.expects_files = known.expects_files or bool(question.expected_files)
    for artifacts_file, _ in dataset.graphs.values():
        if artifacts_file is not None:
            known.has_artifacts = True
            artifacts = RecordReader(artifacts_file, ArtifactStruct, problems)
            known.artifacts.update(artifact.id for _, artifact in artifacts if kept(artifact.id))

    def edges() -> Iterator[EdgeStruct]:
        for _, edges_file in dataset.graphs.values():
            for edge in dataset.edges(edges_file, problems) if edges_file is not None else ():
                known.has_edges = True
                ends = [end for end in (edge.source, edge.target) if kept(end)]
                known.edges.update(ends)
                if len(ends) == 2:
                    yield edge

    return known, KnowledgeEdges(edges())


def closest(name: str, known: Collection[str], cutoff: float = 0.0) -> str | None:
    """Return the known id that is most similar to a name: one with the same end, else one with similar letters.

    None if none is as similar as ``cutoff``, from 0 to 1.
    """
    import difflib

    last, letters = _last_word(name), name.casefold()

    def likeness(one: str) -> float:
        return difflib.SequenceMatcher(None, letters, one.casefold()).ratio()

    alike = [one for one in known if last and one.casefold().endswith(last)]
    candidates = heapq.nsmallest(500, alike or known, key=lambda one: (abs(len(one) - len(name)), one))
    found = max(candidates, key=likeness, default=None)
    return found if found is not None and likeness(found) >= cutoff else None


def _last_word(name: str) -> str:
    """Return the last word of a name in lower case, by which similar names are found first."""
    return re.split(r"\W+", name.strip())[-1].casefold() if re.search(r"\w", name) else ""


def nearest(names: Collection[str], dataset: Dataset) -> dict[str, str | None]:
    """Return the id of a dataset's knowledge graphs that is nearest to each of some names; None if none is near.

    Of large graphs, only ids with the last word of a name, and a share of the others, stay in memory.
    """
    problems = Problems("skip")
    ends = {_last_word(name) for name in names}
    near: dict[str, None] = {}
    others: dict[str, None] = {}

    def ids() -> Iterator[str]:
        for artifacts, edges in dataset.graphs.values():
            if artifacts is not None:
                yield from (one.id for _, one in RecordReader(artifacts, ArtifactStruct, problems))
            elif edges is not None:
                yield from (
                    end for _, one in RecordReader(edges, EdgeStruct, problems) for end in (one.source, one.target)
                )

    for one in ids():
        if _last_word(one) in ends:
            near[one] = None
        elif len(others) < _OTHERS:
            others[one] = None
    known = [*near, *others]
    return {name: closest(name, known, NEAR) for name in list(names)[:_SOUGHT]}


@dataclass(frozen=True, slots=True)
class Meaning:
    """The usual cause if a dataset knows hardly any id.

    Attributes
    ----------
    of
        The kind of the unknown things: ids or edges.
    what, why
        The finding, and its usual cause with an example and the remedy.
    """

    of: Literal["ids", "chunks", "seeds", "edges"]
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(slots=True)
class LogCoverage:
    """The ids and edges in a log, and the share of them that the dataset knows.

    Attributes
    ----------
    ids
        The distinct ids of the records, each with its name in the log.
    chunks, seeds, ends
        The ids of retrieved chunks, those that questions were linked to, and those of the ends of edges.
    held
        The number of edges that the knowledge graph holds forward, reversed, by another relation, or not at all.
    untyped
        The number of those that lie forward but for their relation, which they don't name.
    between
        The number of edges both of whose ends are known.
    example
        The first edge of each of these.
    opened_files
        Opened files of which the dataset knows only symbols; they count as known.
    """

    known: Known
    ids: dict[str, str] = field(default_factory=dict)
    chunks: set[str] = field(default_factory=set)
    seeds: set[str] = field(default_factory=set)
    ends: set[str] = field(default_factory=set)
    held: Counter[str] = field(default_factory=Counter)
    untyped: int = 0
    between: int = 0
    example: dict[str, str] = field(default_factory=dict)
    opened_files: set[str] = field(default_factory=set)

    def count_edge(self, source: str, relation: str | None, target: str, held: Held) -> None:
        """Count an edge."""
        self.held[held] += 1
        self.between += self._knows(source) and self._knows(target)
        self.untyped += held == "forward" and relation is None
        self.ends |= {source, target}
        self.example.setdefault(held, f"{source} -{relation or ''}-> {target}")

    def known_ids(self) -> dict[str, int]:
        """Return the number of known distinct ids, in total and by source; an id may have several sources."""
        known = self.known
        parts = {"gold": known.gold, "artifacts": known.artifacts, "edges": known.edges}
        counts = {name: sum(one in part for one in self.ids) for name, part in parts.items()}
        return {"all": len(self.ids), "known": sum(map(self._knows, self.ids)), **counts}

    def _knows(self, one: str) -> bool:
        known = self.known
        return one in known.gold or one in known.artifacts or one in known.edges or one in self.opened_files

    def known_edges(self) -> dict[str, int]:
        """Return the number of edges that the knowledge graph holds in each way, and of untyped ones, if any."""
        found = {name: self.held[name] for name in ("forward", "reversed", "other", "unknown")}
        return found | ({"untyped": self.untyped} if self.untyped else {})

    def id_line(self) -> str:
        """Return the number of known ids in words; an empty text if there are no ids."""
        if not self.ids:
            return ""
        counts = self.known_ids()
        parts = ", ".join(f"{name} {counts[name]}" for name in ("gold", "artifacts", "edges"))
        ids = f"{counted(counts['all'], 'id')} {'is' if counts['all'] == 1 else 'are'}"
        return f"{counts['known']} of {ids} known ({parts})"

    def edge_line(self) -> str:
        """Return how the knowledge graph holds the edges, in words; an empty text if there are no edges."""
        if not (total := self.held.total()):
            return ""
        if not self.known.has_edges:
            return f"{counted(total, 'edge')}: the dataset has no edges to compare them with"
        held = self.held
        untyped = f" ({self.untyped} untyped: compared without their relation)" if self.untyped else ""
        return (
            f"edges: {held['forward']} forward{untyped}, {held['reversed']} reversed, "
            f"{held['other']} by another relation, {held['unknown']} not in the knowledge graph"
        )

    def meaning(
        self, every: Callable[[], Collection[str]], fewest: int = 1, command: str | None = None
    ) -> Meaning | None:
        """Return the usual cause if hardly anything is known; None if enough is.

        Parameters
        ----------
        every
            Returns all ids of the dataset, to find the closest one.
        fewest
            With fewer ids, or edges, nothing is concluded, unless none of three ids is known to a dataset with a graph.
        command
            The command that reads the records again with a table of ids, ``ids.jsonl``. None during an import, which
            accepts the table itself.
        """
        known = self.known
        if known.expects_files and not (known.has_artifacts or known.has_edges or every()):
            return None  # gold of files alone has no ids to compare a run with
        if self._hardly_known(self.ids, fewest):
            return self._strange_ids("ids", "hardly an id is known", self.ids, every(), command)
        # Chunks, seeds or ends alone may have ids of another form; the known ids of the others don't help them.
        if self._hardly_known(self.chunks, fewest):
            return self._strange_ids(
                "chunks", "hardly an id that was retrieved is known", self.chunks, every(), command
            )
        if self._hardly_known(self.seeds, fewest):
            what = "hardly an id that questions were linked to is known"
            return self._strange_ids("seeds", what, self.seeds, every(), command)
        if self._hardly_known(self.ends, fewest):
            what = "hardly an end of the traversed edges is known"
            return self._strange_ids("edges", what, self.ends, every(), command)
        edges = self.held.total()
        if not self.known.has_edges or edges < fewest:
            return None
        if self.held["reversed"] > edges * _MIXED and self.held["forward"] > edges * _MIXED:
            what = f"{counted(self.held['forward'], 'edge')} along the graph, {self.held['reversed']} against it"
            such = f"the walk may stand in the order in which it was walked, as in {self._shown('reversed')}"
            remedy = "write ~ before the relation of each that was walked backwards"
            remedy += ", or let `graphkit import graphkit` turn lists of triples" * (command is not None)
            return Meaning("edges", what, f"{such}; {remedy}")
        if self.held["reversed"] > edges / 2:
            what = f"source and target may be swapped, as in {self._shown('reversed')}"
            remedy = "write them the other way round"
            remedy += " (`graphkit import --columns target,relation,source`)" * (command is None)
            return Meaning("edges", "most edges point the other way", f"{what}; {remedy}")
        if self.held["forward"] >= HARDLY * edges:
            return None
        if self.held["other"] > edges / 2:
            what = "most edges have another relation in the knowledge graph, as in"
            remedy = "check what the log calls a relation"
            return Meaning("edges", "hardly an edge is right", f"{what} {self._shown('other')}; {remedy}")
        held = "unknown" if self.held["unknown"] else "other"
        if self.between < edges:
            what = f"both ends are known of {self.between} of {counted(edges, 'edge')}, as in {self._shown(held)}"
            return Meaning("edges", "hardly an edge is known", f"{what}; give a table of the others, --ids")
        what = f"their ends are known, but not what lies between, as in {self._shown(held)}"
        return Meaning("edges", "hardly an edge is known", f"{what}; check that the log is of this graph")

    def _hardly_known(self, ids: Collection[str], fewest: int) -> bool:
        """Return whether hardly any of enough ids is known. Gold is only a part of what a system may rightly find."""
        whole = self.known.has_artifacts or self.known.has_edges
        if len(ids) < max(fewest, 1):
            # Of a few names of a graph that is known, one at least is known if they have its form.
            return whole and len(ids) >= _SOME and not any(map(self._knows, ids))
        known = sum(map(self._knows, ids))
        if not whole:
            return not known
        return known < HARDLY * len(ids)

    def _shown(self, held: str) -> str:
        return shortened(self.example[held], 300)

    def _strange_ids(
        self,
        of: Literal["ids", "chunks", "seeds", "edges"],
        what: str,
        ids: Collection[str],
        every: Collection[str],
        command: str | None,
    ) -> Meaning:
        if not every:
            why = "the dataset has neither gold nor artifacts nor edges; check --dataset"
            return Meaning("ids", "no id is known", why)
        one, name = next((one, name) for one, name in self.ids.items() if one in ids and one not in every)
        near = closest(one, every)
        such = f", where the dataset has such as {shortened(near)!r}" if near is not None else ""
        if near is not None and normalize("NFC", name) == normalize("NFC", near):
            such = f", where the dataset has {shortened(near)!a}"
            example = f"as {shortened(name)!a}{such}"
        else:
            example = f"as {shortened(name)!r}{such}"
        table = _table(name, near or "repo:path#symbol", command)
        for test, form, remedy in _FORMS:
            if test(name, near or ""):
                return Meaning(of, what, f"{form}, {example}; {remedy.format(table=table)}")
        return Meaning(of, what, f"they have another form, {example}; {table}, or check --dataset")


def _table(name: str, near: str, command: str | None) -> str:
    """Return how to give a table of ids, with an example of its lines."""
    line = json.dumps({"name": name, "id": near}, ensure_ascii=False)
    if command is None:
        return "give `graphkit import` --ids FILE or --id-pattern"
    return f"write lines such as {line} to ids.jsonl and run `{command}` (or give --id-pattern)"


def _is_digest(name: str) -> bool:
    return bool(re.search(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", name.casefold()))


#: The usual kinds of unknown ids, recognised by one of them and the closest id of the dataset.
_FORMS: tuple[tuple[Callable[[str, str], bool], str, str], ...] = (
    (
        lambda name, _: bool(_ELEMENT_ID.fullmatch(name)),
        "these are elementIds of Neo4j, which another database gives to other nodes",
        "let the query return a property that names the node, or {table}",
    ),
    (
        lambda name, near: name != near and normalize("NFC", name) == normalize("NFC", near),
        "they differ in Unicode normalisation, which no eye sees",
        "write both in one normalisation (NFC)",
    ),
    (
        lambda name, near: name.casefold() == near.casefold(),
        "they differ in letter case",
        "write them as the dataset does, or {table}",
    ),
    (
        lambda name, _: _is_digest(name),
        "these are ids that the system made for its own chunks",
        "keep the node's name in the chunk's metadata, or {table}",
    ),
    (
        lambda name, _: len(name) > 200 or "\n" in name,
        "these are texts, and no names",
        "let the log keep the node's name",
    ),
)
