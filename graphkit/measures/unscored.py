"""The result for a question that a measure doesn't score, and the reasons that several measures share."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

NO_GOLD = "no gold path with a required step"
NO_RELEVANT = "no relevant ids"
NO_PRINCIPAL = "the question names no principal"
NO_EARLIER_TURN = "the question follows no earlier turn of a session"
NOTHING_TRAVERSED = "nothing was traversed"
NO_CHUNK = "nothing was retrieved"
NO_TEXT = "the retrieved chunks carry no text"

# A field that a record doesn't log is unknown. An empty list says that nothing was retrieved, traversed or called.
NO_TRAVERSAL = "the record has no traversal (not logged)"
NO_RETRIEVAL = "the record has no retrieved chunks (not logged)"
NO_LINES = "a retrieved id and a relevant one are in one file, and the lines of one aren't known (not logged)"
NO_TOKENS = "the measure's normalisation leaves no word of a gold answer"
NO_ORDER = "the traversal is a set of edges: its order isn't known (not logged)"
NEITHER_LOGGED = "the record doesn't say what was retrieved, or what was traversed (not logged)"


@dataclass(frozen=True, slots=True)
class Unscored:
    """The reason why a case has no value. It never counts as 0: a mean ignores it and shows how many it ignored.

    ``of_question`` marks a reason that lies in the question alone, such as missing gold: no answer could be scored. A
    reason that ends in " (not logged)" lies in the record, which lacks what the measure needs.
    """

    reason: str
    of_question: bool = dataclasses.field(default=False, compare=False)
