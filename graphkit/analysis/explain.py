"""Failures in words: one sentence per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from graphkit.graph.beside import kinds_beside
from graphkit.records.words import counted, short_shas

Failure = Mapping[str, Any]


def _by(relation: Any) -> str:
    return f" by {relation}" if relation else ""


def edge_in_words(row: Failure) -> str:
    """Return the edge of a row."""
    return f"{row['source']} -{row['relation'] or ''}-> {row['target']}"


def _place(row: Failure) -> str:
    return f" ({row['repo']} at {row['commit']})" if row["repo"] and row["commit"] else ""


def _step(row: Failure) -> str:
    """Return a step of a gold path by its number; steps count from 1 in words, and from 0 in rows."""
    return f"step {row['position'] + 1}"


def _wrong_turn(row: Failure) -> str:
    where, path = f"{row['node']}{_place(row)}", f"gold path {row['path']}"
    expected = f"{_by(row['expected_by'])} to {row['expected']}"
    went = f"went{_by(row['went_by'])} to {row['went_to']}" if row["went_to"] else ""
    if not row["ordered"]:
        also = f"; from there it also {went}" if went else ""
        return f"reached {where}, but missed {_step(row)} of {path}{expected}{also}"
    match turn_kind(row):
        case "elsewhere":
            return f"took {_step(row)} of {path}, from {where}{expected}, but not behind the steps before it"
        case "turned":
            return f"left {path} at {_step(row)}, at {where}: expected to go{expected}, but {went}"
        case "joined":
            return f"joined {path} at step {row['joined'] + 1}: missed {_step(row)}, from {where}{expected}"
        case "stopped":
            return f"left {path} at {_step(row)}, at {where}: expected to go{expected}, but stopped there"
        case "never":
            return f"never entered {path}, which starts at {where}"
        case "other route":
            return f"reached the end of {path} by another route: missed {_step(row)}, from {where}{expected}"
        case "beside":
            return f"came to a node of {path}, but took no step of it: missed {_step(row)}, from {where}{expected}"
        case _:
            return f"missed {_step(row)} of {path}, from {where}{expected}"


#: What a traversal did at the first step of a gold path that it didn't follow in order.
TurnKind = Literal["elsewhere", "turned", "joined", "stopped", "never", "other route", "beside", "missed"]


def turn_kind(row: Failure) -> TurnKind:
    """Return what a traversal did where it left a gold path: a row of the query ``wrong-turns``, in order.

    It took the step elsewhere, turned off by an edge outside gold, joined the path behind the step, stopped there,
    never came to a node of the path, reached its end without a step of it, came to another of its nodes only, or missed
    the step while it took earlier ones.
    """
    if row["elsewhere"]:
        return "elsewhere"
    if row["went_to"] is not None:
        return "turned"
    if row["joined"] is not None and row["joined"] > row["position"]:
        return "joined"
    if row["stopped"]:
        return "stopped"
    if not row["entered"]:
        return "never"
    if row["joined"] is None:
        return "other route" if row["reached_end"] else "beside"
    return "missed"


def _missed_edge(row: Failure) -> str:
    return f"{_step(row)} was not traversed: {edge_in_words(row)}"


def _missed_boundary(row: Failure) -> str:
    return f"a required edge from {row['from_repo']} to {row['to_repo']} was not walked: {edge_in_words(row)}"


def _missed_of(row: Failure) -> str:
    return f"{row['missed']} of {counted(row['required'], 'required edge')}"


def _boundary_missed(row: Failure) -> str:
    between = f"from {row['from_repo']} to {row['to_repo']}"
    return f"{_missed_of(row)} {between} not walked, in {counted(row['questions'], 'question')}"


def _relation_missed(row: Failure) -> str:
    return f"{row['relation']}: {_missed_of(row)} not walked, in {counted(row['questions'], 'question')}"


def _wrong_repository(row: Failure) -> str:
    relevant = ", ".join(row["relevant"])
    share = f"{counted(row['chunks'], 'chunk')}, {counted(row['edges'], 'edge')}"
    return f"entered {row['repo']} ({share}), while gold touches only {relevant}"


def _incoherent(row: Failure) -> str:
    stack = f" {row['stack']}" if row["stack"] else ""
    pairs = counted(row["chunk_pairs"], "pair")
    if row["first"] is None:
        return f"mixed in unknown commits: {row['rule']} ({pairs} of chunks)"
    return f"mixed {row['first']} with {row['second']}: {row['rule']}{stack} ({pairs} of chunks)"


def _mixed_edge(row: Failure) -> str:
    at = [f" at {row[name]}" if row[name] else "" for name in ("source_commit", "target_commit")]
    edge = f"{row['source']}{at[0]} -{row['relation'] or ''}-> {row['target']}{at[1]}"
    return f"walked from one version into another: {edge}"


def _unknown_commit(row: Failure) -> str:
    one, chunks = row["chunks"] == 1, f"{counted(row['chunks'], 'chunk')} of {row['repo']}"
    if row["commit"] is None:
        return f"{chunks} {'names' if one else 'name'} no commit"
    why = f" ({row['reason']})" if row["reason"] else ""
    return f"{chunks} {'comes' if one else 'come'} from {row['commit']}, which is unknown{why}"


def _single_missed(row: Failure) -> str:
    of = f"{row['missed']} of {counted(row['required'], 'question')}"
    verb = "requires" if row["required"] == 1 else "require"
    if "node" in row:
        return f"{row['node']} was not reached for {of} that {verb} an edge of it"
    return f"{edge_in_words(row)} was not traversed for {of} that {verb} it"


def _edge_absent(row: Failure) -> str:
    of = f"{row['missed']} of {counted(row['required'], 'question')}"
    verb = "requires" if row["required"] == 1 else "require"
    return f"{edge_in_words(row)} is not in the knowledge graph, and was not traversed for {of} that {verb} it"


def _right_files(row: Failure) -> str:
    return f"retrieved every expected file, but traversed only {row['found']} of {row['required']} gold edges"


def _failed(row: Failure) -> str:
    return f"was not answered: {row['error']}"


def _violation(row: Failure) -> str:
    return f"{_crossing(row)} {row['node']}, which {row['principal']} may not read"


def _crossing(row: Failure) -> str:
    match row["part"]:
        case "walk":
            return f"step {row['position'] + 1} of path {row['path'] + 1} of the walk touched"
        case "seed":
            return "linked the question to"
        case "call":
            return f"tool call {row['path'] + 1} showed"
        case _:
            did = "ranked by itself at place" if row["path"] else "retrieved at rank"
            return f"{did} {row['position'] + 1}:"


def _leak(row: Failure) -> str:
    through = f"through {row['node']} at step {row['position'] + 1}, which {row['principal']} may not read"
    return f"went from {row['source']} to {row['target']} {through}"


def _not_linked(row: Failure) -> str:
    start, seed = f"{row['start']}, at which gold path {row['path']} begins", row["seed"]
    if seed is None:
        return f"linked the question to nothing: it lacks {start}"
    namesake = ", a namesake" if row["namesake"] else f" (of {counted(row['seeds'], 'seed')})"
    hops = row.get("distance")  # only an explanation knows it
    far = "" if hops is None else f"; the nearest seed is {counted(hops, 'edge')} from the path"
    return f"linked the question to {seed}{namesake}, not to {start}{far}"


def _missed_passage(row: Failure) -> str:
    return f"{row['relevant']} was not retrieved ({row['found']} of {counted(row['required'], 'relevant id')} were)"


def _lucky(row: Failure) -> str:
    went = f"; from there it went to {', '.join(row['went_to'])}" if row["went_to"] else ""
    return f"was judged right, but {_step(row)} was not traversed{_place(row)}: {edge_in_words(row)}{went}"


def _over_refusal(row: Failure) -> str:
    had = f"{counted(row['walked'], 'edge')} walked, {counted(row['retrieved'], 'chunk')} retrieved"
    return f"was declined{_as_stated(row)}, though it has an answer ({had})"


def _answered(row: Failure) -> str:
    why = f" ({row['why_not']})" if row["why_not"] else ""
    had = f"{counted(row['walked'], 'edge')} walked, {counted(row['retrieved'], 'chunk')} retrieved"
    return f"was answered{_as_stated(row)}, though it has no answer{why}; {had}"


def _as_stated(row: Failure) -> str:
    return {"words": ", by the words of the answer", "judge": ", as a judge says"}.get(row["said_by"], "")


def _invented_edge(row: Failure) -> str:
    why = "the question lists it as absent" if row["listed"] else NOT_HELD
    return f"walked an edge that doesn't exist: {edge_in_words(row)} ({why})"


#: Why an edge that no question lists doesn't exist.
NOT_HELD = "neither the knowledge graph nor gold holds it"

#: What a principal may not read is this, wherever it is named.
OVER_THE_LINE = "over the line"

#: The kind of edges between two versions.
MIXED = "mixed-edges"

#: The sentences on the core's own kinds.
SENTENCES: dict[str, Callable[[Failure], str]] = {
    "failed-questions": _failed,
    "over-refusals": _over_refusal,
    "answered-unanswerable": _answered,
    "invented-edges": _invented_edge,
    "wrong-turns": _wrong_turn,
    "not-linked": _not_linked,
    "missed-edges": _missed_edge,
    "missed-boundaries": _missed_boundary,
    "missed-passages": _missed_passage,
    "boundaries-missed": _boundary_missed,
    "relations-missed": _relation_missed,
    "edges-missed": _single_missed,
    "nodes-missed": _single_missed,
    "edges-absent": _edge_absent,
    "right-files-wrong-path": _right_files,
    "right-answer-wrong-path": _lucky,
    "wrong-repositories": _wrong_repository,
    "incoherent-pairs": _incoherent,
    MIXED: _mixed_edge,
    "unknown-commits": _unknown_commit,
    "access-violations": _violation,
    "leaks-through": _leak,
}


@cache
def sentences() -> dict[str, Callable[[Failure], str]]:
    """Return what makes a sentence of a failure, by its kind: the core's, and those of what lies beside a run."""
    return SENTENCES | {name: told for kind in kinds_beside().values() for name, told in kind.sentences.items()}


def sentence(kind: str, failure: Failure) -> str:
    """Return a sentence on a failure of a kind in :func:`sentences`, without its question."""
    return short_shas(sentences()[kind](failure))
