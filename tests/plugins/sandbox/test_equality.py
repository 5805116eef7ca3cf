"""What an equality proves: answers that forge one, each a file, and honest answers beside them, behind each wall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from graphkit.plugins.sandbox.exchanges import Code, run_test
from graphkit.plugins.sandbox.executions import CodeTestResult
from graphkit.plugins.sandbox.forgeries import Forgery, forgeries
from graphkit.plugins.sandbox.languages import JAVASCRIPT, PYTHON, Language
from graphkit.plugins.sandbox.running import programs
from graphkit.plugins.sandbox.sandbox import Sandbox, open_sandbox
from graphkit.records.structs import CodeTestStruct
from tests.helpers.sandboxes import WALL_NAMES, wall_here

FORGED = [one for one in forgeries() if one.aim == "equality"]

LANGUAGES = pytest.mark.parametrize("language", [PYTHON, JAVASCRIPT], ids=lambda one: one.name)

_MONEY = """
class Money:
    def __init__(self, a):
        self.a = a
    def is_worth(self, a): return self.a == a
    def equals(self, other): return self.a == other.a
    equal = staticmethod(lambda one, other: one.a == other.a)
    def compare_to(self, other): return self.a - other.a
    def differences(self, other): return [] if self.a == other.a else ["a"]
    def __sub__(self, other): return Money(self.a - other.a)
    def __eq__(self, other): return self.a == other.a
    def __hash__(self): return hash(self.a)
    def __str__(self): return f"Money({self.a})"
    __repr__ = __str__
"""
_JAVASCRIPT_MONEY = """
class Money {
  constructor(a) { this.a = a; }
  isWorth(a) { return this.a === a; }
  equals(other) { return this.a === other.a; }
  static equal(one, other) { return one.a === other.a; }
  compareTo(other) { return this.a - other.a; }
  differences(other) { return this.a === other.a ? [] : ["a"]; }
  toString() { return `Money(${this.a})`; }
}
"""

#: What an honest answer to each kind of question is: for 20 it has to find 41, twice as much and one more.
HONEST: dict[Language, dict[str, str]] = {
    PYTHON: {
        "number": "def f(x): return 2 * x + 1",
        "money": _MONEY + "def f(x): return Money(2 * x + 1)",
        "number and money": _MONEY + "def f(x): return 2 * x + 1",
        "text": "def f(x): return f'total: {2 * x + 1}'",
        "list": "def f(x): return [x, 2 * x + 1]",
        "tuple": "from collections import namedtuple\nPair = namedtuple('Pair', 'net total')\n"
        "def f(x): return Pair(x, 2 * x + 1)",
        "set": "def f(x): return {x, 2 * x + 1}",
        "mapping": "def f(x): return {'total': 2 * x + 1}",
        "color": "import enum\nclass Color(enum.Enum):\n    RED = 7\n    GREEN = 41\ndef f(x): return Color(2 * x + 1)",
        "order": "from dataclasses import dataclass\n@dataclass\nclass Line:\n    name: str\n    amount: int\n"
        "@dataclass\nclass Order:\n    lines: list\n"
        "def f(x): return Order([Line('a', x), Line('b', 2 * x + 1)])",
        "error": "def f(x): raise ValueError(x)",
    },
    JAVASCRIPT: {
        "number": "const f = (x) => 2 * x + 1;",
        "money": _JAVASCRIPT_MONEY + "const f = (x) => new Money(2 * x + 1);",
        "number and money": _JAVASCRIPT_MONEY + "const f = (x) => 2 * x + 1;",
        "text": "const f = (x) => `total: ${2 * x + 1}`;",
        "list": "const f = (x) => [x, 2 * x + 1];",
        "set": "const f = (x) => new Set([x, 2 * x + 1]);",
        "order": "class Line { constructor(name, amount) { Object.assign(this, { name, amount }); } }\n"
        "class Order { constructor(lines) { this.lines = lines; } }\n"
        "const f = (x) => new Order([new Line('a', x), new Line('b', 2 * x + 1)]);",
    },
}


@pytest.fixture(scope="module", params=WALL_NAMES)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Open each sandbox of this machine."""
    with open_sandbox(walls=(wall_here(request.param),), programs=programs()) as opened:
        yield opened


