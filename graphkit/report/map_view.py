"""The map of one question: its nodes with their commits, and its edges with their statuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphkit.analysis.breaks import Break
from graphkit.measures.case import Case
from graphkit.measures.crossings import crossed_edges
from graphkit.measures.matching import Edge, best_alternatives, contained
from graphkit.records.ids import distinct_names
from graphkit.report.commits_view import Commits
from graphkit.report.escaping import visible
from graphkit.report.spine import edges_otherwise

#: Extra edges on the map; the rest is counted.
EXTRA_EDGES = 80


def map_of(case: Case, statuses: dict[Edge, str], breaks: Sequence[Break], commits: Commits) -> dict[str, Any]:
    """Return the map of a question: its nodes, its edges, and how many extra edges it omits.

    If the edges of its knowledge graphs are given, ``absent`` has the places of the gold edges that these lack.
    Nodes are in the order in which the edges name them, the gold paths first; an edge names its ends by their places
    in that order. A node has a commit, rank, mark or word about its pin only if there is one, and a name if another
    node has the same short one.
    """
    drawn, omitted = _drawn_edges(statuses)
    nodes = {node: number for number, node in enumerate(dict.fromkeys(node for edge in drawn for node in edge[::2]))}
    marks, read, known = _marks(case, breaks), case.read_at, {node: case.places.names(node) for node in nodes}
    names = distinct_names(known)
    # A node whose name isn't its shortest one says it.
    longer = {node: name for node, name in names.items() if name != known[node][0]}
    lacking = case.absent
    positions = {edge: {"gold_path": name, "position": position} for edge, name, position in _positions(case)}
    return {
        "nodes": [_node(case, node, longer, read.get(node, []), marks.get(node, []), commits) for node in nodes],
        "edges": [
            {
                "source": nodes[edge[0]],
                "target": nodes[edge[2]],
                "relation": visible(edge[1] or ""),
                "status": status,
                **positions.get(edge, {}),
            }
            for edge, status in drawn.items()
        ],
        "omitted": omitted,
        **({} if lacking is None else {"absent": [place for place, edge in enumerate(drawn) if edge in lacking]}),
    }


def _marks(case: Case, breaks: Sequence[Break]) -> dict[str, list[str]]:
    """Return the marks of the nodes of gold paths."""
    marks = {node: ["gold"] for path in case.gold for edge in path.edges for node in edge[::2]}
    for one in breaks:
        mark = "left" if one.reached else "unreached" if one.entered else "never_entered"
        # A set of edges lacks some, but has no order, so it leaves no path.
        if case.ordered and mark not in marks[one.node]:
            marks[one.node].append(mark)
    return marks


def _node(
    case: Case, node: str, longer: Mapping[str, str], shas: list[str], marks: list[str], commits: Commits
) -> dict[str, Any]:
    repo = case.places.repo(node) or ""
    pin = case.pin_of(node)
    pinned = "" if case.off_pin.isdisjoint((repo, sha) for sha in shas) else "off pin"
    if not shas and pin:
        shas, pinned = [pin], "pinned"
    found: dict[str, Any] = {"id": visible(node)}
    # The page takes the repository from an id that begins with it.
    before, colon, _ = node.partition(":")
    if repo != (before if colon else ""):
        found["repo"] = visible(repo)
    if shas:
        found["commits"] = [commits.number(repo or None, sha, pinned != "pinned") for sha in shas]
    if pin and "gold" in marks:  # the list of commits names it, whether it was read or not
        commits.number(repo or None, pin, False)
    if pinned:
        found["pin"] = pinned
    if marks:
        found["marks"] = marks
    if rank := case.rank_of(node):
        found["rank"] = rank
    if node in longer:
        found["name"] = visible(longer[node])
    return found


def edge_statuses(case: Case, breaks: Sequence[Break] = ()) -> tuple[dict[Edge, str], int, int]:
    """Return the status of each distinct edge, and how many required edges were found out of how many.

    An edge of gold is

    - ``matched``: required and traversed;
    - ``uncounted``: traversed and gold, but optional or of an alternative that another one makes unnecessary;
    - ``missed``: required and not traversed;
    - ``optional``: not traversed, and not required;
    - ``alternative``: required only by an alternative that another one makes unnecessary;
    - ``unattempted``: not traversed because the question failed or has no record;
    - ``unlogged``: unknown, since the record has no traversal.

    Any other edge is ``crossed`` if the principal of the question may not follow it, ``invented`` if the question lists
    it as absent, or neither gold nor the knowledge graph holds it (if the graph's edges are read), ``otherwise`` if it
    is a gold edge in the other direction or with another relation, a ``turn`` if the traversal left a gold path by it,
    else ``extra``. EdgeRecall is found / required, as many as are ``matched`` of those ``matched`` and ``missed``; the
    column of the spine counts crossed, invented and extra edges and turns as walked off the path.
    """
    attempted = case.answer is not None and case.answer.error is None
    walked = case.walked
    matched = contained(case.gold_edges, walked, case.untyped)
    required, found = best_alternatives(
        case.units, lambda gold: gold.needed, lambda wanted: contained(wanted, walked, case.untyped)
    )
    ever_needed = {edge for gold in case.gold for edge in gold.needed}
    statuses: dict[Edge, str] = {}
    for gold in case.gold:
        for edge in gold.edges:
            if edge in matched:
                statuses[edge] = "matched" if edge in required else "uncounted"
            elif not attempted:
                statuses[edge] = "unattempted"
            elif not case.walk_logged:
                statuses[edge] = "unlogged"
            else:
                statuses[edge] = "missed" if edge in required else "alternative" if edge in ever_needed else "optional"
    right = contained(walked, case.gold_edges, case.untyped)
    turns, otherwise, crossed = {one.turn for one in breaks}, edges_otherwise(case), crossed_edges(case)
    for walk in case.walked_paths:
        for edge in walk:
            if edge not in right:
                other = "otherwise" if edge in otherwise else "turn" if edge in turns else "extra"
                other = "invented" if edge in case.invented or edge in (case.made_up or ()) else other
                statuses.setdefault(edge, "crossed" if edge in crossed else other)
    return statuses, len(found), len(required)


def _drawn_edges(statuses: dict[Edge, str]) -> tuple[dict[Edge, str], int]:
    """Return the edges of the map, extra ones last and among them the near ones first, and how many it omits."""
    drawn = {edge: status for edge, status in statuses.items() if status != "extra"}
    near = {node for edge in drawn for node in edge[::2]}
    extra = [edge for edge, status in statuses.items() if status == "extra"]
    extra.sort(key=lambda edge: edge[0] not in near and edge[2] not in near)
    return drawn | dict.fromkeys(extra[:EXTRA_EDGES], "extra"), max(len(extra) - EXTRA_EDGES, 0)


def _positions(case: Case) -> Iterator[tuple[Edge, str, int]]:
    """Yield each gold edge with the name of the first path that holds it, and its first position there."""
    seen: set[Edge] = set()
    for number, gold in enumerate(case.gold):
        for position, edge in enumerate(gold.edges):
            if edge not in seen:
                seen.add(edge)
                yield edge, visible(gold.id or str(number)), position
