"""Values that come out of the sandbox: encoded by a real Python, read, compared and shown."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.plugins.sandbox.returned_values import (
    DEEPEST,
    DictValue,
    ObjectValue,
    OtherValue,
    SetValue,
    TupleValue,
    UnusableResultError,
    decoded,
    parsed,
)
from graphkit.plugins.sandbox.value_equality import equal, same_output
from graphkit.plugins.sandbox.value_texts import shown
from tests.helpers.properties import examples
from tests.plugins.sandbox.running import Child


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """A Python that encodes."""
    process = Child()
    yield process
    process.close()


def through(child: Child, *lines: str) -> Any:
    """Return a value as it comes out of a real Python."""
    return decoded(parsed(child.encoded(*lines)))


POINT = "Point = namedtuple('Point', 'x y')"
ORDER = "@dataclasses.dataclass\nclass Order:\n    id: str\n    total: Decimal\n    _cache: int = 0"
SLOTS = "class Slots:\n    __slots__ = ('a', '_b', 'c')\n    def __init__(self): self.a = 1; self._b = 2"
COLOR = "class Color(enum.Enum):\n    RED = 'red'"
LEVEL = "class Level(enum.IntEnum):\n    LOW = 1"

EQUAL = [
    ("None", None),
    ("True", True),
    ("1", 1),
    ("1", 1.0),
    ("1.0", 1),
    ("0.1 + 0.2", 0.3),
    ("10 ** 400", 10**400),
    ("2 ** 53 + 1", 2**53 + 1),
    ("-(2 ** 70)", -(2**70)),
    ("'é'", "é"),
    ("(1, (2,))", [1, [2]]),
    ("{3, 1, 2}", [1, 2, 3]),
    ("{frozenset({1, 2}), frozenset({3})}", [[3], [2, 1]]),
    ("{('a', 1.0), ('b', 2.0)}", [["b", 2], ["a", 1]]),
    ("{0.1 + 0.2, 'x', None}", [None, 0.3, "x"]),
    ("{1: 2}", {"1": 2}),
    ("{1.5: 2}", {"1.5": 2}),
    ("{True: 2, None: 3}", {"true": 2, "null": 3}),
    ("OrderedDict(a=1)", {"a": 1}),
    ("Decimal('19.90')", 19.9),
    ("Decimal(1) / 3 * 3", 1),
    ("Fraction(1, 4)", 0.25),
    ("datetime.datetime(2026, 1, 2, 3, 4)", "2026-01-02T03:04:00"),
    ("datetime.datetime(2026, 1, 2, 3, 4)", "2026-01-02 03:04"),
    ("datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)", "2026-01-02T00:00:00Z"),
    ("datetime.date(2026, 1, 2)", "2026-01-02"),
    ("uuid.UUID(int=1)", "00000000-0000-0000-0000-000000000001"),
    ("pathlib.PurePosixPath('a/b')", "a/b"),
    ("b'abc'", "abc"),
    ("range(3)", [0, 1, 2]),
    ("(n * n for n in range(3))", [0, 1, 4]),
    ("{'a': 1}.items()", [["a", 1]]),
    ("deque([1])", [1]),
    ("map(str, [1])", ["1"]),
    ("SimpleNamespace(a=1, _b=2)", {"a": 1}),
    ("[float('inf')][1:]", []),
]

UNEQUAL = [
    ("True", 1),
    ("1", True),
    ("False", 0),
    ("0", False),
    ("None", False),
    ("'1'", 1),
    ("1", "1"),
    ("1.001", 1),
    ("10 ** 400 + 1", 10**400),
    ("2 ** 53 + 1", 2**53 + 2),
    ("10 ** 400", 1e308),
    ("float('nan')", 0),
    ("float('inf')", 10**400),
    ("Decimal('NaN')", 0),
    ("Decimal('sNaN')", 10**400),
    ("Decimal('1E+999999')", 1e308),
    ("[1, 2]", [2, 1]),
    ("[1]", [1, 1]),
    ("{1, 2}", [1, 2, 2]),
    ("{1, 2, 3}", [1, 2, 2]),
    ("{(1, 2)}", [[2, 1]]),
    ("{1: 2, '1': 2}", {"1": 2}),
    ("{'a': None}", {}),
    ("{}", {"a": None}),
    ("b'\\xff'", "ÿ"),
    ("datetime.datetime(2026, 1, 2)", "2026-01-02"),
    ("datetime.datetime(2026, 1, 2)", "2026-01-02T00:00:00Z"),
    ("object()", {}),
    ("len", "len"),
    ("[]", {}),
    ("set()", None),
]


@pytest.mark.parametrize(("expression", "expected"), EQUAL)
def test_equal(child: Child, expression: str, expected: Any) -> None:
    """Values that Python returns equal their JSON form."""
    assert equal(expected, through(child, expression))


@pytest.mark.parametrize(("expression", "expected"), UNEQUAL)
def test_unequal(child: Child, expression: str, expected: Any) -> None:
    """Other values aren't equal, however near they come."""
    assert not equal(expected, through(child, expression))


