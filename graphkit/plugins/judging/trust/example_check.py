"""Whether a few of a person's grades, shown as examples, bring a judge nearer to the person.

The examples come from one half of the graded answers; the other half is held out, and decides.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graphkit.errors import InputError
from graphkit.plugins.judging.trust.agreement import kappa
from graphkit.records.bounds import equal
from graphkit.records.words import counted
from graphkit.scoring.intervals import around_equal

#: The fewest graded answers, of which half are held out.
FEWEST = 12

#: How many times the held-out answers are drawn again.
DRAWS = 2000


@dataclass(frozen=True, slots=True)
class ExampleCheck:
    """Cohen's kappa of a judge with a person on held-out answers, without and with examples.

    ``low`` and ``high`` bound the difference: the 95% interval of a paired bootstrap over the answers, or where all
    draws have the same difference, that of equal differences. ``left_out`` is how many more were held out, but lack a
    grade of the judge, before or after.
    """

    measure: str
    held_out: int
    examples: tuple[str, ...]
    before: float
    after: float
    low: float
    high: float
    left_out: int = 0

    @property
    def helps(self) -> bool:
        """Whether the examples help, beyond chance."""
        return self.low > 0

    def as_json(self) -> dict[str, Any]:
        """Return the figures."""
        return {**asdict(self), "difference": self.after - self.before, "helps": self.helps}

    def __str__(self) -> str:
        without = f" ({self.left_out} more without both grades of the judge)" if self.left_out else ""
        return (
            f"kappa with the person by {self.measure} on {counted(self.held_out, 'held-out answer')}{without}: "
            f"{self.before:.3f} without examples, {self.after:.3f} with {len(self.examples)}; "
            f"difference {self.after - self.before:.3f} [{self.low:.3f}, {self.high:.3f}]"
        )


def halves(labels: Mapping[str, str], shots: int, seed: int) -> tuple[list[str], list[str]]:
    """Return the questions of the examples, and those that are held out: every second of each grade, in a drawn order.

    The examples are drawn from the other half, grade by grade in turn.

    Raise an InputError if there are fewer than ``FEWEST`` grades, or only one grade.
    """
    kinds = sorted({*labels.values()})
    if len(labels) < FEWEST or len(kinds) < 2:
        what = f"{counted(len(labels), 'answer')} with {counted(len(kinds), 'grade')} can't show whether examples help"
        raise InputError(what, remedy=f"Grade at least {FEWEST} answers, right ones and wrong ones.")
    drawn = random.Random(seed)  # noqa: S311 - a sample, not a secret
    by_grade = {kind: sorted(name for name, label in labels.items() if label == kind) for kind in kinds}
    for names in by_grade.values():
        drawn.shuffle(names)
    in_order = [name for names in by_grade.values() for name in names]
    pool, held = set(in_order[::2]), in_order[1::2]
    turns = [[name for name in names if name in pool] for names in by_grade.values()]
    longest = max(map(len, turns))
    queue = [names[place] for place in range(longest) for names in turns if place < len(names)]
    return queue[:shots], held


def compared(
    measure: str,
    person: Mapping[str, str],
    before: Mapping[str, str],
    after: Mapping[str, str],
    examples: Sequence[str],
    held: Sequence[str],
    seed: int,
) -> ExampleCheck:
    """Return the agreement with a person without and with examples, over the held-out answers that both gradings have.

    Where kappa is undefined, since both give one grade only, nothing beyond chance is shown: it counts as 0.

    Raise an InputError if fewer than half of the held-out answers have both grades.
    """
    both = [name for name in held if name in before and name in after]
    if 2 * len(both) < len(held):
        what = f"the judge graded only {len(both)} of {counted(len(held), 'held-out answer')} both times"
        raise InputError(what, remedy="Correct what makes it fail, and run the same command again.")
    kinds = sorted({*person.values(), *before.values(), *after.values()})

    def agreement(of: Mapping[str, str], names: Sequence[str]) -> float:
        return kappa([person[name] for name in names], [of[name] for name in names], kinds).value or 0.0

    drawn = random.Random(seed)  # noqa: S311 - a sample, not a secret
    moved = []
    for _ in range(DRAWS):
        names = drawn.choices(both, k=len(both))
        moved.append(agreement(after, names) - agreement(before, names))
    moved.sort()
    low, high = moved[int(0.025 * DRAWS)], moved[int(0.975 * DRAWS) - 1]
    kappas = agreement(before, both), agreement(after, both)
    if equal(low, high):  # others may be too rare to have been held out
        low, high = around_equal(kappas[1] - kappas[0], len(both), 2.0)
    return ExampleCheck(measure, len(both), tuple(examples), *kappas, low, high, len(held) - len(both))
