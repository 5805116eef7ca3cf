"""Failures in words: one sentence per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from graphkit.records.words import counted, short_shas

Failure = Mapping[str, Any]


def _by(relation: Any) -> str:
    return f" by {relation}" if relation else ""


def _edge(row: Failure) -> str:
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
    return f"{_step(row)} was not traversed: {_edge(row)}"


def _missed_boundary(row: Failure) -> str:
    return f"a required edge from {row['from_repo']} to {row['to_repo']} was not walked: {_edge(row)}"


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
    return f"{_edge(row)} was not traversed for {of} that {verb} it"


def _edge_absent(row: Failure) -> str:
    of = f"{row['missed']} of {counted(row['required'], 'question')}"
    verb = "requires" if row["required"] == 1 else "require"
    return f"{_edge(row)} is not in the knowledge graph, and was not traversed for {of} that {verb} it"


def _right_files(row: Failure) -> str:
    return f"retrieved every expected file, but traversed only {row['found']} of {row['required']} gold edges"


def _failed(row: Failure) -> str:
    return f"was not answered: {row['error']}"


def _failed_verdict(row: Failure) -> str:
    tries = f" after {counted(row['attempts'], 'try', 'tries')}" if row["attempts"] > 1 else ""
    return f"{row['judge']} gave no verdict by {row['grader']}{tries}: {row['failure']}, {row['reason'] or 'no reason'}"


def _sentence_of(row: Failure) -> str:
    return f" in sentence {row['sentence']}" if row["sentence"] else ""


def _unsupported(row: Failure) -> str:
    why = f" ({row['mismatch']})" if row["mismatch"] else ""
    named = f", although {row['judge']} named {', '.join(row['named'])}" if row["named"] else ""
    return f"nothing retrieved supports the claim{_sentence_of(row)}: {row['claim']}{why}{named}"


def _bad_citation(row: Failure) -> str:
    at = f", at the claim: {row['claims'][0]}" if row["claims"] else ""
    return f"the citation {row['citation']} is wrong: {row['reason'] or 'no reason given'}{at}"


def _off_gold(row: Failure) -> str:
    return f"the claim{_sentence_of(row)} rests on an edge outside gold, {_edge(row)}: {row['claim']}"


def _missed_passage(row: Failure) -> str:
    return f"{row['relevant']} was not retrieved ({row['found']} of {counted(row['required'], 'relevant id')} were)"


def _lucky(row: Failure) -> str:
    went = f"; from there it went to {', '.join(row['went_to'])}" if row["went_to"] else ""
    return f"was judged right, but {_step(row)} was not traversed{_place(row)}: {_edge(row)}{went}"


#: The outcome of a failed test, by its status.
_ENDED = {
    "test_failure": "{test!r} failed",
    "unproven": "{test!r} proves nothing",
    "runtime_error": "{test!r} ended in an error",
    "syntax_error": "it isn't valid {language}",
    "timeout": "{test!r} took too long",
    "memory": "{test!r} took too much memory",
    "refused": "{test!r} tried something that the sandbox refuses",
}


def _failed_execution(row: Failure) -> str:
    if row["status"] == "no_code":
        return f"should have given code ({row['language']}), but gave none"
    returned = f", got {row['returned']}" if row["returned"] is not None else ""
    values = f"expected {row['expected']}{returned}" if row["expected"] is not None else ""
    line = f" at line {row['line']}" if row["line"] else ""
    why = f": {row['message'] or values}" if row["message"] or values else ""
    ended = _ENDED[row["status"]].format(**row)
    return f"its code passed {row['passed']} of {counted(row['total'], 'test')}; {ended}{line}{why}"


def _forbidden(row: Failure) -> str:
    tests = ", ".join(map(repr, row["tests"]))
    some = "test" if len(row["tests"]) == 1 else "tests"
    return f"its code tried something that the sandbox forbids: {row['attempt']}, in the {some} {tests}"


SENTENCES: dict[str, Callable[[Failure], str]] = {
    "failed-questions": _failed,
    "wrong-turns": _wrong_turn,
    "missed-edges": _missed_edge,
    "missed-boundaries": _missed_boundary,
    "missed-passages": _missed_passage,
    "boundaries-missed": _boundary_missed,
    "relations-missed": _relation_missed,
    "edges-missed": _single_missed,
    "nodes-missed": _single_missed,
    "edges-absent": _edge_absent,
    "right-files-wrong-path": _right_files,
    "unsupported-claims": _unsupported,
    "bad-citations": _bad_citation,
    "claims-off-gold": _off_gold,
    "right-answer-wrong-path": _lucky,
    "failed-verdicts": _failed_verdict,
    "failed-executions": _failed_execution,
    "forbidden-attempts": _forbidden,
    "wrong-repositories": _wrong_repository,
    "incoherent-pairs": _incoherent,
    "unknown-commits": _unknown_commit,
}


def sentence(kind: str, failure: Failure) -> str:
    """Return a sentence on a failure of a kind in ``SENTENCES``, without its question."""
    return short_shas(SENTENCES[kind](failure))
