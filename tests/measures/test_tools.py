"""Tool calls: tools, arguments, order, the ids that they showed, and the ids that the answer uses."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphkit.measures.base import Unscored
from graphkit.measures.case import Case
from graphkit.measures.integration import NO_ANSWER
from graphkit.measures.registry import parse_measure
from graphkit.measures.seen import NO_GOLD_IDS, NOT_KNOWN, NOT_KNOWN_BEFORE, NOT_KNOWN_OF_SOME, NOTHING_SEEN
from graphkit.measures.tools import (
    MOST_PAIRS,
    NO_ARGUMENTS,
    NO_CALLS,
    NONE_MATCHED,
    NOTHING_CALLED,
    NOTHING_EXPECTED,
    TOO_MANY,
    Lack,
    first_lack,
    fits,
)
from graphkit.records.models import Answer, Question
from tests.helpers.cases import either, optional, question, reason, relevant, score, unlogged, value

#: The measures that compare calls with those expected.
COMPARING = ("ToolRecall", "ToolPrecision", "ToolExact", "ToolInOrder", "ArgumentMatch")
#: Those of what calls showed.
SHOWING = ("StepsToGold", "Redundancy", "UsedShare")


def asked(*calls: Any) -> Question:
    """A question that expects these calls: names, or objects."""
    return question(expected_tool_calls=list(calls))


def called(*calls: Any, **fields: Any) -> Answer:
    """A record with these calls."""
    return unlogged(tool_calls=list(calls), **fields)


def call(name: str, *, failed: bool = False, **arguments: Any) -> dict[str, Any]:
    """A call with arguments."""
    return {"name": name, "arguments": arguments, **({"failed": True} if failed else {})}


# What was called -----------------------------------------------------------------------------------------------------

#: Expected: search, read, read, test. Made: read, search, read, list, search.
EXPECTED = asked("search", "read", "read", "test")
MADE = called("read", "search", "read", "list", "search")


def test_worked_case() -> None:
    """By hand: search and two reads are in both, test and a second search aren't: 3 matched.

    Recall 3/4, precision 3/5. In order search, read (behind it) are the longest: read, read would be, too: 2/4.
    """
    assert value("ToolRecall", EXPECTED, MADE) == 3 / 4
    assert value("ToolPrecision", EXPECTED, MADE) == 3 / 5
    assert value("ToolInOrder", EXPECTED, MADE) == 2 / 4
    assert value("ToolExact", EXPECTED, MADE) == 0.0
    assert value("ToolExact", EXPECTED, called("search", "read", "read", "test")) == 1.0
    assert value("ToolExact", EXPECTED, called("read", "search", "read", "test")) == 0.0
    assert value("ToolExact", EXPECTED, called("search", "read", "read", "test", "test")) == 0.0


def test_worked_case_with_arguments() -> None:
    """By hand: read a.py is expected and made, read b.py isn't made, any search is, and read c.py isn't expected.

    Matched are 2 of 3 expected, of 3 made. In order: search, then read a.py, whose arguments are equal in another
    order. Names alone match search, read and read: 3 of 3.
    """
    expected = asked(call("read", path="b.py"), "search", call("read", path="a.py", lines=[1, 2]))
    made = called(call("search", query="f"), call("read", path="c.py"), call("read", lines=[1.0, 2], path="a.py"))
    assert value("ToolRecall(arguments=True)", expected, made) == 2 / 3
    assert value("ToolPrecision(arguments=True)", expected, made) == 2 / 3
    assert value("ToolInOrder(arguments=True)", expected, made) == 2 / 3
    assert value("ToolExact(arguments=True)", expected, made) == 0.0
    assert value("ToolRecall", expected, made) == 1.0
    in_turn = called(call("read", path="b.py"), call("search"), call("read", lines=[1, 2], path="a.py"))
    assert value("ToolExact(arguments=True)", expected, in_turn) == 1.0


def test_what_takes_any_arguments_takes_what_is_left() -> None:
    """One of two expected reads is of a.py; reads of a.py and b.py match both, in either order."""
    for expected in (asked("read", call("read", path="a.py")), asked(call("read", path="a.py"), "read")):
        assert value("ToolRecall(arguments=True)", expected, called(call("read", path="a.py"), call("read", p=1))) == 1
        assert value("ToolRecall(arguments=True)", expected, called(call("read", p=1), call("read", p=2))) == 1 / 2


@pytest.mark.parametrize(
    ("expected", "made", "equal"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 0}, {"a": -0.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": {"b": 1, "c": [2]}}, {"a": {"c": [2.0], "b": 1}}, True),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": None}, {}, False),
        ({}, {}, True),
        ({}, {"a": 1}, False),
        ({"a": 2**53 + 1}, {"a": float(2**53)}, False),
    ],
)
def test_equal_arguments(expected: dict[str, Any], made: dict[str, Any], equal: bool) -> None:
    """Arguments are compared as JSON: numbers by value, objects in any order, lists in order."""
    one = asked({"name": "t", "arguments": expected})
    assert value("ToolRecall(arguments=True)", one, called({"name": "t", "arguments": made})) == float(equal)


def test_failed_calls() -> None:
    """A failed call counts unless failed=False: read failed once, and was expected once.

    Without it nothing is left of the one record, and read alone of the other.
    """
    expected, failing = asked("read"), called(call("read", failed=True))
    assert [value(f"{name}(failed=False)", expected, failing) for name in ("ToolRecall", "ToolInOrder")] == [0.0, 0.0]
    assert reason("ToolPrecision(failed=False)", expected, failing) == NOTHING_CALLED
    again = called(call("read", failed=True), "read")
    assert (value("ToolExact", expected, again), value("ToolExact(failed=False)", expected, again)) == (0.0, 1.0)
    assert (value("ToolRecall", expected, failing), value("ToolPrecision", expected, again)) == (1.0, 1 / 2)


def test_first_lack() -> None:
    """The first expected call that wasn't made in its turn, and whether it was made earlier."""
    assert first_lack(Case(EXPECTED, MADE)) == Lack(2, "read", early=True, arguments=False)
    assert str(first_lack(Case(EXPECTED, MADE))) == "expected call 3, read, was made only before its turn"
    lack = first_lack(Case(EXPECTED, called("search", "list")))
    assert str(lack) == "expected call 2, read, was not made"
    assert first_lack(Case(asked("read"), called("list", "read"))) is None
    assert first_lack(Case(asked("read"), unlogged())) is None
    # The tool alone counts first: that read was called with other arguments matters where all tools were called.
    other = called(call("read", path="b.py"), "test")
    assert str(first_lack(Case(asked(call("read", path="a.py"), "test"), other))) == (
        "expected call 1, read, was not made with its arguments"
    )
    assert str(first_lack(Case(asked(call("read", path="a.py"), "list"), other))) == (
        "expected call 2, list, was not made"
    )


