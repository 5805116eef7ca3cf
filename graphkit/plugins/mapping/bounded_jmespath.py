"""JMESPath with functions for walks, and a bound of what an expression may visit and make: nothing in it is trusted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from jmespath import Options
from jmespath.functions import Functions, signature
from jmespath.visitor import TreeInterpreter

from graphkit.records.path_texts import paths_of_text


class WalkFunctions(Functions):
    """The functions of JMESPath, and those that walks need; each returns null for null."""

    @signature({"types": ["object", "null"]})
    def _func_items(self, value: dict[str, Any] | None) -> list[list[Any]] | None:
        """Return the keys of an object with their values: ``{"q1": 1}`` is ``[["q1", 1]]``."""
        return None if value is None else [[key, one] for key, one in value.items()]

    @signature({"types": ["string", "array", "null"]}, {"types": ["string"]})
    def _func_split(self, text: str | list[Any] | None, separator: str) -> list[Any] | None:
        r"""Return the parts of a text without the space around them; ``\n`` and ``\t`` are line ends and tabs.

        A list is split already.
        """
        if not isinstance(text, str):
            return text
        separator = separator.replace("\\n", "\n").replace("\\t", "\t") or "\n"
        return [part for one in text.split(separator) if (part := one.strip())]

    @signature({"types": ["string", "null"]}, {"types": ["string"]})
    def _func_groups(self, text: str | None, pattern: str) -> dict[str, str | None] | None:
        """Return the named groups of a pattern where it is found first in a text; null if it isn't."""
        match = None if text is None else _pattern(pattern).search(text)
        return None if match is None else match.groupdict()

    @signature({"types": ["array", "null"], "variadic": True})
    def _func_walk(self, nodes: list[Any] | None, *others: list[Any] | None) -> list[dict[str, Any]] | None:
        """Return the steps from each node to the next, with their relations if these are given too.

        A walk says which node came next, and not which way the edge points: that is the graph's to say.
        """
        return None if nodes is None else steps_between(nodes, (others[0] or ()) if others else ())

    @signature({"types": ["string", "array", "null"]})
    def _func_arrows(self, path: str | list[Any] | None) -> list[Any] | None:
        """Return the steps of a path with arrows, ``A -CALLS-> B <-OWNS- C``; those without relations as in a walk.

        Of a list, each text becomes its steps.
        """
        if path is None:
            return None
        steps: list[Any] = []
        for one in [path] if isinstance(path, str) else path:
            found = [step for each in paths_of_text(one) for step in each.steps()] if isinstance(one, str) else [one]
            steps += [
                {**step, "directed": False} if isinstance(one, str) and not step.get("relation") else step
                for step in found
            ]
        return steps


def steps_between(nodes: Sequence[Any], relations: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Return the steps from each node to the next, without a direction, with the relations that aren't null."""
    steps = []
    for place, (source, target) in enumerate(pairwise(nodes)):
        relation = {"relation": relations[place]} if place < len(relations) and relations[place] else {}
        steps.append({"source": source, **relation, "target": target, "directed": False})
    return steps


@lru_cache(maxsize=64)
def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} isn't a regular expression: {error}") from None


class TooMuchError(Exception):
    """An expression visits or makes too many values."""


def searched(compiled: Any, value: Any, most: int) -> Any:
    """Return what a compiled expression finds in a value.

    Raises
    ------
    TooMuchError
        It visits or makes more than ``most`` values, or the functions of it more characters.
    """
    found = BoundedInterpreter(most).visit(compiled.parsed, value)
    _weigh(found, most)
    return found


class BoundedInterpreter(TreeInterpreter):
    """Counts the visited nodes of the expression, and weighs the arguments of functions before they are called."""

    def __init__(self, most: int) -> None:
        super().__init__(Options(custom_functions=WalkFunctions()))
        self._most, self._left = most, most

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the value of a node; see the base."""
        self._left -= 1
        if self._left < 0:
            raise TooMuchError
        return super().visit(node, *args, **kwargs)

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        """Return the value of a call; see the base."""
        arguments = [self.visit(child, value) for child in node["children"]]
        _weigh([one for one in arguments if isinstance(one, list | dict | str)], self._most, 50)
        return self._functions.call_function(node["value"], arguments)  # type: ignore[attr-defined]


def _weigh(value: Any, most: int, characters: int = 0) -> None:
    """Refuse a value with too many parts, counting shared ones as often as they stand there.

    ``characters`` is how many characters of a text weigh as one value; by default none do.
    """
    waiting, weight = [value], 0
    while waiting:
        one = waiting.pop()
        weight += 1
        if isinstance(one, list):
            weight += len(one)
            inner = one
        elif isinstance(one, dict):
            inner = list(one.values())
        else:
            inner = []
            if characters and isinstance(one, str):
                weight += len(one) // characters
        if weight + len(waiting) > most:
            raise TooMuchError
        waiting.extend(item for item in inner if isinstance(item, list | dict | str))
