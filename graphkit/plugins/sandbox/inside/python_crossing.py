"""Values that cross between the process of an answer's code and that of an assertion, both ways, as plain data.

In addition to the forms in returned_values.py, a value may be written as:

==========================================  ==========================================================================
``{"known": [type, [argument, ...]]}``      a value of the standard library, such as ``datetime.date``
``{"made": [module, name, fields]}``        an instance of a stand-in's class, with all its fields; the name of the
                                            member if the class is an enumeration
``{"global": [module, name]}``              a class, function or module of the standard library, a class of a stand-in
``{"error": [number, classes, arguments, fields, text]}``  an exception
``{"class": [number, classes]}``            a class of the answer's code
``{"held": [number, class, snapshot, traits]}``  any other value, which stays; a reference has only the number
==========================================  ==========================================================================

The reader looks up a module and a name in its own copy of the standard library or of the stand-ins, never in the other
process. A class is ``[module, name]``; ``classes`` is the method resolution order of an exception's class.
"""

from __future__ import annotations

import sys

from python_common import home_of, text_of, type_name
from python_values import Encoder, fields_of, is_member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


class CrossingError(TypeError):
    """A value can't cross."""


def stand_ins_of(files: Iterable[str]) -> frozenset[str]:
    """Return the names under which files are imported."""
    return frozenset(path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in files)


#: The types of the standard library that cross as themselves, each with the arguments that make it again.
_ARGUMENTS: dict[tuple[str, str], Callable[[Any], list[Any]]] = {
    ("builtins", "frozenset"): lambda value: [list(value)],
    ("builtins", "range"): lambda value: [value.start, value.stop, value.step],
    ("builtins", "complex"): lambda value: [value.real, value.imag],
    ("builtins", "dict_keys"): lambda value: [list(value)],
    ("builtins", "dict_values"): lambda value: [list(value)],
    ("builtins", "dict_items"): lambda value: [list(value)],
    ("array", "array"): lambda value: [value.typecode, list(value)],
    ("collections", "deque"): lambda value: [list(value), value.maxlen],
    ("collections", "Counter"): lambda value: [dict(value)],
    ("collections", "OrderedDict"): lambda value: [list(value.items())],
    ("collections", "defaultdict"): lambda value: [dict(value)],
    ("datetime", "date"): lambda value: [value.isoformat()],
    ("datetime", "time"): lambda value: [value.isoformat()],
    ("datetime", "datetime"): lambda value: [value.isoformat()],
    ("datetime", "timedelta"): lambda value: [value.days, value.seconds, value.microseconds],
    ("uuid", "UUID"): lambda value: [str(value)],
    ("pathlib", "PosixPath"): lambda value: [str(value)],
    ("pathlib", "PurePosixPath"): lambda value: [str(value)],
}

#: Functions that make these again if calling the type doesn't.
_MADE: dict[tuple[str, str], Callable[..., Any]] = {
    ("builtins", "dict_keys"): lambda items: dict.fromkeys(items).keys(),
    ("builtins", "dict_values"): lambda items: dict(enumerate(items)).values(),
    ("builtins", "dict_items"): lambda items: dict(items).items(),
    ("collections", "defaultdict"): lambda items: _of_module("collections", "defaultdict")(None, items),
    ("datetime", "date"): lambda text: _of_module("datetime", "date").fromisoformat(text),
    ("datetime", "time"): lambda text: _of_module("datetime", "time").fromisoformat(text),
    ("datetime", "datetime"): lambda text: _of_module("datetime", "datetime").fromisoformat(text),
}


def _of_module(module: str, name: str) -> Any:
    """Return the value of a module under a (dotted) name; without a name the module."""
    import importlib

    found: Any = importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


