"""Draws what the named queries for analysts find in the storefront: rows with bars, and graphs as Neo4j Browser does.

Graphs are drawn by the style that ``graphkit queries --browser-guide`` writes: colours, widths and captions come from
its rules. Nothing needs a font that isn't there.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import networkx

import graphkit
from graphkit.database.values import Subgraph
from graphkit.graph.queries import analysis_queries
from graphkit.graph.user_queries import QueryRows, user_query
from graphkit.plugins.guide.browser_guide import repositories_of, repository_labels, style
from graphkit.records.words import shortened

RUN, QUESTION = "storefront-graph", "sf-23"

#: The column of each query that is drawn as a bar.
BARS = {
    "lost-in-every-run": "edge_recall",
    "gold-missed-most": "missed",
    "boundaries-by-run": "missed",
    "usage-by-failure": "prompt_tokens",
    "mixed-commits": "chunk_pairs",
}
ROWS, CELL = 8, 26
WIDTH, HEIGHT, MARGIN = 1080, 760, 60

FONT = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif'

#: A rule of a style: its selector in parts, and its properties.
Rule = tuple[list[str], dict[str, str]]


def query_pictures() -> dict[str, str]:
    """Return a picture of each query for analysts as SVG, by the query's name."""
    pictures = {}
    with tempfile.TemporaryDirectory() as folder, graphkit.open_store(data=Path(folder) / "graph") as store:
        for file in sorted((graphkit.storefront_folder() / "runs").glob("*.jsonl")):
            graphkit.evaluate(file, store=store, measures=["EdgeRecall", "BoundaryRecall", "PathExact", "Recall@10"])
        repositories = repositories_of(store, RUN)
        for query in analysis_queries():
            given = {"run": RUN, **({"question": QUESTION} if query.columns == ("path",) else {})}
            found = user_query(query.name, None, given).run(store, draw=True)
            title = f"graphkit query {query.name} " + " ".join(f"-p {name}={value}" for name, value in given.items())
            pictures[query.name] = (
                graph_picture(title, found.subgraph, repositories)
                if found.subgraph.nodes
                else table_picture(title, found, BARS.get(query.name))
            )
    return pictures


def _svg(title: str, width: int, height: int, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">'
    )
    words = f"<style>text {{ font: 13px {FONT}; fill: #1f2328; }} .dim {{ fill: #59636e; }} .on {{ fill: #fff; }}"
    words += " .small { font-size: 8.5px; }</style>"
    sheet = f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="10" fill="#ffffff" stroke="#d1d9e0"/>'
    heading = f'<text x="24" y="34" class="dim">{escape(title)}</text>'
    return "\n".join([head, words, sheet, heading, *parts, "</svg>"]) + "\n"


def table_picture(title: str, found: QueryRows, bar: str | None) -> str:
    """Return the first rows as a table, one column of it as bars."""
    rows = [[_cell(value) for value in row] for row in found.texts[:ROWS]]
    columns = [*zip(found.columns, *rows, strict=True)]
    widths = [max(map(len, column)) * 7.4 + 26 for column in columns]
    place = found.columns.index(bar) if bar else -1
    most = max((float(row[place] or 0) for row in found.rows[:ROWS]), default=0.0) if bar else 0.0
    width = int(sum(widths) + (140 if bar else 0) + 40)
    parts, x = [], 24.0
    for number, column in enumerate(columns):
        for line, text in enumerate(column):
            kind = ' class="dim"' if line == 0 else ""
            parts.append(f'<text x="{x:.0f}" y="{68 + 26 * line}"{kind}>{escape(text)}</text>')
        x += widths[number]
        if number == place:
            for line, row in enumerate(found.rows[:ROWS], 1):
                length = 120 * float(row[place] or 0) / most if most else 0
                parts.append(
                    f'<rect x="{x:.0f}" y="{57 + 26 * line}" width="{length:.0f}" height="13" fill="#4a7fb5"/>'
                )
            x += 140
    if found.total > len(rows):
        more = f"and {found.total - len(rows)} rows more"
        parts.append(f'<text x="24" y="{76 + 26 * (len(rows) + 1)}" class="dim">{more}</text>')
    return _svg(title, max(width, 640), 96 + 26 * (len(rows) + 1), parts)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return shortened(
        value if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value), CELL
    )


def rules_of(sheet: str) -> list[Rule]:
    """Return the rules of a style."""
    found = re.findall(r"([\w.]+) \{\n(.*?)\n\}", sheet, re.DOTALL)
    return [
        (selector.split("."), {name: value.strip('"') for name, value in re.findall(r"([\w-]+): (.*?);", body)})
        for selector, body in found
    ]


def styled(rules: Sequence[Rule], kind: str, classes: Sequence[str]) -> dict[str, str]:
    """Return the properties that a style gives a node or relationship: of rules that fit, a later one wins."""
    properties: dict[str, str] = {}
    for (own, *needed), given in rules:
        if own == kind and {*needed} <= {*classes}:
            properties |= given
    return properties


def captioned(caption: str, properties: Mapping[str, Any]) -> str:
    """Return a caption with the values of its properties."""
    text = caption.replace("<type>", str(properties.get("_type", "")))
    return " ".join(re.sub(r"\{(\w+)\}", lambda one: _value(properties.get(one[1])), text).split())


