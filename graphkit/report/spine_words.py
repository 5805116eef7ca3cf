"""What a run did on the gold paths of a question, in words that follow from the marks of its spine."""

from __future__ import annotations

from graphkit.records.words import counted, in_backticks
from graphkit.report.spine import NAME, Column, Spine

#: The verdict on a right answer whose path lacks a step.
LUCK = "right answer over a missed path: luck"


def sentences(spine: Spine, run: int) -> list[str]:
    """Return what a run did, one sentence for each path that counts; a right answer over a missed path is luck.

    Steps count from 1, as the rows of the spine do. A sentence on a path that broke is its cause, with how many steps
    were walked. Names stand between backticks.
    """
    column = spine.columns[run]
    causes = {one.path: one for one in column.causes}
    found = []
    for place, told in clauses(spine, run):
        if place is None or place not in causes:
            found.append(told)
            continue
        required = spine.backbone.paths[place].required
        walked = sum(column.marks[place][step].kind == "walked" for step in required)
        found.append(f"{told}; {walked} of {counted(len(required), 'required step')} walked")
    return [*found, LUCK] if column.counted and spine.lucky[run] else found


def clauses(spine: Spine, run: int) -> list[tuple[int | None, str]]:
    """Return what a run did on each path that counts, with its place; without one if none counts or it isn't scored."""
    column = spine.columns[run]
    causes = {one.path: one for one in column.causes}
    if None in causes:  # the question isn't scored or logged
        return [(None, causes[None].sentence)]
    if not causes:
        return [(None, column.whole)]
    return [
        (place, causes[place].sentence if place in causes else _whole(spine, column, place)) for place in column.counted
    ]


def _whole(spine: Spine, column: Column, place: int) -> str:
    """Return the words on a path of which every required step was walked."""
    path = spine.backbone.paths[place]
    walked = len(path.required)
    of = f" of path {in_backticks(path.name, NAME)}" if len(spine.backbone.paths) > 1 else ""
    order = "" if column.in_order[place] else ", but no retrieved path has them in this order"
    every = {1: "the required step", 2: "both required steps"}.get(walked, f"all {walked} required steps")
    return f"walked {every}{of}{order}"