@pytest.mark.parametrize(
    ("definition", "expression", "expected"),
    [
        (POINT, "Point(1, 2)", [1, 2]),
        (POINT, "Point(1, 2)", {"x": 1, "y": 2}),
        (ORDER, "Order('o1', Decimal('9.5'))", {"id": "o1", "total": 9.5}),
        (SLOTS, "Slots()", {"a": 1}),
        (COLOR, "[Color.RED]", ["red"]),
        (COLOR, "{Color.RED: 1}", {"red": 1}),
        (LEVEL, "Level.LOW", 1),
    ],
)
def test_objects(child: Child, definition: str, expression: str, expected: Any) -> None:
    """Objects are their public fields, a named tuple its items, too, and a member of an enumeration its value."""
    value = through(child, definition, expression)
    assert equal(expected, value)
    assert not equal([expected], value)


def test_tolerance() -> None:
    """The tolerance is a share of the larger number: of 100 and 101 it is 1/101, which lies below 0.01."""
    assert equal(100, 101.0, 0.01)
    assert not equal(100, 101.0, 0.0099)
    assert not equal(100, 101, 0.01), "whole numbers are compared exactly"


def test_small_numbers_are_not_zero() -> None:
    """Planck's constant is 6.6e-34: an answer of 0 doesn't know it; what rounding leaves of an expected 0 is equal."""
    assert not equal(6.62607015e-34, 0)
    assert not equal(6.62607015e-34, 0.0)
    assert not equal([1e-13], [2e-13])
    assert equal(6.62607015e-34, 6.626070149e-34)
    assert equal(0, 1e-17)
    assert not equal(0, 1e-9)


def test_sets_by_tolerance() -> None:
    """Each element has a partner of its own: 1.0 and 1.0000001 are two, 1 and 2 aren't."""
    value = SetValue([1.0, 1.0000001])
    assert equal([1, 1.0000002], value)
    assert not equal([1, 2], value)


#: JSON that a dataset may hold, without numbers that are equal by less than the tolerance.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([0.5, -2.25, 1e300]) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


def strict(one: Any, other: Any) -> bool:
    """Compare JSON as Python does, except that booleans aren't numbers."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(strict, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(strict(one[name], other[name]) for name in one)
    return bool(one == other)


@examples(150)
@given(JSON, st.data())
def test_round_trip(child: Child, value: Any, data: st.DataObject) -> None:
    """A value that a real Python encodes equals its JSON form, and another value only if Python says so."""
    found = through(child, repr(value))
    assert equal(value, found)
    other = data.draw(JSON | st.just(value))
    assert equal(other, found, 0) == strict(other, value)


@examples(100)
@given(st.lists(st.lists(st.integers(0, 2), max_size=3), max_size=8), st.randoms())
def test_sets_in_any_order(child: Child, items: list[list[int]], random: Any) -> None:
    """A set of tuples equals its elements in any order, and nothing with one more or one other."""
    unique = [list(item) for item in {tuple(item) for item in items}]
    found = through(child, f"set({[tuple(item) for item in unique]!r})")
    random.shuffle(unique)
    assert equal(unique, found)
    assert not equal([*unique, [9]], found)
    if unique:
        assert not equal([*unique[1:], [9]], found)


def test_sets_of_sets_in_any_order() -> None:
    """All pairs of 0 to 13 as sets: 91 elements, whose own order doesn't count."""
    pairs = [[one, other] for one in range(14) for other in range(one)]
    value = SetValue([SetValue([other, one]) for one, other in reversed(pairs)])
    assert equal(pairs, value)
    assert not equal([*pairs[1:], [0, 99]], value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b"NaN",
        b"[Infinity]",
        b"1e999",
        b"1" * 5000,
        b"[" * 100_000,
        b'{"dict":[],"dict":[]}',
    ],
)
def test_what_is_no_json(data: bytes) -> None:
    """Malformed, endless or doubled JSON is refused by an error of its own."""
    with pytest.raises(UnusableResultError):
        parsed(data)


