"""Evaluates an assertion, in a process that never runs the answer's code.

:func:`serve` reads a job, a line of JSON: ``id``, ``files`` (the stand-ins), ``assertion``, ``entry_point``, ``result``
(in the form that python_crossing.py describes; absent if nothing was called), ``program`` (whether the result is the
output of a program) and ``limit``. It sends either ``ask``, an operation for python_holding.py in the process of the
answer's code, whose result is the next line that it reads; or the verdict, ``held`` or ``failed`` with a ``message``.

A name is looked up among the assertion's own names first, then ``result``, the entry point, Python's builtins, and last
in the answer's code. Functions of the code run in the code's process. Instances of its classes stay there, too; here
they are references with the fields that they had when they crossed. All comparing takes place here.
"""

from __future__ import annotations

import builtins
import sys

from python_common import LONGEST_MESSAGE, Channel, message_of, text_of, type_name
from python_crossing import CrossingError, CrossingReader, Writer, stand_ins_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ASSERTION = "assertion.py"


def serve(requests: int, replies: int) -> None:
    """Evaluate one assertion."""
    from python_tests import lay_out

    channel = Channel(requests, replies)
    job = channel.receive()
    if job is None:
        return
    lay_out(job["files"])
    code = _AnswerCode(channel, job)
    try:
        held, message = _asserted(job["assertion"], _scope(code, job))
    except BaseException as error:
        held, message = False, "the assertion raised " + message_of(error)
    channel.send({"id": job["id"], "kind": "held" if held else "failed", "message": message[:LONGEST_MESSAGE]})
    request = channel.receive()
    if request is not None:
        channel.send({"id": request["id"], "kind": "ended"})


# The answer's code, seen from here -----------------------------------------------------------------------------------


class _AnswerCode:
    """The answer's code, as operations in its process."""

    def __init__(self, channel: Channel, job: dict[str, Any]) -> None:
        self.channel, self.id, self.limit = channel, job["id"], job["limit"]
        self.stand_ins = stand_ins_of(job["files"])
        self.reader = _Reader(self.stand_ins, self)

    def ask(self, operation: str, *given: Any, **named: Any) -> Any:
        """Return the result of an operation, or raise its exception."""
        self.channel.send(
            {
                "id": self.id,
                "kind": "ask",
                "operation": operation,
                "arguments": [self.encode(one) for one in given],
                "named": {name: self.encode(one) for name, one in named.items()},
            }
        )
        reply = self.channel.receive()
        if reply is None:
            raise SystemExit
        if reply["kind"] == "returned":
            return self.reader.read(reply["value"])
        if reply["kind"] == "missing":
            raise KeyError(given[0])
        if "error" in reply:
            raise self.reader.read(reply["error"])
        raise CrossingError(str(reply["message"]))

    def encode(self, value: Any) -> Any:
        """Return a value in the form in which it crosses."""
        return _Writer(self.limit, self.stand_ins, None).encode(value, 0)


class _Writer(Writer):  # type: ignore[misc]
    """Writes values that stay in the code's process as their numbers."""

    def other(self, value: Any, kind: Any, depth: int) -> Any:
        if issubclass(kind, _Remote):
            return {"held": [object.__getattribute__(value, "_number")]}
        if isinstance(value, type) and "_number" in value.__dict__:
            return {"held": [value.__dict__["_number"]]}
        return super().other(value, kind, depth)


class _Reader(CrossingReader):  # type: ignore[misc]
    """Reads references as proxies; the same reference is the same proxy."""

    def __init__(self, stand_ins: frozenset[str], code: _AnswerCode) -> None:
        super().__init__(stand_ins, self._proxy)
        self.code = code
        self.proxies: dict[int, Any] = {}

    def _class(self, content: list[Any]) -> Any:
        number, classes = content
        if ["builtins", "BaseException"] in classes:
            return self.error_class(number, classes)
        return self._proxy([number, ["builtins", "type"], {"other": ["type", classes[0][1]]}, []])

    def _proxy(self, content: list[Any]) -> Any:
        number, (_, name), snapshot, traits = content
        if "__await__" in traits:
            return self._awaited(number)
        found = self.proxies.get(number)
        if found is None:
            found = object.__new__(type(name, (_Remote,), {}))
            object.__setattr__(found, "_number", number)
            object.__setattr__(found, "_code", self.code)
            self.proxies[number] = found
        object.__setattr__(found, "_snapshot", self._data(snapshot))
        return found

    async def _awaited(self, number: int) -> Any:
        waiting = self._proxy([number, ["builtins", "coroutine"], {"other": ["coroutine", "..."]}, []])
        return self.code.ask("await", waiting)

    def _data(self, snapshot: Any) -> Any:
        """Return the class and the fields by which a held value is compared; None if it has none."""
        ((tag, content),) = snapshot.items()
        if tag == "object":
            return content[0], {name: self.read(item) for name, item in content[1]}
        if tag == "enum":
            return content[0], self.read(content[1])
        return None


