"""The identifiers that a chunk of source defines, by grammar and by regular expressions."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphkit.measures import identifiers
from graphkit.measures.identifiers import defined_identifiers

# In each text: what counts is written down next to it. Names of four characters or fewer (`load`, `id`), parameters
# (`argument`), local variables (`local`), imports (`imported`) and names given by the language never do.
PYTHON = """
import imported
from module import imported_name as renamed
TAX_RATE: int = 19
first, second = 1, 2
__all__ = ["nothing"]
class Basket(BaseClass):
    total_cents: int = 0
    def __init__(self, argument): self.attribute = argument
    def settle(self, argument):
        local_name = called_function(argument)
        def nested(): pass
@decorator
async def fetching(argument=default): pass
def load(): pass
"""
TYPESCRIPT = """
import { imported } from "./module";
export const LIMIT = 3, submit = (argument: number) => { const local = argument; };
const { taken, key: renamed, other = fallback } = calledFunction();
interface Product { price: number; describe(argument: string): void }
type Alias = Product;
enum Color { RedOne, GreenTwo = 2 }
abstract class Basket extends BaseClass {
  readonly #secret = 1;
  constructor(argument: number) { super(); const local = 1; }
  settle(argument: number): void { function nested() {} }
}
function load() {}
"""
JAVASCRIPT = """
const { imported } = require("module");
class Basket { static total = 1; settle(argument) { let local = 1; } }
function* generate() {}
const client = { submit(argument) {} };
"""
SQL = """
CREATE TABLE IF NOT EXISTS shop.orders (id INTEGER, total_cents INTEGER REFERENCES customers (number));
CREATE VIEW "balances" AS SELECT orders.total AS balance_cents FROM payments;
CREATE UNIQUE INDEX orders_by_day ON orders (placed_at);
ALTER TABLE invoices ADD COLUMN coupon TEXT;
SELECT selected AS renamed FROM refunds;
"""
GO = """
package packaged
import "imported"
const ( FirstOne = iota; SecondOne )
var counter, other int
type Basket struct { TotalCents int; Embedded }
type Reader interface { Reading(argument []byte) int }
func Submit(argument int) { local := 1; var inside int }
func (receiver *Basket) Settle() {}
"""
JAVA = """
package packaged;
import packaged.Imported;
@Annotated public class Basket extends BaseClass {
  static final int LIMIT = 3;
  enum Color { RED_ONE }
  Basket(int argument) { int local = 1; }
  public void settle(int argument) { int local = 1; }
}
interface Reader { void reading(); }
record Point(int abscissa) {}
"""
RUST = """
use imported::Imported;
const LIMIT: u32 = 3;
static COUNTER: u32 = 1;
struct Basket { total_cents: u32 }
enum Color { RedOne }
trait Reader { fn reading(&self, argument: u32); }
impl Basket { pub fn settle(&self, argument: u32) { let local = 1; } }
type Alias = u32;
mod inside { }
macro_rules! shouting { () => {} }
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a/shop.py", PYTHON, "TAX_RATE first second Basket total_cents settle nested fetching"),
        (
            "shop.ts",
            TYPESCRIPT,
            "LIMIT submit taken renamed other Product price describe Alias Color RedOne GreenTwo Basket secret settle "
            "nested",
        ),
        # A destructured require is a constant of the module, too.
        ("shop.js", JAVASCRIPT, "imported Basket total settle generate client submit"),
        ("shop.sql", SQL, "orders total_cents balances balance_cents orders_by_day coupon"),
        (
            "shop.go",
            GO,
            "FirstOne SecondOne counter other Basket TotalCents Reader Reading Submit Settle",
        ),
        ("Shop.java", JAVA, "Basket LIMIT Color RED_ONE settle Reader reading Point abscissa"),
        (
            "shop.rs",
            RUST,
            "LIMIT COUNTER Basket total_cents Color RedOne Reader reading settle Alias inside shouting",
        ),
    ],
)
def test_what_counts_in_each_language(path: str, text: str, expected: str) -> None:
    """Definitions count; uses, parameters, locals and imports don't. Worked by hand for each language."""
    assert defined_identifiers(text, path) == set(expected.split())


