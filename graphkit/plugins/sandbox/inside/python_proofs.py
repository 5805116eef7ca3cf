"""Decide whether a comparison of the answer's objects proves anything; python_remotes.py states the rule."""

from __future__ import annotations

import operator

from python_remotes import (
    UNSHOWN,
    Ledger,
    Parts,
    Remote,
    UnprovenError,
    holds_own,
    is_member,
    is_weak,
    parts,
    plain_in,
    refresh,
    remotes_in,
    same,
    type_name_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def equal(left: Remote, right: Remote) -> bool:
    """Compare two captured objects as data, and record what that doesn't prove."""
    one, other = parts(left), parts(right)
    if one is other:  # the assertion names one value twice
        return True
    ledger = one.code.ledger
    if one.kind != other.kind or type(left) is not type(right):
        return False
    if one.kind == ("builtins", "type"):
        return bool(one.number == other.number)
    if one.capture is None or other.capture is None:
        raise UnprovenError(
            "the test compares objects of " + type_name_of(left) + ", which show no fields: nothing tells them apart "
            "from here. Compare what their methods return, such as result.amount() == 41"
        )
    is_same: bool = _same_data(ledger, one.capture, other.capture)
    if ledger.comparing:
        return is_same
    if is_same:
        if _proven(ledger, one, other):
            # The code knew this without the assertion.
            known = [each for own in (one, other) if own.made is not None for each in _given_to(own)]
            ledger.given = [each for each in ledger.given if not any(each is value for value in known)]
        else:
            ledger.mark(UNSHOWN.format(type_name_of(left)))
        return True
    if ledger.changed > min(one.at, other.at):  # another object may have changed them
        refresh(left)
        refresh(right)
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
    of_parts = [_first_given(parts(one)) for one in remotes_in(given) if parts(one).made is not None]
    return min([int(own.made.at), *of_parts])


def _given_to(own: Parts) -> list[Any]:
    """Return the plain values that the assertion gave to make an object and its parts."""
    assert own.made is not None
    given = [*own.made.given, *own.made.named.values()]
    return [*plain_in(given)] + [
        each for one in remotes_in(given) if parts(one).made is not None for each in _given_to(parts(one))
    ]


def _shows(ledger: Ledger, own: Parts) -> bool:
    """Return whether the fields of an object show each argument of the assertion where they have to."""
    made = own.made
    assert made is not None
    if is_member(own):
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
    if holds_own(value):
        ledger.mark("decided by the hash of an object of the code")
    return hash(value)


def compared(ledger: Ledger, how: str, left: Any, right: Any, reads: list[set[str]], given: int) -> Any:
    """Compare two operands.

    ``reads`` is what each asked the code for while it was evaluated, and ``given`` how many values the assertion had
    given to constructors before the right one was.
    """
    if how in ("Is", "IsNot") and isinstance(left, Remote) and isinstance(right, Remote):
        is_same = parts(left).number == parts(right).number
        if is_same and left is not right and how == "Is":
            ledger.mark("decided by the identity of an object of the code, which the code chooses")
        return is_same == (how == "Is")
    for value, other in ((left, right), (right, left)):
        if not isinstance(value, Remote) and (isinstance(other, bool) or is_weak(other)):
            ledger.answered(value)
    found = _COMPARED[how](left, right)
    if isinstance(left, Remote) and isinstance(right, Remote):
        return found
    for value, asked in ((left, reads[0]), (right, reads[1])):
        is_asked = found and how in ("Eq", "In") and "code" in asked and "made" not in asked
        if is_asked and any(same(one, value) for one in ledger.given):
            ledger.mark(
                "decided by what the code said after the test had given the value to its class. Ask for the result "
                "first"
            )
    if found and how == "Eq" and not (holds_own(left) or holds_own(right)):
        del ledger.given[given:]  # the left side was there before
    if "made" in reads[0] | reads[1] and reads[0] and reads[1] and not (holds_own(left) or holds_own(right)):
        ledger.mark(
            "decided by the answer's own class: both sides of a comparison are read from its objects. Compare with "
            "plain values"
        )
    return found
