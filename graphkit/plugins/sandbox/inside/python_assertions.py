"""Evaluates an assertion, in a process that never runs the answer's code.

:func:`serve` reads a job, a line of JSON: ``id``, ``files`` (the stand-ins), ``assertion``, ``entry_point``, ``result``
(in the form that python_crossing.py describes; absent if nothing was called), ``program`` (whether the result is the
output of a program) and ``limit``. It sends either ``ask``, an operation for python_holding.py in the process of the
answer's code, whose result is the next line that it reads; or the verdict, ``held``, ``failed`` or ``unproven`` with a
``message``. ``held`` has ``own``, too: by which word of the code's own, or null.

A name is looked up among the assertion's own names first, then ``result``, the entry point, Python's builtins, and last
in the answer's code. Functions of the code run in the code's process. Instances of its classes stay there, too; here
they are references with the fields that they had when they crossed. All comparing takes place here, and
python_proofs.py says what it proves.
"""

from __future__ import annotations

import builtins

from python_common import LONGEST_MESSAGE, Channel, message_of, text_of
from python_crossing import CrossingError, CrossingReader, Writer, stand_ins_of
from python_proofs import compared, equal, hashed
from python_remotes import Ledger, Parts, Remote, UnprovenError, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ASSERTION = "assertion.py"

#: The names of the functions that make an assertion's comparisons, and that look at its conditions.
_COMPARE, _DEPENDS = "__compared__", "__depends__"


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
        held, message = _asserted(job["assertion"], _scope(code, job), code.ledger)
        kind = "held" if held else "failed"
    except UnprovenError as error:
        kind, message = "unproven", str(error)
    except BaseException as error:
        kind, message = "failed", "the assertion raised " + message_of(error)
    own = "; ".join(code.ledger.reasons)[:LONGEST_MESSAGE] or None
    channel.send({"id": job["id"], "kind": kind, "message": message[:LONGEST_MESSAGE], "own": own})
    request = channel.receive()
    if request is not None:
        channel.send({"id": request["id"], "kind": "ended"})


# The answer's code, seen from here -----------------------------------------------------------------------------------


class _AnswerCode:
    """The answer's code, as operations in its process."""

    def __init__(self, channel: Channel, job: dict[str, Any]) -> None:
        self.channel, self.id, self.limit = channel, job["id"], job["limit"]
        self.stand_ins = stand_ins_of(job["files"])
        self.ledger = Ledger(job["entry_point"], equal)
        self.reader = _Reader(self.stand_ins, self)

    def ask(self, operation: str, *given: Any, **named: Any) -> Any:
        """Return the result of an operation, or raise its exception."""
        self.ledger.clock += 1
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
        if issubclass(kind, Remote):
            return {"held": [parts(value).number]}
        if isinstance(value, type) and "_number" in value.__dict__:
            return {"held": [value.__dict__["_number"]]}
        return super().other(value, kind, depth)


class _Reader(CrossingReader):  # type: ignore[misc]
    """Reads references as proxies; each holds the data that the object had when it crossed."""

    def __init__(self, stand_ins: frozenset[str], code: _AnswerCode) -> None:
        super().__init__(stand_ins, self._proxy)
        self.code = code
        self.types: dict[tuple[str, str], type] = {}

    def _class(self, content: list[Any]) -> Any:
        number, classes = content
        if ["builtins", "BaseException"] in classes:
            return self.error_class(number, classes)
        return self._proxy([number, ["builtins", "type"], {"other": ["type", classes[0][1]]}, []])

    def _proxy(self, content: list[Any]) -> Any:
        number, (home, name), snapshot, traits = content
        if "__await__" in traits:
            return self._awaited(number)
        kind = self.types.setdefault((home, name), type(name, (Remote,), {"__slots__": ()}))
        found: Any = object.__new__(kind)
        object.__setattr__(found, "_parts", Parts(number, self.code, (home, name), self._data(snapshot)))
        if (home, name) == ("builtins", "type"):
            parts(found).label = snapshot["other"][1]
        return found

    async def _awaited(self, number: int) -> Any:
        waiting = self._proxy([number, ["builtins", "coroutine"], {"other": ["coroutine", "..."]}, []])
        return self.code.ask("await", waiting)

    def _data(self, snapshot: Any) -> Any:
        """Return the class and the fields by which a held value is compared; None if it has none."""
        ((tag, content),) = snapshot.items()
        if tag == "object" and content[1]:
            return content[0], {name: self.read(item) for name, item in content[1]}
        if tag == "enum":
            return content[0], self.read(content[1])
        return None


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
    own = {"__import__": _importing(code), "hash": lambda value: hashed(code.ledger, value)}
    scope["__builtins__"] = {**builtins.__dict__, **own}
    scope["inside"] = lambda name: code.ask("module", name)
    scope[_COMPARE] = lambda *given: _compare(code.ledger, *given)
    scope[_DEPENDS] = code.ledger.answered
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


