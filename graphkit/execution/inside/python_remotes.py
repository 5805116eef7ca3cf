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

import operator

from python_crossing import member_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: Methods that compare with what they are given, under their usual names.
_SEARCHES = frozenset(
    "index rindex find rfind count search match compare cmp compare_to compareTo has contains includes equals equal eq "
    "is_equal startswith endswith isdisjoint issubset issuperset __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ "
    "matches same".split()
)


class UnprovenError(BaseException):
    """Nothing here can decide the comparison; an assertion can't catch this by accident."""


class Ledger:
    """What the assertion has asked the code so far, and what only the code's own word decides."""

    def __init__(self, entry_point: str | None) -> None:
        self.entry_point = (entry_point or "").rpartition(".")[2]
        self.clock = 0  # operations so far
        self.changed = 0  # the last one that may have changed an object
        self.reasons: list[str] = []
        #: What the operand that is being evaluated reads: from the ``code`` now, from what was ``captured``, or from an
        #: object that the assertion has ``made``.
        self.reads: set[str] = set()
        self.given: list[Any] = []  # plain values that the assertion gave to constructors of the code
        self.answer: tuple[Any, str] | None = None  # what a method of an own object returned last, and its name
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
        if self.answer is not None and self.answer[0] is value:
            self.mark(self.answer[1])
        return value


