"""Questions picked before they are asked or scored, by a filter on what the dataset says of them (``--where``).

Results can't pick: a gate over the questions that a run got right would hold whatever the run does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from graphkit.errors import InputError
from graphkit.files.problems import Problems
from graphkit.measures.case import Case
from graphkit.measures.registry import measure_class
from graphkit.records.commits import CommitGraph
from graphkit.records.words import NO_LABEL, counted
from graphkit.scoring.filter_expressions import NUMBER, TEXT, FilterError, FilterExpression, NameKind, Value

if TYPE_CHECKING:
    from graphkit.files.dataset import Dataset

_OWN = ("category", "difficulty", "group", "split", "session", "stack")
_COUNTS, _SLICES = ("hops", "repositories"), ("repo", "boundary", "relation", "commit")
_KINDS: Mapping[str, NameKind] = {
    **dict.fromkeys(("question", "text", *_OWN, *_SLICES), TEXT),
    **dict.fromkeys(_COUNTS, NUMBER),
}
#: What filters of the page and of --keep name of an answer.
_RESULTS = (
    *("run", "answer", "path", "stage", "missed", "failures", "failed", "absent", "invalid", "complete", "luck"),
    *("incoherent", "off_pin", "cause", "turn", "unlogged"),
)
_REMEDY = "Name what the dataset says of a question: " + ", ".join(_KINDS) + "."


@dataclass(frozen=True)
class ChosenQuestions:
    """The questions of a dataset that a filter picks.

    Attributes
    ----------
    total
        The number of questions of the dataset.
    """

    filter: str
    ids: frozenset[str] = field(repr=False)
    total: int

    @classmethod
    def of(cls, dataset: Dataset, given: str | ChosenQuestions) -> ChosenQuestions:
        """Return the questions for which a filter holds; those that were picked before stay.

        A field without a value is ``none``; of a question in several slices (of a ``repo``, ``boundary``, ``relation``
        or ``commit``), these stand sorted in one text with commas between them, for ``contains``.

        Raises
        ------
        InputError
            The filter can't be read, names a result, or holds for no question; or two questions have one id.
        """
        if isinstance(given, ChosenQuestions):
            return given
        expression = _read(given)
        places = dataset.places()
        commits = dataset.commit_graph(Problems("skip")) if "commit" in expression.names else CommitGraph()
        commits.places = places
        known, found = set[str](), set[str]()
        for question in dataset.every_question():
            if question.id in known:
                raise InputError(f"two questions have the id {question.id!r}", where="--where", remedy="Rename one.")
            known.add(question.id)
            if expression.holds(partial(_value, Case(question, None, commits))):
                found.add(question.id)
        if not found:
            what = f"the filter holds for none of {counted(len(known), 'question')}"
            raise InputError(what, where=f"--where {given}", remedy=_REMEDY)
        return cls(str(expression), frozenset(found), len(known))

    def as_json(self) -> dict[str, Any]:
        """Return the filter, and how many questions it picks of how many."""
        return {"filter": self.filter, "questions": len(self.ids), "of": self.total}

    def __str__(self) -> str:
        return f"over {len(self.ids)} of {counted(self.total, 'question')}, {self.filter}"


def _read(text: str) -> FilterExpression:
    try:
        expression = FilterExpression.parse(text)
        if expression.asks_other_runs:
            raise InputError("any(...) asks several runs, and --where is about questions", where=f"--where {text}")
        from graphkit.records.models import Difficulty

        results = [*_RESULTS, *(name for name in expression.names if measure_class(name) is not None)]
        kinds: dict[str, NameKind] = {**dict.fromkeys(results, "result"), **_KINDS}
        return expression.bound(kinds, {"difficulty": get_args(Difficulty)})
    except FilterError as error:
        raise FilterError(error.problem, text, error.at, where="--where", remedy=_REMEDY) from None


def _value(case: Case, name: str) -> Value:
    question = case.question
    if name in ("question", "text"):
        return question.id if name == "question" else question.question
    if name in _OWN:
        value: str | None = getattr(question, name)
        return value or None
    from graphkit.scoring.slices import slices_of

    found = [one for one in slices_of(case, name) if one != NO_LABEL]  # type: ignore[arg-type]
    if name in _COUNTS:
        return float(found[0]) if found else None
    return ", ".join(found) or None
