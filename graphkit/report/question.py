"""One question of one run as the page shows it: drawing, chunks, pairs of versions and scores, in a small record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from graphkit.analysis.explain import sentence
from graphkit.measures.case import Case
from graphkit.measures.coherence import version_pairs
from graphkit.measures.matching import Edge, best_alternatives, contained
from graphkit.measures.paths import Divergence, first_divergences
from graphkit.records.commits import Version
from graphkit.records.ids import path_of, repo_of, symbol_of
from graphkit.records.structs import ChunkStruct
from graphkit.report.escaping import visible, visible_text
from graphkit.report.layout import draw
from graphkit.report.tool_call_view import calls_of

#: How much of a text is shown: of a chunk and of an answer.
CHUNK_TEXT = 400
ANSWER_TEXT = 8000

#: How much of a long record is drawn or listed; the rest is counted.
EXTRA_EDGES = 80
CHUNKS = 50
PAIRS = 40

#: The bits of a row, by which the table is filtered.
FAILED, ABSENT, COMPLETE, TURN, INCOHERENT, OFF_PIN, INVALID, UNLOGGED = 1, 2, 4, 8, 16, 32, 64, 128

#: The bits of a node: on a gold path, where a gold path was left, and where one begins that no walk came to.
GOLD, LEFT, NEVER_ENTERED = 1, 2, 4

NO_REPOSITORY = "(no repository)"


class _Table(dict[Any, int]):
    """Numbers things in the order in which they are first asked for."""

    def number(self, item: Any) -> int:
        return self.setdefault(item, len(self))


def detail(
    case: Case, values: Sequence[float | str], invalid: str | None = None
) -> tuple[dict[str, Any], int, tuple[int, int]]:
    """Return what is shown of one question, its bits, and how many required edges were found out of how many.

    A question that isn't scored was neither walked nor left: of its edges 0 of 0 are counted, and no turn is wrong. So
    it is where the record doesn't say what was walked.

    Parameters
    ----------
    invalid
        Why its gold is stale, where it is.
    """
    question = case.question
    answer = case.answer
    flags = FAILED * (answer is not None and answer.error is not None) | ABSENT * (answer is None)
    flags |= INVALID * (invalid is not None) | UNLOGGED * (not flags and not case.walk_logged)
    statuses, share = edge_statuses(case)
    divergences = [] if flags else first_divergences(case)
    if flags:
        share = (0, 0)
    turned = _turns(case, statuses, divergences)
    nodes, commits = _Table(), _Table()
    drawn, dropped = _drawn_edges(case, statuses, nodes)
    drawing = draw(
        [repo_of(node) or NO_REPOSITORY for node in nodes],
        [[(nodes[edge[0]], nodes[edge[2]]) for edge in path.edges] for path in case.gold],
        [[(nodes[a], nodes[b]) for a, _, b in walk if a in nodes and b in nodes] for walk in case.walked_paths],
        [(nodes[edge[0]], nodes[edge[2]]) for edge in drawn],
    )
    pairs = incoherent_pairs(case)
    read = _read_at(case)
    gold_nodes = {node for path in case.gold for edge in path.edges for node in (edge[0], edge[2])}
    diverged: dict[str, int] = {}
    for divergence in divergences:
        if not divergence.ordered:
            continue  # a set of edges lacks some, and leaves nothing
        mark = LEFT if divergence.entered else NEVER_ENTERED
        diverged[divergence.node] = diverged.get(divergence.node, 0) | mark
    boxes = []
    off_pin = bool(case.pins) and any(case.pins.get(repo) != sha for repo, sha in case.touched)
    for node, box in zip(nodes, drawing.boxes, strict=True):
        repo = repo_of(node)
        shas = read.get(node, [])
        pin = case.pins.get(repo or "")
        state = 0
        if not shas and pin:
            shas, state = [pin], 1
        elif shas and case.pins and any(sha != pin for sha in shas):
            state = 2
        numbers = [commits.number((repo, sha)) for sha in shas]
        marks = GOLD * (node in gold_nodes) | diverged.get(node, 0)
        boxes.append(
            [visible(node), _label(node), _file(node), box.x, box.y, numbers, state, marks, case.ranks.get(node, 0)]
        )
    listed = []
    for versions, rule, count in pairs[:PAIRS]:
        listed.append([list(dict.fromkeys(_commit(commits, version) for version in versions)), rule, count])
    chunks = [_chunk(case, chunk, commits) for chunk in case.chunks[:CHUNKS]]
    where = {edge: (name, position) for edge, name, position in _positions(case)}
    flags |= COMPLETE * (0 < share[1] == share[0])
    flags |= TURN * bool(turned) | INCOHERENT * bool(pairs) | OFF_PIN * off_pin
    shown: dict[str, Any] = {
        "question": visible_text(question.question, ANSWER_TEXT),
        "gold": visible_text(question.gold_answer, ANSWER_TEXT) if question.gold_answer else None,
        "facts": [visible_text(fact.text, CHUNK_TEXT) for fact in question.facts],
        "answer": visible_text(answer.answer, ANSWER_TEXT) if answer is not None and answer.answer else None,
        "error": visible_text(answer.error, ANSWER_TEXT) if answer is not None and answer.error is not None else None,
        "invalid": visible(invalid, CHUNK_TEXT) if invalid is not None else None,
        "values": [_value(value) for value in values],
        "words": [visible(_words(case, divergence)) for divergence in divergences],
        "size": [drawing.width, drawing.height],
        "lanes": [[visible(lane.name), lane.y, lane.height] for lane in drawing.lanes],
        "nodes": boxes,
        "edges": [
            [
                nodes[edge[0]],
                nodes[edge[2]],
                visible(edge[1] or ""),
                status,
                line.path,
                line.x,
                line.y,
                *([visible(where[edge][0]), where[edge][1]] if edge in where else []),
            ]
            for (edge, status), line in zip(drawn.items(), drawing.lines, strict=True)
        ],
        "dropped": dropped,
        "commits": [
            [visible(repo or NO_REPOSITORY), visible(sha or "no commit"), _tag(case, repo, sha)]
            for repo, sha in commits
        ],
        "pairs": listed,
        "more_pairs": max(len(pairs) - PAIRS, 0),
        "chunks": chunks,
        "chunks_logged": case.chunks_logged,
        "ordered": case.ordered,
        "more_chunks": max(len(case.chunks) - CHUNKS, 0),
        "lost": _lost(case),
    }
    if (calls := calls_of(case)) is not None:
        shown["calls"] = calls
    return shown, flags, share


def as_gold_has_it(case: Case) -> Case:
    """Return a case whose walked edges run as gold has them, where gold holds such an edge the other way alone."""
    gold = {(edge[0], edge[2]) for edge in case.gold_edges}
    answer = case.answer
    if answer is None or not answer.traversal:
        return case
    steps = [
        replace(
            step,
            source=step.target,
            target=step.source,
            source_commit=step.target_commit,
            target_commit=step.source_commit,
        )
        if (step.target, step.source) in gold and (step.source, step.target) not in gold
        else step
        for step in answer.traversal
    ]
    return Case(case.question, replace(answer, traversal=steps), case.commits, unordered=not case.ordered)


def edge_statuses(case: Case) -> tuple[dict[Edge, str], tuple[int, int]]:
    """Return the status of each distinct edge, and how many required edges were found out of how many.

    ``matched`` is gold and walked, ``missed`` required and not walked, ``optional`` gold that costs nothing to miss,
    ``alternative`` required only by an alternative that another one makes needless, ``extra`` walked and not gold, and
    ``turn`` an extra edge by which a walk left the gold path. So EdgeRecall is the found over the required. What a
    failed question, or one without a record, didn't walk is ``unattempted``, whatever gold asks of it, and ``unlogged``
    where the record doesn't say what was walked.
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
                statuses[edge] = "matched"
            elif not attempted:
                statuses[edge] = "unattempted"
            elif not case.walk_logged:
                statuses[edge] = "unlogged"
            else:
                statuses[edge] = "missed" if edge in required else "alternative" if edge in ever_needed else "optional"
    right = contained(walked, case.gold_edges, case.untyped)
    for walk in case.walked_paths:
        for edge in walk:
            if edge not in right:
                statuses.setdefault(edge, "extra")
    return statuses, (len(found), len(required))


