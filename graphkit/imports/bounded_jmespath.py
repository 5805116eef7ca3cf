"""JMESPath with a bound of what an expression may visit and make: neither it nor the row is trusted."""

from __future__ import annotations

from typing import Any

from jmespath.visitor import TreeInterpreter


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
        super().__init__()
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
