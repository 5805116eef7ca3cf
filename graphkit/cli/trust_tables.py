"""Tables of a judge's consistency, and of what moves its grades."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphkit.cli.base import print_line
from graphkit.cli.tables import print_table
from graphkit.records.words import shown

if TYPE_CHECKING:
    from graphkit.trust.consistency import Consistency
    from graphkit.trust.effects import Effect


def print_consistency(found: Sequence[Consistency]) -> None:
    """Print how stable each measure is, and which grades flip."""
    rows = [[one.measure, one.gradings, str(one.stable), str(one.alpha), len(one.flips), one.unscored] for one in found]
    print_table(None, ("measure", "gradings", "stable [95%]", "alpha [95%]", "flips", "unscored"), rows)
    for one in found:
        for question, grades in one.flips:
            print_line(f"{one.measure} of {question}: {' -> '.join(grade or 'none' for grade in grades)}")


def print_effects(found: Sequence[Effect]) -> None:
    """Print how far each measure moves."""
    rows = [
        [one.of, one.measure, shown(one.first), shown(one.second), str(one.difference), str(one.changed), one.unpaired]
        for one in found
    ]
    columns = ("of", "measure", "first", "second", "difference [95%]", "share changed [95%]", "unpaired")
    print_table(None, columns, rows)
    for one in found:
        if one.shows:
            print_line(f"{one.of} moves {one.measure} by {one.difference}: its interval excludes 0")
        if one.of == "drift" and one.versions[0] != one.versions[1]:
            print_line(f"{one.measure} was given by {one.versions[0]}, and now by {one.versions[1]}")
