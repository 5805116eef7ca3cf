"""What a run did on the gold paths of a question, in words that follow from the marks of its spine."""

from __future__ import annotations

from graphkit.records.words import counted
from graphkit.report.escaping import visible
from graphkit.report.spine import NAME, Break, Column, Spine, SpinePath, SpineStep, label_of

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
    if not broken.entered:
        start = path.steps[broken.step].source
        rank = f" (retrieved at #{column.ranks[start]})" if column.ranks[start] > 0 else ""
        return f"the walk never entered the path at {spine.backbone.nodes[start].label}{rank}; {share}"
    return f"broke at step {broken.step + 1} of {len(path.steps)}: {_how(spine, column, path, broken)}; {share}"


def _how(spine: Spine, column: Column, path: SpinePath, broken: Break) -> str:
    step, mark = path.steps[broken.step], column.marks[broken.path][broken.step]
    edge = _edge(spine, step)
    if mark.kind == "reversed":
        return f"{edge} was walked in the other direction"
    if mark.kind == "relation":
        return f"{edge} was walked as {mark.relation or 'another relation'}"
    if broken.turn is not None:
        _, relation, target = broken.turn
        by = f" by {visible(relation, NAME)}" if relation else ""
        return f"{edge} was not walked, the walk went{by} to {label_of(target)} instead"
    start = spine.backbone.nodes[step.source].label
    return f"{edge} was not walked" + (f", the walk stopped at {start}" if broken.stopped else "")


def _edge(spine: Spine, step: SpineStep) -> str:
    target = spine.backbone.nodes[step.target].label
    return f"{step.relation} to {target}" if step.relation else f"the step to {target}"
