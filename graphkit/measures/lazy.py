"""What is computed at most once a case: attributes when first asked for, and findings that several measures share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

Owner = TypeVar("Owner")
Value = TypeVar("Value")
P = ParamSpec("P")


class lazy(Generic[Owner, Value]):  # noqa: N801 - reads as property does
    """An attribute computed when first asked for.

    Does what :func:`functools.cached_property` does, without the lock that this takes before Python 3.12: a case
    belongs to one thread, and its attributes are most of what scoring costs.
    """

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Owner]) -> lazy[Owner, Value]: ...
    @overload
    def __get__(self, instance: Owner, owner: type[Owner]) -> Value: ...
    def __get__(self, instance: Owner | None, owner: type[Owner]) -> lazy[Owner, Value] | Value:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


class HasShared(Protocol):
    """What :func:`shared` needs: a place for the findings."""

    shared: dict[object, Any]


Sharer = TypeVar("Sharer", bound=HasShared)


def shared(
    function: Callable[Concatenate[Sharer, P], Value],
) -> Callable[Concatenate[Sharer, P], Value]:
    """Compute a function of a case once for each set of arguments, whichever measures ask for it."""

    @wraps(function)
    def once(case: Sharer, *args: P.args, **kwargs: P.kwargs) -> Value:
        key = (function, args, tuple(kwargs.items())) if kwargs else (function, args)
        found = case.shared
        if key in found:
            value: Value = found[key]
        else:
            value = found[key] = function(case, *args, **kwargs)
        return value

    return once
