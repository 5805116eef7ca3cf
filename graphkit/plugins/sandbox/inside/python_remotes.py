"""Objects of the answer's code as an assertion sees them, and what a comparison of them proves.

A reference holds the fields that its object had when it crossed. They are compared here, as data. That two references
are to one object proves nothing, since the code decides which object its constructor returns. An object that the
assertion constructs, such as ``Money(41)``, comes from the code as well. It counts as an expected value only where its
fields show what the assertion gave, and where the other side was captured before the assertion gave it. Which field
has to show an argument is settled before: that of its keyword, of its parameter, or of its position.

Everything else that the code's own objects decide is collected in a :class:`Ledger`: the assertion may hold then, but
only by the answer's own word.
"""

from __future__ import annotations

from python_crossing import member_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Methods that compare with what they are given, under their usual names.
_SEARCHES = frozenset(
    (
        *("index", "rindex", "find", "rfind", "count", "search", "match", "matches", "has", "contains", "includes"),
        *("compare", "cmp", "compare_to", "compareTo", "equals", "equal", "eq", "is_equal", "same", "startswith"),
        *("endswith", "isdisjoint", "issubset", "issuperset", "__contains__", "__eq__", "__ne__", "__lt__", "__le__"),
        *("__gt__", "__ge__"),
    )
)


class UnprovenError(BaseException):
    """Nothing here can decide the comparison; an assertion can't catch this by accident."""


class Ledger:
    """The calls that the assertion has made so far, and the comparisons that only the answer's own code decides."""

    def __init__(self, entry_point: str | None, equal: Callable[[Remote, Remote], bool]) -> None:
        self.equal = equal
        self.entry_point = (entry_point or "").rpartition(".")[2]
        self.clock = 0  # operations so far
        self.changed = 0  # the last one that may have changed an object
        self.reasons: list[str] = []
        #: What the operand that is being evaluated reads: from the ``code`` now, from what was ``captured``, or from an
        #: object that the assertion has ``made``.
        self.reads: set[str] = set()
        self.given: list[Any] = []  # plain values that the assertion gave to constructors of the code
        #: What a method of an own object returned, by which reason it counts, and when.
        self.answer: tuple[Any, str, int] | None = None
        self.comparing = 0

    def mark(self, reason: str) -> None:
        """Record that the code's own word decides."""
        if reason not in self.reasons:
            self.reasons.append(reason)

    def read(self, *values: Any, how: str = "code") -> None:
        """Record that an operand asks the code for something of these values."""
        self.reads.add(how)
        if any(isinstance(one, Remote) and parts(one).made is not None for one in values):
            self.reads.add("made")

    def watched(self, operand: Callable[[], Any]) -> tuple[Any, set[str]]:
        """Evaluate an operand; return what it asks the code for, too."""
        outer, self.reads = self.reads, set()
        try:
            return operand(), self.reads
        finally:
            self.reads = outer | self.reads

    def answered(self, value: Any) -> Any:
        """Return a value on which the assertion depends; mark it if a method of an own object has just returned it."""
        if self.answer is not None and self.answer[0] is value and self.answer[2] == self.clock:
            self.mark(self.answer[1])
        return value


