"""The findings on what a run did wrong: how often each kind of failure occurs, with the worst of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphkit.analysis.explain import sentence, sentences
from graphkit.analysis.findings import NAMED, Brief, BriefLine, BriefTable, listed
from graphkit.errors import one_line
from graphkit.files.assets import command_text, option_text
from graphkit.records.failed_rows import NO_RECORD, NOT_WALKED, Failures
from graphkit.records.ids import Places
from graphkit.records.words import counted, short_shas, two

#: The list of questions, which is no failure by itself.
SCORES = "questions-by-score"

#: The kinds whose worst failure is told in a sentence, as far as there is room; and how many kinds the table shows.
TOLD = (
    "access-violations",
    "answered-unanswerable",
    "over-refusals",
    "wrong-turns",
    "missed-boundaries",
    "claims-off-gold",
    "incoherent-pairs",
    "failed-executions",
    "missed-passages",
)
KINDS = 11

#: The kinds of which ``why`` says what is wrong with their questions.
EXPLAINED = (
    *("missed-edges", "wrong-turns", "failed-questions", "missed-passages", "unsupported-claims", "incoherent-pairs"),
    *("stale-gold", "answered-unanswerable", "over-refusals", "access-violations"),
)

#: How many failures of one kind are listed.
ROWS = 40


def failures_brief(
    run: str,
    found: Mapping[str, Failures],
    question: str | None = None,
    kind: str | None = None,
    dataset: Path | None = None,
) -> Brief:
    """Return what to print of the failures of a run, by kind.

    ``question``, ``kind`` and ``dataset`` are what was asked for; the commands to type next repeat the dataset.
    """
    there = {name: rows for name, rows in found.items() if rows}
    return _brief(run, there, question, kind, "" if dataset is None else option_text("dataset", dataset))


def _brief(run: str, there: Mapping[str, Failures], question: str | None, kind: str | None, options: str) -> Brief:
    if kind is not None or question is not None:
        return _listed(run, there, question, kind, options)
    kinds = [name for name in there if name != SCORES]
    told = [name for name in TOLD if name in there]
    findings = [BriefLine(name, _with_question(name, there[name][0]), 60 - place) for place, name in enumerate(told)]
    if len(kinds) > KINDS:
        findings.append(BriefLine("more", f"{listed(kinds[KINDS:], 5)}: --full", 70))
    worst = _worst(there)
    commands = [command_text("why", run, worst, options=options)] if worst is not None else []
    commands += [command_text("failures", run, options=f" --kind {(told or kinds)[0]}{options}")] if kinds else []
    return Brief(_summary(run, there), _table(there, kinds), tuple(findings), tuple(commands))


def _worst(found: Mapping[str, Failures]) -> str | None:
    """Return the question that lost most required edges, else one that ``why`` finds something wrong with; or None."""
    lost = Counter(
        question
        for question, *_ in {
            (str(row["question"]), row["source"], row["relation"], row["target"]): None
            for row in found.get("missed-edges", ())
        }
    )
    explained = (question for kind in EXPLAINED if kind in found for question in _questions(found[kind]))
    return lost.most_common(1)[0][0] if lost else next(explained, None)


def described(kind: str, row: Mapping[str, Any]) -> str:
    """Return a failure in words: its sentence, its edge, or its columns."""
    if kind in sentences():
        return one_line(sentence(kind, row))
    if {"source", "target"} <= row.keys():
        return one_line(f"{row['source']} -{row.get('relation') or ''}-> {row['target']}")
    cells = [(name, value) for name, value in row.items() if name != "question" and value not in (None, [])]
    return one_line(short_shas(", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in cells)))


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return two(value) if isinstance(value, float) else str(value)


def _with_question(kind: str, row: Mapping[str, Any]) -> str:
    question = f"{row['question']}: " if row.get("question") else ""
    return f"{question}{described(kind, row)}"


def _questions(rows: Failures) -> list[str]:
    """Return the questions of some rows, that with most rows first."""
    return [name for name, _ in Counter(str(row["question"]) for row in rows if row.get("question")).most_common()]


def _table(found: Mapping[str, Failures], kinds: Sequence[str]) -> BriefTable:
    rows = []
    for name in kinds[:KINDS]:
        questions = _questions(found[name])
        first = ", ".join(questions[:NAMED]) + (", ..." if len(questions) > NAMED else "")
        if not questions:
            first = ", ".join(_count(row) for row in found[name][: 1 if "source" in found[name][0] else NAMED])
        rows.append((name, str(found[name].total), str(len(questions) or "–"), first))
    return BriefTable(("kind", "rows", "questions", "the worst"), tuple(rows), least=("questions",))


def _count(row: Mapping[str, Any]) -> str:
    """Return a boundary, relation, edge or node with how often it is missed and required; nodes by their symbols."""
    if "source" in row:
        name = f"{_symbol(row['source'])}→{_symbol(row['target'])}"
    elif "node" in row:
        name = _symbol(row["node"])
    else:
        name = row["relation"] if "relation" in row else f"{row['from_repo']}→{row['to_repo']}"
    return one_line(f"{name} {row['missed']}/{row['required']}")


def _symbol(node: str) -> str:
    return Places().names(node)[0]


def _summary(run: str, found: Mapping[str, Failures]) -> str:
    scores = found.get(SCORES)
    if not found:
        return f"{run}: no such failure"
    if not scores:
        # A row of a boundary or a relation counts edges whose rows stand under another kind.
        failures = sum(rows.total for rows in found.values() if _questions(rows))
        return f"{run}: {counted(failures, 'failure')}"
    kinds = {NO_RECORD: "missing", NOT_WALKED: "not logged"}
    counts = Counter(kinds.get(str(row["error"]), "failed") for row in scores if row["error"] is not None)
    parts = [f"{counts[name]} {name}" for name in ("failed", "missing", "not logged") if counts[name]]
    whole = sum(row["found"] == row["required"] for row in scores)
    lost = len(scores) - whole - counts.total()
    parts += [f"{lost} {'misses' if lost == 1 else 'miss'} gold edges", f"{whole} {_have(whole)} them all"]
    stale = found["stale-gold"].total if "stale-gold" in found else 0
    more = f"; {stale} more {_have(stale)} stale gold" if stale else ""
    return f"{run}: of {counted(scores.total, 'question')} with gold edges {', '.join(parts)}{more}"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _listed(run: str, found: Mapping[str, Failures], question: str | None, kind: str | None, options: str) -> Brief:
    """Return the failures of one kind or of one question, one a line; all kinds of a question take turns."""
    findings = list(_in_turn(found, kind))
    total = sum(rows.total for rows in found.values())
    what = f", {question}" if question is not None else ""
    asked = f" --kind {kind}" if kind is not None else ""
    if not found:
        return Brief("no such failure")
    count = counted(total, "row") if kind is not None else f"{counted(total, 'row')} of {counted(len(found), 'kind')}"
    summary = f"{run}{what}: {count}{f' of {kind}' if kind is not None else ''}"
    first = question or next((name for kind in EXPLAINED if kind in found for name in _questions(found[kind])), None)
    commands = [command_text("why", run, first, options=options)] if first is not None else []
    option = option_text("question", question) if question is not None else ""
    if total > 1:
        commands.append(command_text("failures", run, options=f"{asked}{option} --limit 0{options}"))
    return Brief(summary, None, tuple(findings), tuple(commands))


def _in_turn(found: Mapping[str, Failures], kind: str | None) -> Iterator[BriefLine]:
    """Yield the failures kind by kind; of several kinds, the first of each weighs more than the second."""
    for place, (name, rows) in enumerate(found.items()):
        for number, row in enumerate(rows[:ROWS]):
            text = _with_question(name, row) if kind is not None else described(name, row)
            yield BriefLine("" if kind is not None else name, text, 90 - 2 * number - (place if number else 0))