@pytest.mark.parametrize(
    "forged",
    [
        {},
        {"a": 1, "b": 2},
        {"unknown": 1},
        {"integer": "0x1f"},
        {"integer": "--1"},
        {"integer": "1_0"},
        {"integer": " 1"},
        {"integer": "g"},
        {"integer": 1},
        {"integer": ""},
        {"float": "1"},
        {"float": ["nan"]},
        {"decimal": "x"},
        {"decimal": "1" * 6000},
        {"fraction": ["1", "0"]},
        {"fraction": ["1"]},
        {"bytes": "0"},
        {"bytes": "zz"},
        {"tuple": 1},
        {"set": {"a": 1}},
        {"dict": [[1]]},
        {"dict": [1]},
        {"dict": {"a": 1}},
        {"object": ["A"]},
        {"object": [1, []]},
        {"object": ["A", [[1, 2]]]},
        {"enum": ["A"]},
        {"text": ["date", 1]},
        {"other": "x"},
        [{"tuple": [{}]}],
    ],
)
def test_forged_values(forged: Any) -> None:
    """A value of another form is refused anywhere."""
    with pytest.raises(UnusableResultError):
        decoded(forged)


def test_nested_too_deeply() -> None:
    """A value may be nested as deeply as the encoder goes, and no deeper."""
    value: Any = 1
    for _ in range(DEEPEST):
        value = [value]
    assert equal(value, decoded(value))
    with pytest.raises(UnusableResultError, match="deeply"):
        decoded([[value]])


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("[[]]", "list"),
        ("{'a': {}}", "dict"),
    ],
)
def test_cycles(child: Child, expression: str, kind: str) -> None:
    """A value that contains itself is cut where it begins again."""
    value = through(child, f"a = {expression}", "a.append(a) if isinstance(a, list) else a.update(a=a)", "a")
    assert OtherValue(kind, "...") in (value[1:] if kind == "list" else [item for _, item in value.pairs])


def test_deep_values_are_cut(child: Child) -> None:
    """A list of 100,000 levels comes out, cut, and can be read."""
    value = through(child, "a = []", "for _ in range(100_000): a = [a]", "a")
    for _ in range(DEEPEST):
        (value,) = value
    assert value == OtherValue("list", "...")


@pytest.mark.slow("sets that hold each other")
def test_entangled_sets_end() -> None:
    """Sets in sets in sets, of which none equals another, are distinguished or refused, in bounded time."""
    expected: Any = [1]
    value: Any = SetValue([2])
    for _ in range(3):
        expected, value = [expected] * 60, SetValue([value] * 60)
    begun = time.process_time()
    with contextlib.suppress(UnusableResultError):
        assert not equal(expected, value)
    assert time.process_time() - begun < 30


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("None", "None"),
        ("[True, 1.5, 'a']", "[True, 1.5, 'a']"),
        ("(1,)", "(1,)"),
        ("()", "()"),
        ("set()", "set()"),
        ("{1}", "{1}"),
        ("{'a': (1, 2)}", "{'a': (1, 2)}"),
        ("SimpleNamespace(a=1)", "SimpleNamespace(a=1)"),
        ("Decimal('1.50')", "Decimal('1.50')"),
        ("datetime.date(2026, 1, 2)", "date('2026-01-02')"),
        ("float('nan')", "nan"),
        ("2 ** 60", str(2**60)),
        ("b'a\\x00'", "b'a\\x00'"),
        ("'\\ud800'", "'\\ud800'"),
        ("'\\u202e'", "'\\u202e'"),
    ],
)
def test_shown(child: Child, expression: str, text: str) -> None:
    """A value is shown as its user would write it."""
    assert shown(through(child, expression)) == text
    text.encode()


def test_shown_is_short() -> None:
    """Whatever is shown has 200 characters at most, and a number of 1,000,000 bits doesn't hang."""
    for value in ("x" * 10**6, [1] * 10**6, 1 << 10**6, {"\x00" * 10**6: 1}, DictValue([("k" * 500, 1)])):
        assert len(shown(value)) <= 200
    assert shown("x" * 1000).endswith("…")


def test_shown_in_javascript() -> None:
    """A user of JavaScript reads null, true and texts in double quotes."""
    value = ObjectValue("Order", [("paid", True), ("by", None), ("tags", SetValue(["a"]))])
    assert shown(value, "javascript") == 'Order {paid: true, by: null, tags: Set {"a"}}'
    assert shown(TupleValue([Decimal(1)])) == "(Decimal('1'),)"


def test_same_output() -> None:
    """Printed output is compared without white space at the ends of its lines and of the whole."""
    assert same_output("a\nb", "a \r\nb\n\n")
    assert not same_output("a\nb", "a\n\nb")
    assert not same_output("a", " a")


def test_forged_json_of_real_size() -> None:
    """A megabyte of brackets within the depth is read in bounded time."""
    data = json.dumps([[[]] * 1000] * 300).encode()
    assert len(decoded(parsed(data))) == 300
