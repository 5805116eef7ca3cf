"""Operations on the answer's code for an assertion that runs in another process: names, calls, fields, one at a time.

An operation has a name, arguments and named arguments, and results in a value or an exception. No operation compares:
values cross as plain data, and the assertion compares them in its own process.
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
    """The code doesn't define the name."""


class Holding:
    """The values that an assertion knows by their numbers."""

    def __init__(self, limit: int, files: Iterable[str]) -> None:
        self.limit = limit
        self.stand_ins = stand_ins_of(files)
        self.values: list[Any] = [None]
        self.numbers: dict[int, int] = {}
        self.reader = CrossingReader(self.stand_ins, lambda content: self.values[content[0]])

    def hold(self, value: Any) -> int:
        """Keep a value, and return its number; the same value has the same number."""
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.values)
            self.values.append(value)
        return self.numbers[id(value)]

    def encode(self, value: Any) -> Any:
        """Return a value in the form in which it crosses."""
        return self._writer().encode(value, 0)

    def _writer(self) -> Writer:
        return Writer(self.limit, self.stand_ins, self.hold)

    def error(self, error: BaseException) -> Any:
        """Return an exception in the form in which it crosses; a substitute if its fields can't be read."""
        try:
            return self._writer().error(error)
        except BaseException:
            return self._writer().error(RuntimeError("an error that can't be read"))

    def operate(self, request: dict[str, Any], names: dict[str, Any]) -> Any:
        """Do one operation, and return its result."""
        given = [self.reader.read(one) for one in request["arguments"]]
        named = {name: self.reader.read(one) for name, one in request["named"].items()}
        what = request["operation"]
        if what == "name":
            if given[0] not in names:
                raise MissingError
            return self.encode(names[given[0]])
        if what == "module":
            reference = self.hold(self.module(given[0]))
            return {"held": [reference, ["builtins", "module"], {"other": ["module", "..."]}, []]}
        return self.encode(_OPERATIONS[what](*given, **named))

    def module(self, name: str) -> Any:
        """Return the answer or a stand-in, as the code has left it."""
        import importlib

        if name != "answer" and name not in self.stand_ins:
            raise ImportError("there is no stand-in " + name)
        if name == "answer":
            return sys.modules.get("answer") or sys.modules["__main__"]
        return importlib.import_module(name)


def _call(function: Any, *given: Any, **named: Any) -> Any:
    return function(*given, **named)


def _parameters(kind: Any) -> list[str]:
    """Return the names of the parameters of a constructor; none if they can't be read."""
    for name in ("__init__", "__new__"):
        for one in type.__dict__["__mro__"].__get__(kind):
            found = one.__dict__.get(name)
            code = getattr(getattr(found, "__func__", found), "__code__", None)
            if code is not None:
                return list(code.co_varnames[1 : code.co_argcount])
    return []


def wait_for(value: Any) -> Any:
    """Run an awaitable in an event loop, and return its result."""
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
    "await": wait_for,
    "repr": repr,
    "str": str,
    "isinstance": isinstance,
    "parameters": _parameters,
    "self": lambda value: value,
    **{
        name: getattr(operator, name)
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "abs", "and_", "or_", "xor")
    },
}
