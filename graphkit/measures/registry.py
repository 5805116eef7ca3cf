"""Every measure by its name, and the text form that they are parsed from."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import re
from collections.abc import Iterable

from graphkit.errors import MeasureError
from graphkit.measures.base import DEFAULT_K, Measure
from graphkit.measures.coherence import Coherence, Incoherent, OffPin
from graphkit.measures.completeness import Completeness, ConflictResolution
from graphkit.measures.edges import BoundaryPrecision, BoundaryRecall, EdgeF1, EdgePrecision, EdgeRecall
from graphkit.measures.files import FilePrecision, FileRecall, SymbolRecall
from graphkit.measures.integration import Integration
from graphkit.measures.judged import (
    Attribution,
    CitationPrecision,
    CitationRecall,
    FactualCorrectness,
    Groundedness,
    HallucinationRate,
)
from graphkit.measures.paths import PathExact, PathInOrder, PathPrefix
from graphkit.measures.ranking import RR, AnswerContainment, P, Recall, Success, nDCG
from graphkit.measures.repositories import CrossRepoPrecision, CrossRepoRecall

#: Every measure, in the order in which they are shown; those that a judge gives come last.
MEASURES: tuple[type[Measure], ...] = (
    EdgeRecall,
    EdgePrecision,
    EdgeF1,
    BoundaryRecall,
    BoundaryPrecision,
    PathExact,
    PathInOrder,
    PathPrefix,
    CrossRepoPrecision,
    CrossRepoRecall,
    Coherence,
    Incoherent,
    OffPin,
    Integration,
    Completeness,
    ConflictResolution,
    Success,
    Recall,
    P,
    RR,
    nDCG,
    AnswerContainment,
    FilePrecision,
    FileRecall,
    SymbolRecall,
    FactualCorrectness,
    Groundedness,
    HallucinationRate,
    Attribution,
    CitationRecall,
    CitationPrecision,
)

#: What ``evaluate`` computes where no measure is named.
DEFAULT_MEASURES = (
    "EdgeRecall",
    "EdgePrecision",
    "EdgeF1",
    "BoundaryRecall",
    "BoundaryPrecision",
    "PathExact",
    "PathInOrder",
    "PathPrefix",
    "CrossRepoPrecision",
    "CrossRepoRecall",
    "Coherence",
    "nDCG@10",
    "Recall@20",
    "RR",
    "Success@5",
    "P@5",
    "AnswerContainment@5",
    "FilePrecision",
    "FileRecall",
    "SymbolRecall",
)

NOT_COMPUTED = "aren't computed from records: a judge gives them"

#: How the scores of a judge are given.
GIVEN = (
    'Write a line {"run", "question", "measure", "value"} a question into a graded file, and give it to '
    "`graphkit summarize FILE` or `graphkit compare A B --grades FILE`."
)

_BY_NAME = {name.casefold(): kind for kind in MEASURES for name in (kind.__name__, *kind.aliases)}
_TEXT = re.compile(r"\s*(?P<name>\w+)\s*(?:\((?P<args>.*)\))?\s*(?:@\s*(?P<k>-?\d+))?\s*\Z")


def parse_measure(text: str) -> Measure:
    """Return the measure that a text names.

    >>> parse_measure("ndcg@10"), str(parse_measure("hit@5"))
    (nDCG(k=10), 'Success@5')
    >>> str(parse_measure("traversal_accuracy(relation=False)"))
    'EdgeRecall(relation=False)'

    Raises
    ------
    MeasureError
        The name or a parameter isn't known, or a value doesn't fit. The closest name is suggested.
    """
    match = _TEXT.match(text)
    kind = _BY_NAME.get(match["name"].casefold()) if match else None
    if match is None or kind is None:
        name = match["name"] if match else text
        close = difflib.get_close_matches(name.casefold(), _BY_NAME, n=1)
        hint = f"Did you mean {_BY_NAME[close[0]].__name__}? " if close else ""
        raise MeasureError(f"no measure is called {text!r}", remedy=f"{hint}`graphkit measures` lists them all.")
    arguments = _arguments(text, match["args"] or "")
    if match["k"] is not None:
        arguments["k"] = int(match["k"])
    return _build(text, kind, arguments)


def kind_named(text: str) -> type[Measure] | None:
    """Return the kind of measure that a text from data names, whatever its parameters; None for any other text.

    A score by another tool may carry any text: that isn't a mistake, only nothing is known of its measure.
    """
    match = _TEXT.match(text)
    return _BY_NAME.get(match["name"].casefold()) if match else None


def declared(text: str) -> Measure | None:
    """Return the measure that a text from data names, or None for any other text."""
    try:
        return parse_measure(text) if kind_named(text) is not None else None
    except MeasureError:
        return None


def require_computed(measures: Iterable[Measure]) -> None:
    """Refuse measures that a judge gives, where values are to be computed.

    Raises
    ------
    MeasureError
        One isn't computed from records. The remedy says how its scores are given.
    """
    judged = [str(measure) for measure in measures if not measure.computed]
    if judged:
        what = "isn't computed from records: a judge gives it" if len(judged) == 1 else NOT_COMPUTED
        raise MeasureError(f"{', '.join(judged)} {what}", remedy=GIVEN)


def _arguments(text: str, source: str) -> dict[str, object]:
    try:
        call = ast.parse(f"f({source})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError):
        raise MeasureError(
            f"the parameters of {text!r} can't be read",
            remedy="Write them as name=value, for example EdgeRecall(relation=False) or nDCG@10.",
        ) from None


def _build(text: str, kind: type[Measure], arguments: dict[str, object]) -> Measure:
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name, value in arguments.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise MeasureError(f"{kind.__name__} has no parameter {name!r}", where=text, remedy=f"It has: {known}.")
        if name == "k":
            if type(value) is not int or value < 1:
                raise MeasureError("k must be a whole number of at least 1", where=text)
        elif type(value) is not type(fields[name].default):
            wanted = type(fields[name].default).__name__
            raise MeasureError(f"{name} must be a {wanted}, not {value!r}", where=text)
    try:
        return kind(**arguments)
    except ValueError as error:
        raise MeasureError(str(error), where=text) from None


def resolve_measures(measures: Iterable[str | Measure] = (), *, k: int | None = None) -> tuple[Measure, ...]:
    """Return measures by name or value, each once, in order; the defaults where none is given.

    A measure with a cut-off that names none gets ``k``, else 5, so that its name says what was computed.
    """
    found: dict[Measure, None] = {}
    for one in tuple(measures) or DEFAULT_MEASURES:
        measure = parse_measure(one) if isinstance(one, str) else one
        if getattr(measure, "k", 0) is None:
            measure = dataclasses.replace(measure, k=k or DEFAULT_K)  # type: ignore[call-arg]
        found[measure] = None
    return tuple(found)