class Made:
    """How the assertion got an object that it compares with: the arguments, and when it gave them."""

    def __init__(self, at: int, parameters: list[str], given: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.at, self.parameters, self.given, self.named = at, parameters, given, named


class Parts:
    """What a reference holds."""

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
        if not isinstance(other, Remote):
            return False
        if parts(self) is parts(other):  # the assertion names one value twice
            return True
        return _equal(self, other)

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
        if own.capture is not None and own.at >= ledger.changed and isinstance(own.capture[1], dict):
            if name in own.capture[1]:
                ledger.read(self, how="captured")
                return own.capture[1][name]
        ledger.read(self)
        found = own.code.ask("get", self, name)
        if isinstance(found, Remote):
            of = parts(found)
            if own.is_object or own.kind == ("builtins", "type"):
                of.method = (self, name)
            if own.kind == ("builtins", "type") and _is_member(of) and of.capture[0].endswith("." + name):
                of.made = Made(ledger.clock, [], (), {})
        elif own.kind == ("builtins", "type") and not (member_name(found) or "").endswith("." + name):
            ledger.reads.add("made")  # a constant of a class of the code
        return found

    def __call__(self, *given: Any, **named: Any) -> Any:
        own = parts(self)
        ledger = own.code.ledger
        if own.kind == ("builtins", "type"):
            return _constructed(self, given, named)
        found = own.code.ask("call", self, *given, **named)
        ledger.changed = ledger.clock
        owner, name = own.method or ((self, "__call__") if own.is_object else (None, ""))
        if owner is None:
            ledger.read(*_flat([*given, *named.values()]))
            return found
        ledger.read(owner)
        if given or named:
            _judge(ledger, owner, name, [*given, *named.values()], found)
        for one in (owner, *given, *named.values()):
            if isinstance(one, Remote) and parts(one).capture is not None:
                _refresh(one)
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
            _refresh(self)
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
    code.ledger.given += _plain([*given, *named.values()])
    if isinstance(found, Remote):
        parts(found).made = Made(at, [str(one) for one in parameters], given, named)
    elif not _shows_plain(found, given, named):
        code.ledger.mark(_UNSHOWN.format(parts(kind).label))
    return found


#: The reason for a class whose objects don't show what the assertion gives its constructor.
_UNSHOWN = (
    "decided by the answer's own class {}: its objects don't show what the test expects. Compare their fields with plain "
    "values"
)


def _shows_plain(found: Any, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Return whether a plain value that a constructor returned, such as a named tuple, shows the arguments."""
    expected = _plain(list(given))
    if isinstance(found, BaseException):
        values = [*_plain(list(found.args)), *_plain(found.__dict__), str(found)]
        return all(any(_same(one, other) for other in values) for one in [*expected, *_plain(named)])
    if isinstance(found, (set, frozenset)):
        return not named and found == set(expected)
    names = getattr(found, "_fields", None) or (found if isinstance(found, dict) else ())
    if any(name not in names for name in named):
        return False
    by_name = found if isinstance(found, dict) else {name: getattr(found, name) for name in named}
    values = _plain(found)
    if isinstance(found, dict) and not expected:
        values = []
    return (
        len(values) >= len(expected)
        and all(map(_same, values, expected))
        and all(_plain(by_name[name]) == _plain(one) for name, one in named.items())
    )


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _refresh(remote: Remote) -> None:
    """Capture an object again, after an operation on it."""
    found = parts(remote).code.ask("self", remote)
    if isinstance(found, Remote):
        parts(remote).capture, parts(remote).at = parts(found).capture, parts(found).at


def _judge(ledger: Ledger, owner: Any, name: str, given: list[Any], found: Any) -> None:
    """Mark a method of an own object that says how the object compares with what the assertion gives."""
    if name == ledger.entry_point:
        return
    what = "decided by the answer's own method " + type_name_of(owner) + "." + name
    if isinstance(found, bool) or name in _SEARCHES or (_weak(found) and any(_holds_own(one) for one in given)):
        ledger.mark(what)
    else:
        ledger.answer = found, what


def _weak(value: Any) -> bool:
    """Return whether a value is what a comparison returns if nothing differs."""
    if isinstance(value, Remote):
        capture = parts(value).capture
        return capture is not None and isinstance(capture[1], dict) and all(map(_weak, capture[1].values()))
    if isinstance(value, (int, float)):
        return value in (0, 1, -1)
    return value is None or (isinstance(value, (str, bytes, list, tuple, dict, set, frozenset)) and not value)


def _holds_own(value: Any) -> bool:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return isinstance(value, Remote) or (isinstance(value, (list, tuple, set, frozenset)) and any(map(_holds_own, value)))


def type_name_of(remote: Any) -> str:
    """Return the name of the class of an object; of a class its own."""
    return parts(remote).label if isinstance(remote, Remote) else "?"


# Comparisons -------------------------------------------------------------------------------------------------------


def _is_member(own: Parts) -> bool:
    return own.capture is not None and not isinstance(own.capture[1], dict)


def _equal(left: Remote, right: Remote) -> bool:
    """Compare two captured objects as data, and record what that doesn't prove."""
    one, other = parts(left), parts(right)
    ledger = one.code.ledger
    if one.kind != other.kind or type(left) is not type(right):
        return False
    if one.kind == ("builtins", "type"):
        return one.number == other.number
    if one.capture is None or other.capture is None:
        raise UnprovenError(
            "the test compares objects of " + type_name_of(left) + ", which show no fields: nothing tells them apart "
            "from here. Compare what their methods return, such as result.amount() == 41"
        )
    same = _same_data(ledger, one.capture, other.capture)
    if ledger.comparing:
        return same
    if same:
        if _proven(ledger, one, other):
            # The code knew this without the assertion.
            known = [each for own in (one, other) if own.made is not None for each in _given_to(own)]
            ledger.given = [each for each in ledger.given if not any(each is value for value in known)]
        else:
            ledger.mark(_UNSHOWN.format(type_name_of(left)))
        return True
    if ledger.changed > min(one.at, other.at):  # another object may have changed them
        _refresh(left)
        _refresh(right)
        if _same_data(ledger, one.capture, other.capture):
            ledger.mark("decided by objects of " + type_name_of(left) + " that the code changed during the test")
            return True
    return False


def _same_data(ledger: Ledger, one: Any, other: Any) -> bool:
    ledger.comparing += 1
    try:
        return bool(one == other)
    finally:
        ledger.comparing -= 1


def _proven(ledger: Ledger, one: Parts, other: Parts) -> bool:
    """Return whether one of two equal objects shows what the assertion gave after the other one was captured."""
    return any(
        expected.made is not None
        and (found.made is not None or found.at <= _first_given(expected))
        and _shows(ledger, expected)
        for expected, found in ((one, other), (other, one))
    )


def _first_given(own: Parts) -> int:
    """Return when the assertion first gave a part of an object to the code."""
    assert own.made is not None
    given = [*own.made.given, *own.made.named.values()]
    return min([own.made.at, *(_first_given(parts(one)) for one in _flat(given) if parts(one).made is not None)])


def _given_to(own: Parts) -> list[Any]:
    """Return the plain values that the assertion gave to make an object and its parts."""
    assert own.made is not None
    given = [*own.made.given, *own.made.named.values()]
    return _plain(given) + [each for one in _flat(given) if parts(one).made is not None for each in _given_to(parts(one))]


def _flat(values: Any) -> list[Remote]:
    if isinstance(values, Remote):
        return [values]
    if isinstance(values, dict):
        values = [*values, *values.values()]
    if not isinstance(values, (list, tuple, set, frozenset)):
        return []
    return [one for value in values for one in _flat(value)]


def _plain(values: Any) -> list[Any]:
    """Return the plain values within arguments."""
    if isinstance(values, dict):
        values = [*values, *values.values()]
    if isinstance(values, (list, tuple, set, frozenset)):
        return [one for value in values for one in _plain(value)]
    return [] if values is None or isinstance(values, (bool, Remote)) else [values]


def _shows(ledger: Ledger, own: Parts) -> bool:
    """Return whether the fields of an object show each argument of the assertion where they have to."""
    made = own.made
    assert made is not None
    if _is_member(own):
        name, value = own.capture
        return not made.given or any(_same_data(ledger, made.given[0], one) for one in (value, name.rpartition(".")[2]))
    fields = own.capture[1]
    values = list(fields.values())
    if not made.given and not made.named:
        return False
    return all(name in fields and _shown(ledger, one, fields[name]) for name, one in made.named.items()) and all(
        (number < len(made.parameters) and _shown(ledger, one, fields.get(made.parameters[number])))
        or (number < len(values) and _shown(ledger, one, values[number]))
        for number, one in enumerate(made.given)
    )


def _shown(ledger: Ledger, given: Any, field: Any) -> bool:
    """Return whether a field shows an argument: the same value, or an object that shows its own arguments."""
    if isinstance(given, Remote):
        if not isinstance(field, Remote) or not _same_data(ledger, given, field):
            return False
        return parts(given).made is None or _shows(ledger, parts(given))
    if isinstance(given, (list, tuple)):
        if not isinstance(field, (list, tuple)) or len(given) != len(field):
            return False
        return all(_shown(ledger, one, other) for one, other in zip(given, field))  # noqa: B905 - see above
    if isinstance(given, dict):
        if not isinstance(field, dict) or len(given) != len(field):
            return False
        return all(key in field and _shown(ledger, one, field[key]) for key, one in given.items())
    if isinstance(given, bool) != isinstance(field, bool):
        return False
    return _same_data(ledger, given, field)


_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}


def hashed(ledger: Ledger, value: Any) -> int:
    """Return a hash for an assertion that asks for it; an object's own proves nothing."""
    if _holds_own(value):
        ledger.mark("decided by the hash of an object of the code")
    return hash(value)


def compared(ledger: Ledger, how: str, left: Any, right: Any, reads: list[set[str]]) -> Any:
    """Compare two operands; ``reads`` is what each asked the code for while it was evaluated."""
    if how in ("Is", "IsNot") and isinstance(left, Remote) and isinstance(right, Remote):
        same = parts(left).number == parts(right).number
        if same and left is not right and how == "Is":
            ledger.mark("decided by the identity of an object of the code, which the code chooses")
        return same == (how == "Is")
    for value, other in ((left, right), (right, left)):
        if not isinstance(value, Remote) and (isinstance(other, bool) or _weak(other)):
            ledger.answered(value)
    found = _COMPARED[how](left, right)
    if isinstance(left, Remote) and isinstance(right, Remote):
        return found
    for value, asked in ((left, reads[0]), (right, reads[1])):
        if found and how in ("Eq", "In") and "code" in asked and "made" not in asked:
            if any(_same(one, value) for one in ledger.given):
                ledger.mark(
                    "decided by what the code said after the test had given the value to its class. Ask for the result "
                    "first"
                )
    if "made" in reads[0] | reads[1] and reads[0] and reads[1] and not (_holds_own(left) or _holds_own(right)):
        ledger.mark(
            "decided by the answer's own class: both sides of a comparison are read from its objects. Compare with "
            "plain values"
        )
    return found
