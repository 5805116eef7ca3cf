"""Every measure by its name, and the text form that they are parsed from."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from graphkit.errors import MeasureError, did_you_mean
from graphkit.measures.base import DEFAULT_K, Measure
from graphkit.measures.coherence import Coherence, Incoherent, OffPin
from graphkit.measures.completeness import Completeness, ConflictResolution
from graphkit.measures.edges import BoundaryPrecision, BoundaryRecall, EdgeF1, EdgePrecision, EdgeRecall
from graphkit.measures.files import FilePrecision, FileRecall, SymbolRecall
from graphkit.measures.integration import Integration
from graphkit.measures.judged import (
    AggregationAccuracy,
    AggregationCompleteness,
    AggregationScore,
    AnswerRelevance,
    Attribution,
    CitationPrecision,
    CitationRecall,
    Complete,
    ContextPrecision,
    ContextRecall,
    Correct,
    FactualCorrectness,
    Faithful,
    Faithfulness,
    Groundedness,
    HallucinationRate,
    JudgedCompleteness,
    JudgedConflictResolution,
    JudgedIntegration,
    Relevant,
    RubricGrade,
    ScaleGrade,
)
from graphkit.measures.own import checked, checked_name, import_kind, installed, load_installed, loaded_kind
from graphkit.measures.paths import PathExact, PathInOrder, PathPrefix
from graphkit.measures.ranking import RR, AnswerContainment, P, Recall, Success, nDCG
from graphkit.measures.repositories import CrossRepoPrecision, CrossRepoRecall
from graphkit.measures.seen import Redundancy, StepsToGold, UsedShare
from graphkit.measures.tools import ArgumentMatch, ToolExact, ToolInOrder, ToolPrecision, ToolRecall

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = TypeVar("Kind", bound=Measure)

#: Every measure of graphkit's, in the order in which they are shown; those that a judge gives come last.
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
    ToolRecall,
    ToolPrecision,
    ToolExact,
    ToolInOrder,
    ArgumentMatch,
    StepsToGold,
    Redundancy,
    UsedShare,
    FactualCorrectness,
    Groundedness,
    HallucinationRate,
    Attribution,
    CitationRecall,
    CitationPrecision,
    RubricGrade,
    Correct,
    Faithful,
    Relevant,
    Complete,
    Faithfulness,
    AnswerRelevance,
    ContextPrecision,
    ContextRecall,
    ScaleGrade,
    AggregationCompleteness,
    AggregationAccuracy,
    AggregationScore,
    JudgedIntegration,
    JudgedCompleteness,
    JudgedConflictResolution,
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
    "`graphkit grade RUN.jsonl` has a judge give them. What it keeps beside the run, or lines "
    '{"run", "question", "measure", "value"} of your own, goes to `graphkit evaluate RUN.jsonl --scores FILE`, or to '
    "`graphkit load-scores FILE` for comparisons."
)

#: Every kind that a text may name: graphkit's own, those that were registered, and those that the user has named.
_BY_NAME = {name.casefold(): kind for kind in MEASURES for name in (kind.__name__, *kind.aliases)}
_TEXT = re.compile(r"\s*(?P<name>\w+|[\w.]+:[\w.<>]+)\s*(?:\((?P<args>.*)\))?\s*(?:@\s*(?P<k>-?\d+))?\s*\Z", re.DOTALL)


def register(kind: type[Kind]) -> type[Kind]:
    """Make a measure of one's own known by the name of its class and its aliases, in this process; a decorator, too.

    A command imports what ``--measure my_module:MyMeasure`` or an entry point of the group ``graphkit.measures`` names.

    Raises
    ------
    MeasureError
        The class is no measure, or another measure has the name.
    """
    where = f"{kind.__module__}:{kind.__qualname__}" if isinstance(kind, type) else repr(kind)
    checked(kind, where)
    _enter(kind, (checked_name(kind.__name__, where), *kind.aliases), where)
    kind.name = kind.__name__
    return kind


def _enter(kind: type[Measure], names: Iterable[str], where: str) -> None:
    """Let names lead to a kind, in the place of an earlier form of the same class."""
    folded = [checked_name(name, where).casefold() for name in names]
    for name in folded:
        taken = _BY_NAME.get(name)
        if taken is not None and not _same(taken, kind):
            owner = f"{taken.__module__}:{taken.__qualname__}" if taken.is_custom() else "graphkit's own"
            raise MeasureError(
                f"the name {name!r} is taken by the measure {taken.name} ({owner})",
                where=where,
                remedy="Choose another name or alias.",
            )
    for name in [name for name, other in _BY_NAME.items() if _same(other, kind)]:
        del _BY_NAME[name]
    _BY_NAME.update(dict.fromkeys(folded, kind))


def _same(first: type[Measure], second: type[Measure]) -> bool:
    """Tell whether two classes are one, perhaps defined anew, as a notebook does."""
    return (first.__module__, first.__qualname__) == (second.__module__, second.__qualname__)


def measure_kinds() -> tuple[list[type[Measure]], list[MeasureError]]:
    """Return every kind that a name leads to, of graphkit and of other packages, and what is wrong with theirs."""
    wrong = []
    for name, point in installed().items():
        try:
            _by_entry_point(name, point)
        except MeasureError as error:
            wrong.append(error)
    return list(dict.fromkeys((*MEASURES, *_BY_NAME.values()))), wrong


def _by_entry_point(name: str, point: EntryPoint) -> type[Measure]:
    kind = load_installed(point)
    if _BY_NAME.get(name) is not kind:
        _enter(kind, (point.name, *kind.aliases), f"{point.name} = {point.value}")
    return kind


def _known(name: str) -> type[Measure] | None:
    """Return the kind of a name: one that is known, or that an installed package brings."""
    if ":" in name:
        return loaded_kind(name) or _BY_NAME.get(name)
    folded = name.casefold()
    if folded not in _BY_NAME and folded in installed():
        return _by_entry_point(folded, installed()[folded])
    return _BY_NAME.get(folded)


def parse_measure(text: str) -> Measure:
    """Return the measure that a text names; one of the user's own, ``my_module:MyMeasure``, is imported.

    >>> parse_measure("ndcg@10"), str(parse_measure("hit@5"))
    (nDCG(k=10), 'Success@5')
    >>> str(parse_measure("traversal_accuracy(relation=False)"))
    'EdgeRecall(relation=False)'

    Raises
    ------
    MeasureError
        The name or a parameter isn't known (the closest name is suggested), a value doesn't fit, or a measure of the
        user's own can't be imported.
    """
    match = _TEXT.match(text)
    kind = None
    if match is not None:
        name = match["name"]
        # A class within a function can't be imported: it is known where its value was used.
        kind = import_kind(name) if ":" in name and name not in _BY_NAME else _known(name)
    if match is None or kind is None:
        name = match["name"] if match else text
        hint = did_you_mean(name.casefold(), _BY_NAME, show=lambda known: _BY_NAME[known].__name__)
        raise MeasureError(f"no measure is called {text!r}", remedy=f"{hint}`graphkit measures` lists them all.")
    arguments = _arguments(text, match["args"] or "")
    if match["k"] is not None:
        arguments["k"] = int(match["k"])
    return _build(text, kind, arguments)


def measure_class(text: str) -> type[Measure] | None:
    """Return the kind of measure that a text from data names, whatever its parameters; None for any other text.

    A score by another tool may carry any text: that isn't a mistake, only nothing is known of its measure. Data decides
    on no import: a measure of the user's own is known once the user has named it.
    """
    match = _TEXT.match(text)
    try:
        return _known(match["name"]) if match else None
    except MeasureError:  # what an installed package calls a measure is none
        return None


def declared(text: str) -> Measure | None:
    """Return the measure that a text from data names, or None for any other text."""
    try:
        return parse_measure(text) if measure_class(text) is not None else None
    except MeasureError:
        return None


def lower_is_better(measure: str) -> bool:
    """Tell whether less of a measure is better, whatever its parameters; of a measure that isn't known, more is.

    >>> lower_is_better("OffPin"), lower_is_better("a score of another tool")
    (True, False)
    """
    kind = measure_class(measure)
    return kind is not None and not kind.higher_is_better


def bounds_of(measure: str) -> tuple[float | None, float | None]:
    """Return the lowest and the highest value of a measure, None where it is unbounded or isn't known.

    >>> bounds_of("EdgeRecall"), bounds_of("a score of another tool")
    ((0.0, 1.0), (None, None))
    """
    kind = measure_class(measure)
    return (kind.lowest, kind.highest) if kind is not None else (None, None)


def worst_of(measure: str) -> float | None:
    """Return the worst value of a measure, by its direction; None where it has no bound there, or isn't known.

    >>> worst_of("EdgeRecall"), worst_of("HallucinationRate"), worst_of("StepsToGold")
    (0.0, 1.0, None)
    """
    lowest, highest = bounds_of(measure)
    return highest if lower_is_better(measure) else lowest


def is_judged(measure: str) -> bool:
    """Tell whether a measure is one that a judge gives; a text that isn't known is of another tool.

    >>> is_judged("Groundedness"), is_judged("EdgeRecall"), is_judged("tone")
    (True, False, False)
    """
    kind = measure_class(measure)
    return kind is not None and not kind.computed


def undirected_form(measure: Measure) -> Measure:
    """Return a measure that doesn't compare the direction of edges; one that doesn't compare edges as it is."""
    fields = {field.name for field in dataclasses.fields(measure)}
    own = measure.is_custom() or "directed" not in fields
    return measure if own else dataclasses.replace(measure, directed=False)  # type: ignore[call-arg]


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
    fields = {field.name: field for field in dataclasses.fields(kind) if field.init}
    for name, value in arguments.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise MeasureError(f"{kind.__name__} has no parameter {name!r}", where=text, remedy=f"It has: {known}.")
        default = fields[name].default
        if name == "k":
            if type(value) is not int or value < 1:
                raise MeasureError("k must be a whole number of at least 1", where=text)
        elif type(value) is int and type(default) is float:
            arguments[name] = float(value)
        elif type(value) is not type(default) and default is not None and default is not dataclasses.MISSING:
            raise MeasureError(f"{name} must be a {type(default).__name__}, not {value!r}", where=text)
    missing = [name for name, field in fields.items() if name not in arguments and _is_required(field)]
    if missing:
        remedy = f"Write {kind.name}({', '.join(f'{name}=...' for name in missing)})."
        raise MeasureError(f"{kind.__name__} needs a value for {', '.join(missing)}", where=text, remedy=remedy)
    try:
        measure = kind(**arguments)
        hash(measure)
    except ValueError as error:
        raise MeasureError(str(error), where=text) from None
    except Exception as error:
        if not kind.is_custom():
            raise
        raise MeasureError(f"the measure can't be made: {type(error).__name__}: {error}", where=text) from None
    return _remembered(measure)


def _is_required(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _remembered(measure: Measure) -> Measure:
    """Return a measure whose text is understood from now on, also where it comes from data."""
    kind = type(measure)
    if ":" in kind.name:
        _BY_NAME[kind.name] = checked(kind, kind.name)
    return measure


def resolve_measures(measures: Iterable[str | Measure] = (), *, k: int | None = None) -> tuple[Measure, ...]:
    """Return measures by name or value, each once, in order; the defaults where none is given.

    A measure with a cut-off that names none gets ``k``, else 5, so that its name says what was computed.
    """
    found: dict[Measure, None] = {}
    for asked in tuple(measures) or DEFAULT_MEASURES:
        if not isinstance(asked, str | Measure):
            remedy = "Give a name such as EdgeRecall, or a value such as EdgeRecall(), not its class."
            raise MeasureError(f"{asked!r} is no measure", remedy=remedy)
        measure = parse_measure(asked) if isinstance(asked, str) else _remembered(asked)
        if getattr(measure, "k", 0) is None:
            measure = dataclasses.replace(measure, k=k or DEFAULT_K)  # type: ignore[call-arg]
        found[measure] = None
    return tuple(found)
