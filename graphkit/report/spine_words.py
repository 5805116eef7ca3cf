"""What a run did on the gold paths of a question, in words that follow from the marks of its spine."""

from __future__ import annotations

from graphkit.analysis.causes import Cause
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
    if None in causes:  # the question isn't scored or logged
        return [causes[None].sentence]
    if not column.counted:
        return ["no step is required"]
    found = [_path(spine, column, place, causes.get(place)) for place in column.counted]
    return [*found, LUCK] if spine.lucky[run] else found


def _path(spine: Spine, column: Column, place: int, cause: Cause | None) -> str:
    path = spine.backbone.paths[place]
    walked = sum(column.marks[place][step].kind == "walked" for step in path.required)
    if cause is not None:
        return f"{cause.sentence}; {walked} of {counted(len(path.required), 'required step')} walked"
    of = f" of path {in_backticks(path.name, NAME)}" if len(spine.backbone.paths) > 1 else ""
    order = "" if column.in_order[place] else ", but no retrieved path has them in this order"
    every = {1: "the required step", 2: "both required steps"}.get(walked, f"all {walked} required steps")
    return f"walked {every}{of}{order}"
