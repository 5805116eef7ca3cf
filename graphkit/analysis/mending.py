"""What to mend first: the places where runs miss required edges, by the questions that miss nothing elsewhere.

A place is a single edge, the boundary between two repositories, or a relation. Mending a place completes the paths of
the questions that miss nothing else, so the place that completes most of them comes first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from graphkit.analysis.broken_edges import (
    NOT_LINKED,
    Kind,
    QuestionEdges,
    RowKey,
    boundary_key,
    place_name,
    relation_key,
    single_edge,
)
from graphkit.measures.matching import Edge
from graphkit.measures.seeds import LostEdge
from graphkit.records.ids import Places, distinct_names
from graphkit.records.words import counted
from graphkit.scoring.results import Evaluation

if TYPE_CHECKING:
    from graphkit.database.store import Store

#: How many places are named.
NAMED = 3

#: The share of all missed edges above which a relation is no place: it would say where nearly everything is.
_MOST = 0.5

#: The kinds of places, the finest first: of equals it is named.
_KINDS: tuple[Kind, ...] = ("edge", "boundary", "relation")

#: The required edges that each question of a run misses; a question that isn't scored has none.
Missed = Mapping[str, Sequence[Edge]]

#: Those of them that each question misses since it wasn't linked to the start of the path.
Lost = Mapping[str, Sequence[LostEdge]]


@dataclass(frozen=True, slots=True)
class MendingPlace:
    """A place to mend.

    Attributes
    ----------
    kind, names
        As in :data:`~graphkit.analysis.broken_edges.RowKey`.
    missed
        How many required edges the runs miss there; an edge counts once for each question of each run.
    questions, alone
        For each run, the questions that miss an edge there, and those of them that miss none elsewhere.
    label
        Its name, with nodes by the shortest names that tell those of the places apart.
    unlinked, namesakes
        How many answers miss an edge there since the question wasn't linked to the start of the path, and how many of
        them since it was linked to a namesake.
    """

    kind: Kind
    names: tuple[str, ...]
    missed: int
    questions: tuple[tuple[str, ...], ...]
    alone: tuple[tuple[str, ...], ...]
    label: str = ""
    unlinked: int = 0
    namesakes: int = 0

    @property
    def key(self) -> RowKey:
        """Its kind and names."""
        return self.kind, self.names

    @property
    def name(self) -> str:
        """The boundary, the relation or the edge in words."""
        return place_name(self.kind, self.names)

    @property
    def suffix(self) -> str:
        """The word that follows its label in a sentence."""
        return " edges" if self.kind == "relation" else ""

    @property
    def counts(self) -> str:
        """How many questions miss edges there, miss nothing else, and weren't linked to the start of the path.

        Over several runs it counts answers: those of each run to a question.
        """
        answers, alone = sum(map(len, self.questions)), sum(map(len, self.alone))
        who = counted(answers, "question")
        if len(self.questions) > 1:
            asked, runs = {name for some in self.questions for name in some}, sum(map(bool, self.questions))
            who = f"{counted(answers, 'answer')} of {counted(runs, 'run')} to {counted(len(asked), 'question')}"
        what = "it" if self.kind == "edge" else f"{counted(self.missed, 'required edge')} there"
        text = f"{who} {'misses' if answers == 1 else 'miss'} {what}"
        if answers == 1:
            text += f" and {'nothing else' if alone else 'others'}"
        elif not alone:
            text += "; each of them misses others, too"
        else:
            text += f"; {alone} of them {'misses' if alone == 1 else 'miss'} nothing else"
        of = f"for {self.unlinked} of them " if answers > 1 else ""
        many = f"{self.namesakes} " if self.unlinked > 1 else ""
        namesakes = f" ({many}linked to a namesake)" if self.namesakes else ""
        return text + (f"; {of}{NOT_LINKED}{namesakes}" if self.unlinked else "")

    @property
    def sentence(self) -> str:
        """The place with its counts."""
        return f"{self.label}{self.suffix}: {self.counts}"


def missed_by_question(names: Sequence[str], run: Iterable[QuestionEdges | None]) -> dict[str, list[Edge]]:
    """Return the edges that each question of a run misses; ``names`` are the ids of the questions, in their order."""
    found = {}
    for name, one in zip(names, run, strict=True):
        if one is not None and not one.left_out:
            found[name] = [
                (count.names[0], count.names[1] or None, count.names[2])
                for count in one.counts
                if count.kind == "edge" and not count.walked
            ]
    return found


def to_mend(results: Sequence[Evaluation]) -> tuple[MendingPlace, ...]:
    """Return the first places to mend of the results of runs of one dataset, by :func:`first_to_mend`.

    There are none if the rows don't hold the missed edges: without outcomes, where edges have a direction.
    """
    runs: list[dict[str, Sequence[Edge]]] = []
    for result in results:
        runs.append({row.question: row.missed for row in result.rows if row.missed is not None})
        judged = [one for one in result.outcomes() if one.path is not None]
        if any(len(one.missed) != one.missed_edges for one in judged):
            return ()
        runs[-1].update({one.stage.question: one.missed for one in judged})
    lost = [{row.question: row.unlinked for row in result.rows} for result in results]
    return first_to_mend(runs, results[0].places, lost=lost) if results else ()


def mending_in_graph(store: Store, run: str) -> tuple[MendingPlace, ...]:
    """Return the first places to mend of a run in the graph, of the questions that it stores."""
    # Scoring from files loads no code of the graph.
    from graphkit.graph.failures import failures
    from graphkit.graph.knowledge import known_places
    from graphkit.graph.known_names import require_run

    starts = {(row["question"], row["path"]): bool(row["namesake"]) for row in failures(store, run, "not-linked")}
    missed: dict[str, dict[Edge, None]] = {}
    lost: dict[str, list[LostEdge]] = {}
    for row in failures(store, run, "missed-edges"):
        question, relation = str(row["question"]), None if row["relation"] is None else str(row["relation"])
        edge = str(row["source"]), relation, str(row["target"])
        missed.setdefault(question, {})[edge] = None
        if (namesake := starts.get((question, row["path"]))) is not None:
            lost.setdefault(question, []).append(LostEdge(edge, namesake))
    places = known_places(store, str(require_run(store, run)["dataset"]))
    return first_to_mend([{question: [*edges] for question, edges in missed.items()}], places, lost=[lost])


def first_to_mend(
    runs: Sequence[Missed], places: Places, most: int = NAMED, lost: Sequence[Lost] = ()
) -> tuple[MendingPlace, ...]:
    """Return the places whose mending completes the paths of most questions, the best first.

    The number of answers that a place would complete decides, then that of their questions, then how many answers miss
    an edge there, then the finer kind. Behind a place only answers count that it wouldn't complete, and edges in it and
    what holds it are left out. A relation that more than half of all missed edges have is no place.

    Parameters
    ----------
    runs
        The missed edges of each run. All runs have the same questions.
    places
        The repositories of the nodes.
    lost
        For each run, those of the missed edges that it misses since a question wasn't linked to the start of a path.
    """
    found = _places(runs, places)
    total = sum(one.missed for one in found.values() if one.kind == "edge")
    rest = [one for one in found.values() if one.kind != "relation" or one.missed <= _MOST * total]
    chosen: list[MendingPlace] = []
    complete: set[tuple[int, str]] = set()
    rest.sort(key=lambda one: -sum(map(len, one.alone)))
    while len(chosen) < most:
        first: tuple[_PlaceRank, MendingPlace] | None = None
        for one in rest:
            if first is not None and -sum(map(len, one.alone)) > first[0].alone:
                break  # neither this place nor a later one can complete as many
            rank = _rank(one, complete)
            if first is None or rank < first[0]:
                first = rank, one
        if first is None or not first[0].answers:
            break
        best = first[1]
        chosen.append(best)
        complete |= _answers(best.alone)
        rest = [one for one in rest if one is not best and not _overlap(one, best, places)]
    return _labelled([_with_starts(one, lost, places) for one in chosen], places)


def _with_starts(place: MendingPlace, lost: Sequence[Lost], places: Places) -> MendingPlace:
    """Return a place with the number of answers that miss an edge there for the start of a path."""
    every = (edges for run in lost for edges in run.values())
    there = [[one.namesake for one in edges if place.key in _keys(one.edge, places)] for edges in every]
    return replace(place, unlinked=sum(map(bool, there)), namesakes=sum(map(any, there)))


def _labelled(chosen: Sequence[MendingPlace], places: Places) -> tuple[MendingPlace, ...]:
    nodes = {node for one in chosen if one.kind == "edge" for node in (one.names[0], one.names[2])}
    short = distinct_names({node: places.names(node) for node in sorted(nodes)})
    return tuple(
        replace(one, label=place_name(one.kind, tuple(short.get(name, name) for name in one.names))) for one in chosen
    )


def _answers(questions: Sequence[Sequence[str]]) -> set[tuple[int, str]]:
    return {(run, name) for run, some in enumerate(questions) for name in some}


class _PlaceRank(NamedTuple):
    """Sorts the best place first; ``answers`` are those with an edge there that aren't complete yet, negative."""

    alone: int
    questions: int
    answers: int
    kind: int
    name: str


