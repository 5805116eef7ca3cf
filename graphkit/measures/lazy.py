"""Attributes that are computed when first asked for, alone or several at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Owner = TypeVar("Owner")
Value = TypeVar("Value")


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
        value = self._compute(instance)
        setattr(instance, self._name, value)
        return value


class _Filled:
    def __init__(self, fill: Callable[[Any], None]) -> None:
        self._fill = fill

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        self._fill(instance)
        return getattr(instance, self._name)


def filled_by(fill: Callable[[Any], None]) -> Any:
    """Return an attribute that a method sets, together with others, when one of them is first asked for."""
    return _Filled(fill)