def run(sandbox: Sandbox, language: Language, code: str, trust: bool = False, **test: object) -> CodeTestResult:
    """Return the result of one test on some code; skip it without a program for the language."""
    argv = language.argv(sandbox.limits.memory)
    if argv is None:
        pytest.skip(f"this machine has no program for {language.name}")
    given = CodeTestStruct("t", timeout=20.0, **test)  # type: ignore[arg-type]
    return run_test(given, Code(code, language, {}, "f", argv), sandbox, trust_own_methods=trust)


def test_there_are_a_hundred() -> None:
    """Fifty answers in each language forge an equality, each in its own way."""
    assert Counter(one.language for one in FORGED) == {PYTHON: 50, JAVASCRIPT: 50}
    assert len({(one.language.name, one.name) for one in FORGED}) == len({one.code for one in FORGED}) == 100
    assert {one.honest for one in FORGED} == {"success", "unproven", "missing"}


@LANGUAGES
def test_no_forgery_passes(sandbox: Sandbox, language: Language) -> None:
    """None of them passes: a test fails, or is unproven with its reason."""
    if language.argv(sandbox.limits.memory) is None:
        pytest.skip(f"this machine has no program for {language.name}")
    forged = [one for one in FORGED if one.language is language]
    with ThreadPoolExecutor(sandbox.jobs) as pool:
        found = list(pool.map(lambda one: one.run(sandbox), forged))
    passed = {one.name: result for one, result in zip(forged, found, strict=True) if result is None or result.passed}
    assert passed == {}
    assert all(one.message for one in found if one is not None and one.status == "unproven")


@LANGUAGES
def test_honest_answers_pass_the_same_tests(sandbox: Sandbox, language: Language) -> None:
    """An honest answer passes each test, or is unproven where only its own methods decide, and passes if trusted."""
    if language.argv(sandbox.limits.memory) is None:
        pytest.skip(f"this machine has no program for {language.name}")

    def honest(forgery: Forgery) -> tuple[str, str]:
        argv = language.argv(sandbox.limits.memory) or ()
        code = Code(HONEST[language][forgery.kind or ""], language, {}, "f", argv)
        plain = run_test(forgery.tests[-1], code, sandbox)
        if plain.status != "unproven":
            return plain.status, plain.status
        trusted = run_test(forgery.tests[-1], code, sandbox, trust_own_methods=True)
        assert trusted.decided_by == plain.decided_by == plain.message
        return plain.status, trusted.status

    forged = [one for one in FORGED if one.language is language and one.honest != "missing"]
    with ThreadPoolExecutor(sandbox.jobs) as pool:
        found = {one.name: each for one, each in zip(forged, pool.map(honest, forged), strict=True)}
    assert found == {one.name: (one.honest, "success") for one in forged}


_CLASSES = """
import enum, datetime
from collections import namedtuple, deque, Counter, OrderedDict
from dataclasses import dataclass, field
from decimal import Decimal
Point = namedtuple("Point", "x y")
class Size(enum.IntEnum):
    S = 1
    M = 2
class Kind(str, enum.Enum):
    A = "a"
    B = "b"
@dataclass(frozen=True)
class Price:
    amount: Decimal
    currency: str = "EUR"
@dataclass
class Invoice:
    day: datetime.date
    prices: list
    tags: set = field(default_factory=set)
class Slots:
    __slots__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
class Renamed:
    def __init__(self, amount, unit="kg"): self.value, self.unit = amount, unit
class Account:
    def __init__(self, balance=0): self.balance = balance
    def deposit(self, amount): self.balance += amount
    def pay(self, other, amount):
        self.balance -= amount
        other.balance += amount
class Hidden:
    def __init__(self, amount): self._amount = amount
    def amount(self): return self._amount
class Text(str): pass
class Wrong(ValueError):
    def __init__(self, code): super().__init__(f"code {code}"); self.code = code
def f(x=None): return x
def g(name): return globals()[name]
"""

_SHORT = "import datetime\nfrom decimal import Decimal\n"

