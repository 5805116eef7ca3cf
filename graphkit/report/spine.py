"""The spine of a question: its gold paths step by step, and what each run did at every step.

The gold side is the same for all runs (:class:`Backbone`), the side of a run is a :class:`Column`: it is made where the
run is scored, and travels as bytes. :class:`Spine` puts them side by side. The marks decide everything: the sentences
of :mod:`graphkit.report.spine_words`, the map and the flags of the page are derived from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import msgspec

from graphkit.analysis.breaks import Break, breaks_of
from graphkit.analysis.causes import Cause, causes_of, in_order, whole_walk
from graphkit.analysis.explain import sentence
from graphkit.measures.case import Case
from graphkit.measures.crossings import crossed_edges, crossing_rows
from graphkit.measures.matching import Edge, contained, walked_otherwise
from graphkit.measures.missed import counted_paths
from graphkit.measures.sided_case import sided
from graphkit.records.commits import UNKNOWN_COMMIT
from graphkit.records.ids import Places
from graphkit.records.words import in_backticks, short_shas
from graphkit.report.commits_view import incoherent_pairs
from graphkit.report.escaping import visible

#: What a run did at a gold step: it walked it, missed it, walked its edge in the other direction only or with another
#: relation only; or no loss: the step is optional, or another alternative counts; or nobody knows: the record has no
#: traversal, or the question wasn't answered.
MarkKind = Literal["walked", "missed", "reversed", "relation", "optional", "alternative", "unlogged", "unattempted"]

#: How the question stands in the run: only an answered, valid and logged one has losses.
State = Literal["scored", "failed", "absent", "invalid", "unlogged"]

#: Characters of a name that are shown.
NAME = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A gold node: its id as in the dataset, and its names (the shortest first), repository and file as shown."""

    id: str
    names: tuple[str, ...]
    repo: str
    file: str

    @property
    def label(self) -> str:
        """The shortest name."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class SpineStep:
    """A gold step: the numbers of its nodes, its relation, and whether it is optional and crosses repositories.

    ``absent`` says that no knowledge graph of the question holds its edge; where that isn't known, it is False.
    """

    source: int
    target: int
    relation: str
    optional: bool
    crosses: bool
    absent: bool = False


@dataclass(frozen=True, slots=True)
class SpinePath:
    """A gold path: its name or its number from 1, its steps, and the number of its unit, which alternatives share."""

    name: str
    unit: int
    steps: tuple[SpineStep, ...]
    named: bool = True

    @property
    def required(self) -> list[int]:
        """The places of the required steps."""
        return [place for place, step in enumerate(self.steps) if not step.optional]


@dataclass(frozen=True, slots=True)
class Backbone:
    """The gold paths of a question, in order, and their nodes; or the reason why it has no answer, in words."""

    nodes: tuple[Node, ...]
    paths: tuple[SpinePath, ...]
    no_answer: str = ""


@dataclass(frozen=True, slots=True)
class StepMark:
    """What a run did at a step; ``relation`` is the relation that it walked instead, as it is shown."""

    kind: MarkKind
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """What one run did.

    Attributes
    ----------
    marks
        A mark for each step of each path.
    ranks
        For each node its rank among the retrieved chunks; 0 if it wasn't retrieved, -1 if none were logged.
    clashes
        For each node the reason why a commit at which it was read doesn't belong with another; empty if all do.
    counted
        The places of the paths that count, as EdgeRecall chooses among alternatives.
    in_order
        Whether one retrieved path has the required steps in order, for each path. A set of edges has no order.
    causes
        Why each path that counts broke, in the order of ``breaks``; one if the question isn't scored or logged, or if
        a whole walk is of another version.
    whole
        What is said of the walk if there is no cause (:func:`graphkit.analysis.causes.whole_walk`), else empty.
    off
        The number of distinct walked edges that no step shows; None if no traversal was logged.
    crossed
        Where the run first came to what the principal may not read, in words; empty if it didn't.
    over
        The number of distinct walked edges that the principal may not follow.
    """

    state: State
    marks: tuple[tuple[StepMark, ...], ...]
    ranks: tuple[int, ...]
    clashes: tuple[str, ...]
    counted: tuple[int, ...]
    in_order: tuple[bool, ...]
    breaks: tuple[Break, ...]
    causes: tuple[Cause, ...]
    whole: str
    off: int | None
    crossed: str = ""
    over: int = 0


@dataclass(frozen=True, slots=True)
class Spine:
    """The gold paths of a question beside the columns of some runs.

    ``right`` says of each run whether its answer is right, None if that is undecided; ``lucky`` whether a right answer
    lies over a missed path.
    """

    backbone: Backbone
    runs: tuple[str, ...]
    columns: tuple[Column, ...]
    right: tuple[bool | None, ...]
    lucky: tuple[bool, ...]

    @classmethod
    def unpacked(
        cls,
        backbone: bytes,
        columns: Sequence[bytes],
        runs: Sequence[str],
        right: Sequence[bool | None],
        lucky: Sequence[bool],
    ) -> Spine:
        """Return the spine of packed parts."""
        found = tuple(_decode_column(column) for column in columns)
        return cls(_decode_backbone(backbone), tuple(runs), found, tuple(right), tuple(lucky))

    @property
    def shown(self) -> list[int]:
        """The places of the paths that are shown unfolded: of alternatives those that count for a run, else the first.

        What is said of a run names the one that counts for it.
        """
        counted = {place for column in self.columns for place in column.counted}
        known = {self.backbone.paths[place].unit for place in counted}
        first = {path.unit: place for place, path in reversed([*enumerate(self.backbone.paths)])}
        return sorted(counted | {place for unit, place in first.items() if unit not in known})

    def alternatives(self, place: int) -> list[int]:
        """Return the places of the other paths of a unit."""
        unit = self.backbone.paths[place].unit
        return [other for other, path in enumerate(self.backbone.paths) if path.unit == unit and other != place]


def packed(part: Backbone | Column) -> bytes:
    """Return one side of a spine as bytes, which ``Spine.unpacked`` reads."""
    return _encode(part)


def backbone_of(case: Case) -> Backbone:
    """Return the gold paths of a question."""
    case = sided(case)
    ids = {node: number for number, node in enumerate(_nodes(case))}
    units = {id(gold): number for number, unit in enumerate(case.units) for gold in unit}
    return Backbone(
        tuple(_node(node, case.places) for node in ids),
        tuple(
            SpinePath(
                visible(gold.id if gold.id is not None else str(place + 1), NAME),
                units[id(gold)],
                tuple(
                    SpineStep(
                        ids[edge[0]],
                        ids[edge[2]],
                        visible(edge[1] or "", NAME),
                        optional,
                        case.places.crosses(edge[0], edge[2]),
                        edge in (case.absent or ()),
                    )
                    for edge, optional in zip(gold.edges, gold.optional, strict=True)
                ),
                gold.id is not None,
            )
            for place, gold in enumerate(case.gold)
        ),
        f"The question has no answer ({case.question.why_not or 'no reason is given'})"
        if case.question.answerable is False
        else "",
    )


def _node(name: str, places: Places) -> Node:
    repo, path = visible(places.repo(name) or "", NAME), visible(places.path(name) or "", NAME)
    return Node(visible(name), names_of(name, places), repo, path)


def _nodes(case: Case) -> list[str]:
    """Return the nodes of the gold paths, each once, in order."""
    return list(dict.fromkeys(node for gold in case.gold for edge in gold.edges for node in (edge[0], edge[2])))


def names_of(node: str, places: Places) -> tuple[str, ...]:
    """Return the names of a node as they are shown: its symbol, else its file, else its id; then longer ones."""
    *shorter, name = places.names(node)
    return *(visible(one, NAME) for one in shorter), visible(name)


def column_of(case: Case, invalid: str | None = None, undirected: bool = False) -> Column:
    """Return what a run did at each step.

    Parameters
    ----------
    invalid
        The reason why the gold is stale, if it is.
    undirected
        Leave out what needs directions: where the walk turned or stopped, and its order.
    """
    case, plain = sided(case), case
    state = _state(case, invalid)
    counts = {id(path.gold) for path in counted_paths(case, boundaries=False)}
    # Nothing is required of some units: all their paths are shown as what they are, optional.
    own = _found(case, case.gold_edges)
    off, beside = case.off, _beside_gold(case)
    shown: set[Edge] = set()
    marks = []
    for unit_gold in case.gold:
        path_marks = []
        for edge, optional in zip(unit_gold.edges, unit_gold.optional, strict=True):
            mark, evidence = _mark(case, edge, own, beside)
            if mark.kind == "missed" and not optional and id(unit_gold) not in counts:
                mark = StepMark("alternative")
            elif mark.kind == "missed" and optional:
                mark = StepMark("optional")
            path_marks.append(mark)
            shown |= evidence
        marks.append(tuple(path_marks))
    counted = tuple(place for place, gold in enumerate(case.gold) if id(gold) in counts)
    nodes = _nodes(case)
    breaks = breaks_of(case) if state == "scored" else ()
    breaks = tuple(one.undirected() for one in breaks) if undirected else breaks
    causes = causes_of(case, invalid, undirected=undirected)
    return Column(
        state=state,
        marks=tuple(marks),
        ranks=tuple((case.rank_of(node) or 0) if case.chunks_logged else -1 for node in nodes),
        clashes=_clashes(case, nodes),
        counted=counted,
        in_order=tuple(undirected or in_order(case, gold) for gold in case.gold),
        breaks=breaks,
        causes=causes,
        whole="" if causes else whole_walk(case, undirected, named=True),
        off=len(off - shown) if case.walk_logged else None,
        crossed=_crossed(plain) if state in ("scored", "unlogged") else "",
        over=len(crossed_edges(plain)) if state == "scored" else 0,
    )


def _crossed(case: Case) -> str:
    row = next(iter(crossing_rows(case)), None)
    if row is None:
        return ""
    return sentence(
        "access-violations", {**row, **{name: in_backticks(row[name], NAME) for name in ("node", "principal")}}
    )


def _state(case: Case, invalid: str | None) -> State:
    if case.answer is None:
        return "absent"
    if case.answer.error is not None:
        return "failed"
    if invalid is not None:
        return "invalid"
    return "scored" if case.walk_logged else "unlogged"


def _found(case: Case, wanted: set[Edge]) -> set[Edge]:
    return contained(wanted, case.walked, case.untyped)


def edges_otherwise(case: Case) -> set[Edge]:
    """Return the walked edges outside gold that show a gold step in the other direction or with another relation."""
    own, beside = _found(case, case.gold_edges), _beside_gold(case)
    return {one for edge in case.gold_edges for one in _mark(case, edge, own, beside)[1]} if beside else set()


def _beside_gold(case: Case) -> set[Edge]:
    """Return the walked edges outside gold between the ends of a gold edge, in either direction."""
    ends = {end for source, _, target in case.gold_edges for end in ((source, target), (target, source))}
    return {edge for edge in case.off if (edge[0], edge[2]) in ends}


def _mark(case: Case, edge: Edge, found: set[Edge], off: set[Edge]) -> tuple[StepMark, set[Edge]]:
    """Return the mark of a required step, and the edges outside gold that it shows."""
    if edge in found:
        return StepMark("walked"), set()
    if case.answer is None or case.answer.error is not None:
        return StepMark("unattempted"), set()
    if not case.walk_logged:
        return StepMark("unlogged"), set()
    how, shown = walked_otherwise(edge, off)
    relations = visible(", ".join(sorted(one[1] or "" for one in shown)), NAME) if how == "relation" else ""
    return StepMark("missed" if how is None else how, relations), shown


def _clashes(case: Case, nodes: Sequence[str]) -> tuple[str, ...]:
    """Return for each node why a commit at which it was read doesn't belong with another; empty if all do."""
    pairs = incoherent_pairs(case)
    if not pairs:
        return ("",) * len(nodes)
    read, places = case.read_at, case.places
    at = [[(places.repo(node), sha) for sha in read.get(node, ())] for node in nodes]
    asked = {one for some in at for one in some}
    reasons: dict[tuple[str | None, str | None], str] = {}
    for versions, rule, _ in pairs:
        for version in versions:
            one = version.repo, version.sha
            if one in asked and one not in reasons:
                others = [other for other in versions if other != version]
                words = rule if rule == UNKNOWN_COMMIT or not others else f"not with {_commit(*others[0][:2])}: {rule}"
                reasons[one] = visible(f"{_commit(*one)}: {words}")
    return tuple([next((reasons[one] for one in some if one in reasons), "") for some in at])


@lru_cache(1_000)  # many questions read the same commits
def _commit(repo: str | None, sha: str | None) -> str:
    return short_shas(f"{repo or ''} {sha or 'no commit'}".strip())


_encode = msgspec.msgpack.Encoder().encode
_decode_backbone = msgspec.msgpack.Decoder(Backbone).decode
_decode_column = msgspec.msgpack.Decoder(Column).decode