@pytest.mark.parametrize(("name", "found"), [("carts", {"carts"}), ("cart", set())])
def test_names_are_longer_than_four_characters(name: str, found: set[str]) -> None:
    """A name of five characters counts and one of four doesn't, by grammar and without."""
    assert defined_identifiers(f"def {name}():\n    pass\n", "a.py") == found
    assert defined_identifiers(f"def {name}():\n    pass\n", "a.unknown") == found


def test_tsx_has_a_grammar_of_its_own() -> None:
    """Markup inside a function doesn't hide the definition behind it."""
    text = "export const Panel = () => <Frame title='x'>{items}</Frame>;\nexport function Footer() { return <b/>; }\n"
    assert defined_identifiers(text, "panel.TSX") == {"Panel", "Footer"}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        # The body is cut in the middle, so the grammar sees no function at all; `headers` is local.
        ("a.ts", "export async function request<T>(way: T) {\n  const headers = 1;\n  return JSON.stri(", "request"),
        ("a.rs", "#[tokio::main] pub async fn settle() { let inside = ", "settle"),
        ("a.py", "    def settle(self):\n        inside = '''never closed", "settle"),
        ("a.go", "func (basket *Basket) Settle() { inside := ", "Settle"),
    ],
)  # fmt: skip
def test_a_chunk_that_was_cut(path: str, text: str, expected: str) -> None:
    """The definitions in single lines of a broken chunk are found, and its local variables aren't."""
    assert defined_identifiers(text, path) == {expected}


FALLBACK = """\
# class commented out
MAX_ITEMS = 3
export PAYMENT_URL=http://localhost
      - ORDERS_URL: http://orders
description: not a setting
      operationId: createOrder
public static int compute(int argument) {
    inside = 1;
    return called(argument);
  }
local function helper(argument)
  def settle!
func (receiver *Basket) Submit() {
create or replace view shop.balances as
if (condition == 1) {
x.attribute = 2
"""


@pytest.mark.parametrize("path", ["a.unknown", "Makefile", "folder.py/file", None])
def test_unknown_language(path: str | None) -> None:
    """Without a grammar, keywords, assignments at the margin, settings and operations are found by line."""
    # `local function helper` has a modifier that no language of the list has; the rest as commented in the module.
    expected = {"MAX_ITEMS", "PAYMENT_URL", "ORDERS_URL", "createOrder", "compute", "settle", "Submit", "balances"}
    assert defined_identifiers(FALLBACK, path) == expected


def test_prose_defines_nothing() -> None:
    """A sentence that begins with a keyword is no definition."""
    assert defined_identifiers("type checking is on\nSETTING: yes\n", "README.md") == frozenset()


def test_a_missing_grammar_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, the class and its method are found by line, and the field isn't."""
    text = "class Basket:\n    total_cents: int = 0\n    def settle(self): ...  # without grammar\n"
    monkeypatch.setattr(identifiers, "_language", lambda module, entry: None)
    assert defined_identifiers(text, "a.py") == {"Basket", "settle"}
    identifiers._defined.cache_clear()


def test_a_grammar_that_is_not_installed_is_none() -> None:
    """A module that can't be imported is no error."""
    assert identifiers._language("tree_sitter_of_no_language", "language") is None


def test_deep_nesting() -> None:
    """A tree deeper than Python's stack is read to its end."""
    text = "value_deep = " + "(" * 3000 + "1" + ")" * 3000 + "\n\ndef settle(): pass\n"
    assert defined_identifiers(text, "a.py") == {"value_deep", "settle"}


def test_grammars_are_loaded_when_needed() -> None:
    """Importing the parser and the registry of measures loads no grammar."""
    modules = "sys, graphkit.measures.registry, graphkit.measures.identifiers"
    code = f"import {modules}; print([m for m in sys.modules if 'tree_' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
