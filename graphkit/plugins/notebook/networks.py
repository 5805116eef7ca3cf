"""The subgraphs of one question as networkx graphs, to draw, analyse and score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.matching import contained
from graphkit.measures.registry import parse_measure
from graphkit.records.commits import CommitGraph
from graphkit.records.models import Answer, GoldPath, Question, Step, TraversalStep
from graphkit.records.structs import AnswerStruct, QuestionStruct, struct_of

if TYPE_CHECKING:
    import networkx

    Graph = networkx.MultiDiGraph[str]


def gold_graph(question: Question | QuestionStruct) -> Graph:
    """Return the gold paths of a question as a directed multigraph.

    An edge is one step, with ``path`` (its place among the paths), ``name``, ``group``, ``ordered``, ``from_turn``,
    ``position``, ``relation``, ``optional`` and ``evidence``. The graph's attribute ``turn`` is that of the question.
    """
    import networkx

    gold = struct_of(QuestionStruct, question)
    graph: Graph = networkx.MultiDiGraph(question=gold.id, turn=gold.turn)
    for number, path in enumerate(gold.paths):
        for position, step in enumerate(path.steps):
            graph.add_edge(
                step.source,
                step.target,
                path=number,
                name=path.id,
                group=path.group,
                ordered=path.ordered,
                from_turn=path.from_turn,
                position=position,
                relation=step.relation,
                optional=step.optional,
                evidence=step.evidence,
            )
    return graph


def walked_graph(answer: Answer | AnswerStruct) -> Graph:
    """Return the traversal of a run's record as a directed multigraph.

    An edge is one step, with ``path``, ``position``, ``relation``, ``source_commit``, ``target_commit`` and
    ``directed``, which is False if its log has lost its direction. A record without a traversal gives an empty graph.
    The graph's attribute ``ordered`` is False if the traversal is a set of edges; ``walked_before`` holds what earlier
    turns walked, as the record does.
    """
    import networkx

    record = struct_of(AnswerStruct, answer)
    graph: Graph = networkx.MultiDiGraph(ordered=record.ordered, walked_before=record.walked_before)
    for walk in Case(QuestionStruct(id="-", question="-"), record).walks:
        for position, step in enumerate(walk):
            graph.add_edge(
                step.source,
                step.target,
                path=step.path,
                position=position,
                relation=step.relation,
                source_commit=step.source_commit,
                target_commit=step.target_commit,
                directed=step.directed,
            )
    return graph


def comparison_graph(question: Question | QuestionStruct, answer: Answer | AnswerStruct) -> Graph:
    """Return both subgraphs as one, each distinct edge once, with its ``relation`` and its ``status``.

    The status is ``"matched"`` (gold and traversed), ``"missed"`` (gold, not traversed), ``"optional"`` (gold, not
    traversed, and not required) or ``"extra"`` (traversed, not gold). All gold is ``"unlogged"`` if the record has no
    traversal.
    """
    import networkx

    case = Case(question, answer)
    gold = {edge for path in case.gold for edge in path.edges}
    required = {edge for path in case.gold for edge in path.required}
    walked = case.walked
    matched = contained(gold, walked, case.untyped)
    graph: Graph = networkx.MultiDiGraph(question=question.id)
    for edge in sorted(gold, key=str):
        status = "matched" if edge in matched else "missed" if edge in required else "optional"
        if not case.walk_logged:
            status = "unlogged"
        graph.add_edge(edge[0], edge[2], relation=edge[1], status=status)
    for edge in sorted(walked - contained(walked, gold, case.untyped), key=str):
        graph.add_edge(edge[0], edge[2], relation=edge[1], status="extra")
    return graph


def score_graphs(
    measure: str | Measure, gold: Graph, walked: Graph, commits: CommitGraph | None = None
) -> float | Unscored:
    """Score two networkx graphs by a measure of edges, paths or repositories.

    Edges need no attributes. Without ``path`` they are one path, in the order of their addition; without ``relation``
    relations aren't compared. If the attribute ``ordered`` of the second graph is False, it is a set of edges; the
    edges of an undirected graph have no direction. Any graph will do, such as one that a GraphRAG library returns.

    >>> import networkx
    >>> gold = networkx.MultiDiGraph([("web:a.ts", "api:b.py"), ("api:b.py", "db:c.sql")])
    >>> score_graphs("EdgeRecall", gold, networkx.MultiDiGraph([("web:a.ts", "api:b.py")]))
    0.5
    """
    chosen = parse_measure(measure) if isinstance(measure, str) else measure
    turn, before = gold.graph.get("turn"), walked.graph.get("walked_before")
    session = {} if turn is None else {"session": "-", "turn": turn}
    question = Question(id="-", question="-", paths=_paths(gold), **session)
    answer = Answer(
        run="-",
        question_id="-",
        retrieved=(),
        traversal=_walk(walked),
        ordered=walked.graph.get("ordered", True),
        walked_before=None if before is None else tuple(TraversalStep(**to_builtins(step)) for step in before),
    )
    return chosen.score(Case(question, answer, commits))


def _edges(graph: Graph) -> list[tuple[Any, Any, dict[str, Any]]]:
    return sorted(graph.edges(data=True), key=lambda edge: (edge[2].get("path", 0), edge[2].get("position", 0)))


def _paths(graph: Graph) -> tuple[GoldPath, ...]:
    steps: dict[int, list[Step]] = {}
    names: dict[int, dict[str, Any]] = {}
    for source, target, data in _edges(graph):
        number = data.get("path", 0)
        names.setdefault(
            number,
            {
                "id": data.get("name"),
                "group": data.get("group"),
                "ordered": data.get("ordered", True),
                "from_turn": data.get("from_turn"),
            },
        )
        fields = {name: data[name] for name in ("relation", "optional", "evidence") if data.get(name) is not None}
        steps.setdefault(number, []).append(Step(source=str(source), target=str(target), **fields))
    return tuple(GoldPath(steps=tuple(steps[number]), **names[number]) for number in steps)


def _walk(graph: Graph) -> tuple[TraversalStep, ...]:
    names = ("relation", "path", "position", "source_commit", "target_commit", "directed")
    directed = {} if graph.is_directed() else {"directed": False}
    return tuple(
        TraversalStep(
            source=str(source), target=str(target), **directed | {name: data[name] for name in names if name in data}
        )
        for source, target, data in _edges(graph)
    )