def test_arguments_of_matched_calls() -> None:
    """By hand: of two expected reads the first fits the second call, a.py with 1 to 9, and the other way round.

    a.py, 1 and 9 against a.py, 1 and 8: 2 of 3 equal; b.py against b.py: 1 of 1. Together 3/4. The other matching has
    none. What else is given, and a list that nobody expected, doesn't matter.
    """
    expected = asked(call("read", path="a.py", start=1, end=9), call("read", path="b.py"), "search")
    made = called(call("read", path="b.py", deep=True), call("list"), call("read", path="a.py", start=1.0, end=8))
    assert value("ArgumentMatch", expected, made) == 3 / 4


def test_expected_empty_arguments_are_a_call_without_arguments() -> None:
    """`{}` requires a call without arguments in every measure, and counts as one argument.

    By hand: of the expected {} and {"a": 1} the calls t() and t(a=1) hold both, 2 of 2. With t(a=1) and t(b=2) the
    {"a": 1} is held and the {} isn't: 1 of 2. Expected calls without arguments (null) are left out as before.
    """
    none = asked({"name": "t", "arguments": {}})
    for made, expected in ((called("t"), 1.0), (called(call("t", a=1)), 0.0)):
        assert value("ToolRecall(arguments=True)", none, made) == expected
        assert value("ArgumentMatch", none, made) == expected
    both = asked({"name": "t", "arguments": {}}, call("t", a=1))
    assert value("ArgumentMatch", both, called(call("t", a=1), "t")) == 1.0
    assert value("ArgumentMatch", both, called(call("t", a=1), call("t", b=2))) == 1 / 2
    assert reason("ArgumentMatch", asked("t"), called("t")) == NO_ARGUMENTS