HONEST_PYTHON = [
    ("def h(): return Point(1, 2)", "h() == Point(1, 2) == (1, 2) and h().x == 1", "success"),
    ("def h(): return Point(1, 2)", "h() == Point(y=2, x=1)", "success"),
    ("def h(): return [Size.M, Kind.B]", "h() == [Size.M, Kind.B] and h()[0] == 2 and h()[1] == 'b'", "success"),
    ("def h(): return Size.M", "h() == Size.M and h() != Size.S", "success"),
    ("def h(): return Size.M", "h() == Size(2) and h().name == 'M' and h() + 1 == 3", "success"),
    ("def h(): return Price(Decimal('1.50'))", _SHORT + "assert h() == Price(Decimal('1.50'), 'EUR')", "success"),
    ("def h(): return Price(Decimal('1.50'))", _SHORT + "assert h() == Price(Decimal('1.50'))", "success"),
    (
        "def h(): return Invoice(datetime.date(2024, 1, 2), [Price(Decimal(3))], {'a'})",
        _SHORT + "assert h() == Invoice(datetime.date(2024, 1, 2), [Price(Decimal(3))], {'a'})",
        "success",
    ),
    ("def h(): return {'a': [Slots(1, 2)]}", "h() == {'a': [Slots(1, 2)]}", "success"),
    ("def h(): return Renamed(3)", "h() == Renamed(3, 'kg') and h() == Renamed(amount=3, unit='kg')", "unproven"),
    ("def h(): return Renamed(3)", "h() == Renamed(3, 'kg')", "success"),
    ("def h(): return {Price(Decimal(1)): 2}", _SHORT + "assert h() == {Price(Decimal(1)): 2}", "success"),
    ("def h(): return deque([1]), Counter('aa'), OrderedDict(a=1)", "h()[0][0] == 1 and h()[1]['a'] == 2", "success"),
    ("def h(): return Text('abc')", "h() == 'abc' and h().startswith('a') and 'b' in h()", "success"),
    ("def h(): pass", "a = Account(3)\na.deposit(5)\nassert a == Account(8) and a.balance == 8", "success"),
    ("def h(): pass", "a, b = Account(9), Account()\na.pay(b, 4)\nassert (a.balance, b.balance) == (5, 4)", "success"),
    (
        "def h(): pass",
        "a = Account(9)\nb = Account()\na.pay(b, 4)\nassert a == Account(5) and b == Account(4)",
        "success",
    ),
    ("def h(): return Hidden(3)", "h().amount() == 3", "success"),
    ("def h(): return Hidden(3)", "h() == Hidden(3)", "unproven"),
    (
        "def h(): raise Wrong(5)",
        "try:\n    h()\nexcept Wrong as e:\n    assert e.code == 5 and str(e) == 'code 5'",
        "success",
    ),
    ("def h(a): return a.balance > 3", "h(Account(4)) and not h(Account(2)) and h(Account(5)) is True", "success"),
    ("def h(a): return a", "h(Account(4)) == Account(4)", "success"),
    ("def h(n): return n % 2 == 0", "h(4) and not h(3) and h(2) == True", "success"),
    ("def h(n): return sorted(n)", "h([2, 1]) == h([1, 2]) == [1, 2]", "success"),
    ("def h(): return Account", "h() is Account and h() == Account and isinstance(h()(1), Account)", "unproven"),
]

_JAVASCRIPT_CLASSES = """
class Price { constructor(amount, currency = "EUR") { this.amount = amount; this.currency = currency; } }
class Invoice { constructor({ day, prices }) { this.day = day; this.prices = prices; } }
class Account {
  constructor(balance = 0) { this.balance = balance; }
  deposit(amount) { this.balance += amount; return this; }
  pay(other, amount) { this.balance -= amount; other.balance += amount; }
}
class Hidden { #amount; constructor(amount) { this.#amount = amount; } amount() { return this.#amount; } }
class Bag extends Set {}
class Wrong extends Error { constructor(code) { super(`code ${code}`); this.code = code; } }
const f = (x) => x;
"""

