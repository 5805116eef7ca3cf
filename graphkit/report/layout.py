"""The layout of a drawing: one swim lane per repository, one column per step. Pure and deterministic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Pair = tuple[int, int]

#: Sizes in pixels: nodes, gaps between columns and rows, and the space above and below the nodes of a lane.
NODE_WIDTH = 196
NODE_HEIGHT = 56
COLUMN_GAP = 96
ROW_GAP = 18
LANE_HEAD = 40
LANE_FOOT = 16
MARGIN = 12

_COLUMN = NODE_WIDTH + COLUMN_GAP
_ROW = NODE_HEIGHT + ROW_GAP


@dataclass(frozen=True, slots=True)
class Lane:
    """The strip of one repository."""

    name: str
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class Box:
    """The position of a node: its lane, its column, and its upper left corner."""

    lane: int
    column: int
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """The line of an edge as an SVG path, and the position of its label."""

    path: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """One drawing: a box for each node and a line for each edge, in the given order."""

    width: int
    height: int
    lanes: tuple[Lane, ...]
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def draw(
    lane_names: Sequence[str], gold: Sequence[Sequence[Pair]], walks: Sequence[Sequence[Pair]], edges: Sequence[Pair]
) -> Drawing:
    """Lay out nodes and edges; nodes are numbers, and ``lane_names`` gives the repository of each.

    Parameters
    ----------
    gold, walks
        The gold paths and the retrieved paths, each as its steps in order.
    edges
        The edges to draw.
    """
    columns = _columns(len(lane_names), gold, walks)
    golden = {node for path in gold for step in path for node in step}
    order = sorted(range(len(lane_names)), key=lambda node: (node not in golden, node))
    lanes = list(dict.fromkeys(lane_names[node] for node in order))
    number_of = {name: number for number, name in enumerate(lanes)}
    filled: Counter[Pair] = Counter()
    rows = [0] * len(lane_names)
    for node in order:
        cell = number_of[lane_names[node]], columns[node]
        rows[node] = filled[cell]
        filled[cell] += 1
    placed: list[Lane] = []
    y = MARGIN
    for number, name in enumerate(lanes):
        most = max(count for (lane, _), count in filled.items() if lane == number)
        height = LANE_HEAD + most * _ROW - ROW_GAP + LANE_FOOT
        placed.append(Lane(name, y, height))
        y += height + MARGIN
    boxes = []
    for node, name in enumerate(lane_names):
        lane = number_of[name]
        box_y = placed[lane].y + LANE_HEAD + rows[node] * _ROW
        boxes.append(Box(lane, columns[node], 2 * MARGIN + columns[node] * _COLUMN, box_y))
    width = 4 * MARGIN + max(columns, default=0) * _COLUMN + NODE_WIDTH + COLUMN_GAP // 2
    return Drawing(width, y, tuple(placed), tuple(boxes), tuple(_lines(boxes, edges)))


def _columns(count: int, gold: Sequence[Sequence[Pair]], walks: Sequence[Sequence[Pair]]) -> list[int]:
    """Return the column of each node: gold paths run from left to right, and the traversal is attached to them."""
    found: dict[int, int] = {}
    for path in gold:
        for position, (source, target) in enumerate(path):
            if source not in found:
                found[source] = max(found[target] - 1, 0) if target in found else position
            found.setdefault(target, found[source] + 1)
    steps = [step for walk in walks for step in walk]
    while steps:
        left = []
        for source, target in steps:
            if source in found:
                found.setdefault(target, found[source] + 1)
            elif target in found:
                found[source] = max(found[target] - 1, 0)
            else:
                left.append((source, target))
        if len(left) == len(steps):
            # No remaining step touches a placed node: the next traversal begins on the left.
            found[left[0][0]] = 0
        steps = left
    return [found.get(node, 0) for node in range(count)]


def _lines(boxes: Sequence[Box], edges: Sequence[Pair]) -> list[Line]:
    """Return the line of each edge; edges between the same two nodes run side by side."""
    between: Counter[Pair] = Counter()
    lines = []
    for source, target in edges:
        ends = min(source, target), max(source, target)
        lines.append(_line(boxes[source], boxes[target], between[ends]))
        between[ends] += 1
    return lines


def _line(start: Box, end: Box, beside: int) -> Line:
    shift = 14 * beside
    y1, y2 = start.y + NODE_HEIGHT // 2 + shift, end.y + NODE_HEIGHT // 2 + shift
    left, right = start.x, start.x + NODE_WIDTH
    if start == end:
        x = left + NODE_WIDTH // 2 + shift
        y, top = start.y, start.y - 24
        return Line(f"M{x - 16} {y}C{x - 24} {top} {x + 24} {top} {x + 16} {y}", x, y)
    if end.column == start.column:
        bulge = right + 34 + shift
        return Line(f"M{right} {y1}C{bulge} {y1} {bulge} {y2} {right} {y2}", right + 26 + shift, (y1 + y2) // 2)
    if end.column == start.column + 1:
        x1, x2 = right, end.x
        half = (x1 + x2) // 2
        return Line(f"M{x1} {y1}C{half} {y1} {half} {y2} {x2} {y2}", half, (y1 + y2) // 2)
    # Further on, or back: an arch above the nodes in between.
    forward = end.column > start.column
    x1, x2 = (right, end.x) if forward else (left, end.x + NODE_WIDTH)
    top = min(start.y, end.y) - 16 - shift
    reach = 48 if forward else -48
    return Line(f"M{x1} {y1}C{x1 + reach} {top} {x2 - reach} {top} {x2} {y2}", (x1 + x2) // 2, (y1 + y2 + 6 * top) // 8)