def test_fewer_calls_than_expected() -> None:
    """One call of two expected ones matches the one with most equal arguments; ties go to the smaller one.

    a.py has path in common with the first, 1 of 2, and nothing with the second. Nothing in common: 0 of 1, not 0 of 2.
    """
    expected = asked(call("read", path="a.py", start=1), call("read", path="b.py"))
    assert value("ArgumentMatch", expected, called(call("read", path="a.py"))) == 1 / 2
    assert value("ArgumentMatch", expected, called(call("read", path="c.py"))) == 0.0
    equals = asked(call("read", path="a.py", start=1), call("read", path="a.py"))
    assert value("ArgumentMatch", equals, called(call("read", path="a.py"))) == 1.0


def test_what_cannot_be_matched() -> None:
    """Without expected arguments, without a call of the tool, and beyond the limit, it isn't scored."""
    assert reason("ArgumentMatch", asked("read", "list"), called("read")) == NO_ARGUMENTS
    assert reason("ArgumentMatch", asked(call("read", path="a.py")), called("list")) == NONE_MATCHED
    assert reason("ArgumentMatch", asked(call("read", path="a.py")), called()) == NONE_MATCHED
    assert reason("ArgumentMatch(failed=False)", asked(call("read", p=1)), called(call("read", failed=True))) == (
        NONE_MATCHED
    )
    many = [call("read", path="a.py")] * 1000
    assert reason("ArgumentMatch", asked(*many), called(*many[: MOST_PAIRS // 1000 + 1])) == TOO_MANY


def test_edges_of_the_domain() -> None:
    """Calls that weren't logged aren't scored; without expected or made calls, the definition decides."""
    for name in COMPARING:
        assert reason(name, question(), called("read")) == NOTHING_EXPECTED
        assert reason(name, asked("read"), unlogged()) == NO_CALLS
        # ArgumentMatch could score no answer, since the expected call names no arguments: no failure changes that.
        lacking = NO_ARGUMENTS if name == "ArgumentMatch" else "failed: timeout"
        assert reason(name, asked("read"), unlogged(error="timeout")) == lacking
    none = called()
    assert [value(name, asked("read"), none) for name in ("ToolRecall", "ToolExact", "ToolInOrder")] == [0.0] * 3
    assert reason("ToolPrecision", asked("read"), none) == NOTHING_CALLED


CALLS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from("rst")}, optional={"arguments": st.sampled_from([{}, {"a": 1}, {"a": 2}])}
    ),
    max_size=5,
)


def subsequences(expected: Any, made: Any, arguments: bool) -> int:
    """Return the length of the longest common subsequence, by trying all of them."""
    for size in range(min(len(expected), len(made)), 0, -1):
        for some in itertools.combinations(expected, size):
            for others in itertools.combinations(made, size):
                if all(fits(one, other, arguments) for one, other in zip(some, others, strict=True)):
                    return size
    return 0


def assignments(expected: Any, made: Any, arguments: bool) -> int:
    """Return how many calls match one to one, by trying all orders."""
    best = 0
    for order in itertools.permutations(range(len(made)), min(len(made), len(expected))):
        for some in itertools.combinations(range(len(expected)), len(order)):
            best = max(best, sum(fits(expected[a], made[b], arguments) for a, b in zip(some, order, strict=True)))
    return best