def _rank(place: MendingPlace, complete: Collection[tuple[int, str]]) -> _PlaceRank:
    alone = _answers(place.alone).difference(complete)
    answers = _answers(place.questions).difference(complete)
    questions = {name for _, name in alone}
    return _PlaceRank(-len(alone), -len(questions), -len(answers), _KINDS.index(place.kind), place.name)


def _places(runs: Sequence[Missed], places: Places) -> dict[RowKey, MendingPlace]:
    missed: Counter[RowKey] = Counter()
    touched: dict[RowKey, list[list[str]]] = {}
    alone: dict[RowKey, list[list[str]]] = {}
    for number, run in enumerate(runs):
        for name, edges in run.items():
            here: dict[RowKey, int] = {}
            for edge in edges:
                for key in _keys(edge, places):
                    here[key] = here.get(key, 0) + 1
            for key, count in here.items():
                missed[key] += count
                touched.setdefault(key, [[] for _ in runs])[number].append(name)
                if count == len(edges):
                    alone.setdefault(key, [[] for _ in runs])[number].append(name)
    none: list[list[str]] = [[] for _ in runs]
    return {
        key: MendingPlace(*key, missed[key], tuple(map(tuple, some)), tuple(map(tuple, alone.get(key, none))))
        for key, some in touched.items()
    }


def _keys(edge: Edge, places: Places) -> Iterator[RowKey]:
    """Yield the places that hold an edge."""
    yield single_edge(edge)
    yield relation_key(edge)
    if places.crosses(edge[0], edge[2]):
        yield boundary_key(edge, places)


def _overlap(one: MendingPlace, other: MendingPlace, places: Places) -> bool:
    """Return whether one of two places is an edge that lies in the other."""
    edge, around = (one, other) if one.kind == "edge" else (other, one)
    if edge.kind != "edge":
        return False
    source, relation, target = edge.names
    return around.key in _keys((source, relation or None, target), places)