class Writer(Encoder):  # type: ignore[misc]
    """Writes values that cross."""

    def __init__(self, limit: int, stand_ins: frozenset[str], hold: Callable[[Any], int] | None) -> None:
        super().__init__(limit)
        self.stand_ins = stand_ins
        self.hold = hold

    def encode(self, value: Any, depth: int) -> Any:
        """Write a value."""
        kind = type(value)
        if is_member(kind) and issubclass(kind, int | float | str) and self.hold is not None:
            return {"enum": [self.text(type_name(kind) + "." + str(value._name_)), self.encode(value._value_, depth)]}
        return super().encode(value, depth)

    def composite(self, value: Any, kind: Any, depth: int) -> Any:
        """Write a value that is neither a number nor a text."""
        home, name = home_of(kind), type_name(kind)
        arguments = _ARGUMENTS.get((home.partition("._")[0], name))
        if arguments is not None and _is(home, name, kind):
            return {"known": [home.partition("._")[0] + "." + name, self.items(arguments(value), depth)]}
        if not is_member(kind) and issubclass(kind, list | tuple | dict | set | bytes | bytearray):
            return super().composite(value, kind, depth)
        return self.of_library(value, kind, home, depth) or self.other(value, kind, depth)

    def of_library(self, value: Any, kind: Any, home: str, depth: int) -> Any:
        """Write a number of the standard library, or return None."""
        if home in ("decimal", "fractions", "_decimal"):
            return super().of_library(value, kind, home, depth)
        return None

    def other(self, value: Any, kind: Any, depth: int) -> Any:
        """Write a value by a name that both sides know, by its fields, or as a held one."""
        reference = self.reference(value, kind)
        if reference is not None:
            return reference
        if issubclass(kind, BaseException):
            return self.error(value)
        if isinstance(value, type):
            return {"class": [self.held(value), _classes(value)]}
        home, name = home_of(kind), type_name(kind)
        if home in self.stand_ins and _is(home, name, kind) and not hasattr(kind, "__next__"):
            content = str(value._name_) if is_member(kind) else self.fields(value, kind, depth)
            return {"made": [home, name, content]}
        traits = [trait for trait in ("__await__", "__next__") if hasattr(kind, trait)]
        snapshot = {"other": [name, self.text("...")]} if traits else self.snapshot(value, kind, depth)
        return {"held": [self.held(value), [home, name], snapshot, traits]}

    def snapshot(self, value: Any, kind: Any, depth: int) -> Any:
        """Return the part of a held value that is compared and shown."""
        if is_member(kind):
            return {"enum": [type_name(kind) + "." + str(value._name_), self.encode(value._value_, depth)]}
        return self.instance(value, kind, depth)

    def held(self, value: Any) -> int:
        """Keep a value here, and return its number."""
        if self.hold is None:
            raise CrossingError(
                "the assertion hands over " + text_of(value, repr) + ", which can't leave the assertion's process"
            )
        return self.hold(value)

    def reference(self, value: Any, kind: Any) -> Any:
        """Return the module and the name of a value that the other side has, too; None for any other."""
        if kind is type(sys):
            module, name = value.__dict__.get("__name__"), ""
        elif isinstance(value, type):
            module, name = home_of(value), type_name(value)
        elif kind.__name__ in ("function", "builtin_function_or_method"):
            module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        else:
            return None
        if not isinstance(module, str) or not isinstance(name, str):
            return None
        ours = module.partition(".")[0] in sys.stdlib_module_names
        if (ours or (module in self.stand_ins and isinstance(value, type))) and _is(module, name, value):
            return {"global": [module, name]}
        return None

    def fields(self, value: Any, kind: Any, depth: int) -> list[Any]:
        """Write all fields of an instance, also those that aren't public."""
        return [[self.text(name), self.encode(item, depth)] for name, item in fields_of(value, kind, "__").items()]

    def error(self, error: BaseException, depth: int = 1) -> Any:
        """Write an exception."""
        kind = type(error)
        number = 0 if self.hold is None else self.held(kind)
        arguments = error.args if isinstance(error.args, tuple) else ()
        text = self.text(text_of(error, str))
        return {"error": [number, _classes(kind), self.items(arguments, depth), self.fields(error, kind, depth), text]}


def _classes(kind: type) -> list[list[str]]:
    found = type.__dict__["__mro__"].__get__(kind)[:50]
    return [[home_of(one), type_name(one)] for one in found if one is not object]


def _is(module: str, name: str, value: Any) -> bool:
    """Return whether a loaded module has a value under a name; the views of a dict are in no module."""
    if module == "builtins" and name.startswith("dict_"):
        return True
    found = sys.modules.get(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part, None)
    return found is value


#: How to read the values that hold no others.
_PLAIN: dict[str, Callable[[Any], Any]] = {
    "integer": lambda content: int(content, 16),
    "float": float,
    "decimal": lambda content: _of_module("decimal", "Decimal")(content),
    "fraction": lambda content: _of_module("fractions", "Fraction")(int(content[0], 16), int(content[1], 16)),
    "bytes": bytes.fromhex,
}