@given(CALLS.filter(bool), CALLS, st.booleans())
def test_matching_is_the_best_there_is(expected: list[Any], made: list[Any], arguments: bool) -> None:
    """The counts equal those of an exhaustive search."""
    one, run = asked(*expected[:4]), called(*made[:4])
    case = Case(one, run)
    wanted, there = case.question.expected_tool_calls, case.answer.tool_calls if case.answer else None
    in_order = subsequences(wanted, there, arguments) / len(wanted)
    assert value(f"ToolInOrder(arguments={arguments})", one, run) == in_order
    best = assignments(wanted, there, arguments) / len(wanted)
    assert value(f"ToolRecall(arguments={arguments})", one, run) == best
    assert in_order <= best
    lack = first_lack(case)
    assert (lack is None or (lack.arguments and not arguments)) == (in_order == 1)


# What was seen -------------------------------------------------------------------------------------------------------

A, B, C, D = "x:a.py", "x:b.py#settle", "y:c.py", "y:d.py#go"


def showed(*seen: list[str] | None, **fields: Any) -> Answer:
    """Return a record whose calls showed these ids; None is unknown."""
    return called(*({"name": "read", "seen": ids} for ids in seen), **fields)


GOLD = question([(A, "CALLS", B), (B, "READS", C)])


def test_steps_to_gold() -> None:
    """By hand: a in call 1, b in call 3, c in call 2 and again in 4: all of a, b and c were seen after 3 calls."""
    assert value("StepsToGold", GOLD, showed([A], [C, D], [B], [C])) == 3.0
    assert value("StepsToGold", GOLD, showed([C, B, A])) == 1.0
    # The optional step's d isn't needed.
    asked_also = question([(A, "CALLS", B), optional(B, "READS", D)])
    assert value("StepsToGold", asked_also, showed([A], [B])) == 2.0


def test_steps_to_alternative_and_to_relevant_gold() -> None:
    """The alternative that was seen first counts, one for each unit; without paths, the relevant ids count."""
    paths = either("g", [(A, "CALLS", B)], [(A, "CALLS", D)])
    assert value("StepsToGold", question(*paths), showed([A], [D], [B])) == 2.0
    assert value("StepsToGold", question(*paths, [(C, "CALLS", C)]), showed([A], [D], [B], [C])) == 4.0
    assert value("StepsToGold", relevant({A: 1, B: 2, C: 0}), showed([B], [C], [A])) == 3.0


def test_gold_that_was_never_seen() -> None:
    """Unseen gold isn't scored; the reason gives the seen share of the alternative that lacks least."""
    assert reason("StepsToGold", GOLD, showed([A], [C])) == "2 of 3 gold ids were seen by the calls"
    assert reason("StepsToGold", GOLD, showed()) == "0 of 3 gold ids were seen by the calls"
    paths = either("g", [(A, "CALLS", B), (B, "CALLS", D)], [(A, "CALLS", C)])
    assert reason("StepsToGold", question(*paths), showed([A])) == "1 of 2 gold ids were seen by the calls"


def test_calls_of_which_it_is_not_known_what_they_showed() -> None:
    """An earlier call with unknown ids may have shown gold, so the number is a bound, given by upper=True."""
    assert reason("StepsToGold", GOLD, showed(None, [A, B, C])) == NOT_KNOWN_BEFORE
    assert value("StepsToGold(upper=True)", GOLD, showed(None, [A, B, C])) == 2.0
    assert value("StepsToGold", GOLD, showed([A, B, C], None)) == 1.0
    # Of what is known, a again is 1 of 3; with the silent call logged as [A, B] it would be 3 of 5.
    assert value("Redundancy", GOLD, showed([A, B], [A, B], [A])) == pytest.approx(3 / 5)
    assert reason("Redundancy", GOLD, showed([A, B], None, [A])) == NOT_KNOWN_OF_SOME
    # The answer uses a, 1 of the 1 that is known; with the silent call logged as [B, C] it would be 1 of 3.
    assert reason("UsedShare", GOLD, showed([A], None, answer="a.py")) == NOT_KNOWN_OF_SOME
    assert reason("Redundancy", GOLD, showed(None, None)) == NOT_KNOWN
    assert reason("UsedShare", GOLD, showed(None, [], answer="a")) == NOT_KNOWN_OF_SOME


