"""What a run did on the gold paths of a question, in words that follow from the marks of its spine."""

from __future__ import annotations

from graphkit.analysis.breaks import Break
from graphkit.records.ids import distinct_names
from graphkit.records.words import counted
from graphkit.report.escaping import visible
from graphkit.report.spine import NAME, Column, Spine, SpinePath, SpineStep

#: Why nothing is said about the steps, by the state of the question.
NOT_SCORED = {
    "failed": "was not answered: the record holds an error",
    "absent": "was not answered: the run has no record",
    "invalid": "is not scored: its gold is stale",
    "unlogged": "has no traversal in its record (not logged)",
}

#: The verdict on a right answer whose path lacks a step.
LUCK = "right answer over a missed path: luck"


def sentences(spine: Spine, run: int) -> list[str]:
    """Return what a run did, one sentence for each path that counts; a right answer over a missed path is luck.

    Steps count from 1, as the rows of the spine do. A sentence follows from the marks of its column alone: it names the
    first required step that isn't marked as walked, and how many are.
    """
    column = spine.columns[run]
    if column.state != "scored":
        return [NOT_SCORED[column.state]]
    if not column.counted:
        return ["no step is required"]
    breaks = {one.path: one for one in column.breaks}
    found = [_named(spine, place) + _path(spine, column, place, breaks.get(place)) for place in column.counted]
    return [*found, LUCK] if spine.lucky[run] else found


def _named(spine: Spine, place: int) -> str:
    """Return the name of a path before its sentence, if there is more than one."""
    if len(spine.backbone.paths) == 1:
        return ""
    kind = "alternative" if spine.alternatives(place) else "path"
    return f"{kind} {spine.backbone.paths[place].name}: "


def _path(spine: Spine, column: Column, place: int, broken: Break | None) -> str:
    path = spine.backbone.paths[place]
    walked = sum(column.marks[place][step].kind == "walked" for step in path.required)
    if broken is None:
        order = "" if column.in_order[place] else ", but no retrieved path has them in this order"
        every = {1: "the required step", 2: "both required steps"}.get(walked, f"all {walked} required steps")
        return f"walked {every}{order}"
    share = f"{walked} of {counted(len(path.required), 'required step')} walked"
    if broken.entered:
        return f"{_where(spine, column, path, broken)}; {share}"
    start = path.steps[broken.step].source
    rank = f" (retrieved at #{column.ranks[start]})" if column.ranks[start] > 0 else ""
    return f"the walk never entered the path at {_names(spine)[spine.backbone.nodes[start].id]}{rank}; {share}"


def _where(spine: Spine, column: Column, path: SpinePath, broken: Break) -> str:
    """Return where a walk that came to the path misses a step: where it broke or joined, or how it came to the end."""
    count, edge = len(path.steps), _edge(spine, path.steps[broken.step])
    lost = f"{edge} (step {broken.step + 1}) was not walked"
    if broken.kind == "joined" and broken.joined is not None:
        return f"the walk joined the path at step {broken.joined + 1} of {count}: {lost}"
    if broken.kind == "other route":
        end = _names(spine)[spine.backbone.nodes[path.steps[-1].target].id]
        return f"the walk reached the end of the path, {end}, by another route: {lost}"
    return f"broke at step {broken.step + 1} of {count}: {_how(spine, column, path, broken)}"


def _how(spine: Spine, column: Column, path: SpinePath, broken: Break) -> str:
    step, mark = path.steps[broken.step], column.marks[broken.path][broken.step]
    edge = _edge(spine, step)
    if broken.kind == "reversed":
        return f"{edge} was walked in the other direction"
    if broken.kind == "relation":
        return f"{edge} was walked as {mark.relation or 'another relation'}"
    names = _names(spine, broken)
    edge = _edge(spine, step, names)
    if broken.turn is not None:
        _, relation, target = broken.turn
        by = f" by {visible(relation, NAME)}" if relation else ""
        return f"{edge} was not walked, the walk went{by} to {names[visible(target)]} instead"
    start = names[spine.backbone.nodes[step.source].id]
    return f"{edge} was not walked{f', the walk stopped at {start}' if broken.kind == 'stopped' else ''}"


def _names(spine: Spine, broken: Break | None = None) -> dict[str, str]:
    """Return the names of the nodes of the spine and of where a walk turned, as long as it takes to tell them apart."""
    names = {node.id: node.names for node in spine.backbone.nodes}
    if broken is not None and broken.turn is not None:
        names[visible(broken.turn[2])] = tuple(map(visible, broken.turned_to))
    return distinct_names(names)


def _edge(spine: Spine, step: SpineStep, names: dict[str, str] | None = None) -> str:
    target = (_names(spine) if names is None else names)[spine.backbone.nodes[step.target].id]
    return f"{step.relation} to {target}" if step.relation else f"the step to {target}"
