"""Draws a failure of the storefront: where a traversal left its gold path, and at which commit it read the code.

All that the picture says comes from the fixture and from graphkit's own measures. It needs no font that isn't there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import graphkit
from graphkit.records.ids import Places

RUN, QUESTION = "storefront-graph", "sf-04"

# The grid: columns of nodes, and three rows of which the middle one is the way to the divergence.
LEFT, COLUMN, NODE = 34, 206, 142
ROWS = {"gold": 176, "way": 238, "turn": 300}
WIDTH, HEIGHT = 2 * LEFT + 24 + 4 * COLUMN + NODE, 482

STYLE = """
  text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
  .code { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 13px; }
  .halo { paint-order: stroke; stroke: #f6f8fa; stroke-width: 5px; }
  .title { font-size: 19px; font-weight: 600; }
  .dim { fill: #59636e; } .small { font-size: 12px; }
  .band { fill: #f6f8fa; stroke: #d1d9e0; }
  .node { fill: #ffffff; stroke: #59636e; stroke-width: 1.5; }
  .edge { stroke: #59636e; stroke-width: 2; fill: none; }
  .gold { stroke: #1a7f37; stroke-dasharray: 6 4; } .turn { stroke: #cf222e; stroke-width: 2.5; }
  text.goldtext { fill: #1a7f37; } text.turntext { fill: #cf222e; }
  .goldtip { fill: #1a7f37; } .turntip { fill: #cf222e; } .edgetip { fill: #59636e; }
  .note { fill: #fff8c5; stroke: #d4a72c; }
"""


@dataclass(frozen=True)
class Failure:
    """What the picture shows: the way to the divergence, what gold expected from there, and what happened."""

    question: str
    way: list[tuple[str, str | None, str]]
    expected: list[tuple[str, str | None, str]]
    turn: tuple[str, str | None, str]
    read: str
    pinned: str
    recall: str
    answer: str
    gold_answer: str


def failure() -> Failure:
    """Return the failure of the fixture that the picture shows."""
    folder = graphkit.storefront_folder()
    question = _record(folder / "questions.jsonl", "id")
    answer = _record(folder / "runs" / f"{RUN}.jsonl", "question_id")
    case = graphkit.Case(graphkit.Question.model_validate(question), graphkit.Answer.model_validate(answer))
    [divergence] = graphkit.first_divergences(case)
    turn = divergence.turn
    if turn is None:
        raise ValueError(f"{QUESTION} has no wrong turn any more: choose another question")
    way = min((path[: path.index(turn)] for path in case.walked_paths if turn in path), key=len)
    expected = case.gold[divergence.number].required[divergence.position :]
    step = next(one for one in answer["traversal"] if (one["source"], one["target"]) == (turn[0], turn[2]))
    repo = Places().repo(turn[0])
    found = sum(edge in case.walked for edge in case.gold[0].required)
    recall = graphkit.parse_measure("EdgeRecall").value(case)
    return Failure(
        question=question["question"],
        way=list(way),
        expected=list(expected),
        turn=turn,
        read=_version(folder, step["source_commit"]),
        pinned=_version(folder, question["commits"][repo]),
        recall=f"{recall:.2f}, {found} of {len(case.gold[0].required)} gold edges",
        answer=answer["answer"].split(". ")[-1],
        gold_answer=question["gold_answer"],
    )


def _record(path: Path, key: str) -> dict[str, Any]:
    """Return the record of the question in a file."""
    records = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return next(record for record in records if record[key] == QUESTION)


def _version(folder: Path, sha: str) -> str:
    """Return a commit as people name it: its tag and its branch."""
    commits = (json.loads(line) for line in (folder / "commits.jsonl").read_text(encoding="utf-8").splitlines())
    commit = next(one for one in commits if one["sha"] == sha)
    return f"{commit['tag']} ({commit['branch']})"


def failure_picture() -> str:
    """Return the picture as SVG; its own background makes it readable on a dark page."""
    shown = failure()
    fork = len(shown.way)
    places = {edge[0]: (column, "way") for column, edge in enumerate(shown.way)}
    places |= {shown.turn[0]: (fork, "way"), shown.turn[2]: (fork + 1, "turn")}
    places |= {edge[2]: (fork + 1 + place, "gold") for place, edge in enumerate(shown.expected)}
    repo = Places().repo(shown.turn[0])
    title = f"A wrong turn in {repo}: it read {shown.read}, the question is about {shown.pinned}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<style>{STYLE}</style>",
        f'<rect x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="10" fill="#ffffff" stroke="#d1d9e0"/>',
        _text(LEFT, 42, title, "title"),
        _text(LEFT, 70, f"{QUESTION}: {shown.question}", "dim"),
        *_bands(places),
        *(_edge(places, edge, "edge") for edge in shown.way),
        *(_edge(places, edge, "gold") for edge in shown.expected),
        _edge(places, shown.turn, "turn"),
        *(_node(node, place) for node, place in places.items()),
        *_note(fork, f"read at {shown.read}", f"asked at {shown.pinned}"),
        *_legend(),
        _text(LEFT, 422, f"EdgeRecall {shown.recall}", ""),
        _text(LEFT, 444, f"The answer ends: {shown.answer}", "dim"),
        _text(LEFT, 464, f"The gold answer: {shown.gold_answer}", "dim"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, style: str, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}" text-anchor="{anchor}">{escape(text)}</text>'


def _x(column: int) -> int:
    return LEFT + 12 + column * COLUMN


def _bands(places: dict[str, tuple[int, str]]) -> list[str]:
    """Return a band for each repository, behind the columns of its nodes."""
    columns = sorted({(column, Places().repo(node) or "") for node, (column, _) in places.items()})
    parts = []
    for name, group in groupby(columns, key=lambda one: one[1]):
        held = [column for column, _ in group]
        x, end = _x(held[0]) - 14, _x(held[-1]) + NODE + 14
        parts.append(f'<rect x="{x}" y="96" width="{end - x}" height="258" rx="8" class="band"/>')
        parts.append(_text(x + 14, 122, name, "code dim"))
    return parts


def _node(node: str, place: tuple[int, str]) -> str:
    """Return a node: its symbol, and the file below it."""
    column, row = place
    x, y = _x(column), ROWS[row]
    path, _, symbol = node.partition(":")[2].partition("#")
    style = {"gold": "node gold", "turn": "node turn", "way": "node"}[row]
    return (
        f'<rect x="{x}" y="{y - 23}" width="{NODE}" height="46" rx="7" class="{style}"/>'
        + _text(x + NODE / 2, y - 3, symbol, "code", "middle")
        + _text(x + NODE / 2, y + 14, path.rpartition("/")[2], "code dim small", "middle")
    )


def _edge(places: dict[str, tuple[int, str]], edge: tuple[str, str | None, str], style: str) -> str:
    """Return an arrow with its relation above it."""
    (start, above), (end, below) = places[edge[0]], places[edge[2]]
    x, y, x2, y2 = _x(start) + NODE, ROWS[above], _x(end), ROWS[below]
    bend = (x + x2) / 2
    word = {"gold": " goldtext", "turn": " turntext"}.get(style, " dim")
    label = y2 + (28 if y2 > y else -28) if y != y2 else y - 30
    tip = f'<path d="M{x2} {y2} l-9 -5 v10 z" class="{style}tip"/>'
    return f'<path d="M{x} {y} C{bend} {y} {bend} {y2} {x2 - 7} {y2}" class="edge {style}"/>{tip}' + _text(
        bend, label + (6 if y2 > y else 0), str(edge[1]), f"code small halo{word}", "middle"
    )


def _note(fork: int, *lines: str) -> list[str]:
    """Return the note below the node of the divergence."""
    x, y = _x(fork) - 20, ROWS["way"] + 36
    parts = [f'<rect x="{x}" y="{y}" width="{NODE + 24}" height="48" rx="5" class="note"/>']
    return [*parts, *(_text(x + 10, y + 20 + 18 * place, line, "small") for place, line in enumerate(lines))]


def _legend() -> list[str]:
    """Return what the lines mean; no meaning rests on a colour alone."""
    parts, x = [], LEFT
    for style, words in (("edge", "traversed"), ("turn", "the wrong turn"), ("gold", "gold, never traversed")):
        parts.append(f'<path d="M{x} 382 h34" class="edge {style}"/>')
        parts.append(f'<path d="M{x + 41} 382 l-9 -5 v10 z" class="{style}tip"/>')
        parts.append(_text(x + 50, 387, words, ""))
        x += 90 + 8 * len(words)
    return parts