def test_redundancy() -> None:
    """By hand: calls show a, b; b, c; a: five ids, of which b and a are repeats. A repeat within a call is ignored."""
    assert value("Redundancy", GOLD, showed([A, B, A], [B, C], [A])) == 2 / 5
    assert value("Redundancy", GOLD, showed([A], [B], [])) == 0.0


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("settle is in it", {B}),  # the last component of its symbol
        ("resettle", set()),  # no whole word
        ("Settle", set()),  # another name
        ("see a.py", {A}),  # its path
        ("see x/a.py:3", {A}),
        ("see beta.py", set()),
        ("it will go", set()),  # too short for a name of its own
        ("y:d.py#go does", {D}),  # the whole id
        ("b.py", set()),  # the file isn't the symbol in it
        ("a.py and c.py", {A, C}),
    ],
)
def test_what_an_answer_names(text: str, used: set[str]) -> None:
    """The share of the four shown ids that the answer names."""
    assert value("UsedShare", GOLD, showed([A, B], [C, D, A], answer=text)) == len(used) / 4


def test_what_an_answer_cites() -> None:
    """A citation names an id, even a number, unlike a text; ids that weren't shown don't count."""
    assert value("UsedShare", GOLD, showed([A, "17"], answer="17 files", citations=[A, "z:z.py"])) == 1 / 2
    assert value("UsedShare", GOLD, showed([A, "17"], answer="", citations=["17"])) == 1 / 2
    assert value("UsedShare", GOLD, showed(["Ada Lovelace", "Ada"], answer="Ada Lovelaces")) == 1 / 2


@pytest.mark.parametrize("number", ["7.5", "-7", "+7", "1e30", "1.5E-3", ".5", "007"])
def test_an_id_that_is_a_number_has_to_be_cited(number: str) -> None:
    """A number in a text names no id: of 2 seen ids the answer names A only, and both if both are cited."""
    assert value("UsedShare", GOLD, showed([A, number], answer=f"It takes {number} s in {A}")) == 1 / 2
    assert value("UsedShare", GOLD, showed([A, number], answer="", citations=[A, number])) == 1.0


def test_an_id_that_only_begins_with_a_number_is_a_name() -> None:
    """Versions and dates aren't numbers: 2 of 2 are named."""
    assert value("UsedShare", GOLD, showed(["3.1.2", "2026-11-01"], answer="3.1.2 of 2026-11-01")) == 1.0


def test_edges_of_what_was_seen() -> None:
    """Calls that weren't logged or made, nothing shown, no gold and no answer aren't scored."""
    for name in SHOWING:
        assert reason(name, GOLD, unlogged(answer="x")) == NO_CALLS
        assert reason(name, GOLD, showed([A], answer="x", error="timeout")) == "failed: timeout"
    for name in ("Redundancy", "UsedShare"):
        assert reason(name, GOLD, showed(answer="x")) == NOTHING_CALLED
        assert reason(name, GOLD, showed([], answer="x")) == NOTHING_SEEN
    assert reason("UsedShare", GOLD, showed([A])) == NO_ANSWER
    assert value("UsedShare", GOLD, showed([A], answer="")) == 0.0
    assert reason("StepsToGold", question(), showed([A])) == NO_GOLD_IDS
    assert reason("StepsToGold", question([optional(A, "CALLS", B)]), showed([A])) == NO_GOLD_IDS


@pytest.mark.slow("a hundred thousand calls")
def test_many_calls_are_compared_at_once() -> None:
    """A hundred thousand calls against a thousand expected ones take a moment, not minutes."""
    names = [f"t{number % 7}" for number in range(1000)]
    case = Case(asked(*names), called(*names * 100))
    for name in ("ToolRecall", "ToolPrecision", "ToolExact", "ToolInOrder"):
        assert not isinstance(parse_measure(f"{name}(arguments=True)").score(case), Unscored)
    assert score("ToolInOrder", asked(*names), called(*names * 100)) == 1.0