def _turns(case: Case, statuses: dict[Edge, str], divergences: Iterable[Divergence]) -> int:
    """Mark the extra edges by which walks left the gold path, and return how many there are."""
    turns = 0
    for divergence in divergences:
        edge = (divergence.node, divergence.went_by, divergence.went_to or "")
        if divergence.ordered and statuses.get(edge) == "extra":
            statuses[edge] = "turn"
            turns += 1
    return turns


def _drawn_edges(case: Case, statuses: dict[Edge, str], nodes: _Table) -> tuple[dict[Edge, str], int]:
    """Return the edges that are drawn, number their nodes, and count the extra edges that are too many."""
    drawn = {edge: status for edge, status in statuses.items() if status != "extra"}
    near = {node for edge in drawn for node in (edge[0], edge[2])}
    extra = [edge for edge, status in statuses.items() if status == "extra"]
    extra.sort(key=lambda edge: edge[0] not in near and edge[2] not in near)
    for edge in extra[:EXTRA_EDGES]:
        drawn[edge] = "extra"
    for edge in drawn:
        nodes.number(edge[0])
        nodes.number(edge[2])
    return drawn, max(len(extra) - EXTRA_EDGES, 0)


def _positions(case: Case) -> Iterator[tuple[Edge, str, int]]:
    """Yield each gold edge with the name of its path and its place there; of repeats the first place is told."""
    seen: set[Edge] = set()
    for number, gold in enumerate(case.gold):
        for position, edge in enumerate(gold.edges):
            if edge not in seen:
                seen.add(edge)
                yield edge, gold.id or str(number), position


