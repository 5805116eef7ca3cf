"""Measures of tool calls against the expected ones: tools, arguments and order.

A failed call counts unless ``failed=False``. Two arguments are equal if their JSON is, whatever the order of an
object's keys; 1 equals 1.0, but not true. An expected call whose arguments are null accepts any arguments; ``{}``
requires a call without arguments.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.matching import common_subsequence
from graphkit.records.arguments import canonical
from graphkit.records.structs import ExpectedToolCallStruct, ToolCallStruct

NO_CALLS = "the record has no tool calls (not logged)"
NOTHING_EXPECTED = "no expected tool calls"
NOTHING_CALLED = "no tool was called"
NO_ARGUMENTS = "no expected tool call names arguments"
NONE_MATCHED = "no tool whose arguments are expected was called"
TOO_MANY = "the calls are too many to find which of them was meant by which expected one"

#: The most pairs of an expected call and a call of its tool that :class:`ArgumentMatch` looks at.
MOST_PAIRS = 250_000

Expected = Sequence[ExpectedToolCallStruct]
Calls = Sequence[ToolCallStruct]


@dataclass(frozen=True)
class CallMeasure(Measure):
    """Base of the measures that compare calls with the expected ones."""

    failed: bool = True

    def value(self, case: Case) -> float | Unscored:
        expected = case.question.expected_tool_calls
        if not expected:
            return Unscored(NOTHING_EXPECTED, of_question=True)
        calls = case.answer.tool_calls if case.answer is not None else None
        if calls is None:
            return Unscored(NO_CALLS)
        return self._compared(expected, calls if self.failed else [call for call in calls if not call.failed])

    @abstractmethod
    def _compared(self, expected: Expected, calls: Calls) -> float | Unscored:
        """Return the value if calls are expected and the record logs its calls."""


@dataclass(frozen=True)
class ToolMeasure(CallMeasure):
    """Base of the measures that match calls by tool, and with ``arguments=True`` by all arguments as well."""

    arguments: bool = False


class ToolRecall(ToolMeasure):
    """Expected tool calls that were made / expected tool calls.

    Calls match by tool; with ``arguments=True`` their arguments must be equal as well, unless those of the expected
    call are null; ``{}`` requires a call without arguments. ``failed=False`` ignores failed calls. Without a call it is
    0. It is 1 exactly if the trajectory match of agentevals is true in the mode "superset" (tool arguments "ignore", or
    "exact").
    """

    source = 'agentevals trajectory match "superset"; pydantic-evals TrajectoryMatch "any_order", its recall'

    def _compared(self, expected: Expected, calls: Calls) -> float | Unscored:
        return matched(expected, calls, self.arguments) / len(expected)


class ToolPrecision(ToolMeasure):
    """Tool calls that were expected / tool calls.

    Calls match as for ToolRecall. Without a call it is not scored. It is 1 exactly if there is a call and the
    trajectory match of agentevals is true in the mode "subset".
    """

    source = 'agentevals trajectory match "subset"; pydantic-evals TrajectoryMatch "any_order", its precision'

    def _compared(self, expected: Expected, calls: Calls) -> float | Unscored:
        return matched(expected, calls, self.arguments) / len(calls) if calls else Unscored(NOTHING_CALLED)


class ToolExact(ToolMeasure):
    """1 if the tool calls are the expected ones in order with nothing else, else 0.

    Calls match as for ToolRecall.
    """

    source = 'agentevals trajectory match "strict" of one call a message; pydantic-evals TrajectoryMatch "exact"'

    def _compared(self, expected: Expected, calls: Calls) -> float | Unscored:
        if len(calls) != len(expected):
            return 0.0
        return float(all(fits(one, call, self.arguments) for one, call in zip(expected, calls, strict=True)))


class ToolInOrder(ToolMeasure):
    """Longest common subsequence of the expected and the made tool calls / expected tool calls.

    Calls match as for ToolRecall. Without a call it is 0. The report shows the first expected call that was not made,
    or only before its turn.
    """

    source = 'pydantic-evals TrajectoryMatch "in_order", its recall'

    def _compared(self, expected: Expected, calls: Calls) -> float | Unscored:
        return longest_in_order(expected, calls, self.arguments) / len(expected)


class ArgumentMatch(CallMeasure):
    """Expected arguments that the matched tool calls have, equal in value / expected arguments of these.

    Expected calls with arguments are matched one to one with as many calls of the same tool as possible, so that most
    arguments are equal and, among such matchings, fewest are expected. Additional arguments don't matter, except that
    ``{}`` requires a call without arguments and counts as one argument. If no such tool was called it is not scored:
    ToolRecall shows that. ``failed=False`` ignores failed calls.
    """

    source = "pydantic-evals ArgumentCorrectness (subset), graded; BFCL compares calls in this way, all or nothing"

    def _compared(self, expected: Expected, calls: Calls) -> float | Unscored:
        wanted: dict[str, list[dict[str, str]]] = {}
        for one in expected:
            if one.arguments is not None:
                wanted.setdefault(one.name, []).append(_texts(one.arguments))
        if not wanted:
            return Unscored(NO_ARGUMENTS, of_question=True)
        made: dict[str, list[ToolCallStruct]] = {}
        for call in calls:
            if call.name in wanted:
                made.setdefault(call.name, []).append(call)
        if not made:
            return Unscored(NONE_MATCHED)
        if sum(len(wanted[name]) * len(there) for name, there in made.items()) > MOST_PAIRS:
            return Unscored(TOO_MANY)
        pairs = [_most_equal(wanted[name], there) for name, there in made.items()]
        return sum(equal for equal, _ in pairs) / sum(count for _, count in pairs)


def _most_equal(wanted: list[dict[str, str]], calls: list[ToolCallStruct]) -> tuple[int, int]:
    """Return how many arguments the best matching has equal, and how many are expected of those matched."""
    from scipy.optimize import linear_sum_assignment

    texts = [_texts(call.arguments) for call in calls]
    equal = [[sum(there.get(name) == held for name, held in one.items()) for there in texts] for one in wanted]
    # One more equal argument outweighs any number of expected ones.
    weight = sum(map(len, wanted)) + 1
    worth = [[count * weight - len(one) for count in row] for one, row in zip(wanted, equal, strict=True)]
    rows, columns = linear_sum_assignment(worth, maximize=True)
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    return sum(equal[row][column] for row, column in pairs), sum(len(wanted[row]) for row, _ in pairs)


def _texts(arguments: dict[str, Any]) -> dict[str, str]:
    """Return the text of each argument; one entry of its own stands for no arguments."""
    return {name: canonical(held) for name, held in arguments.items()} or {"": ""}


def fits(expected: ExpectedToolCallStruct, call: ToolCallStruct, arguments: bool) -> bool:
    """Return whether a call matches an expected one: the same tool and, if asked, equal arguments."""
    if call.name != expected.name:
        return False
    if not arguments or expected.arguments is None:
        return True
    return canonical(call.arguments) == canonical(expected.arguments)


def matched(expected: Expected, calls: Calls, arguments: bool) -> int:
    """Return how many expected calls can be matched with calls, one with one."""
    if not arguments:
        return (Counter(one.name for one in expected) & Counter(call.name for call in calls)).total()
    exact = Counter((one.name, canonical(one.arguments)) for one in expected if one.arguments is not None)
    either = Counter(one.name for one in expected if one.arguments is None)
    names = {one.name for one in expected}
    made = Counter((call.name, canonical(call.arguments)) for call in calls if call.name in names)
    # Exact arguments are matched first; expected calls with any arguments get the rest.
    found = exact & made
    left = Counter[str]()
    for (name, _), count in (made - found).items():
        left[name] += count
    return found.total() + (either & left).total()


def longest_in_order(expected: Expected, calls: Calls, arguments: bool) -> int:
    """Return the length of the longest common subsequence, with one bit per expected call."""
    exact: dict[tuple[str, str], int] = {}
    either: dict[str, int] = {}
    for place, one in enumerate(expected):
        if arguments and one.arguments is not None:
            key = one.name, canonical(one.arguments)
            exact[key] = exact.get(key, 0) | 1 << place
        else:
            either[one.name] = either.get(one.name, 0) | 1 << place
    names = {name for name, _ in exact}

    def places(call: ToolCallStruct) -> int:
        there = either.get(call.name, 0)
        return there | exact.get((call.name, canonical(call.arguments)), 0) if call.name in names else there

    return common_subsequence(len(expected), map(places, calls))


@dataclass(frozen=True, slots=True)
class Lack:
    """The first expected call that wasn't made in its turn: its position from 0, and its tool.

    Attributes
    ----------
    early
        The call was made, but only before those that are expected before it.
    arguments
        Its tool was called in its turn, but with other arguments.
    """

    position: int
    name: str
    early: bool
    arguments: bool

    def __str__(self) -> str:
        what = "was made only before its turn" if self.early else "was not made"
        given = " with its arguments" if self.arguments else ""
        return f"expected call {self.position + 1}, {self.name}, {what}{given}"


def first_lack(case: Case) -> Lack | None:
    """Return the first expected call that wasn't made after those expected before it; None if none is missing.

    Calls are compared by tool, as in :class:`ToolInOrder`, and if none is missing so, by arguments as well. Each
    expected call is searched after the call that matched the one before.
    """
    calls = case.answer.tool_calls if case.answer is not None and case.answer.error is None else None
    if calls is None:
        return None
    expected = case.question.expected_tool_calls
    return _first_lack(expected, calls, arguments=False) or _first_lack(expected, calls, arguments=True)


def _first_lack(expected: Expected, calls: Calls, arguments: bool) -> Lack | None:
    start = 0
    taken: set[int] = set()
    for position, one in enumerate(expected):
        found = next((place for place in range(start, len(calls)) if fits(one, calls[place], arguments)), None)
        if found is None:
            early = any(fits(one, calls[place], arguments) for place in range(start) if place not in taken)
            return Lack(position, one.name, early, arguments)
        taken.add(found)
        start = found + 1
    return None