class _Remote:
    """A value that stays in the code's process. Its fields are compared here; all else is an operation there."""

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        if not isinstance(other, _Remote):
            return False
        own, others = object.__getattribute__(self, "_snapshot"), object.__getattribute__(other, "_snapshot")
        return own is not None and own == others

    def __hash__(self) -> int:
        return hash(type_name(type(self)))

    def __bool__(self) -> bool:
        try:
            return len(self) != 0
        except TypeError:
            return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__", "__dict__"):
            raise AttributeError(name)
        return _ask(self, "get", name)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, _Remote) and _ask(value, "isinstance", self) is True

    def __iter__(self) -> Any:
        found = _ask(self, "iter")
        return found if isinstance(found, _Remote) else iter(found)

    def __len__(self) -> int:
        return int(_ask(self, "len"))

    def __repr__(self) -> str:
        return str(_ask(self, "repr"))

    def __str__(self) -> str:
        return str(_ask(self, "str"))


def _ask(remote: _Remote, operation: str, *given: Any, **named: Any) -> Any:
    return object.__getattribute__(remote, "_code").ask(operation, remote, *given, **named)


def _operator(operation: str) -> Callable[..., Any]:
    return lambda self, *given, **named: _ask(self, operation, *given, **named)


def _swapped(operation: str) -> Callable[..., Any]:
    return lambda self, other: object.__getattribute__(self, "_code").ask(operation, other, self)


for _name, _operation in (("setattr", "set"), ("call", "call"), ("next", "next"), ("getitem", "item")):
    setattr(_Remote, "__" + _name + "__", _operator(_operation))
for _name in ("neg", "abs"):
    setattr(_Remote, "__" + _name + "__", _operator(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    _operation = _name + "_" if _name in ("and", "or") else _name
    setattr(_Remote, "__" + _name + "__", _operator(_operation))
    setattr(_Remote, "__r" + _name + "__", _swapped(_operation))


# The assertion -------------------------------------------------------------------------------------------------------


class _Scope(dict):  # type: ignore[type-arg]
    """The names of an assertion; those that it doesn't define are looked up on use."""

    def __init__(self, code: _AnswerCode, first: str | None) -> None:
        super().__init__(__name__="assertion")
        self.code, self.first = code, first

    def __missing__(self, name: str) -> Any:
        if name != self.first and name in builtins.__dict__:
            raise KeyError(name)
        return self.code.ask("name", name)


def _scope(code: _AnswerCode, job: dict[str, Any]) -> _Scope:
    entry_point = job["entry_point"]
    scope = _Scope(code, entry_point.partition(".")[0] if entry_point else None)
    scope["__builtins__"] = {**builtins.__dict__, "__import__": _importing(code)}
    scope["inside"] = lambda name: code.ask("module", name)
    if "result" not in job:
        return scope
    if job["program"]:  # a variable of this name comes first
        try:
            scope["result"] = code.ask("name", "result")
            return scope
        except KeyError:
            pass
    scope["result"] = code.reader.read(job["result"])
    return scope


def _importing(code: _AnswerCode) -> Callable[..., Any]:
    """Return an ``__import__`` that gets the answer from the code's process, and everything else from here."""
    own = builtins.__import__

    def imported(name: str, *given: Any, **named: Any) -> Any:
        if name == "answer":
            return code.ask("module", name)
        return own(name, *given, **named)

    return imported


def _asserted(assertion: str, scope: dict[str, Any]) -> tuple[bool, str]:
    """Return whether an assertion holds and, if it doesn't, the message."""
    import ast

    tree = ast.parse(assertion.strip(), _ASSERTION)
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return _holds(tree.body[0].value, scope)
    for node in tree.body:
        if isinstance(node, ast.Assert):
            held, message = _holds(node.test, scope)
            if not held:
                if node.msg is not None:
                    message = text_of(_evaluated(node.msg, scope), str)
                return False, message
            continue
        module = ast.Module(body=[node], type_ignores=[])
        try:
            exec(compile(module, _ASSERTION, "exec", dont_inherit=True), scope)
        except AssertionError as error:
            return False, text_of(error, str) or ast.unparse(node)
    return True, ""


def _evaluated(node: Any, scope: dict[str, Any]) -> Any:
    import ast

    return eval(compile(ast.Expression(node), _ASSERTION, "eval", dont_inherit=True), scope)


def _holds(node: Any, scope: dict[str, Any]) -> tuple[bool, str]:
    """Evaluate an expression once, and describe the comparison that fails."""
    import ast

    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for part in node.values:
            held, message = _holds(part, scope)
            if not held:
                return False, message
        return True, ""
    text = ast.unparse(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _evaluated(node.left, scope), _evaluated(node.comparators[0], scope)
        operands = {"left": left, "right": right, "__builtins__": builtins}
        compared = ast.Compare(ast.Name("left", ast.Load()), node.ops, [ast.Name("right", ast.Load())])
        if _evaluated(ast.fix_missing_locations(ast.copy_location(compared, node)), operands):
            return True, ""
        return False, text + ": the left side is " + text_of(left, repr) + ", the right side " + text_of(right, repr)
    if _evaluated(node, scope):
        return True, ""
    return False, text + " doesn't hold"