def incoherent_pairs(case: Case) -> list[tuple[list[Version], str, int]]:
    """Return the pairs of retrieved versions that don't fit, with the rule and the number of chunk pairs.

    Unknown commits fit nothing: all their pairs are told as one, with these commits, before the others.
    """
    if not case.commits or all(version.sha is None for version in case.versions):
        return []
    found: list[tuple[list[Version], str, int]] = []
    unknown: list[Version] = []
    unknown_pairs = 0
    for first, second, verdict, count in version_pairs(case):
        if verdict.rule == "unknown commit":
            unknown += [version for version in (first, second) if not case.commits.knows(version)]
            unknown_pairs += count
        elif not verdict.compatible:
            found.append(([first, second], verdict.rule, count))
    if unknown:
        found.insert(0, (list(dict.fromkeys(unknown)), "unknown commit", unknown_pairs))
    return found


def _read_at(case: Case) -> dict[str, list[str]]:
    """Return the commits that each node was read at, by the walk and as a chunk, in the order they are named."""
    found: dict[str, list[str]] = {}

    def note(node: str, name: str | None) -> None:
        sha = case.sha(repo_of(node), name) if name else None
        if sha and sha not in found.setdefault(node, []):
            found[node].append(sha)

    for walk in case.walks:
        for step in walk:
            note(step.source, step.source_commit)
            note(step.target, step.target_commit)
    for chunk in case.chunks:
        note(chunk.id, case.version(chunk).sha)
    return found


def _commit(commits: _Table, version: Version) -> int:
    return commits.number((version.repo, version.sha))


def _tag(case: Case, repo: str | None, sha: str | None) -> str:
    """Return the tag of a commit, else its branch, as far as they are known, or why its name is ambiguous."""
    if not (repo and sha):
        return ""
    known = case.commits.commits.get((repo, sha))
    if known is not None:
        return visible(next(iter(known.all_tags), known.branch or ""), 40)
    return visible(case.commits.meant(repo, sha, case.pins).ambiguous or "", 40)


def _label(node: str) -> str:
    """Return the name by which a node is drawn: its symbol, else its file."""
    path = path_of(node)
    return visible(symbol_of(node) or (path.rpartition("/")[2] if path else node), 200)


def _file(node: str) -> str:
    return visible(path_of(node) or "", 200)


def _chunk(case: Case, chunk: ChunkStruct, commits: _Table) -> list[Any]:
    version = case.version(chunk)
    number = _commit(commits, version) if version.sha is not None else -1
    gain = case.question.relevant.get(chunk.id, 0)
    return [visible(chunk.id), gain, chunk.score, number, visible_text(chunk.text, CHUNK_TEXT) if chunk.text else ""]


def _lost(case: Case) -> list[list[Any]]:
    """Return the relevant ids that were not retrieved with their gains, the largest first; none if it isn't known."""
    if case.answer is not None and not case.chunks_logged:
        return []
    lost = [(gain, node) for node, gain in case.question.relevant.items() if gain > 0 and node not in case.ranks]
    lost.sort(key=lambda pair: (-pair[0], pair[1]))
    return [[visible(node), gain] for gain, node in lost[:CHUNKS]]


def _value(value: float | str) -> float | str:
    return visible(value, CHUNK_TEXT) if isinstance(value, str) else round(value, 4)


def _words(case: Case, divergence: Divergence) -> str:
    """Return the first divergence as a sentence, the same as ``graphkit failures`` tells it."""
    row = {
        "path": divergence.path or _nameless(case, divergence),
        "position": divergence.position,
        "node": divergence.node,
        "repo": divergence.repo,
        "commit": divergence.commit,
        "expected_by": divergence.relation,
        "expected": divergence.expected,
        "went_to": divergence.went_to,
        "went_by": divergence.went_by,
        "entered": divergence.entered,
        "ordered": divergence.ordered,
    }
    return sentence("wrong-turns", row)


def _nameless(case: Case, divergence: Divergence) -> str:
    """Return the number of a gold path without a name: the first whose step at that place is the expected one."""
    for number, gold in enumerate(case.gold):
        if gold.id is None and gold.edges[divergence.position : divergence.position + 1] == [
            (divergence.node, divergence.relation, divergence.expected)
        ]:
            return str(number)
    return ""