class CrossingReader:
    """Reads values that crossed."""

    def __init__(self, stand_ins: frozenset[str], held: Callable[[list[Any]], Any]) -> None:
        self.stand_ins = stand_ins
        self.held = held
        self._classes: dict[tuple[str, str], type] = {}

    def read(self, encoded: Any, frozen: bool = False) -> Any:
        """Return the value of decoded JSON; it is hashable if ``frozen``."""
        if isinstance(encoded, list):
            return [self.read(item) for item in encoded]
        if not isinstance(encoded, dict):
            return encoded
        ((tag, content),) = encoded.items()
        if tag == "set":
            return (frozenset if frozen else set)(self.read(item, True) for item in content)
        if tag == "tuple":
            return tuple(self.read(item, frozen) for item in content)
        if tag == "dict":
            return {self.read(key, True): self.read(item) for key, item in content}
        read: Any = _PLAIN.get(tag) or getattr(self, "_" + tag)
        return read(content)

    def _named(self, content: list[Any]) -> Any:
        import collections

        name, fields = content
        names = tuple(field for field, _ in fields)
        kind = collections.namedtuple(name if name.isidentifier() else "Tuple", names, rename=True)  # type: ignore[misc]
        return kind(*(self.read(item) for _, item in fields))

    def _known(self, content: list[Any]) -> Any:
        where, arguments = content
        module, _, name = where.rpartition(".")
        if (module, name) not in _ARGUMENTS:
            raise CrossingError("a value of an unknown type came over")
        given = [self.read(one, name == "frozenset") for one in arguments]
        if name in ("frozenset", "dict_keys"):
            given = [[self.read(item, True) for item in arguments[0]]]
        make = _MADE.get((module, name))
        return (make or _of_module(module, name))(*given)

    def _enum(self, content: list[Any]) -> Any:
        """Return a member that is also a number or a text: that, with the name of the member."""
        name, encoded = content
        value = self.read(encoded)
        kind = type(value) if type(value) in (int, float, str) else str
        owner, _, short = name.rpartition(".")
        found = type(owner, (_EnumMember, kind), {})(value)
        found.__dict__.update(_member=name, name=short, value=value)
        return found

    def _held(self, content: list[Any]) -> Any:
        return self.held(content)

    def _global(self, content: list[str]) -> Any:
        module, name = content
        if module.partition(".")[0] not in sys.stdlib_module_names and module not in self.stand_ins:
            raise CrossingError("a name of no known module came over")
        return _of_module(module, name)

    def _made(self, content: list[Any]) -> Any:
        module, name, fields = content
        kind = self._global([module, name])
        if isinstance(fields, str):
            return kind[fields]
        found = object.__new__(kind)
        self._set(found, fields)
        return found

    def _set(self, found: Any, fields: list[Any]) -> None:
        for name, item in fields:
            if not name.startswith("__"):
                object.__setattr__(found, name, self.read(item))

    def _error(self, content: list[Any]) -> BaseException:
        number, classes, arguments, fields, text = content
        kind: Any = self.error_class(number, classes)
        given = [self.read(one) for one in arguments]
        try:
            found: BaseException = kind.__new__(kind, *given)
        except Exception:
            found = BaseException.__new__(kind, *given)
        for one in kind.__mro__:
            if one.__module__ == "builtins":
                try:
                    one.__init__(found, *given)
                except Exception:  # it needs other arguments; it keeps those from __new__
                    pass
                break
        self._set(found, fields)
        object.__setattr__(found, "_crossed", text)
        return found

    def error_class(self, number: int, classes: list[list[str]]) -> type:
        """Return the class of an exception: our own, or one that represents the class of the code."""
        own: list[type] = []
        rest: list[tuple[str, str]] = []
        for module, name in classes:
            found = self._own_class(module, name)
            if found is None:
                rest.append((module, name))
            elif not any(issubclass(one, found) for one in own):
                own.append(found)
        bases = tuple(own) or (Exception,)
        kind = bases[0]
        for key in reversed(rest):
            kind = self._classes.get(key) or _error_class(key[1], bases)
            self._classes[key] = kind
            bases = (kind,)
        if rest and number:
            kind._number = number  # type: ignore[attr-defined]
        return kind

    def _own_class(self, module: str, name: str) -> type | None:
        """Return a class of the standard library or of a stand-in by its name."""
        try:
            found = self._global([module, name])
        except (CrossingError, AttributeError, ImportError):
            return None
        return found if isinstance(found, type) else None


class _EnumMember:
    """A member of an enumeration of numbers or texts: it equals a plain value, but no member of another name."""

    _member: str

    def __eq__(self, other: Any) -> Any:
        if isinstance(other, _EnumMember) and other._member != self._member:
            return False
        return super().__eq__(other)

    def __ne__(self, other: Any) -> Any:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()


def member_name(value: Any) -> str | None:
    """Return the name of a member of an enumeration of numbers or texts; None for any other value."""
    return value._member if isinstance(value, _EnumMember) else None


def _error_class(name: str, bases: tuple[type, ...]) -> type:
    body = {"__str__": _text_of_error, "__module__": "answer"}
    try:
        return type(name, bases, body)
    except TypeError:  # their layouts conflict
        return type(name, bases[:1], body)


def _text_of_error(error: Any) -> str:
    return str(error.__dict__.get("_crossed", ""))
