"""Draws a seeded sample of questions, stratified by difficulty."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar

from graphkit.records.models import Question

Q = TypeVar("Q", bound=Question)


def sample(questions: Sequence[Q], size: int, seed: int) -> list[Q]:
    """Return a sample in the order of the questions, with the difficulties in proportion (by largest remainders).

    Sessions are drawn whole, each with the difficulty of its first turn, so the last of them may exceed
    ``size``. The choice depends only on the seed and the ids, not on the order of the file. A new question changes only
    the chances of the others.
    """
    if size >= len(questions):
        return list(questions)
    units: dict[tuple[bool, str], list[Q]] = defaultdict(list)
    for question in sorted(questions, key=lambda one: one.turn or 0):
        units[question.session is None, question.session or question.id].append(question)
    strata: dict[str, list[list[Q]]] = defaultdict(list)
    for _, unit in sorted(units.items(), key=lambda one: _place(one[0][1], seed)):
        strata[unit[0].difficulty or ""].append(unit)
    drawn: set[str] = set()
    for name, count in shares({name: sum(map(len, some)) for name, some in strata.items()}, size).items():
        for unit in strata[name]:
            drawn.update(question.id for question in unit if count > 0)
            count -= len(unit)
    return [question for question in questions if question.id in drawn]


def shares(counts: dict[str, int], size: int) -> dict[str, int]:
    """Divide a size in proportion to counts, by largest remainders; ties go to the larger count, then by name.

    >>> shares({"easy": 40, "hard": 20, "medium": 40}, 8)
    {'easy': 3, 'hard': 2, 'medium': 3}
    """
    total = sum(counts.values())
    result = {name: count * size // total for name, count in counts.items()}
    left = size - sum(result.values())
    by_rest = sorted(counts, key=lambda name: (-(counts[name] * size % total), -counts[name], name))
    for name in by_rest[:left]:
        result[name] += 1
    return result


def margin(size: int, population: int) -> float:
    """Return about the margin of error of a share: half of its 95 % interval, at worst (a share of 50 %).

    It is that of the normal approximation, with the correction for a finite population, so a sample of all questions
    has no margin. A share of a few questions can lie further off.

    >>> round(margin(100, 1_000_000), 3), margin(50, 50)
    (0.098, 0.0)
    """
    if size >= population or size == 0:
        return 0.0 if size else 1.0
    return 1.96 * math.sqrt(0.25 / size * (population - size) / (population - 1))


def _place(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\x1f{name}".encode()).digest()