def _value(value: Any) -> str:
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def graph_picture(title: str, subgraph: Subgraph, repositories: Sequence[str]) -> str:
    """Return the graph as Neo4j Browser draws it by the style of the guide, with the labels of repositories."""
    rules, labels = rules_of(style(repositories)), repository_labels(repositories)
    order = sorted(subgraph.nodes, key=lambda name: json.dumps(subgraph.nodes[name], sort_keys=True))
    numbers = {name: number for number, name in enumerate(order)}
    # Several paths may take the same edge: it is drawn once, at the first position.
    known: dict[tuple[int, int, str, str], Mapping[str, Any]] = {}
    relationships = sorted(subgraph.relationships.values(), key=lambda one: json.dumps(one[2], sort_keys=True))
    for source, target, given in relationships:
        key = numbers[source], numbers[target], str(given["_type"]), str(given.get("relation"))
        known.setdefault(key, given)
    edges = [(key[0], key[1], known[key]) for key in sorted(known)]
    places = _layout(len(order), [(start, end) for start, end, _ in edges])
    parts = ['<g stroke-linecap="round">']
    drawn: dict[tuple[int, int], int] = {}
    texts = []
    for start, end, properties in edges:
        shown = styled(rules, "relationship", [str(properties["_type"])])
        pair = (min(start, end), max(start, end))
        drawn[pair] = number = drawn.get(pair, 0) + 1
        bend = (number // 2) * 26 * (1 if number % 2 else -1) * (1 if start < end else -1)
        line, middle = _line(places[start], places[end], bend)
        width = shown["shaft-width"].removesuffix("px")
        parts.append(f'<path d="{line}" fill="none" stroke="{shown["color"]}" stroke-width="{width}"/>')
        if caption := captioned(shown["caption"], properties):
            texts.append(_label(middle, shortened(caption, 34), shown["color"]))
    parts += ["</g>", *texts]
    for name, (x, y) in zip(order, places, strict=True):
        node = subgraph.nodes[name]
        kinds = [*node["_labels"], labels.get(str(node.get("repo")), "")]  # type: ignore[misc]
        shown = styled(rules, "node", kinds)
        radius = float(shown["diameter"].removesuffix("px")) / 2
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:g}" fill="{shown["color"]}"/>')
        lines = _wrapped(captioned(shown.get("caption", ""), node))
        for row, text in enumerate(lines):
            at = y + 4 + (row - (len(lines) - 1) / 2) * 10
            parts.append(f'<text x="{x:.0f}" y="{at:.0f}" class="on small" text-anchor="middle">{escape(text)}</text>')
    return _svg(title, WIDTH, HEIGHT, parts)


def _layout(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return where each node is drawn."""
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    found = networkx.spring_layout(graph, k=1.9 / math.sqrt(count), iterations=400, seed=7)
    xs, ys = zip(*(found[number] for number in range(count)), strict=True)

    def scaled(value: float, values: Sequence[float], size: int, top: int) -> float:
        span = max(values) - min(values) or 1.0
        return top + MARGIN + (value - min(values)) / span * (size - top - 2 * MARGIN)

    return [(scaled(x, xs, WIDTH, 0), scaled(y, ys, HEIGHT, 20)) for x, y in zip(xs, ys, strict=True)]


def _line(start: tuple[float, float], end: tuple[float, float], bend: float) -> tuple[str, tuple[float, float]]:
    """Return a curve between two nodes with an arrow at its end, and its middle."""
    length = math.dist(start, end) or 1.0
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    middle = ((start[0] + end[0]) / 2 - dy * bend, (start[1] + end[1]) / 2 + dx * bend)
    tip = (end[0] - dx * 27, end[1] - dy * 27)
    left, right = ((tip[0] - dx * 8 + side * dy * 5, tip[1] - dy * 8 - side * dx * 5) for side in (1, -1))
    control = (2 * middle[0] - (start[0] + end[0]) / 2, 2 * middle[1] - (start[1] + end[1]) / 2)
    curve = f"M{start[0]:.0f} {start[1]:.0f}Q{control[0]:.0f} {control[1]:.0f} {tip[0]:.0f} {tip[1]:.0f}"
    arrow = f"M{left[0]:.0f} {left[1]:.0f}L{tip[0]:.0f} {tip[1]:.0f}L{right[0]:.0f} {right[1]:.0f}"
    return curve + arrow, middle


def _label(place: tuple[float, float], text: str, colour: str) -> str:
    return (
        f'<text x="{place[0]:.0f}" y="{place[1]:.0f}" text-anchor="middle" style="font-size:9px;fill:{colour};'
        f'paint-order:stroke;stroke:#fff;stroke-width:3px">{escape(text)}</text>'
    )


def _wrapped(text: str, width: int = 10, most: int = 4) -> list[str]:
    """Return a caption in short lines, broken at spaces and within long words."""
    parts = [part for word in text.split() for part in re.findall(rf".{{1,{width}}}", word)]
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) < width:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines if len(lines) <= most else [*lines[: most - 1], "…"]