HONEST_JAVASCRIPT = [
    ("const h = () => new Price(3);", "assert.deepStrictEqual(h(), new Price(3, 'EUR'))", "success"),
    (
        "const h = () => [new Price(3)];",
        "assert.deepEqual(h(), [new Price(3)]); assert(h()[0].amount === 3)",
        "success",
    ),
    (
        "const h = () => new Invoice({ day: new Date(0), prices: [new Price(1n)] });",
        "assert.deepStrictEqual(h(), new Invoice({ day: new Date(0), prices: [new Price(1n)] }))",
        "success",
    ),
    (
        "const h = () => new Map([['a', new Set([1])], ['b', new Uint8Array([1, 2])], ['c', [10n, NaN, undefined]]]);",
        "assert.deepStrictEqual(h(), new Map([['a', new Set([1])], ['b', new Uint8Array([1, 2])],"
        " ['c', [10n, NaN, undefined]]])); assert(h().get('a').has(1) && h().get('b').includes(2))",
        "success",
    ),
    ("const h = () => new Float64Array([1.5]);", "h()[0] === 1.5 && h().length === 1", "success"),
    (
        "const h = () => new Map([[1, new Price(2)]]);",
        "assert.deepStrictEqual(h(), new Map([[1, new Price(2)]]))",
        "success",
    ),
    ("const h = () => new Bag([1, 2]);", "h().has(2) && h().size === 2", "success"),
    (
        "const h = () => 'total: 41';",
        "h().startsWith('total') && h().includes('41') && h().indexOf('t') === 0",
        "success",
    ),
    ("", "const a = new Account(3); a.deposit(5); assert.deepStrictEqual(a, new Account(8))", "success"),
    ("", "new Account(3).deposit(5).deposit(1).balance === 9", "success"),
    (
        "",
        "const a = new Account(9), b = new Account(); a.pay(b, 4); assert(a.balance === 5 && b.balance === 4)",
        "success",
    ),
    ("const h = () => new Hidden(3);", "h().amount() === 3", "success"),
    ("const h = () => new Hidden(3);", "assert.deepStrictEqual(h(), new Hidden(3))", "unproven"),
    ("const h = () => { throw new Wrong(5); };", "assert.throws(h, Wrong); assert.throws(h, { code: 5 })", "success"),
    (
        "const h = (a) => a.balance > 3;",
        "h(new Account(4)) && !h(new Account(2)) && h(new Account(5)) === true",
        "success",
    ),
    ("const h = (n) => n % 2 === 0;", "h(4) && !h(3) && h(2) === true", "success"),
    ("const one = { a: [1], f() {} }; const h = () => one;", "h() === h() && h().a[0] === 1", "unproven"),
    (
        "const h = async () => new Price(3);",
        "(async () => assert.deepStrictEqual(await h(), new Price(3)))()",
        "success",
    ),
]


@pytest.mark.parametrize(("code", "assertion", "status"), HONEST_PYTHON)
def test_ordinary_values_of_python(sandbox: Sandbox, code: str, assertion: str, status: str) -> None:
    """Ordinary classes, tuples with names, enumerations, dates and containers pass; what can't be decided says so."""
    found = run(sandbox, PYTHON, _CLASSES + code, assertion=assertion)
    assert found.status == status, found


@pytest.mark.parametrize(("code", "assertion", "status"), HONEST_JAVASCRIPT)
def test_ordinary_values_of_javascript(sandbox: Sandbox, code: str, assertion: str, status: str) -> None:
    """The same of JavaScript's classes, maps, sets, dates, whole numbers of any size and typed arrays."""
    found = run(sandbox, JAVASCRIPT, _JAVASCRIPT_CLASSES + code, assertion=assertion)
    assert found.status == status, found


@pytest.mark.parametrize("assertion", ["result === new Money(41)", "result === 41", "assert.ok(result)"])
@pytest.mark.parametrize("trust", [False, True])
def test_without_the_parser_nothing_is_proven(sandbox: Sandbox, assertion: str, trust: bool) -> None:
    """A Node that doesn't hand out its parser can't watch a comparison: the test is unproven, whoever is trusted."""
    blind = replace(JAVASCRIPT, asserter_flags=())
    code = "let one; class Money { constructor() { return one ??= this; } }\nconst f = () => new Money();"
    found = run(sandbox, blind, code, trust, inputs=[], assertion=assertion)
    assert (found.status, found.message) == (
        "unproven",
        "this Node doesn't hand out its parser, so that the comparisons of the test can't be watched",
    )


def test_what_cannot_be_parsed_is_not_evaluated(sandbox: Sandbox) -> None:
    """An assertion that only a function may hold, such as one with ``new.target``, isn't evaluated unwatched."""
    found = run(sandbox, JAVASCRIPT, "const f = () => 41;", inputs=[], assertion="new.target === undefined")
    assert found.status == "test_failure"
    assert "SyntaxError" in (found.message or "")
