"""The page of a query: what its rows draw, as the map of a question is drawn, and the rows themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphkit.database.values import Subgraph
from graphkit.files.atomic import written
from graphkit.graph.user_queries import QueryRows, node_name, relationship_name
from graphkit.records.words import counted
from graphkit.report.escaping import packed, page_json, visible, visible_text
from graphkit.report.page import style_or_script
from graphkit.report.rendering import TEMPLATES, environment, script

#: The style sheets of the page, in order.
STYLES = ("base.css", "report.css", "map.css")

#: The relationships that the page draws, the rows that it shows, and the characters of a cell; the rest is counted.
RELATIONSHIPS, ROWS, CELL = 1000, 1000, 2000


def write_query_page(
    out: Path, found: QueryRows, query: str, title: str, about: str = "", parameters: Mapping[str, object] | None = None
) -> Path:
    """Write the page of a query into a file, and return that.

    Parameters
    ----------
    query, parameters
        The text of the query and its parameters.
    title, about
        The heading, and a sentence below it.
    """
    text = query_page(found, query, title, about, parameters)
    with written(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return out


def query_page(
    found: QueryRows, query: str, title: str, about: str = "", parameters: Mapping[str, object] | None = None
) -> str:
    """Return the text of the page; see :func:`write_query_page`."""
    style, style_source = style_or_script("".join((TEMPLATES / name).read_text(encoding="utf-8") for name in STYLES))
    code, script_source = style_or_script(script("query.js"))
    drawn = subgraph_map(found.subgraph)
    counts = (
        f"{counted(len(found.subgraph.nodes), 'node')}, {counted(len(found.subgraph.relationships), 'relationship')}"
    )
    template = environment().from_string(Path(__file__).with_name("query.html").read_text(encoding="utf-8"))
    return template.render(
        title=visible(title),
        about=visible_text(about),
        parameters=[(visible(name), visible(_cell(one))) for name, one in (parameters or {}).items()],
        drawn=counts,
        graph=packed(page_json(drawn)) if drawn["nodes"] else "",
        columns=[visible(name) for name in found.columns],
        rows=[
            [{"text": visible_text(_cell(one), CELL), "number": _is_number(one)} for one in row]
            for row in found.texts[:ROWS]
        ],
        total=found.total,
        query=visible_text(query.strip()),
        style=style,
        style_source=style_source,
        script=code,
        script_source=script_source,
    )


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def subgraph_map(subgraph: Subgraph) -> dict[str, Any]:
    """Return nodes and relationships in the form of the map of a question.

    If there are both gold and traversed edges, they have the same statuses as on the map: gold is matched, missed or
    optional, and any other traversed edge is extra. Other relationships are named by their types.
    """
    statuses = _statuses(subgraph)
    kept = list(statuses.items())[:RELATIONSHIPS]
    ends = [end for (start, _, target), _ in kept for end in (start, target)]
    numbers = {node: number for number, node in enumerate(dict.fromkeys([*ends, *subgraph.nodes]))}
    gold = {end for (start, _, target), status in kept if status in _GOLD for end in (start, target)}
    return {
        "nodes": [_node(subgraph.nodes.get(node), node in gold) for node in numbers],
        "edges": [
            {
                "source": numbers[start],
                "target": numbers[target],
                "relation": visible(name),
                "status": status,
            }
            for (start, name, target), status in kept
        ],
        "omitted": len(statuses) - len(kept),
        "about": f"{counted(len(numbers), 'node')} and {counted(len(kept), 'edge')}. The table below lists them.",
    }


_GOLD = ("matched", "missed", "optional", "uncounted")


def _node(node: Mapping[str, Any] | None, gold: bool) -> dict[str, Any]:
    """Return a node as the map holds it: an artifact by its id, any other by its label and its name."""
    mark = {"marks": ["gold"]} if gold else {}
    if node is None:
        return {"id": "(unknown)", "repo": "", **mark}
    label = "Artifact" if "Artifact" in node["_labels"] else "&".join(node["_labels"])
    if label == "Artifact" and node.get("id") is not None:
        name, repo = str(node["id"]), str(node.get("repo") or "")
        told = {} if repo == (name.partition(":")[0] if ":" in name else "") else {"repo": visible(repo)}
        return {"id": visible(name), **told, **mark}
    return {"id": visible(f"{label} {node_name(node)}".strip(), 200), "repo": "", **mark}


def _statuses(subgraph: Subgraph) -> dict[tuple[str, str, str], str]:
    """Return the status of each distinct edge by its ends and its name, those of gold first."""
    found: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {"GOLD": [], "TRAVERSED": [], "": []}
    for one in subgraph.relationships.values():
        found.get(str(one[2]["_type"]), found[""]).append(one)
    statuses: dict[tuple[str, str, str], str] = {}
    if not (found["GOLD"] and found["TRAVERSED"]):
        for start, end, properties in (one for some in found.values() for one in some):
            statuses[start, relationship_name(properties), end] = "related"
        return statuses
    # The relations of each kind, by the ends and the question.
    walked: dict[tuple[str, str, Any], set[str]] = {}
    gold: dict[tuple[str, str, Any], set[str]] = {}
    for kind, known in (("GOLD", gold), ("TRAVERSED", walked)):
        for start, end, properties in found[kind]:
            known.setdefault((start, end, properties.get("question")), set()).add(str(properties.get("relation") or ""))
    for start, end, properties in found["GOLD"]:
        relation = str(properties.get("relation") or "")
        others = walked.get((start, end, properties.get("question")), set())
        hit = bool(others) and (not relation or bool(others & {relation, ""}))
        missed = "optional" if properties.get("optional") else "missed"
        key = (start, relation, end)
        # Of several gold edges with these ends the one that counts most is drawn.
        statuses[key] = "matched" if hit else missed if statuses.get(key) in (None, "optional") else statuses[key]
    for start, end, properties in found["TRAVERSED"]:
        relation = str(properties.get("relation") or "")
        others = gold.get((start, end, properties.get("question")), set())
        if not (others and (not relation or others & {relation, ""})):
            statuses.setdefault((start, relation, end), "extra")
    for start, end, properties in found[""]:
        statuses[start, relationship_name(properties), end] = "related"
    return statuses