class Made:
    """The origin of an object that the assertion compares with: its arguments, and when they were given."""

    def __init__(self, at: int, parameters: list[str], given: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.at, self.parameters, self.given, self.named = at, parameters, given, named


class Parts:
    """The content of a reference."""

    def __init__(self, number: int, code: Any, kind: tuple[str, str], capture: Any) -> None:
        self.number, self.code, self.kind, self.capture = number, code, kind, capture
        self.at: int = code.ledger.clock
        self.label = kind[1]  # of a class its own name
        self.made: Made | None = None
        self.method: tuple[Any, str] | None = None  # the object and the name by which a method was found

    @property
    def is_object(self) -> bool:
        """Whether it is an object with methods of its own, rather than a function, a class or a module."""
        return self.kind not in _NOT_OBJECTS


_NOT_OBJECTS = frozenset(
    ("builtins", name) for name in ("function", "method", "builtin_function_or_method", "type", "module")
)


def parts(remote: Remote) -> Parts:
    """Return what a reference holds."""
    found: Parts = object.__getattribute__(remote, "_parts")
    return found


class Remote:
    """A value that stays in the code's process. Its fields are compared here; all else is an operation there."""

    __slots__ = ("_parts",)

    def __eq__(self, other: Any) -> bool:
        # python_proofs.py says what that proves.
        return isinstance(other, Remote) and bool(parts(self).code.ledger.equal(self, other))

    def __hash__(self) -> int:
        return hash(parts(self).kind)

    def __bool__(self) -> bool:
        try:
            return len(self) != 0
        except TypeError:
            return True

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__", "__dict__"):
            raise AttributeError(name)
        own = parts(self)
        ledger = own.code.ledger
        fields = own.capture[1] if own.capture is not None and own.at >= ledger.changed else None
        if isinstance(fields, dict) and name in fields:
            ledger.read(self, how="captured")
            return fields[name]
        ledger.read(self)
        found = own.code.ask("get", self, name)
        if isinstance(found, Remote):
            of = parts(found)
            if own.is_object or own.kind == ("builtins", "type"):
                of.method = (self, name)
            if own.kind == ("builtins", "type") and is_member(of) and of.capture[0].endswith("." + name):
                of.made = Made(ledger.clock, [], (), {})
        elif own.kind == ("builtins", "type") and not (member_name(found) or "").endswith("." + name):
            ledger.reads.add("made")  # a constant of a class of the code
        return found

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call it where the code is; a class constructs an object, and a method of an object is judged."""
        own = parts(self)
        ledger = own.code.ledger
        if own.kind == ("builtins", "type"):
            return _constructed(self, given, named)
        found = own.code.ask("call", self, *given, **named)
        ledger.changed = ledger.clock
        owner, name = own.method or ((self, "__call__") if own.is_object else (None, ""))
        if owner is None:
            ledger.read(*remotes_in([*given, *named.values()]))
            return found
        ledger.read(owner)
        for one in (owner, *given, *named.values()):
            if isinstance(one, Remote) and parts(one).capture is not None:
                refresh(one)
        if given or named:
            _judge(ledger, owner, name, [*given, *named.values()], found)
        return found

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, Remote) and _ask(value, "isinstance", self) is True

    def __iter__(self) -> Any:
        found = _ask(self, "iter")
        return found if isinstance(found, Remote) else iter(found)

    def __len__(self) -> int:
        return int(_ask(self, "len"))

    def __repr__(self) -> str:
        return str(_ask(self, "repr"))

    def __str__(self) -> str:
        return str(_ask(self, "str"))


def _ask(remote: Remote, operation: str, *given: Any, **named: Any) -> Any:
    code = parts(remote).code
    code.ledger.read(remote)
    return code.ask(operation, remote, *given, **named)


def _changing(operation: str) -> Callable[..., Any]:
    def operate(self: Remote, *given: Any) -> Any:
        ledger = parts(self).code.ledger
        found = _ask(self, operation, *given)
        ledger.changed = ledger.clock
        if operation == "set":
            refresh(self)
        return found

    return operate


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    def operate(self: Remote, *other: Any) -> Any:
        code = parts(self).code
        code.ledger.read(self)
        found = code.ask(name, *other, self) if swapped else code.ask(name, self, *other)
        code.ledger.changed = code.ledger.clock
        if other:
            _judge(code.ledger, self, "__" + name.rstrip("_") + "__", list(other), found)
        return found

    return operate


for _name, _operation in (("setattr", "set"), ("next", "next"), ("getitem", "item")):
    setattr(Remote, "__" + _name + "__", _changing(_operation))
for _name in ("neg", "abs"):
    setattr(Remote, "__" + _name + "__", _operator(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    _operation = _name + "_" if _name in ("and", "or") else _name
    setattr(Remote, "__" + _name + "__", _operator(_operation))
    setattr(Remote, "__r" + _name + "__", _operator(_operation, swapped=True))


# What is the answer's own word -----------------------------------------------------------------------------------


def _constructed(kind: Remote, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Construct an object of a class of the code; settle first which fields have to show the arguments."""
    code = parts(kind).code
    parameters = code.ask("parameters", kind)
    at = code.ledger.clock
    found = code.ask("call", kind, *given, **named)
    code.ledger.read()
    code.ledger.given += plain_in([*given, *named.values()])
    if isinstance(found, Remote):
        parts(found).made = Made(at, [str(one) for one in parameters], given, named)
    elif not _shows_plain(found, given, named):
        code.ledger.mark(UNSHOWN.format(parts(kind).label))
    return found


#: The reason for a class whose objects don't show what the assertion gives its constructor.
UNSHOWN = (
    "decided by the answer's own class {}: its objects don't show what the test expects. Compare their fields with "
    "plain values"
)


def _shows_plain(found: Any, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Return whether a plain value that a constructor returned, such as a named tuple, shows the arguments."""
    expected = plain_in(list(given))
    name = member_name(found)
    if name is not None:
        return len(expected) == 1 and expected[0] in (found.value, found.name)
    if isinstance(found, BaseException):
        values = [*plain_in(list(found.args)), *plain_in(found.__dict__), str(found)]
        return all(any(same(one, other) for other in values) for one in [*expected, *plain_in(named)])
    if isinstance(found, (set, frozenset)):
        return not named and found == set(expected)
    names = getattr(found, "_fields", None) or (found if isinstance(found, dict) else ())
    if any(name not in names for name in named):
        return False
    by_name = found if isinstance(found, dict) else {name: getattr(found, name) for name in named}
    values = plain_in(found)
    if isinstance(found, dict) and not expected:
        values = []
    return (
        len(values) >= len(expected)
        and all(map(same, values, expected))
        and all(plain_in(by_name[name]) == plain_in(one) for name, one in named.items())
    )


def same(one: Any, other: Any) -> bool:
    """Return whether two plain values are of one type, and equal."""
    return type(one) is type(other) and bool(one == other)


def refresh(remote: Remote) -> None:
    """Capture an object again, after an operation on it."""
    found = parts(remote).code.ask("self", remote)
    if isinstance(found, Remote):
        parts(remote).capture, parts(remote).at = parts(found).capture, parts(found).at


def _judge(ledger: Ledger, owner: Any, name: str, given: list[Any], found: Any) -> None:
    """Mark a method of an own object that says how the object compares with what the assertion gives."""
    if name == ledger.entry_point:
        return
    what = "decided by the answer's own method " + type_name_of(owner) + "." + name
    if isinstance(found, bool) or name in _SEARCHES or (is_weak(found) and any(holds_own(one) for one in given)):
        ledger.mark(what)
    else:
        ledger.answer = found, what, ledger.clock


def is_weak(value: Any) -> bool:
    """Return whether a value is what a comparison returns if nothing differs."""
    if isinstance(value, Remote):
        capture = parts(value).capture
        return capture is not None and isinstance(capture[1], dict) and all(map(is_weak, capture[1].values()))
    if isinstance(value, (int, float)):
        return value in (0, 1, -1)
    return value is None or (isinstance(value, (str, bytes, list, tuple, dict, set, frozenset)) and not value)


def holds_own(value: Any) -> bool:
    """Return whether a value is or holds an object of the code."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return isinstance(value, Remote) or (
        isinstance(value, (list, tuple, set, frozenset)) and any(map(holds_own, value))
    )


def type_name_of(remote: Any) -> str:
    """Return the name of the class of an object; of a class its own."""
    return parts(remote).label if isinstance(remote, Remote) else "?"


def is_member(own: Parts) -> bool:
    """Return whether a reference is to a member of an enumeration."""
    return own.capture is not None and not isinstance(own.capture[1], dict)


def remotes_in(values: Any) -> list[Remote]:
    """Return the objects of the code within arguments."""
    if isinstance(values, Remote):
        return [values]
    if isinstance(values, dict):
        values = [*values, *values.values()]
    if not isinstance(values, (list, tuple, set, frozenset)):
        return []
    return [one for value in values for one in remotes_in(value)]


def plain_in(values: Any) -> list[Any]:
    """Return the plain values within arguments."""
    if isinstance(values, dict):
        values = [*values, *values.values()]
    if isinstance(values, (list, tuple, set, frozenset)):
        return [one for value in values for one in plain_in(value)]
    return [] if values is None or isinstance(values, (bool, Remote)) else [values]