def _compare(ledger: Ledger, hows: list[str], operands: list[Callable[[], Any]], of_result: list[bool]) -> Any:
    """Compare the operands of a comparison of the assertion; ``of_result`` says which of them name the result."""

    def watched(number: int) -> tuple[Any, set[str], int]:
        given = len(ledger.given)
        value, reads = ledger.watched(operands[number])
        return value, reads | {"result"} if of_result[number] else reads, given

    left, reads, _ = watched(0)
    found: Any = True
    for number, how in enumerate(hows, 1):
        right, more, given = watched(number)
        found = compared(ledger, how, left, right, [reads, more], given)
        if not found:
            break
        left, reads = right, more
    return found


def _names_result(operand: Any) -> bool:
    import ast

    return any(isinstance(one, ast.Name) and one.id == "result" for one in ast.walk(operand))


def _importing(code: _AnswerCode) -> Callable[..., Any]:
    """Return an ``__import__`` that gets the answer from the code's process, and everything else from here."""
    own = builtins.__import__

    def imported(name: str, *given: Any, **named: Any) -> Any:
        if name == "answer":
            return code.ask("module", name)
        return own(name, *given, **named)

    return imported


def _asserted(assertion: str, scope: dict[str, Any], ledger: Ledger) -> tuple[bool, str]:
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
        module = ast.Module(body=[_watched(node)], type_ignores=[])
        before = list(ledger.reasons)
        try:
            exec(compile(module, _ASSERTION, "exec", dont_inherit=True), scope)
        except AssertionError as error:
            return False, text_of(error, str) or ast.unparse(node)
        if isinstance(node, ast.Expr) and _is_discarded(node.value):
            ledger.reasons, ledger.answer = before, None  # nothing depends on what it returned
    return True, ""


def _is_discarded(node: Any) -> bool:
    """Return whether a statement calls a method of a name, such as ``stack.push(5)``, and does no more."""
    import ast

    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and not any(
            isinstance(one, (ast.Call, ast.Compare)) for part in (node.func, *node.args) for one in ast.walk(part)
        )
    )


def _evaluated(node: Any, scope: dict[str, Any]) -> Any:
    import ast

    return eval(compile(ast.Expression(_watched(node)), _ASSERTION, "eval", dont_inherit=True), scope)


def _watched(node: Any) -> Any:
    """Return a copy of the tree of an assertion, in which each comparison and each condition is seen."""
    import ast
    import copy

    class Comparisons(ast.NodeTransformer):
        def visit_Compare(self, node: ast.Compare) -> Any:
            self.generic_visit(node)
            waits = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
            if any(isinstance(one, waits) for one in ast.walk(node)):
                return node
            empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
            all_operands = (node.left, *node.comparators)
            given: tuple[list[ast.expr], ...] = (
                [ast.Constant(type(one).__name__) for one in node.ops],
                [ast.Lambda(empty, one) for one in all_operands],
                [ast.Constant(_names_result(one)) for one in all_operands],
            )
            lists: list[ast.expr] = [ast.List(each, ast.Load()) for each in given]
            call = ast.Call(ast.Name(_COMPARE, ast.Load()), lists, [])
            return ast.copy_location(call, node)

        def generic_visit(self, node: Any) -> Any:
            super().generic_visit(node)
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                node.operand = seen(node.operand)
            elif isinstance(node, ast.BoolOp):
                node.values = [seen(one) for one in node.values]
            elif isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
                node.test = seen(node.test)
            elif isinstance(node, ast.comprehension):
                node.ifs = [seen(one) for one in node.ifs]
            elif isinstance(node, ast.GeneratorExp):
                node.elt = seen(node.elt)
            elif isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
                node.value = seen(node.value)
            return node

    def seen(node: Any) -> Any:
        return ast.copy_location(ast.Call(ast.Name(_DEPENDS, ast.Load()), [node], []), node)

    return ast.fix_missing_locations(Comparisons().visit(copy.deepcopy(node)))


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
        found: list[Any] = []

        def kept(operand: Any) -> Callable[[], Any]:
            def evaluate() -> Any:
                found.append(_evaluated(operand, scope))
                return found[-1]

            return evaluate

        how = type(node.ops[0]).__name__
        both = (node.left, node.comparators[0])
        if scope[_COMPARE]([how], list(map(kept, both)), list(map(_names_result, both))):
            return True, ""
        left, right = found
        return False, text + ": the left side is " + text_of(left, repr) + ", the right side " + text_of(right, repr)
    if scope[_DEPENDS](_evaluated(node, scope)):
        return True, ""
    return False, text + " doesn't hold"
