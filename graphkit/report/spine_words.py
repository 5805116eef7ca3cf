"""What a run did on the gold paths of a question, in words that follow from the marks of its spine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphkit.analysis.causes import NO_EDGE
from graphkit.records.words import counted, in_backticks
from graphkit.report.spine import NAME, Column, Spine

#: The verdict on a right answer whose path lacks a step.
LUCK = "right answer over a missed path: luck"

#: Up to so many paths get a sentence each. If there are more, only the first cause is stated and the paths are counted.
PATHS_TOLD = 3


def sentences(spine: Spine, run: int) -> list[str]:
    """Return what a run did, one sentence for each path that counts; a right answer over a missed path is luck.

    Steps count from 1, as the rows of the spine do. A sentence on a path that broke is its cause, with how many steps
    were walked. Names stand between backticks.
    """
    column = spine.columns[run]
    causes = {one.path: one for one in column.causes}
    found = []
    for place, told in clauses(spine, run):
        # A cause that several paths share is followed by no count of one of them.
        if place is None or place not in causes or told != causes[place].sentence:
            found.append(told)
            continue
        walked, required = walked_of(spine, column, [place])
        found.append(f"{told}; {walked} of {counted(required, 'required step')} walked")
    return [*found, LUCK] if column.counted and spine.lucky[run] else found


def walked_of(spine: Spine, column: Column, places: Iterable[int]) -> tuple[int, int]:
    """Return how many required edges of some paths a run walked, of how many: each once, as EdgeRecall counts them."""
    walked = {}
    for place in places:
        path = spine.backbone.paths[place]
        for number in path.required:
            step = path.steps[number]
            walked[step.source, step.relation, step.target] = column.marks[place][number].kind == "walked"
    return sum(walked.values()), len(walked)


def in_sequence(told: Iterable[str]) -> tuple[str, ...]:
    """Return clauses as sentences that follow one another: each but the first begins with a capital letter.

    That the run walked no edge is said once.

    >>> in_sequence(["walked no edge; broke at step 1 of path 1", "walked no edge; broke at step 1 of path 2"])
    ('walked no edge; broke at step 1 of path 1', 'Broke at step 1 of path 2')
    """
    first, *others = told
    others = [one.removeprefix(NO_EDGE) for one in others]
    return first, *(one[:1].upper() + one[1:] for one in others)


def clauses(spine: Spine, run: int) -> list[tuple[int | None, str]]:
    """Return what a run did on each path that counts, with its place; without one if none counts or it isn't scored."""
    column = spine.columns[run]
    found = _of_paths(spine, column)
    return [*found, (None, column.crossed)] if column.crossed else found


def _of_paths(spine: Spine, column: Column) -> list[tuple[int | None, str]]:
    causes = {one.path: one for one in column.causes}
    if None in causes:  # the question isn't scored or logged, or the walk is whole
        return [(None, causes[None].sentence)]
    if not causes:
        return [(None, column.whole)]
    broken = [place for place in column.counted if place in causes]
    whole = [place for place in column.counted if place not in causes]
    if len(column.counted) > PATHS_TOLD:
        told, rest = (broken, []) if len(broken) <= PATHS_TOLD else (broken[:1], broken)
        return [*_causes(column, told), (None, _number(column, whole, rest))]
    return [*_causes(column, broken), *((place, _whole(spine, column, place)) for place in whole)]


def _causes(column: Column, broken: Iterable[int]) -> list[tuple[int | None, str]]:
    """Return the causes of some paths, each once."""
    causes = {one.path: one for one in column.causes}
    found: list[tuple[int | None, str]] = []
    at: dict[tuple[str, str], list[str]] = {}
    for place in broken:
        # The same cause of two paths is said once, at the first of them, with both places.
        before, _, after = causes[place].sentence.partition(causes[place].place)
        places = at.setdefault((before, after), [])
        places.append(causes[place].place)
        if len(places) == 1:
            found.append((place, causes[place].sentence))
            continue
        old = f"{before}{' and '.join(places[:-1])}{after}"
        found = [(one, f"{before}{' and '.join(places)}{after}" if told == old else told) for one, told in found]
    return found


def _number(column: Column, whole: Sequence[int], broken: Sequence[int]) -> str:
    """Return how many of many paths were walked whole, and how far the walk came on those that broke."""
    turned = sum(not column.in_order[place] for place in whole)
    order = f", but {turned} of them not in order" if turned else ""
    words = [f"walked {len(whole) or 'none'} of {len(column.counted)} gold paths whole{order}"]
    never = sum(one.path in broken and not one.entered for one in column.breaks)
    for count, how in ((never, "never entered"), (len(broken) - never, "entered, but not walked whole")):
        words += [f"{count} {'was' if count == 1 else 'were'} {how}"] if count else []
    return "; ".join(words)


def _whole(spine: Spine, column: Column, place: int) -> str:
    """Return the words on a path of which every required step was walked."""
    path = spine.backbone.paths[place]
    walked, _ = walked_of(spine, column, [place])
    named = in_backticks(path.name, NAME) if path.named else path.name
    of = f" of path {named}" if len(spine.backbone.paths) > 1 else ""
    order = "" if column.in_order[place] else ", but no retrieved path has them in this order"
    every = {1: "the required step", 2: "both required steps"}.get(walked, f"all {walked} required steps")
    return f"walked {every}{of}{order}"
