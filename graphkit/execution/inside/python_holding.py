"""What an assertion asks of the answer's code while it runs elsewhere: names, calls, fields, one at a time.

An operation has a name, arguments and named arguments; what comes back is a value, or an exception. No operation
compares: what is compared crosses as plain data, and is compared where the code of the answer has never been.
"""

from __future__ import annotations

import operator
import sys

from python_crossing import CrossingReader, Writer, stand_ins_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


class MissingError(Exception):
    """The code has no such name."""


class Holding:
    """The values that an assertion knows by their numbers."""

    def __init__(self, limit: int, files: Iterable[str]) -> None:
        self.limit = limit
        self.stand_ins = stand_ins_of(files)
        self.values: list[Any] = [None]
        self.numbers: dict[int, int] = {}
        self.reader = CrossingReader(self.stand_ins, lambda content: self.values[content[0]])

    def hold(self, value: Any) -> int:
        """Keep a value, and return its number; the same value keeps its number."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.values)
            self.values.append(value)
        return self.numbers[id(value)]

    def encode(self, value: Any) -> Any:
        """Return a value as it crosses."""
        return Writer(self.limit, self.stand_ins, self.hold).encode(value, 0)

    def error(self, error: BaseException) -> Any:
        """Return an exception as it crosses, or one of its name where its fields can't be read."""
        try:
            return Writer(self.limit, self.stand_ins, self.hold).error(error)
        except BaseException:
            return Writer(self.limit, self.stand_ins, self.hold).error(RuntimeError("an error that can't be read"))

    def operated(self, request: dict[str, Any], names: dict[str, Any]) -> Any:
        """Return what comes of one operation."""
        given = [self.reader.read(one) for one in request["arguments"]]
        named = {name: self.reader.read(one) for name, one in request["named"].items()}
        what = request["operation"]
        if what == "name":
            if given[0] not in names:
                raise MissingError
            return self.encode(names[given[0]])
        if what == "module":
            return self.encode_held(self.module(given[0]))
        return self.encode(_OPERATIONS[what](*given, **named))

    def encode_held(self, module: Any) -> Any:
        """Return a reference to a module as the code has left it."""
        return {"held": [self.hold(module), ["builtins", "module"], {"other": ["module", "..."]}, []]}

    def module(self, name: str) -> Any:
        """Return the answer, or a stand-in."""
        import importlib

        if name != "answer" and name not in self.stand_ins:
            raise ImportError("there is no stand-in " + name)
        if name == "answer":
            return sys.modules.get("answer") or sys.modules["__main__"]
        return importlib.import_module(name)


def _call(function: Any, *given: Any, **named: Any) -> Any:
    return function(*given, **named)


def _await(value: Any) -> Any:
    import asyncio

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited())


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": _call,
    "get": getattr,
    "set": setattr,
    "item": operator.getitem,
    "len": len,
    "iter": iter,
    "next": next,
    "await": _await,
    "repr": repr,
    "str": str,
    "isinstance": isinstance,
    **{
        name: getattr(operator, name)
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "abs", "and_", "or_", "xor")
    },
}
