"""Results compared: bags of rows, whatever the order and names of columns, and in gold's order where it has one."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies

from graphkit.plugins.cypher.same_results import same_result
from tests.helpers.properties import examples

Table = list[list[Any]]


@pytest.mark.parametrize(
    ("gold", "answer", "same"),
    [
        ([], [], True),
        ([["a"]], [], False),
        ([["a"], ["a"]], [["a"]], False),  # a bag, not a set
        ([["a"], ["a"], ["b"]], [["a"], ["b"], ["b"]], False),
        ([["a", 1], ["b", 2]], [["b", 2], ["a", 1]], True),
        ([["a", 1], ["b", 2]], [[1, "a"], [2, "b"]], True),  # columns in another order
        ([["a", 1], ["b", 2]], [[2, "a"], [1, "b"]], False),  # each column is right, the rows aren't
        ([["a", "b"], ["b", "a"]], [["a", "b"], ["b", "a"]], True),  # both columns hold the same values
        ([["a", "b"], ["a", "b"]], [["a", "b"], ["b", "a"]], False),  # swapped in one row only
        ([["a", "a"]], [["a"]], False),
        ([[None]], [[None]], True),
        ([[None]], [["null"]], False),
        ([[1]], [[1.0]], True),
        ([[1]], [[True]], False),
        ([[1]], [["1"]], False),
        ([[0.1 + 0.2]], [[0.3]], True),
        ([[100.0]], [[100.001]], False),
        ([[math.nan]], [[math.nan]], True),
        ([[[1, 2]]], [[[2, 1]]], False),  # a list has an order
        ([[[0.1 + 0.2, "x"]]], [[[0.3, "x"]]], True),
        ([[{"a": 1, "b": 2}]], [[{"b": 2, "a": 1}]], True),
        ([[{"a": 1}]], [[{"a": 1, "b": None}]], False),
        ([[2**60]], [[2**60 + 1]], True),  # up to the tolerance
    ],
    ids=str,
)
def test_equal_results(gold: Table, answer: Table, same: bool) -> None:
    """Each pair as its comment says; the comparison is symmetric."""
    assert same_result(gold, answer) is same
    assert same_result(answer, gold) is same


def test_order_counts_up_to_ties() -> None:
    """Where gold sorts, rows stay in their blocks of ties: b and c are sorted alike, a comes before both."""
    gold = [["a"], ["b"], ["c"]]
    assert same_result(gold, [["a"], ["c"], ["b"]], order=[1, 2, 2]) is True
    assert same_result(gold, [["b"], ["a"], ["c"]], order=[1, 2, 2]) is False
    assert same_result(gold, [["c"], ["b"], ["a"]]) is True


def test_close_numbers_of_gold_stay_apart() -> None:
    """1 and 1.0000009 are equal up to the tolerance, and still two values of gold: a chain isn't one number."""
    gold = [[1.0], [1.0000009]]
    assert same_result(gold, [[1.0000009], [1.0]]) is True
    assert same_result(gold, [[1.0], [1.0]]) is False


def brute_force(gold: Table, answer: Table) -> bool:
    """Return whether some permutation of columns makes two tables the same bag: the definition as it stands."""
    if len(gold) != len(answer) or any(len(row) != len(gold[0]) for row in (*gold, *answer)):
        return False
    bag = Counter(map(tuple, gold))
    return any(
        bag == Counter(tuple(row[place] for place in places) for row in answer)
        for places in itertools.permutations(range(len(gold[0])))
    )


@examples(300)
@given(strategies.integers(1, 4), strategies.integers(1, 5), strategies.randoms(use_true_random=False))
def test_assignment_is_that_of_all_permutations(width: int, height: int, luck: random.Random) -> None:
    """On small tables of two values, where columns look alike, the search finds what trying all orders finds."""
    gold = [[luck.choice("ab") for _ in range(width)] for _ in range(height)]
    places = luck.sample(range(width), width)
    answer = [[row[place] for place in places] for row in luck.sample(gold, height)]
    assert same_result(gold, answer) is True
    row, column = luck.randrange(height), luck.randrange(width)
    answer[row][column] = luck.choice("ab")
    assert same_result(gold, answer) is brute_force(gold, answer)


def test_many_columns_alike_end_soon() -> None:
    """Thirty columns that are permutations of the same values: 30! orders, and an answer all the same."""
    luck = random.Random(7)
    gold = [list(column) for column in zip(*(luck.sample(range(40), 40) for _ in range(30)), strict=True)]
    places = luck.sample(range(30), 30)
    answer = [[row[place] for place in places] for row in luck.sample(gold, 40)]
    assert same_result(gold, answer) is True
    same = [[1] * 200 for _ in range(50)]
    assert same_result(same, same) is True
    answer[0][0], answer[1][0] = answer[1][0], answer[0][0]
    assert same_result(gold, answer) is False
