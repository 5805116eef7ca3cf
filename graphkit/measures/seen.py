"""Measures of the ids that tool calls showed: how soon all gold, how often again, and how many the answer uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphkit.measures.base import Measure, Unscored
from graphkit.measures.case import Case
from graphkit.measures.identifiers import SHORTEST
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.text import last_component, named, words_of
from graphkit.measures.tools import NO_CALLS, NOTHING_CALLED
from graphkit.records.ids import Places
from graphkit.records.structs import ToolCallStruct

NO_GOLD_IDS = "no gold path with a required step, and no relevant ids"
NOTHING_SEEN = "no call showed anything"
NOT_KNOWN = "what the calls showed isn't known (not logged)"
NOT_KNOWN_OF_SOME = "what one of the calls showed isn't known (not logged)"
NOT_KNOWN_BEFORE = "what a call showed isn't known that came before all gold was seen (not logged)"

#: An id that is a number, however it is written.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class StepsToGold(Measure):
    """Number of tool calls until all gold ids were seen.

    Gold ids are the nodes of the required gold steps, of alternative paths those that were all seen first; without gold
    paths they are the relevant ids. If some were never seen, the question is not scored, and the reason says how many.
    Nor is it scored if an earlier call showed unknown ids (a search whose result is plain text): it may have shown
    gold. With ``upper=True`` such a call counts as showing nothing, and the value is an upper bound.
    """

    upper: bool = False

    source = "search length (Cooper 1968), in calls of tools"
    higher_is_better = False
    lowest = 1.0
    highest = None

    def value(self, case: Case) -> float | Unscored:
        units = gold_ids(case)
        if not units:
            return Unscored(NO_GOLD_IDS, of_question=True)
        calls = case.answer.tool_calls if case.answer is not None else None
        if calls is None:
            return Unscored(NO_CALLS)
        first: dict[str, int] = {}
        for number, call in enumerate(calls, 1):
            for one in call.seen or ():
                first.setdefault(one, number)
        # Of alternatives the one that lacks least, and of those the one that was seen first.
        chosen = [min(options, key=lambda ids: _progress(ids, first)) for options in units]
        needed = set().union(*chosen)
        if lacking := len(needed - first.keys()):
            return Unscored(f"{len(needed) - lacking} of {len(needed)} gold ids were seen by the calls")
        steps = max(first[one] for one in needed)
        if not self.upper and any(call.seen is None for call in calls[:steps]):
            return Unscored(NOT_KNOWN_BEFORE)
        return float(steps)


class Redundancy(Measure):
    """Ids that a tool call showed again / ids that the tool calls showed, each once a call.

    It isn't scored if what a call showed isn't known, since leaving out a call that repeats would improve it, or if the
    calls showed nothing.
    """

    source = "share of repeated work in an agent's trajectory"
    higher_is_better = False

    def value(self, case: Case) -> float | Unscored:
        shown = _shown(case)
        if isinstance(shown, Unscored):
            return shown
        count = sum(map(len, shown))
        return (count - len(set().union(*shown))) / count


class UsedShare(Measure):
    """Distinct ids that the tool calls showed and the answer names / distinct ids that they showed.

    An answer names an id if it cites it, or contains, as a whole word and in the same case, its text, the path of its
    file, or the last component of its symbol if that has more than 4 characters. Numeric ids (``7``, ``7.5``, ``1e30``)
    must be cited: in text, the same digits are mostly a figure. It isn't scored if what a call showed isn't known (to
    leave out a call whose ids the answer doesn't use would improve it), if the calls showed nothing, or if no answer
    was logged.
    """

    source = "share of the seen ids that the answer uses; names as for Integration"
    layer = "reasoning"

    def value(self, case: Case) -> float | Unscored:
        answer = case.answer
        if answer is None or answer.answer is None:
            return Unscored(NO_ANSWER)
        shown = _shown(case)
        if isinstance(shown, Unscored):
            return shown
        ids = set().union(*shown)
        cited, text, places = set(answer.citations), answer.answer, case.places
        words = words_of(text)
        used = [
            one for one in ids if one in cited or any(named(name, text, words) for name in names_in_text(one, places))
        ]
        return len(used) / len(ids)


def _progress(ids: list[str], first: dict[str, int]) -> tuple[int, int]:
    """Return how many of some ids were never seen, and the call after which the others were."""
    there = [first[one] for one in ids if one in first]
    return len({one for one in ids if one not in first}), max(there, default=0)


def gold_ids(case: Case) -> list[list[list[str]]]:
    """Return the required ids: the alternatives of each unit of gold, else the relevant ids as one unit."""
    units = []
    for unit in case.units:
        options = [[end for source, _, target in path.required for end in (source, target)] for path in unit]
        if any(options):
            units.append([ids for ids in options if ids])
    if units:
        return units
    relevant = [one for one, gain in case.question.relevant.items() if gain > 0]
    return [[relevant]] if relevant else []


def _shown(case: Case) -> list[set[str]] | Unscored:
    """Return the ids that each call showed, or why they aren't known."""
    calls: list[ToolCallStruct] | None = case.answer.tool_calls if case.answer is not None else None
    if calls is None:
        return Unscored(NO_CALLS)
    if not calls:
        return Unscored(NOTHING_CALLED)
    shown = [set(call.seen) for call in calls if call.seen is not None]
    if len(shown) < len(calls):
        return Unscored(NOT_KNOWN_OF_SOME if shown else NOT_KNOWN)
    return shown if any(shown) else Unscored(NOTHING_SEEN)


def names_in_text(one: str, places: Places) -> Iterator[str]:
    """Yield the names that an answer may use for an id."""
    if one and not _NUMBER.fullmatch(one):
        yield one
    path, symbol = places.split(one)
    if symbol is None:
        if path is not None:
            yield path
    elif len(last := last_component(symbol)) >= SHORTEST:
        yield last
