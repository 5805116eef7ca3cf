"""Results of two queries compared: equal bags of rows, up to the order and the names of columns."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

#: The largest difference between equal numbers, as a share of the larger one, and where one of them is 0.
RELATIVE, ABSOLUTE = 1e-6, 1e-12

#: The columns that are tried at most for those of gold, over all of them, before equality is left undecided.
TRIES = 2_000

#: A row of values, in the order of the columns.
ResultValues = Sequence[Any]


def same_result(
    gold: Sequence[ResultValues],
    given: Sequence[ResultValues],
    order: Sequence[Hashable] | None = None,
    id_property: str = "id",
) -> bool | None:
    """Return whether two results are equal; None if that can't be decided within ``TRIES``.

    They are equal if some assignment of the columns of one to those of the other makes them the same bag of rows. Where
    ``order`` is given, the rows are also in the same order, except that rows of one place may be in any.

    A number equals another one, whole or not, up to ``RELATIVE``. A node is its id, a relationship its ends and its
    type, a path its nodes and relationships; times, durations and points are equal by their values. Lists are equal in
    order, maps by their keys. Null equals null. A text is no number, and a node no id.

    Parameters
    ----------
    gold, given
        Rows of values of the driver, or of JSON.
    order
        What gold sorts its rows by, for each row: equal values are ties. None if gold has no order.
    id_property
        The property that names a node; one without it is named by the database's own id.

    Examples
    --------
    >>> same_result([["a", 1], ["b", 2]], [[2, "b"], [1.0, "a"]])
    True
    >>> same_result([["a"], ["b"]], [["b"], ["a"]], order=[1, 2])
    False
    >>> same_result([["a"], ["b"]], [["b"], ["a"]], order=[1, 1])
    True
    """
    if len(gold) != len(given):
        return False
    if not gold:
        return True
    width = len(gold[0])
    if any(len(row) != width for row in (*gold, *given)):
        return False
    snapped = _Snapped(gold)
    first = [tuple(_comparable(value, id_property, _exact) for value in row) for row in gold]
    second = [tuple(_comparable(value, id_property, snapped) for value in row) for row in given]
    blocks = _blocks(order) if order is not None else [0] * len(gold)
    return _Assignment(list(zip(*first, strict=True)), list(zip(*second, strict=True)), blocks).found()


def _blocks(order: Sequence[Hashable]) -> list[int]:
    """Return the number of the block of each row; a block holds consecutive rows that are sorted alike."""
    blocks, number = [], 0
    for place, key in enumerate(order):
        number += place > 0 and key != order[place - 1]
        blocks.append(number)
    return blocks


class _Assignment:
    """The search for an assignment of columns that makes two results the same bag of rows.

    Colours narrow it: a column's is the bag of its values with the colours of their rows, a row's is the bag of its
    values with the colours of their columns. Columns of different colours are never tried for each other.
    """

    def __init__(self, gold: list[tuple[Any, ...]], given: list[tuple[Any, ...]], blocks: list[int]) -> None:
        self._gold, self._given, self._blocks = gold, given, blocks
        self._tries = 0

    def found(self) -> bool | None:
        """Return whether there is an assignment; None after too many tries."""
        width = len(self._gold)
        return self._search([0] * width, [0] * width, 1)

    def _search(self, gold: list[int], given: list[int], fresh: int) -> bool | None:
        """Look for an assignment by which only columns of the same colour are the same."""
        while True:
            self._tries += 1
            if self._tries > TRIES:
                return None
            both, rows = self._refined(gold, given)
            if rows is None:
                return False
            one, two = both
            if sorted(one) != sorted(two):
                return False
            if len(set(one)) == len(set(gold)):
                break
            gold, given = one, two
        counts = Counter(one)
        several = [colour for colour, count in counts.items() if count > 1]
        if not several:
            places = {colour: place for place, colour in enumerate(two)}
            return self._same_bag([places[colour] for colour in one])
        colour = min(several, key=lambda each: (counts[each], each))
        place, fresh = one.index(colour), max(one) + 1
        undecided = False
        for other in _distinct(self._given, [at for at, each in enumerate(two) if each == colour]):
            found = self._search(_with(one, place, fresh), _with(two, other, fresh), fresh + 1)
            if found:
                return True
            undecided = undecided or found is None
            if undecided:
                break
        return None if undecided else False

    def _refined(self, gold: list[int], given: list[int]) -> tuple[tuple[list[int], list[int]], list[int] | None]:
        """Return finer colours of the columns; None as those of the rows if the rows differ already."""
        numbers: dict[Hashable, int] = {}
        rows = [self._row_colours(columns, of, numbers) for columns, of in ((self._gold, gold), (self._given, given))]
        if Counter(rows[0]) != Counter(rows[1]):
            return (gold, given), None
        colours: dict[Hashable, int] = {}
        finer = [
            [
                colours.setdefault((was, frozenset(Counter(zip(column, row, strict=True)).items())), len(colours))
                for column, was in zip(columns, of, strict=True)
            ]
            for columns, of, row in ((self._gold, gold, rows[0]), (self._given, given, rows[1]))
        ]
        return (finer[0], finer[1]), rows[0]

    def _row_colours(self, columns: list[tuple[Any, ...]], of: list[int], numbers: dict[Hashable, int]) -> list[int]:
        return [
            numbers.setdefault((block, frozenset(Counter(zip(of, row, strict=True)).items())), len(numbers))
            for block, row in zip(self._blocks, zip(*columns, strict=True), strict=True)
        ]

    def _same_bag(self, places: list[int]) -> bool:
        """Return whether the rows are the same with the columns of the second result at some places."""
        ordered = [self._given[place] for place in places]
        first, second = (Counter(zip(self._blocks, *columns, strict=True)) for columns in (self._gold, ordered))
        return first == second


def _distinct(columns: Sequence[tuple[Any, ...]], places: Iterable[int]) -> Iterator[int]:
    """Yield places of columns, of equal columns one: whichever is tried, the rest is the same."""
    tried = set()
    for place in places:
        if columns[place] not in tried:
            tried.add(columns[place])
            yield place


def _with(colours: list[int], place: int, colour: int) -> list[int]:
    return [*colours[:place], colour, *colours[place + 1 :]]


# Values -------------------------------------------------------------------------------------------------------------


class _Snapped:
    """Replaces a number by the nearest one of gold, if they are equal up to the tolerance.

    Numbers of gold stay apart, so that a chain of close ones is never one number.
    """

    def __init__(self, gold: Iterable[ResultValues]) -> None:
        self._exact = {number for row in gold for value in row for number in _numbers(value)}
        self._sorted = sorted(self._exact)

    def __call__(self, number: float) -> float:
        if number in self._exact:
            return number
        place = bisect_left(self._sorted, number)
        near = self._sorted[max(place - 1, 0) : place + 1]
        close = [one for one in near if math.isclose(one, number, rel_tol=RELATIVE, abs_tol=ABSOLUTE)]
        return min(close, key=lambda one: abs(one - number)) if close else number


def _exact(number: float) -> float:
    return number


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def _numbers(value: Any) -> Iterator[float]:
    """Yield the numbers in a value."""
    if _is_number(value):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _numbers(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _numbers(one)


def _comparable(value: Any, id_property: str, number: Callable[[float], float]) -> Hashable:
    """Return a value in a form that is equal to that of an equal value alone."""

    def form(one: Any) -> Hashable:
        return _comparable(one, id_property, number)

    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float):
        return ("number", number(value)) if _is_number(value) else ("nan",)
    if isinstance(value, str):
        return ("text", value)
    if isinstance(value, bytes | bytearray):
        return ("bytes", bytes(value))
    # The driver's types are known by what they have: only the room of the database imports the driver.
    if hasattr(value, "relationships"):
        return ("path", tuple(map(form, value.nodes)), tuple(map(form, value.relationships)))
    if hasattr(value, "element_id"):
        if hasattr(value, "labels"):
            return ("node", form(node_id(value, id_property)))
        return ("relationship", *(form(end) for end in value.nodes), value.type)
    if isinstance(value, Mapping):
        return ("map", frozenset((str(name), form(one)) for name, one in value.items()))
    if hasattr(value, "srid"):  # a point is a tuple, too
        return ("point", value.srid, tuple(map(form, value)))
    for method in ("iso_format", "isoformat"):
        if hasattr(value, method):
            return (type(value).__name__, str(getattr(value, method)()))
    if isinstance(value, list | tuple | set | frozenset):
        return ("list", tuple(map(form, value)))
    return (type(value).__name__, str(value))


def node_id(node: Any, id_property: str) -> Any:
    """Return the id of a node of the driver: that of a property, else the database's own."""
    found = node.get(id_property)
    return node.element_id if found is None else found
